/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel of all pairs under minimum image. Compiled once for each instruction set, named by
 * KITH_ISA.
 */
#include "all_pairs.h"

#include "bins.h"

#define real double
#define KITH_REAL(name) name##_d
#include "all_pairs_real.h"
#undef real
#undef KITH_REAL
#define real float
#define KITH_REAL(name) name##_f
#include "all_pairs_real.h"
#undef real
#undef KITH_REAL

_Static_assert((int)KITH_PIECE <= (int)BATCH, "a row of a piece is one batch");

/** Decide the open pairs of i with a batch that begins at j by the definition. What was counted
 *  by its guess is moved. */
static __attribute__((noinline)) void settle_batch(const struct kith__all_pairs *all,
                                                   uint32_t *fine, int32_t i, int32_t j,
                                                   struct batch *batch)
{
    const bool single = all->scale->question->precision == KITH_FLOAT;
    for (int o = 0; o < batch->n_open; o++) {
        const int k = batch->open[o];
        const int32_t copy = copy_of(all->scale, k);
        const int32_t guess = batch->counter[k] - copy;
        const int32_t right = single ? settle_f(all, i, j + k, guess)
                                     : settle_d(all, i, j + k, guess);
        batch->counter[k] = copy + right;
        if (fine) {
            fine[copy + guess]--;
            fine[copy + right]++;
        }
    }
}

/** Count the pairs of i with [begin, end), a piece at most. */
KITH_INLINE void tally_row(const struct kith__all_pairs *all, struct kith__tally *tally, int32_t i,
                           int32_t begin, int32_t end, const struct binner *bins, int32_t row,
                           bool linear)
{
    const bool plain = all->scale->plain;
    uint32_t *fine = tally->fine + row;
    const int32_t *const *a = (const int32_t *const *)all->a.fraction;
    const int32_t *x = all->b.fraction[0] + begin;
    const int32_t *y = all->b.fraction[1] + begin;
    const int32_t *z = all->b.fraction[2] + begin;
    const vi ix = vi_set(a[0][i]);
    const vi iy = vi_set(a[1][i]);
    const vi iz = vi_set(a[2][i]);
    const vf ux = vf_set(all->unit[0]);
    const vf uy = vf_set(all->unit[1]);
    const vf uz = vf_set(all->unit[2]);
    const vf least = vf_set(1e-30f); /* has a root */
    const int n = end - begin;
    struct batch batch;
    batch.n_open = 0;
    for (int k = 0; k < n; k += W) {
        const vf dx = vf_from(vi_wrapped(vi_load(x + k), ix)) * ux;
        const vf dy = vf_from(vi_wrapped(vi_load(y + k), iy)) * uy;
        const vf dz = vf_from(vi_wrapped(vi_load(z + k), iz)) * uz;
        const vf r2 = vf_fma(dx, dx, vf_fma(dy, dy, vf_fma(dz, dz, least)));
        unsigned open;
        const vi counter = linear ? even_counters(bins, r2, &open)
                                  : table_counters(bins, r2, &open);
        add_to_batch(bins, &batch, k, counter, open, n - k);
        if (plain && k > 0) { /* the pairs before, while these are computed */
            count_lanes(fine, &batch, k - W);
        }
    }
    if (plain && n > 0) {
        count_lanes(fine, &batch, (n - 1) / W * W);
    }
    settle_batch(all, plain ? fine : NULL, i, begin, &batch);
    for (int k = 0; k < n && !plain; k++) {
        kith__tally_one(all->scale, tally, batch.counter[k] + row, all->a.id[i],
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

#define KITH_PASTE(a, b) a##b
#define KITH_PAIRER(isa) KITH_PASTE(kith__pairer_, isa)

const struct kith__pairer KITH_PAIRER(KITH_ISA) = {.tally = tally};
