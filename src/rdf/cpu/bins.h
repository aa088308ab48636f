/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From squared distances to counters, W at a time. What an error bound leaves open is said to be
 * so, and decided by the definition. Compiled for each instruction set.
 */
#ifndef KITH_CPU_BINS_H
#define KITH_CPU_BINS_H

#include "engine/cpu/simd.h"
#include "tally.h"

/* Bound on what rounding adds on the way from r to its bin, relative to r: the edge and its square,
 * the root (2 units), factor, offset, and their product, or for tables the scale of r2: units of
 * 2^-24. */
static const float bin_rounding = 10 / 16777216.0F;

/* Those of them that are between r and fixed point: the edge and its square (1.5), the rounded
 * root, factor, and product without FMA. */
static const float even_rounding = 4.5F / 16777216.0F;

/* Added to a float below it, this leaves fixed point in the 23 bits of the fraction. */
static const float fixed_point = 8388608;

/* Pairs are turned into counters, settled and counted in batches: three short loops, of which the
 * processor overlaps more rounds than of a long one. */
enum { BATCH = 2048 };

struct batch {
    _Alignas(4 * KITH_LANES) int32_t counter[BATCH + KITH_LANES]; /* a store within a cache line */
    int n_open;
    int32_t open[BATCH + KITH_LANES]; /* places of those that are open */
};

/** What the loops read, held in registers. */
struct binner {
    vf factor, offset, least, most; /* linear bins */
    vf blunt, bound;
    vf even_factor, even_offset, even_least, even_most; /* the same in fine units, moved a little */
    vi even_counter, even_clear;
    int even_bits;
    vf cells, last_cell, band; /* others */
    vf square;                 /* of the unit of r, in cutoffs */
    const int32_t *first, *edge;
    vi copy;        /* first counter of each lane's copy */
    bool many_open; /* so often that they are noted without asking whether there are any */
};

/* Bins narrow enough that one vector in so many holds an open pair are MANY_OPEN: a branch that is
 * foreseen wrongly this often costs more than noting none. */
enum { MANY_OPEN = 32 };

/** First counter of the copy that the pair at place k of a batch is counted in. */
static inline int32_t copy_of(const struct kith__scale *scale, int k)
{
    return (int32_t)((k & (scale->copies - 1)) * scale->size);
}

/** Linear bins in fixed point, 2^bits units to a bin. An error of `off` in r / cutoff is one of at
 *  most `moved` units, a power of 2: that is added, so that whatever is not within twice that above
 *  an edge has its bin for sure.
 *  @param side  what r is given in, in cutoffs */
KITH_INLINE void start_even(struct binner *b, const struct kith__scale *scale, float off,
                            double side)
{
    const float counters = (float)scale->rdf->bins + 2 + KITH_LANES;
    int bits = 2; /* bins are 2^20 at most */
    while (counters * (float)(2 << bits) <= fixed_point) {
        bits++;
    }
    const double unit = (double)(1 << bits);
    const double per_cutoff = scale->question->cutoff / scale->rdf->width * unit;
    const double offset = (1 - scale->rdf->r_min / scale->rdf->width) * unit;
    const double rounding = 1 + fabs(offset) / 16777216;
    const double error = per_cutoff * (double)(off + even_rounding) + rounding;
    int32_t moved = 1;
    while (moved < error && 2 * moved < 1 << bits) {
        moved *= 2;
    }
    b->even_bits = bits;
    b->even_factor = vf_set((float)(per_cutoff * side));
    b->even_offset = vf_set((float)(offset + moved + (double)fixed_point));
    b->even_least = vf_set(0.5F * (float)unit + fixed_point);
    b->even_most = (vf_from(vi_lanes()) + (counters - KITH_LANES - 0.5F)) * (float)unit +
                   fixed_point;
    b->even_counter = vi_set((int32_t)fixed_point - 1);
    b->even_clear = vi_set((1 << bits) - 2 * moved);
}

/** @param band  error bound of the r2 / cutoff^2 that are to come,
 *  @param off   and of r / cutoff, for even_units,
 *  @param side  which takes r in this unit, in cutoffs */
KITH_INLINE struct binner start_bins(const struct kith__scale *scale, float band, float off,
                                     double side)
{
    const float bins = (float)scale->rdf->bins;
    const float bound = scale->factor * (0.5F * band + bin_rounding);
    const float near_edge = band + bin_rounding;
    struct binner b = {
        .factor = vf_set(scale->factor),
        .offset = vf_set(scale->offset),
        .least = vf_set(0.5F),
        .most = vf_from(vi_lanes()) + (bins + 1.5F),
        .blunt = vf_set(0.5F * sqrtf(band)),
        .bound = vf_set(bound < 0.25F ? bound : INFINITY),
        .cells = vf_set((float)scale->cells),
        .last_cell = vf_set((float)scale->cells + 0.5F),
        .band = vf_set(near_edge < scale->margin ? near_edge : INFINITY),
        .square = vf_set((float)(side * side)),
        .many_open = MANY_OPEN * 2 * W * bound > 1,
        .first = scale->first,
        .edge = (const int32_t *)(const void *)scale->edge,
    };
    int32_t copy[KITH_LANES];
    for (int lane = 0; lane < KITH_LANES; lane++) {
        copy[lane] = copy_of(scale, lane);
    }
    b.copy = vi_load(copy);
    start_even(&b, scale, off, side);
    return b;
}

/**
 * Counters of pairs at r2 / cutoff^2 >= 1e-37, within their partial; for those that stay *open, a
 * guess. Below the first edge and above the last one counters are there, not far.
 *
 * With u = r * factor + offset, where r is in cutoffs, an error b of r2 is one of at most
 * b / (r + sqrt(r^2 - b)) <= b / (2 r - sqrt(b)) in r, so u has its bin for sure where its distance
 * from whole numbers times r - sqrt(b) / 2 is more than factor * b / 2.
 */
KITH_INLINE vi linear_counters(const struct binner *b, vf r2, unsigned *open)
{
    const vf r = vf_root(r2);
    const vf u = vf_min(vf_max(vf_fma(r, b->factor, b->offset), b->least), b->most);
    const vi counter = vi_from(u);
    const vf above = u - vf_from(counter);
    *open = vf_below(vf_min(above, 1.0F - above) * (r - b->blunt), b->bound);
    return counter;
}

/** The same where the error of r is bounded instead, and r is given: in fixed point, the bits above
 *  mean nothing. */
KITH_INLINE vi even_units(const struct binner *b, vf r, unsigned *open)
{
    const vf u = vf_fma(r, b->even_factor, b->even_offset);
    const vi fine = (vi)vf_min(vf_max(u, b->even_least), b->even_most);
    *open = vi_apart(fine, b->even_clear);
    return fine;
}

/** Counters in fixed point without their fractions. */
KITH_INLINE vi even_counters(const struct binner *b, vi fine)
{
    return (fine & b->even_counter) >> b->even_bits;
}

/** The same by the table, for bins that are not linear. */
KITH_INLINE vi table_counters(const struct binner *b, vf r2, unsigned *open)
{
    const vi cell = vi_from(vf_min(vf_max(r2 * b->cells, vf_set(0)), b->last_cell));
    const vf edge = (vf)vi_gather(b->edge, cell);
    *open = vf_below(vf_abs(r2 - edge), b->band);
    return vi_gather(b->first, cell) - (vi)(r2 >= edge);
}

/** Put the counters of W pairs into a batch at place k; the first `left` are wanted. */
KITH_INLINE void add_to_batch(const struct binner *b, struct batch *batch, int k, vi counter,
                              unsigned open, int left)
{
    counter += b->copy;
    if (__builtin_expect(left < W, 0)) {
        counter &= vi_lanes() < left; /* counted below the first edge */
        open &= (1u << left) - 1;
    }
    vi_store(batch->counter + k, counter);
    if (b->many_open || open) {
        vi_compress(batch->open + batch->n_open, vi_lanes() + k, open);
        batch->n_open += __builtin_popcount(open);
    }
}

/** Count the W pairs at place k of a batch; `fine` is their partial's first counter. */
KITH_INLINE void count_lanes(uint32_t *fine, const struct batch *batch, int k)
{
    uint64_t two[W / 2];
    memcpy(two, batch->counter + k, sizeof two);
    for (int c = 0; c < W / 2; c++) { /* which half is first does not matter */
        fine[(uint32_t)two[c]]++;
        fine[two[c] >> 32]++;
    }
}

#endif
