/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rungs 2, 3 and 6 on a GPU: one thread for each boid, which tests the boids of the 27 cells around
 * it. In rung 2 positions and velocities are not moved, and are read through sorted indices. From
 * rung 3 on they are kept in the order of the cells. In rung 6 three adjacent cells along x are one
 * range of boids: 9 loops, not 27.
 */
#include "rung_flock_gpu.cuh"

static __global__ void step_cells(rung_flock_gpu g, bool coherent)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.n) {
        return;
    }
    const float own[3] = {g.r[3 * i], g.r[3 * i + 1], g.r[3 * i + 2]};
    const int32_t x = cell_along(g, own[0]), y = cell_along(g, own[1]), z = cell_along(g, own[2]);
    neighbour_sums s = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int near = 0; near < 27; near++) {
        float shift[3];
        const int32_t row = row_beside(g, y, z, near / 3, shift);
        const int32_t cell = row + cell_beside(g, x, near % 3 - 1, &shift[0]);
        const int32_t end = g.start[cell + 1] - g.left_out;
        for (int32_t k = g.start[cell]; k < end; k++) {
            const int64_t j = coherent ? k : g.order[k];
            if (j != i) {
                add_neighbour(g, &s, own, g.r + 3 * j, g.v + 3 * j, shift);
            }
        }
    }
    move(g, s, i);
}

static __global__ void step_rows(rung_flock_gpu g)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.n) {
        return;
    }
    const float own[3] = {g.r[3 * i], g.r[3 * i + 1], g.r[3 * i + 2]};
    const int32_t x = cell_along(g, own[0]), y = cell_along(g, own[1]), z = cell_along(g, own[2]);
    neighbour_sums s = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int near = 0; near < 2 * 9; near++) {
        float shift[3];
        const int32_t row = row_beside(g, y, z, near / 2, shift);
        const stretch w = find_stretch(g, row, x, x, near % 2);
        shift[0] = w.shift;
        for (int64_t j = w.from; j < w.to; j++) {
            if (j != i) {
                add_neighbour(g, &s, own, g.r + 3 * j, g.v + 3 * j, shift);
            }
        }
    }
    move(g, s, i);
}

bool rung_flock_gpu_scattered(rung_flock_gpu *g)
{
    if (!rung_flock_gpu_sort(g)) {
        return false;
    }
    step_cells<<<blocks_of(g), threads_of(g)>>>(*g, false);
    return rung_flock_gpu_turn(g);
}

bool rung_flock_gpu_coherent(rung_flock_gpu *g)
{
    if (!rung_flock_gpu_arrange(g)) {
        return false;
    }
    step_cells<<<blocks_of(g), threads_of(g)>>>(*g, true);
    return rung_flock_gpu_turn(g);
}

bool rung_flock_gpu_rows(rung_flock_gpu *g)
{
    if (!rung_flock_gpu_arrange(g)) {
        return false;
    }
    step_rows<<<blocks_of(g), threads_of(g)>>>(*g);
    return rung_flock_gpu_turn(g);
}
