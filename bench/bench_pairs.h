/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair lists.
 */
#ifndef KITH_BENCH_PAIRS_H
#define KITH_BENCH_PAIRS_H

#include "json.h"

enum { BENCH_MOST_THREADS = 16 };

typedef struct bench_options {
    int threads[BENCH_MOST_THREADS]; /**< numbers of threads to run with, 0 at the end */
    const char *backend;             /**< where no list of instruction sets is run */
    const char *only;                /**< what names of cases to run begin with; NULL: all */
    int64_t n;                       /**< points of the standard case */
    double least_seconds;            /**< every list is made again for at least so long */
    int64_t store_bytes;             /**< buffer in which the store rate is measured */
} bench_options;

/** Is a case to run? */
bool bench_wants(const bench_options *options, const char *name);

/** Verify and time every case. Writes the arrays "store" and "results", and a table to stdout.
 *  @return false when a list is wrong or a call failed; stderr says which */
bool bench_pairs(const bench_options *options, json *out);

/** Make a set by name ("uniform", "clustered", "soneira_peebles").
 *  @return [n][3]; NULL: no such set or no memory */
double *bench_make_set(const char *set, int64_t n);

/** Round points to float, in the unit cube still. @return [n][3]; NULL: no memory */
float *bench_round_points(const double *xyz, int64_t n);

#endif
