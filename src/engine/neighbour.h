/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of the neighbours of a particle, for all lists of the nearest: by r^2, then by j, then
 * by S. No two neighbours of a particle are equal in it.
 */
#ifndef KITH_NEIGHBOUR_H
#define KITH_NEIGHBOUR_H

#include <stdbool.h>

#include "engine/pair.h"

/** A neighbour of a particle. */
struct kith__neighbour {
    uint64_t place; /**< j << 32 | S (kith__neighbour_place): orders neighbours with equal r2 */
    double r2;      /**< squared distance [length^2] */
};

/** Return `place` of a neighbour.
 *  @param j      index of the particle, >= 0
 *  @param shift  its image, packed by kith__pack_shift */
KITH_FN uint64_t kith__neighbour_place(int64_t j, int32_t shift)
{
    return (uint64_t)j << 32 | (uint32_t)shift;
}

/** Return true when a comes before b. */
KITH_FN bool kith__neighbour_is_before(const struct kith__neighbour *a,
                                       const struct kith__neighbour *b)
{
    return a->r2 < b->r2 || (a->r2 == b->r2 && a->place < b->place);
}

#endif
