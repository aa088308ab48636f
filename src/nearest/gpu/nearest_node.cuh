/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounds in the tree's unit of length (kith__gpu_unit), and arithmetic that is rounded in a known
 * direction. A bound that is never too tight needs no margin for rounding.
 */
#ifndef KITH_GPU_NEAREST_NODE_CUH
#define KITH_GPU_NEAREST_NODE_CUH

#include "engine/gpu/device.cuh"
#include "engine/gpu/gpu_sweep.h"
#include "engine/gpu/record.cuh"
#include "nearest_gpu.h"

/* ------------------------------------------------------------------------------------- rounding */

#ifdef __HIP_PLATFORM_AMD__
/* These GPUs round to nearest only: the next number below the rounded one is a lower bound of the
 * exact value, and the next number above it an upper bound. */
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

/** Return the square root, rounded to nearest. For floats the root in double, rounded to float, is
 *  the correctly rounded one, as double has more than 2 * 24 + 2 bits (Figueroa 1995). */
static __device__ __forceinline__ float square_root(float x)
{
#ifdef __HIP_PLATFORM_AMD__
    return (float)sqrt((double)x);
#else
    return __fsqrt_rn(x);
#endif
}
static __device__ __forceinline__ double square_root(double x)
{
    return sqrt(x);
}

/* --------------------------------------------------------------------------------------- bounds */

/** Return true when all particles can be used; else no kernel has anything to do. */
static __device__ __forceinline__ bool is_usable(const struct kith__gpu_nearest &all)
{
    const struct kith__gpu_extent *e = all.state->extent;
    return (e[0].bad | e[0].far | e[1].bad | e[1].far) == 0;
}

/** Return coordinate x along axis k in the tree's unit of length, rounded down. */
static __device__ __forceinline__ float lower_bound(const struct kith__gpu_unit &unit, double x,
                                                    int k)
{
#ifdef __HIP_PLATFORM_AMD__
    return float_down((x - unit.origin[k]) * unit.scale);
#else
    return float_down(__dsub_rd(x, unit.origin[k]) * unit.scale);
#endif
}

/** Return coordinate x along axis k in the tree's unit of length, rounded up. */
static __device__ __forceinline__ float upper_bound(const struct kith__gpu_unit &unit, double x,
                                                    int k)
{
#ifdef __HIP_PLATFORM_AMD__
    return float_up((x - unit.origin[k]) * unit.scale);
#else
    return float_up(__dsub_ru(x, unit.origin[k]) * unit.scale);
#endif
}

/** Return the smallest number of an aligned run of `size` lanes, of which this lane is one.
 *  @param size  number of lanes, a power of two */
static __device__ __forceinline__ float min_among(float value, int size)
{
    for (int bits = size / 2; bits > 0; bits /= 2) {
        value = fminf(value, from_partner(value, bits));
    }
    return value;
}

#endif
