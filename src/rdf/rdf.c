/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Public entry of pair-distance histograms: checks the arguments once, calls the backend for one
 * frame, and adds the frame to the histogram, with the counts expected of an ideal gas. A frame is
 * one configuration of the particles: one call, or one system of a batch (engine/batch.h).
 */
#include <string.h>

#include "core/sized.h"
#include "engine/batch.h"
#include "histogram.h"
#include "pair_force.h"

/* Most bins, and most bins of all partials together. */
enum { MOST_BINS = 1 << 20, MOST_COUNTERS = 1 << 24 };

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_RDF_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_rdf_options, forces_against) };

static const kith_rdf_options defaults = {
    .size = sizeof(kith_rdf_options), .bins = 200, .n_species = 1};

/* kith_rdf_options_init_sized, kith_rdf_options_init */
KITH_INIT_CALLS(kith_rdf_options, KITH_RDF_OPTIONS_0_1)

/** Check the options that give the edges of the bins. */
static kith_status check_edges(kith_ctx *ctx, const kith_rdf_options *o)
{
    KITH_CHECK(ctx, o->bins >= 1 && o->bins <= MOST_BINS, KITH_INVALID,
               "options.bins is %lld, expected 1 to 2^20", (long long)o->bins);
    if (!o->edges) {
        KITH_CHECK(ctx, isfinite(o->r_max) && o->r_max > 0, KITH_INVALID,
                   "options.r_max is %g, expected a positive, finite length", o->r_max);
        KITH_CHECK(ctx, o->r_min >= 0 && o->r_min < o->r_max, KITH_INVALID,
                   "options.r_min is %g, expected 0 or more and less than options.r_max, %g",
                   o->r_min, o->r_max);
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

/** Set rdf->weight_scale, from the largest weights: the power of 2 that brings each product of
 *  weights below 2^BITS, so that an int64_t holds it. At most 2^MOST, which is finite in double,
 *  for products that are tiny or 0. */
static kith_status scale_weights(kith_ctx *ctx, struct kith__rdf *rdf)
{
    enum { BITS = 62, MOST = 1000 };
    const double *most = rdf->most_weight;
    KITH_CHECK(ctx, isfinite(most[0] * most[1]), KITH_INVALID,
               "options.weights: products overflow");
    int exponent;
    (void)frexp(most[0] * most[1], &exponent);
    rdf->weight_scale = ldexp(1, BITS - exponent < MOST ? BITS - exponent : MOST);
    return KITH_OK;
}

/** Check the options other than the edges, and copy them to *rdf. rdf->nearest, the edges, the
 *  forces and the arrays to write are not set yet. */
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
        .excluded = {.molecules = {o->molecules, cross ? o->molecules_against : o->molecules},
                     .bond_offsets = o->bond_offsets,
                     .bonds = o->bonds},
        .weights = {o->weights, cross ? o->weights_against : o->weights},
        .dim = q->dim,
    };
    KITH_CHECK(ctx, rdf->partials * rdf->bins <= MOST_COUNTERS, KITH_LIMIT,
               "%d histograms of %lld bins are more than 2^24 counters", (int)rdf->partials,
               (long long)rdf->bins);
    KITH_TRY(
        kith__check_species(ctx, count, "options.species_against", rdf->species[1], q->b.n, n));
    KITH_TRY(kith__check_bonds(ctx, o->bond_offsets, o->bonds, q->a.n, q->b.n));
    if (!rdf->weights[0]) {
        return KITH_OK;
    }
    KITH_TRY(check_weights(ctx, "weights", rdf->weights[0], q->a.n, &rdf->most_weight[0]));
    KITH_TRY(check_weights(ctx, "weights_against", rdf->weights[1], q->b.n, &rdf->most_weight[1]));
    return scale_weights(ctx, rdf);
}

/** Set rdf->nearest, which is false before: true when images beside the nearest may be within the
 *  last edge, and the options exclude them. Check that the box allows that. */
static kith_status check_nearest(kith_ctx *ctx, const kith_rdf_options *o,
                                 const struct kith__question *q, struct kith__rdf *rdf)
{
    /* Slightly below half the box, a second image may still be within the last edge, as distances,
     * edges and the box are rounded: in float by some 2^-24 of the box. 1e-5 is far more. */
    static const double almost = 1 - 1e-5;
    bool all_periodic = true;
    for (int k = 0; k < q->dim; k++) {
        const bool periodic = q->box_d.periodic[k] != 0;
        all_periodic = all_periodic && periodic;
        rdf->nearest = rdf->nearest ||
                       (o->minimum_image && periodic && 2 * q->cutoff >= almost * q->height[k]);
    }
    KITH_CHECK(
        ctx, !rdf->nearest || (all_periodic && q->box_d.orthorhombic), KITH_INVALID,
        "options.minimum_image: options.r_max is %g, beyond half the box, which is offered for "
        "orthorhombic boxes periodic on all axes",
        q->cutoff);
    KITH_CHECK(ctx, !rdf->nearest || !o->forces, KITH_INVALID,
               "options.forces: options.r_max is %g, beyond half the box, where shells are cut",
               q->cutoff);
    return KITH_OK;
}

/** Round the edges of a histogram to the precision of the points, and round their squares to it.
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

/** Add the number of particles of each species to counts.
 *  @param species  [n]; NULL: all are 0 */
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

/** Add the number of particles of each species of both sets to members, [2][n_species]. */
static void count_members(const struct kith__question *q, const struct kith__rdf *rdf,
                          int64_t *members)
{
    count_species(rdf->species[0], q->a.n, members);
    if (q->cross) {
        count_species(rdf->species[1], q->b.n, members + rdf->n_species);
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

/** Add the counts of a frame, and those expected of as many particles distributed uniformly.
 *  frame->members are set. */
static void add_frame(const struct kith__question *q, const struct kith__rdf *rdf,
                      const struct kith__frame *frame, kith_histogram *out)
{
    const int64_t n = out->n_species;
    const int64_t *here = frame->members;
    const int64_t *there = q->cross ? here + n : here;
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

/* --------------------------------------------------------------------------------------- batch */

/* Buffers of a lane, the context that counts a group of systems (engine/batch.h): a context of one
 * thread, or for a large system that of the call. They hold the counted systems that are not added
 * to the histogram yet, struct kept, and their arrays. */
enum { KEPT = KITH_BATCH_LANE, ARRAYS };

/* Memory for the arrays of counted systems, from which on a lane adds them to the histogram before
 * it counts the next one [bytes]. */
static const size_t most_kept = (size_t)16 << 20;

/** State of the loop over the systems of a batch, each of which is a frame. */
struct frames {
    struct kith__group_loop loop;    /**< the loop over the systems */
    const kith_rdf_options *options; /**< the options, with the arrays of all systems */
    const void *edge2;               /**< [bins + 1] squared edges, in the points' precision
                                          [length^2] */
    const double *volumes;           /**< [bins] volumes of whole shells [length^dim] */
    kith_histogram *out;             /**< the histogram */
};

/** A system that has been counted, and is added to the histogram later. */
struct kept {
    struct kith__question question; /**< its particles and box */
    struct kith__rdf rdf;           /**< its options */
    struct kith__frame frame;       /**< its arrays, in a buffer of the lane */
};

/** Return the options of one system: the arrays from its first particle on. */
static kith_rdf_options options_of(const struct frames *frames, int64_t system)
{
    const struct kith__batch *batch = frames->loop.batch;
    kith_rdf_options own = *frames->options;
    const int64_t a = batch->a[system];
    const int64_t b = batch->b[system];
    const size_t real = (size_t)batch->whole.precision;
    own.species = own.species ? own.species + a : NULL;
    own.molecules = own.molecules ? own.molecules + a : NULL;
    own.weights = own.weights ? own.weights + a : NULL;
    own.forces = own.forces ? (const char *)own.forces + 3 * (size_t)a * real : NULL;
    own.species_against = own.species_against ? own.species_against + b : NULL;
    own.molecules_against = own.molecules_against ? own.molecules_against + b : NULL;
    own.weights_against = own.weights_against ? own.weights_against + b : NULL;
    own.forces_against = own.forces_against
                             ? (const char *)own.forces_against + 3 * (size_t)b * real
                             : NULL;
    return own;
}

/** Return pointers to the arrays of one frame (kith__frame_lay_out). edge2 is NULL: all systems
 *  share frames->edge2. */
static struct kith__frame lay_out_frame(const struct frames *frames, char *memory, size_t *at)
{
    const kith_histogram *h = frames->out;
    struct kith__frame frame = {.edge2 = NULL};
    kith__frame_lay_out(h, h->sums != NULL, h->pushes != NULL, memory, at, &frame);
    return frame;
}

/** Count one system into the arrays of kept->frame, which are zero.
 *  @param lane        context of one thread, or of the call for a large system
 *  @param[out] kept   question and rdf are set, and all arrays of frame are filled */
static kith_status count_system(kith_ctx *lane, const struct frames *frames, int64_t system,
                                struct kept *kept)
{
    const kith_rdf_options options = options_of(frames, system);
    const kith_histogram *h = frames->out;
    struct kith__question *q = &kept->question;
    struct kith__rdf *rdf = &kept->rdf;
    KITH_TRY(kith__batch_question(lane, frames->loop.batch, system, q));
    KITH_TRY(check_options(lane, &options, q, rdf));
    KITH_TRY(check_nearest(lane, &options, q, rdf));
    if (options.forces) {
        KITH_TRY(kith__forces_measure(lane, &options, q, rdf));
        KITH_TRY(kith__forces_check(lane, q, rdf));
    }
    if (rdf->nearest) {
        KITH_TRY(measure_shells(lane, q, rdf, h, kept->frame.volumes));
    } else {
        memcpy(kept->frame.volumes, frames->volumes, (size_t)h->bins * sizeof(double));
    }
    count_members(q, rdf, kept->frame.members);
    rdf->edges = h->edges;
    rdf->edge2 = frames->edge2;
    rdf->counts = kept->frame.counts;
    rdf->sums = kept->frame.sums;
    rdf->force_sums = kept->frame.force_sums;
    if (options.forces) {
        kith__force_units(q, h->edges, kept->frame.force_over, rdf);
    }
    return lane->backend->rdf->count(lane, q, rdf);
}

/** Count systems [first, last) of a group, and add them when all earlier groups are added: sums of
 *  doubles then do not depend on the number of threads. */
static kith_status count_systems(kith_ctx *lane, const struct kith__group *group,
                                 struct frames *frames, int64_t first, int64_t last)
{
    size_t each = 0;
    size_t at = 0;
    (void)lay_out_frame(frames, NULL, &each);
    const size_t n = (size_t)(last - first);
    struct kept *kept = kith__work_need(&lane->work, KEPT, n * sizeof *kept);
    char *arrays = kith__work_need(&lane->work, ARRAYS, n * each);
    KITH_CHECK(lane, kept && arrays, KITH_NO_MEMORY, "out of memory for the counts of systems");
    memset(arrays, 0, n * each);
    for (int64_t s = first; s < last; s++) {
        kept[s - first].frame = lay_out_frame(frames, arrays, &at);
        KITH_TRY(kith__batch_failed(lane, s, count_system(lane, frames, s, &kept[s - first])));
    }
    if (!kith__batch_turn(&frames->loop, lane, group)) {
        return KITH_CANCELLED;
    }
    for (int64_t s = first; s < last; s++) {
        const struct kept *of = &kept[s - first];
        add_frame(&of->question, &of->rdf, &of->frame, frames->out);
    }
    return KITH_OK;
}

/** kith__group_fn: count the systems of a group, some at a time so that their arrays fit
 *  most_kept, and add them. */
static kith_status count_group(kith_ctx *lane, const struct kith__group *group, void *state)
{
    struct frames *frames = state;
    size_t each = 0;
    (void)lay_out_frame(frames, NULL, &each);
    const int64_t fit = (int64_t)(most_kept / each) + 1;
    for (int64_t s = group->first, last; s < group->last; s = last) {
        last = group->last - s < fit ? group->last : s + fit;
        KITH_TRY(count_systems(lane, group, frames, s, last));
    }
    /* a group without systems waits for its turn, too, before it ends the turn */
    if (group->first == group->last && !kith__batch_turn(&frames->loop, lane, group)) {
        return KITH_CANCELLED;
    }
    kith__batch_next(&frames->loop, group);
    return KITH_OK;
}

/** Return true when a backend may count the pairs of all systems together. */
static bool counts_together(const kith_ctx *ctx, const kith_rdf_options *o)
{
    return ctx->backend->rdf->count_batch && !o->molecules && !o->weights && !o->forces;
}

/** Count all systems by one operation of the backend, and add each as a frame.
 *  @param frame  its counts receive the pairs of all systems together */
static kith_status count_together(kith_ctx *ctx, const struct kith__batch *batch,
                                  const struct kith__rdf *rdf, struct kith__frame *frame,
                                  kith_histogram *out)
{
    KITH_TRY(ctx->backend->rdf->count_batch(ctx, batch, rdf));
    for (int64_t s = 0; s < batch->systems; s++) {
        struct kith__question q;
        struct kith__rdf own = *rdf;
        KITH_TRY(kith__batch_failed(ctx, s, kith__batch_question(ctx, batch, s, &q)));
        own.species[0] = rdf->species[0] ? rdf->species[0] + batch->a[s] : NULL;
        own.species[1] = rdf->species[1] ? rdf->species[1] + batch->b[s] : NULL;
        memset(frame->members, 0, 2 * (size_t)rdf->n_species * sizeof *frame->members);
        count_members(&q, &own, frame->members);
        add_frame(&q, rdf, frame, out);
        if (s == 0) { /* the counts are those of all systems: they are added once */
            memset(frame->counts, 0,
                   (size_t)rdf->partials * (size_t)out->bins * sizeof *frame->counts);
        }
    }
    return KITH_OK;
}

/** Count all systems of a batch, and add them to the histogram: together where the backend offers
 *  that and no system needs nearest images alone, else one by one. */
static kith_status add_systems(kith_ctx *ctx, const struct kith__batch *batch,
                               const kith_rdf_options *options, const struct kith__rdf *rdf,
                               struct kith__frame *frame, kith_histogram *out)
{
    bool nearest = false;
    for (int64_t s = 0; s < batch->systems && options->minimum_image; s++) {
        struct kith__question q;
        struct kith__rdf own = *rdf;
        KITH_TRY(kith__batch_failed(ctx, s, kith__batch_question(ctx, batch, s, &q)));
        KITH_TRY(kith__batch_failed(ctx, s, check_nearest(ctx, options, &q, &own)));
        nearest = nearest || own.nearest;
    }
    if (!nearest && batch->systems > 0 && counts_together(ctx, options)) {
        return count_together(ctx, batch, rdf, frame, out);
    }
    struct frames frames = {
        .options = options, .edge2 = frame->edge2, .volumes = frame->volumes, .out = out};
    KITH_TRY(kith__batch_groups(ctx, batch, &frames.loop));
    frames.loop.fn = count_group;
    frames.loop.state = &frames;
    return kith__batch_loop(&frames.loop);
}

/** Return what messages call the largest distance that is counted. */
static const char *cutoff_name(const kith_rdf_options *options)
{
    return options->edges ? "the last of options.edges" : "options.r_max";
}

/** Count the systems of a batch. On failure none of them is added to the histogram. */
static kith_status count_batch(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                               const kith_rdf_options *options, kith_histogram *out)
{
    const double cutoff = kith__edge(options, options->bins);
    struct kith__batch batch;
    struct kith__rdf rdf;
    struct kith__frame frame;
    KITH_TRY(kith__batch_read(ctx, "options.batch", options->batch, points, options->against, box,
                              cutoff, cutoff_name(options), &batch));
    KITH_CHECK(ctx, !options->bond_offsets, KITH_UNSUPPORTED,
               "options.bond_offsets: bonds are not offered with options.batch: exclude pairs by "
               "molecules");
    KITH_TRY(kith__end_call(ctx, kith__batch_fetch(ctx, &batch)));
    KITH_TRY(check_options(ctx, options, &batch.whole, &rdf));
    const kith_histogram shape = {.bins = rdf.bins,
                                  .n_species = rdf.n_species,
                                  .partials = rdf.partials,
                                  .against = batch.whole.cross,
                                  .size = out->size,
                                  .dim = batch.whole.dim};
    KITH_TRY(kith__histogram_need(ctx, &shape, options, out, &frame));
    square_edges(&batch.whole, out, frame.edge2);
    const kith_box whole = {.dim = batch.whole.dim};
    KITH_TRY(kith__shell_volumes(ctx, &whole, 0, out->bins, out->edges, frame.volumes));
    rdf.edges = out->edges;
    rdf.edge2 = frame.edge2;
    rdf.counts = frame.counts;
    void *before = kith__histogram_save(out);
    KITH_CHECK(ctx, before != NULL, KITH_NO_MEMORY, "out of memory for %d histograms of %lld bins",
               (int)rdf.partials, (long long)rdf.bins);
    const kith_status status = kith__end_call(ctx,
                                              add_systems(ctx, &batch, options, &rdf, &frame, out));
    kith__histogram_restore(out, before, status != KITH_OK);
    return status;
}

/* ----------------------------------------------------------------------------------- one system */

/** Check the options that give the bins, and minimum_image; and that the backend counts. */
static kith_status check_shape(kith_ctx *ctx, const kith_rdf_options *options)
{
    KITH_TRY(kith__check_flag(ctx, "options.minimum_image", options->minimum_image));
    KITH_TRY(check_edges(ctx, options));
    KITH_CHECK(ctx, ctx->backend->rdf->count != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not count pairs by distance", ctx->name);
    return KITH_OK;
}

kith_status kith__rdf_check(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const kith_rdf_options *options, struct kith__rdf_call *call)
{
    struct kith__question *q = &call->question;
    KITH_TRY(check_shape(ctx, options));
    KITH_TRY(kith__question_init(ctx, points, options->against, box,
                                 kith__edge(options, options->bins), cutoff_name(options), q));
    KITH_TRY(check_options(ctx, options, q, &call->rdf));
    KITH_TRY(check_nearest(ctx, options, q, &call->rdf));
    return options->forces ? kith__forces_measure(ctx, options, q, &call->rdf) : KITH_OK;
}

kith_status kith__rdf_begin(kith_ctx *ctx, const kith_rdf_options *options, kith_histogram *out,
                            struct kith__rdf_call *call)
{
    const struct kith__question *q = &call->question;
    struct kith__rdf *rdf = &call->rdf;
    KITH_TRY(rdf->weights[0] ? scale_weights(ctx, rdf) : KITH_OK);
    KITH_TRY(rdf->forces[0] ? kith__forces_check(ctx, q, rdf) : KITH_OK);
    const kith_histogram shape = {.bins = rdf->bins,
                                  .n_species = rdf->n_species,
                                  .partials = rdf->partials,
                                  .against = q->cross,
                                  .size = out->size,
                                  .dim = q->dim};
    struct kith__frame *frame = &call->frame;
    KITH_TRY(kith__histogram_need(ctx, &shape, options, out, frame));
    square_edges(q, out, frame->edge2);
    KITH_TRY(measure_shells(ctx, q, rdf, out, frame->volumes));
    rdf->edges = out->edges;
    rdf->edge2 = frame->edge2;
    rdf->counts = frame->counts;
    rdf->sums = frame->sums;
    rdf->force_sums = frame->force_sums;
    if (rdf->forces[0]) {
        kith__force_units(q, out->edges, frame->force_over, rdf);
    }
    count_members(q, rdf, frame->members);
    return KITH_OK;
}

void kith__rdf_end(const struct kith__rdf_call *call, kith_histogram *out)
{
    add_frame(&call->question, &call->rdf, &call->frame, out);
}

/** Count one system, or a batch of them, by options of full size, and add the result to out. */
static kith_status count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                         const kith_rdf_options *options, kith_histogram *out)
{
    if (options->batch) {
        KITH_TRY(check_shape(ctx, options));
        return count_batch(ctx, points, box, options, out);
    }
    struct kith__rdf_call call;
    KITH_TRY(kith__rdf_check(ctx, points, box, options, &call));
    KITH_TRY(kith__rdf_begin(ctx, options, out, &call));
    KITH_TRY(kith__end_call(ctx, ctx->backend->rdf->count(ctx, &call.question, &call.rdf)));
    kith__rdf_end(&call, out);
    return KITH_OK;
}

kith_status kith__rdf_options(kith_ctx *ctx, const kith_rdf_options *given, kith_rdf_options *own)
{
    KITH_CHECK(ctx, given != NULL, KITH_INVALID, "options is NULL: there is no default r_max");
    *own = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_rdf_options_init, given, KITH_RDF_OPTIONS_0_1, own);
    return KITH_OK;
}

/** Count, where the structs of options and result may be those of another version (core/sized.h):
 *  both are copied to structs of full size, and the result is copied back. */
static kith_status count_into(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              const kith_rdf_options *options, kith_histogram *out)
{
    kith_rdf_options own_options;
    KITH_TRY(kith__rdf_options(ctx, options, &own_options));
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
