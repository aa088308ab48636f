/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs under minimum image: counting the pairs of two pieces (all_pairs.h). Compiled once for
 * each instruction set.
 */
#include "all_pairs.h"

#include "bins.h"

/* Borderline pairs are decided by the definition when there are BORDERLINE_AT_ONCE of them. Before
 * that test, one more row may append a piece of them, and the last store writes a whole vector. */
enum {
    BORDERLINE_AT_ONCE = 256,
    BORDERLINE_CAPACITY = BORDERLINE_AT_ONCE + KITH_PIECE + KITH_LANES
};

/** Borderline pairs: their counters are guesses, as float arithmetic cannot decide the bin. */
struct borderline_pairs {
    int n;                                /**< number of pairs */
    int32_t i[BORDERLINE_CAPACITY];       /**< [n] particle of a, its number by species */
    int32_t j[BORDERLINE_CAPACITY];       /**< [n] particle of b, its number by species */
    int32_t counter[BORDERLINE_CAPACITY]; /**< [n] guessed counter, within the partial */
};

#define KITH_PER_PRECISION "rdf/cpu/all_pairs_real.h"
#include "core/per_precision.h"

/** Replace the guessed counters of borderline pairs by those of the definition. */
static void resolve(const struct kith__all_pairs *all, struct borderline_pairs *borderline)
{
    if (all->scale->question->precision == KITH_FLOAT) {
        resolve_f(all, borderline);
    } else {
        resolve_d(all, borderline);
    }
}

/** Decide borderline pairs that were counted at their guessed counters: subtract them there, add
 *  them to the counters of the definition, and empty the list. They were counted in 32 bits, and
 *  are subtracted in 64 bits: only the sum of both is read. Cold path, not inlined.
 *  @param counts64  first counter of their partial in kith__tally.counts64 */
static __attribute__((noinline)) void resolve_counted(const struct kith__all_pairs *all,
                                                      int64_t *counts64,
                                                      struct borderline_pairs *borderline)
{
    for (int o = 0; o < borderline->n; o++) {
        counts64[borderline->counter[o]]--;
    }
    resolve(all, borderline);
    for (int o = 0; o < borderline->n; o++) {
        counts64[borderline->counter[o]]++;
    }
    borderline->n = 0;
}

/** Append the borderline ones of W pairs: of particle i of a with particles j, j + 1, ... of b, all
 *  by their numbers in the order by species.
 *  @param counter     guessed counters of the W pairs
 *  @param borderline  mask of the borderline pairs */
KITH_INLINE void append_borderline(struct borderline_pairs *pairs, vi counter, unsigned borderline,
                                   int32_t i, int32_t j)
{
    vi_store(pairs->i + pairs->n, vi_set(i));
    vi_compress(pairs->j + pairs->n, vi_lanes() + j, borderline);
    vi_compress(pairs->counter + pairs->n, counter, borderline);
    pairs->n += __builtin_popcount(borderline);
}

/** The pairs of particle i of a with the particles of b from one on. */
struct row {
    const int32_t *x, *y, *z; /**< coordinates of the particles of b [2^-32 box sides] */
    vi ix, iy, iz;            /**< coordinates of i in all lanes [2^-32 box sides] */
    vf wy, wz;                /**< kith__all_pairs.weight, the weights of dy^2 and dz^2, in all
                                   lanes */
};

/** Return the row of particle i of a with the particles of b from `begin` on. */
KITH_INLINE struct row start_row(const struct kith__all_pairs *all, int32_t i, int32_t begin)
{
    const int32_t *const *a = (const int32_t *const *)all->a.fraction;
    return (struct row){.x = all->b.fraction[0] + begin,
                        .y = all->b.fraction[1] + begin,
                        .z = all->b.fraction[2] + begin,
                        .ix = vi_set(a[0][i]),
                        .iy = vi_set(a[1][i]),
                        .iz = vi_set(a[2][i]),
                        .wy = vf_set(all->weight[0]),
                        .wz = vf_set(all->weight[1])};
}

/** Return r^2 of the W pairs from k on, in the squared unit of the first axis: 2^-32 sides of the
 *  box along x. The differences wrap modulo 2^32, one side of the box; read as signed integers they
 *  are those to the nearest image. */
KITH_INLINE vf squares_of(const struct row *row, int k)
{
    const vf dx = vf_from(vi_wrapped(row->ix, vi_load(row->x + k)));
    const vf dy = vf_from(vi_wrapped(row->iy, vi_load(row->y + k)));
    const vf dz = vf_from(vi_wrapped(row->iz, vi_load(row->z + k)));
    return vf_fma(dz * dz, row->wz, vf_fma(dy * dy, row->wy, dx * dx));
}

/* Addresses of the counters of W pairs: of even lanes, then of odd ones. They are computed in
 * vectors, stored, and loaded one by one, which needs the fewest execution ports. There are two
 * rounds of them, so that an iteration loads what the iteration before the last one stored, and
 * does not wait for stores. */
struct addresses {
    uint64_t *at;   /**< [2 W] addresses */
    unsigned older; /**< index of the older round: 0 or W */
    vp base[2];     /**< address of the first counter, for even and for odd lanes */
    vp shift[2];    /**< shift from fixed point to a byte offset, for even and for odd lanes */
    vp keep;        /**< mask of a byte offset */
};

/** Count one pair at each address of the older round, and replace the round by the addresses of W
 *  other pairs.
 *  @param fixed  counters of these other pairs in fixed point (start_fixed) */
KITH_INLINE void count_addresses(struct addresses *addresses, vi fixed)
{
    uint64_t *const older = addresses->at + addresses->older;
#pragma GCC unroll 16
    for (int lane = 0; lane < W; lane++) {
        const uintptr_t at = (uintptr_t)older[lane];
        uint32_t *counter;
        memcpy(&counter, &at, sizeof counter);
        ++*counter;
    }
    const vp even = (vp_shift((vp)fixed, addresses->shift[0]) & addresses->keep) +
                    addresses->base[0];
    const vp odd = (vp_shift((vp)fixed, addresses->shift[1]) & addresses->keep) +
                   addresses->base[1];
    memcpy(older, &even, sizeof even);
    memcpy(older + W / 2, &odd, sizeof odd);
    addresses->older ^= W;
}

/** Initialise both rounds with the address of counter 0, below the first edge, which is not
 *  reported: the first two calls of count_addresses count there.
 *  @param first  first counter of the partial
 *  @param bits   binner.fixed_bits
 *  @param at     memory for both rounds */
KITH_INLINE struct addresses start_addresses(const struct kith__scale *scale,
                                             const struct kith__tally *tally, int32_t first,
                                             int bits, uint64_t at[2 * W])
{
    uint32_t *counts32 = tally->counts32 + first;
    struct addresses addresses = {.at = at};
    for (int lane = 0; lane < W; lane++) {
        addresses.base[lane % 2][lane / 2] = (uint64_t)(uintptr_t)(counts32 + copy_of(scale, lane));
        at[lane] = at[W + lane] = (uint64_t)(uintptr_t)counts32;
    }
    /* A 64-bit element holds an even lane below an odd one. Shifted right by bits - 2 instead of
     * bits, a counter is multiplied by 4, the size of a word. */
    addresses.shift[0] = (vp){0} + (uint64_t)(bits - 2);
    addresses.shift[1] = addresses.shift[0] + 32;
    /* a counter has 23 - bits bits, and its offset in bytes two more, the last of which are 0 */
    addresses.keep = (vp){0} + (((uint64_t)1 << (25 - bits)) - sizeof *counts32);
    return addresses;
}

/** Return what bins are found from: r in units of the first axis for linear bins, else
 *  r^2 / cutoff^2. @param squares  r^2, in the squared unit of the first axis */
KITH_INLINE vf measure_of(const struct binner *bins, vf squares, bool linear)
{
    return linear ? vf_rounded_root(squares) : squares * bins->square;
}

/** Return the counters of W pairs in fixed point, with binner.fixed_bits bits of fraction.
 *  @param measure          from measure_of
 *  @param[out] borderline  mask of the pairs whose counters are guesses */
KITH_INLINE vi fixed_bins(const struct binner *bins, vf measure, bool linear, unsigned *borderline)
{
    return linear ? linear_fixed_bins(bins, measure, borderline)
                  : table_counters(bins, measure, borderline) << bins->fixed_bits;
}

/** Count the pairs of particle i of a with particles [begin, end) of b, at most a piece. Software
 *  pipelining: each iteration computes squares, roots, counters and counts of different pairs, as
 *  one chain would exceed the processor's window of instructions. Up to 2 W pairs beyond the end
 *  are computed and discarded; the last 2 W pairs stay in `addresses`, to be counted by the caller.
 *  @param linear  the bins are linear; a constant at compile time */
KITH_INLINE void count_row(const struct kith__all_pairs *all, struct addresses *addresses,
                           struct borderline_pairs *pairs, int32_t i, int32_t begin, int32_t end,
                           const struct binner *bins, bool linear)
{
    const struct row row = start_row(all, i, begin);
    const int n = end - begin;
    unsigned borderline;
    vf squares = squares_of(&row, 0);
    vf measure = measure_of(bins, squares, linear);
    squares = squares_of(&row, W);
    int k = 0;
    for (; k + W <= n; k += W) {
        const vi fixed = fixed_bins(bins, measure, linear, &borderline);
        measure = measure_of(bins, squares, linear);
        squares = squares_of(&row, k + 2 * W);
        count_addresses(addresses, fixed);
        if (__builtin_expect(borderline != 0, 0)) {
            append_borderline(pairs, fixed_counters(bins, fixed), borderline, i, begin + k);
        }
    }
    if (k < n) { /* lanes from n - k on get counter 0, which is not reported */
        const vi fixed = fixed_bins(bins, measure, linear, &borderline) & (vi_lanes() < n - k);
        count_addresses(addresses, fixed);
        append_borderline(pairs, fixed_counters(bins, fixed), borderline & ((1u << (n - k)) - 1), i,
                          begin + k);
    }
}

/** Count the pairs of particle i of a with particles [begin, end) of b, at most a piece, one by
 *  one: with weights, or with excluded pairs.
 *  @param pairs  empty before and after the call
 *  @param first  first counter of the partial */
KITH_INLINE void count_row_each(const struct kith__all_pairs *all, struct kith__tally *tally,
                                struct borderline_pairs *pairs, int32_t i, int32_t begin,
                                int32_t end, const struct binner *bins, int32_t first, bool linear)
{
    const struct row row = start_row(all, i, begin);
    const int n = end - begin;
    int32_t counter[KITH_PIECE + KITH_LANES];
    for (int k = 0; k < n; k += W) {
        unsigned borderline;
        const vf measure = measure_of(bins, squares_of(&row, k), linear);
        const vi guess = fixed_counters(bins, fixed_bins(bins, measure, linear, &borderline));
        vi_store(counter + k, guess);
        append_borderline(pairs, guess, n - k < W ? borderline & ((1u << (n - k)) - 1) : borderline,
                          i, begin + k);
    }
    resolve(all, pairs);
    for (int o = 0; o < pairs->n; o++) {
        counter[pairs->j[o] - begin] = pairs->counter[o];
    }
    pairs->n = 0;
    for (int k = 0; k < n; k++) {
        kith__tally_one(all->scale, tally, counter[k] + first, all->a.id[i], all->b.id[begin + k]);
    }
}

/** Count all pairs of piece p of a and piece q of b; of a piece with itself, each pair once.
 *  @param linear  the bins are linear; a constant at compile time */
KITH_INLINE void tally_pieces(const struct kith__all_pairs *all, struct kith__tally *tally,
                              const struct kith__piece *p, const struct kith__piece *q, bool linear)
{
    const struct binner bins = start_bins(all->scale, all->error2, all->error, all->unit);
    const int32_t first = kith__first_counter(all->scale, p->species, q->species);
    _Alignas(4 * W) uint64_t at[2 * W];
    struct addresses addresses = start_addresses(all->scale, tally, first, bins.fixed_bits, at);
    struct borderline_pairs pairs;
    pairs.n = 0;
    for (int32_t i = p->begin; i < p->end; i++) {
        const int32_t begin = !all->cross && p == q ? i + 1 : q->begin;
        if (!all->scale->counts_alone) {
            count_row_each(all, tally, &pairs, i, begin, q->end, &bins, first, linear);
            continue;
        }
        count_row(all, &addresses, &pairs, i, begin, q->end, &bins, linear);
        if (pairs.n >= BORDERLINE_AT_ONCE) {
            resolve_counted(all, tally->counts64 + first, &pairs);
        }
    }
    if (all->scale->counts_alone) {
        count_addresses(&addresses, vi_set(0)); /* the two rounds that are not counted yet */
        count_addresses(&addresses, vi_set(0));
        resolve_counted(all, tally->counts64 + first, &pairs);
    }
}

void KITH_OF_ISA(tally_pieces)(struct kith__sweep *sweep, int64_t task)
{
    const struct kith__all_pairs *all = sweep->job;
    int64_t second = task % all->b.pieces;
    int64_t first = task / all->b.pieces;
    if (!all->cross) {
        kith__triangle_entry(task, &first, &second); /* as all_pairs.h numbers pairs of pieces */
    }
    const struct kith__piece *p = &all->a.piece[first];
    const struct kith__piece *q = &all->b.piece[second];
    /* 2 KITH_LANES for each particle: the padding lanes of its row, and the initial addresses, all
     * of which count at counter 0 */
    kith__tally_reserve(all->scale, kith__tally_of(sweep),
                        (int64_t)(p->end - p->begin) * (q->end - q->begin + 2 * KITH_LANES));
    if (all->scale->rdf->linear) {
        tally_pieces(all, kith__tally_of(sweep), p, q, true);
    } else {
        tally_pieces(all, kith__tally_of(sweep), p, q, false);
    }
}
