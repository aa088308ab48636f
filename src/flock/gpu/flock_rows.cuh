/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of cells, along x, around some particles, where a table has the first entry of each cell
 * (KITH_GPU_COUNTED): cell numbers fit 32 bits.
 */
#ifndef KITH_GPU_FLOCK_ROWS_CUH
#define KITH_GPU_FLOCK_ROWS_CUH

#include "flock_gpu.cuh"

/** Return floor(a / n), for any a. Cold path, not inlined: only cells more than a box away from the
 *  box need it. */
static __device__ __noinline__ int32_t divide_far(int32_t a, int32_t n)
{
    return a >= 0 ? a / n : -((-a + n - 1) / n);
}

/** Return floor(a / n); without a division for -n <= a < 2 n. */
static __device__ __forceinline__ int32_t floor_divide(int32_t a, int32_t n)
{
    return a >= 0 && a < n ? 0 : a < 0 && a >= -n ? -1 : a >= n && a - n < n ? 1 : divide_far(a, n);
}

/** Wrap cell *at of an axis into the box.
 *  @param[in,out] at  number of the cell along the axis
 *  @param[out] image  periodic image in which it was: a number of boxes along the axis; 0 of an
 *                     open axis
 *  @return true when there is a cell; false beyond the end of an open axis */
static __device__ __forceinline__ bool wrap_cell(const struct kith__axis &axis, int32_t *at,
                                                 int32_t *image)
{
    const int32_t n = (int32_t)axis.n;
    *image = 0;
    if (axis.periodic && (*at < 0 || *at >= n)) {
        *image = floor_divide(*at, n);
        *at -= *image * n;
    }
    return *at >= 0 && *at < n;
}

/** A row of cells along x, and the part of it that is near cells x0 to x1. */
struct row_of_cells {
    int32_t n, reach; /**< cells of the row, and cells to test on each side of x0 to x1 */
    int32_t x0, x1;   /**< first and last cell of the query particles */
};

/** Find the particles of an image of the row that are near.
 *  @param at     number of the first cell of the row
 *  @param image  image along x
 *  @param[out] begin, end  their entries [*begin, *end) in `here` */
static __device__ __forceinline__ void range_of(const struct kith__gpu_grid &grid,
                                                const struct row_of_cells &row, int64_t at,
                                                int32_t image, int32_t *begin, int32_t *end)
{
    const int32_t low = image * row.n;
    const int32_t from = max(row.x0 - row.reach - low, 0);
    const int32_t to = min(row.x1 + row.reach - low, row.n - 1);
    *begin = *end = 0;
    if (from <= to) {
        *begin = (int32_t)grid.a.start[at + from];
        *end = (int32_t)grid.a.start[at + to + 1];
    }
}

#endif
