/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves on CPU cores, chunk by chunk of particles (phases.h); O(particles * waves).
 * For each chunk, threads divide the waves among them: each sum is thus added in one order for any
 * number of threads.
 */
#include "waves/wave_phase.h"

#include <stdlib.h>
#include <string.h>

#include "engine/pieces.h"
#include "engine/cpu/cpu_state.h"
#include "phases.h"
#include "waves/waves.h"

/** Numbers of the buffers of the context's scratch memory. */
enum { KITH_WAVES_PHASES = KITH_WORK_OF(waves), KITH_WAVES_TABLES };

/** Phases of the particles by species, and tables of one chunk. */
struct chunks {
    /** [n] the chunks: at most KITH_CHUNK particles of one species each. */
    const struct kith__piece *piece;
    int64_t n;           /**< number of chunks */
    double (*phases)[3]; /**< [particles] phases, in the order of species [turns] */
    double *table[3];    /**< powers of phase factors along each axis, see phases.h */
    int32_t most[3];     /**< largest power along each axis: the largest |h|, |k| and |l| */
};

/** Sort the particles by species, cut them into chunks, and compute their phases.
 *  @param[out] out  piece, n and phases are set
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT for the particle of the lowest index that cannot
 *          be used; KITH_NO_MEMORY; KITH_CANCELLED */
static kith_status sort_by_species(kith_ctx *ctx, const struct kith__question *q,
                                   const struct kith__waves *waves, struct chunks *out)
{
    const size_t n = (size_t)q->a.n;
    const size_t kinds = (size_t)waves->n_species;
    const size_t pieces = (size_t)kith__most_pieces(q->a.n, waves->n_species, KITH_CHUNK);
    const size_t firsts = (kinds + 2) * sizeof(int64_t); /* `first` of kith__cut_pieces */
    char *at = kith__work_need(&ctx->work, KITH_WAVES_PHASES,
                               n * sizeof *out->phases + firsts + n * sizeof(int32_t) +
                                   pieces * sizeof *out->piece);
    KITH_CHECK(ctx, at != NULL, KITH_NO_MEMORY, "out of memory to sort %lld particles by species",
               (long long)n);
    out->phases = (double(*)[3])(void *)at;
    int64_t *first = (int64_t *)(void *)(at + n * sizeof *out->phases);
    int32_t *id = (int32_t *)(void *)((char *)first + firsts);
    struct kith__piece *piece = (struct kith__piece *)(void *)(id + n);
    out->n = kith__cut_pieces(waves->species, q->a.n, waves->n_species, KITH_CHUNK, first, id,
                              piece);
    out->piece = piece;
    int64_t bad = INT64_MAX;
    kith_status status = KITH_OK;
    for (size_t s = 0; s < n; s++) {
        enum { COST = 50 }; /* of a particle, for kith__skip [about 1 ns] */
        if (kith__skip(ctx, (int64_t)s, COST)) {
            return kith__proceed(ctx);
        }
        const kith_status here = kith__wave_phase(q, id[s], out->phases[s]);
        if (here != KITH_OK && id[s] < bad) {
            bad = id[s];
            status = here;
        }
    }
    return status == KITH_OK ? KITH_OK : kith__refuse(ctx, q, "points", status, bad);
}

/** Allocate the tables for the largest |h|, |k| and |l|: set out->table and out->most, which is 0
 *  before. */
static kith_status make_tables(kith_ctx *ctx, const struct kith__waves *waves, struct chunks *out)
{
    for (int k = 0; k < 3; k++) {
        for (int64_t w = 0; w < waves->n; w++) {
            const int32_t power = abs(waves->hkl[3 * w + k]);
            out->most[k] = power > out->most[k] ? power : out->most[k];
        }
    }
    int64_t size = 0;
    for (int k = 0; k < 3; k++) {
        size += kith__table_size(out->most[k]);
    }
    double *at = kith__work_need(&ctx->work, KITH_WAVES_TABLES, (size_t)size * sizeof *at);
    KITH_CHECK(ctx, at != NULL, KITH_NO_MEMORY, "out of memory for %lld powers of phases",
               (long long)size);
    for (int k = 0; k < 3; k++) {
        out->table[k] = at;
        at += kith__table_size(out->most[k]);
    }
    return KITH_OK;
}

/** State of the loop over waves that adds one chunk of particles to each sum. */
struct wave_loop {
    kith__add_phases_fn *add_phases; /**< kernel of the instruction set */
    const struct kith__waves *waves; /**< the waves */
    const double *const *table;      /**< [3] tables of the chunk */
    int64_t species;                 /**< species of the chunk */
};

/** Add the chunk to the sums of waves [begin, end): a kith__range_fn. */
static void add_waves(void *state, int64_t begin, int64_t end)
{
    const struct wave_loop *loop = state;
    const struct kith__waves *waves = loop->waves;
    for (int64_t w = begin; w < end; w++) {
        loop->add_phases(waves->hkl + 3 * w, loop->table,
                         waves->sums + 2 * (w * waves->n_species + loop->species));
    }
}

/** kith__waves_backend.sum */
static kith_status sum_waves(kith_ctx *ctx, const struct kith__question *q,
                             const struct kith__waves *waves)
{
    enum { GRAIN = 64 }; /* waves in one unit of work: some 10 microseconds */
    static kith__fill_phases_fn *const fill_phases[] = {KITH_EACH_ISA(fill_phases)};
    static kith__add_phases_fn *const add_phases[] = {KITH_EACH_ISA(add_phases)};
    const int isa = kith__isa(ctx);
    const int64_t kinds = waves->n_species;
    struct chunks all = {.n = 0};
    KITH_TRY(sort_by_species(ctx, q, waves, &all));
    KITH_TRY(make_tables(ctx, waves, &all));
    const double *const table[3] = {all.table[0], all.table[1], all.table[2]};
    memset(waves->sums, 0, (size_t)(waves->n * kinds) * 2 * sizeof *waves->sums);
    for (int64_t c = 0; c < all.n; c++) {
        const struct kith__piece *piece = &all.piece[c];
        if (kith__report(ctx, c, all.n)) {
            break;
        }
        for (int k = 0; k < 3; k++) {
            fill_phases[isa](&all.phases[piece->begin][k], piece->end - piece->begin, all.most[k],
                             all.table[k]);
        }
        struct wave_loop loop = {add_phases[isa], waves, table, piece->species};
        kith__pool_chunks(ctx->pool, ctx->threads, waves->n, GRAIN, add_waves, &loop);
    }
    return kith__proceed(ctx);
}

const struct kith__waves_backend kith__cpu_waves = {
    .sum = sum_waves,
};
