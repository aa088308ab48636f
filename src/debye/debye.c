/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of Debye's sums: check the arguments, sort the particles by species, call
 * the backend for the sums of pieces, and add these.
 */
#include "debye.h"

#include <assert.h>
#include <string.h>

#include "core/sized.h"
#include "engine/question.h"

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_DEBYE_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_debye_options, n_species) };

static const kith_debye_options defaults = {.size = sizeof(kith_debye_options), .n_species = 1};

/* kith_debye_options_init_sized, kith_debye_options_init */
KITH_INIT_CALLS(kith_debye_options, KITH_DEBYE_OPTIONS_0_1)

/** Check the options and the memory of the points. */
static kith_status check(kith_ctx *ctx, const kith_points *points, const kith_debye_options *o)
{
    enum { MOST_Q = 1 << 20 };
    KITH_CHECK(ctx, o->n_q >= 1 && o->n_q <= MOST_Q, KITH_INVALID,
               "options.n_q is %lld, expected 1 to 2^20", (long long)o->n_q);
    KITH_CHECK(ctx, isfinite(o->q_min) && o->q_min >= 0, KITH_INVALID,
               "options.q_min is %g, expected 0 or more", o->q_min);
    KITH_CHECK(ctx, isfinite(o->q_width) && o->q_width > 0, KITH_INVALID,
               "options.q_width is %g, expected more than 0", o->q_width);
    KITH_CHECK(ctx, isfinite(o->q_min + (double)(o->n_q - 1) * o->q_width), KITH_INVALID,
               "options.q_min + (n_q - 1) * q_width exceeds the range of double");
    KITH_CHECK(ctx, points->memory == KITH_HOST, KITH_UNSUPPORTED,
               "points are in device memory, expected in host memory");
    return kith__check_species(ctx, "options.n_species", "options.species", o->species, points->n,
                               o->n_species);
}

/** Numbers of the buffers of the context's scratch memory. */
enum { SORTED = KITH_WORK_OF(debye), SUMS };

/** Check that no distance, and no product of a distance with q, overflows double.
 *  @param d  its xyz are finite */
static kith_status check_extent(kith_ctx *ctx, const struct kith__debye *d, double q_max)
{
    double squares = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t s = 0; s < d->n; s++) {
            low = fmin(low, d->xyz[k][s]);
            high = fmax(high, d->xyz[k][s]);
        }
        squares += d->n > 0 ? (high - low) * (high - low) : 0;
    }
    KITH_CHECK(ctx, isfinite(squares) && isfinite(q_max * sqrt(squares)), KITH_LIMIT,
               "points: the particles are too far apart: their distances squared, or times q up to "
               "%g, exceed the range of double",
               q_max);
    return KITH_OK;
}

/** Sort the particles by species, cut them into pieces, and copy their coordinates in that order.
 *  @param species  [n]; NULL: all are 0
 *  @param[out] d   pieces, first, piece and xyz are set
 *  @return KITH_OK, KITH_NOT_FINITE, KITH_NO_MEMORY or KITH_CANCELLED */
static kith_status sort_by_species(kith_ctx *ctx, const struct kith__question *q,
                                   const int32_t *species, struct kith__debye *d)
{
    const size_t room = (size_t)d->n + KITH_ALIGN / sizeof(double);
    const size_t firsts = (size_t)d->n_species + 2; /* as kith__cut_pieces needs them */
    const size_t pieces = (size_t)kith__most_pieces(d->n, d->n_species, KITH_DEBYE_PIECE);
    double *xyz = kith__work_need(&ctx->work, SORTED,
                                  3 * room * sizeof *xyz + firsts * sizeof *d->first +
                                      pieces * sizeof *d->piece + room * sizeof(int32_t));
    KITH_CHECK(ctx, xyz != NULL, KITH_NO_MEMORY, "out of memory to sort %lld particles by species",
               (long long)d->n);
    int64_t *first = (int64_t *)(void *)(xyz + 3 * room);
    struct kith__piece *piece = (struct kith__piece *)(void *)(first + firsts);
    int32_t *id = (int32_t *)(void *)(piece + pieces);
    d->pieces = kith__cut_pieces(species, d->n, d->n_species, KITH_DEBYE_PIECE, first, id, piece);
    assert((size_t)d->pieces <= pieces && first[d->n_species] == d->n);
    d->first = first;
    d->piece = piece;
    for (int64_t s = 0; s < d->n; s++) {
        enum { COST = 10 }; /* of a particle, for kith__skip [about 1 ns] */
        if (kith__skip(ctx, s, COST)) {
            return kith__proceed(ctx);
        }
        double r[3];
        kith__position(&q->a, q->dim, q->precision, id[s], r);
        if (!isfinite(r[0]) || !isfinite(r[1]) || !isfinite(r[2])) {
            return kith__refuse(ctx, q, "points", KITH_NOT_FINITE, id[s]);
        }
        for (size_t k = 0; k < 3; k++) {
            xyz[k * room + (size_t)s] = r[k];
        }
    }
    for (size_t k = 0; k < 3; k++) {
        /* The padding is read: 0 times the sine of its distance, which must be finite, is added. */
        for (size_t s = (size_t)d->n; s < room; s++) {
            xyz[k * room + s] = d->n > 0 ? xyz[k * room] : 0;
        }
        d->xyz[k] = xyz + k * room;
    }
    return KITH_OK;
}

/** Add the sums of pieces for each pair of species, and divide by q; at q = 0 the sums are numbers
 *  of pairs already.
 *  @param[out] sums  [partials][n_q] sums of sin(q r) / (q r); partials are pairs of species
 *                    (kith__partial) */
static void add_pieces(const struct kith__debye *d, double *sums)
{
    const int32_t kinds = d->n_species;
    memset(sums, 0, (size_t)(kinds * (kinds + 1) / 2 * d->n_q) * sizeof *sums);
    for (int32_t p = 0; p < d->pieces; p++) {
        const int32_t a = d->piece[p].species;
        for (int32_t b = a; b < kinds; b++) {
            const double *from = d->sums + ((int64_t)p * kinds + b) * d->n_q;
            double *to = sums + kith__partial(kinds, false, a, b) * d->n_q;
            for (int64_t k = 0; k < d->n_q; k++) {
                to[k] += from[k];
            }
        }
    }
    for (int64_t at = 0; at < (int64_t)kinds * (kinds + 1) / 2 * d->n_q; at++) {
        const double q = d->q_min + (double)(at % d->n_q) * d->q_width;
        sums[at] /= q > 0 ? q : 1;
    }
}

/** Compute the sums of checked points and options. */
static kith_status sum(kith_ctx *ctx, const struct kith__question *q, const kith_debye_options *o,
                       double *sums)
{
    const double q_max = o->q_min + (double)(o->n_q - 1) * o->q_width;
    struct kith__debye d = {.n = q->a.n,
                            .n_q = o->n_q,
                            .n_species = o->n_species,
                            .q_min = o->q_min,
                            .q_width = o->q_width,
                            .least = 1e-6 / fmax(q_max, o->q_width)};
    KITH_TRY(sort_by_species(ctx, q, o->species, &d));
    KITH_TRY(check_extent(ctx, &d, q_max));
    const size_t rows = (size_t)d.pieces * (size_t)o->n_species * (size_t)o->n_q;
    KITH_CHECK(ctx, rows < (size_t)1 << 31, KITH_LIMIT,
               "%lld particles of %d species at %lld q are too many for Debye's sum",
               (long long)d.n, (int)o->n_species, (long long)o->n_q);
    d.sums = kith__work_need(&ctx->work, SUMS, rows * sizeof *d.sums + KITH_ALIGN);
    KITH_CHECK(ctx, d.sums != NULL, KITH_NO_MEMORY, "out of memory for %lld sums", (long long)rows);
    memset(d.sums, 0, rows * sizeof *d.sums);
    const kith_status status = kith__end_call(ctx, ctx->backend->debye->sum(ctx, &d));
    if (status == KITH_OK) {
        add_pieces(&d, sums);
    }
    return status;
}

/** Check all arguments of kith_debye_sum, and compute the sums. */
static kith_status check_and_sum(kith_ctx *ctx, const kith_points *points,
                                 const kith_debye_options *options, double *sums)
{
    KITH_CHECK(ctx, sums != NULL, KITH_INVALID, "sums is NULL");
    struct kith__question q;
    kith_box space = kith_box_open();
    space.dim = points && !points->z ? 2 : 3;
    KITH_TRY(kith__question_space(ctx, points, NULL, &space, &q));
    KITH_CHECK(ctx, options != NULL, KITH_INVALID, "options is NULL: there is no default n_q");
    kith_debye_options own = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_debye_options_init, options, KITH_DEBYE_OPTIONS_0_1,
                      &own);
    KITH_TRY(check(ctx, points, &own));
    KITH_CHECK(ctx, ctx->backend->debye->sum != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not offer Debye's sum", ctx->name);
    return sum(ctx, &q, &own, sums);
}

kith_status kith_debye_sum(kith_ctx *ctx, const kith_points *points,
                           const kith_debye_options *options, double *sums)
{
    kith_status status;
    KITH_CALL(ctx, &status, check_and_sum(ctx, points, options, sums));
    return status;
}
