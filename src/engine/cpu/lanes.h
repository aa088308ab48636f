/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vector operations and square roots under names that end in _f and _d, for code that
 * per_precision.h compiles for both precisions. Loops process W particles at a time: one vector of
 * floats, or two of doubles.
 */
#ifndef KITH_CPU_LANES_H
#define KITH_CPU_LANES_H

#include "simd.h"

typedef vf vector_f;
typedef vd vector_d;

/* Numbers of a vector. */
enum { SIDE_BY_SIDE_f = W, SIDE_BY_SIDE_d = D };

static inline vf load_f(const float *p)
{
    return vf_load(p);
}

static inline vd load_d(const double *p)
{
    return vd_load(p);
}

static inline vf smaller_f(vf a, vf b)
{
    return vf_min(a, b);
}

static inline vd smaller_d(vd a, vd b)
{
    return vd_min(a, b);
}

static inline vf larger_f(vf a, vf b)
{
    return vf_max(a, b);
}

static inline vd larger_d(vd a, vd b)
{
    return vd_max(a, b);
}

/** Return a mask of the lanes with v <= most. */
static inline unsigned lanes_to_f(vf v, float most)
{
    return vf_le(v, vf_set(most));
}

static inline unsigned lanes_to_d(vd v, double most)
{
    return vd_le(v, most - (vd){0});
}

/** Return a mask of the first n of W lanes; of all when n > W. */
static inline unsigned lanes_before(int64_t n)
{
    return (1u << (n < W ? n : W)) - 1;
}

/** Compress: copy those of W numbers whose mask bits are set, without gaps, to `to`. All W numbers
 *  at `to` are overwritten. `to` may equal `from`, or be at a lower address of one array.
 */
static inline void pack_f(float *to, const float *from, unsigned mask)
{
    vf_compress(to, vf_load(from), mask);
}

static inline void pack_d(double *to, const double *from, unsigned mask)
{
    const vd low = vd_load(from);
    const vd high = vd_load(from + D);
    const unsigned below = mask & ((1u << D) - 1);
    vd_compress(to, low, below);
    vd_compress(to + __builtin_popcount(below), high, mask >> D);
}

static inline float root_f(float x)
{
    return sqrtf(x);
}

static inline double root_d(double x)
{
    return sqrt(x);
}

#endif
