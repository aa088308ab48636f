/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of overlaps on CPU cores.
 */
#ifndef KITH_BENCH_OVERLAP_H
#define KITH_BENCH_OVERLAP_H

#include "bench_pairs.h"

/** Verify and time every case, by turns with the matrix product of a BLAS on the same cores where
 *  there is one: the environment's KITH_BENCH_BLAS, else libopenblas.so.0. Writes the array
 *  "results", and a table to stdout.
 *  @return false when a count is wrong or a call failed; stderr says which */
bool bench_overlap(const bench_options *options, json *out);

#endif
