/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a results file says of one list that was timed; results/README.md describes it.
 */
#ifndef KITH_BENCH_RESULT_H
#define KITH_BENCH_RESULT_H

#include <kith.h>

#include "harness.h"

typedef struct bench_result {
    const char *name, *set;
    const kith_ctx *ctx; /**< that made it */
    int64_t n;
    double cutoff;
    kith_precision precision;
    bool periodic, count_only;
    kith_pairs_options list;
    int64_t pairs;
    harness_times times;
    const harness_times *queued; /**< of kith_pairs_enqueue, by the device's clock; NULL: a CPU */
    double store_rate;           /**< how fast memory can be written [bytes/s] */
} bench_result;

/** Add a result to an array, and print it. */
void bench_result_write(json_t *list, const bench_result *result);

#endif
