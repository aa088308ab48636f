/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel of all pairs under minimum image. Compiled once for each instruction set, named by
 * KITH_ISA.
 */
#include "all_pairs.h"

#include "bins.h"

#define KITH_TWICE "cpu/all_pairs_real.h"
#include "../twice.h"

_Static_assert((int)KITH_PIECE <= (int)BATCH, "a row of a piece is one batch");

/** Decide the open pairs of i with a batch that begins at j by the definition. What was counted
 *  by its guess is moved. */
static __attribute__((noinline)) void settle_batch(const struct kith__all_pairs *all,
                                                   uint32_t *fine, int32_t i, int32_t j,
                                                   struct batch *batch)
{
    int32_t at[BATCH], counter[BATCH];
    for (int o = 0; o < batch->n_open; o++) {
        const int k = batch->open[o];
        at[o] = j + k;
        counter[o] = batch->counter[k] - copy_of(all->scale, k);
    }
    if (all->scale->question->precision == KITH_FLOAT) {
        settle_f(all, i, at, batch->n_open, counter);
    } else {
        settle_d(all, i, at, batch->n_open, counter);
    }
    for (int o = 0; o < batch->n_open; o++) {
        const int k = batch->open[o];
        const int32_t right = copy_of(all->scale, k) + counter[o];
        if (fine && right != batch->counter[k]) {
            fine[batch->counter[k]]--;
            fine[right]++;
        }
        batch->counter[k] = right;
    }
}

/** A row of pairs: i with those from one of b on. */
struct row {
    const int32_t *x, *y, *z;
    vi ix, iy, iz;
    vf ux, uy, uz; /* units */
};

KITH_INLINE struct row start_row(const struct kith__all_pairs *all, int32_t i, int32_t begin)
{
    const int32_t *const *a = (const int32_t *const *)all->a.fraction;
    return (struct row){.x = all->b.fraction[0] + begin,
                        .y = all->b.fraction[1] + begin,
                        .z = all->b.fraction[2] + begin,
                        .ix = vi_set(a[0][i]),
                        .iy = vi_set(a[1][i]),
                        .iz = vi_set(a[2][i]),
                        .ux = vf_set(all->unit[0]),
                        .uy = vf_set(all->unit[1]),
                        .uz = vf_set(all->unit[2])};
}

/** r2 / cutoff^2 of W pairs. */
KITH_INLINE vf squares_of(const struct row *row, int k)
{
    const vf least = vf_set(1e-30f); /* has a root */
    const vf dx = vf_from(vi_wrapped(vi_load(row->x + k), row->ix)) * row->ux;
    const vf dy = vf_from(vi_wrapped(vi_load(row->y + k), row->iy)) * row->uy;
    const vf dz = vf_from(vi_wrapped(vi_load(row->z + k), row->iz)) * row->uz;
    return vf_fma(dx, dx, vf_fma(dy, dy, vf_fma(dz, dz, least)));
}

/** Count the pairs of i with [begin, end), a piece at most. Each round has squares, roots, counters
 *  and counts of different pairs: one after the other they would take longer than a processor looks
 *  ahead. Up to 3 W pairs after the last are looked at in vain. */
KITH_INLINE void tally_row(const struct kith__all_pairs *all, struct kith__tally *tally, int32_t i,
                           int32_t begin, int32_t end, const struct binner *bins, int32_t first,
                           bool linear)
{
    const bool plain = all->scale->plain;
    uint32_t *fine = tally->fine + first;
    const struct row row = start_row(all, i, begin);
    const int n = end - begin;
    struct batch batch;
    batch.n_open = 0;
    vf squares = squares_of(&row, 0);
    vf r = linear ? vf_root(squares) : squares;
    squares = squares_of(&row, W);
    for (int k = 0; k < n; k += W) {
        unsigned open;
        const vi counter = linear ? even_counters(bins, r, &open) : table_counters(bins, r, &open);
        r = linear ? vf_root(squares) : squares;
        squares = squares_of(&row, k + 2 * W);
        add_to_batch(bins, &batch, k, counter, open, n - k);
        if (plain && k > 0) {
            count_lanes(fine, &batch, k - W);
        }
    }
    if (plain && n > 0) {
        count_lanes(fine, &batch, (n - 1) / W * W);
    }
    settle_batch(all, plain ? fine : NULL, i, begin, &batch);
    for (int k = 0; k < n && !plain; k++) {
        kith__tally_one(all->scale, tally, batch.counter[k] + first, all->a.id[i],
                        all->b.id[begin + k]);
    }
}

KITH_INLINE void tally_pieces(const struct kith__all_pairs *all, struct kith__tally *tally,
                              const struct kith__piece *p, const struct kith__piece *q, bool linear)
{
    const struct binner bins = start_bins(all->scale, all->band, all->off);
    const int32_t row = kith__row(all->scale, p->species, q->species);
    for (int32_t i = p->begin; i < p->end; i++) {
        const int32_t begin = !all->cross && p == q ? i + 1 : q->begin;
        tally_row(all, tally, i, begin, q->end, &bins, row, linear);
    }
}

static void tally(const struct kith__all_pairs *all, struct kith__tally *tally,
                  const struct kith__piece *p, const struct kith__piece *q)
{
    kith__tally_room(all->scale, tally,
                     (int64_t)(p->end - p->begin) * (q->end - q->begin + 2 * KITH_LANES));
    if (all->scale->rdf->linear) {
        tally_pieces(all, tally, p, q, true);
    } else {
        tally_pieces(all, tally, p, q, false);
    }
}

const struct kith__pairer KITH_OF_ISA(pairer) = {.tally = tally};
