/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbering the groups of all ranks: by falling size, then by their smallest id, then by their
 * smallest global index.
 */
#ifndef KITH_RENUMBER_H
#define KITH_RENUMBER_H

#include "move.h"

/** A group of particles. */
struct kith__sized {
    int64_t size; /**< particles of all ranks that are in it */
    int64_t id;   /**< smallest id of these particles */
    int64_t name; /**< smallest global index of these particles: that of each group is another */
};

enum { KITH_NUMBER_BUFFERS = KITH_ROUTE_BUFFERS + 5 }; /**< buffers that kith__team_number uses */

/** A part of the groups in the order of their numbers. Ranks have consecutive parts. */
struct kith__numbered {
    int64_t all;               /**< groups of all ranks */
    int64_t first;             /**< groups before this rank's part */
    int64_t n;                 /**< groups of the part */
    struct kith__sized *group; /**< [n] the groups of the part: group[g] has number first + g + 1 */
};

/**
 * Number groups by sample sort. Collective. O(n log n).
 * @param buffer        first of KITH_NUMBER_BUFFERS buffers of the team
 * @param group         [n] groups of this rank, in any order
 * @param[out] number   [n] their numbers, from 1
 * @param[out] part     this rank's part of the order, in the team's scratch memory
 * @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_TEAM_LOST
 */
kith_status kith__team_number(kith_team *team, int buffer, const struct kith__sized *group,
                              int64_t n, int64_t *number, struct kith__numbered *part);

#endif
