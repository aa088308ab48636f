/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of friends of friends.
 */
#ifndef KITH_BENCH_FOF_H
#define KITH_BENCH_FOF_H

#include "bench_pairs.h"

/** Verify and time every case. Writes the array "results", and a table to stdout.
 *  @return false when a label is wrong or a call failed; stderr says which */
bool bench_fof(const bench_options *options, json *out);

#endif
