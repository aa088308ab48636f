/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounds in the tree's unit of length, and arithmetic that is rounded in a known direction. A bound
 * that is never too tight needs no margin for rounding.
 */
#ifndef KITH_GPU_NEAREST_NODE_CUH
#define KITH_GPU_NEAREST_NODE_CUH

#include "engine/gpu/device.cuh"
#include "engine/gpu/gpu_sweep.h"
#include "engine/gpu/record.cuh"
#include "nearest_gpu.h"

/* ------------------------------------------------------------------------------------- rounding */

#ifdef __HIP_PLATFORM_AMD__
/* No roundings in one direction: the next number in that direction is never on the wrong side. */
static __device__ __forceinline__ float next_below(float x)
{
    return nextafterf(x, -INFINITY);
}
static __device__ __forceinline__ float next_above(float x)
{
    return nextafterf(x, INFINITY);
}
static __device__ __forceinline__ float add_down(float a, float b)
{
    return next_below(__fadd_rn(a, b));
}
static __device__ __forceinline__ float add_up(float a, float b)
{
    return next_above(__fadd_rn(a, b));
}
static __device__ __forceinline__ float mul_down(float a, float b)
{
    return next_below(__fmul_rn(a, b));
}
static __device__ __forceinline__ float float_down(double x)
{
    return next_below((float)x);
}
static __device__ __forceinline__ float float_up(double x)
{
    return next_above((float)x);
}
#else
/** Return a + b rounded down. */
static __device__ __forceinline__ float add_down(float a, float b)
{
    return __fadd_rd(a, b);
}
/** Return a + b rounded up. */
static __device__ __forceinline__ float add_up(float a, float b)
{
    return __fadd_ru(a, b);
}
/** Return a * b rounded down. */
static __device__ __forceinline__ float mul_down(float a, float b)
{
    return __fmul_rd(a, b);
}
/** Return x rounded down to a float. */
static __device__ __forceinline__ float float_down(double x)
{
    return __double2float_rd(x);
}
/** Return x rounded up to a float. */
static __device__ __forceinline__ float float_up(double x)
{
    return __double2float_ru(x);
}
#endif

/* --------------------------------------------------------------------------------------- bounds */

/** Return true when all particles can be used; else no kernel has anything to do. */
static __device__ __forceinline__ bool is_usable(const struct kith__gpu_nearest &all)
{
    const struct kith__gpu_extent *e = all.state->extent;
    return (e[0].bad | e[0].far | e[1].bad | e[1].far) == 0;
}

/** The tree's unit of length: coordinates r become (r - origin) * scale. Numbers are then far from
 *  the limits of float, whatever the unit of the coordinates. */
struct tree_unit {
    double origin[3]; /**< lower bounds of all coordinates [length] */
    double scale;     /**< a power of two: products with it are exact [1 / length] */
    double extent;    /**< largest difference between coordinates, summed over the axes [length] */
    double longest;   /**< largest difference between coordinates [length] */
};

/** Compute the tree's unit of length from the bounds of all particles. */
static __device__ __forceinline__ struct tree_unit unit_of(const struct kith__gpu_nearest &all)
{
    const struct kith__gpu_extent *e = all.state->extent;
    struct tree_unit unit = {{0, 0, 0}, 1, 0, 0};
    for (int k = 0; k < 3; k++) {
        double lo = from_ordered(~e[0].below[k]), hi = from_ordered(e[0].above[k]);
        if (all.question.cross) {
            lo = fmin(lo, from_ordered(~e[1].below[k]));
            hi = fmax(hi, from_ordered(e[1].above[k]));
        }
        unit.origin[k] = lo;
        unit.extent += hi - lo;
        unit.longest = fmax(unit.longest, hi - lo);
    }
    if (unit.longest > 0 && unit.longest < DBL_MAX) {
        unit.scale = ldexp(1.0, -max(-1000, min(1000, ilogb(unit.longest))));
    }
    return unit;
}

/** Return a coordinate in the tree's unit of length, rounded down. */
static __device__ __forceinline__ float lower_bound(const struct tree_unit &unit, double x, int k)
{
#ifdef __HIP_PLATFORM_AMD__
    return float_down((x - unit.origin[k]) * unit.scale);
#else
    return float_down(__dsub_rd(x, unit.origin[k]) * unit.scale);
#endif
}

/** Return a coordinate in the tree's unit of length, rounded up. */
static __device__ __forceinline__ float upper_bound(const struct tree_unit &unit, double x, int k)
{
#ifdef __HIP_PLATFORM_AMD__
    return float_up((x - unit.origin[k]) * unit.scale);
#else
    return float_up(__dsub_ru(x, unit.origin[k]) * unit.scale);
#endif
}

/** Return the smallest number of the lanes that differ from this one in the lowest bits alone.
 *  @param size  number of lanes, a power of two */
static __device__ __forceinline__ float min_among(float value, int size)
{
    for (int bits = size / 2; bits > 0; bits /= 2) {
        value = fminf(value, from_partner(value, bits));
    }
    return value;
}

#endif
