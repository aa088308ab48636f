/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair distributions on a GPU.
 */
#ifndef KITH_BENCH_GPU_RDF_H
#define KITH_BENCH_GPU_RDF_H

#include "bench_pairs.h"

/** Verify and time every case, from points in host memory to counts there. Writes the array
 *  "distributions", and a table to stdout. @return false when counts are wrong or a call failed */
bool bench_gpu_rdf(const bench_options *options, json *out);

#endif
