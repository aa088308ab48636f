/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ghosts: copies, on a rank, of particles of other ranks that may form a pair with the rank's own.
 * A ghost has its coordinates as they were given, and is on a rank once at most: the search of that
 * rank finds all its periodic images. Nothing is shifted by a box, so that every pair has the bits
 * that one process would give it. Ghosts that no pair needs do no harm.
 */
#ifndef KITH_GHOSTS_H
#define KITH_GHOSTS_H

#include "move.h"

/** Which ranks get a copy of a particle that is near theirs. */
enum kith__sides {
    KITH_TWO_SIDED, /**< both ranks of a pair, so that each finds it */
    KITH_ONE_SIDED, /**< one rank of a pair, which alone finds it: of ranks a < b, rank a where
                         a + b is even, else rank b, so that low ranks do not get all copies */
};

/** Bounds of the particles of a rank, wrapped into the box. */
struct kith__range3 {
    double lo[3]; /**< smallest fractional coordinates [boxes]; larger than hi without particles */
    double hi[3]; /**< largest fractional coordinates [boxes] */
};

/** Find the bounds of the particles of each rank. Collective.
 *  @param points    particles of this rank
 *  @param[out] box  [ranks] the bounds, in the team's scratch memory until the next call of this
 *                   function or of kith__team_box_pair
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_TEAM_LOST */
kith_status kith__team_boxes(kith_team *team, const struct kith__question *question,
                             const kith_points *points, struct kith__range3 **box);

/** Find what decides where particles travel: their bounds on this rank, and the bounds of the
 *  particles that they may form pairs with on each rank. Collective.
 *  @param points    particles of this rank that may travel
 *  @param partners  particles of this rank that others may travel to; NULL: both are one set
 *  @param[out] own  bounds of `points`, those of this rank
 *  @param[out] box  [ranks] bounds of the partners of each rank, in the team's scratch memory, as
 *                   those of kith__team_boxes
 *  @return as kith__team_boxes */
kith_status kith__team_box_pair(kith_team *team, const struct kith__question *question,
                                const kith_points *points, const kith_points *partners,
                                struct kith__range3 *own, struct kith__range3 **box);

/** Make a route from this rank's particles to all other ranks that need a copy. Collective.
 *  @param buffer  first of KITH_ROUTE_BUFFERS buffers
 *  @param bounds  of all particles of all ranks
 *  @param box     [ranks] bounds of the particles that copies form pairs with
 *  @param own     bounds of this rank's particles
 *  @param points  particles of this rank
 *  @param sides   which of two ranks gets the copies
 *  @return as kith__route_open */
kith_status kith__team_reach(kith_team *team, int buffer, const struct kith__question *question,
                             const struct kith__bounds *bounds, const struct kith__range3 *box,
                             const struct kith__range3 *own, const kith_points *points,
                             enum kith__sides sides, struct kith__route *route);

/** Make a route from this rank's particles to all other ranks that have particles within the radius
 *  of each: kith__team_reach with a distance for each particle instead of a cutoff. Collective.
 *  @param radius  [points->n] distance of each [length]; infinity: all ranks with particles
 *  @return as kith__route_open */
kith_status kith__team_reach_each(kith_team *team, int buffer,
                                  const struct kith__question *question,
                                  const struct kith__bounds *bounds, const struct kith__range3 *box,
                                  const struct kith__range3 *own, const kith_points *points,
                                  const double *radius, struct kith__route *route);

/** Bring copies to this rank, after the particles that it was dealt. Collective.
 *  @param route  from kith__team_reach, of the particles of `from`
 *  @param from   the particles that are copied: dealt to the ranks, without ghosts
 *  @param dealt  receives the ghosts; may be `from`
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_LIMIT, KITH_CANCELLED, KITH_TEAM_LOST */
kith_status kith__team_copy(kith_team *team, const struct kith__question *question,
                            const struct kith__route *route, const struct kith__dealt *from,
                            struct kith__dealt *dealt);

/** Buffers that kith__team_deal_near uses. */
enum { KITH_NEAR_BUFFERS = 2 * (1 + KITH_DEALT_BUFFERS) + KITH_ROUTE_BUFFERS };

/** Deal the particles of one or two sets to domains, bring copies of those of the last set that may
 *  be within the cutoff of other ranks' particles of the first, and set team->load. Collective.
 *  @param buffer      first of KITH_NEAR_BUFFERS buffers
 *  @param sides       of two sets KITH_TWO_SIDED
 *  @param set         [n_sets] the particles as given; this function sets `base`
 *  @param[out] dealt  [n_sets] the particles dealt to this rank; of the last set with ghosts
 *  @param[out] reach  route of the ghosts
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_NOT_FINITE, KITH_LIMIT, KITH_CANCELLED, KITH_TEAM_LOST */
kith_status kith__team_deal_near(kith_team *team, int buffer, const struct kith__question *question,
                                 enum kith__sides sides, struct kith__set *set, int n_sets,
                                 struct kith__dealt *dealt, struct kith__route *reach);

/** A particle, to be sorted by its global index. */
struct kith__by_index {
    int64_t global; /**< global index */
    int32_t number; /**< any number that the caller gives it */
};

/** Sort particles by their global indices. O(n log n). */
void kith__sort_by_index(struct kith__by_index *particles, int64_t n);

enum { KITH_MERGE_BUFFERS = 3 }; /**< buffers that kith__team_merge uses */

/** Put this rank's particles and ghosts in the order of their global indices, so that a search
 *  finds them in the order in which one process would. Not collective. O(n), and O(g log g) of the
 *  ghosts.
 *  @param buffer       first of KITH_MERGE_BUFFERS buffers
 *  @param[out] order   [n + ghosts] index in `dealt` of each particle in that order
 *  @param[out] points  the particles in that order
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED */
kith_status kith__team_merge(kith_team *team, int buffer, const struct kith__question *question,
                             const struct kith__dealt *dealt, int32_t **order, kith_points *points);

#endif
