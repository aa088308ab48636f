/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bounds of the coordinates. Each range of particles is first reduced to its smallest and
 * largest coordinates, in loops that the compiler vectorises; these give the bounds when all
 * particles of the range are inside an orthorhombic box. Otherwise each particle is wrapped and
 * tested. O(n), parallel.
 */
#include "bounds.h"

#include <assert.h>
#include <pthread.h>

#define KITH_PER_PRECISION "engine/bounds_real.h"
#include "core/per_precision.h"

/* The bounds of no particles: the neutral element of merge_bounds. */
static const struct kith__bounds empty_bounds = {.lo = {DBL_MAX, DBL_MAX, DBL_MAX},
                                                 .hi = {-DBL_MAX, -DBL_MAX, -DBL_MAX},
                                                 .bad = INT64_MAX,
                                                 .far = INT64_MAX};

/** Extend bounds *all by the bounds *part of other particles. */
static void merge_bounds(struct kith__bounds *all, const struct kith__bounds *part)
{
    for (int k = 0; k < 3; k++) {
        all->lo[k] = part->lo[k] < all->lo[k] ? part->lo[k] : all->lo[k];
        all->hi[k] = part->hi[k] > all->hi[k] ? part->hi[k] : all->hi[k];
    }
    all->bad = part->bad < all->bad ? part->bad : all->bad;
    all->far = part->far < all->far ? part->far : all->far;
    all->wrapped |= part->wrapped;
}

/** Extend bounds *out by particles [begin, end), each of which is wrapped and tested. */
static void bounds_of_each(const struct kith__question *q, const kith_points *points, int64_t begin,
                           int64_t end, struct kith__bounds *out)
{
    struct kith__bounds s = *out;
    for (int64_t p = begin; p < end; p++) {
        double r[3];
        int32_t image[3];
        const int fits = kith__load(q, points, p, r, image);
        kith__bounds_add_d(&q->box_d, p, r, fits, image, &s);
    }
    *out = s;
}

/** Shared state of the parallel loop over the particles of one set. */
struct bounds_loop {
    const struct kith__question *question; /**< box and precision */
    const kith_points *points;             /**< the set */
    struct kith__bounds before;            /**< bounds of the particles of an earlier set, which the
                                                bounds of each range are extended from; of the first
                                                set empty_bounds */
    pthread_mutex_t lock;                  /**< guards *all and *inside */
    struct kith__bounds *all;              /**< bounds of all ranges so far */
    bool *inside;                          /**< all particles so far are inside the box as given */
};

/** Extend *loop->all by particles [begin, end): by their extremes where possible, else one by one.
 *  Clear *loop->inside in the second case. */
static void bounds_range(void *state, int64_t begin, int64_t end)
{
    struct bounds_loop *loop = state;
    const struct kith__question *q = loop->question;
    struct kith__bounds part = loop->before;
    const bool inside = (q->precision == KITH_FLOAT ? bounds_of_extremes_f : bounds_of_extremes_d)(
        q, loop->points, begin, end, &part);
    if (!inside) {
        bounds_of_each(q, loop->points, begin, end, &part);
    }
    pthread_mutex_lock(&loop->lock);
    merge_bounds(loop->all, &part);
    *loop->inside = *loop->inside && inside;
    pthread_mutex_unlock(&loop->lock);
}

/** Extend bounds *all by the particles of a set, and clear *inside unless all are known to be
 *  inside the box as they are given.
 *  @param name  name of the set for messages
 *  @return KITH_OK, KITH_NOT_FINITE, KITH_LIMIT, KITH_CANCELLED */
static kith_status bounds_of_set(kith_ctx *ctx, const struct kith__question *q, const char *name,
                                 const kith_points *points, struct kith__bounds *all, bool *inside)
{
    struct bounds_loop loop = {q, points, *all, PTHREAD_MUTEX_INITIALIZER, all, inside};
    kith__loop(ctx, points->n, bounds_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    if (all->bad != INT64_MAX) {
        return kith__refuse(ctx, q, name, KITH_NOT_FINITE, all->bad);
    }
    if (all->far != INT64_MAX) {
        return kith__refuse(ctx, q, name, KITH_LIMIT, all->far);
    }
    for (int k = 0; k < 3; k++) {
        assert(points->n == 0 || all->lo[k] <= all->hi[k]);
    }
    return KITH_OK;
}

kith_status kith__bounds_find(kith_ctx *ctx, const struct kith__question *q,
                              struct kith__bounds *all, bool *inside)
{
    *all = empty_bounds;
    *inside = true;
    KITH_TRY(bounds_of_set(ctx, q, "points", &q->a, all, inside));
    return q->cross ? bounds_of_set(ctx, q, "against", &q->b, all, inside) : KITH_OK;
}

kith_status kith__bounds_check(kith_ctx *ctx, const struct kith__question *q)
{
    struct kith__bounds bounds;
    bool inside;
    return kith__bounds_find(ctx, q, &bounds, &inside);
}
