/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The result of one list of pairs that was timed, in a results file; results/README.md describes
 * it.
 */
#ifndef KITH_BENCH_RESULT_H
#define KITH_BENCH_RESULT_H

#include <kith.h>

#include "harness.h"

/** A timed list. */
typedef struct bench_result {
    const char *name, *set;      /**< names of the case and of the set of points */
    const kith_ctx *ctx;         /**< context that made the list */
    int64_t n;                   /**< number of points */
    double cutoff;               /**< cutoff of the list, or the largest radius */
    kith_precision precision;    /**< precision of the points */
    bool periodic, count_only;   /**< the box is periodic; pairs were counted, not listed */
    kith_pairs_options list;     /**< form of the list */
    int64_t pairs;               /**< entries of the list: a full list has each pair twice */
    harness_times times;         /**< times of the call, by the host's clock */
    const harness_times *queued; /**< times of kith_pairs_enqueue, by the device's clock; NULL: none
                                      were taken */
    double store_rate;           /**< how fast memory can be written [bytes/s] */
} bench_result;

/** Add a result to an array, and print it. */
void bench_result_write(json_t *list, const bench_result *result);

#endif
