/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair distributions from forces, beside the histogram of the same points.
 */
#ifndef KITH_BENCH_FORCE_H
#define KITH_BENCH_FORCE_H

#include "bench_pairs.h"

/** Verify and time them. Writes the array "forces", and lines to stdout.
 *  @param threads  numbers of threads, 0 at the end; {0}: all there are, once
 *  @return false when a sum is wrong or a call failed; stderr says which */
bool bench_force(const bench_options *options, const char *backend, const int *threads, json *out);

#endif
