/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rungs 7 and 8 on a GPU: rung 6 with shared memory. The threads of a block load a tile of the
 * boids around them together, and each tests those in its own nine ranges: the tests of rung 6. In
 * rung 7, as in lectures, a block has one cell, and most threads have no boid. In rung 8 it has the
 * next 64 boids of a row of cells.
 */
#include "rung_flock_gpu.cuh"

enum { THREADS = 64, TILE = 128 };

/* A tile: boids that are adjacent in the order of the cells. */
struct tile {
    float r[TILE][3], v[TILE][3];
};

/* Add the neighbours of boid i in a range of boids, as far as the tile, slots [first, end), has
   them. */
static __device__ __forceinline__ void add_tile(const rung_flock_gpu &g, const tile &t,
                                                int32_t first, int32_t end, stretch w,
                                                const float beside[3], const float own[3],
                                                int32_t i, neighbour_sums *s)
{
    const float shift[3] = {w.shift, beside[1], beside[2]};
    const int32_t to = min(w.to, end);
    for (int32_t k = max(w.from, first); k < to; k++) {
        if (k != i) {
            add_neighbour(g, s, own, t.r[k - first], t.v[k - first], shift);
        }
    }
}

/* Load boids into shared memory. */
static __device__ __forceinline__ void fill(const rung_flock_gpu &g, tile *t, int32_t first,
                                            int32_t end)
{
    __syncthreads();
    for (int32_t e = (int32_t)threadIdx.x; e < 3 * (end - first); e += THREADS) {
        (&t->r[0][0])[e] = g.r[3 * (int64_t)first + e];
        (&t->v[0][0])[e] = g.v[3 * (int64_t)first + e];
    }
    __syncthreads();
}

/* Step the boids [first, end), at most one for each thread, of the row of cells at y, z. */
static __device__ void take(const rung_flock_gpu &g, tile *t, int32_t first, int32_t end, int32_t y,
                            int32_t z)
{
    const int32_t i = min(first + (int32_t)threadIdx.x, end - 1);
    const bool any = first + (int32_t)threadIdx.x < end;
    const float own[3] = {g.r[3 * (int64_t)i], g.r[3 * (int64_t)i + 1], g.r[3 * (int64_t)i + 2]};
    const int32_t x = cell_along(g, own[0]);
    const int32_t x0 = cell_along(g, g.r[3 * (int64_t)first]);
    const int32_t x1 = cell_along(g, g.r[3 * (int64_t)(end - 1)]);
    neighbour_sums s = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int near = 0; near < 2 * 9; near++) {
        float shift[3];
        const int32_t row = row_beside(g, y, z, near / 2, shift);
        const stretch all = find_stretch(g, row, x0, x1, near % 2);
        if (all.from == all.to) {
            continue;
        }
        const stretch inside = find_stretch(g, row, x, x, 0);
        const stretch beyond = find_stretch(g, row, x, x, 1);
        for (int32_t k = all.from; k < all.to; k += TILE) {
            const int32_t to = min(all.to, k + TILE);
            fill(g, t, k, to);
            if (any) {
                add_tile(g, *t, k, to, inside, shift, own, i, &s);
                add_tile(g, *t, k, to, beyond, shift, own, i, &s);
            }
        }
    }
    if (any) {
        move(g, s, i);
    }
}

/* Block x has `width` cells of a row, shared with the other blocks of its column of the grid. */
static __global__ void step_shared(rung_flock_gpu g, int32_t width)
{
    __shared__ tile t;
    const int32_t own = (int32_t)blockIdx.x * width;
    const int32_t row = own / g.cells;
    const int32_t end = g.start[own + width];
    for (int64_t first = g.start[own] + (int64_t)blockIdx.y * THREADS; first < end;
         first += (int64_t)gridDim.y * THREADS) {
        take(g, &t, (int32_t)first, min(end, (int32_t)first + THREADS), row % g.cells,
             row / g.cells);
    }
}

static bool one(rung_flock_gpu *g, int32_t width)
{
    enum { MOST = 1 << 10 };
    if (!rung_flock_gpu_arrange(g)) {
        return false;
    }
    const int64_t pieces = (int64_t)g->cells * g->cells * g->cells / width;
    const int64_t takes = g->n / pieces / THREADS + 1;
    const dim3 blocks((unsigned)pieces, (unsigned)(takes < MOST ? takes : MOST));
    step_shared<<<blocks, THREADS>>>(*g, width);
    return rung_flock_gpu_turn(g);
}

bool rung_flock_gpu_shared_cells(rung_flock_gpu *g)
{
    return one(g, 1);
}

bool rung_flock_gpu_shared_rows(rung_flock_gpu *g)
{
    return one(g, g->cells);
}
