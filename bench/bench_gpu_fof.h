/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of friends of friends on a GPU.
 */
#ifndef KITH_BENCH_GPU_FOF_H
#define KITH_BENCH_GPU_FOF_H

#include "bench_pairs.h"

/** Verify and time every case, named by its set as "fof uniform". Writes into an array that is
 *  open, and a table to stdout.
 *  @return false when a label is wrong or a call failed; stderr says which */
bool bench_gpu_fof(const bench_options *options, json *out);

#endif
