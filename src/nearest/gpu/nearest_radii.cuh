/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radii of particles in the search for nearest neighbours: the definition by which they permit a
 * pair (pairs/rules.h), and bounds on the largest distance that the radii of many particles permit,
 * in the tree's unit of length.
 */
#ifndef KITH_GPU_NEAREST_RADII_CUH
#define KITH_GPU_NEAREST_RADII_CUH

#include "nearest_node.cuh"

/* Overloads by precision. */

/** Return the largest distance of a pair of particles with radii hi and hj [length]. */
static __device__ __forceinline__ float radius_of_pair(kith_radius_rule rule, float hi, float hj)
{
    return kith__radius_of_pair_f(rule, hi, hj);
}
static __device__ __forceinline__ double radius_of_pair(kith_radius_rule rule, double hi, double hj)
{
    return kith__radius_of_pair_d(rule, hi, hj);
}

/** Return true when radii hi and hj permit a pair at a squared distance, by the definition. */
static __device__ __forceinline__ bool radii_permit(kith_radius_rule rule, float hi, float hj,
                                                    float r2)
{
    return kith__radii_permit_f(rule, hi, hj, r2);
}
static __device__ __forceinline__ bool radii_permit(kith_radius_rule rule, double hi, double hj,
                                                    double r2)
{
    return kith__radii_permit_d(rule, hi, hj, r2);
}

/** Return a radius in the tree's unit of length, rounded up. Radii whose square would not be a
 *  normal number are raised to one whose square is: r^2 below that is rounded by more than a part
 *  of 2^-24, so that a bound on the exact square would not be one on the rounded one. */
template <typename real>
static __device__ __forceinline__ float radius_bound(const struct kith__gpu_unit &unit, real radius)
{
    const double least = sizeof(real) == sizeof(float) ? 1.4e-19 : 1.9e-154;
    return float_up(fmax((double)radius, least) * unit.scale);
}

/** Return the bits of an upper bound on r^2 of the pairs that radii of at most hi and hj permit, in
 *  the tree's unit. @param hi, hj  from radius_bound */
static __device__ __forceinline__ unsigned most_square_bits(kith_radius_rule rule, float hi,
                                                            float hj)
{
    const float h = rule == KITH_RADIUS_SUM ? add_up(hi, hj) : kith__radius_of_pair_f(rule, hi, hj);
    return __float_as_uint(float_up((double)h * (double)h)); /* the product is exact */
}

#endif
