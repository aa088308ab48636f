/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of sums over plane waves on a GPU.
 */
#ifndef KITH_BENCH_GPU_WAVES_H
#define KITH_BENCH_GPU_WAVES_H

#include "bench_pairs.h"

/** Verify and time every case, from points in host memory to sums there. Writes the array "waves",
 *  and a table to stdout. @return false when sums are wrong or a call failed */
bool bench_gpu_waves(const bench_options *options, json *out);

#endif
