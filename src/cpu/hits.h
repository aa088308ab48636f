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
               ? settled_f(sweep->scale, apart_f(sweep, i->slot, slot, s), guess)
               : settled_d(sweep->scale, apart_d(sweep, i->slot, slot, s), guess);
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

/* Where hits end, vectors are filled with this r2: it is counted above the last edge. */
static const float far_away = 1e30F;

KITH_INLINE void tally_hits(struct kith__sweep *sweep, const struct visitor *i, bool linear)
{
    const struct kith__scale *scale = sweep->scale;
    struct kith__tally *tally = &sweep->tally;
    sweep->n_hits = 0;
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const int32_t *place = sweep->hit_id;
    const struct taken taken = {.to = sweep->hit_id, .r2 = sweep->hit_r2};
    const int n = collect_hits(sweep, i, taken);
    kith__tally_room(scale, tally, n);
    const int32_t *row = scale->species[0]
                             ? &scale->rows[scale->species[0][i->slot] * scale->rdf->n_species]
                             : NULL;
    const struct binner bins = start_bins(scale, sweep->tile.shifted ? sweep->home.band
                                                                     : sweep->home.own_band);
    const vf q = vf_set(i->q);
    uint32_t *fine = tally->fine;
    vf_store(sweep->hit_r2 + n, vf_set(far_away));
    for (int k = 0; k < n; k += W) {
        const int left = n - k < W ? n - k : W;
        int32_t counter[W];
        unsigned open;
        vi_store(counter, counters_of(&bins, vf_load(sweep->hit_r2 + k) + q, linear, &open));
        for (open &= (1u << left) - 1; open; open &= open - 1) {
            const int l = __builtin_ctz(open);
            counter[l] = settle(sweep, i, place[k + l], counter[l]);
        }
        if (!scale->plain) {
            tally_each(sweep, i, counter, place + k, left, row);
            continue;
        }
        if (row) {
            for (int l = 0; l < left; l++) {
                counter[l] += row[sweep->tile.rank[place[k + l]]];
            }
        }
        count_all(fine, vi_load(counter) + bins.lanes);
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
