/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of flocks on a GPU.
 */
#ifndef KITH_BENCH_GPU_FLOCK_H
#define KITH_BENCH_GPU_FLOCK_H

#include "bench_pairs.h"

/** Verify and time every case, state kept in device memory. Writes the array "flocks", and a table
 *  to stdout. @return false when a step is wrong or a call failed */
bool bench_gpu_flock(const bench_options *options, json *out);

#endif
