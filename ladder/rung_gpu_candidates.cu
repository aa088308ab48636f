/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 6: list the candidates, then compact: rung 3 on the hardware that it suits. Every step is
 * one call of a library, Thrust or CUB, or a kernel of a few lines.
 *
 *   sort      points by cell;
 *   scan      the numbers of candidates of each point in its own cell and the 13 ahead;
 *   transform write every candidate (i, j) with a flag: 1 if it is within the cutoff. One warp for
 *             each point, so that the writes of its lanes are coalesced;
 *   compact   keep the candidates with flag 1.
 *
 * Work is balanced and memory accesses are coalesced. The cost is that of rung 3: about 6.5
 * candidates for each pair, which are written to memory and read again.
 */
#include "rung_gpu.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

typedef struct candidates {
    int64_t n;
    int64_t *offset; /* first candidate of each point [points + 1] */
    int32_t *i, *j;  /* [n] */
    uint8_t *flag;   /* [n]: 1 within the cutoff */
} candidates;

static __global__ void count_candidates(const rung_gpu_cells cells, int64_t *count)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= cells.n) {
        return;
    }
    int32_t cell[3], from, to;
    rung_grid_find(&cells.grid, cells.xyz + 3 * p, cell);
    int64_t sum = 0;
    for (int step = 13; step < 27; step++) {
        if (rung_gpu_ahead(cells, p, cell, step, &from, &to)) {
            sum += to - from;
        }
    }
    count[p] = sum;
}

static __global__ void write_candidates(const rung_gpu_cells cells, double cutoff,
                                        const candidates all)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t p = thread / warpSize;
    const int lane = (int)(thread % warpSize);
    if (p >= cells.n) {
        return;
    }
    int32_t cell[3], from, to;
    rung_grid_find(&cells.grid, cells.xyz + 3 * p, cell);
    int64_t begin = all.offset[p];
    for (int step = 13; step < 27; step++) {
        if (!rung_gpu_ahead(cells, p, cell, step, &from, &to)) {
            continue;
        }
        for (int64_t q = from + lane; q < to; q += warpSize) {
            const int32_t a = cells.id[p], b = cells.id[q];
            const int64_t c = begin + q - from;
            all.i[c] = a < b ? a : b;
            all.j[c] = a < b ? b : a;
            all.flag[c] = rung_is_pair(cells.xyz + 3 * p, cells.xyz + 3 * q, cutoff);
        }
        begin += to - from;
    }
}

/* kept: a counter in device memory. */
static bool compact(const candidates *all, rung_gpu_memory *memory, int64_t *kept, kith_pairs *list)
{
    size_t sum = 0, select = 0;
    cub::DeviceReduce::Sum(NULL, sum, all->flag, kept, all->n);
    cub::DeviceSelect::Flagged(NULL, select, all->i, all->flag, list->i, kept, all->n);
    void *const temporary = rung_gpu_alloc(memory, (int64_t)(sum > select ? sum : select));
    return temporary &&
           cub::DeviceReduce::Sum(temporary, sum, all->flag, kept, all->n) == cudaSuccess &&
           cudaMemcpy(&list->n, kept, sizeof list->n, cudaMemcpyDeviceToHost) == cudaSuccess &&
           rung_gpu_reserve(list, list->n) &&
           cub::DeviceSelect::Flagged(temporary, select, all->i, all->flag, list->i, kept,
                                      all->n) == cudaSuccess &&
           cub::DeviceSelect::Flagged(temporary, select, all->j, all->flag, list->j, kept,
                                      all->n) == cudaSuccess;
}

static bool find(const rung_input *in, rung_gpu_memory *memory, kith_pairs *list)
{
    rung_gpu_cells cells;
    candidates all;
    int64_t *const kept = (int64_t *)rung_gpu_alloc(memory, (int64_t)sizeof *kept);
    all.offset = (int64_t *)rung_gpu_alloc(memory, (in->n + 1) * (int64_t)sizeof *all.offset);
    if (!kept || !all.offset || !rung_gpu_sort(in, memory, &cells)) {
        return false;
    }
    count_candidates<<<rung_gpu_blocks_for(in->n), RUNG_GPU_THREADS>>>(cells, all.offset);
    if (cudaGetLastError() != cudaSuccess || !rung_gpu_scan(memory, all.offset, in->n, &all.n)) {
        return false;
    }
    all.i = (int32_t *)rung_gpu_alloc(memory, all.n * (int64_t)sizeof *all.i);
    all.j = (int32_t *)rung_gpu_alloc(memory, all.n * (int64_t)sizeof *all.j);
    all.flag = (uint8_t *)rung_gpu_alloc(memory, all.n);
    if (!all.i || !all.j || !all.flag) {
        return false;
    }
    int lanes = 0;
    if (cudaDeviceGetAttribute(&lanes, cudaDevAttrWarpSize, 0) != cudaSuccess) {
        return false;
    }
    write_candidates<<<rung_gpu_blocks_for(in->n * lanes), RUNG_GPU_THREADS>>>(cells, in->cutoff,
                                                                               all);
    return cudaGetLastError() == cudaSuccess && compact(&all, memory, kept, list);
}

bool rung_gpu_candidates(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    rung_gpu_memory memory = {{NULL}, 0, 0};
    const bool ok = find(in, &memory, list);
    *scratch = memory.bytes;
    rung_gpu_free(&memory);
    return cudaDeviceSynchronize() == cudaSuccess && ok;
}
