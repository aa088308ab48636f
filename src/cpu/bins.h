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

/* Bound on what rounding adds on the way from r2 to its bin, in r2 / cutoff^2: the edge and its
 * square, the root (2 units), factor, offset and their product: each 2^-24 at most. */
static const float bin_rounding = 16 / 16777216.0F;

/** What the loops read, held in registers. */
struct binner {
    bool linear;
    vf factor, offset, least, most, bound; /* linear */
    vf cells, last_cell, band;             /* or not */
    const int32_t *first, *edge;
    vi lanes; /* where the copy that a lane counts in begins */
};

/** @param band  error bound of the r2 / cutoff^2 that are to come */
KITH_INLINE struct binner start_bins(const struct kith__scale *scale, float band)
{
    const float bins = (float)scale->rdf->bins;
    const float all = band + bin_rounding;
    const float bound = scale->factor * all;
    const vi lane = vi_lanes();
    return (struct binner){
        .linear = scale->rdf->linear,
        .factor = vf_set(scale->factor),
        .offset = vf_set(scale->offset),
        .least = vf_set(0.5F),
        .most = vf_from(lane) + (bins + 1.5F),
        .bound = vf_set(bound < 0.25F ? bound : INFINITY),
        .cells = vf_set((float)scale->cells),
        .last_cell = vf_set((float)scale->cells + 0.5F),
        .band = vf_set(all < scale->margin ? all : INFINITY),
        .first = scale->first,
        .edge = (const int32_t *)(const void *)scale->edge,
        .lanes = (lane & (scale->copies - 1)) * (int32_t)scale->size,
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
 * With u = r * factor + offset, where r is in cutoffs, an error b of r2 is one of at most b / r in
 * r, so u has its bin for sure where its distance from whole numbers is more than factor * b / r.
 * Far below the first edge and above the last one u is moved to the middle of a counter there.
 */
KITH_INLINE vi counters_of(const struct binner *b, vf r2, bool linear, unsigned *open)
{
    if (linear) {
        const vf r = vf_root(vf_max(r2, vf_set(1e-30F)));
        const vf u = vf_min(vf_max(vf_fma(r, b->factor, b->offset), b->least), b->most);
        const vi counter = vi_from(u);
        const vf above = u - vf_from(counter);
        *open = vf_below(vf_min(above, 1.0F - above) * r, b->bound);
        return counter;
    }
    const vi cell = vi_from(vf_min(vf_max(r2 * b->cells, vf_set(0)), b->last_cell));
    const vf edge = (vf)vi_gather(b->edge, cell);
    const vi counter = vi_gather(b->first, cell) - (vi)(r2 >= edge);
    *open = vf_below(vf_abs(r2 - edge), b->band);
    return counter;
}

/** Add one to W counters. */
KITH_INLINE void count_all(uint32_t *fine, vi at)
{
    int32_t counter[W];
    vi_store(counter, at);
    for (int l = 0; l < W; l++) {
        fine[counter[l]]++;
    }
}

#endif
