/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of Debye's sums on a GPU.
 */
#ifndef KITH_BENCH_GPU_DEBYE_H
#define KITH_BENCH_GPU_DEBYE_H

#include "bench_pairs.h"

/** Verify and time them. Writes the array "debye", and lines to stdout.
 *  @return false when a sum is wrong or a call failed; stderr says which */
bool bench_gpu_debye(const bench_options *options, json *out);

#endif
