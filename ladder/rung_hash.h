/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash of a set of pairs.
 */
#ifndef KITH_RUNG_HASH_H
#define KITH_RUNG_HASH_H

#include <random.h>

/** Two sums over the pairs of a set, in any order. Different sets practically never have equal
 *  sums. */
typedef struct rung_hash {
    uint64_t sum[2];
} rung_hash;

/** Add a pair to a hash: the mixing function of SplitMix64 is applied once for each sum. */
static inline void rung_hash_add(rung_hash *hash, int32_t i, int32_t j)
{
    uint64_t z = (uint64_t)(uint32_t)i << 32 | (uint32_t)j;
    for (int s = 0; s < 2; s++) {
        z = random_start(z).counter;
        hash->sum[s] += z;
    }
}

#endif
