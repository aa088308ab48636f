/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair lists on a GPU.
 */
#ifndef KITH_BENCH_GPU_H
#define KITH_BENCH_GPU_H

#include "bench_pairs.h"

/** Is there a GPU? Where not, stderr says so. */
bool bench_gpu_can_run(void);

/** Verify and time every case. Writes the array "results", and a table to stdout.
 *  @return false when a list is wrong or a call failed; stderr says which */
bool bench_gpu(const bench_options *options, json *out);

/** Do both memories have room for n particles? @param host, device  bytes for each of them */
bool bench_gpu_has_room(int64_t n, int64_t host, int64_t device);

#endif
