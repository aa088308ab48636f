/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Public entry of pair-distance histograms: checks the arguments once, calls the backend for one
 * frame, and adds the frame to the histogram, with the counts expected of an ideal gas.
 */
#include <string.h>

#include "core/sized.h"
#include "histogram.h"
#include "pair_force.h"

/* Most bins, and most bins of all partials together. */
enum { MOST_BINS = 1 << 20, MOST_COUNTERS = 1 << 24 };

/* Size of the struct in the version that brought it (core/sized.h) [bytes]. */
enum { KITH_RDF_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_rdf_options, forces_against) };

static const kith_rdf_options defaults = {
    .size = sizeof(kith_rdf_options), .bins = 200, .n_species = 1};

/* kith_rdf_options_init_sized, kith_rdf_options_init */
KITH_INIT_CALLS(kith_rdf_options, KITH_RDF_OPTIONS_0_1)

static kith_status check_edges(kith_ctx *ctx, const kith_rdf_options *o)
{
    KITH_CHECK(ctx, o->bins >= 1 && o->bins <= MOST_BINS, KITH_INVALID,
               "options.bins is %lld, expected 1 to 2^20", (long long)o->bins);
    if (!o->edges) {
        KITH_CHECK(ctx, isfinite(o->r_max) && o->r_max > 0, KITH_INVALID,
                   "options.r_max is %g, expected a positive, finite length", o->r_max);
        KITH_CHECK(ctx, o->r_min >= 0 && o->r_min < o->r_max, KITH_INVALID,
                   "options.r_min is %g, expected 0 or more and less than r_max, %g", o->r_min,
                   o->r_max);
        return KITH_OK;
    }
    for (int64_t k = 0; k <= o->bins; k++) {
        KITH_CHECK(ctx, isfinite(o->edges[k]) && o->edges[k] >= 0, KITH_INVALID,
                   "options.edges[%lld] is %g, expected a finite length, 0 or more", (long long)k,
                   o->edges[k]);
        KITH_CHECK(ctx, k == 0 || o->edges[k] > o->edges[k - 1], KITH_INVALID,
                   "options.edges[%lld] is %g, no more than the one before it", (long long)k,
                   o->edges[k]);
    }
    return KITH_OK;
}

/** Check the bonded partners of n particles. @param m  number of particles that partners may be */
static kith_status check_bonds(kith_ctx *ctx, const kith_rdf_options *o, int64_t n, int64_t m)
{
    const int64_t *offsets = o->bond_offsets;
    if (!offsets) {
        return KITH_OK;
    }
    KITH_CHECK(ctx, offsets[0] >= 0, KITH_INVALID, "options.bond_offsets[0] is %lld",
               (long long)offsets[0]);
    for (int64_t p = 0; p < n; p++) {
        KITH_CHECK(ctx, offsets[p + 1] >= offsets[p], KITH_INVALID,
                   "options.bond_offsets[%lld] is less than the one before it", (long long)p + 1);
    }
    KITH_CHECK(ctx, o->bonds || offsets[n] == offsets[0], KITH_INVALID, "options.bonds is NULL");
    for (int64_t at = offsets[0]; at < offsets[n] && o->bonds; at++) {
        KITH_CHECK(ctx, o->bonds[at] >= 0 && o->bonds[at] < m, KITH_INVALID,
                   "options.bonds[%lld] is %d, expected 0 to %lld", (long long)at,
                   (int)o->bonds[at], (long long)m - 1);
    }
    return KITH_OK;
}

/** Check that weights are finite. @param[out] largest  the largest |w| */
static kith_status check_weights(kith_ctx *ctx, const char *name, const double *weights, int64_t n,
                                 double *largest)
{
    *largest = 0;
    for (int64_t p = 0; p < n; p++) {
        KITH_CHECK(ctx, isfinite(weights[p]), KITH_NOT_FINITE,
                   "options.%s: the weight of particle %lld (counted from 0) is not finite", name,
                   (long long)p);
        *largest = fmax(*largest, fabs(weights[p]));
    }
    return KITH_OK;
}

/** Check the weights, and set rdf->weight_scale. */
static kith_status scale_weights(kith_ctx *ctx, const struct kith__question *q,
                                 struct kith__rdf *rdf)
{
    enum { BITS = 62, MOST = 1000 };
    double most[2];
    KITH_TRY(check_weights(ctx, "weights", rdf->weights[0], q->a.n, &most[0]));
    KITH_TRY(check_weights(ctx, "weights_against", rdf->weights[1], q->b.n, &most[1]));
    KITH_CHECK(ctx, isfinite(most[0] * most[1]), KITH_INVALID,
               "options.weights: products overflow");
    int exponent;
    (void)frexp(most[0] * most[1], &exponent);
    rdf->weight_scale = ldexp(1, BITS - exponent < MOST ? BITS - exponent : MOST);
    return KITH_OK;
}

static kith_status check_options(kith_ctx *ctx, const kith_rdf_options *o,
                                 const struct kith__question *q, struct kith__rdf *rdf)
{
    const bool cross = q->cross;
    KITH_CHECK(ctx,
               !cross ||
                   (!o->species == !o->species_against && !o->molecules == !o->molecules_against &&
                    !o->weights == !o->weights_against),
               KITH_INVALID,
               "options: species, molecules and weights are given for both sets or for none");
    const int32_t n = o->n_species;
    static const char *const count = "options.n_species";
    KITH_TRY(kith__check_species(ctx, count, "options.species", o->species, q->a.n, n));
    *rdf = (struct kith__rdf){
        .bins = o->bins,
        .n_species = n,
        .partials = cross ? n * n : n * (n + 1) / 2,
        .linear = !o->edges,
        .r_min = o->r_min,
        .width = (o->r_max - o->r_min) / (double)o->bins,
        .species = {o->species, cross ? o->species_against : o->species},
        .molecules = {o->molecules, cross ? o->molecules_against : o->molecules},
        .bond_offsets = o->bond_offsets,
        .bonds = o->bonds,
        .weights = {o->weights, cross ? o->weights_against : o->weights},
        .dim = q->dim,
    };
    KITH_CHECK(ctx, rdf->partials * rdf->bins <= MOST_COUNTERS, KITH_LIMIT,
               "%d histograms of %lld bins are more than 2^24 counters", (int)rdf->partials,
               (long long)rdf->bins);
    KITH_TRY(
        kith__check_species(ctx, count, "options.species_against", rdf->species[1], q->b.n, n));
    KITH_TRY(check_bonds(ctx, o, q->a.n, q->b.n));
    return rdf->weights[0] ? scale_weights(ctx, q, rdf) : KITH_OK;
}

/** Set rdf->nearest: true when images beside the nearest are within the last edge, and the options
 *  exclude them. Check that the box allows that. */
static kith_status check_nearest(kith_ctx *ctx, const kith_rdf_options *o,
                                 const struct kith__question *q, struct kith__rdf *rdf)
{
    static const double almost = 1 - 1e-5;
    bool all_periodic = true;
    for (int k = 0; k < q->dim; k++) {
        const bool periodic = q->box_d.periodic[k] != 0;
        all_periodic = all_periodic && periodic;
        rdf->nearest = rdf->nearest ||
                       (o->minimum_image && periodic && 2 * q->cutoff >= almost * q->height[k]);
    }
    KITH_CHECK(ctx, !rdf->nearest || (all_periodic && q->box_d.orthorhombic), KITH_INVALID,
               "options.minimum_image: r_max is %g, beyond half the box, which is offered for "
               "orthorhombic boxes periodic on all axes",
               q->cutoff);
    KITH_CHECK(ctx, !rdf->nearest || !o->forces, KITH_INVALID,
               "options.forces: r_max is %g, beyond half the box, where shells are cut", q->cutoff);
    return KITH_OK;
}

/** Round the edges of a histogram to the precision of the points, and square them in it.
 *  @param[out] edge2  [bins + 1] in the points' precision [length^2] */
static void square_edges(const struct kith__question *q, const kith_histogram *h, void *edge2)
{
    for (int64_t k = 0; k <= h->bins; k++) {
        const double edge = kith__rounded(h->edges[k], q->precision);
        kith__set_real(edge2, k, q->precision, edge * edge);
    }
}

/** Return the volume of the box, in 2-D its area [length^dim]; NaN when an axis is open. */
static double volume_of(const struct kith__question *q)
{
    const double(*r)[3] = q->box_d.row;
    double volume = fabs(r[0][0] * r[1][1] - r[0][1] * r[1][0]);
    if (q->dim == 3) {
        volume = fabs(r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                      r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                      r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]));
    }
    for (int k = 0; k < q->dim; k++) {
        volume = q->box_d.periodic[k] ? volume : (double)NAN;
    }
    return volume;
}

/** Add the number of particles of each species to counts. */
static void count_species(const int32_t *species, int64_t n, int64_t *counts)
{
    if (!species) {
        counts[0] += n;
        return;
    }
    for (int64_t p = 0; p < n; p++) {
        counts[species[p]]++;
    }
}

/** Add the pair-force sums of a partial, and the density of its pairs, to the histogram.
 *  @param density  pairs / volume [1 / length^dim] */
static void add_force_sums(const struct kith__rdf *rdf, const struct kith__frame *frame,
                           int32_t partial, double density, kith_histogram *out)
{
    const int64_t begin = kith__force_sum_at(rdf, partial, 0, 0);
    const int64_t end = kith__force_sum_at(rdf, partial + 1, 0, 0);
    for (int64_t at = begin; at < end && out->pushes; at++) {
        out->pushes[at] += frame->force_sums[at];
    }
    if (out->density) {
        out->density[partial] += density;
    }
}

/** Add the counts of a frame, and those expected of as many particles distributed uniformly. */
static void add_frame(const struct kith__question *q, const struct kith__rdf *rdf,
                      const struct kith__frame *frame, kith_histogram *out)
{
    const int64_t n = out->n_species;
    int64_t *here = frame->members;
    int64_t *there = q->cross ? here + n : here;
    count_species(rdf->species[0], q->a.n, here);
    if (q->cross) {
        count_species(rdf->species[1], q->b.n, there);
    }
    const double volume = volume_of(q);
    for (int32_t a = 0; a < n; a++) {
        out->centres[a] += here[a];
        for (int32_t b = q->cross ? 0 : a; b < n; b++) {
            const int32_t partial = kith__partial((int32_t)n, q->cross, a, b);
            const int64_t pairs = !q->cross && a == b ? here[a] * (here[a] - 1) / 2
                                                      : here[a] * there[b];
            out->pairs[partial] += pairs;
            add_force_sums(rdf, frame, partial, (double)pairs / volume, out);
            for (int64_t k = 0; k < out->bins; k++) {
                const int64_t at = partial * out->bins + k;
                out->counts[at] += frame->counts[at];
                out->ideal[at] += (double)pairs * frame->volumes[k] / volume;
                if (out->sums) {
                    out->sums[at] += frame->sums[at];
                }
            }
        }
    }
    out->frames++;
}

/** Compute the volumes of the frame's shells; with rdf->nearest, of the part of each shell inside
 *  the box around its centre, where nearest images are. */
static kith_status measure_shells(kith_ctx *ctx, const struct kith__question *q,
                                  const struct kith__rdf *rdf, const kith_histogram *h,
                                  double *volumes)
{
    kith_box box = {.dim = q->dim};
    for (int k = 0; k < 3; k++) {
        box.periodic[k] = q->box_d.periodic[k];
        memcpy(box.row[k], q->box_d.row[k], sizeof box.row[k]);
    }
    return kith__shell_volumes(ctx, &box, rdf->nearest, h->bins, h->edges, volumes);
}

static kith_status count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                         const kith_rdf_options *options, kith_histogram *out)
{
    KITH_TRY(kith__check_flag(ctx, "options.minimum_image", options->minimum_image));
    KITH_TRY(check_edges(ctx, options));
    struct kith__question q;
    KITH_TRY(kith__question_init(ctx, points, options->against, box,
                                 kith__edge(options, options->bins), &q));
    struct kith__rdf rdf;
    KITH_TRY(check_options(ctx, options, &q, &rdf));
    KITH_TRY(check_nearest(ctx, options, &q, &rdf));
    KITH_TRY(options->forces ? kith__forces_check(ctx, options, &q, &rdf) : KITH_OK);
    KITH_CHECK(ctx, ctx->backend->rdf->count != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not count pairs by distance", ctx->name);
    const kith_histogram shape = {.bins = rdf.bins,
                                  .n_species = rdf.n_species,
                                  .partials = rdf.partials,
                                  .against = q.cross,
                                  .size = out->size,
                                  .dim = q.dim};
    struct kith__frame frame;
    KITH_TRY(kith__histogram_need(ctx, &shape, options, out, &frame));
    square_edges(&q, out, frame.edge2);
    KITH_TRY(measure_shells(ctx, &q, &rdf, out, frame.volumes));
    rdf.edges = out->edges;
    rdf.edge2 = frame.edge2;
    rdf.counts = frame.counts;
    rdf.sums = frame.sums;
    rdf.force_sums = frame.force_sums;
    if (options->forces) {
        kith__force_units(&q, out->edges, frame.force_over, &rdf);
    }
    KITH_TRY(kith__end_call(ctx, ctx->backend->rdf->count(ctx, &q, &rdf)));
    add_frame(&q, &rdf, &frame, out);
    return KITH_OK;
}

/** Count by options of full size into a struct of full size. */
static kith_status count_into(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              const kith_rdf_options *options, kith_histogram *out)
{
    KITH_CHECK(ctx, options != NULL, KITH_INVALID, "options is NULL: there is no default r_max");
    kith_rdf_options own_options = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_rdf_options_init, options, KITH_RDF_OPTIONS_0_1,
                      &own_options);
    kith_histogram own;
    KITH_RESULT_READ(ctx, out, KITH_HISTOGRAM_0_1, &own);
    const kith_status status = count(ctx, points, box, &own_options, &own);
    KITH_RESULT_WRITE(&own, KITH_HISTOGRAM_0_1, out);
    return status;
}

kith_status kith_rdf_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           const kith_rdf_options *options, kith_histogram *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, count_into(ctx, points, box, options, out));
    return status;
}
