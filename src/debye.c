/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public call for Debye's sums: check the arguments, sort the particles by species, ask the
 * backend for the sums of pieces, and add these up.
 */
#include <stdlib.h>
#include <string.h>

#include "backend.h"

void kith_debye_options_init(kith_debye_options *options)
{
    *options = (kith_debye_options){.size = sizeof *options, .n_species = 1};
}

static kith_status check(kith_ctx *ctx, const kith_points *points, const kith_debye_options *o)
{
    enum { MOST_Q = 1 << 20, MOST_SPECIES = 1024 };
    KITH_CHECK(ctx, o != NULL, KITH_INVALID, "options is NULL: there is no default n_q");
    KITH_CHECK(ctx, o->size == sizeof *o, KITH_INVALID,
               "options.size is %zu, expected %zu: fill the struct with kith_debye_options_init",
               o->size, sizeof *o);
    KITH_CHECK(ctx, o->n_q >= 1 && o->n_q <= MOST_Q, KITH_INVALID,
               "options.n_q is %lld, expected 1 to 2^20", (long long)o->n_q);
    KITH_CHECK(ctx, isfinite(o->q_min) && o->q_min >= 0, KITH_INVALID,
               "options.q_min is %g, expected 0 or more", o->q_min);
    KITH_CHECK(ctx, isfinite(o->q_width) && o->q_width > 0, KITH_INVALID,
               "options.q_width is %g, expected more than 0", o->q_width);
    KITH_CHECK(ctx, o->n_species >= 1 && o->n_species <= MOST_SPECIES, KITH_INVALID,
               "options.n_species is %d, expected 1 to 1024", (int)o->n_species);
    KITH_CHECK(ctx, points->memory == KITH_HOST, KITH_UNSUPPORTED,
               "points are in device memory, expected in host memory");
    for (int64_t p = 0; p < points->n && o->species; p++) {
        KITH_CHECK(ctx, o->species[p] >= 0 && o->species[p] < o->n_species, KITH_INVALID,
                   "options.species[%lld] is %d, expected 0 to n_species - 1, %d", (long long)p,
                   (int)o->species[p], (int)o->n_species - 1);
    }
    return KITH_OK;
}

/** Coordinates in order of species. */
static kith_status place(kith_ctx *ctx, const struct kith__question *q, const int32_t *id,
                         double *xyz[3])
{
    const kith_points *points = &q->a;
    const void *const from[3] = {points->x, points->y, points->z};
    for (int k = 0; k < 3; k++) {
        for (int64_t s = 0; s < points->n; s++) {
            const int64_t at = id[s] * points->stride;
            const bool single = points->precision == KITH_FLOAT;
            xyz[k][s] = !from[k] ? 0
                        : single ? (double)((const float *)from[k])[at]
                                 : ((const double *)from[k])[at];
            if (!isfinite(xyz[k][s])) {
                return kith__refuse(ctx, q, "points", KITH_NOT_FINITE, id[s]);
            }
        }
    }
    return KITH_OK;
}

/** Add the sums of pieces up to partials. */
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

/** What the call allocates beside the sums of pieces. */
struct arrays {
    double *xyz;
    int32_t *id, *first32;
    int64_t *first;
    struct kith__piece *piece;
};

static bool need(const kith_points *points, int32_t kinds, struct arrays *a)
{
    const size_t n = (size_t)points->n + KITH_ALIGN / sizeof(double);
    a->xyz = calloc(3 * n, sizeof *a->xyz);
    a->id = malloc(n * sizeof *a->id);
    a->first = malloc(((size_t)kinds + 1) * sizeof *a->first);
    a->first32 = calloc((size_t)kinds + 1, sizeof *a->first32);
    a->piece = malloc((size_t)kith__most_pieces(points->n, kinds, KITH_DEBYE_PIECE) *
                      sizeof *a->piece);
    return a->xyz && a->id && a->first && a->first32 && a->piece;
}

static kith_status sum(kith_ctx *ctx, const struct kith__question *q, const kith_debye_options *o,
                       struct arrays *a, double *sums)
{
    const int64_t n = q->a.n;
    const int64_t room = n + KITH_ALIGN / (int64_t)sizeof(double);
    const double q_max = o->q_min + (double)(o->n_q - 1) * o->q_width;
    double *xyz[3] = {a->xyz, a->xyz + room, a->xyz + 2 * room};
    struct kith__debye d = {.n = n,
                            .n_q = o->n_q,
                            .n_species = o->n_species,
                            .q_min = o->q_min,
                            .q_width = o->q_width,
                            .least = 1e-6 / fmax(q_max, o->q_width),
                            .xyz = {xyz[0], xyz[1], xyz[2]},
                            .first = a->first32,
                            .piece = a->piece};
    d.pieces = kith__cut_pieces(o->species, n, o->n_species, KITH_DEBYE_PIECE, a->first, a->id,
                                a->piece);
    for (int32_t kind = 0; kind < o->n_species; kind++) { /* sorting has moved them on */
        a->first32[kind + 1] = (int32_t)a->first[kind];
    }
    KITH_TRY(place(ctx, q, a->id, xyz));
    const size_t rows = (size_t)d.pieces * (size_t)o->n_species * (size_t)o->n_q;
    KITH_CHECK(ctx, rows < (size_t)1 << 31, KITH_LIMIT,
               "%lld particles of %d species at %lld q are too many for Debye's sum", (long long)n,
               (int)o->n_species, (long long)o->n_q);
    d.sums = kith__alloc(rows * sizeof *d.sums + KITH_ALIGN);
    KITH_CHECK(ctx, d.sums != NULL, KITH_NO_MEMORY, "out of memory for %lld sums", (long long)rows);
    memset(d.sums, 0, rows * sizeof *d.sums);
    const kith_status status = ctx->backend->debye_sum(ctx, &d);
    if (status == KITH_OK) {
        add_pieces(&d, sums);
    }
    free(d.sums);
    return status;
}

kith_status kith_debye_sum(kith_ctx *ctx, const kith_points *points,
                           const kith_debye_options *options, double *sums)
{
    KITH_CHECK(NULL, ctx != NULL, KITH_INVALID, "ctx is NULL");
    ctx->message[0] = '\0';
    KITH_CHECK(ctx, sums != NULL, KITH_INVALID, "sums is NULL");
    struct kith__question q;
    KITH_TRY(kith__question_space(ctx, points, NULL, &q));
    KITH_TRY(check(ctx, points, options));
    KITH_CHECK(ctx, ctx->backend->debye_sum != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not offer Debye's sum", ctx->name);
    struct arrays a = {NULL, NULL, NULL, NULL, NULL};
    const kith_status status = need(points, options->n_species, &a)
                                   ? sum(ctx, &q, options, &a, sums)
                                   : kith__fail(ctx, KITH_NO_MEMORY,
                                                "out of memory to sort %lld particles by species",
                                                (long long)points->n);
    free(a.xyz);
    free(a.id);
    free(a.first);
    free(a.first32);
    free(a.piece);
    return status;
}
