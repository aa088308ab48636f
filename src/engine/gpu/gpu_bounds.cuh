/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounds of coordinates in device memory: encoded so that atomicMax merges them.
 */
#ifndef KITH_GPU_BOUNDS_CUH
#define KITH_GPU_BOUNDS_CUH

#include "device.cuh"
#include "gpu_grid.h"

/** Extend bounds *to by bounds *from, with atomic operations; to->blocks is unchanged. */
static __device__ inline void merge_bounds(struct kith__gpu_bounds *to,
                                           const struct kith__gpu_bounds *from)
{
    for (int k = 0; k < 3; k++) {
        atomicMax(&to->below[k], from->below[k]);
        atomicMax(&to->above[k], from->above[k]);
    }
    atomicMax(&to->bad, from->bad);
    atomicMax(&to->far, from->far);
    atomicMax(&to->wrapped, from->wrapped);
}

/** Reduce the bounds of each lane of a warp to the bounds of the warp, in every lane, and encode
 *  them; warp->blocks is not set. All lanes must call. */
static __device__ void bounds_warp(struct kith__bounds mine, struct kith__gpu_bounds *warp)
{
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        for (int k = 0; k < 3; k++) {
            mine.lo[k] = fmin(mine.lo[k], from_partner(mine.lo[k], bits));
            mine.hi[k] = fmax(mine.hi[k], from_partner(mine.hi[k], bits));
        }
        const int64_t bad = from_partner(mine.bad, bits);
        const int64_t far = from_partner(mine.far, bits);
        const int32_t wrapped = from_partner(mine.wrapped, bits);
        mine.bad = bad < mine.bad ? bad : mine.bad;
        mine.far = far < mine.far ? far : mine.far;
        mine.wrapped = wrapped > mine.wrapped ? wrapped : mine.wrapped;
    }
    for (int k = 0; k < 3; k++) {
        warp->below[k] = ~ordered(mine.lo[k]);
        warp->above[k] = ordered(mine.hi[k]);
    }
    warp->bad = (unsigned long long)(INT64_MAX - mine.bad);
    warp->far = (unsigned long long)(INT64_MAX - mine.far);
    warp->wrapped = mine.wrapped;
}

/** Return the bounds of no particles. */
static __device__ struct kith__bounds empty_bounds(void)
{
    const struct kith__bounds none = {
        {DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, INT64_MAX, INT64_MAX, 0};
    return none;
}

#endif
