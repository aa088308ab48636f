/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of a traversal of the cells near a particle or a clump, which traversal.cuh and
 * fof_roles.cu share.
 */
#ifndef KITH_CELLS_NEAR_CUH
#define KITH_CELLS_NEAR_CUH

#include "engine/gpu/gpu_cells.cuh"
#include "engine/gpu/gpu_sweep.h"
#include "fof_gpu.h"

/** Return true when the host has set the stop flag: the kernel is to end early. */
static __device__ __forceinline__ bool is_stopped(const struct kith__gpu_friends &f)
{
    return *(const volatile unsigned *)f.stop >= KITH_GPU_STOP;
}

/** Copy the geometry of subcells to shared memory. All threads of the block must call it. */
static __device__ __forceinline__ void copy_subcells(const struct kith__gpu_friends &f,
                                                     struct kith__subcells *subcells)
{
    for (int w = (int)threadIdx.x; w < (int)(sizeof *subcells / sizeof(int));
         w += (int)blockDim.x) {
        ((int *)subcells)[w] = ((const int *)&f.subcells)[w];
    }
    __syncthreads();
}

/** Squared linking length, rounded by the definition [length^2]. */
template <typename real>
static __device__ __forceinline__ real square_of_cutoff(const struct kith__gpu_friends &f)
{
    return definition<real>::square((real)f.question.cutoff);
}

/** Return the larger of a and b. */
static __device__ __forceinline__ int at_least(int a, int b)
{
    return a > b ? a : b;
}

/** Return the smaller of a and b. */
static __device__ __forceinline__ int at_most(int a, int b)
{
    return a < b ? a : b;
}

/** Wrap a cell coordinate along a periodic axis.
 *  @param[in,out] at  the coordinate
 *  @param[out] shift  number of boxes along the axis to the image of the cell
 *  @return false when the coordinate is beyond an open axis */
template <typename number>
static __device__ __forceinline__ bool wrap(const struct kith__axis &axis, number *at,
                                            int32_t *shift)
{
    const number n = (number)axis.n;
    *shift = 0;
    while (axis.periodic && (*at < 0 || *at >= n)) {
        const int step = *at < 0 ? -1 : 1;
        *at -= step * n;
        *shift += step;
    }
    return *at >= 0 && *at < n;
}

/** Return the first clump of a cell, or of the next cell that holds any, by binary search of the
 *  keys. */
static __device__ __noinline__ int32_t search_cell(const struct kith__gpu_friends &f, int64_t cell)
{
    return (int32_t)find_key(f.key, 0, f.n, cell << f.subcells.bits);
}

/** Return the first clump of a cell, or of the next cell that holds any; 64-bit cell numbers. */
static __device__ __forceinline__ int32_t first_clump(const struct kith__gpu_friends &f,
                                                      int64_t cell)
{
    return f.table ? (int32_t)f.start[cell] : search_cell(f, cell);
}

/** Return the first clump of a cell, or of the next cell that holds any; 32-bit cell numbers, with
 *  which there is a table. */
static __device__ __forceinline__ int32_t first_clump(const struct kith__gpu_friends &f,
                                                      int32_t cell)
{
    return (int32_t)f.start[cell];
}

#endif
