/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From squared distances to counters, W at a time. What an error bound leaves open is said to be
 * so, and decided by the definition. Compiled for each instruction set.
 */
#ifndef KITH_CPU_BINS_H
#define KITH_CPU_BINS_H

#include "simd.h"
#include "tally.h"

#define KITH_INLINE static inline __attribute__((always_inline))

/* Bound on what rounding adds on the way from r to its bin, relative to r: the edge and its square,
 * the root (2 units), factor, offset, and their product: units of 2^-24. */
static const float bin_rounding = 10 / 16777216.0F;

/* Pairs are turned into counters, settled and counted in batches: three short loops, of which the
 * processor overlaps more rounds than of a long one. */
enum { BATCH = 2048 };

struct batch {
    int n_open;
    int32_t counter[BATCH + KITH_LANES];
    int32_t open[BATCH + KITH_LANES]; /* places of those that are open */
};

/** What the loops read, held in registers. */
struct binner {
    vf factor, offset, least, most, blunt, bound; /* linear bins */
    vf cells, last_cell, band;                    /* others */
    const int32_t *first, *edge;
};

/** @param band  error bound of the r2 / cutoff^2 that are to come */
KITH_INLINE struct binner start_bins(const struct kith__scale *scale, float band)
{
    const float bins = (float)scale->rdf->bins;
    const float bound = scale->factor * (0.5F * band + bin_rounding);
    const float near_edge = band + bin_rounding;
    return (struct binner){
        .factor = vf_set(scale->factor),
        .offset = vf_set(scale->offset),
        .least = vf_set(0.5F),
        .most = vf_from(vi_lanes()) + (bins + 1.5F),
        .blunt = vf_set(0.5F * sqrtf(band)),
        .bound = vf_set(bound < 0.25F ? bound : INFINITY),
        .cells = vf_set((float)scale->cells),
        .last_cell = vf_set((float)scale->cells + 0.5F),
        .band = vf_set(near_edge < scale->margin ? near_edge : INFINITY),
        .first = scale->first,
        .edge = (const int32_t *)(const void *)scale->edge,
    };
}

#define real double
#define KITH_REAL(name) name##_d
#include "bins_real.h"
#undef real
#undef KITH_REAL
#define real float
#define KITH_REAL(name) name##_f
#include "bins_real.h"
#undef real
#undef KITH_REAL

/**
 * Counters of pairs at r2 / cutoff^2, within their partial; for those that stay *open, a guess.
 *
 * With u = r * factor + offset, where r is in cutoffs, an error b of r2 is one of at most
 * b / (r + sqrt(r^2 - b)) <= b / (2 r - sqrt(b)) in r, so u has its bin for sure where its distance
 * from whole numbers times r - sqrt(b) / 2 is more than factor * b / 2. Far below the first edge
 * and above the last one u is moved to the middle of a counter there.
 */
KITH_INLINE vi counters_of(const struct binner *b, vf r2, bool linear, unsigned *open)
{
    if (linear) {
        const vf r = vf_root(vf_max(r2, vf_set(1e-30F)));
        const vf u = vf_min(vf_max(vf_fma(r, b->factor, b->offset), b->least), b->most);
        const vi counter = vi_from(u);
        const vf above = u - vf_from(counter);
        *open = vf_below(vf_min(above, 1.0F - above) * (r - b->blunt), b->bound);
        return counter;
    }
    const vi cell = vi_from(vf_min(vf_max(r2 * b->cells, vf_set(0)), b->last_cell));
    const vf edge = (vf)vi_gather(b->edge, cell);
    *open = vf_below(vf_abs(r2 - edge), b->band);
    return vi_gather(b->first, cell) - (vi)(r2 >= edge);
}

/** Put the W pairs at r2 / cutoff^2 into a batch at place k; the first `left` are wanted. */
KITH_INLINE void add_to_batch(const struct binner *b, struct batch *batch, int k, vf r2, int left,
                              bool linear)
{
    unsigned open;
    vi counter = counters_of(b, r2, linear, &open);
    if (__builtin_expect(left < W, 0)) {
        counter &= vi_lanes() < left; /* counted below the first edge */
        open &= (1u << left) - 1;
    }
    vi_store(batch->counter + k, counter);
    if (open) {
        vi_compress(batch->open + batch->n_open, vi_lanes() + k, open);
        batch->n_open += __builtin_popcount(open);
    }
}

/** Count the n pairs of a batch; `base` is their partial's first counter. */
KITH_INLINE void count_batch(const struct kith__scale *scale, uint32_t *fine, struct batch *batch,
                             int n, int32_t base)
{
    enum { AT_ONCE = KITH_MOST_COPIES };
    uint32_t *copy[AT_ONCE];
    for (int c = 0; c < AT_ONCE; c++) {
        copy[c] = fine + (c & (scale->copies - 1)) * scale->size + base;
    }
    for (n = (n + W - 1) / W * W; n % AT_ONCE; n += W) {
        vi_store(batch->counter + n, vi_set(0));
    }
    for (int k = 0; k < n; k += AT_ONCE) {
        uint64_t two[AT_ONCE / 2];
        memcpy(two, batch->counter + k, sizeof two);
        for (int c = 0; c < AT_ONCE; c += 2) { /* which half is first does not matter */
            copy[c][(uint32_t)two[c / 2]]++;
            copy[c + 1][two[c / 2] >> 32]++;
        }
    }
}

#endif
