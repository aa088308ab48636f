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

/** Decide the *open lanes of pairs (i, j), (i, j + 1), ... by the definition. */
static __attribute__((noinline)) vi settle_all(const struct kith__all_pairs *all, int32_t i,
                                               int32_t j, vi counters, unsigned open)
{
    const bool single = all->scale->question->precision == KITH_FLOAT;
    int32_t counter[W];
    vi_store(counter, counters);
    for (; open; open &= open - 1) {
        const int l = __builtin_ctz(open);
        counter[l] = single ? settle_f(all, i, j + l, counter[l])
                            : settle_d(all, i, j + l, counter[l]);
    }
    return vi_load(counter);
}

/** Count W pairs one by one: weights, and pairs that are left out. */
static __attribute__((noinline)) void tally_each(const struct kith__all_pairs *all,
                                                 struct kith__tally *tally, int32_t i, int32_t j,
                                                 vi counters, int n)
{
    int32_t counter[W];
    vi_store(counter, counters);
    for (int l = 0; l < n; l++) {
        kith__tally_one(all->scale, tally, counter[l], all->a.id[i], all->b.id[j + l]);
    }
}

/** Count the pairs of i with [begin, end). */
KITH_INLINE void tally_row(const struct kith__all_pairs *all, struct kith__tally *tally, int32_t i,
                           int32_t begin, int32_t end, const struct binner *bins, int32_t row,
                           bool linear)
{
    const int32_t *const *a = (const int32_t *const *)all->a.fraction;
    const int32_t *x = all->b.fraction[0];
    const int32_t *y = all->b.fraction[1];
    const int32_t *z = all->b.fraction[2];
    const vi ix = vi_set(a[0][i]);
    const vi iy = vi_set(a[1][i]);
    const vi iz = vi_set(a[2][i]);
    const vf ux = vf_set(all->unit[0]);
    const vf uy = vf_set(all->unit[1]);
    const vf uz = vf_set(all->unit[2]);
    const vi base = bins->lanes + row;
    const bool plain = all->scale->plain;
    for (int32_t j = begin; j < end; j += W) {
        const vf dx = vf_from(vi_load(x + j) - ix) * ux;
        const vf dy = vf_from(vi_load(y + j) - iy) * uy;
        const vf dz = vf_from(vi_load(z + j) - iz) * uz;
        unsigned open;
        vi counter = counters_of(bins, vf_fma(dx, dx, vf_fma(dy, dy, dz * dz)), linear, &open);
        const int left = end - j;
        if (__builtin_expect(left < W, 0)) {
            counter = (vi_lanes() < left) & counter;
            open &= (1u << left) - 1;
        }
        if (__builtin_expect(open != 0, 0)) {
            counter = settle_all(all, i, j, counter, open);
        }
        if (plain) {
            count_all(tally->fine, counter + base);
        } else {
            tally_each(all, tally, i, j, counter + row, left < W ? left : W);
        }
    }
}

KITH_INLINE void tally_pieces(const struct kith__all_pairs *all, struct kith__tally *tally,
                              const struct kith__piece *p, const struct kith__piece *q, bool linear)
{
    const struct binner bins = start_bins(all->scale, all->band);
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
