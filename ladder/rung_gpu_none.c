/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stubs of the rungs on a GPU, for a build without CUDA.
 */
#include "ladder_driver.h"
#include "rung_flock_gpu.h"
#include "rung_gpu_fof.h"
#include "rung_rdf_gpu.h"

#include <string.h>

const rung rung_gpu_rungs[] = {{NULL, NULL}};
const int rung_gpu_n = 0;
const int rung_gpu_mainline = 0;
const rung_way rung_gpu_ways[] = {{NULL, NULL}};
const int rung_gpu_ways_n = 0;

bool rung_gpu_open(rung_gpu *gpu)
{
    gpu->ctx = ladder_open_gpu(); /* prints why there is none */
    return gpu->ctx != NULL;
}

void rung_gpu_close(rung_gpu *gpu)
{
    (void)gpu;
}

bool rung_gpu_put(const rung_input *in)
{
    return in->gpu == NULL;
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

bool rung_rdf_gpu_run_all(int64_t n, int64_t bins)
{
    (void)n;
    (void)bins;
    return ladder_open_gpu() == NULL;
}

bool rung_flock_gpu_run_all(const rung_truth *truth, int64_t most)
{
    (void)truth;
    (void)most;
    return ladder_open_gpu() == NULL;
}
