/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns: arrays with one element for each particle of a set, which travel with the particles.
 */
#ifndef KITH_COLUMNS_H
#define KITH_COLUMNS_H

#include "move.h"

enum { KITH_COLUMNS = 4 }; /**< most columns of a set, each of which uses one buffer */

/** The columns of a set. */
struct kith__columns {
    int n;                           /**< number of columns */
    int buffer;                      /**< first of n buffers of the team */
    const void *given[KITH_COLUMNS]; /**< [particles] each column as given; NULL: it is given on no
                                          rank */
    size_t size[KITH_COLUMNS];       /**< bytes of an element */
    void *column[KITH_COLUMNS];      /**< [dealt.n + ghosts] each column, of the particles that this
                                          rank was dealt, then of ghosts; NULL: none */
};

/** Send the columns to where the particles of the set were dealt. Collective.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_TEAM_LOST */
kith_status kith__columns_deal(kith_team *team, const struct kith__dealt *dealt,
                               struct kith__columns *columns);

/** Send the columns along the route of the ghosts that `dealt` has, after kith__columns_deal.
 *  Collective. @return as kith__columns_deal */
kith_status kith__columns_ghosts(kith_team *team, const struct kith__route *route,
                                 const struct kith__dealt *dealt, struct kith__columns *columns);

/** Return a column from particle `first` on.
 *  @param column  index of the column
 *  @return its elements; NULL where the column was not given */
const void *kith__column_from(const struct kith__columns *columns, int column, int64_t first);

/** Put a column in another order. Not collective.
 *  @param buffer    a buffer of the team, which holds the result
 *  @param column    index of the column
 *  @param order     [n] number of the element at each place of the result
 *  @param[out] out  [n] the elements in that order; NULL where the column was not given
 *  @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__column_in_order(kith_team *team, int buffer, const struct kith__columns *columns,
                                  int column, const int32_t *order, int64_t n, const void **out);

#endif
