/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of a list (pairs/rules.h) in the operations of a sweep: an operation that removes the
 * hits that are not listed from the masks of another operation. Lists without rules are made by the
 * other operation alone. packet.cuh defines Cluster; Candidate has the members slot and shift.
 */
#ifndef KITH_GPU_LISTED_CUH
#define KITH_GPU_LISTED_CUH

#include "packet.cuh"

/* Overloads by precision: return true when the rules list the pair (pairs/rules_real.h). */

static __device__ __forceinline__ bool is_listed(const struct kith__rules &rules, int32_t i,
                                                 int32_t j, float r2)
{
    return kith__is_listed_f(&rules, i, j, r2);
}
static __device__ __forceinline__ bool is_listed(const struct kith__rules &rules, int32_t i,
                                                 int32_t j, double r2)
{
    return kith__is_listed_d(&rules, i, j, r2);
}

/** Return the mask of the query particles of which a candidate is a listed hit. Hits of a particle
 *  with itself at image 0 are removed with rules.no_self. Not inlined, so that the loops of the
 *  sweep need no registers for it.
 *  @param c            the i-cluster
 *  @param slot, shift  slot and packed image of the candidate
 *  @param mask         query particles of which it is a hit */
template <class Cluster>
static __device__ __noinline__ uint32_t keep_listed(const Cluster &c,
                                                    const struct kith__rules &rules, int32_t slot,
                                                    int32_t shift, uint32_t mask)
{
    typedef typename Cluster::coordinate real;
    const int32_t j = set_b(c).id[slot];
    uint32_t kept = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        const int k = __ffs((int)left) - 1;
        const int32_t i = c.shared->id[k];
        real r2 = 0;
        if (rules.by_distance) {
            real d[3];
            r2 = separation(c, c.begin + k, slot, shift, d);
        }
        const bool self = rules.no_self && i == j && shift == no_shift;
        kept |= (uint32_t)(!self && is_listed(rules, i, j, r2)) << k;
    }
    return kept;
}

/** Operation: another operation, which is given the hits that are listed. */
template <class Operation> struct listed : Operation {
    struct kith__rules rules; /**< the rules; arrays in device memory */

    listed(const Operation &operation, const struct kith__rules &list_rules)
        : Operation(operation), rules(list_rules)
    {
    }
    template <class Cluster, class Candidate>
    __device__ __forceinline__ void take(const Cluster &c, typename Operation::shared *shared,
                                         const Candidate at[PACKET_DEEP],
                                         const uint32_t found[PACKET_DEEP])
    {
        uint32_t mask[PACKET_DEEP];
#pragma unroll
        for (int d = 0; d < PACKET_DEEP; d++) {
            mask[d] = found[d] ? keep_listed(c, rules, at[d].slot, at[d].shift, found[d]) : 0;
        }
        Operation::take(c, shared, at, mask);
    }
};

#endif
