/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of the distances to nearest images whose last edge is beyond half the box: sorts the
 * particles by species, cuts them into pieces, and counts every pair of pieces
 * (all_pairs_kernel.c). O(n^2).
 */
#include "all_pairs.h"

#include <string.h>

#include "engine/cpu/run.h"

/* Side of the box in units of kith__by_species.fraction: 2^32. */
static const double whole_side = 4294967296.0;

/** Allocate a set's arrays in one buffer of the context's scratch memory. Those of particles are
 *  padded by at least 3 KITH_LANES elements: count_row of all_pairs_kernel.c reads up to 2 W of
 *  `fraction` beyond n, which are 0.
 *  @param n       particles of the set
 *  @param buffer  number of the buffer */
static kith_status need(kith_ctx *ctx, const struct kith__question *q, int64_t n, int32_t n_species,
                        int buffer, struct kith__by_species *sorted)
{
    const size_t padded = ((size_t)n + (size_t)4 * KITH_LANES) / KITH_LANES * KITH_LANES;
    const size_t pieces = (size_t)kith__most_pieces(n, n_species, KITH_PIECE);
    const size_t each = 3 * (size_t)q->precision + 4 * sizeof(int32_t);
    const size_t firsts = ((size_t)n_species + 2) * sizeof(int64_t);
    char *at = kith__work_need(&ctx->work, buffer,
                               padded * each + firsts + pieces * sizeof *sorted->piece);
    KITH_CHECK(ctx, at != NULL, KITH_NO_MEMORY, "out of memory to sort %lld particles by species",
               (long long)n);
    for (int k = 0; k < 3; k++, at += padded * (size_t)q->precision) {
        sorted->xyz[k] = at;
    }
    for (int k = 0; k < 3; k++, at += padded * sizeof(int32_t)) {
        sorted->fraction[k] = (int32_t *)(void *)at;
        memset(at, 0, padded * sizeof(int32_t));
    }
    sorted->id = (int32_t *)(void *)at;
    sorted->first = (int64_t *)(void *)(at + padded * sizeof(int32_t));
    sorted->piece = (struct kith__piece *)(void *)((char *)sorted->first + firsts);
    sorted->n = n;
    return KITH_OK;
}

/** Set xyz and fraction of a set, whose particles are sorted by species (sorted->id).
 *  @return KITH_OK or KITH_CANCELLED */
static kith_status write_coordinates(kith_ctx *ctx, const struct kith__question *q,
                                     const kith_points *points, struct kith__by_species *sorted)
{
    for (int64_t s = 0; s < sorted->n; s++) {
        enum { COST = 50 }; /* cost of a particle, for kith__skip [about 1 ns] */
        if (kith__skip(ctx, s, COST)) {
            break;
        }
        double r[3], f[3];
        int32_t image[3];
        (void)kith__load(q, points, sorted->id[s], r, image); /* kith__bounds_check has passed */
        kith__fractions_d(&q->box_d, r, f);
        for (int k = 0; k < 3; k++) {
            const double whole = q->box_d.periodic[k] ? f[k] * whole_side : 0;
            kith__set_real(sorted->xyz[k], s, q->precision, r[k]);
            /* by way of uint32_t, as a fraction rounded to 1 is to wrap to 0 */
            sorted->fraction[k][s] = (int32_t)(uint32_t)(int64_t)(whole + 0.5);
        }
    }
    return kith__proceed(ctx);
}

/** Sort one set by species, and cut it into pieces. @param set  0: a; 1: b */
static kith_status sort_set(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__rdf *rdf, int set, struct kith__by_species *sorted)
{
    const kith_points *points = set ? &q->b : &q->a;
    KITH_TRY(need(ctx, q, points->n, rdf->n_species, KITH_RDF_POINTS + set, sorted));
    sorted->pieces = kith__cut_pieces(rdf->species[set], points->n, rdf->n_species, KITH_PIECE,
                                      sorted->first, sorted->id, sorted->piece);
    return write_coordinates(ctx, q, points, sorted);
}

/**
 * Return a bound on the error of r / cutoff up to the cutoff, relative to the definition. With u =
 * 2^-24: components are converted to float (2 u of their squares), squared, weighted with a rounded
 * ratio, and added twice; without FMA the product is rounded too: 7 u of r^2, so 3.5 u of r. The
 * definition rounds squares and two sums by half an epsilon of the points' precision each; folding
 * a difference of more than half a box is exact. Fractions are rounded, and the definition rounds
 * differences of up to a box: both move the end of the vector.
 */
static double error_bound(const struct kith__question *q)
{
    const double u = 1 / 16777216.0;
    const double epsilon = kith__epsilon(q);
    double diagonal = 0;
    for (int k = 0; k < q->dim; k++) {
        diagonal += q->box_d.row[k][k] * q->box_d.row[k][k];
    }
    return sqrt(diagonal) / q->cutoff * (epsilon / 2 + 2 / whole_side) + 3.5 * u + 0.75 * epsilon;
}

kith_status kith__nearest_tally(kith_ctx *ctx, const struct kith__question *q,
                                const struct kith__scale *scale)
{
    const struct kith__rdf *rdf = scale->rdf;
    const double side = q->box_d.row[0][0];
    double error = error_bound(q);
    struct kith__all_pairs all = {
        .scale = scale, .unit = side / q->cutoff / whole_side, .cross = q->cross};
    for (int k = 1; k < 3; k++) {
        const double ratio = q->box_d.periodic[k] ? q->box_d.row[k][k] / side : 0;
        all.weight[k - 1] = (float)(ratio * ratio);
        if (ratio > 1e9 || (ratio > 0 && ratio < 1e-15)) { /* beyond the range of floats */
            error = INFINITY;
        }
    }
    all.error = (float)error;
    all.error2 = (float)(error * (2 + error));
    KITH_TRY(sort_set(ctx, q, rdf, 0, &all.a));
    all.b = all.a;
    if (q->cross) {
        KITH_TRY(sort_set(ctx, q, rdf, 1, &all.b));
    }
    const int64_t square = (int64_t)all.a.pieces * all.b.pieces;
    const int64_t tasks = q->cross ? square : ((int64_t)all.a.pieces + 1) * all.a.pieces / 2;
    static kith__work_fn *const kernel[] = {KITH_EACH_ISA(tally_pieces)};
    struct kith__run run = kith__run_of(ctx, tasks);
    run.block = kernel[kith__isa(ctx)];
    run.job = &all;
    return tasks > 0 ? kith__run(&run) : KITH_OK;
}
