/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation for histograms: the hits of a particle, packed together, are turned into
 * counters and counted. Included by kernel.c.
 */
#ifndef KITH_CPU_HITS_H
#define KITH_CPU_HITS_H

#include "bins.h"
#include "visit.h"

/** Counter of the candidate at `place` in the tile, by the definition. */
static inline int32_t settle(const struct kith__sweep *sweep, const struct visitor *i, int place,
                             int32_t guess)
{
    const int64_t slot = sweep->tile.slot[place];
    int32_t s[3];
    kith__unpack_shift(tile_shift(sweep, place), s);
    return sweep->question->precision == KITH_FLOAT
               ? kith__settled_f(sweep->scale->rdf, apart_f(sweep, i->slot, slot, s), guess)
               : kith__settled_d(sweep->scale->rdf, apart_d(sweep, i->slot, slot, s), guess);
}

/** Count n hits one by one: weights, and pairs that are left out. */
static __attribute__((noinline)) void tally_each(struct kith__sweep *sweep, const struct visitor *i,
                                                 const int32_t *counter, const int32_t *place,
                                                 int n, const int32_t *row)
{
    for (int l = 0; l < n; l++) {
        const int32_t base = row ? row[sweep->tile.rank[place[l]]] : 0;
        kith__tally_one(sweep->scale, &sweep->tally, base + counter[l], i->id,
                        sweep->tile.id[place[l]]);
    }
}

/** Count hits [first, first + n) of i, n <= BATCH. */
KITH_INLINE void tally_batch(struct kith__sweep *sweep, const struct visitor *i, int first, int n,
                             const struct binner *bins, bool linear)
{
    const struct kith__scale *scale = sweep->scale;
    const int32_t *place = sweep->hit_id + first;
    const float *r2 = sweep->hit_r2 + first;
    const vf q = vf_set(i->q);
    struct batch batch;
    batch.n = batch.n_open = 0;
    while (batch.n < n) {
        add_to_batch(bins, &batch, vf_load(r2 + batch.n) + q, n - batch.n, linear);
    }
    for (int o = 0; o < batch.n_open; o++) {
        const int k = batch.open[o];
        batch.counter[k] = settle(sweep, i, place[k], batch.counter[k]);
    }
    const int32_t *row = NULL;
    if (scale->species[0]) {
        row = scale->rows + (int64_t)scale->species[0][i->slot] * scale->rdf->n_species;
    }
    if (!scale->plain) {
        tally_each(sweep, i, batch.counter, place, n, row);
        return;
    }
    for (int k = 0; k < n && row; k++) {
        batch.counter[k] += row[sweep->tile.rank[place[k]]];
    }
    count_batch(scale, sweep->tally.fine, &batch, 0);
}

KITH_INLINE void tally_hits(struct kith__sweep *sweep, const struct visitor *i, bool linear)
{
    sweep->n_hits = 0;
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const struct taken taken = {.to = sweep->hit_id, .r2 = sweep->hit_r2};
    const int n = collect_hits(sweep, i, taken);
    kith__tally_room(sweep->scale, &sweep->tally, n);
    const bool shifted = sweep->tile.shifted;
    const struct binner bins = start_bins(sweep->scale,
                                          shifted ? sweep->home.band : sweep->home.own_band);
    for (int first = 0; first < n; first += BATCH) {
        tally_batch(sweep, i, first, n - first < BATCH ? n - first : BATCH, &bins, linear);
    }
}

static void tally_linear_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    tally_hits(sweep, i, true);
}

static void tally_table_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    tally_hits(sweep, i, false);
}

static void tally(struct kith__sweep *sweep, int64_t block)
{
    if (sweep->scale->rdf->linear) {
        visit_block(sweep, block, tally_linear_operation);
    } else {
        visit_block(sweep, block, tally_table_operation);
    }
}

#endif
