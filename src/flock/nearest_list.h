/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of the nearest neighbours of one boid, where only these count; for CPU and GPU.
 *
 * A flock does not ask kith_nearest_find for them: boids in the blind cone are excluded before the
 * nearest are chosen, and the cells of the flock's step hold all that are within its radii.
 */
#ifndef KITH_FLOCK_NEAREST_LIST_H
#define KITH_FLOCK_NEAREST_LIST_H

#include "engine/neighbour.h"

/** An entry of the list. */
struct kith__listed {
    struct kith__neighbour neighbour; /**< gives the entry's place in the list */
    int32_t entry; /**< the entry of the arrays that the backend reads the particle from */
};

/** Insert a neighbour into the sorted list of the `most` nearest, unless it comes after all of a
 *  full list, whose last one is dropped otherwise.
 *  @param list    [most]
 *  @param listed  length of the list
 *  @return the new length */
KITH_FN int kith__list_nearest(struct kith__listed *list, int listed, int most,
                               const struct kith__listed *one)
{
    const bool full = listed == most;
    if (full && !kith__neighbour_is_before(&one->neighbour, &list[most - 1].neighbour)) {
        return listed;
    }
    int at = full ? most - 1 : listed;
    for (; at > 0 && kith__neighbour_is_before(&one->neighbour, &list[at - 1].neighbour); at--) {
        list[at] = list[at - 1];
    }
    list[at] = *one;
    return full ? listed : listed + 1;
}

#endif
