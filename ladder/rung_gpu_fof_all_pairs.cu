/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 5: all pairs on a GPU. One thread for each point tests it against all later points; all
 * lanes of a warp read one point at a time, a broadcast. O(n^2), but thousands of distances at
 * once.
 */
#include "rung_gpu_fof.h"

static __global__ void link_all(const double *xyz, int64_t n, double cutoff, int32_t *parent)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x;
    const int64_t p = first + threadIdx.x;
    if (p >= n) {
        return;
    }
    const double x[3] = {xyz[3 * p], xyz[3 * p + 1], xyz[3 * p + 2]};
    for (int64_t q = first; q < n; q++) {
        if (q > p && rung_is_pair(x, xyz + 3 * q, cutoff)) {
            rung_gpu_unite(parent, (int32_t)p, (int32_t)q);
        }
    }
}

static bool link_points(const rung_input *in, rung_gpu_memory *memory, int32_t *parent)
{
    (void)memory;
    link_all<<<rung_gpu_blocks_for(in->n), RUNG_GPU_THREADS>>>(in->gpu->xyz, in->n, in->cutoff,
                                                               parent);
    return cudaGetLastError() == cudaSuccess;
}

bool rung_gpu_fof_all_pairs(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    return rung_gpu_label(in, link_points, least, labels, scratch);
}
