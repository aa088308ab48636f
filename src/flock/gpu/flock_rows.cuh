/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of cells around some particles, where a table holds all cells: their numbers fit 32 bits.
 */
#ifndef KITH_GPU_FLOCK_ROWS_CUH
#define KITH_GPU_FLOCK_ROWS_CUH

#include "flock_gpu.cuh"

static __device__ __noinline__ int32_t divide_far(int32_t a, int32_t n)
{
    return a >= 0 ? a / n : -((-a + n - 1) / n);
}

static __device__ __forceinline__ int32_t floor_divide(int32_t a, int32_t n)
{
    return a >= 0 && a < n ? 0 : a < 0 && a >= -n ? -1 : a >= n && a - n < n ? 1 : divide_far(a, n);
}

/** Cell `at` of an axis: false outside an open one; else its place and image. */
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

/** What is looked at along x: around cells x0 to x1. */
struct row_of_cells {
    int32_t n, reach;
    bool periodic;
    int32_t x0, x1;
};

/** Particles [*begin, *end) of an image of the row whose first cell is `at`. */
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
