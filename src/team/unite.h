/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connected components of a graph whose edges are on all ranks. Nodes are names: numbers that are 0
 * or more. The representative of a component, its root, is its smallest name.
 */
#ifndef KITH_UNITE_H
#define KITH_UNITE_H

#include "move.h"

/** An edge of the graph: two distinct names of one component. */
struct kith__edge {
    int64_t high; /**< the larger one */
    int64_t low;  /**< the smaller one */
};

enum { KITH_UNITE_BUFFERS = KITH_ROUTE_BUFFERS + 6 }; /**< buffers that kith__team_unite uses */

/** Return the home of a name: the rank that keeps its link to a smaller name of its component, and
 *  adds up the group whose root it is (fof_team.c). Names are spread evenly over the ranks, by a
 *  hash. */
int kith__name_home(const kith_team *team, int64_t name);

/**
 * Find the root of each of some names. Collective. Each round of messages shortens all paths of the
 * graph; there are about as many rounds as the number of nodes has bits.
 * @param buffer        first of KITH_UNITE_BUFFERS buffers of the team
 * @param edge_buffer   buffer of the team that holds this rank's edges, in any order, each on one
 *                      rank or on several; its contents are lost
 * @param n_edges       edges of this rank
 * @param name          [n] names whose roots are wanted; a name without edges is its own root
 * @param[out] root     [n] their roots; may be the array `name`
 * @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_TEAM_LOST
 */
kith_status kith__team_unite(kith_team *team, int buffer, int edge_buffer, int64_t n_edges,
                             const int64_t *name, int64_t n, int64_t *root);

#endif
