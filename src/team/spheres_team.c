/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spherical overdensities over all ranks. Particles are dealt to domains, with their masses. A
 * search of many centres (halos/spheres.h tells how) then becomes a search of the rank in whose
 * domain each centre is: the halos travel there, and copies of all particles within the search
 * radius of that rank's centres. The rank searches these and its own particles in the order of
 * their global indices, so that equal distances are sorted, and masses summed, as in one process.
 * The halos travel back with their spheres, or with a larger search radius for the next round.
 */
#include "spheres_team.h"

#include <stdlib.h>

/** Buffers, from the first one on. */
enum {
    CENTRE_BASE,                            /**< global indices of centres */
    DEALT,                                  /**< centres, then particles */
    REACH = DEALT + 2 * KITH_DEALT_BUFFERS, /**< route of copies */
    MERGED = REACH + KITH_ROUTE_BUFFERS,    /**< particles by their global indices */
    MASSES = MERGED + KITH_MERGE_BUFFERS,   /**< masses of dealt particles and copies */
    ORDERED,                                /**< masses by their global indices */
    RADII,                                  /**< spheres_team.reach */
    CENTRES,                                /**< coordinates of the centres of a search */
    SENT,                                   /**< struct centre: those of a search, on their way */
    ARRIVED,                                /**< those that this rank searches */
    OWN_RADII,                              /**< search radii of these */
    BUFFERS_END
};
_Static_assert((int)BUFFERS_END <= (int)KITH_SPHERES_BUFFERS, "every purpose needs its own buffer");

/** A halo on its way to the rank that searches around its centre, and back. */
struct centre {
    kith_halo halo; /**< the halo */
    double reach;   /**< search radius; on the way back that of the next round, or 0 [length] */
    int64_t number; /**< number of the halo on its rank */
};

/** One call. */
struct spheres_team {
    kith_team *team;              /**< the team */
    int buffer;                   /**< first buffer */
    const kith_box *box;          /**< the box as given */
    const kith_halo_input *input; /**< as given */
    kith_halos *halos;            /**< halos of this rank */
    double *reach;                /**< [halos->n] search radius of each; 0: done [length] */
    struct kith__set set[2];      /**< centres of a search; particles as given */
    struct kith__domains domains; /**< the decomposition of the particles */
    struct kith__dealt dealt[2];  /**< centres and particles dealt to this rank */
    struct kith__columns masses;  /**< masses of the particles */
    struct centre *sent;          /**< [set[0].points.n] halos of this rank in a search */
};

/** Deal the particles and their masses. Collective. */
static kith_status deal_particles(struct spheres_team *w)
{
    kith_team *team = w->team;
    struct kith__question q;
    struct kith__bounds bounds;
    KITH_AGREE(team, kith__question_space(team->ctx, &w->set[1].points, NULL, w->box, &q));
    KITH_TRY(kith__team_bounds(team, &q, &w->set[1], 1, &bounds));
    KITH_TRY(kith__team_divide(team, &q, &w->set[1], 1, &bounds, &w->domains));
    KITH_TRY(kith__team_deal(team, w->buffer + DEALT + KITH_DEALT_BUFFERS, &q, &w->set[1],
                             &w->domains, &w->dealt[1]));
    w->masses = (struct kith__columns){.n = 1,
                                       .buffer = w->buffer + MASSES,
                                       .given = {w->input->masses},
                                       .size = {(size_t)q.precision}};
    return kith__columns_deal(team, &w->dealt[1], &w->masses);
}

/** List the halos of this rank whose search radius may share a search with the largest of all
 *  ranks: sets w->sent and w->set[0]. Not collective. */
static kith_status list_centres(struct spheres_team *w, double largest)
{
    kith_team *team = w->team;
    const kith_precision precision = w->set[1].points.precision;
    const int64_t n = w->halos->n;
    void *xyz = NULL;
    int64_t listed = 0;
    for (int64_t h = 0; h < n; h++) {
        listed += w->reach[h] > 0 && kith__spheres_share(w->reach[h], largest);
    }
    KITH_TRY(kith__team_need(team, w->buffer + SENT, listed, sizeof *w->sent, &w->sent));
    KITH_TRY(kith__team_need(team, w->buffer + CENTRES, listed, 3 * (size_t)precision, &xyz));
    listed = 0;
    for (int64_t h = 0; h < n; h++) {
        if (w->reach[h] > 0 && kith__spheres_share(w->reach[h], largest)) {
            for (int k = 0; k < 3; k++) {
                kith__set_real(xyz, 3 * listed + k, precision, w->halos->halo[h].centre[k]);
            }
            w->sent[listed++] = (struct centre){w->halos->halo[h], w->reach[h], h};
        }
    }
    w->set[0] = (struct kith__set){"centres", kith_points_packed(xyz, listed, precision), NULL};
    return KITH_OK;
}

/** Bring the centres to the ranks in whose domains they are, and copies of the particles within the
 *  largest search radius of them. Collective. */
static kith_status bring_near(struct spheres_team *w, const struct kith__question *q)
{
    kith_team *team = w->team;
    struct kith__bounds bounds;
    struct kith__range3 own, *box = NULL;
    struct kith__route route;
    KITH_TRY(kith__team_base(team, w->buffer + CENTRE_BASE, &w->set[0]));
    KITH_TRY(kith__team_bounds(team, q, w->set, 2, &bounds));
    KITH_TRY(kith__team_deal(team, w->buffer + DEALT, q, &w->set[0], &w->domains, &w->dealt[0]));
    const kith_points centres = kith__dealt_points(q, &w->dealt[0], 0, w->dealt[0].n);
    const kith_points points = kith__dealt_points(q, &w->dealt[1], 0, w->dealt[1].n);
    KITH_TRY(kith__team_box_pair(team, q, &points, &centres, &own, &box));
    KITH_TRY(kith__team_reach(team, w->buffer + REACH, q, &bounds, box, &own, &points,
                              KITH_TWO_SIDED, &route));
    KITH_TRY(kith__team_copy(team, q, &route, &w->dealt[1], &w->dealt[1]));
    return kith__columns_ghosts(team, &route, &w->dealt[1], &w->masses);
}

/** Find the spheres of centres that this rank was dealt. Not collective.
 *  @param centre  [n] */
static kith_status search(struct spheres_team *w, const struct kith__question *q, int64_t n,
                          struct centre *centre)
{
    kith_team *team = w->team;
    kith_ctx *ctx = team->ctx;
    struct kith__question near;
    kith_points points;
    int32_t *order = NULL;
    double *reach = NULL;
    int64_t again;
    kith_halo_input input = {.size = sizeof input};
    kith_halos found = {.n = n};
    if (n == 0) {
        return KITH_OK;
    }
    for (int t = 0; t < KITH_SPHERES; t++) {
        input.sphere_density[t] = w->input->sphere_density[t];
    }
    KITH_TRY(kith__team_merge(team, w->buffer + MERGED, q, &w->dealt[1], &order, &points));
    KITH_TRY(kith__column_in_order(team, w->buffer + ORDERED, &w->masses, 0, order, points.n,
                                   &input.masses));
    KITH_TRY(kith__question_space(ctx, &points, NULL, w->box, &near));
    KITH_TRY(kith__team_need(team, w->buffer + OWN_RADII, n, sizeof *reach, &reach));
    found.halo = kith__alloc((size_t)n * sizeof *found.halo);
    KITH_CHECK(ctx, found.halo, KITH_NO_MEMORY, "out of memory for %lld halos", (long long)n);
    for (int64_t k = 0; k < n; k++) {
        found.halo[k] = centre[k].halo;
        reach[k] = centre[k].reach;
    }
    const kith_status status = kith__spheres_round(ctx, w->box, &near, &input, &found, reach,
                                                   &again);
    for (int64_t k = 0; k < n; k++) {
        centre[k].halo = found.halo[k];
        centre[k].reach = reach[k];
    }
    free(found.halo);
    return status;
}

/** Search once around the halos whose search radii are the largest of all ranks. Collective.
 *  @param largest  the largest [length] */
static kith_status search_largest(struct spheres_team *w, double largest)
{
    kith_team *team = w->team;
    const struct kith__route *route = &w->dealt[0].route;
    struct kith__question q;
    struct centre *arrived = NULL;
    KITH_AGREE(team, list_centres(w, largest));
    KITH_AGREE(team, kith__question_init(team->ctx, &w->set[0].points, &w->set[1].points, w->box,
                                         kith__rounded(largest, w->set[1].points.precision),
                                         "the search radius", &q));
    KITH_TRY(bring_near(w, &q));
    KITH_AGREE(team, kith__team_need(team, w->buffer + ARRIVED, route->received, sizeof *arrived,
                                     &arrived));
    KITH_TRY(kith__route_send(team, route, w->sent, sizeof *arrived, arrived));
    KITH_AGREE(team, search(w, &q, route->received, arrived));
    KITH_TRY(kith__route_home(team, route, arrived, sizeof *arrived, w->sent));
    for (int64_t k = 0; k < w->set[0].points.n; k++) {
        w->halos->halo[w->sent[k].number] = w->sent[k].halo;
        w->reach[w->sent[k].number] = w->sent[k].reach;
    }
    return KITH_OK;
}

kith_status kith__team_spheres(kith_team *team, int buffer, const kith_box *box,
                               const struct kith__set *set, const kith_halo_input *input,
                               kith_halos *halos)
{
    struct spheres_team w = {.team = team,
                             .buffer = buffer,
                             .box = box,
                             .input = input,
                             .halos = halos,
                             .set = {[1] = *set}};
    struct kith__question q;
    KITH_AGREE(team, kith__team_need(team, buffer + RADII, halos->n, sizeof *w.reach, &w.reach));
    KITH_TRY(deal_particles(&w));
    KITH_AGREE(team, kith__question_space(team->ctx, &set->points, NULL, box, &q));
    kith__spheres_begin(&q, input, halos, w.reach);
    for (;;) {
        double largest = -1;
        for (int64_t h = 0; h < halos->n; h++) {
            largest = w.reach[h] > 0 && w.reach[h] > largest ? w.reach[h] : largest;
        }
        KITH_TRY(kith__team_largest(team, &largest, 1));
        if (largest < 0) {
            return KITH_OK;
        }
        KITH_TRY(search_largest(&w, largest));
    }
}
