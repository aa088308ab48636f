/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a flock does as a whole.
 */
#include <stdlib.h>
#include <string.h>

#include "flock.h"

static const double two_pi = 6.28318530717958647692;

/** The flock in the caller's order, in double. */
struct view {
    double *r, *v; /* [n][3] */
    void *memory;
};

static kith_status open_view(const struct kith_flock *flock, struct view *view)
{
    const size_t n = (size_t)flock->n;
    view->memory = kith__alloc(6 * (n + 1) * sizeof *view->r);
    KITH_CHECK(flock->ctx, view->memory != NULL, KITH_NO_MEMORY,
               "out of memory to measure a flock of %lld", (long long)flock->n);
    view->r = view->memory;
    view->v = view->r + 3 * n;
    for (int k = 0; k < 3; k++) {
        for (int64_t s = 0; s < flock->n; s++) {
            const int64_t at = 3 * (int64_t)flock->now.id[s] + k;
            const bool single = flock->question.precision == KITH_FLOAT;
            view->r[at] = single ? (double)((const float *)flock->now.r[k])[s]
                                 : ((const double *)flock->now.r[k])[s];
            view->v[at] = single ? (double)((const float *)flock->now.v[k])[s]
                                 : ((const double *)flock->now.v[k])[s];
        }
    }
    return KITH_OK;
}

/** The centre in fractional coordinates: the mean; of the angles along periodic axes. */
static void find_centre(const struct kith__question *q, const double *r, int64_t n,
                        double centre[3])
{
    double sum[3] = {0, 0, 0}, cosine[3] = {0, 0, 0}, sine[3] = {0, 0, 0};
    for (int64_t p = 0; p < n; p++) {
        for (int k = 0; k < 3; k++) {
            const double f = kith__fraction_d(&q->box_d, r + 3 * p, k);
            sum[k] += f;
            cosine[k] += cos(two_pi * f);
            sine[k] += sin(two_pi * f);
        }
    }
    for (int k = 0; k < 3; k++) {
        centre[k] = q->box_d.periodic[k] ? atan2(sine[k], cosine[k]) / two_pi : sum[k] / (double)n;
    }
}

/** From the centre to a particle: the nearest image in fractional coordinates. */
static void from_centre(const struct kith__question *q, const double centre[3], const double r[3],
                        double s[3])
{
    double f[3];
    for (int k = 0; k < 3; k++) {
        f[k] = kith__fraction_d(&q->box_d, r, k) - centre[k];
        f[k] -= q->box_d.periodic[k] ? rint(f[k]) : 0;
    }
    for (int k = 0; k < 3; k++) {
        const double(*row)[3] = q->box_d.row;
        s[k] = (f[0] * row[0][k] + f[1] * row[1][k]) + f[2] * row[2][k];
    }
}

static void measure(const struct kith__question *q, const struct view *view, int64_t n,
                    kith_flock_measures *out)
{
    double centre[3], heading[3] = {0, 0, 0}, angular[3] = {0, 0, 0};
    double speeds = 0;
    double most = 0;
    find_centre(q, view->r, n, centre);
    for (int64_t p = 0; p < n; p++) {
        const double *v = view->v + 3 * p;
        double s[3];
        from_centre(q, centre, view->r + 3 * p, s);
        const double speed = kith__flock_length(v);
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3;
            const int b = (k + 2) % 3;
            heading[k] += speed > 0 ? v[k] / speed : 0;
            angular[k] += s[a] * v[b] - s[b] * v[a];
        }
        speeds += speed;
        most += speed * kith__flock_length(s);
    }
    *out = (kith_flock_measures){
        .polarisation = kith__flock_length(heading) / (double)n,
        .milling = most > 0 ? kith__flock_length(angular) / most : 0,
        .mean_speed = speeds / (double)n,
    };
}

kith_status kith_flock_measure(kith_flock *flock, kith_flock_measures *out)
{
    KITH_CHECK(NULL, flock != NULL, KITH_INVALID, "flock is NULL");
    kith_ctx *ctx = flock->ctx;
    ctx->message[0] = '\0';
    KITH_CHECK(ctx, out != NULL, KITH_INVALID, "out is NULL");
    int64_t pairs = 0;
    const struct kith__question *q = &flock->question;
    if (flock->rules.reach > 0) {
        KITH_TRY(kith_pairs_count(ctx, &q->a, &flock->box, flock->rules.reach, NULL, &pairs, NULL));
    }
    struct view view;
    KITH_TRY(kith__flock_fetch(flock));
    KITH_TRY(open_view(flock, &view));
    measure(q, &view, flock->n, out);
    out->neighbours = 2 * (double)pairs / (double)flock->n;
    free(view.memory);
    return KITH_OK;
}
