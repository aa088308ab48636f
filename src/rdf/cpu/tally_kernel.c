/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation for histograms: what the sweep over cells (engine/cpu/sweep.h) does with
 * each query particle. It collects the hits, the candidates within the last edge, and in batches
 * finds their counters (bins.h) and counts them. Compiled once for each instruction set.
 */
#include "bins.h"
#include "pair_forces.h"
#include "engine/cpu/visit.h"

/** Return the counter, within its partial, of a candidate and the query particle of a row, by the
 *  definition (rdf/counter.h). A row is the hits of one query particle.
 *  @param tile_index  index of the candidate in the tile
 *  @param guess       the counter, or one next to it */
static inline int32_t resolve(const struct kith__sweep *sweep, const struct kith__row *row,
                              int tile_index, int32_t guess)
{
    const double r2 = true_square(sweep, row->slot, tile_index);
    return sweep->question->precision == KITH_FLOAT
               ? kith__counter_from_guess_f(kith__tally_of(sweep)->scale->rdf, (float)r2, guess)
               : kith__counter_from_guess_d(kith__tally_of(sweep)->scale->rdf, r2, guess);
}

/** Decide the borderline pairs of a row by the definition: batch->borderline[o] and those after it,
 *  as long as they are before entry `end` of the batch, where the row ends. Their counters in the
 *  batch, to which the copies' first counters are added (copy_of) but not yet the partials', are
 *  replaced.
 *  @param tile_index  [pairs of the batch] index of each hit in the tile
 *  @param o           index in batch->borderline
 *  @return the index in batch->borderline of the first pair that is not decided yet */
KITH_INLINE int resolve_row(const struct kith__sweep *sweep, const struct kith__row *row, int end,
                            const int32_t *tile_index, struct batch *batch, int o)
{
    for (; o < batch->n_borderline && batch->borderline[o] < end; o++) {
        const int k = batch->borderline[o];
        const int32_t copy = copy_of(kith__tally_of(sweep)->scale, k);
        batch->counter[k] = copy + resolve(sweep, row, tile_index[k], batch->counter[k] - copy);
    }
    return o;
}

/** Count hits [k, end) of a batch, which are of one row, one by one: with weights, or with excluded
 *  pairs. Not inlined: the loops of calls without these stay short, and one copy serves linear and
 *  other bins.
 *  @param counter     [end] counters of the hits of the batch, each with the first counter of its
 *                     partial added; there is one copy of the counters (kith__scale.copies)
 *  @param tile_index  [end] index of each hit of the batch in the tile */
static __attribute__((noinline)) void tally_each(struct kith__sweep *sweep,
                                                 const struct kith__row *row, int k, int end,
                                                 const int32_t *counter, const int32_t *tile_index)
{
    for (; k < end; k++) {
        kith__tally_one(kith__tally_of(sweep)->scale, kith__tally_of(sweep), counter[k], row->id,
                        sweep->tile.id[tile_index[k]]);
    }
}

/** Count n <= BATCH hits from hit `first` of those collected on: find the counters of all of them,
 *  then walk over the rows that they belong to, where the query particle matters, then count.
 *  @param[in,out] at  cursor at the row of hit `first` or before it; advanced to the last row that
 *                     was needed
 *  @param linear      the bins are linear; a constant at compile time */
KITH_INLINE void tally_batch(struct kith__sweep *sweep, struct cursor *at, int64_t first, int n,
                             const struct binner *bins, bool linear)
{
    const struct kith__scale *scale = kith__tally_of(sweep)->scale;
    const int32_t *tile_index = sweep->hit_id + first;
    const float *r2 = sweep->hit_r2 + first;
    struct batch batch;
    batch.n_borderline = 0;
    for (int k = 0; k < n; k += W) {
        /* float rounding may give r^2 <= 0, for which linear_counters is not defined */
        const vf square = vf_max(vf_load(r2 + k), vf_set(1e-30F));
        unsigned borderline;
        const vi counter = linear ? linear_counters(bins, square, &borderline)
                                  : table_counters(bins, square, &borderline);
        add_to_batch(bins, &batch, k, counter, borderline, n - k);
    }
    const bool by_row = scale->species[0] || !scale->counts_alone; /* all hits need their row */
    struct cursor start = *at;
    for (int k = 0, o = 0; k < n && (by_row || o < batch.n_borderline);) {
        const int end = part_of_row(at, first, k, n);
        o = resolve_row(sweep, at->row, end, tile_index, &batch, o);
        if (scale->species[0]) { /* add the partial's first counter; tile.rank holds the species */
            const int32_t species = scale->species[0][at->row->slot];
            const int32_t *base = scale->first_counters + (int64_t)species * scale->rdf->n_species;
            for (int l = k; l < end; l++) {
                batch.counter[l] += base[sweep->tile.rank[tile_index[l]]];
            }
        }
        if (!scale->counts_alone) {
            tally_each(sweep, at->row, k, end, batch.counter, tile_index);
        }
        k = end;
    }
    if (scale->force_records[0]) { /* scale->copies is 1: counters are indices of sums, too */
        add_force_sums(sweep, &start, first, n, batch.counter);
    }
    if (scale->counts_alone) {
        for (int k = 0; k < n; k += W) {
            count_lanes(kith__tally_of(sweep)->counts32, &batch, k);
        }
    }
}

/** Count the hits that were collected from a tile, and discard them.
 *  @param linear  the bins are linear; a constant at compile time */
KITH_INLINE void tally_hits(struct kith__sweep *sweep, bool linear)
{
    if (sweep->failed) { /* hits are incomplete, and the call fails */
        return;
    }
    const struct binner bins = start_bins(
        kith__tally_of(sweep)->scale,
        sweep->tile.shifted ? sweep->query.error_bound : sweep->query.error_bound_no_image, 0, 1);
    kith__tally_reserve(kith__tally_of(sweep)->scale, kith__tally_of(sweep), sweep->n_hits);
    struct cursor at = {sweep->rows, sweep->n_rows > 0 ? sweep->rows[0].n : 0};
    /* padding with valid values: pair forces read PAIR_BLOCK hits at a time, and tally_batch W
     * distances */
    for (int k = 0; k < PAIR_BLOCK && sweep->n_hits > 0; k++) {
        sweep->hit_id[sweep->n_hits + k] = 0;
    }
    for (int k = 0; k < W && sweep->n_hits > 0; k++) {
        sweep->hit_r2[sweep->n_hits + k] = 0;
    }
    for (int64_t first = 0; first < sweep->n_hits; first += BATCH) {
        const int64_t left = sweep->n_hits - first;
        tally_batch(sweep, &at, first, left < BATCH ? (int)left : BATCH, &bins, linear);
    }
    kith__sweep_discard_hits(sweep);
}

/** Collect the hits of query particle i; count all that are collected when they fill half a batch,
 *  or when sweep->rows is full. When the last query particle has at most BATCH / 2 hits, all then
 *  fit one batch; a full batch would be followed by one with the few hits beyond it.
 *  @param count  tally_hits for the kind of bins */
KITH_INLINE void tally_operation(struct kith__sweep *sweep, const struct query_particle *i,
                                 tile_fn *count)
{
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const struct hit_output output = {.to = sweep->hit_id + sweep->n_hits,
                                      .r2 = sweep->hit_r2 + sweep->n_hits};
    const int n = collect_hits(sweep, i, output);
    sweep->rows[sweep->n_rows++] = row_of(sweep, i, n);
    sweep->n_hits += n;
    if (sweep->n_hits >= BATCH / 2 || sweep->n_rows == sweep->room_rows) {
        count(sweep);
    }
}

/* The functions that process_work_block is given, for linear and for other bins. */

static void tally_linear_hits(struct kith__sweep *sweep)
{
    tally_hits(sweep, true);
}

static void tally_table_hits(struct kith__sweep *sweep)
{
    tally_hits(sweep, false);
}

static void tally_linear_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    tally_operation(sweep, i, tally_linear_hits);
}

static void tally_table_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    tally_operation(sweep, i, tally_table_hits);
}

/** Before a tile is processed: gather the data of its candidates that counting needs, species (in
 *  tile.rank, which is free as sweep->upper is false) and forces. */
static void gather_tile_data(struct kith__sweep *sweep)
{
    const struct kith__scale *scale = kith__tally_of(sweep)->scale;
    struct kith__tile *tile = &sweep->tile;
    const int32_t *species = scale->species[1];
    for (int k = 0; species && k < tile->n; k++) {
        tile->rank[k] = species[tile->slot[k]];
    }
    if (scale->force_records[1]) {
        gather_tile_records(sweep);
    }
}

void KITH_OF_ISA(tally)(struct kith__sweep *sweep, int64_t block)
{
    if (!kith__rows_room(sweep)) {
        return;
    }
    if (kith__tally_of(sweep)->scale->rdf->linear) {
        process_work_block(sweep, block, gather_tile_data, tally_linear_operation,
                           tally_linear_hits);
    } else {
        process_work_block(sweep, block, gather_tile_data, tally_table_operation, tally_table_hits);
    }
}
