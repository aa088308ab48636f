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
    CENTRE_TERMS = 9, /**< numbers that find_centre_terms computes of each particle, to be summed */
    MOTION_TERMS = 8, /**< numbers that find_motion_terms computes of each particle */
    MOST_TERMS = 9,   /**< larger of the two */
    BATCH = 1 << 13   /**< particles whose terms are computed in parallel, and then added one after
                           another */
};

static const double two_pi = 6.28318530717958647692;

/** Number of the buffer of the context's scratch memory, after KITH_FLOCK_QUANTIZED. */
enum { VIEW = KITH_WORK_OF(flock) + 1 };

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_FLOCK_MEASURES_0_1 = KITH_SIZE_UP_TO(kith_flock_measures, neighbours) };

/** The state in the caller's order, in double. */
struct view {
    double *r, *v;               /**< [n][3] positions [length], velocities [length / time] */
    double centre[3];            /**< centre of the flock, in fractional coordinates */
    double (*terms)[MOST_TERMS]; /**< [BATCH] terms of a batch of particles */
    kith_ctx *ctx;               /**< context: threads, cancellation */
};

/** State of the loop that copies the state to the caller's order. */
struct order_loop {
    const struct kith_flock *flock; /**< the flock */
    const struct view *view;        /**< where the copy goes */
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

/** Allocate a view, and copy the state to it. */
static kith_status open_view(const struct kith_flock *flock, struct view *view)
{
    const size_t n = (size_t)flock->n;
    /* r, v and terms; 6 numbers are spare */
    view->r = kith__work_need(&flock->ctx->work, VIEW,
                              6 * (n + 1) * sizeof *view->r + BATCH * sizeof *view->terms);
    KITH_CHECK(flock->ctx, view->r != NULL, KITH_NO_MEMORY,
               "out of memory to measure a flock of %lld", (long long)flock->n);
    view->v = view->r + 3 * n;
    view->terms = (double(*)[MOST_TERMS])(view->v + 3 * n);
    view->ctx = flock->ctx;
    struct order_loop loop = {flock, view};
    kith__loop(flock->ctx, flock->n, order_range, &loop);
    return KITH_OK;
}

/** Compute the terms that particle p adds to sums.
 *  @param[out] terms  CENTRE_TERMS or MOTION_TERMS numbers */
typedef void terms_fn(const struct kith__question *q, const struct view *view, int64_t p,
                      double *terms);

/** State of the loop that computes the terms of one batch of particles. */
struct terms_loop {
    const struct kith__question *question; /**< the box */
    const struct view *view;               /**< the state */
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

/** Sum the terms of all particles in their order, so that sums have equal bits for any number of
 *  threads: all threads compute terms, one thread adds them.
 *  @param n         number of particles
 *  @param terms     number of terms of a particle
 *  @param find      computes the terms of a particle
 *  @param[out] sum  [terms] the sums */
static void add_up(const struct kith__question *q, const struct view *view, int64_t n, int terms,
                   terms_fn *find, double *sum)
{
    double(*const batch)[MOST_TERMS] = view->terms;
    memset(sum, 0, (size_t)terms * sizeof *sum);
    for (int64_t first = 0; first < n && !kith__cancelled(view->ctx); first += BATCH) {
        const int64_t particles = n - first < BATCH ? n - first : BATCH;
        struct terms_loop loop = {q, view, first, find};
        kith__loop(view->ctx, particles, find_terms, &loop);
        for (int64_t k = 0; k < particles; k++) {
            for (int t = 0; t < terms; t++) {
                sum[t] += batch[k][t];
            }
        }
    }
}

/** Compute the terms of the centre: fractional coordinates f, and cosine and sine of the angles
 *  2 pi f. */
static void find_centre_terms(const struct kith__question *q, const struct view *view, int64_t p,
                              double *terms)
{
    for (int k = 0; k < 3; k++) {
        const double f = kith__fraction_d(&q->box_d, view->r + 3 * p, k);
        terms[k] = f;
        terms[3 + k] = cos(two_pi * f);
        terms[6 + k] = sin(two_pi * f);
    }
}

/** Set view->centre to the mean of the fractional coordinates, along periodic axes to their
 *  circular mean (Bai and Breen 2008). */
static void find_centre(const struct kith__question *q, struct view *view, int64_t n)
{
    double sum[CENTRE_TERMS];
    add_up(q, view, n, CENTRE_TERMS, find_centre_terms, sum);
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
static void find_motion_terms(const struct kith__question *q, const struct view *view, int64_t p,
                              double *terms)
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

/** Compute polarisation, milling and mean speed of n particles (kith_flock_measures). */
static void measure(const struct kith__question *q, struct view *view, int64_t n,
                    kith_flock_measures *out)
{
    double sum[MOTION_TERMS];
    find_centre(q, view, n);
    add_up(q, view, n, MOTION_TERMS, find_motion_terms, sum);
    *out = (kith_flock_measures){
        .polarisation = kith__flock_length(sum) / (double)n,
        .milling = sum[7] > 0 ? kith__flock_length(sum + 3) / sum[7] : 0,
        .mean_speed = sum[6] / (double)n,
    };
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
    struct view view;
    KITH_TRY(kith__flock_fetch(flock));
    KITH_TRY(open_view(flock, &view));
    kith_flock_measures found;
    measure(q, &view, flock->n, &found);
    KITH_TRY(kith__proceed(ctx));
    found.neighbours = 2 * (double)pairs / (double)flock->n; /* a pair is a neighbour of both */
    memset(out, 0, size);
    memcpy(out, &found, size < sizeof found ? size : sizeof found);
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
