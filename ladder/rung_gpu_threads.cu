/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 5: one thread for each point. Points are sorted by cell; each thread tests the points of its
 * own cell and the 13 ahead, once to count its pairs and, after a prefix sum, once more to write
 * them.
 *
 * Scratch is the cells and a count for each point. But the lanes of a warp have cells of different
 * occupancy and wait for the fullest, every distance loads its three coordinates again, and writes
 * are not coalesced: a cache line for every pair.
 */
#include "rung_gpu.h"

/* If i is NULL, set count[p] to the number of pairs of p; else write them from index count[p]
   on. */
static __global__ void meet(const rung_gpu_cells cells, double cutoff, int64_t *count, int32_t *i,
                            int32_t *j)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= cells.n) {
        return;
    }
    const double x[3] = {cells.xyz[3 * p], cells.xyz[3 * p + 1], cells.xyz[3 * p + 2]};
    int32_t cell[3], from, to;
    rung_grid_find(&cells.grid, x, cell);
    int64_t at = i ? count[p] : 0;
    for (int step = 13; step < 27; step++) {
        if (!rung_gpu_ahead(cells, p, cell, step, &from, &to)) {
            continue;
        }
        for (int64_t q = from; q < to; q++) {
            if (!rung_is_pair(x, cells.xyz + 3 * q, cutoff)) {
                continue;
            }
            if (i) {
                const int32_t a = cells.id[p], b = cells.id[q];
                i[at] = a < b ? a : b;
                j[at] = a < b ? b : a;
            }
            at++;
        }
    }
    if (!i) {
        count[p] = at;
    }
}

static bool find(const rung_input *in, rung_gpu_memory *memory, kith_pairs *list)
{
    const unsigned blocks = rung_gpu_blocks_for(in->n);
    rung_gpu_cells cells;
    int64_t *const count = (int64_t *)rung_gpu_alloc(memory, (in->n + 1) * (int64_t)sizeof *count);
    if (!count || !rung_gpu_sort(in, memory, &cells)) {
        return false;
    }
    meet<<<blocks, RUNG_GPU_THREADS>>>(cells, in->cutoff, count, NULL, NULL);
    if (cudaGetLastError() != cudaSuccess || !rung_gpu_scan(memory, count, in->n, &list->n) ||
        !rung_gpu_reserve(list, list->n)) {
        return false;
    }
    meet<<<blocks, RUNG_GPU_THREADS>>>(cells, in->cutoff, count, list->i, list->j);
    return cudaGetLastError() == cudaSuccess;
}

bool rung_gpu_threads(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    rung_gpu_memory memory = {{NULL}, 0, 0};
    const bool ok = find(in, &memory, list);
    *scratch = memory.bytes;
    rung_gpu_free(&memory);
    return cudaDeviceSynchronize() == cudaSuccess && ok;
}
