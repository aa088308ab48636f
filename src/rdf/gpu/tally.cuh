/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From r^2 to its bin, and counting. For linear bins from 0, the bin is computed from an
 * approximate square root: when the root is within its error bound of an edge, r^2 is compared with
 * the squared edge instead, so that bins are exact. Other bins are found by a table of cells of
 * r^2. Thread blocks count in 32 bits in shared memory (counters.cuh). kith__gpu_scale (rdf_gpu.h)
 * has the constants and tables.
 */
#ifndef KITH_GPU_TALLY_CUH
#define KITH_GPU_TALLY_CUH

#include "counters.cuh"
#include "rdf_gpu.h"

/** How a kernel finds bins; a template parameter. */
enum kith__way {
    BY_ROOT,   /**< linear bins from 0; kith__gpu_scale is plain and not wild, counters are in
                    shared memory */
    BY_TABLE,  /**< other bins; kith__gpu_scale is plain and not wild, counters are in shared
                    memory */
    ONE_BY_ONE /**< no restriction: pairs are tested and counted one by one */
};

/* 1.5 * 2^23, and its bits: floats near it are integers, and differ as their bits do. Adding it to
 * a float rounds the float to an integer, which is then the difference of the bits. */
static const float whole = 12582912.0f;
static const uint32_t whole_bits = 0x4b400000u;

/** Return whole + floor(x * y), in CUDA by one fused multiply-add that rounds down; when x * y is
 *  2^22 or more, a number of at least whole + 2^22, or NaN. */
static __device__ __forceinline__ float whole_and_product(float x, float y)
{
#if defined(__CUDA_ARCH__)
    return __fmaf_rd(x, y, whole);
#else
    return KITH_ADD_f(floorf(KITH_MUL_f(x, y)), whole);
#endif
}

/** Return the bits of a float. */
static __device__ __forceinline__ uint32_t bits_of(float x)
{
    return (uint32_t)__float_as_int(x);
}

/** Return sqrt(x) with a relative error of 2^-23; 0 for x below 2^-126. */
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

/** Return x clamped to [0, 1]. */
static __device__ __forceinline__ float up_to_1(float x)
{
#if defined(__CUDA_ARCH__)
    return __saturatef(x);
#else
    return fminf(fmaxf(x, 0.0f), 1.0f);
#endif
}

/* ------------------------------------------------------------------------------- by precision */

/** Return r^2 in units of 1 / s.inverse2, which is 1 for float. */
static __device__ __forceinline__ float scaled(const struct kith__gpu_scale &, float r2)
{
    return r2;
}
static __device__ __forceinline__ float scaled(const struct kith__gpu_scale &s, double r2)
{
    return (float)(r2 * s.inverse2);
}
/** Return the counter of r^2 by the definition (rdf/counter.h).
 *  @param guess  a counter near it, from which the search begins */
static __device__ __forceinline__ int32_t counter_from_guess(const struct kith__rdf *rdf, float r2,
                                                             int32_t guess)
{
    return kith__counter_from_guess_f(rdf, r2, guess);
}
static __device__ __forceinline__ int32_t counter_from_guess(const struct kith__rdf *rdf, double r2,
                                                             int32_t guess)
{
    return kith__counter_from_guess_d(rdf, r2, guess);
}

/* ---------------------------------------------------------------------------------------- bins */

/** Find the bin of r^2 by its root, for linear bins from 0.
 *  @param[out] bin  the bin; rdf.bins or more when r^2 is beyond the last bin or NaN
 *  @return false when r^2 may be in the next bin as well */
template <typename real>
static __device__ __forceinline__ bool bin_by_root(const struct kith__gpu_scale &s, real r2,
                                                   uint32_t *bin)
{
    const float r = fast_root(scaled(s, r2));
    *bin = bits_of(whole_and_product(r, s.factor[0])) - whole_bits;
    return *bin == bits_of(whole_and_product(r, s.factor[1])) - whole_bits;
}

/** Find the bin of r^2 by the table s.first.
 *  @param[out] bin  the bin; 2^32 - 1 when r^2 is in no bin
 *  @return false when there are several edges in the cell of the table */
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

/** Return the bin that holds r^2 by the definition: `bin` or the next one, decided by the edge
 *  between them. r^2 beyond the last edge gives rdf.bins or more. */
template <typename real>
static __device__ __forceinline__ uint32_t resolve_beside(const struct kith__gpu_scale &s, real r2,
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

/** Return the bin of r^2 by the definition; 2^32 - 1 when r^2 is NaN or below the first edge,
 *  rdf.bins when it is beyond the last one. Cold path, not inlined. The arguments are the fields of
 *  kith__rdf that the search reads.
 *  @param bin  a guess, from which the search begins */
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
    return r2 == r2 ? (uint32_t)(counter_from_guess(&rdf, r2, guess) - 1) : 0xffffffffu;
}
/** Return the bin of r^2 by the definition, after find_bin has returned false.
 *  @param bin  the guess of find_bin */
template <typename real, int WAY>
static __device__ __forceinline__ uint32_t resolve(const struct kith__gpu_scale &s, real r2,
                                                   uint32_t bin)
{
    if (WAY == BY_ROOT) {
        return resolve_beside(s, r2, bin);
    }
    return look_up(s.rdf.edge2, (int32_t)s.rdf.bins, s.rdf.linear, s.rdf.r_min, s.rdf.width, r2,
                   bin);
}

/** Find the bin of r^2, the way that WAY says.
 *  @param[out] bin  the bin; rdf.bins or more when r^2 is in no bin
 *  @return false when the bin is ambiguous; *bin is then a guess */
template <typename real, int WAY>
static __device__ __forceinline__ bool find_bin(const struct kith__gpu_scale &s, real r2,
                                                uint32_t *bin)
{
    *bin = 0;
    return WAY == BY_ROOT    ? bin_by_root(s, r2, bin)
           : WAY == BY_TABLE ? bin_by_table(s, r2, bin)
           : s.wild          ? false
           : s.rooted        ? bin_by_root(s, r2, bin)
                             : bin_by_table(s, r2, bin);
}

/* ------------------------------------------------------------------------------------ counters */

/** Add to an integer of 128 bits in device memory, whose high word is n words after the low one.
 *  The carry of the low word is found from its old value, so that threads may add concurrently. */
static __device__ __forceinline__ void add_wide(unsigned long long *low, int64_t n, int64_t value)
{
    const unsigned long long add = (unsigned long long)value;
    const unsigned long long old = atomicAdd(low, add);
    const unsigned long long high = (value < 0 ? ~0ull : 0ull) + (old + add < old);
    if (high != 0) {
        atomicAdd(low + n, high);
    }
}

/** Counters of the bins of a thread block, and LANES dummy counters after them. */
struct bins {
    struct counters own; /**< the counters, one for each bin */
    uint32_t address; /**< where counter -whole_bits of the lane's copy would be in shared memory,
                           modulo 2^32: the bits of whole + bin, times own.step, are added to it */
    uint32_t dummy;   /**< address of the lane's dummy counter in shared memory */
};

/** Return the counters of n bins for the calling lane.
 *  @param fine  [n * copies + LANES] the counters, in shared memory (counter_bytes) */
static __device__ __forceinline__ struct bins own_bins(uint32_t *fine, int64_t n, int copies)
{
    struct bins b;
    b.own = own_counters(fine, copies);
#if defined(__CUDA_ARCH__)
    const uint32_t begin = (uint32_t)__cvta_generic_to_shared(fine);
    b.address = begin + b.own.start - whole_bits * b.own.step;
    b.dummy = begin + (uint32_t)n * b.own.step + 4u * (uint32_t)my_lane();
#else
    b.address = b.dummy = 0;
#endif
    return b;
}

/** Add `value` to the counter of a bin. Branch-free, which is faster: a distance beyond the last
 *  bin is added to a dummy counter. With one partial, the dummy counter is the one after the last
 *  bin, and no bin is larger, as distances are clamped to half a bin beyond the last one.
 *  @param bin_and_whole  whole plus the bin
 *  @param end            whole plus the number of bins; unused in CUDA unless MIXED
 *  @param first          first counter of the partial, if MIXED */
template <bool MIXED>
static __device__ __forceinline__ void add_up_to(const struct bins &b, float bin_and_whole,
                                                 float end, uint32_t first, uint32_t value)
{
    const uint32_t bin = bits_of(bin_and_whole) + (MIXED ? first : 0);
#if defined(__CUDA_ARCH__)
    const uint32_t at = bin * b.own.step + b.address;
    asm volatile("red.shared.add.u32 [%0], %1;"
                 :
                 : "r"(!MIXED || bin_and_whole < end ? at : b.dummy), "r"(value));
#else
    if (bin_and_whole < end) {
        const uint32_t k = bin - whole_bits;
        atomicAdd((uint32_t *)((char *)b.own.fine + (k * b.own.step + b.own.start)), value);
    }
#endif
}

/** Count a pair of particles i and j, by the caller's indices, in a bin, unless it is excluded; add
 *  the product of its weights to s.sums, if there are weights.
 *  @param first       first counter of the partial in device memory
 *  @param first_here  first counter of the partial in shared memory */
static __device__ __forceinline__ void count_single(const struct kith__gpu_scale &s,
                                                    const struct bins &c, int64_t first,
                                                    int64_t first_here, uint32_t bin, int32_t i,
                                                    int32_t j)
{
    if (!s.plain && kith__is_excluded(&s.rdf.excluded, s.cross, i, j)) {
        return;
    }
    if (s.copies > 0) {
        count_one(c.own, (uint32_t)first_here + bin);
    } else {
        atomicAdd(&s.counts[first + bin], 1ull);
    }
    if (s.sums) {
        add_wide(&s.sums[first + bin], s.rdf.partials * s.rdf.bins, kith__product(&s.rdf, i, j));
    }
}

/* --------------------------------------------------------------------------------- coordinates */

/** Position of a particle, aligned so that one vector load reads it. */
template <typename real> struct alignas(4 * sizeof(real)) position {
    real x, y, z, nothing; /**< coordinates [length], and padding */
};

/** Return the padding value of r^2, which is in no bin: NaN. */
static __device__ __forceinline__ float no_pair(float)
{
    return nanf("");
}
static __device__ __forceinline__ double no_pair(double)
{
    return nan("");
}

/** Return square_of(x, y, z), the sum of squares by the definition (definition_real.h), for floats
 *  with fused multiply-add. The error bounds of set_scale (rdf_gpu.c) include the difference from
 *  the definition. */
static __device__ __forceinline__ float nearly_square_of(float x, float y, float z)
{
    return __fmaf_rn(z, z, __fmaf_rn(y, y, KITH_MUL_f(x, x)));
}
static __device__ __forceinline__ double nearly_square_of(double x, double y, double z)
{
    return square_of(x, y, z);
}

/** Count N pairs of a thread by the roots of r^2 (count_pairs, WAY BY_ROOT). A pair whose bin is
 *  ambiguous is first counted in the lower bin, so that the loop has no branch, and moved if the
 *  definition puts it into another bin: ~0u, which is -1 modulo 2^32, is added to the lower bin. */
template <typename real, int N, typename number, class Who>
static __device__ __forceinline__ void count_by_root(const struct kith__gpu_scale &s,
                                                     const struct bins &counters,
                                                     const number r2[N], const Who &who)
{
    /* a blurred root may be wrong by more than one bin: BY_TABLE resolves by a search */
    enum { way = Who::blurred ? (int)BY_TABLE : (int)BY_ROOT };
    const uint32_t bins = (uint32_t)s.rdf.bins;
    const float end = whole + (float)s.rdf.bins;
    float low[N], high[N];
    uint32_t some = 0; /* not 0: some bin is ambiguous */
#pragma unroll
    for (int d = 0; d < N; d++) {
        const float x = scaled(s, r2[d]);
        const float r = fast_root(Who::blurred ? x : fminf(x, s.beyond));
        low[d] = whole_and_product(Who::blurred ? up_to_1(r - who.blur) : r, s.factor[0]);
        high[d] = whole_and_product(Who::blurred ? up_to_1(r + who.blur) : r, s.factor[1]);
        some |= bits_of(low[d]) ^ bits_of(high[d]);
    }
#pragma unroll
    for (int d = 0; d < N; d++) {
        add_up_to<Who::mixed>(counters, low[d], end, who.first(d), 1);
    }
    if (some == 0) {
        return;
    }
#pragma unroll
    for (int d = 0; d < N; d++) {
        if (low[d] == high[d]) {
            continue;
        }
        const uint32_t guess = bits_of(low[d]) - whole_bits;
        const uint32_t k = resolve<real, way>(s, who.exact(d), guess);
        if (k != guess) {
            add_up_to<Who::mixed>(counters, low[d], end, who.first(d), ~0u);
        }
        if (k != guess && k < bins) {
            count_one(counters.own, who.first(d) + k);
        }
    }
}

/**
 * Count N pairs of a thread.
 *     real                            type of the points' coordinates
 *     number                          type of r2: real, or float where coordinates are nearby ones
 *     r2[d]                           r^2 of pair d; beyond all bins, or NaN: there is no pair
 * `who` describes the pairs, by
 *     mixed                           true: there are several partials; false: first(d) is 0
 *     uint32_t first(d)               first counter of pair d's partial in the block's memory
 *     real exact(d)                   r^2 by the definition; r2[d] is within its error bound
 *     blurred, blur                   true: roots of r2 are at most 1, in units of scale.reach, and
 *                                     have an error of at most `blur` beside that of set_scale
 *     void count(s, counters, d, k)   count pair d in bin k, if ONE_BY_ONE
 */
template <typename real, int WAY, int N, typename number, class Who>
static __device__ __forceinline__ void count_pairs(const struct kith__gpu_scale &s,
                                                   const struct bins &counters, const number r2[N],
                                                   const Who &who)
{
    if (WAY == BY_ROOT) {
        count_by_root<real, N>(s, counters, r2, who);
        return;
    }
    const uint32_t bins = (uint32_t)s.rdf.bins;
    uint32_t bin[N];
    bool clear[N];
    bool all_clear = true;
#pragma unroll
    for (int d = 0; d < N; d++) {
        clear[d] = find_bin<real, WAY>(s, r2[d], &bin[d]);
        all_clear = all_clear && clear[d];
    }
    if (WAY != ONE_BY_ONE) {
#pragma unroll
        for (int d = 0; d < N; d++) {
            if (clear[d] && bin[d] < bins) {
                count_one(counters.own, who.first(d) + bin[d]);
            }
        }
        if (all_clear) {
            return;
        }
    }
#pragma unroll
    for (int d = 0; d < N; d++) {
        if (WAY != ONE_BY_ONE && clear[d]) {
            continue;
        }
        const uint32_t k = clear[d] ? bin[d] : resolve<real, WAY>(s, r2[d], bin[d]);
        if (k < bins && WAY == ONE_BY_ONE) {
            who.count(s, counters, d, k);
        } else if (k < bins) {
            count_one(counters.own, who.first(d) + k);
        }
    }
}

/* ------------------------------------------------------------------------------------ launches */

/** Return how the kernels of a question find bins: the fastest way that its scale permits. */
static inline enum kith__way way_of(const struct kith__gpu_scale *s)
{
    return !s->plain || s->wild || s->copies == 0 ? ONE_BY_ONE : s->rooted ? BY_ROOT : BY_TABLE;
}

/** Return the size of a thread block's counters in shared memory, dummy counters included
 *  [bytes]. */
static inline size_t counter_bytes(int64_t n, int copies)
{
    return (size_t)(n * copies + LANES) * sizeof(uint32_t);
}

/** Call run<real, way>(...), with `real` chosen by a precision, and `way` made a template
 *  argument. */
#define RUN_BY_WAY(way, precision, run, ...) \
    ((precision) == KITH_FLOAT ? RUN_WAY(float, way, run, __VA_ARGS__) \
                               : RUN_WAY(double, way, run, __VA_ARGS__))
#define RUN_WAY(real, way, run, ...) \
    ((way) == BY_ROOT    ? run<real, BY_ROOT>(__VA_ARGS__) \
     : (way) == BY_TABLE ? run<real, BY_TABLE>(__VA_ARGS__) \
                         : run<real, ONE_BY_ONE>(__VA_ARGS__))

#endif
