/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connected components by contraction. Each name has a home rank, which keeps a link from it to a
 * smaller name of its component, where one is known. In a round, an edge goes to the home of its
 * larger name. There the smallest of the names that are connected to a name becomes its link, and
 * the others are connected to that one by new edges: the name itself is not needed any more. The
 * largest name of all edges falls with each round, so that no edge is left in the end. Then links
 * are followed by pointer doubling: each name takes the link of its link, until none changes.
 */
#include "unite.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/** Buffers, from the first one of the caller on. */
enum {
    ARRIVED = KITH_ROUTE_BUFFERS, /**< after the route: edges that arrived, then the links */
    LINKS,                        /**< links.link */
    TARGETS,                      /**< home of each item of a route */
    WANTED,                       /**< names that other ranks look up here, then their links */
    FOUND,                        /**< names that this rank looks up */
    NEXT,                         /**< link of each link */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_UNITE_BUFFERS, "every purpose needs its own buffer");

/** The links of the names whose home is this rank. */
struct links {
    kith_team *team;         /**< the team */
    int buffer;              /**< first buffer */
    int64_t n;               /**< names with a link */
    struct kith__edge *link; /**< [n] from the name `high` to `low`; ascending by `high` */
};

int kith__name_home(const kith_team *team, int64_t name)
{
    /* a multiplicative hash, as names may be consecutive or multiples of a number */
    uint64_t x = (uint64_t)name * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 32)) * 0xbf58476d1ce4e5b9u;
    return (int)((x >> 33) % (uint64_t)team->ranks);
}

/** Compare two edges, for qsort. */
static int by_high_then_low(const void *left, const void *right)
{
    const struct kith__edge *a = left;
    const struct kith__edge *b = right;
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return (a->low > b->low) - (a->low < b->low);
}

/** Sort edges by high, then low, and remove duplicates. @return the number that are left */
static int64_t sort_unique(struct kith__edge *edge, int64_t n)
{
    int64_t kept = 0;
    qsort(edge, (size_t)n, sizeof *edge, by_high_then_low);
    for (int64_t e = 0; e < n; e++) {
        if (kept == 0 || by_high_then_low(&edge[kept - 1], &edge[e]) != 0) {
            edge[kept++] = edge[e];
        }
    }
    return kept;
}

/** Make a route for n items, each to the home of its name.
 *  @param name    the first name
 *  @param stride  distance from one name to the next [int64_t] */
static kith_status route_to_homes(const struct links *l, const int64_t *name, int64_t stride,
                                  int64_t n, struct kith__route *route)
{
    kith_team *team = l->team;
    int32_t *target = NULL;
    KITH_AGREE(team, kith__team_need(team, l->buffer + TARGETS, n, sizeof *target, &target));
    for (int64_t e = 0; e < n; e++) {
        target[e] = kith__name_home(team, name[e * stride]);
    }
    return kith__route_to(team, l->buffer, n, target, route);
}

/** Make new links and edges of the edges that arrived and the links so far. Of the low names of one
 *  high name the smallest becomes its link; each other one gets an edge to that.
 *  @param all        [n] edges and links; they are sorted
 *  @param[out] edge  the new edges, which may be as many as n
 *  @return their number */
static int64_t contract(struct links *l, struct kith__edge *all, int64_t n, struct kith__edge *edge)
{
    int64_t made = 0;
    n = sort_unique(all, n);
    l->n = 0;
    for (int64_t e = 0; e < n; e++) {
        if (l->n == 0 || l->link[l->n - 1].high != all[e].high) {
            l->link[l->n++] = all[e];
        } else {
            edge[made++] = (struct kith__edge){.high = all[e].low, .low = l->link[l->n - 1].low};
        }
    }
    return sort_unique(edge, made);
}

/** Send the edges to the homes of their larger names, and contract the graph there.
 *  @param edge_buffer  holds the edges of this rank, and then the new ones
 *  @param[in,out] n    their number */
static kith_status do_round(struct links *l, int edge_buffer, int64_t *n)
{
    kith_team *team = l->team;
    struct kith__edge *edge = team->buffer[edge_buffer].data;
    struct kith__edge *all = NULL;
    struct kith__route route;
    KITH_TRY(
        route_to_homes(l, *n ? &edge->high : NULL, sizeof *edge / sizeof edge->high, *n, &route));
    const int64_t arrived = route.received;
    KITH_AGREE(team, kith__team_need(team, l->buffer + ARRIVED, arrived + l->n, sizeof *all, &all));
    KITH_TRY(kith__route_send(team, &route, edge, sizeof *edge, all));
    if (l->n > 0) {
        memcpy(all + arrived, l->link, (size_t)l->n * sizeof *all);
    }
    const int64_t most = arrived + l->n;
    kith_status status = kith__team_need(team, l->buffer + LINKS, most, sizeof *l->link, &l->link);
    status = status ? status : kith__team_need(team, edge_buffer, most, sizeof *edge, &edge);
    *n = status ? 0 : contract(l, all, most, edge);
    KITH_AGREE(team, status ? status : kith__proceed(team->ctx));
    return KITH_OK;
}

/** Return what a name is linked to, by a binary search; the name itself where it has no link. */
static int64_t link_of(const struct links *l, int64_t name)
{
    const struct kith__edge *link = l->link;
    int64_t begin = 0;
    int64_t end = l->n;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (link[middle].high < name) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < l->n && link[begin].high == name ? link[begin].low : name;
}

/** Look up the links of names at their homes. Collective.
 *  @param name      the first name
 *  @param stride    distance from one name to the next [int64_t]
 *  @param[out] out  [n] what each is linked to; the name itself where it has no link */
static kith_status ask(const struct links *l, const int64_t *name, int64_t stride, int64_t n,
                       int64_t *out)
{
    kith_team *team = l->team;
    struct kith__route route;
    int64_t *wanted = NULL;
    int64_t *packed = NULL;
    KITH_TRY(route_to_homes(l, name, stride, n, &route));
    kith_status status = kith__team_need(team, l->buffer + WANTED, route.received, sizeof *wanted,
                                         &wanted);
    status = status ? status : kith__team_need(team, l->buffer + FOUND, n, sizeof *packed, &packed);
    KITH_AGREE(team, status);
    for (int64_t e = 0; e < n; e++) {
        packed[e] = name[e * stride];
    }
    KITH_TRY(kith__route_send(team, &route, packed, sizeof *packed, wanted));
    for (int64_t e = 0; e < route.received; e++) {
        wanted[e] = link_of(l, wanted[e]);
    }
    return kith__route_home(team, &route, wanted, sizeof *wanted, out);
}

/** Replace each link by the link of its link, until all names are linked to roots. */
static kith_status follow(struct links *l)
{
    kith_team *team = l->team;
    int64_t changed = 1;
    while (changed > 0) {
        int64_t *next = NULL;
        KITH_AGREE(team, kith__team_need(team, l->buffer + NEXT, l->n, sizeof *next, &next));
        KITH_TRY(
            ask(l, l->n ? &l->link->low : NULL, sizeof *l->link / sizeof l->link->low, l->n, next));
        changed = 0;
        for (int64_t e = 0; e < l->n; e++) {
            changed += l->link[e].low != next[e];
            assert(next[e] <= l->link[e].low);
            l->link[e].low = next[e];
        }
        KITH_TRY(kith__team_combine(team, KITH_SUM, &changed, 1));
        KITH_AGREE(team, kith__proceed(team->ctx));
    }
    return KITH_OK;
}

kith_status kith__team_unite(kith_team *team, int buffer, int edge_buffer, int64_t n_edges,
                             const int64_t *name, int64_t n, int64_t *root)
{
    struct links l = {.team = team, .buffer = buffer};
    int64_t left = n_edges;
    KITH_TRY(kith__team_combine(team, KITH_SUM, &left, 1));
    while (left > 0) {
        KITH_TRY(do_round(&l, edge_buffer, &n_edges));
        left = n_edges;
        KITH_TRY(kith__team_combine(team, KITH_SUM, &left, 1));
    }
    KITH_TRY(follow(&l));
    return ask(&l, name, 1, n, root);
}
