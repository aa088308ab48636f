/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of overlaps on a GPU.
 */
#ifndef KITH_BENCH_GPU_OVERLAP_H
#define KITH_BENCH_GPU_OVERLAP_H

#include "bench_pairs.h"

/** Verify and time every case, from replicas in host memory to counts there, and the product of the
 *  same matrix by cuBLAS, in device memory, where the build has it. Writes the array "overlaps",
 *  and a table to stdout. @return false when counts are wrong or a call failed */
bool bench_gpu_overlap(const bench_options *options, json *out);

#endif
