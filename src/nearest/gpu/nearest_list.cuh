/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of the nearest neighbours that one thread has found so far, in registers: entries are
 * ordered by r^2, then j, then the image's shift S as kith__pack_shift packs it.
 */
#ifndef KITH_GPU_NEAREST_LIST_CUH
#define KITH_GPU_NEAREST_LIST_CUH

#include "engine/gpu/device.cuh"

/* The index j of an empty entry, larger than that of any particle. */
#define KITH_EMPTY 0xffffffffu

/** r^2 and j of a neighbour, in a form that compares fast: r^2 is not negative, so the bits of a
 *  floating-point number are ordered as the number is. */
template <typename real> struct neighbour;

template <> struct neighbour<float> {
    uint64_t bits; /**< bits of r^2 in the upper half, j in the lower */

    /** Make a neighbour of r^2, 0 or more, and j. */
    static __device__ __forceinline__ neighbour make(float r2, uint32_t j)
    {
        return {(uint64_t)__float_as_uint(r2) << 32 | j};
    }
    __device__ __forceinline__ float r2() const
    {
        return __uint_as_float((uint32_t)(bits >> 32));
    }
    __device__ __forceinline__ uint32_t j() const
    {
        return (uint32_t)bits;
    }
    /** Return true when this neighbour comes first by r^2, then j. */
    __device__ __forceinline__ bool is_before(const neighbour &other) const
    {
        return bits < other.bits;
    }
    __device__ __forceinline__ bool is_equal(const neighbour &other) const
    {
        return bits == other.bits;
    }
    /** Return a if `first`, else b: a select instruction rather than a branch. */
    static __device__ __forceinline__ neighbour choose(bool first, neighbour a, neighbour b)
    {
        return {first ? a.bits : b.bits};
    }
};

template <> struct neighbour<double> {
    uint64_t square; /**< bits of r^2 */
    uint64_t index;  /**< j */

    /** Make a neighbour of r^2, 0 or more, and j. */
    static __device__ __forceinline__ neighbour make(double r2, uint32_t j)
    {
        return {(uint64_t)__double_as_longlong(r2), j};
    }
    __device__ __forceinline__ double r2() const
    {
        return __longlong_as_double((long long)square);
    }
    __device__ __forceinline__ uint32_t j() const
    {
        return (uint32_t)index;
    }
    __device__ __forceinline__ bool is_before(const neighbour &other) const
    {
        return square < other.square || (square == other.square && j() < other.j());
    }
    __device__ __forceinline__ bool is_equal(const neighbour &other) const
    {
        return square == other.square && j() == other.j();
    }
    static __device__ __forceinline__ neighbour choose(bool first, neighbour a, neighbour b)
    {
        return {first ? a.square : b.square, first ? a.index : b.index};
    }
};

/** The first K neighbours of a particle, after those of earlier passes (nearest_search.cu). The
 *  indices of the arrays are constants once loops are unrolled, so that the arrays are in
 *  registers.
 *  @tparam IMAGES  neighbours may be in images; else all packed shifts are equal, and not kept */
template <typename real, int K, bool IMAGES> struct neighbour_list {
    neighbour<real> entry[K];      /**< sorted */
    int32_t shift[IMAGES ? K : 1]; /**< S of each, packed */

    /** Empty the list. Only its last n entries are used: the others become r^2 = 0, j = 0, S = -1,
     *  less than any packed shift, so that no neighbour comes before them.
     *  @param most2  r^2 of empty entries, the largest of a neighbour: no candidate with a larger
     *                one comes before them [length^2] */
    __device__ __forceinline__ void clear(int n, real most2)
    {
#pragma unroll
        for (int e = 0; e < K; e++) {
            entry[e] = neighbour<real>::make(e < K - n ? 0 : most2, e < K - n ? 0 : KITH_EMPTY);
            set_shift(e, -1);
        }
    }

    /** Insert a neighbour unless all entries come before it; the last entry is lost. Goes through
     *  the entries from the last one on: each becomes its predecessor if the neighbour comes before
     *  that, else the neighbour if that comes before the entry, else stays as it is. */
    __device__ __forceinline__ void insert(const neighbour<real> &one, int32_t its_shift)
    {
        bool before = comes_before(one, its_shift, K - 1);
#pragma unroll
        for (int e = K - 1; e >= 0; e--) {
            const bool further = e > 0 && comes_before(one, its_shift, e > 0 ? e - 1 : 0);
            const neighbour<real> here = neighbour<real>::choose(before, one, entry[e]);
            entry[e] = neighbour<real>::choose(further, entry[e > 0 ? e - 1 : 0], here);
            set_shift(e, further  ? shift[IMAGES && e > 0 ? e - 1 : 0]
                         : before ? its_shift
                                  : shift[IMAGES ? e : 0]);
            before = further;
        }
    }

    /** Append a neighbour, which comes after all entries; the first entry is lost. */
    __device__ __forceinline__ void append(const neighbour<real> &one, int32_t its_shift)
    {
#pragma unroll
        for (int e = 0; e < K - 1; e++) {
            entry[e] = entry[e + 1];
            set_shift(e, shift[IMAGES ? e + 1 : 0]);
        }
        entry[K - 1] = one;
        set_shift(K - 1, its_shift);
    }

    /** Return true when a neighbour comes before entry e. */
    __device__ __forceinline__ bool comes_before(const neighbour<real> &one, int32_t its_shift,
                                                 int e) const
    {
        return one.is_before(entry[e]) ||
               (IMAGES && one.is_equal(entry[e]) && its_shift < shift[IMAGES ? e : 0]);
    }

    /** Set the packed shift of entry e; no effect without images. */
    __device__ __forceinline__ void set_shift(int e, int32_t value)
    {
        if (IMAGES) {
            shift[IMAGES ? e : 0] = value;
        }
    }
};

#endif
