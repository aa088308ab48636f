/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests of pairs of clumps: the test of a pair of clumps for each lane of a warp.
 */
#ifndef KITH_CLUMP_PAIRS_CUH
#define KITH_CLUMP_PAIRS_CUH

#include "cells_near.cuh"
#include "forest.cuh"

enum {
    FEW_PAIRS = 16,    /**< pairs of particles that one lane tests before its warp does */
    MANY_PAIRS = 1024, /**< two clumps of more pairs are deferred to the end of the pass */
    /** Two clumps of more pairs are deferred where nodes are particles: all pairs are tested then,
     *  so that few clumps of many particles would keep few warps busy. */
    MANY_PAIRS_OF_NODES = 128
};

/* ------------------------------------------------------------------------------------- packing */

/** Pack three integers in [-64, 191] into one word. */
static __device__ __forceinline__ uint32_t pack(int x, int y, int z)
{
    return (uint32_t)(x + 64) | (uint32_t)(y + 64) << 8 | (uint32_t)(z + 64) << 16;
}

/** Component k of a packed word. */
static __device__ __forceinline__ int unpack(uint32_t packed, int k)
{
    return (int)(packed >> 8 * k & 255) - 64;
}

/* -------------------------------------------------------------------------------- tests of
   pairs */

/** Squared distance of the particle in slot i and an image of the one in slot j [length^2]. */
template <typename real>
static __device__ __forceinline__ real apart(const struct kith__gpu_friends &f, int64_t i,
                                             int64_t j, const int32_t shift[3])
{
    typedef definition<real> def;
    const real *x = (const real *)f.x, *y = (const real *)f.y, *z = (const real *)f.z;
    const real ri[3] = {x[i], y[i], z[i]};
    const real rj[3] = {x[j], y[j], z[j]};
    real d[3];
    return def::separation(def::box(f.question), ri, rj, shift, d);
}

/** Number of pairs of particles of two clumps. */
static __device__ __forceinline__ int64_t pairs_of(const struct kith__gpu_friends &f,
                                                   const struct kith__gpu_clump_pair &pair)
{
    return (int64_t)(f.first[pair.a + 1] - f.first[pair.a]) *
           (int64_t)(f.first[pair.b + 1] - f.first[pair.b]);
}

/** Test the first `most` pairs of a particle of clump a and one of clump b. Return true when one of
 *  these pairs is within the cutoff.
 *  @param[out] all  set when the result is false: true if the clumps have no other pairs */
template <typename real>
static __device__ __forceinline__ bool few_are_near(const struct kith__gpu_friends &f,
                                                    const struct kith__gpu_clump_pair &pair,
                                                    int64_t most, bool *all)
{
    const int32_t shift[3] = {unpack(pair.shift, 0), unpack(pair.shift, 1), unpack(pair.shift, 2)};
    const int64_t begin = f.first[pair.b], end = f.first[pair.b + 1];
    const int64_t last = f.first[pair.a + 1];
    int64_t i = f.first[pair.a];
    int64_t j = begin;
    for (int64_t k = 0; k < most && i < last; k++) {
        if (apart<real>(f, i, j, shift) <= square_of_cutoff<real>(f)) {
            return true;
        }
        j++;
        if (j == end) {
            j = begin;
            i++;
        }
    }
    *all = i == last;
    return false;
}

/** Return true when some particle of clump a is within the cutoff of one of clump b. The lanes of a
 *  warp share the particles of the larger clump. */
template <typename real>
static __device__ bool warp_is_near(const struct kith__gpu_friends &f,
                                    const struct kith__gpu_clump_pair &pair)
{
    const int32_t shift[3] = {unpack(pair.shift, 0), unpack(pair.shift, 1), unpack(pair.shift, 2)};
    const int64_t a = f.first[pair.a], b = f.first[pair.b];
    const int64_t n_a = f.first[pair.a + 1] - a, n_b = f.first[pair.b + 1] - b;
    const bool along_b = n_b >= n_a;
    const int64_t n_outer = along_b ? n_a : n_b;
    const int64_t n_inner = along_b ? n_b : n_a;
    int width = 1;
    while (width < LANES && width < n_inner) {
        width *= 2;
    }
    for (int64_t from = 0; from < n_outer; from += LANES / width) {
        const int64_t o = from + my_lane() / width;
        bool hit = false;
        for (int64_t s = my_lane() % width; o < n_outer && s < n_inner; s += width) {
            const int64_t i = a + (along_b ? o : s), j = b + (along_b ? s : o);
            hit = hit || apart<real>(f, i, j, shift) <= square_of_cutoff<real>(f);
        }
        if (which_lanes(hit)) {
            return true;
        }
    }
    return false;
}

/** Where nodes are particles: test every `step`-th pair of a particle of clump a and one of clump
 *  b, from pair `first` on, and unite friends. Skips particles that have one parent. The threads
 *  that share two clumps have consecutive `first`, so that they read consecutive particles of clump
 *  b. */
template <typename real>
static __device__ __noinline__ void compare_share(const struct kith__gpu_friends &f,
                                                  struct kith__gpu_clump_pair pair, uint32_t first,
                                                  uint32_t step)
{
    enum { ASK_EACH = 4096 }; /* pairs between two tests of the stop word */
    typedef definition<real> def;
    const real *v = (const real *)f.velocities;
    const int32_t shift[3] = {unpack(pair.shift, 0), unpack(pair.shift, 1), unpack(pair.shift, 2)};
    const int64_t begin = f.first[pair.b], end_a = f.first[pair.a + 1];
    const uint32_t n_b = (uint32_t)(f.first[pair.b + 1] - begin);
    const uint32_t more_i = step / n_b, more_j = step % n_b;
    int64_t i = (int64_t)f.first[pair.a] + first / n_b;
    uint32_t column = first % n_b;
    for (int tested = 1; i < end_a; tested++) {
        if (tested % ASK_EACH == 0 && is_stopped(f)) {
            return;
        }
        const int64_t j = begin + column;
        if (parent_of(f.parent, (int32_t)i) != parent_of(f.parent, (int32_t)j)) {
            const real r2 = apart<real>(f, i, j, shift);
            const bool friends = v ? def::phase(r2, (real)f.question.cutoff,
                                                v + 3 * (int64_t)f.id[i], v + 3 * (int64_t)f.id[j],
                                                (real)f.velocity_length) <= 1
                                   : r2 <= square_of_cutoff<real>(f);
            if (friends) {
                unite(f.parent, (int32_t)i, (int32_t)j);
            }
        }
        i += more_i;
        column += more_j;
        if (column >= n_b) {
            column -= n_b;
            i++;
        }
    }
}

/** Unite two clumps that are in two trees if they hold a pair of friends; one call of a warp. */
template <typename real>
static __device__ __forceinline__ void warp_test(const struct kith__gpu_friends &f,
                                                 const struct kith__gpu_clump_pair &pair)
{
    const bool in_two_trees = root_of(f.parent, pair.a) != root_of(f.parent, pair.b);
    if (from_lane((int)in_two_trees, 0) && warp_is_near<real>(f, pair) && my_lane() == 0) {
        unite(f.parent, pair.a, pair.b);
    }
}

/** Defer two clumps to the end of the pass. @return false when there is no room. */
static __device__ bool defer(const struct kith__gpu_friends &f,
                             const struct kith__gpu_clump_pair &pair)
{
    const unsigned long long at = atomicAdd(&f.small->n_deferred, 1ull);
    if (at < f.deferred_room) {
        f.deferred[at] = pair;
    }
    return at < f.deferred_room;
}

/** Unite the two clumps of each lane that has them, if they hold a pair of friends. Each lane first
 *  tests a few pairs of particles itself, which mostly finds the friends. The rest is tested by all
 *  lanes together, one pair of clumps after the other. */
template <typename real>
static __device__ __forceinline__ void test_pair(const struct kith__gpu_friends &f,
                                                 struct kith__gpu_clump_pair pair, bool has)
{
    bool rest = false;
    if (has && !f.by_clump) {
        const int64_t n_pairs = pairs_of(f, pair);
        if (n_pairs <= FEW_PAIRS) {
            compare_share<real>(f, pair, 0, 1);
        } else {
            rest = !(n_pairs > MANY_PAIRS_OF_NODES && defer(f, pair));
        }
    }
    if (has && f.by_clump && root_of(f.parent, pair.a) != root_of(f.parent, pair.b)) {
        bool all = true;
        if (few_are_near<real>(f, pair, FEW_PAIRS, &all)) {
            unite(f.parent, pair.a, pair.b);
        }
        rest = !all && !(pairs_of(f, pair) > MANY_PAIRS && defer(f, pair));
    }
    for (lanes_t left = which_lanes(rest); left; left &= left - 1) {
        const int lane = first_lane(left);
        const struct kith__gpu_clump_pair other = {from_lane(pair.a, lane), from_lane(pair.b, lane),
                                                   from_lane(pair.shift, lane)};
        if (f.by_clump) {
            warp_test<real>(f, other);
        } else {
            compare_share<real>(f, other, (uint32_t)my_lane(), LANES);
        }
    }
}

#endif
