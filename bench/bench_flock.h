/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of flocks.
 */
#ifndef KITH_BENCH_FLOCK_H
#define KITH_BENCH_FLOCK_H

#include "bench_pairs.h"

/** Verify and time every case. Writes the array "results", and a table to stdout.
 *  @return false when a step is wrong or a call failed; stderr says which */
bool bench_flock(const bench_options *options, json *out);

#endif
