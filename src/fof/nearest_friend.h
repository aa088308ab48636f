/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which friend an attached particle joins, for every backend (kith_role in kith/fof.h).
 */
#ifndef KITH_NEAREST_FRIEND_H
#define KITH_NEAREST_FRIEND_H

#include "engine/pair.h"

/** Return true when an attached particle joins friend j rather than the nearest friend so far: j is
 *  nearer, or equally near and has the smaller index.
 *  @param r2              squared distance to j, by the definition of a pair [length^2]
 *  @param j               index of the friend, a particle that links
 *  @param nearest         squared distance to the nearest friend so far [length^2]
 *  @param nearest_friend  its index; -1: there is none so far */
KITH_FN int kith__is_nearer_friend(double r2, int32_t j, double nearest, int32_t nearest_friend)
{
    return nearest_friend < 0 || r2 < nearest || (r2 <= nearest && j < nearest_friend);
}

#endif
