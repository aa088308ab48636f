/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Device functions that the kernels of the ladder of flocks share: adding a neighbour to the sums
 * of a boid, moving a boid, and the cells around it.
 */
#ifndef KITH_RUNG_FLOCK_GPU_CUH
#define KITH_RUNG_FLOCK_GPU_CUH

#include "rung_flock_gpu.h"
#include "rung_gpu.h"

/** The number of threads of a block. */
static inline unsigned threads_of(const rung_flock_gpu *g)
{
    return g->threads > 0 ? (unsigned)g->threads : (unsigned)RUNG_GPU_THREADS;
}

/** The number of blocks with a thread for each boid. */
static inline unsigned blocks_of(const rung_flock_gpu *g)
{
    return (unsigned)(g->n / threads_of(g) + 1);
}

/** Sums over the neighbours of one boid. */
struct neighbour_sums {
    float n, separation[3], velocity[3], cohesion[3];
};

/** Add a boid at displacement d, by nearest image, to the sums if it is within a radius. The
 *  distance is rounded in the order of operations by which the library defines it. */
static __device__ __forceinline__ void add_displacement(const rung_flock_gpu &g, neighbour_sums *s,
                                                        const float d[3], const float *vj)
{
    const float r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    if (r2 > g.reach2[1]) {
        return;
    }
    s->n++;
    for (int k = 0; k < 3; k++) {
        s->cohesion[k] += d[k];
        s->velocity[k] += vj[k];
        s->separation[k] += r2 <= g.reach2[0] ? d[k] : 0;
    }
}

/** Add a boid of a cell to the sums if it is within a radius.
 *  @param shift  offset of the periodic image of the cell */
static __device__ __forceinline__ void add_neighbour(const rung_flock_gpu &g, neighbour_sums *s,
                                                     const float ri[3], const float *rj,
                                                     const float *vj, const float shift[3])
{
    const float d[3] = {(rj[0] - ri[0]) + shift[0], (rj[1] - ri[1]) + shift[1],
                        (rj[2] - ri[2]) + shift[2]};
    add_displacement(g, s, d, vj);
}

static __device__ __forceinline__ void move(const rung_flock_gpu &g, const neighbour_sums &s,
                                            int64_t i)
{
    float u[3], speed = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = g.v[3 * i + k] - 0.1f * s.separation[k];
        if (s.n > 0) {
            u[k] += (0.01f * s.cohesion[k] + 0.1f * s.velocity[k]) / s.n;
        }
        speed += u[k] * u[k];
    }
    speed = sqrtf(speed);
    for (int k = 0; k < 3; k++) {
        u[k] = speed > 1 ? u[k] / speed : u[k];
        float x = g.r[3 * i + k] + u[k] * 0.2f;
        x -= g.side * floorf(x / g.side);
        g.v2[3 * i + k] = u[k];
        g.r2[3 * i + k] = x < g.side ? x : 0;
    }
}

/** The number of a boid's cell along an axis. */
static __device__ __forceinline__ int32_t cell_along(const rung_flock_gpu &g, float x)
{
    const int32_t c = (int32_t)(x / g.side * (float)g.cells);
    return c < g.cells ? c : g.cells - 1;
}

/** The cell that is `by` (at most g.cells) from cell c along an axis.
 *  @param[out] shift  to its image */
static __device__ __forceinline__ int32_t cell_beside(const rung_flock_gpu &g, int32_t c, int by,
                                                      float *shift)
{
    const int32_t b = c + by;
    *shift = b < 0 ? -g.side : b >= g.cells ? g.side : 0;
    return b < 0 ? b + g.cells : b >= g.cells ? b - g.cells : b;
}

/** The first cell of the row that is `step` (0 to 8) steps away from that at y, z.
 *  @param[out] shift  [1], [2]: to its image */
static __device__ __forceinline__ int32_t row_beside(const rung_flock_gpu &g, int32_t y, int32_t z,
                                                     int step, float shift[3])
{
    const int32_t to = cell_beside(g, z, step / 3 - 1, &shift[2]) * g.cells;
    return (to + cell_beside(g, y, step % 3 - 1, &shift[1])) * g.cells;
}

/** A range of boids in a row of cells: slots [from, to). */
struct stretch {
    int32_t from, to;
    float shift; /**< offset along x of their periodic image */
};

/** Find the boids of the cells x0 - 1 to x1 + 1 of a row, each once.
 *  @param part  0: the cells within the box; 1: the cell beyond its edge, if there is one */
static __device__ __forceinline__ stretch find_stretch(const rung_flock_gpu &g, int32_t row,
                                                       int32_t x0, int32_t x1, int part)
{
    const int32_t last = g.cells - 1;
    int32_t a = max(x0 - 1, 0), b = min(x1 + 1, last);
    float shift = 0;
    if (part == 1) {
        const bool low = x0 == 0 && b < last, high = x1 == last && a > 0;
        a = low ? last : 0;
        b = low ? last : high ? 0 : -1;
        shift = low ? -g.side : g.side;
    }
    return {g.start[row + a], g.start[row + b + 1], shift};
}

#endif
