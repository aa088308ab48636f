/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pair distances on CPU cores. Where all images count, pairs are found by the sweep
 * over cells, O(pairs) (tally_kernel.c). Where only the nearest image counts, and the last edge is
 * beyond half the box, all pairs are computed, O(n^2) (nearest.c). Each thread has its own
 * counters, which are added at the end; as they are integers, the order does not matter.
 */
#include "engine/bounds.h"
#include "all_pairs.h"
#include "engine/cpu/run.h"
#include "tally.h"

/** State of the loops that copy data of particles to the order of slots, that of the cells of the
 *  grid (engine/cpu/grid.h); each loop uses some of the fields. */
struct order_loop {
    const struct kith__sorted *sorted;          /**< the particles by slot */
    const int32_t *species;                     /**< [n] species in the caller's order */
    int32_t *ordered;                           /**< [n] species by slot */
    kith_precision precision;                   /**< precision of coordinates and forces */
    const void *forces;                         /**< [n][3] in the caller's order */
    double (*force_records)[KITH_FORCE_RECORD]; /**< [n] records of position and force, by slot */
};

/** Copy the species of slots [begin, end). */
static void gather_species_range(void *state, int64_t begin, int64_t end)
{
    const struct order_loop *loop = state;
    for (int64_t s = begin; s < end; s++) {
        loop->ordered[s] = loop->species[loop->sorted->id[s]];
    }
}

/** Write the records of slots [begin, end): wrapped position, 0, force, 0 (KITH_FORCE_RECORD). */
static void gather_record_range(void *state, int64_t begin, int64_t end)
{
    const struct order_loop *loop = state;
    const struct kith__sorted *sorted = loop->sorted;
    const void *const xyz[3] = {sorted->x, sorted->y, sorted->z};
    for (int64_t s = begin; s < end; s++) {
        double *to = loop->force_records[s];
        for (int k = 0; k < 3; k++) {
            const int64_t at = 3 * (int64_t)sorted->id[s] + k;
            to[k] = kith__real_at(xyz[k], s, loop->precision);
            to[4 + k] = kith__real_at(loop->forces, at, loop->precision);
        }
        to[3] = to[7] = 0;
    }
}

/** Copy species to the order of slots.
 *  @param buffer    number of the scratch buffer for the copy
 *  @param[out] out  [n] the copy; NULL when species is NULL */
static kith_status gather_species(kith_ctx *ctx, const struct kith__sorted *sorted,
                                  const int32_t *species, int buffer, const int32_t **out)
{
    *out = NULL;
    if (!species) {
        return KITH_OK;
    }
    int32_t *to = kith__work_need(&ctx->work, buffer, (size_t)sorted->n * sizeof *to);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for the species of %lld particles",
               (long long)sorted->n);
    struct order_loop loop = {.sorted = sorted, .species = species, .ordered = to};
    kith__loop(ctx, sorted->n, gather_species_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    *out = to;
    return KITH_OK;
}

/** Write a record of position and force for each slot.
 *  @param buffer    number of the scratch buffer for the records
 *  @param[out] out  [n] the records; NULL when forces is NULL */
static kith_status gather_records(kith_ctx *ctx, const struct kith__sorted *sorted,
                                  kith_precision precision, const void *forces, int buffer,
                                  const double (**out)[KITH_FORCE_RECORD])
{
    *out = NULL;
    if (!forces) {
        return KITH_OK;
    }
    double(*to)[KITH_FORCE_RECORD] = kith__work_need(&ctx->work, buffer,
                                                     (size_t)sorted->n * sizeof *to);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for the forces on %lld particles",
               (long long)sorted->n);
    struct order_loop loop = {
        .sorted = sorted, .precision = precision, .forces = forces, .force_records = to};
    kith__loop(ctx, sorted->n, gather_record_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    *out = (const double(*)[KITH_FORCE_RECORD])to;
    return KITH_OK;
}

/** Allocate and zero the counters of all threads of the context. */
static kith_status init_tallies(kith_ctx *ctx, const struct kith__scale *scale)
{
    for (int t = 0; t < ctx->threads; t++) {
        KITH_TRY(kith__tally_init(ctx, scale, kith__sweep_of(ctx, t)));
    }
    return KITH_OK;
}

/** Shared state of the loops that add the counters of all threads. */
struct add_loop {
    kith_ctx *ctx;                   /**< context, whose threads have the counters */
    const struct kith__scale *scale; /**< layout of the counters, and the arrays to write */
};

/** Add the counters of all threads to bins [begin, end) of the histogram, of all partials one after
 *  another. */
static void add_counts_range(void *state, int64_t begin, int64_t end)
{
    const struct add_loop *loop = state;
    const struct kith__scale *scale = loop->scale;
    const struct kith__rdf *rdf = scale->rdf;
    for (int64_t at = begin; at < end; at++) {
        /* bin k of a partial is its counter k + 1 */
        const int64_t counter = at / rdf->bins * scale->stride + at % rdf->bins + 1;
        kith__wide sum = 0;
        for (int t = 0; t < loop->ctx->threads; t++) {
            const struct kith__tally *tally = kith__tally_of(kith__sweep_of(loop->ctx, t));
            rdf->counts[at] += kith__tally_total(scale, tally, counter);
            sum += tally->sums ? tally->sums[counter] : 0;
        }
        if (rdf->wide_sums) {
            rdf->wide_sums[at] = sum;
        } else if (rdf->sums) {
            rdf->sums[at] = (double)sum / rdf->weight_scale;
        }
    }
}

/** Set elements [begin, end) of the histogram's pair-force sums, [partials][2][bins + 1], to the
 *  sums over all threads. */
static void add_forces_range(void *state, int64_t begin, int64_t end)
{
    const struct add_loop *loop = state;
    const struct kith__rdf *rdf = loop->scale->rdf;
    for (int64_t at = begin; at < end; at++) {
        const int64_t row = at / (rdf->bins + 1); /* 2 partial + which sum */
        const int64_t counter = row / 2 * loop->scale->stride + at % (rdf->bins + 1);
        kith__wide sum = 0;
        for (int t = 0; t < loop->ctx->threads; t++) {
            const struct kith__tally *tally = kith__tally_of(kith__sweep_of(loop->ctx, t));
            sum += tally->force_sums[counter][row % 2] + tally->force_sums64[counter][row % 2];
        }
        if (rdf->wide_force_sums) {
            rdf->wide_force_sums[at] = sum;
        } else {
            rdf->force_sums[at] = kith__force_sum_value(rdf, (int)(row % 2), at % (rdf->bins + 1),
                                                        sum);
        }
    }
}

/** Add up the counters of all threads, into the arrays of scale->rdf. */
static kith_status add_tallies(kith_ctx *ctx, const struct kith__scale *scale)
{
    const struct kith__rdf *rdf = scale->rdf;
    struct add_loop loop = {ctx, scale};
    kith__loop(ctx, rdf->partials * rdf->bins, add_counts_range, &loop);
    if (rdf->force_sums) {
        kith__loop(ctx, 2 * rdf->partials * (rdf->bins + 1), add_forces_range, &loop);
    }
    return kith__proceed(ctx);
}

/** Count the pairs at all images within the last edge, by the sweep over cells. */
static kith_status sweep_cells(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__grid *grid, struct kith__scale *scale)
{
    const struct kith__rdf *rdf = scale->rdf;
    for (int set = 0; set <= (int)q->cross; set++) {
        const struct kith__sorted *sorted = set ? &grid->b : &grid->a;
        KITH_TRY(gather_species(ctx, sorted, rdf->species[set], KITH_RDF_SPECIES + set,
                                &scale->species[set]));
        KITH_TRY(gather_records(ctx, sorted, q->precision, rdf->forces[set], KITH_RDF_FORCES + set,
                                &scale->force_records[set]));
    }
    if (!q->cross) {
        scale->species[1] = scale->species[0];
        scale->force_records[1] = scale->force_records[0];
    }
    static kith__work_fn *const tally[] = {KITH_EACH_ISA(tally)};
    struct kith__run run = kith__run_of(ctx, kith__work_blocks(grid));
    run.block = tally[kith__isa(ctx)];
    return kith__run(&run);
}

/** kith__rdf_backend.count */
static kith_status count_distances(kith_ctx *ctx, const struct kith__question *q,
                                   const struct kith__rdf *rdf)
{
    struct kith__scale scale;
    struct kith__grid grid = {.cells = 0};
    KITH_TRY(kith__scale_init(ctx, q, rdf, &scale));
    KITH_TRY(rdf->nearest ? kith__bounds_check(ctx, q) : kith__grid_build(ctx, q, &grid));
    KITH_TRY(kith__run_prepare(ctx, q, &grid, q->cross ? KITH_ALL : KITH_FORWARD,
                               sizeof(struct kith__tally)));
    KITH_TRY(init_tallies(ctx, &scale));
    KITH_TRY(rdf->nearest ? kith__nearest_tally(ctx, q, &scale)
                          : sweep_cells(ctx, q, &grid, &scale));
    return add_tallies(ctx, &scale);
}

const struct kith__rdf_backend kith__cpu_rdf = {
    .count = count_distances,
};
