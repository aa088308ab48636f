/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pairs of all ranks, for other questions.
 */
#ifndef KITH_PAIRS_TEAM_H
#define KITH_PAIRS_TEAM_H

#include "team.h"

/** Do the work of kith_team_pairs_count between kith__enter and kith__exit. Collective. */
kith_status kith__team_pairs_count(kith_team *team, const kith_points *points, const kith_box *box,
                                   double cutoff, const kith_pairs_options *options, int64_t *n,
                                   int64_t *neighbours);

#endif
