/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The vector operations that kernels need, for the instruction set that the including file is
 * compiled for: AVX-512, AVX2, or SSE2 and GNU vector extensions. A vector has W lanes of floats or
 * 32-bit integers, or D = W / 2 lanes of doubles.
 *
 * Types: vf floats, vd doubles, vi 32-bit integers, vp 64-bit integers, vm the result of a
 * comparison. Functions are named TYPE_OPERATION; those that differ between instruction sets have
 * their comments at the first of them, AVX-512; those without a comment do what their name says in
 * each lane. Loads and stores need no alignment. A mask in an unsigned has one bit for each lane,
 * the first lane in the lowest bit.
 */
#ifndef KITH_CPU_SIMD_H
#define KITH_CPU_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define KITH_INLINE static inline __attribute__((always_inline))

/* Lanes of a vector of floats. */
#if defined(__AVX512F__)
#define W 16
#elif defined(__AVX2__)
#define W 8
#else
#define W 4
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON) /* vectors of 128 bits: W is 4 */
#define KITH_NEON
#include <arm_neon.h>
#endif

typedef float vf __attribute__((vector_size(4 * W)));
enum { D = W / 2 }; /**< lanes of a vector of doubles */
typedef double vd __attribute__((vector_size(4 * W)));
typedef int32_t vi __attribute__((vector_size(4 * W)));
typedef uint64_t vp __attribute__((vector_size(4 * W))); /* D lanes */

static inline vf vf_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline vd vd_load(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline vi vi_load(const int32_t *p)
{
    vi v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vi_store(int32_t *p, vi a)
{
    memcpy(p, &a, sizeof a);
}

/** Return a in all lanes: GNU vector extensions extend a scalar operand to all lanes, and
 *  subtracting 0 changes no number, -0 included. */
static inline vf vf_set(float a)
{
    return a - (vf){0};
}

static inline vi vi_set(int32_t a)
{
    return a - (vi){0};
}

/** Non-temporal store, which bypasses the caches, to memory aligned to the vector. Call
 *  vi_stream_end() before another thread may read the memory. */
static inline void vi_stream(int32_t *to, vi a)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i *)(void *)to, (__m512i)a);
#elif defined(__AVX2__)
    _mm256_stream_si256((__m256i *)(void *)to, (__m256i)a);
#elif defined(__SSE2__)
    _mm_stream_si128((__m128i *)(void *)to, (__m128i)a);
#else
    memcpy(to, &a, sizeof a);
#endif
}

/** Make the non-temporal stores of this thread visible to other threads (store fence). */
static inline void vi_stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/** Return a - b modulo 2^32 in each lane. */
static inline vi vi_wrapped(vi a, vi b)
{
    typedef uint32_t bits __attribute__((vector_size(4 * W)));
    return (vi)((bits)a - (bits)b);
}

/** Convert integers to floats. */
static inline vf vf_from(vi a)
{
    return __builtin_convertvector(a, vf);
}

/** Convert floats to integers, rounding towards 0. */
static inline vi vi_from(vf a)
{
    return __builtin_convertvector(a, vi);
}

static inline vf vf_abs(vf a)
{
    return (vf)((vi)a & 0x7fffffff);
}

/** Return a >> n, where all lanes of n are equal. A shift by a vector is one operation with AVX2,
 *  where a shift by a scalar takes two; SSE2 can shift by a scalar only. */
static inline vp vp_shift(vp a, vp n)
{
#if defined(__AVX2__)
    return a >> n;
#else
    return a >> n[0];
#endif
}

/** Return the sum of all lanes modulo 2^32. */
static inline uint32_t vi_total(vi a)
{
#if defined(__AVX2__)
#if defined(__AVX512F__)
    const __m512i all = (__m512i)a;
    const __m256i v = _mm256_add_epi32(_mm512_castsi512_si256(all),
                                       _mm512_extracti64x4_epi64(all, 1));
#else
    const __m256i v = (__m256i)a;
#endif
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(two) + (uint32_t)_mm_extract_epi32(two, 1);
#elif defined(KITH_NEON)
    return (uint32_t)vaddvq_s32((int32x4_t)a);
#else
    return (uint32_t)a[0] + (uint32_t)a[1] + (uint32_t)a[2] + (uint32_t)a[3];
#endif
}

/** Return the lane numbers 0, 1, 2, ..., W - 1. */
static inline vi vi_lanes(void)
{
    static const int32_t lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return vi_load(lanes);
}

#if defined(__AVX512F__)

/** Return a * b + c: rounded once with AVX-512, AVX2 and NEON, twice otherwise. */
static inline vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
/** Return the larger of a and b; b when one of them is NaN. So do vf_min, vd_max and vd_min. */
static inline vf vf_max(vf a, vf b)
{
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
}
static inline vf vf_min(vf a, vf b)
{
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
}
/** Return the square root of a >= 1e-37, with an error of at most 2 units in the last place. With
 *  AVX-512, it is one Newton step from an approximate reciprocal root, which is faster than the
 *  correctly rounded root; other instruction sets return the correctly rounded root. */
static inline vf vf_root(vf a)
{
    const vf guess = (vf)_mm512_rsqrt14_ps((__m512)a);
    const vf root = a * guess;
    return vf_fma((vf)_mm512_fnmadd_ps((__m512)root, (__m512)root, (__m512)a), guess * 0.5f, root);
}
/** Return the correctly rounded square root. Its latency is long. */
static inline vf vf_rounded_root(vf a)
{
    return (vf)_mm512_sqrt_ps((__m512)a);
}
/** Return from[at[lane]] in each lane. */
static inline vi vi_gather(const int32_t *from, vi at)
{
    return (vi)_mm512_i32gather_epi32((__m512i)at, from, sizeof *from);
}
/** Return a mask of the lanes with a <= b: clear where one of them is NaN. */
static inline unsigned vf_le(vf a, vf b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ);
}
static inline vd vd_max(vd a, vd b)
{
    return (vd)_mm512_max_pd((__m512d)a, (__m512d)b);
}
static inline vd vd_min(vd a, vd b)
{
    return (vd)_mm512_min_pd((__m512d)a, (__m512d)b);
}
/** Round numbers of 0 to 2^51 down to whole numbers. */
static inline vd vd_whole(vd a)
{
    return (vd)_mm512_roundscale_pd((__m512d)a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
static inline unsigned vd_le(vd a, vd b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ);
}
static inline unsigned vi_gt(vi a, vi b)
{
    return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
}
static inline unsigned vi_ne(vi a, vi b)
{
    return _mm512_cmpneq_epi32_mask((__m512i)a, (__m512i)b);
}
/** Return a mask of the lanes where a and b have no bit in common. */
static inline unsigned vi_apart(vi a, vi b)
{
    return _mm512_testn_epi32_mask((__m512i)a, (__m512i)b);
}
/** Return a mask of the lanes with v <= most, and set *between to those of them with v > clear. */
static inline unsigned vf_classify(vf v, vf clear, vf most, unsigned *between)
{
    const __mmask16 mask = _mm512_cmp_ps_mask((__m512)v, (__m512)most, _CMP_LE_OQ);
    *between = _mm512_mask_cmp_ps_mask(mask, (__m512)v, (__m512)clear, _CMP_GT_OQ);
    return mask;
}
/** A mask in the form that comparisons of this instruction set give: one bit for each lane
 *  (AVX-512), or all bits of each lane set or clear (the others). vm_bits converts it. */
typedef __mmask16 vm;
static inline vm vm_all(void)
{
    return 0xffff;
}
static inline unsigned vm_bits(vm a)
{
    return a;
}
/** Return the lanes of the mask `where` with a <= b. */
static inline vm vm_le(vm where, vf a, vf b)
{
    return _mm512_mask_cmp_ps_mask(where, (__m512)a, (__m512)b, _CMP_LE_OQ);
}
/** Return the lanes of the mask `where` with a > b. */
static inline vm vm_gt(vm where, vf a, vf b)
{
    return _mm512_mask_cmp_ps_mask(where, (__m512)a, (__m512)b, _CMP_GT_OQ);
}
/** Return a + b in the lanes of the mask, and a in the other lanes. */
static inline vi vi_add_where(vi a, vm mask, vi b)
{
    return (vi)_mm512_mask_add_epi32((__m512i)a, mask, (__m512i)a, (__m512i)b);
}
/** Compress: store the lanes of the mask without gaps, from `to` on. Up to W (vd_compress: D)
 *  elements at `to` are overwritten, whatever the mask. With AVX-512, lanes are compressed in a
 *  register and stored as a whole vector: the instruction that compresses to memory is slow on some
 *  processors. */
static inline void vi_compress(int32_t *to, vi a, unsigned mask)
{
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)mask, (__m512i)a));
}
static inline void vd_compress(double *to, vd a, unsigned mask)
{
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd((__mmask8)mask, (__m512d)a));
}
static inline void vf_compress(float *to, vf a, unsigned mask)
{
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps((__mmask16)mask, (__m512)a));
}

#elif defined(__AVX2__)

static inline vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static inline vf vf_max(vf a, vf b)
{
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
}
static inline vf vf_min(vf a, vf b)
{
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
}
static inline vf vf_root(vf a)
{
    return (vf)_mm256_sqrt_ps((__m256)a);
}
static inline vi vi_gather(const int32_t *from, vi at)
{
    return (vi)_mm256_i32gather_epi32(from, (__m256i)at, sizeof *from);
}
static inline vd vd_max(vd a, vd b)
{
    return (vd)_mm256_max_pd((__m256d)a, (__m256d)b);
}
static inline vd vd_min(vd a, vd b)
{
    return (vd)_mm256_min_pd((__m256d)a, (__m256d)b);
}
static inline vd vd_whole(vd a)
{
    return (vd)_mm256_round_pd((__m256d)a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/** The lanes of each mask of 8 bits: byte k of an element is the number of the k-th lane that is
 *  set, in ascending order. LANE(m, l) is the byte of lane l; lane 0 needs none, as its byte is 0
 *  and comes first. A lookup takes fewer instructions than pdep and pext, which are also slow on
 *  AMD processors before Zen 3. */
#define LANE(m, l) \
    ((uint64_t)((m) >> (l)&1) * (l) << 8 * __builtin_popcount((m) & ((1 << (l)) - 1)))
#define LANES(m) \
    LANE(m, 1) | LANE(m, 2) | LANE(m, 3) | LANE(m, 4) | LANE(m, 5) | LANE(m, 6) | LANE(m, 7)
#define LANES_4(m) LANES(m), LANES((m) + 1), LANES((m) + 2), LANES((m) + 3)
#define LANES_16(m) LANES_4(m), LANES_4((m) + 4), LANES_4((m) + 8), LANES_4((m) + 12)
#define LANES_64(m) LANES_16(m), LANES_16((m) + 16), LANES_16((m) + 32), LANES_16((m) + 48)
static const uint64_t lanes_of_mask[256] = {LANES_64(0), LANES_64(64), LANES_64(128),
                                            LANES_64(192)};
#undef LANE
#undef LANES
#undef LANES_4
#undef LANES_16
#undef LANES_64

/** Return the numbers of the lanes that are set in a mask, in ascending order, then zeros. */
static inline __m256i set_lanes(unsigned mask)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)(lanes_of_mask + mask)));
}
static inline void vi_compress(int32_t *to, vi a, unsigned mask)
{
    const __m256i packed = _mm256_permutevar8x32_epi32((__m256i)a, set_lanes(mask));
    _mm256_storeu_si256((__m256i *)(void *)to, packed);
}
static inline void vd_compress(double *to, vd a, unsigned mask)
{
    /* doubles as pairs of 32-bit lanes: each bit of the mask is doubled */
    const __m256i lanes = set_lanes(_pdep_u32(mask, 0x55) * 3);
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32((__m256i)a, lanes));
}
static inline void vf_compress(float *to, vf a, unsigned mask)
{
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps((__m256)a, set_lanes(mask)));
}

#elif defined(KITH_NEON)

static inline vf vf_fma(vf a, vf b, vf c)
{
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
/* vmaxq_f32 would return NaN when a or b is NaN, and not b, as the other instruction sets do. */
static inline vf vf_max(vf a, vf b)
{
    return (vf)vbslq_f32((uint32x4_t)(a > b), (float32x4_t)a, (float32x4_t)b);
}
static inline vf vf_min(vf a, vf b)
{
    return (vf)vbslq_f32((uint32x4_t)(a < b), (float32x4_t)a, (float32x4_t)b);
}
static inline vf vf_root(vf a)
{
    return (vf)vsqrtq_f32((float32x4_t)a);
}
static inline vd vd_max(vd a, vd b)
{
    return (vd)vbslq_f64((uint64x2_t)(a > b), (float64x2_t)a, (float64x2_t)b);
}
static inline vd vd_min(vd a, vd b)
{
    return (vd)vbslq_f64((uint64x2_t)(a < b), (float64x2_t)a, (float64x2_t)b);
}
static inline vd vd_whole(vd a)
{
    return (vd)vrndq_f64((float64x2_t)a);
}
/** Return the byte indices, for a table lookup, that move the lanes set in a mask to the front. */
static inline uint8x16_t set_lanes(unsigned mask)
{
/* the indices of the four bytes of lane k */
#define KITH_LANE(k) 0x03020100u + 0x04040404u * (k)
    static const uint32_t bytes[16][4] = {
        {0},
        {KITH_LANE(0)},
        {KITH_LANE(1)},
        {KITH_LANE(0), KITH_LANE(1)},
        {KITH_LANE(2)},
        {KITH_LANE(0), KITH_LANE(2)},
        {KITH_LANE(1), KITH_LANE(2)},
        {KITH_LANE(0), KITH_LANE(1), KITH_LANE(2)},
        {KITH_LANE(3)},
        {KITH_LANE(0), KITH_LANE(3)},
        {KITH_LANE(1), KITH_LANE(3)},
        {KITH_LANE(0), KITH_LANE(1), KITH_LANE(3)},
        {KITH_LANE(2), KITH_LANE(3)},
        {KITH_LANE(0), KITH_LANE(2), KITH_LANE(3)},
        {KITH_LANE(1), KITH_LANE(2), KITH_LANE(3)},
        {KITH_LANE(0), KITH_LANE(1), KITH_LANE(2), KITH_LANE(3)},
    };
#undef KITH_LANE
    return vreinterpretq_u8_u32(vld1q_u32(bytes[mask & 15]));
}
static inline void vi_compress(int32_t *to, vi a, unsigned mask)
{
    const vi packed = (vi)vqtbl1q_u8((uint8x16_t)a, set_lanes(mask));
    vi_store(to, packed);
}
static inline void vf_compress(float *to, vf a, unsigned mask)
{
    const vf packed = (vf)vqtbl1q_u8((uint8x16_t)a, set_lanes(mask));
    memcpy(to, &packed, sizeof packed);
}

#else

static inline vf vf_fma(vf a, vf b, vf c)
{
    return a * b + c;
}
static inline vf vf_max(vf a, vf b)
{
    const vi greater = a > b;
    return (vf)((greater & (vi)a) | (~greater & (vi)b));
}
static inline vf vf_min(vf a, vf b)
{
    const vi less = a < b;
    return (vf)((less & (vi)a) | (~less & (vi)b));
}
static inline vf vf_root(vf a)
{
#if defined(__SSE2__)
    return (vf)_mm_sqrt_ps((__m128)a);
#else
    return (vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
#endif
}
static inline vd vd_max(vd a, vd b)
{
#if defined(__SSE2__)
    return (vd)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return (vd){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}
static inline vd vd_min(vd a, vd b)
{
#if defined(__SSE2__)
    return (vd)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return (vd){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}
static inline vd vd_whole(vd a)
{
    return (vd){(double)(int64_t)a[0], (double)(int64_t)a[1]};
}
static inline void vi_compress(int32_t *to, vi a, unsigned mask)
{
    for (int lane = 0; lane < W; to += mask >> lane & 1, lane++) {
        *to = a[lane];
    }
}
static inline void vf_compress(float *to, vf a, unsigned mask)
{
    for (int lane = 0; lane < W; to += mask >> lane & 1, lane++) {
        *to = a[lane];
    }
}

#endif

#if W == 4 /* without AVX2: two doubles and four integers at a time */

static inline vi vi_gather(const int32_t *from, vi at)
{
    return (vi){from[at[0]], from[at[1]], from[at[2]], from[at[3]]};
}
static inline void vd_compress(double *to, vd a, unsigned mask)
{
    to[0] = a[0];
    to[mask & 1] = mask & 2 ? a[1] : a[0];
}

#endif

#if !defined(__AVX512F__)

/** Return a mask of the lanes whose bits are all 1, where all bits of each lane are equal. */
static inline unsigned lane_bits(vi all)
{
#if defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps((__m256)all);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)all);
#elif defined(KITH_NEON)
    static const uint32_t bit[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32((uint32x4_t)all, vld1q_u32(bit)));
#else
    return (all[0] & 1u) | (all[1] & 2u) | (all[2] & 4u) | (all[3] & 8u);
#endif
}
static inline unsigned vf_le(vf a, vf b)
{
#if defined(__AVX2__) /* with intrinsics, gcc 12 needs one register less in loops of histograms */
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LE_OQ));
#else
    return lane_bits(a <= b);
#endif
}
static inline unsigned vi_gt(vi a, vi b)
{
    return lane_bits(a > b);
}
static inline unsigned vi_ne(vi a, vi b)
{
    return ((1u << W) - 1) ^ lane_bits(a == b);
}
static inline unsigned vi_apart(vi a, vi b)
{
    return lane_bits((a & b) == 0);
}
static inline unsigned vd_le(vd a, vd b)
{
#if defined(__AVX2__)
    return (unsigned)_mm256_movemask_pd((__m256d)(a <= b));
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)(a <= b));
#else
    return (a[0] <= b[0] ? 1u : 0) | (a[1] <= b[1] ? 2u : 0);
#endif
}
static inline unsigned vf_classify(vf v, vf clear, vf most, unsigned *between)
{
    const unsigned mask = vf_le(v, most);
    *between = mask & ~vf_le(v, clear);
    return mask;
}
static inline vf vf_rounded_root(vf a)
{
    return vf_root(a);
}
typedef vi vm;
static inline vm vm_all(void)
{
    return vi_set(-1);
}
static inline unsigned vm_bits(vm a)
{
    return lane_bits(a);
}
static inline vm vm_le(vm where, vf a, vf b)
{
    return where & (a <= b);
}
static inline vm vm_gt(vm where, vf a, vf b)
{
    return where & (a > b);
}
static inline vi vi_add_where(vi a, vm mask, vi b)
{
    typedef uint32_t bits __attribute__((vector_size(4 * W)));
    return (vi)((bits)a + (bits)(b & mask));
}

#endif

/** Convert W unsigned bytes to integers. */
static inline vi vi_from_bytes(const uint8_t *p)
{
#if defined(__AVX512F__)
    return (vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i_u *)(const void *)p));
#elif defined(__AVX2__)
    return (vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)(const void *)p));
#else
    return (vi){p[0], p[1], p[2], p[3]};
#endif
}

/** Return a mask of those of 64 signed bytes that are at most `most`: the first byte in the lowest
 *  bit. */
static inline uint64_t bytes_to(const int8_t *p, int8_t most)
{
#if defined(__AVX512BW__)
    return _mm512_cmple_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(most));
#elif defined(__SSE2__)
    uint64_t above = 0;
    for (int k = 0; k < 64; k += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i_u *)(const void *)(p + k));
        const __m128i more = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(most));
        above |= (uint64_t)(uint32_t)_mm_movemask_epi8(more) << k;
    }
    return ~above;
#else
    uint64_t mask = 0;
    for (int k = 0; k < 64; k++) {
        mask |= (uint64_t)(p[k] <= most) << k;
    }
    return mask;
#endif
}

/** Deposit: return a mask in which the k-th set bit of `where`, from the lowest on, is bit k of
 *  `bits`, and all other bits are 0. */
static inline uint64_t bits_at(uint64_t bits, uint64_t where)
{
#if defined(__BMI2__)
    return _pdep_u64(bits, where);
#else
    uint64_t out = 0;
    for (; where; where &= where - 1, bits >>= 1) {
        out |= bits & 1 ? where & -where : 0;
    }
    return out;
#endif
}

/** Round numbers of -2^51 to 2^51 to the nearest whole numbers; larger ones to large ones. Doubles
 *  between 2^52 and 2^53 are whole numbers, so adding 1.5 x 2^52 rounds. */
static inline vd vd_nearest(vd a)
{
    return (a + 0x1.8p52) - 0x1.8p52;
}

/** Return a mask of the lanes with a < b, or where a or b is NaN. */
static inline unsigned vf_below(vf a, vf b)
{
    return ~vf_le(b, a) & ((1u << W) - 1);
}

#endif
