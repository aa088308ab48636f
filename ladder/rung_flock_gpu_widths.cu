/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rungs 4 and 5 on a GPU: rung 3 with cells of any width. A boid tests the boids of all cells that
 * its radius reaches along each axis: 8 cells that are two radii wide, 27 of one radius, 125 of
 * half a radius. Narrow cells fit the sphere around a boid better, wide ones are fewer loops.
 */
#include "rung_flock_gpu.cuh"

/** The numbers of the first and the last cell along an axis that a boid at x reaches; below 0 and
 *  from g.cells on those of a periodic image. */
static __device__ __forceinline__ int2 cells_reached(const rung_flock_gpu &g, float x)
{
    const float reach = 5.004f; /* slightly more than the radius, as cells are computed in float */
    const float each = (float)g.cells / g.side;
    return make_int2((int)floorf((x - reach) * each), (int)floorf((x + reach) * each));
}

static __global__ void step_overlapped(rung_flock_gpu g)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.n) {
        return;
    }
    const float own[3] = {g.r[3 * i], g.r[3 * i + 1], g.r[3 * i + 2]};
    const int2 x = cells_reached(g, own[0]), y = cells_reached(g, own[1]);
    const int2 z = cells_reached(g, own[2]);
    neighbour_sums s = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int32_t cz = z.x; cz <= z.y; cz++) {
        float shift[3];
        const int32_t plane = cell_beside(g, 0, cz, &shift[2]) * g.cells;
        for (int32_t cy = y.x; cy <= y.y; cy++) {
            const int32_t row = (plane + cell_beside(g, 0, cy, &shift[1])) * g.cells;
            for (int32_t cx = x.x; cx <= x.y; cx++) {
                const int32_t cell = row + cell_beside(g, 0, cx, &shift[0]);
                for (int32_t j = g.start[cell]; j < g.start[cell + 1]; j++) {
                    if (j != i) {
                        add_neighbour(g, &s, own, g.r + 3 * (int64_t)j, g.v + 3 * (int64_t)j,
                                      shift);
                    }
                }
            }
        }
    }
    move(g, s, i);
}

bool rung_flock_gpu_overlapped(rung_flock_gpu *g)
{
    if (!rung_flock_gpu_arrange(g)) {
        return false;
    }
    step_overlapped<<<blocks_of(g), threads_of(g)>>>(*g);
    return rung_flock_gpu_turn(g);
}
