/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bounds of the coordinates. Each range of particles is first reduced to its smallest and
 * largest coordinates, in loops that the compiler vectorises; these give the bounds when all
 * particles of the range are inside an orthorhombic box. Otherwise each particle is wrapped and
 * tested. O(n), parallel.
 */
#include "survey.h"

#include <pthread.h>

#define KITH_PER_PRECISION "engine/survey_real.h"
#include "core/per_precision.h"

/* The bounds of no particles. */
static const struct kith__survey nothing_seen = {.lo = {DBL_MAX, DBL_MAX, DBL_MAX},
                                                 .hi = {-DBL_MAX, -DBL_MAX, -DBL_MAX},
                                                 .bad = INT64_MAX,
                                                 .far = INT64_MAX};

/** Extend bounds *all by the bounds *part of other particles. */
static void merge_survey(struct kith__survey *all, const struct kith__survey *part)
{
    for (int k = 0; k < 3; k++) {
        all->lo[k] = part->lo[k] < all->lo[k] ? part->lo[k] : all->lo[k];
        all->hi[k] = part->hi[k] > all->hi[k] ? part->hi[k] : all->hi[k];
    }
    all->bad = part->bad < all->bad ? part->bad : all->bad;
    all->far = part->far < all->far ? part->far : all->far;
    all->images = part->images > all->images ? part->images : all->images;
}

/** Extend bounds *out by particles [begin, end), each of which is wrapped and tested. */
static void look_at_each(const struct kith__question *q, const kith_points *points, int64_t begin,
                         int64_t end, struct kith__survey *out)
{
    struct kith__survey s = *out;
    for (int64_t p = begin; p < end; p++) {
        double r[3];
        int32_t image[3];
        const int fits = kith__load(q, points, p, r, image);
        kith__survey_add_d(&q->box_d, p, r, fits, image, &s);
    }
    *out = s;
}

/** Shared state of the parallel loop over the particles of one set. */
struct survey_loop {
    const struct kith__question *question; /**< box and precision */
    const kith_points *points;             /**< the set */
    struct kith__survey before;            /**< bounds that each range starts from */
    pthread_mutex_t lock;                  /**< guards *all and *plain */
    struct kith__survey *all;              /**< bounds of all ranges so far */
    bool *plain;                           /**< all particles so far are inside the box as given */
};

static void survey_range(void *state, int64_t begin, int64_t end)
{
    struct survey_loop *loop = state;
    const struct kith__question *q = loop->question;
    struct kith__survey part = loop->before;
    const bool plain = (q->precision == KITH_FLOAT ? glance_f : glance_d)(q, loop->points, begin,
                                                                          end, &part);
    if (!plain) {
        look_at_each(q, loop->points, begin, end, &part);
    }
    pthread_mutex_lock(&loop->lock);
    merge_survey(loop->all, &part);
    *loop->plain = *loop->plain && plain;
    pthread_mutex_unlock(&loop->lock);
}

/** Extend bounds *all by the particles of a set, and clear *plain unless all are known to be inside
 *  the box as they are given.
 *  @param name  name of the set for messages
 *  @return KITH_OK, KITH_NOT_FINITE, KITH_LIMIT, KITH_CANCELLED */
static kith_status take_survey(kith_ctx *ctx, const struct kith__question *q, const char *name,
                               const kith_points *points, struct kith__survey *all, bool *plain)
{
    struct survey_loop loop = {q, points, *all, PTHREAD_MUTEX_INITIALIZER, all, plain};
    kith__loop(ctx, points->n, survey_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    if (all->bad != INT64_MAX) {
        return kith__refuse(ctx, q, name, KITH_NOT_FINITE, all->bad);
    }
    if (all->far != INT64_MAX) {
        return kith__refuse(ctx, q, name, KITH_LIMIT, all->far);
    }
    return KITH_OK;
}

kith_status kith__survey_all(kith_ctx *ctx, const struct kith__question *q,
                             struct kith__survey *all, bool *plain)
{
    *all = nothing_seen;
    *plain = true;
    KITH_TRY(take_survey(ctx, q, "points", &q->a, all, plain));
    return q->cross ? take_survey(ctx, q, "against", &q->b, all, plain) : KITH_OK;
}

kith_status kith__survey_check(kith_ctx *ctx, const struct kith__question *q)
{
    struct kith__survey survey;
    bool plain;
    return kith__survey_all(ctx, q, &survey, &plain);
}
