/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From squared distances to counters, W at a time. Where the error bound of float arithmetic leaves
 * the bin open, the pair is reported as open, and the definition decides it. Compiled for each
 * instruction set.
 */
#ifndef KITH_CPU_BINS_H
#define KITH_CPU_BINS_H

#include "engine/cpu/simd.h"
#include "tally.h"

/* Bound on the rounding errors between r and its bin, relative to r, in units of 2^-24: the edge
 and * its square, the root (2 units), factor, offset, and their product; for tables the scale of
 r2. */
static const float bin_rounding = 10 / 16777216.0F;

/* The part of bin_rounding between r and fixed point: the edge and its square (1.5), the rounded
 * root, factor, and the product without FMA. */
static const float even_rounding = 4.5F / 16777216.0F;

/* Added to a float below it, this leaves fixed point in the 23 bits of the fraction: 2^23. */
static const float fixed_point = 8388608;

/* Batches of pairs are turned into counters, decided where open, and counted: three short loops, of
 * which a processor overlaps more iterations than of one long loop. */
enum { BATCH = 2048 };

/** Counters of one batch of pairs. */
struct batch {
    /** [BATCH] counters; aligned so that a store stays within a cache line. */
    _Alignas(4 * KITH_LANES) int32_t counter[BATCH + KITH_LANES];
    int n_open; /**< number of open pairs */
    /** [n_open] index of each open pair in the batch, ascending. */
    int32_t open[BATCH + KITH_LANES];
};

/** Constants of the loops, held in registers. */
struct binner {
    vf factor;      /**< linear bins: kith__scale.factor */
    vf offset;      /**< linear bins: kith__scale.offset */
    vf least, most; /**< linear bins: bounds that the counter is clamped to, as real numbers */
    vf blunt;       /**< linear bins: half the root of the error bound of r^2 [cutoffs] */
    vf bound;       /**< linear bins: see linear_counters; infinite: all pairs are open */
    vf even_factor; /**< fixed point: factor in fine units, for r in its own unit */
    vf even_offset; /**< fixed point: offset in fine units, plus 2^23 and the error bound */
    vf even_least, even_most; /**< fixed point: bounds that the sum is clamped to */
    vi even_counter;          /**< fixed point: mask of the bits of the counter */
    vi even_clear;            /**< fixed point: mask of the fraction bits of which one is set unless
                                   the pair is open */
    int even_bits;            /**< fixed point: bits of the fraction */
    vf cells;                 /**< other bins: cells of the table */
    vf last_cell;             /**< other bins: cells + 0.5, to which cell numbers are clamped */
    vf band;                  /**< other bins: a pair this near to an edge is open */
    vf square;                /**< squared unit of r, in squared cutoffs */
    const int32_t *first;     /**< other bins: kith__scale.first */
    const int32_t *edge;      /**< other bins: kith__scale.edge, as bits */
    vi copy;                  /**< first counter of the copy that each lane counts in */
    bool many_open; /**< open pairs are so frequent that they are appended without a branch */
};

/* One vector in so many holds an open pair when bins are narrow: a branch that is mispredicted this
 * often costs more than appending an empty mask. */
enum { MANY_OPEN = 32 };

/** First counter of the copy that pair k of a batch is counted in. */
static inline int32_t copy_of(const struct kith__scale *scale, int k)
{
    return (int32_t)((k & (scale->copies - 1)) * scale->size);
}

/** Set up linear bins in fixed point with 2^bits units to a bin. An error of `off` in r / cutoff is
 *  one of at most `moved` units, a power of 2. That is added, so a pair more than 2 * moved units
 *  above an edge is in its bin for certain.
 *  @param side  unit of r [cutoffs] */
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

/** Set up the constants of the loops.
 *  @param band  error bound of r^2 / cutoff^2
 *  @param off   error bound of r / cutoff, for even_units
 *  @param side  unit of r for even_units, and of the root of r^2 for table_counters [cutoffs] */
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
 * Counters of W pairs in linear bins, within their partial, and a mask of the open ones, whose
 * counters are guesses. Pairs beyond the last edge have one of the counters after the last bin.
 *
 * With u = r * factor + offset, where r is in cutoffs, an error b of r^2 is one of at most
 * b / (r + sqrt(r^2 - b)) <= b / (2 r - sqrt(b)) in r. So the bin is certain where the distance of
 * u from whole numbers times r - sqrt(b) / 2 is more than factor * b / 2.
 *
 * @param r2  r^2 / cutoff^2, at least 1e-37
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

/** Bins of W pairs in fixed point, from r whose error is bounded, and a mask of the open ones. The
 *  bits above even_counter are undefined. */
KITH_INLINE vi even_units(const struct binner *b, vf r, unsigned *open)
{
    const vf u = vf_fma(r, b->even_factor, b->even_offset);
    const vi fine = (vi)vf_min(vf_max(u, b->even_least), b->even_most);
    *open = vi_apart(fine, b->even_clear);
    return fine;
}

/** Counters from fixed point: the integer parts. */
KITH_INLINE vi even_counters(const struct binner *b, vi fine)
{
    return (fine & b->even_counter) >> b->even_bits;
}

/** Counters of W pairs by the table, for bins that are not linear, and a mask of the open ones,
 *  whose counters are guesses. @param r2  r^2 / cutoff^2 */
KITH_INLINE vi table_counters(const struct binner *b, vf r2, unsigned *open)
{
    const vi cell = vi_from(vf_min(vf_max(r2 * b->cells, vf_set(0)), b->last_cell));
    const vf edge = (vf)vi_gather(b->edge, cell);
    *open = vf_below(vf_abs(r2 - edge), b->band);
    return vi_gather(b->first, cell) - (vi)(r2 >= edge);
}

/** Store the counters of W pairs at entry k of a batch; the first `left` of them are pairs. */
KITH_INLINE void add_to_batch(const struct binner *b, struct batch *batch, int k, vi counter,
                              unsigned open, int left)
{
    counter += b->copy;
    if (__builtin_expect(left < W, 0)) {
        counter &= vi_lanes() < left; /* others count below the first edge, which is not reported */
        open &= (1u << left) - 1;
    }
    vi_store(batch->counter + k, counter);
    if (b->many_open || open) {
        vi_compress(batch->open + batch->n_open, vi_lanes() + k, open);
        batch->n_open += __builtin_popcount(open);
    }
}

/** Count the W pairs at entry k of a batch. @param fine  first counter of their partial */
KITH_INLINE void count_lanes(uint32_t *fine, const struct batch *batch, int k)
{
    uint64_t two[W / 2];
    memcpy(two, batch->counter + k, sizeof two);
    for (int c = 0; c < W / 2; c++) { /* the order of the two halves does not matter */
        fine[(uint32_t)two[c]]++;
        fine[two[c] >> 32]++;
    }
}

#endif
