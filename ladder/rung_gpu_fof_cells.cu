/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 7: cells that are not narrower than the cutoff, on a GPU. Points are sorted by cell; one
 * thread for each point tests its own cell and the 13 ahead, and unites friends by
 * compare-and-swap, with path halving.
 *
 * As on the CPU, every pair of points of a halo is tested, and for each friend two roots are
 * searched. And a full cell keeps one warp busy while others are idle.
 */
#include "rung_gpu_fof.h"

static __global__ void link_ahead(const rung_gpu_cells cells, double cutoff, int32_t *parent)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= cells.n) {
        return;
    }
    const double x[3] = {cells.xyz[3 * p], cells.xyz[3 * p + 1], cells.xyz[3 * p + 2]};
    int32_t cell[3], from, to;
    rung_grid_find(&cells.grid, x, cell);
    for (int step = 13; step < 27; step++) {
        if (!rung_gpu_ahead(cells, p, cell, step, &from, &to)) {
            continue;
        }
        for (int64_t q = from; q < to; q++) {
            if (rung_is_pair(x, cells.xyz + 3 * q, cutoff)) {
                rung_gpu_unite(parent, cells.id[p], cells.id[q]);
            }
        }
    }
}

static bool link_points(const rung_input *in, rung_gpu_memory *memory, int32_t *parent)
{
    rung_gpu_cells cells;
    if (!rung_gpu_sort(in, memory, &cells)) {
        return false;
    }
    link_ahead<<<rung_gpu_blocks_for(in->n), RUNG_GPU_THREADS>>>(cells, in->cutoff, parent);
    return cudaGetLastError() == cudaSuccess;
}

bool rung_gpu_fof_cells(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    return rung_gpu_label(in, link_points, least, labels, scratch);
}
