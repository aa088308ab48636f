/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The survey: by extremes alone, which vectors find, where that tells all.
 */
#include "survey.h"

#define KITH_TWICE "survey_real.h"
#include "twice.h"

static const struct kith__survey nothing_seen = {.lo = {DBL_MAX, DBL_MAX, DBL_MAX},
                                                 .hi = {-DBL_MAX, -DBL_MAX, -DBL_MAX},
                                                 .bad = INT64_MAX,
                                                 .far = INT64_MAX};

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

/** Range of the coordinates of particles [begin, end), and which of them cannot be used. */
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

/** Look at a set's coordinates and merge what is seen into *all; *plain stays true if all are in
 *  the box. */
static kith_status take_survey(kith_ctx *ctx, const struct kith__question *q, const char *name,
                               const kith_points *points, struct kith__survey *all, bool *plain)
{
    const struct kith__survey nothing = *all;
#pragma omp parallel num_threads(kith__threads_for(ctx, points->n))
    {
        const struct kith__share own = kith__my_share(points->n);
        struct kith__survey part = nothing;
        const bool seen = own.begin == own.end ||
                          (q->precision == KITH_FLOAT ? glance_f : glance_d)(q, points, own.begin,
                                                                             own.end, &part);
        if (!seen) {
            look_at_each(q, points, own.begin, own.end, &part);
        }
#pragma omp critical(kith_survey)
        {
            merge_survey(all, &part);
            *plain = *plain && seen;
        }
    }
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
