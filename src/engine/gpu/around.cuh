/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The walk over the cells around an i-cluster (gpu_sweep.cuh). The cells in reach form rows along
 * x; a row at one periodic image is a segment: a range of consecutive slots. Segments are numbered,
 * so that each lane of a warp can compute one of them by itself.
 */
#ifndef KITH_GPU_AROUND_CUH
#define KITH_GPU_AROUND_CUH

#include "gpu_cells.cuh"
#include "gpu_sweep.h"

/** The cells around an i-cluster: those within the reach of its cells along each axis. */
struct around {
    int64_t x0, x1; /**< x numbers of the first and last cell of the i-cluster */
    int64_t y, z;   /**< y and z number of the i-cluster's row of cells */
    int64_t sx;     /**< first image along x that is in reach */
    int n_sx;       /**< number of images along x that are in reach */
    int segments;   /**< number of segments, including empty ones outside an open axis */
};

/** Return the number of rows of cells around an i-cluster, including rows outside an open axis. */
static __device__ __forceinline__ int rows_around(const struct kith__gpu_sweep &sweep)
{
    const struct kith__axis *axis = sweep.grid.plan->axis;
    const int wide_y = 2 * axis[1].reach + 1;
    return sweep.forward ? axis[1].reach + 1 + axis[2].reach * wide_y
                         : wide_y * (2 * axis[2].reach + 1);
}

/** Describe the cells around an i-cluster that spans cells `first` to `last` of a row. */
static __device__ inline struct around cells_around(const struct kith__gpu_sweep &sweep,
                                                    int64_t first, int64_t last)
{
    const struct kith__axis *axis = sweep.grid.plan->axis;
    struct around c;
    const int64_t row = row_of_cell(first, axis[0].n, &c.x0);
    c.x1 = c.x0 + (last - first);
    c.z = row_of_cell(row, axis[1].n, &c.y);
    c.sx = 0;
    c.n_sx = 1;
    if (axis[0].periodic) {
        c.sx = kith__image_of_cell(c.x0 - axis[0].reach, axis[0].n);
        c.n_sx = (int)(kith__image_of_cell(c.x1 + axis[0].reach, axis[0].n) - c.sx) + 1;
    }
    c.segments = rows_around(sweep) * c.n_sx;
    return c;
}

/** Find the slots [*begin, *end) of set b in segment number s around an i-cluster, and their image.
 *  A segment outside an open axis, or out of reach, is empty: *begin and *end are then 0, and image
 *  is not complete.
 *  @param cluster_begin  first slot of the i-cluster
 *  @param[out] image     shift of the segment's cells along each axis */
static __device__ inline void find_segment(const struct kith__gpu_sweep &sweep,
                                           const struct around &c, int64_t cluster_begin, int64_t s,
                                           int64_t *begin, int64_t *end, int32_t image[3])
{
    const struct kith__gpu_plan &plan = *sweep.grid.plan;
    const struct kith__axis *axis = plan.axis;
    *begin = *end = 0;
    int64_t row = c.n_sx == 1 ? s : divide(s, c.n_sx);
    const int64_t sx = c.sx + s - row * c.n_sx;
    const int64_t wide_y = 2 * axis[1].reach + 1;
    /* forward rows: (dy, dz) = (0, 0) to (reach, 0), then all dy for each dz > 0 */
    row += sweep.forward ? axis[1].reach : 0;
    const int64_t slab = divide(row, wide_y);
    const int64_t dy = row - slab * wide_y - axis[1].reach;
    const int64_t dz = slab - (sweep.forward ? 0 : axis[2].reach);
    int64_t cy, cz;
    if (!kith__step_axis(&axis[1], c.y, dy, &cy, &image[1]) ||
        !kith__step_axis(&axis[2], c.z, dz, &cz, &image[2])) {
        return;
    }
    const bool own = sweep.forward && dy == 0 && dz == 0;
    int64_t from = own ? c.x0 : c.x0 - axis[0].reach;
    int64_t to = c.x1 + axis[0].reach;
    const int64_t low = sx * axis[0].n;
    from = from > low ? from : low;
    to = to < low + axis[0].n - 1 ? to : low + axis[0].n - 1;
    if (from > to) {
        return;
    }
    image[0] = (int32_t)sx;
    const int64_t first = (cz * axis[1].n + cy) * axis[0].n - low;
    *begin = first_of_cell(sweep.grid.b, plan, first + from);
    *end = first_of_cell(sweep.grid.b, plan, first + to + 1);
    if (own && sx == 0) {
        /* A forward sweep pairs a candidate of the i-cluster with the query particles before it
         * (`allowed` in i_cluster.cuh). The first particle has none before it. */
        *begin = cluster_begin + 1;
    }
}

#endif
