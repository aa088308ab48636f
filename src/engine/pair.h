/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The definition of a pair, written once and compiled by the C and the CUDA compiler: wrapping into
 * the box, the separation of i and an image of j, and its square, in float (suffix _f) and double
 * (suffix _d). (i, j, S) is a pair when kith__separation, the squared distance of i and image S of
 * j, is at most cutoff * cutoff, a product rounded to the precision of the coordinates.
 *
 * Every operation is rounded once, in a fixed order. So all backends find identical sets of pairs.
 */
#ifndef KITH_PAIR_H
#define KITH_PAIR_H

#include <math.h>
#include <stdint.h>

/* Begins a function of a header that both the host and the device compiler read. */
#if defined(__CUDACC__) || defined(__HIPCC__)
#define KITH_FN static __host__ __device__ __forceinline__
#else
#define KITH_FN static inline
#endif

/* Sums, differences, products and quotients that are rounded once to nearest, never contracted to
 * fused multiply-add: by the _rn intrinsics in device code, by -ffp-contract=off in host code. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define KITH_ADD_d(a, b) __dadd_rn(a, b)
#define KITH_SUB_d(a, b) __dsub_rn(a, b)
#define KITH_MUL_d(a, b) __dmul_rn(a, b)
#define KITH_DIV_d(a, b) __ddiv_rn(a, b)
#define KITH_ADD_f(a, b) __fadd_rn(a, b)
#define KITH_SUB_f(a, b) __fsub_rn(a, b)
#define KITH_MUL_f(a, b) __fmul_rn(a, b)
#define KITH_DIV_f(a, b) __fdiv_rn(a, b)
#else
#define KITH_ADD_d(a, b) ((a) + (b))
#define KITH_SUB_d(a, b) ((a) - (b))
#define KITH_MUL_d(a, b) ((a) * (b))
#define KITH_DIV_d(a, b) ((a) / (b))
#define KITH_ADD_f(a, b) ((a) + (b))
#define KITH_SUB_f(a, b) ((a) - (b))
#define KITH_MUL_f(a, b) ((a) * (b))
#define KITH_DIV_f(a, b) ((a) / (b))
#endif

/* Operations that are rounded once, in the precision that per_precision.h compiles a file for. */
#define KITH_ADD(a, b) KITH_REAL(KITH_ADD)(a, b)
#define KITH_SUB(a, b) KITH_REAL(KITH_SUB)(a, b)
#define KITH_MUL(a, b) KITH_REAL(KITH_MUL)(a, b)
#define KITH_DIV(a, b) KITH_REAL(KITH_DIV)(a, b)

/**
 * Round a number to float. gcc 12.2 from -O2 on wrongly removes the conversions double -> float ->
 * double where it combines two adjacent numbers in one vector operation; storing the float in
 * volatile memory prevents that. tests/engine/test_rounding.c fails when a compiler removes the
 * rounding.
 */
KITH_FN double kith__round_to_float(double x)
{
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
    const volatile float narrow = (float)x;
#else
    const float narrow = (float)x;
#endif
    return (double)narrow;
}

/* A double rounded to the precision that per_precision.h compiles a file for. */
#define KITH_ROUND_d(x) (x)
#define KITH_ROUND_f(x) kith__round_to_float(x)
#define KITH_ROUND(x) KITH_REAL(KITH_ROUND)(x)

/** Largest number of boxes that a coordinate may be outside the box. Beyond it too few bits of a
 *  float (_f) are left for the position inside the box, or the count would not fit the int32_t of
 *  `image` (_d). */
enum { kith__farthest_image_f = 1 << 20, kith__farthest_image_d = 1 << 30 };

#define KITH_PER_PRECISION "engine/pair_real.h"
#include "core/per_precision.h"

/* Largest |S[k]| that kith__pack_shift can pack: a component has 10 bits. */
enum { KITH_MOST_SHIFT = 511 };

/** Pack a shift S into 30 bits: the numbers of rows a, b, c that are added to a particle's position
 *  to get its image, |S[k]| <= KITH_MOST_SHIFT. 512 is added to each number, so that it is
 *  positive. Packed shifts are ordered by S[2], then S[1], then S[0]. */
KITH_FN int32_t kith__pack_shift(const int32_t s[3])
{
    return (s[0] + 512) | (s[1] + 512) << 10 | (s[2] + 512) << 20;
}

/** Unpack a shift that kith__pack_shift packed. */
KITH_FN void kith__unpack_shift(int32_t packed, int32_t s[3])
{
    s[0] = (packed & 1023) - 512;
    s[1] = (packed >> 10 & 1023) - 512;
    s[2] = (packed >> 20 & 1023) - 512;
}

#endif
