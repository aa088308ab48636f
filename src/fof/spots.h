/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spots: what particles are alike. 10^5 of them on one point have 10^10 pairs, which say no more
 * than one.
 */
#ifndef KITH_SPOTS_H
#define KITH_SPOTS_H

#include "engine/question.h"

/** The particles of a selection that have the same coordinates, bit by bit, and velocities. */
struct kith__spots {
    int64_t n;
    int32_t *first; /**< [n] with the caller: the smallest index of a spot; ascending */
    int32_t *many;  /**< [n] particles on it */
    char *xyz;      /**< [n][3] */
    int32_t *of;    /**< [particles] the spot of each */
};

enum { KITH_SPOTS_SLOTS = 5 }; /**< of the context's scratch */

/**
 * Find the spots of a selection. O(n), by hashing.
 * @param velocities  [q->a.n][3]; NULL: they do not matter
 * @param index       [n] the selection, ascending
 * @param slot        the first of KITH_SPOTS_SLOTS
 * @return KITH_OK or KITH_NO_MEMORY
 */
kith_status kith__spots_find(kith_ctx *ctx, const struct kith__question *q, const void *velocities,
                             const int32_t *index, int64_t n, int slot, struct kith__spots *spots);

/** Copy the coordinates of particle p of the points. @param[out] xyz  [3]; z is 0 in 2-D */
void kith__spots_copy(const struct kith__question *q, int64_t p, void *xyz);

#endif
