/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From r2, which is exact, to its counter. A fast root decides where the edges of the bin are clear
 * of its error; else r2 is compared with them. Blocks count in 32 bits in shared memory, in copies
 * that spread the lanes of a warp over its banks, and add to 64 bits in device memory.
 */
#ifndef KITH_GPU_TALLY_CUH
#define KITH_GPU_TALLY_CUH

#include "counters.cuh"
#include "rdf.h"

/** What a kernel is compiled for. */
enum kith__way {
    BY_ROOT,  /**< linear bins, plain, counters in shared memory */
    BY_TABLE, /**< other bins, likewise */
    WITH_CARE /**< anything */
};

/* 1.5 * 2^23: floats around it are whole numbers, and differ as their bits do. */
static const float whole = 12582912.0f;
static const uint32_t whole_bits = 0x4b400000u;

/** sqrt(x), to 2^-23 of it, or 0 where x is below 2^-126. */
static __device__ __forceinline__ float fast_root(float x)
{
#if defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_sqrtf(x);
#elif defined(__CUDA_ARCH__)
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrtf(x);
#endif
}

static __device__ __forceinline__ uint32_t bits_of(float x)
{
    return (uint32_t)__float_as_int(x);
}

/* ------------------------------------------------------------------------------- by precision */

static __device__ __forceinline__ float scaled(const struct kith__gpu_scale &, float r2)
{
    return r2;
}
static __device__ __forceinline__ float scaled(const struct kith__gpu_scale &s, double r2)
{
    return (float)(r2 * s.inverse2);
}
static __device__ __forceinline__ int32_t settled(const struct kith__rdf *rdf, float r2,
                                                  int32_t guess)
{
    return kith__settled_f(rdf, r2, guess);
}
static __device__ __forceinline__ int32_t settled(const struct kith__rdf *rdf, double r2,
                                                  int32_t guess)
{
    return kith__settled_d(rdf, r2, guess);
}

/* ---------------------------------------------------------------------------------------- bins */

/** The bin of r2, or a number beyond the last bin; NaN is there too. @return whether it is clear:
 *  else it is that bin or the next. */
template <typename real>
static __device__ __forceinline__ bool bin_by_root(const struct kith__gpu_scale &s, real r2,
                                                   uint32_t *bin)
{
    const float r = fast_root(scaled(s, r2));
    const uint32_t low = bits_of(KITH_ADD_F(__fmaf_rn(r, s.factor[0], s.offset[0]), whole));
    const uint32_t high = bits_of(KITH_ADD_F(__fmaf_rn(r, s.factor[1], s.offset[1]), whole));
    *bin = low - whole_bits;
    return low == high;
}

template <typename real>
static __device__ __forceinline__ bool bin_by_table(const struct kith__gpu_scale &s, real r2,
                                                    uint32_t *bin)
{
    const real *edge2 = (const real *)s.rdf.edge2;
    const int32_t bins = (int32_t)s.rdf.bins;
    *bin = 0xffffffffu;
    if (!(r2 <= edge2[bins])) {
        return true;
    }
    const float most = KITH_GPU_EDGE_CELLS;
    const int32_t first = s.first[(int)fminf(scaled(s, r2) * s.per_cell, most)];
    if (first < 0) {
        return false;
    }
    *bin = (uint32_t)(first + (first < bins && r2 >= edge2[first]) - 1);
    return true;
}

/** Which of two bins, `bin` and the next, holds r2. */
template <typename real>
static __device__ __forceinline__ uint32_t settle_beside(const struct kith__gpu_scale &s, real r2,
                                                         uint32_t bin)
{
    const uint32_t next = bin + 1;
    const uint32_t bins = (uint32_t)s.rdf.bins;
    if (next > bins) {
        return bin;
    }
    const real edge2 = ((const real *)s.rdf.edge2)[next];
    return bin + (next < bins ? r2 >= edge2 : r2 > edge2);
}

/** The bin by the definition; `bin` is a guess. */
template <typename real>
static __device__ __noinline__ uint32_t look_up(const void *edge2, int32_t bins, bool linear,
                                                double r_min, double width, real r2, uint32_t bin)
{
    struct kith__rdf rdf;
    rdf.edge2 = edge2;
    rdf.bins = bins;
    rdf.linear = linear;
    rdf.r_min = r_min;
    rdf.width = width;
    const int32_t guess = bin < (uint32_t)bins ? (int32_t)bin + 1 : bins;
    return r2 == r2 ? (uint32_t)(settled(&rdf, r2, guess) - 1) : 0xffffffffu;
}
template <typename real, int WAY>
static __device__ __forceinline__ uint32_t settle(const struct kith__gpu_scale &s, real r2,
                                                  uint32_t bin)
{
    if (WAY == BY_ROOT) {
        return settle_beside(s, r2, bin);
    }
    return look_up(s.rdf.edge2, (int32_t)s.rdf.bins, s.rdf.linear, s.rdf.r_min, s.rdf.width, r2,
                   bin);
}

template <typename real, int WAY>
static __device__ __forceinline__ bool find_bin(const struct kith__gpu_scale &s, real r2,
                                                uint32_t *bin)
{
    *bin = 0;
    return WAY == BY_ROOT    ? bin_by_root(s, r2, bin)
           : WAY == BY_TABLE ? bin_by_table(s, r2, bin)
           : s.wild          ? false
           : s.rdf.linear    ? bin_by_root(s, r2, bin)
                             : bin_by_table(s, r2, bin);
}

/* ------------------------------------------------------------------------------------ counters */

/** Add to an integer of 128 bits, whose high word is `n` words behind the low one. */
static __device__ __forceinline__ void add_wide(unsigned long long *low, int64_t n, int64_t value)
{
    const unsigned long long add = (unsigned long long)value;
    const unsigned long long old = atomicAdd(low, add);
    const unsigned long long high = (value < 0 ? ~0ull : 0ull) + (old + add < old);
    if (high != 0) {
        atomicAdd(low + n, high);
    }
}

/** Count a pair of the caller's i and j, of which the bin is known, unless it is left out. */
static __device__ __forceinline__ void count_carefully(const struct kith__gpu_scale &s,
                                                       const struct counters &c, int64_t first,
                                                       int64_t first_here, uint32_t bin, int32_t i,
                                                       int32_t j)
{
    if (!s.plain && kith__is_left_out(&s.rdf, s.cross, i, j)) {
        return;
    }
    if (s.copies > 0) {
        count_one(c, (uint32_t)first_here + bin);
    } else {
        atomicAdd(&s.counts[first + bin], 1ull);
    }
    if (s.sums) {
        add_wide(&s.sums[first + bin], s.rdf.partials * s.rdf.bins, kith__product(&s.rdf, i, j));
    }
}

/* ----------------------------------------------------------------------------------- launching */

static inline enum kith__way way_of(const struct kith__gpu_scale *s)
{
    return !s->plain || s->wild || s->copies == 0 ? WITH_CARE : s->rdf.linear ? BY_ROOT : BY_TABLE;
}

/** run<real, way>(...) for a precision. */
#define RUN_BY_WAY(way, precision, run, ...) \
    ((precision) == KITH_FLOAT ? RUN_WAY(float, way, run, __VA_ARGS__) \
                               : RUN_WAY(double, way, run, __VA_ARGS__))
#define RUN_WAY(real, way, run, ...) \
    ((way) == BY_ROOT    ? run<real, BY_ROOT>(__VA_ARGS__) \
     : (way) == BY_TABLE ? run<real, BY_TABLE>(__VA_ARGS__) \
                         : run<real, WITH_CARE>(__VA_ARGS__))

#endif
