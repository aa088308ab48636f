/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bonds of the particles of a team. A bond is a pair of global indices. It travels to the rank that
 * gave its first particle, whose route says which rank this particle was dealt to, and from there
 * to that rank. There bonds are sorted, and listed for a block of particles by a binary search of
 * each partner in the sorted global indices of the block.
 */
#include "bonds.h"

#include <stdlib.h>

/** Buffers, from the first one of the caller on. */
enum {
    LIST,                                /**< bonds as given; of one set, from both ends */
    HOME,                                /**< route to the ranks that gave the first particles */
    AT_HOME = HOME + KITH_ROUTE_BUFFERS, /**< bonds on the ranks that gave the first particles */
    OWNERS,             /**< rank of each given particle, then of the first one of each bond */
    ROUTE = OWNERS + 1, /**< route to the ranks that the first particles were dealt to */
    DEALT_BONDS = ROUTE + KITH_ROUTE_BUFFERS, /**< bonds of the particles dealt to this rank */
    DEAL_END
};
_Static_assert((int)DEAL_END <= (int)KITH_BONDS_BUFFERS, "every purpose needs its own buffer");

/** Buffers of kith__bond_rows. */
enum { OFFSETS, PARTNERS, INDEX, ROWS_END }; /* INDEX: the block sorted by global index */
_Static_assert((int)ROWS_END <= (int)KITH_BOND_ROWS_BUFFERS, "every purpose needs its own buffer");

/** List the bonds as given, by global indices. @param both  as for kith__bonds_deal */
static kith_status list_bonds(kith_team *team, int buffer, const struct kith__bonds_given *given,
                              const struct kith__set *set, bool both, struct kith__bonds *out)
{
    const int64_t n = set->points.n;
    const int64_t base = set->base[team->rank];
    out->n = (given->offsets[n] - given->offsets[0]) * (both ? 2 : 1);
    KITH_TRY(kith__team_check_number(team, out->n));
    KITH_TRY(kith__team_need(team, buffer, out->n, sizeof *out->bond, &out->bond));
    struct kith__bond *to = out->bond;
    for (int64_t p = 0; p < n; p++) {
        for (int64_t at = given->offsets[p]; at < given->offsets[p + 1]; at++) {
            *to++ = (struct kith__bond){base + p, given->partner[at]};
            if (both) {
                *to++ = (struct kith__bond){given->partner[at], base + p};
            }
        }
    }
    return KITH_OK;
}

/** State of home_of. */
struct homes {
    const struct kith__bonds *bonds; /**< the bonds */
    const int64_t *base;             /**< [ranks + 1] global index of each rank's first particle */
    int ranks;                       /**< number of ranks */
};

/** kith__targets_fn: the rank that gave the first particle of a bond.
 *  @param state  a struct homes */
static int home_of(const void *state, int64_t item, int *to)
{
    const struct homes *homes = state;
    *to = kith__team_rank_of(homes->base, homes->ranks, homes->bonds->bond[item].first);
    return 1;
}

/** Find the rank that the first particle of each bond was dealt to. The first particles are those
 *  that this rank gave.
 *  @param[out] to  [bonds->n] the ranks */
static kith_status find_owners(kith_team *team, int buffer, const struct kith__set *set,
                               const struct kith__dealt *dealt, const struct kith__bonds *bonds,
                               int32_t **to)
{
    const struct kith__route *route = &dealt->route;
    const int64_t n = set->points.n;
    int32_t *all = NULL;
    KITH_TRY(kith__team_need(team, buffer, n + bonds->n, sizeof *all, &all));
    for (int r = 0; r < team->ranks; r++) {
        for (int64_t at = route->ranges.to[r]; at < route->ranges.to[r + 1]; at++) {
            all[route->order[at]] = r;
        }
    }
    *to = all + n;
    for (int64_t k = 0; k < bonds->n; k++) {
        (*to)[k] = all[bonds->bond[k].first - set->base[team->rank]];
    }
    return KITH_OK;
}

/** Send bonds along a route. Collective.
 *  @param buffer          stores those that arrive
 *  @param[in,out] bonds   those to send, then those that arrived */
static kith_status send_bonds(kith_team *team, int buffer, const struct kith__route *route,
                              struct kith__bonds *bonds)
{
    struct kith__bond *arrived = NULL;
    KITH_AGREE(team, kith__team_need(team, buffer, route->received, sizeof *arrived, &arrived));
    KITH_TRY(kith__route_send(team, route, bonds->bond, sizeof *arrived, arrived));
    *bonds = (struct kith__bonds){arrived, route->received};
    return KITH_OK;
}

/** Return -1, 0 or 1 where a is smaller than, equal to, or larger than b. */
static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/** Compare two bonds, for qsort: by first, then by second. */
static int compare_bonds(const void *a, const void *b)
{
    const struct kith__bond *x = a, *y = b;
    const int first = order_of(x->first, y->first);
    return first ? first : order_of(x->second, y->second);
}

kith_status kith__bonds_deal(kith_team *team, int buffer, const struct kith__bonds_given *given,
                             const struct kith__set *set, const struct kith__dealt *dealt,
                             bool both, struct kith__bonds *out)
{
    struct kith__route route;
    int32_t *to = NULL;
    KITH_AGREE(team, list_bonds(team, buffer + LIST, given, set, both, out));
    const struct homes homes = {out, set->base, team->ranks};
    KITH_TRY(kith__route_open(team, buffer + HOME, out->n, home_of, &homes, &route));
    KITH_TRY(send_bonds(team, buffer + AT_HOME, &route, out));
    KITH_AGREE(team, find_owners(team, buffer + OWNERS, set, dealt, out, &to));
    KITH_TRY(kith__route_to(team, buffer + ROUTE, out->n, to, &route));
    KITH_TRY(send_bonds(team, buffer + DEALT_BONDS, &route, out));
    if (out->n > 0) {
        qsort(out->bond, (size_t)out->n, sizeof *out->bond, compare_bonds);
    }
    return KITH_OK;
}

/** A particle of a block, to be found by its global index. */
struct numbered {
    int64_t global; /**< its global index */
    int64_t number; /**< its number in the block */
};

/** Compare two particles of a block, for qsort and bsearch: by global index. */
static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return order_of(x->global, y->global);
}

kith_status kith__bond_rows(kith_team *team, int buffer, const struct kith__bonds *bonds, int64_t n,
                            const int64_t *global, int64_t m, const int64_t *partners,
                            struct kith__bond_rows *out)
{
    int64_t *offsets = NULL;
    int32_t *row = NULL;
    struct numbered *index = NULL;
    KITH_TRY(kith__team_need(team, buffer + OFFSETS, n + 1, sizeof *offsets, &offsets));
    KITH_TRY(kith__team_need(team, buffer + PARTNERS, bonds->n, sizeof *row, &row));
    KITH_TRY(kith__team_need(team, buffer + INDEX, m, sizeof *index, &index));
    for (int64_t p = 0; p < m; p++) {
        index[p] = (struct numbered){partners[p], p};
    }
    if (m > 0) {
        qsort(index, (size_t)m, sizeof *index, compare_numbered);
    }
    int64_t at = 0, kept = 0;
    offsets[0] = 0;
    for (int64_t p = 0; p < n; p++) {
        for (; at < bonds->n && bonds->bond[at].first <= global[p]; at++) {
            const struct numbered wanted = {bonds->bond[at].second, 0};
            const struct numbered *found = m > 0 ? bsearch(&wanted, index, (size_t)m, sizeof *index,
                                                           compare_numbered)
                                                 : NULL;
            if (found) { /* other partners form no pair in this search */
                row[kept++] = (int32_t)found->number;
            }
        }
        offsets[p + 1] = kept;
    }
    *out = (struct kith__bond_rows){offsets, row};
    return KITH_OK;
}
