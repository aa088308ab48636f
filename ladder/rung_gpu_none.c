/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In place of the GPU's rungs in a build without CUDA.
 */
#include "rung_gpu_fof.h"

#include <stdio.h>
#include <string.h>

const rung rung_gpu_rungs[] = {{NULL, NULL}};
const int rung_gpu_n = 0;
const int rung_gpu_mainline = 0;
const rung_way rung_gpu_ways[] = {{NULL, NULL}};
const int rung_gpu_ways_n = 0;

bool rung_gpu_open(rung_gpu *gpu)
{
    (void)gpu;
    puts("GPU rungs left out: this build has no CUDA");
    return false;
}

void rung_gpu_close(rung_gpu *gpu)
{
    (void)gpu;
}

bool rung_gpu_put(rung_gpu *gpu, const rung_input *in)
{
    (void)gpu;
    (void)in;
    return false;
}

bool rung_gpu_get_labels(const rung_gpu *gpu, int64_t n, int32_t *labels)
{
    (void)gpu;
    memset(labels, 0, (size_t)n * sizeof *labels);
    return false;
}

bool rung_gpu_get(kith_pairs *list)
{
    return list->memory == KITH_HOST;
}
