/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vector operations and square roots under names that end in _f and _d, for code that
 * per_precision.h compiles for both precisions. Loops process W particles at a time: one vector of
 * floats, or two of doubles.
 */
#ifndef KITH_CPU_LANES_H
#define KITH_CPU_LANES_H

#include "simd.h"

/* The functions without a comment are those of simd.h or of math.h, under another name. A function
 * that is _f and _d has its comment at _f. */

typedef vf vector_f;
typedef vd vector_d;

/* Lanes of a vector of each precision. */
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

/** Gather positions, which are stored as x, y, z and a fourth number: out[m] receives
 *  from[4 at[lane] + m] in each lane. Each position is loaded as a whole, and they are transposed:
 *  LOW and HIGH interleave the x and y, or the z and fourth numbers, of two positions; FOUR joins
 *  the results of two.
 *  @param from  positions; with AVX2 and AVX-512 the fourth number is read too, so the array must
 *               have it also for the last position
 *  @param at    [SIDE_BY_SIDE] indices of the positions */
KITH_INLINE void gather_f(const float *from, const int32_t *at, vf out[3])
{
#if defined(__AVX2__)
#define ROW(lane) _mm_loadu_ps(from + 4 * (int64_t)at[lane])
#define ROW_8(lane) _mm256_insertf128_ps(_mm256_castps128_ps256(ROW(lane)), ROW((lane) + 4), 1)
#if defined(__AVX512F__)
#define ROWS(lane) \
    (__m512) _mm512_insertf64x4(_mm512_castpd256_pd512((__m256d)ROW_8(lane)), \
                                (__m256d)ROW_8((lane) + 8), 1)
#define LOW _mm512_unpacklo_ps
#define HIGH _mm512_unpackhi_ps
#define FOUR _mm512_shuffle_ps
    const __m512 r0 = ROWS(0), r1 = ROWS(1), r2 = ROWS(2), r3 = ROWS(3);
    const __m512 xy01 = LOW(r0, r1), xy23 = LOW(r2, r3);
#else
#define ROWS(lane) ROW_8(lane)
#define LOW _mm256_unpacklo_ps
#define HIGH _mm256_unpackhi_ps
#define FOUR _mm256_shuffle_ps
    const __m256 r0 = ROWS(0), r1 = ROWS(1), r2 = ROWS(2), r3 = ROWS(3);
    const __m256 xy01 = LOW(r0, r1), xy23 = LOW(r2, r3);
#endif
    out[0] = (vf)FOUR(xy01, xy23, 0x44);
    out[1] = (vf)FOUR(xy01, xy23, 0xee);
    out[2] = (vf)FOUR(HIGH(r0, r1), HIGH(r2, r3), 0x44);
#undef ROW
#undef ROW_8
#undef ROWS
#undef LOW
#undef HIGH
#undef FOUR
#else
    for (int m = 0; m < 3; m++) {
        vf v = {0};
        for (int lane = 0; lane < W; lane++) {
            v[lane] = from[4 * (int64_t)at[lane] + m];
        }
        out[m] = v;
    }
#endif
}

/** Gather positions of doubles, as gather_f does those of floats. */
KITH_INLINE void gather_d(const double *from, const int32_t *at, vd out[3])
{
#if defined(__AVX2__)
#define ROW(lane) _mm256_loadu_pd(from + 4 * (int64_t)at[lane])
#endif
#if defined(__AVX512F__)
#define ROWS(lane) _mm512_insertf64x4(_mm512_castpd256_pd512(ROW(lane)), ROW((lane) + 4), 1)
    const __m512d r0 = ROWS(0), r1 = ROWS(1), r2 = ROWS(2), r3 = ROWS(3);
    const __m512d xz01 = _mm512_unpacklo_pd(r0, r1), xz23 = _mm512_unpacklo_pd(r2, r3);
    const __m512d y01 = _mm512_unpackhi_pd(r0, r1), y23 = _mm512_unpackhi_pd(r2, r3);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    out[0] = (vd)_mm512_permutex2var_pd(xz01, first, xz23);
    out[1] = (vd)_mm512_permutex2var_pd(y01, first, y23);
    out[2] = (vd)_mm512_permutex2var_pd(xz01, second, xz23);
#undef ROWS
#elif defined(__AVX2__)
    const __m256d r0 = ROW(0), r1 = ROW(1), r2 = ROW(2), r3 = ROW(3);
    const __m256d xz01 = _mm256_unpacklo_pd(r0, r1), xz23 = _mm256_unpacklo_pd(r2, r3);
    const __m256d y01 = _mm256_unpackhi_pd(r0, r1), y23 = _mm256_unpackhi_pd(r2, r3);
    out[0] = (vd)_mm256_permute2f128_pd(xz01, xz23, 0x20);
    out[1] = (vd)_mm256_permute2f128_pd(y01, y23, 0x20);
    out[2] = (vd)_mm256_permute2f128_pd(xz01, xz23, 0x31);
#else
    for (int m = 0; m < 3; m++) {
        vd v = {0};
        for (int lane = 0; lane < D; lane++) {
            v[lane] = from[4 * (int64_t)at[lane] + m];
        }
        out[m] = v;
    }
#endif
#undef ROW
}

/** Convert one vector of integers: W to float, D to double. */
KITH_INLINE vf convert_f(const int32_t *from)
{
    return vf_from(vi_load(from));
}

KITH_INLINE vd convert_d(const int32_t *from)
{
    vd v = {0};
    for (int lane = 0; lane < D; lane++) {
        v[lane] = (double)from[lane];
    }
    return v;
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

/** Compress: copy those of W numbers whose mask bits are set, without gaps, to `to`. Up to W
 *  numbers at `to` are overwritten. `to` may equal `from`, or be at a lower address of one array:
 *  all W numbers are loaded before any is stored.
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
