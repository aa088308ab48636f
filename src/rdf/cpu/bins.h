/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From squared distances to counters (tally.h), W at a time. Pairs whose distance is so near to the
 * edge of a bin that float arithmetic, with its error bound, cannot decide the bin are reported as
 * borderline, and decided by the definition (rdf/counter.h). Three functions find counters:
 * linear_counters from r^2 for linear bins, in the sweep; linear_fixed_bins from r for linear bins,
 * in all_pairs_kernel.c; and table_counters from r^2 for other bins, in both. Compiled for each
 * instruction set. Vector types and operations, vf_... and vi_..., are those of engine/cpu/simd.h.
 */
#ifndef KITH_CPU_BINS_H
#define KITH_CPU_BINS_H

#include "engine/cpu/simd.h"
#include "tally.h"

/* Bound on the rounding errors on the way from r to its bin, relative to r: 10 units of 2^-24. They
 * are those of the edge and its square, of the root (2 units), of factor and offset, and of
 * r * factor + offset; with a table, that of the product r^2 * binner.square. */
static const float bin_rounding = 10 / 16777216.0F;

/* The part of bin_rounding between r and fixed point: rounding of the edge and its square (1.5
 * units), of the root, of the factor, and of the product without FMA. */
static const float fixed_rounding = 4.5F / 16777216.0F;

/* 2^23: added to a float u, 0 <= u < 2^23, it leaves the integer nearest to u in the 23 bits of the
 * float's mantissa. */
static const float fixed_point = 8388608;

/* Pairs of a batch. For each batch, counters are found, borderline pairs decided, and pairs
 * counted: in three short loops, of which a processor overlaps more iterations than of one long
 * loop. */
enum { BATCH = 2048 };

/** Counters of one batch of pairs. */
struct batch {
    /** [BATCH] counters: each includes the first counter of the copy that its lane counts in
     *  (copy_of), and later that of its partial. Aligned so that a store stays within a cache
     *  line. */
    _Alignas(4 * KITH_LANES) int32_t counter[BATCH + KITH_LANES];
    int n_borderline; /**< number of borderline pairs */
    /** [n_borderline] index of each borderline pair in the batch, ascending. */
    int32_t borderline[BATCH + KITH_LANES];
};

/** Constants of the loops that find counters, held in registers. A counter is 0 below the first
 *  edge, and k + 1 for bin k. */
struct binner {
    vf factor;      /**< linear bins: kith__scale.factor */
    vf offset;      /**< linear bins: kith__scale.offset */
    vf least, most; /**< linear bins: bounds that counters, as real numbers, are clamped to: the
                              middle of counter 0, and of counter bins + 1 + lane */
    vf half_root_error2; /**< linear bins: half the root of the error bound of r^2 [cutoffs] */
    vf bound;        /**< linear bins: see linear_counters; infinite: all pairs are borderline */
    vf fixed_factor; /**< fixed point (start_fixed): factor in units of a counter's fraction, for r
                          in the unit r_unit */
    vf fixed_offset; /**< fixed point: offset in these units, plus 2^23 and the margin */
    vf fixed_least, fixed_most; /**< fixed point: `least` and `most` in fixed point */
    vi fixed_counter;           /**< fixed point: mask of the 23 bits of counter and fraction */
    vi fixed_clear; /**< fixed point: mask of the fraction bits of which one is set unless the pair
                         is borderline */
    int fixed_bits; /**< fixed point: bits of the fraction */
    vf cells;       /**< other bins: cells of the table */
    vf last_cell;   /**< other bins: cells + 0.5, to which cell numbers are clamped */
    vf error2; /**< other bins: a pair is borderline when r^2 / cutoff^2 is this near to an edge */
    vf square; /**< r_unit^2, for table_counters of r^2 in that unit [squared cutoffs] */
    const int32_t *first; /**< other bins: kith__scale.first */
    const int32_t *edge;  /**< other bins: kith__scale.edge, as bits */
    vi copy;              /**< first counter of the copy that each lane counts in */
    bool many_borderline; /**< borderline pairs are appended without a branch (MANY_BORDERLINE) */
};

/* When about one vector in MANY_BORDERLINE, or more of them, holds a borderline pair, as with
 * narrow linear bins, a branch on it is mispredicted so often that appending an empty mask costs
 * less. */
enum { MANY_BORDERLINE = 32 };

/** Return the first counter of the copy that pair k of a batch is counted in. */
static inline int32_t copy_of(const struct kith__scale *scale, int k)
{
    return (int32_t)((k & (scale->copies - 1)) * scale->size);
}

/** Set up linear bins in fixed point with 2^bits units to a bin. `margin`, a power of 2, bounds
 *  `error` in units and is added to all positions. A pair is then in its bin for certain unless it
 *  is less than 2 * margin units above an edge: unless the fraction has no bit set from 2 * margin
 *  on (fixed_clear). Where the error is more than a quarter of a bin, margin is half a bin, and all
 *  pairs are borderline.
 *  @param error   error bound of r / cutoff
 *  @param r_unit  unit of r [cutoffs] */
KITH_INLINE void start_fixed(struct binner *b, const struct kith__scale *scale, float error,
                             double r_unit)
{
    const float counters = (float)scale->rdf->bins + 2 + KITH_LANES;
    int bits = 2; /* these always fit 23 bits with the counter, as there are at most 2^20 bins */
    while (counters * (float)(2 << bits) <= fixed_point) {
        bits++;
    }
    const double unit = (double)(1 << bits);
    const double per_cutoff = scale->question->cutoff / scale->rdf->width * unit;
    const double offset = (1 - scale->rdf->r_min / scale->rdf->width) * unit;
    /* fixed_offset and the sum are rounded to integers, by half a unit each; a large offset more */
    const double rounding = 1 + fabs(offset) / 16777216;
    const double error_units = per_cutoff * (double)(error + fixed_rounding) + rounding;
    int32_t margin = 1;
    while (margin < error_units && 2 * margin < 1 << bits) {
        margin *= 2;
    }
    b->fixed_bits = bits;
    b->fixed_factor = vf_set((float)(per_cutoff * r_unit));
    b->fixed_offset = vf_set((float)(offset + margin + (double)fixed_point));
    b->fixed_least = vf_set(0.5F * (float)unit + fixed_point);
    b->fixed_most = (vf_from(vi_lanes()) + (counters - KITH_LANES - 0.5F)) * (float)unit +
                    fixed_point;
    b->fixed_counter = vi_set((int32_t)fixed_point - 1);
    b->fixed_clear = vi_set((1 << bits) - 2 * margin);
}

/** Return the constants of the loops that find counters.
 *  @param error2  error bound of r^2 / cutoff^2
 *  @param error   error bound of r / cutoff, for linear_fixed_bins
 *  @param r_unit  unit of r for linear_fixed_bins, and of the root of r^2 for table_counters
 *                 [cutoffs] */
KITH_INLINE struct binner start_bins(const struct kith__scale *scale, float error2, float error,
                                     double r_unit)
{
    const float bins = (float)scale->rdf->bins;
    const float bound = scale->factor * (0.5F * error2 + bin_rounding); /* of linear_counters */
    const float near_edge = error2 + bin_rounding; /* distance from an edge of other bins */
    struct binner b = {
        .factor = vf_set(scale->factor),
        .offset = vf_set(scale->offset),
        .least = vf_set(0.5F),
        .most = vf_from(vi_lanes()) + (bins + 1.5F),
        .half_root_error2 = vf_set(0.5F * sqrtf(error2)),
        .bound = vf_set(bound < 0.25F ? bound : INFINITY),
        .cells = vf_set((float)scale->cells),
        .last_cell = vf_set((float)scale->cells + 0.5F),
        .error2 = vf_set(near_edge < scale->margin ? near_edge : INFINITY),
        .square = vf_set((float)(r_unit * r_unit)),
        /* in linear bins, about 2 * bound of all pairs are borderline; for others, bound is 0 */
        .many_borderline = MANY_BORDERLINE * 2 * W * bound > 1,
        .first = scale->first,
        .edge = (const int32_t *)(const void *)scale->edge,
    };
    int32_t copy[KITH_LANES]; /* first counter of the copy of each lane */
    for (int lane = 0; lane < KITH_LANES; lane++) {
        copy[lane] = copy_of(scale, lane);
    }
    b.copy = vi_load(copy);
    start_fixed(&b, scale, error, r_unit);
    return b;
}

/**
 * Return the counters of W pairs in linear bins, within their partial. Pairs beyond the last edge
 * have one of the counters after the last bin.
 *
 * With u = r * factor + offset, where r is in cutoffs, an error b of r^2 is one of at most
 * b / (r + sqrt(r^2 - b)) <= b / (2 r - sqrt(b)) in r. So the bin is certain where
 * d * (r - sqrt(b) / 2) > factor * b / 2, with d the distance of u from the nearest whole number.
 * binner.bound is the right side with factor * bin_rounding added: that bounds the rounding errors
 * in u, factor * r * bin_rounding, times r, as r <= 1. Where it is a quarter or more, it is
 * infinite.
 *
 * @param r2               r^2 / cutoff^2, at least 1e-37
 * @param[out] borderline  mask of the pairs whose counters are guesses
 */
KITH_INLINE vi linear_counters(const struct binner *b, vf r2, unsigned *borderline)
{
    const vf r = vf_root(r2);
    const vf u = vf_min(vf_max(vf_fma(r, b->factor, b->offset), b->least), b->most);
    const vi counter = vi_from(u);
    const vf above = u - vf_from(counter);
    *borderline = vf_below(vf_min(above, 1.0F - above) * (r - b->half_root_error2), b->bound);
    return counter;
}

/** Return the counters of W pairs in linear bins, in fixed point (start_fixed). The bits above
 *  fixed_counter are undefined.
 *  @param r                distances, in the unit that start_fixed was given
 *  @param[out] borderline  mask of the pairs whose counters are guesses */
KITH_INLINE vi linear_fixed_bins(const struct binner *b, vf r, unsigned *borderline)
{
    const vf u = vf_fma(r, b->fixed_factor, b->fixed_offset);
    const vi fixed = (vi)vf_min(vf_max(u, b->fixed_least), b->fixed_most);
    *borderline = vi_apart(fixed, b->fixed_clear);
    return fixed;
}

/** Return the integer parts of counters in fixed point. */
KITH_INLINE vi fixed_counters(const struct binner *b, vi fixed)
{
    return (fixed & b->fixed_counter) >> b->fixed_bits;
}

/** Return the counters of W pairs by the table (kith__scale), for bins that are not linear.
 *  @param r2               r^2 / cutoff^2
 *  @param[out] borderline  mask of the pairs whose counters are guesses */
KITH_INLINE vi table_counters(const struct binner *b, vf r2, unsigned *borderline)
{
    const vi cell = vi_from(vf_min(vf_max(r2 * b->cells, vf_set(0)), b->last_cell));
    const vf edge = (vf)vi_gather(b->edge, cell);
    *borderline = vf_below(vf_abs(r2 - edge), b->error2);
    return vi_gather(b->first, cell) - (vi)(r2 >= edge);
}

/** Store W counters at entry k of a batch, each in the copy of its lane, and append the borderline
 *  pairs to the list of the batch.
 *  @param counter     counters within their partial
 *  @param borderline  mask of the borderline pairs
 *  @param left        pairs that are left: only the first `left` lanes are of pairs */
KITH_INLINE void add_to_batch(const struct binner *b, struct batch *batch, int k, vi counter,
                              unsigned borderline, int left)
{
    counter += b->copy;
    if (__builtin_expect(left < W, 0)) {
        counter &= vi_lanes() < left; /* the others go to counter 0, which is not reported */
        borderline &= (1u << left) - 1;
    }
    vi_store(batch->counter + k, counter);
    if (b->many_borderline || borderline) {
        vi_compress(batch->borderline + batch->n_borderline, vi_lanes() + k, borderline);
        batch->n_borderline += __builtin_popcount(borderline);
    }
}

/** Count the W pairs at entry k of a batch. Counters are loaded two at a time, as words of 64 bits,
 *  and split by a shift: that takes fewer loads. @param counts32  kith__tally.counts32 */
KITH_INLINE void count_lanes(uint32_t *counts32, const struct batch *batch, int k)
{
    uint64_t two[W / 2];
    memcpy(two, batch->counter + k, sizeof two);
    for (int c = 0; c < W / 2; c++) { /* the order of the two halves does not matter */
        counts32[(uint32_t)two[c]]++;
        counts32[two[c] >> 32]++;
    }
}

#endif
