/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Order parameters of a flock: polarisation, milling, mean speed, number of neighbours. O(n), but
 * for the count of neighbours. Sums are in double and in the order of the caller's particles.
 */
#include <string.h>

#include "core/sized.h"
#include "flock.h"
#include "pairs/list.h"

enum {
    BATCH = 1 << 13 /**< particles whose terms are computed in parallel, and then added one after
                         another */
};
_Static_assert((int)KITH_MOTION_TERMS <= (int)KITH_CENTRE_TERMS, "a batch has room for both");

static const double two_pi = 6.28318530717958647692;

/** Number of the buffer of the context's scratch memory, after KITH_FLOCK_QUANTIZED. */
enum { VIEW = KITH_WORK_OF(flock) + 1 };

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_FLOCK_MEASURES_0_1 = KITH_SIZE_UP_TO(kith_flock_measures, neighbours) };

/** State of the loop that copies the state to the caller's order. */
struct order_loop {
    const struct kith_flock *flock;      /**< the flock */
    const struct kith__flock_view *view; /**< where the copy goes */
};

/** kith__range_fn: copy entries [begin, end) of the state. */
static void order_range(void *state, int64_t begin, int64_t end)
{
    const struct order_loop *loop = state;
    const struct kith__flock_state *now = &loop->flock->now;
    const kith_precision precision = loop->flock->question.precision;
    for (int64_t s = begin; s < end; s++) {
        for (int k = 0; k < 3; k++) {
            const int64_t at = 3 * (int64_t)now->id[s] + k;
            loop->view->r[at] = kith__real_at(now->r[k], s, precision);
            loop->view->v[at] = kith__real_at(now->v[k], s, precision);
        }
    }
}

kith_status kith__flock_view_need(kith_ctx *ctx, int64_t n, struct kith__flock_view *view)
{
    const size_t room = (size_t)n;
    /* r, v and terms; 6 numbers are spare */
    view->r = kith__work_need(&ctx->work, VIEW,
                              6 * (room + 1) * sizeof *view->r + BATCH * sizeof *view->terms);
    KITH_CHECK(ctx, view->r != NULL, KITH_NO_MEMORY, "out of memory to measure a flock of %lld",
               (long long)n);
    view->n = n;
    view->v = view->r + 3 * room;
    view->terms = (double(*)[KITH_CENTRE_TERMS])(view->v + 3 * room);
    return KITH_OK;
}

/** Compute the terms that particle p adds to sums.
 *  @param[out] terms  KITH_CENTRE_TERMS or KITH_MOTION_TERMS numbers */
typedef void terms_fn(const struct kith__question *q, const struct kith__flock_view *view,
                      int64_t p, double *terms);

/** State of the loop that computes the terms of one batch of particles. */
struct terms_loop {
    const struct kith__question *question; /**< the box */
    const struct kith__flock_view *view;   /**< the state */
    int64_t first;                         /**< first particle of the batch */
    terms_fn *find;                        /**< computes the terms of one particle */
};

/** kith__range_fn: compute the terms of particles [begin, end) of the batch. */
static void find_terms(void *state, int64_t begin, int64_t end)
{
    const struct terms_loop *loop = state;
    for (int64_t k = begin; k < end; k++) {
        loop->find(loop->question, loop->view, loop->first + k, loop->view->terms[k]);
    }
}

/** Add the terms of all particles in their order, so that sums have equal bits for any number of
 *  threads: all threads compute terms, one thread adds them.
 *  @param terms        number of terms of a particle
 *  @param find         computes the terms of a particle
 *  @param[in,out] sum  [terms] the sums */
static void add_up(kith_ctx *ctx, const struct kith__question *q,
                   const struct kith__flock_view *view, int terms, terms_fn *find, double *sum)
{
    double(*const batch)[KITH_CENTRE_TERMS] = view->terms;
    for (int64_t first = 0; first < view->n && !kith__cancelled(ctx); first += BATCH) {
        const int64_t particles = view->n - first < BATCH ? view->n - first : BATCH;
        struct terms_loop loop = {q, view, first, find};
        kith__loop(ctx, particles, find_terms, &loop);
        for (int64_t k = 0; k < particles; k++) {
            for (int t = 0; t < terms; t++) {
                sum[t] += batch[k][t];
            }
        }
    }
}

/** Compute the terms of the centre: fractional coordinates f, and cosine and sine of the angles
 *  2 pi f. */
static void find_centre_terms(const struct kith__question *q, const struct kith__flock_view *view,
                              int64_t p, double *terms)
{
    for (int k = 0; k < 3; k++) {
        const double f = kith__fraction_d(&q->box_d, view->r + 3 * p, k);
        terms[k] = f;
        terms[3 + k] = cos(two_pi * f);
        terms[6 + k] = sin(two_pi * f);
    }
}

void kith__flock_add_centre(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__flock_view *view, double *sum)
{
    add_up(ctx, q, view, KITH_CENTRE_TERMS, find_centre_terms, sum);
}

/* The centre is the mean of the fractional coordinates, along periodic axes their circular mean
 * (Bai and Breen 2008). */
void kith__flock_set_centre(const struct kith__question *q, const double *sum, int64_t n,
                            struct kith__flock_view *view)
{
    for (int k = 0; k < 3; k++) {
        view->centre[k] = q->box_d.periodic[k] ? atan2(sum[6 + k], sum[3 + k]) / two_pi
                                               : sum[k] / (double)n;
    }
}

/** Compute the vector s from the centre to the image of r that is nearest in fractional coordinates
 *  [length]. */
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

/** Compute the terms of the motion, with s the vector from the centre: [0, 3) direction v / |v|,
 *  [3, 6) s x v, [6] |v|, [7] |s| |v|. */
static void find_motion_terms(const struct kith__question *q, const struct kith__flock_view *view,
                              int64_t p, double *terms)
{
    const double *v = view->v + 3 * p;
    double s[3];
    from_centre(q, view->centre, view->r + 3 * p, s);
    const double speed = kith__flock_length(v);
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3;
        const int b = (k + 2) % 3;
        terms[k] = speed > 0 ? v[k] / speed : 0;
        terms[3 + k] = s[a] * v[b] - s[b] * v[a];
    }
    terms[6] = speed;
    terms[7] = speed * kith__flock_length(s);
}

void kith__flock_add_motion(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__flock_view *view, double *sum)
{
    add_up(ctx, q, view, KITH_MOTION_TERMS, find_motion_terms, sum);
}

void kith__flock_write_measures(const double *sum, int64_t n, int64_t pairs,
                                kith_flock_measures *out, size_t size)
{
    const kith_flock_measures found = {
        .polarisation = kith__flock_length(sum) / (double)n,
        .milling = sum[7] > 0 ? kith__flock_length(sum + 3) / sum[7] : 0,
        .mean_speed = sum[6] / (double)n,
        .neighbours = 2 * (double)pairs / (double)n, /* a pair is a neighbour of both */
    };
    memset(out, 0, size);
    memcpy(out, &found, size < sizeof found ? size : sizeof found);
}

/** kith_flock_measure_sized, within a call of the context. */
static kith_status measure_all(kith_flock *flock, kith_flock_measures *out, size_t size)
{
    kith_ctx *ctx = flock->ctx;
    KITH_CHECK(ctx, out != NULL, KITH_INVALID, "out is NULL");
    int64_t pairs = 0;
    const struct kith__question *q = &flock->question;
    if (flock->rules.reach > 0) {
        KITH_TRY(
            kith__pairs_count(ctx, &q->a, &flock->box, flock->rules.reach, NULL, &pairs, NULL));
    }
    struct kith__flock_view view;
    double centre[KITH_CENTRE_TERMS] = {0}, motion[KITH_MOTION_TERMS] = {0};
    KITH_TRY(kith__flock_fetch(flock));
    KITH_TRY(kith__flock_view_need(ctx, flock->n, &view));
    struct order_loop loop = {flock, &view};
    kith__loop(ctx, flock->n, order_range, &loop);
    kith__flock_add_centre(ctx, q, &view, centre);
    kith__flock_set_centre(q, centre, flock->n, &view);
    kith__flock_add_motion(ctx, q, &view, motion);
    KITH_TRY(kith__proceed(ctx));
    kith__flock_write_measures(motion, flock->n, pairs, out, size);
    return KITH_OK;
}

kith_status kith_flock_measure_sized(kith_flock *flock, kith_flock_measures *out, size_t size)
{
    kith_status status;
    KITH_FLOCK_CALL(flock, &status, measure_all(flock, out, size));
    return status;
}

kith_status(kith_flock_measure)(kith_flock *flock, kith_flock_measures *out)
{
    return kith_flock_measure_sized(flock, out, KITH_FLOCK_MEASURES_0_1);
}
