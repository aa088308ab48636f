/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Routes: which item of this rank goes to which ranks, so that columns of items can be sent there,
 * and answers sent back. An item has a number, its index in the arrays of its rank. A column is an
 * array with an element for each item. A message for a rank has items in ascending order; what a
 * rank receives is in the order of the ranks it came from.
 */
#ifndef KITH_MOVE_H
#define KITH_MOVE_H

#include "divide.h"

/** A route, in KITH_ROUTE_BUFFERS buffers of the team's scratch memory. */
struct kith__route {
    struct kith__ranges ranges; /**< messages: ranges of what is sent and of what is received */
    int32_t *order;             /**< [sent] item at each position of the messages */
    int64_t sent;               /**< items that are sent: ranges.to[ranks] */
    int64_t received;           /**< items that are received: ranges.from[ranks] */
};

enum { KITH_ROUTE_BUFFERS = 2 }; /**< buffers that a route uses */

/** Say to which ranks an item goes.
 *  @param state    what kith__route_open was given
 *  @param item     number of the item
 *  @param[out] to  [ranks] the ranks, each once at most; its own rank may be among them
 *  @return their number */
typedef int kith__targets_fn(const void *state, int64_t item, int *to);

/**
 * Make a route for n items, and tell all ranks how many items they receive. Collective. O(n),
 * parallel.
 * @param buffer   first of KITH_ROUTE_BUFFERS buffers of the team
 * @param n        items of this rank, at most 2^31 - 65
 * @param targets  called twice for each item, by any thread; it must give equal ranks both times
 * @param state    first argument of targets
 * @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_TEAM_LOST
 */
kith_status kith__route_open(kith_team *team, int buffer, int64_t n, kith__targets_fn *targets,
                             const void *state, struct kith__route *route);

/** Make a route for n items with one target each. Collective.
 *  @param to  [n] rank of each item
 *  @return as kith__route_open */
kith_status kith__route_to(kith_team *team, int buffer, int64_t n, const int32_t *to,
                           struct kith__route *route);

/** Send a column. Collective.
 *  @param items    elements of `size` bytes, one for each item
 *  @param[out] in  [route->received] the elements that arrive
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_TEAM_LOST */
kith_status kith__route_send(kith_team *team, const struct kith__route *route, const void *items,
                             size_t size, void *in);

/** Send coordinates as they are given. Collective.
 *  @param points   the items
 *  @param[out] in  [route->received][3] packed, in the question's precision; z is 0 in 2-D
 *  @return as kith__route_send */
kith_status kith__route_points(kith_team *team, const struct kith__route *route,
                               const struct kith__question *question, const kith_points *points,
                               void *in);

/** Send the numbers of the items. Collective.
 *  @param[out] in  [route->received] number, on the rank that sent it, of each item that arrives
 *  @return as kith__route_send */
kith_status kith__route_items(kith_team *team, const struct kith__route *route, int32_t *in);

/** Send an answer for each item that was received back to where it came from. Collective.
 *  @param answers  [route->received] elements of `size` bytes
 *  @param[out] in  [route->sent] in the order of the messages
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_TEAM_LOST */
kith_status kith__route_back(kith_team *team, const struct kith__route *route, const void *answers,
                             size_t size, void *in);

/** Send answers back, and store each at the number of its item. For routes on which an item has one
 *  target at most: of several answers that of the highest rank would stay. Collective.
 *  @param answers  [route->received] elements of `size` bytes
 *  @param[out] in  elements of `size` bytes, one for each item; those without a target keep theirs
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_TEAM_LOST */
kith_status kith__route_home(kith_team *team, const struct kith__route *route, const void *answers,
                             size_t size, void *in);

/** Set set->base, the global index of each rank's first particle. set->points is set. Collective.
 *  @param buffer  a buffer of the team, which holds the array
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_TEAM_LOST */
kith_status kith__team_base(kith_team *team, int buffer, struct kith__set *set);

/** Refuse more particles than a rank can hold: 2^31 - 65, the limit of a set of points
 *  (engine/question.c). @return KITH_OK, KITH_LIMIT */
kith_status kith__team_check_number(const kith_team *team, int64_t n);

/** Return the piece that holds an item when n items are cut into `pieces` by kith__piece_begin
 *  (threads/pool.h). */
int kith__piece_of(int64_t n, int pieces, int64_t item);

/** The particles of a set that this rank was dealt. */
struct kith__dealt {
    struct kith__route route; /**< from where they were given to here */
    int64_t n;                /**< particles that this rank was dealt, ascending by global index */
    void *xyz;                /**< [n + ghosts][3] coordinates as given, packed */
    int64_t *global;          /**< [n + ghosts] global index of each */
    int xyz_buffer;           /**< buffer that holds xyz; the next one holds global */
    int64_t ghosts;           /**< copies of particles of other ranks, after the n particles */
};

enum { KITH_DEALT_BUFFERS = KITH_ROUTE_BUFFERS + 2 }; /**< buffers that a kith__dealt uses */

/** Deal the particles of a set to the ranks in whose domains they are. Collective.
 *  @param buffer   first of KITH_DEALT_BUFFERS buffers of the team
 *  @param set      the particles as given; `base` is set (kith__team_base)
 *  @param domains  NULL: deal equal numbers of consecutive global indices
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_LIMIT (more than 2^31 - 65 on one rank), KITH_CANCELLED,
 *          KITH_TEAM_LOST */
kith_status kith__team_deal(kith_team *team, int buffer, const struct kith__question *question,
                            const struct kith__set *set, const struct kith__domains *domains,
                            struct kith__dealt *dealt);

/** Make room for ghosts after the particles of this rank, and set dealt->ghosts. Not collective.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_LIMIT */
kith_status kith__dealt_grow(kith_team *team, const struct kith__question *question,
                             struct kith__dealt *dealt, int64_t ghosts);

/** Return particles [first, first + n) of the arrays, those dealt to this rank and then ghosts, as
 *  points. */
kith_points kith__dealt_points(const struct kith__question *question,
                               const struct kith__dealt *dealt, int64_t first, int64_t n);

#endif
