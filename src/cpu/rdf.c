/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of distances on CPU cores. All images within reach: the sweep over cells. Only the
 * nearest image, beyond half the box: all pairs (nearest.c). Threads count by themselves, and
 * their counters are added at the end: integers, so that the order does not matter.
 */
#include "../survey.h"
#include "run.h"

/** The species of each place in the grid. */
static kith_status gather_species(kith_ctx *ctx, const struct kith__sorted *sorted,
                                  const int32_t *species, int slot, const int32_t **out)
{
    *out = NULL;
    if (!species) {
        return KITH_OK;
    }
    int32_t *to = kith__work_need(&ctx->work, slot, (size_t)sorted->n * sizeof *to);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for the species of %lld particles",
               (long long)sorted->n);
#pragma omp parallel for num_threads(kith__threads_for(ctx, sorted->n)) schedule(static)
    for (int64_t s = 0; s < sorted->n; s++) {
        to[s] = species[sorted->id[s]];
    }
    *out = to;
    return KITH_OK;
}

/** The particle at each place in the grid, and the force on it. */
static kith_status gather_pushed(kith_ctx *ctx, const struct kith__sorted *sorted,
                                 kith_precision precision, const void *forces, int slot,
                                 const double (**out)[KITH_PUSHED])
{
    const void *const xyz[3] = {sorted->x, sorted->y, sorted->z};
    *out = NULL;
    if (!forces) {
        return KITH_OK;
    }
    double(*to)[KITH_PUSHED] = kith__work_need(&ctx->work, slot, (size_t)sorted->n * sizeof *to);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for the forces on %lld particles",
               (long long)sorted->n);
#pragma omp parallel for num_threads(kith__threads_for(ctx, sorted->n)) schedule(static)
    for (int64_t s = 0; s < sorted->n; s++) {
        for (int k = 0; k < 3; k++) {
            const int64_t at = 3 * (int64_t)sorted->id[s] + k;
            to[s][k] = kith__real_at(xyz[k], s, precision);
            to[s][4 + k] = kith__real_at(forces, at, precision);
        }
        to[s][3] = to[s][7] = 0;
    }
    *out = (const double(*)[KITH_PUSHED])to;
    return KITH_OK;
}

static kith_status init_tallies(kith_ctx *ctx, const struct kith__scale *scale)
{
    struct kith__cpu *cpu = ctx->state;
    for (int t = 0; t < ctx->threads; t++) {
        cpu->sweeps[t].scale = scale;
        KITH_TRY(kith__tally_init(ctx, scale, &cpu->sweeps[t].tally));
    }
    return KITH_OK;
}

/** Add the threads' counters to the histogram. */
static void add_tallies(kith_ctx *ctx, const struct kith__scale *scale)
{
    struct kith__cpu *cpu = ctx->state;
    const struct kith__rdf *rdf = scale->rdf;
    for (int t = 0; t < ctx->threads; t++) {
        kith__tally_flush(scale, &cpu->sweeps[t].tally);
    }
    for (int64_t at = 0; at < rdf->partials * rdf->bins; at++) {
        const int64_t counter = at / rdf->bins * scale->stride + at % rdf->bins + 1;
        kith__wide sum = 0;
        for (int t = 0; t < ctx->threads; t++) {
            const struct kith__tally *tally = &cpu->sweeps[t].tally;
            rdf->counts[at] += tally->total[counter];
            sum += tally->sums ? tally->sums[counter] : 0;
        }
        if (rdf->sums) {
            rdf->sums[at] = (double)sum / rdf->weight_scale;
        }
    }
}

/** Add the threads' pushes. */
static void add_threads_pushes(kith_ctx *ctx, const struct kith__scale *scale)
{
    struct kith__cpu *cpu = ctx->state;
    const struct kith__rdf *rdf = scale->rdf;
    for (int t = 0; t < ctx->threads && rdf->pushes; t++) {
        kith__tally_flush_pushes(scale, &cpu->sweeps[t].tally);
    }
    for (int64_t at = 0; at < 2 * (int64_t)rdf->partials * (rdf->bins + 1) && rdf->pushes; at++) {
        const int64_t row = at / (rdf->bins + 1);
        const int64_t counter = row / 2 * scale->stride + at % (rdf->bins + 1);
        kith__wide sum = 0;
        for (int t = 0; t < ctx->threads; t++) {
            const struct kith__tally *tally = &cpu->sweeps[t].tally;
            sum += tally->pushes[counter][row % 2];
        }
        rdf->pushes[at] = kith__push_sum(rdf, (int)(row % 2), at % (rdf->bins + 1), sum);
    }
}

/** All images in reach, by cells. */
static kith_status sweep_cells(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__grid *grid, struct kith__scale *scale)
{
    const struct kith__rdf *rdf = scale->rdf;
    for (int set = 0; set <= (int)q->cross; set++) {
        const struct kith__sorted *sorted = set ? &grid->b : &grid->a;
        KITH_TRY(gather_species(ctx, sorted, rdf->species[set], KITH_RDF_SPECIES + set,
                                &scale->species[set]));
        KITH_TRY(gather_pushed(ctx, sorted, q->precision, rdf->forces[set], KITH_RDF_FORCES + set,
                               &scale->pushed[set]));
    }
    if (!q->cross) {
        scale->species[1] = scale->species[0];
        scale->pushed[1] = scale->pushed[0];
    }
    struct kith__run run = kith__run_of(ctx, kith__blocks(grid));
    run.block = kith__kernel_of(ctx)->tally;
    return kith__run(&run);
}

kith_status kith__cpu_rdf_count(kith_ctx *ctx, const struct kith__question *q,
                                const struct kith__rdf *rdf)
{
    struct kith__scale scale;
    struct kith__grid grid = {.cells = 0};
    KITH_TRY(kith__scale_init(ctx, q, rdf, &scale));
    KITH_TRY(rdf->nearest ? kith__survey_check(ctx, q) : kith__grid_build(ctx, q, &grid));
    kith__run_prepare(ctx, q, &grid, q->cross ? KITH_ALL : KITH_FORWARD);
    KITH_TRY(init_tallies(ctx, &scale));
    KITH_TRY(rdf->nearest ? kith__nearest_tally(ctx, q, &scale)
                          : sweep_cells(ctx, q, &grid, &scale));
    add_tallies(ctx, &scale);
    add_threads_pushes(ctx, &scale);
    return KITH_OK;
}
