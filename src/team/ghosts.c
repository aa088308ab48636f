/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A particle is copied to a rank when, along each axis, its fractional coordinate is within reach
 * of the bounds of that rank's particles, around the period where the axis is periodic. The reach
 * is that of the cells of a grid (cells.h), which bounds all rounding errors of a pair, and a
 * little more. Comparisons are written so that a coordinate that is not a number is within reach.
 */
#include "ghosts.h"

#include <stdlib.h>
#include <string.h>

/** What decides which ranks get a copy. */
struct reach {
    const struct kith__question *q; /**< the box */
    const kith_points *points;      /**< particles of this rank */
    const struct kith__range3 *box; /**< [ranks] bounds of each rank's particles */
    double width[3];                /**< reach along each axis of particles of radius `usual`, or
                                         where all have the cutoff [boxes] */
    const double *radius;           /**< [points->n] distance within which partners of each particle
                                         are [length]; NULL: the cutoff for all */
    double per_radius[3];           /**< reach along each axis for each unit of radius [boxes /
                                         length] */
    double least_width[3];          /**< reach along each axis of radius 0 [boxes] */
    double usual;                   /**< a radius that most finite radii do not exceed [length]; 0
                                         where all have the cutoff */
    int turns[3];                   /**< periods on each side that are tested; 0: open axis */
    int ranks;                      /**< ranks that may need copies */
    int *rank;                      /**< [ranks] their numbers */
    struct kith__range3 inside;     /**< particles in it of a radius up to `usual` are within reach
                                         of no other rank: no test is needed */
};

/** State of the loop that finds bounds. */
struct bounds_loop {
    const struct kith__question *q; /**< the box */
    const kith_points *points;      /**< particles of this rank */
    struct kith__range3 *part;      /**< [pieces] bounds of each range of particles */
    int64_t pieces;                 /**< ranges */
};

/** The bounds of no particles. */
static const struct kith__range3 none = {{INFINITY, INFINITY, INFINITY},
                                         {-INFINITY, -INFINITY, -INFINITY}};

/** Extend bounds by an interval along each axis. */
static void extend(struct kith__range3 *box, const double lo[3], const double hi[3])
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] = lo[k] < box->lo[k] ? lo[k] : box->lo[k];
        box->hi[k] = hi[k] > box->hi[k] ? hi[k] : box->hi[k];
    }
}

/** kith__piece_fn: find the bounds of a range of particles. */
static void bounds_of_range(void *state, int64_t piece, int worker)
{
    const struct bounds_loop *loop = state;
    struct kith__range3 box = none;
    (void)worker;
    const int64_t end = kith__piece_begin(loop->points->n, loop->pieces, piece + 1);
    for (int64_t p = kith__piece_begin(loop->points->n, loop->pieces, piece); p < end; p++) {
        double f[3];
        kith__team_fractions(loop->q, loop->points, p, f);
        extend(&box, f, f);
        for (int k = 0; k < 3; k++) {
            if (!isfinite(f[k])) { /* along axis k everything is within reach of it */
                box.lo[k] = -INFINITY;
                box.hi[k] = INFINITY;
            }
        }
    }
    loop->part[piece] = box;
}

kith_status kith__team_boxes(kith_team *team, const struct kith__question *q,
                             const kith_points *points, struct kith__range3 **box)
{
    enum { EACH = 16 }; /* ranges of particles for each thread */
    kith_ctx *ctx = team->ctx;
    const int threads = kith__threads_for(ctx, points->n);
    struct bounds_loop loop = {.q = q, .points = points, .pieces = (int64_t)EACH * threads};
    struct kith__range3 own = none;
    kith_status status = kith__team_need(team, KITH_TEAM_BOXES, team->ranks + loop.pieces,
                                         sizeof **box, box);
    if (status == KITH_OK) {
        loop.part = *box + team->ranks;
        kith__pool_run(ctx->pool, threads, loop.pieces, bounds_of_range, &loop);
        status = kith__proceed(ctx);
    }
    KITH_AGREE(team, status);
    for (int64_t piece = 0; piece < loop.pieces; piece++) {
        extend(&own, loop.part[piece].lo, loop.part[piece].hi);
    }
    return kith__team_gather(team, &own, sizeof own, *box);
}

/** Return true when the interval [lo, hi] along axis k, or an image of it, is within reach of the
 *  bounds of a rank's particles. @param width  the reach along the axis [boxes] */
static bool near(const struct reach *reach, int k, double width, double lo, double hi,
                 const struct kith__range3 *box)
{
    const double first = box->lo[k] - width;
    const double last = box->hi[k] + width;
    for (int turn = -reach->turns[k]; turn <= reach->turns[k]; turn++) {
        if (!(hi + turn < first) && !(lo + turn > last)) {
            return true;
        }
    }
    return false;
}

/** Return true when a range of positions is within reach of the particles of a rank.
 *  @param width   the reach along each axis [boxes]
 *  @param lo, hi  ends of the range along each axis */
static bool is_near(const struct reach *reach, const double width[3], const double lo[3],
                    const double hi[3], const struct kith__range3 *box)
{
    bool yes = true;
    for (int k = 0; k < reach->q->dim && yes; k++) {
        yes = near(reach, k, width[k], lo[k], hi[k], box);
    }
    return yes;
}

/** Shrink reach->inside, the range of positions that need no copy, by those within reach of one
 *  rank: along the axis that leaves the largest part of it. Where no axis leaves any, it becomes
 *  empty. */
static void shrink(struct reach *reach, const struct kith__range3 *box)
{
    struct kith__range3 *in = &reach->inside;
    double best = 0, lo = INFINITY, hi = -INFINITY; /* largest part that is left, and its ends */
    int axis = 0;
    for (int k = 0; k < reach->q->dim; k++) {
        double left_lo = in->lo[k];
        double left_hi = in->hi[k];
        for (int turn = -reach->turns[k]; turn <= reach->turns[k]; turn++) {
            const double first = box->lo[k] - reach->width[k] - turn;
            const double last = box->hi[k] + reach->width[k] - turn;
            if (last < left_lo || first > left_hi) {
                continue;
            }
            /* keep the larger side, without the end that is within reach */
            if (first - left_lo > left_hi - last) {
                left_hi = nextafter(first, -INFINITY);
            } else {
                left_lo = nextafter(last, INFINITY);
            }
        }
        const double left = (left_hi - left_lo) / (in->hi[k] - in->lo[k]);
        if (left > best) {
            best = left;
            axis = k;
            lo = left_lo;
            hi = left_hi;
        }
    }
    in->lo[axis] = lo;
    in->hi[axis] = hi;
}

/** Return true when the other rank is one that gets copies of this rank's particles (enum
 *  kith__sides). */
static bool receives(const kith_team *team, int other, enum kith__sides sides)
{
    const bool even = (team->rank + other) % 2 == 0;
    return sides == KITH_TWO_SIDED || even == (other < team->rank);
}

/** List the ranks that may need copies, and shrink reach->inside, at first the bounds of all
 *  particles of this rank, to positions that none of them needs.
 *  @param most  largest reach of a particle along each axis [boxes] */
static kith_status list_ranks(kith_team *team, struct reach *reach, enum kith__sides sides,
                              const double most[3])
{
    const struct kith__range3 own = reach->inside;
    KITH_TRY(
        kith__team_need(team, KITH_TEAM_REACHED, team->ranks, sizeof *reach->rank, &reach->rank));
    for (int r = 0; r < team->ranks; r++) {
        const bool empty = reach->box[r].lo[0] > reach->box[r].hi[0];
        if (r != team->rank && !empty && receives(team, r, sides) &&
            is_near(reach, most, own.lo, own.hi, &reach->box[r])) {
            shrink(reach, &reach->box[r]);
            reach->rank[reach->ranks++] = r;
        }
    }
    return KITH_OK;
}

/** kith__targets_fn: the ranks that need a copy of a particle. @param state  a struct reach */
static int copies_of(const void *state, int64_t p, int *to)
{
    const struct reach *reach = state;
    const struct kith__range3 *in = &reach->inside;
    const double radius = reach->radius ? reach->radius[p] : reach->usual;
    double f[3], own[3];
    const double *width = reach->width;
    bool inside = radius <= reach->usual;
    int n = 0;
    kith__team_fractions(reach->q, reach->points, p, f);
    for (int k = 0; k < reach->q->dim; k++) {
        inside = inside && f[k] >= in->lo[k] && f[k] <= in->hi[k];
    }
    for (int k = 0; k < 3 && reach->radius && !inside; k++) {
        own[k] = reach->least_width[k] + reach->per_radius[k] * radius;
        width = own;
    }
    for (int k = 0; k < reach->ranks && !inside; k++) {
        const int r = reach->rank[k];
        if (is_near(reach, width, f, f, &reach->box[r])) {
            to[n++] = r;
        }
    }
    return n;
}

/** Return how far apart particles within a distance may be along an axis [boxes]: the side of a
 *  cell, which includes a bound on the rounding errors of a pair (kith__cell_side in cells.h), plus
 *  a millionth of it, plus a bound on the rounding errors of fractional coordinates, which are
 *  proportional to the largest one. */
static double width_of(const struct reach *reach, const struct kith__bounds *bounds,
                       double distance, int k)
{
    static const double more = 1 + 1e-6;
    enum { ROUNDINGS = 16 }; /* twice the operations of kith__fraction (engine/pair_real.h) */
    struct kith__question q = *reach->q;
    const double size = fmax(fabs(bounds->lo[k]), fabs(bounds->hi[k]));
    q.cutoff = distance;
    return kith__cell_side(&q, bounds) / q.height[k] * more + ROUNDINGS * DBL_EPSILON * size;
}

/** Set reach->turns: around how many periods on each side the reach is tested. */
static void set_turns(const struct kith__bounds *bounds, struct reach *reach)
{
    for (int k = 0; k < 3; k++) {
        const bool outside = bounds->lo[k] < 0 || bounds->hi[k] > 1;
        /* wrapped fractions are from 0 to 1, with rounding errors from -1 to 2
         * (kith__lies_outside): two of them differ by 1, or by 3, at most, so that 1, or 3, periods
         * are enough; 4 is one to spare */
        reach->turns[k] = !reach->q->box_d.periodic[k] ? 0 : outside ? 4 : 1;
    }
}

kith_status kith__team_reach(kith_team *team, int buffer, const struct kith__question *q,
                             const struct kith__bounds *bounds, const struct kith__range3 *box,
                             const struct kith__range3 *own, const kith_points *points,
                             enum kith__sides sides, struct kith__route *route)
{
    struct reach reach = {.q = q, .points = points, .box = box, .inside = *own};
    set_turns(bounds, &reach);
    for (int k = 0; k < 3; k++) {
        reach.width[k] = width_of(&reach, bounds, q->cutoff, k);
    }
    KITH_AGREE(team, list_ranks(team, &reach, sides, reach.width));
    return kith__route_open(team, buffer, points->n, copies_of, &reach, route);
}

/** Set the reach of a particle as a linear function of its radius that is nowhere below width_of.
 *  The factor of the radius here, 1 + 2 KITH_CELL_MARGIN, exceeds that in width_of, (1 +
 *  KITH_CELL_MARGIN) (1 + 1e-6). The rest of width_of, a bound on rounding errors, is taken for the
 *  largest radius: as it grows with the radius, it holds for all of them.
 *  @param most  largest radius that is finite [length] */
static void set_linear(const struct kith__bounds *bounds, double most, struct reach *reach)
{
    enum { ROUNDINGS = 16 }; /* ample for the few operations of `rest`, which is a difference */
    for (int k = 0; k < 3; k++) {
        const double side = (1 + 2 * KITH_CELL_MARGIN) / reach->q->height[k];
        const double rest = width_of(reach, bounds, most, k) -
                            most * (1 + KITH_CELL_MARGIN) / reach->q->height[k];
        reach->per_radius[k] = side;
        reach->least_width[k] = fmax(rest, 0) + ROUNDINGS * DBL_EPSILON * most * side;
    }
}

kith_status kith__team_reach_each(kith_team *team, int buffer, const struct kith__question *q,
                                  const struct kith__bounds *bounds, const struct kith__range3 *box,
                                  const struct kith__range3 *own, const kith_points *points,
                                  const double *radius, struct kith__route *route)
{
    struct reach reach = {.q = q, .points = points, .box = box, .inside = *own, .radius = radius};
    double most = 0, sum = 0, all_most[3];
    bool all_finite = true;
    for (int64_t p = 0; p < points->n; p++) {
        all_finite = all_finite && radius[p] < INFINITY;
        most = radius[p] < INFINITY ? fmax(most, radius[p]) : most;
        sum += radius[p] < INFINITY ? radius[p] : 0;
    }
    set_turns(bounds, &reach);
    set_linear(bounds, most, &reach);
    /* twice the mean, without infinite radii: at most half of the particles have a larger finite
     * radius (Markov's inequality) */
    reach.usual = points->n > 0 ? 2 * sum / (double)points->n : 0;
    for (int k = 0; k < 3; k++) {
        reach.width[k] = reach.least_width[k] + reach.per_radius[k] * reach.usual;
        all_most[k] = all_finite ? reach.least_width[k] + reach.per_radius[k] * most : INFINITY;
    }
    KITH_AGREE(team, list_ranks(team, &reach, KITH_TWO_SIDED, all_most));
    return kith__route_open(team, buffer, points->n, copies_of, &reach, route);
}

kith_status kith__team_copy(kith_team *team, const struct kith__question *q,
                            const struct kith__route *route, const struct kith__dealt *from,
                            struct kith__dealt *dealt)
{
    KITH_AGREE(team, kith__dealt_grow(team, q, dealt, route->received));
    const size_t size = 3 * (size_t)q->precision;
    char *xyz = (char *)dealt->xyz + (size_t)dealt->n * size;
    /* where `from` is `dealt`, the particles that are read come before those that are written */
    KITH_TRY(kith__route_send(team, route, from->xyz, size, xyz));
    return kith__route_send(team, route, from->global, sizeof *from->global,
                            dealt->global + dealt->n);
}

kith_status kith__team_box_pair(kith_team *team, const struct kith__question *q,
                                const kith_points *points, const kith_points *partners,
                                struct kith__range3 *own, struct kith__range3 **box)
{
    KITH_TRY(kith__team_boxes(team, q, points, box));
    *own = (*box)[team->rank];
    return partners ? kith__team_boxes(team, q, partners, box) : KITH_OK;
}

kith_status kith__team_deal_near(kith_team *team, int buffer, const struct kith__question *q,
                                 enum kith__sides sides, struct kith__set *set, int n_sets,
                                 struct kith__dealt *dealt, struct kith__route *reach)
{
    const int dealt_buffer = buffer + 2; /* after those of `base` of two sets */
    const int route_buffer = dealt_buffer + 2 * KITH_DEALT_BUFFERS;
    struct kith__dealt *last = &dealt[n_sets - 1];
    struct kith__bounds bounds;
    struct kith__domains domains;
    struct kith__range3 own, *box = NULL;
    for (int s = 0; s < n_sets; s++) {
        KITH_TRY(kith__team_base(team, buffer + s, &set[s]));
        team->load.points += set[s].base[team->ranks];
    }
    KITH_TRY(kith__team_bounds(team, q, set, n_sets, &bounds));
    KITH_TRY(kith__team_divide(team, q, set, n_sets, &bounds, &domains));
    for (int s = 0; s < n_sets; s++) {
        KITH_TRY(kith__team_deal(team, dealt_buffer + s * KITH_DEALT_BUFFERS, q, &set[s], &domains,
                                 &dealt[s]));
        team->load.owned += dealt[s].n;
    }
    const kith_points first = kith__dealt_points(q, &dealt[0], 0, dealt[0].n);
    const kith_points points = kith__dealt_points(q, last, 0, last->n);
    KITH_TRY(kith__team_box_pair(team, q, &points, n_sets == 2 ? &first : NULL, &own, &box));
    KITH_TRY(kith__team_reach(team, route_buffer, q, &bounds, box, &own, &points, sides, reach));
    KITH_TRY(kith__team_copy(team, q, reach, last, last));
    team->load.ghosts = last->ghosts;
    return kith__team_measure_load(team);
}

/** Compare two particles by their global indices, for qsort. */
static int by_global(const void *left, const void *right)
{
    const struct kith__by_index *a = left;
    const struct kith__by_index *b = right;
    return (a->global > b->global) - (a->global < b->global);
}

void kith__sort_by_index(struct kith__by_index *particles, int64_t n)
{
    qsort(particles, (size_t)n, sizeof *particles, by_global);
}

kith_status kith__team_merge(kith_team *team, int buffer, const struct kith__question *q,
                             const struct kith__dealt *dealt, int32_t **order, kith_points *points)
{
    const int64_t all = dealt->n + dealt->ghosts;
    const size_t size = 3 * (size_t)q->precision;
    struct kith__by_index *ghost = NULL;
    char *xyz = NULL;
    KITH_TRY(kith__team_need(team, buffer, all, sizeof **order, order));
    KITH_TRY(kith__team_need(team, buffer + 1, dealt->ghosts, sizeof *ghost, &ghost));
    KITH_TRY(kith__team_need(team, buffer + 2, all, size, &xyz));
    for (int64_t g = 0; g < dealt->ghosts; g++) {
        ghost[g] = (struct kith__by_index){dealt->global[dealt->n + g], (int32_t)(dealt->n + g)};
    }
    kith__sort_by_index(ghost, dealt->ghosts);
    int64_t own = 0;
    int64_t other = 0;
    for (int64_t k = 0; k < all; k++) {
        const bool is_own = own < dealt->n &&
                            (other == dealt->ghosts || dealt->global[own] < ghost[other].global);
        (*order)[k] = is_own ? (int32_t)own++ : ghost[other++].number;
        memcpy(xyz + (size_t)k * size, (const char *)dealt->xyz + (size_t)(*order)[k] * size, size);
    }
    *points = kith_points_packed(xyz, all, q->precision);
    return kith__proceed(team->ctx);
}
