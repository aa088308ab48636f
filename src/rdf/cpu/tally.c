/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables from distances to counters, which threads share, and the counters of one thread.
 */
#include "tally.h"

#include <assert.h>
#include <math.h>

#include "engine/cpu/cpu_state.h"

/* Most counters of 32 bits of all copies of one thread: half of a first-level cache of 32 kB. */
static const int64_t most_counters = 4096;

/* Cells of the table for bins that are not linear: CELLS_PER_BIN for each bin, at most what fits a
 * second-level cache. */
enum { LEAST_CELLS = 1024, MOST_CELLS = 8192, CELLS_PER_BIN = 8 };

/* Largest error of r^2 / cutoff^2 with which the table is valid; with a larger error bound of a
 * query block, all its pairs are decided by the definition. */
static const double table_margin = 1.0 / 32768;

/** Return squared edge k of the bins [squared cutoffs]. */
static double relative_edge(const struct kith__scale *scale, int64_t k)
{
    const struct kith__rdf *rdf = scale->rdf;
    const double cutoff = scale->question->cutoff;
    return kith__real_at(rdf->edge2, k, scale->question->precision) / (cutoff * cutoff);
}

/** Fill the table for bins that are not linear: for each cell of [0, 1], the range of
 *  r^2 / cutoff^2, the edge that it holds, and the counter below that. Edges within table_margin of
 *  a cell count as in it, as a pair may be put into the next cell by that error. */
static kith_status make_table(kith_ctx *ctx, struct kith__scale *scale)
{
    const int64_t bins = scale->rdf->bins;
    const int64_t useful = bins * CELLS_PER_BIN;
    const int64_t cells = useful < LEAST_CELLS  ? LEAST_CELLS
                          : useful > MOST_CELLS ? MOST_CELLS
                                                : useful;
    char *memory = kith__work_need(&ctx->work, KITH_RDF_TABLE, (size_t)(cells + 1) * 8);
    KITH_CHECK(ctx, memory != NULL, KITH_NO_MEMORY, "out of memory for a table of bins");
    float *edge = (float *)(void *)memory;
    int32_t *first = (int32_t *)(void *)(memory + (size_t)(cells + 1) * sizeof *edge);
    int64_t k = 0; /* number of edges below the cell: the counter of pairs above these */
    for (int64_t c = 0; c <= cells; c++) {
        const double low = (double)c / (double)cells - table_margin;
        const double high = c < cells ? (double)(c + 1) / (double)cells + table_margin : INFINITY;
        while (k <= bins && relative_edge(scale, k) < low) {
            k++;
        }
        const double next = k <= bins ? relative_edge(scale, k) : INFINITY;
        const double after = k < bins ? relative_edge(scale, k + 1) : INFINITY;
        const bool several = next < high && after < high;
        first[c] = (int32_t)k;
        edge[c] = several ? (float)NAN : next < high ? (float)next : FLT_MAX;
    }
    scale->cells = (int)cells;
    scale->margin = (float)table_margin;
    scale->edge = edge;
    scale->first = first;
    return KITH_OK;
}

/** Fill scale->first_counters. */
static kith_status make_first_counters(kith_ctx *ctx, struct kith__scale *scale)
{
    const int32_t n = scale->rdf->n_species;
    int32_t *first_counters = kith__work_need(&ctx->work, KITH_RDF_FIRST_COUNTERS,
                                              (size_t)n * (size_t)n * sizeof *first_counters);
    KITH_CHECK(ctx, first_counters != NULL, KITH_NO_MEMORY, "out of memory for %d species", (int)n);
    for (int32_t a = 0; a < n; a++) {
        for (int32_t b = 0; b < n; b++) {
            const int32_t partial = kith__partial(n, scale->question->cross, a, b);
            first_counters[a * n + b] = (int32_t)(partial * scale->stride);
        }
    }
    scale->first_counters = first_counters;
    return KITH_OK;
}

/** Fill scale->force_over: the factor of the second pair-force sum, for each counter. */
static kith_status make_force_units(kith_ctx *ctx, struct kith__scale *scale)
{
    const struct kith__rdf *rdf = scale->rdf;
    double *over = kith__work_need(&ctx->work, KITH_RDF_FORCE_UNITS,
                                   (size_t)scale->size * sizeof *over);
    KITH_CHECK(ctx, over != NULL, KITH_NO_MEMORY, "out of memory for %lld counters",
               (long long)scale->size);
    for (int64_t c = 0; c < scale->size; c++) {
        const int64_t k = c % scale->stride;
        over[c] = k <= rdf->bins ? rdf->force_units.over[k] : 0;
    }
    scale->force_over = over;
    return KITH_OK;
}

kith_status kith__scale_init(kith_ctx *ctx, const struct kith__question *q,
                             const struct kith__rdf *rdf, struct kith__scale *scale)
{
    *scale = (struct kith__scale){
        .rdf = rdf,
        .question = q,
        .stride = rdf->bins + 2 + KITH_LANES,
        .copies = 1,
        .counts_alone = kith__excludes_none(&rdf->excluded) && !rdf->weights[0],
    };
    scale->size = (rdf->partials * scale->stride + KITH_LANES - 1) / KITH_LANES * KITH_LANES;
    while (scale->counts_alone && !rdf->forces[0] && scale->copies < KITH_MOST_COPIES &&
           2 * scale->size * scale->copies <= most_counters) {
        scale->copies *= 2;
    }
    KITH_TRY(make_first_counters(ctx, scale));
    KITH_TRY(rdf->forces[0] ? make_force_units(ctx, scale) : KITH_OK);
    if (!rdf->linear) {
        return make_table(ctx, scale);
    }
    /* counter (r - r_min) / width + 1, as the counter of bin 0 is 1 */
    scale->factor = (float)(q->cutoff / rdf->width);
    scale->offset = (float)(1 - rdf->r_min / rdf->width);
    return KITH_OK;
}

kith_status kith__tally_init(kith_ctx *ctx, const struct kith__scale *scale,
                             struct kith__sweep *sweep)
{
    struct kith__tally *tally = kith__tally_of(sweep);
    const size_t size = (size_t)scale->size;
    const size_t sums = scale->rdf->weights[0] ? size * sizeof *tally->sums : 0;
    const size_t force_sums = scale->rdf->forces[0] ? size * sizeof *tally->force_sums : 0;
    /* arrays of 128-bit integers come first, so that all are aligned; force_sums64 takes half */
    const size_t wide = sums + force_sums + force_sums / 2;
    const size_t totals = size * sizeof *tally->counts64;
    const size_t bytes = wide + totals + (size_t)scale->copies * size * sizeof *tally->counts32;
    char *memory = kith__buffer_need(&sweep->memory[KITH_SWEEP_OWN], bytes);
    KITH_CHECK(ctx, memory != NULL, KITH_NO_MEMORY, "out of memory for %lld counters",
               (long long)scale->size);
    KITH_TRY(kith__zero(ctx, memory, bytes));
    tally->sums = sums ? (kith__wide *)(void *)memory : NULL;
    tally->force_sums = force_sums ? (void *)(memory + sums) : NULL;
    tally->force_sums64 = force_sums ? (void *)(memory + sums + force_sums) : NULL;
    tally->n_force_terms = 0;
    tally->counts64 = (int64_t *)(void *)(memory + wide);
    tally->counts32 = (uint32_t *)(void *)(memory + wide + totals);
    tally->n_counts32 = 0;
    tally->scale = scale;
    sweep->keep_squares = true;
    return KITH_OK;
}

void kith__tally_flush(const struct kith__scale *scale, struct kith__tally *tally)
{
    for (int copy = 0; copy < scale->copies; copy++) {
        uint32_t *counts32 = tally->counts32 + copy * scale->size;
        for (int64_t c = 0; c < scale->size; c++) {
            tally->counts64[c] += counts32[c];
            counts32[c] = 0;
        }
    }
    tally->n_counts32 = 0;
}

void kith__tally_flush_forces(const struct kith__scale *scale, struct kith__tally *tally)
{
    for (int64_t c = 0; c < scale->size; c++) {
        for (int which = 0; which < 2; which++) {
            tally->force_sums[c][which] += tally->force_sums64[c][which];
            tally->force_sums64[c][which] = 0;
        }
    }
    tally->n_force_terms = 0;
}

void kith__tally_one(const struct kith__scale *scale, struct kith__tally *tally, int32_t counter,
                     int32_t i, int32_t j)
{
    const struct kith__rdf *rdf = scale->rdf;
    if (kith__is_excluded(&rdf->excluded, scale->question->cross, i, j)) {
        return;
    }
    assert(counter >= 0 && counter < scale->size);
    tally->counts32[counter]++;
    if (tally->sums) {
        tally->sums[counter] += kith__product(rdf, i, j);
    }
}
