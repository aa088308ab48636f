/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pair distances on CPU cores: the scale, constants and tables from distances to
 * counters, and the tally, the counters of one thread.
 *
 * A partial histogram, that of the pairs of two given species, has one counter below the first
 * edge, one for each bin, and KITH_LANES + 1 above the last edge: in linear bins, counters of lane
 * l of a vector are clamped to bins + 1 + l, so that pairs above the edge are counted without a
 * branch, those far above it at a counter for each lane. Counters below the first edge and above
 * the last one are not reported. A thread counts in 32 bits. Without weights, forces and excluded
 * pairs it counts in several copies, as long as these fit the first-level cache: lanes of one
 * vector with equal bins then increment different words, and no increment waits for the store of
 * the one before. Before 32 bits overflow they are added to 64.
 */
#ifndef KITH_CPU_TALLY_H
#define KITH_CPU_TALLY_H

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "rdf/counter.h"

enum {
    KITH_MOST_COPIES = 8, /**< most copies of a thread's counters */
    KITH_FORCE_RECORD = 8 /**< numbers in a particle's record: position, 0, force, 0 */
};

/** Constants and tables from distances to counters, shared by all threads. "Linear bins" and "other
 *  bins" mark the fields that are used for bins of equal width, and for other bins alone. */
struct kith__scale {
    const struct kith__rdf *rdf;           /**< what is counted */
    const struct kith__question *question; /**< points, box, and the last edge as cutoff */
    const int32_t *species[2];             /**< [n] species of each set, by slot; NULL: all are 0 */
    /** [n] records of position and force of each set, by slot; NULL: no forces. */
    const double (*force_records[2])[KITH_FORCE_RECORD];
    const double *force_over; /**< [size] rdf->force_units.over by counter; 0 beyond the last bin */
    const int32_t *first_counters; /**< [n_species][n_species] first counter of each partial */
    int64_t stride;                /**< counters of one partial: bins + 2 + KITH_LANES */
    int64_t size;                  /**< counters of one copy: all partials, in whole vectors */
    int copies;                    /**< copies of the counters; a power of 2, and 1 with weights,
                                        forces or excluded pairs */
    bool counts_alone;             /**< no pair is excluded, and there are no weights */

    float factor; /**< linear bins: the counter is floor(r / cutoff * factor + offset) */
    float offset; /**< linear bins: see factor */

    /** Other bins: number of equal cells that [0, 1], the range of r^2 / cutoff^2, is divided into;
     *  one more cell is for all beyond 1. */
    int cells;
    float margin;         /**< largest error of r^2 / cutoff^2 with which the table is valid; with a
                               larger one, all pairs are borderline */
    const int32_t *first; /**< [cells + 1] counter of the pairs of a cell below its edge */
    /** [cells + 1] the edge within `margin` of a cell [squared cutoffs]; FLT_MAX: there is none;
     *  NaN: there are several, and all pairs of the cell are borderline. */
    const float *edge;
};

/** Counters of one thread: sweep->state. A flush adds the counters of few bits to those of many. */
struct kith__tally {
    const struct kith__scale *scale; /**< shared tables */
    /** [tile.n] with forces: records of the tile's candidates, shifted to their images. */
    double (*near)[KITH_FORCE_RECORD];
    uint32_t *counts32;          /**< [copies][size] pairs since the last flush */
    int64_t *counts64;           /**< [size] pairs before the last flush; below 0 where borderline
                                      pairs of `counts32` are to move (all_pairs_kernel.c) */
    kith__wide *sums;            /**< [size] sums of products of weights [1 / weight_scale]; NULL
                                      without weights */
    kith__wide (*force_sums)[2]; /**< [size] pair-force sums before the last flush; NULL without
                                      forces */
    int64_t (*force_sums64)[2];  /**< [size] pair-force sums since the last flush; NULL without
                                      forces */
    int64_t n_force_terms;       /**< pairs in `force_sums64` */
    int64_t n_counts32;          /**< upper bound on the pairs in `counts32` */
};

/** Fill the tables for a question, except species and force_records, which the caller sets. They
 *  are in scratch memory of the context.
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__scale_init(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__rdf *rdf, struct kith__scale *scale);

/** Return the counters of the thread of a sweep. */
static inline struct kith__tally *kith__tally_of(const struct kith__sweep *sweep)
{
    return sweep->state;
}

/** Allocate and zero the counters of one thread, sweep->state, and set sweep->keep_squares:
 *  counting needs the r^2 of hits.
 *  @return KITH_OK, KITH_NO_MEMORY or KITH_CANCELLED. */
kith_status kith__tally_init(kith_ctx *ctx, const struct kith__scale *scale,
                             struct kith__sweep *sweep);

/** Flush: add `counts32` to `counts64`, and zero it. */
void kith__tally_flush(const struct kith__scale *scale, struct kith__tally *tally);

/** Return how many pairs a counter has, in all copies of `counts32` and in `counts64`. */
static inline int64_t kith__tally_total(const struct kith__scale *scale,
                                        const struct kith__tally *tally, int64_t counter)
{
    int64_t total = tally->counts64[counter];
    for (int copy = 0; copy < scale->copies; copy++) {
        total += tally->counts32[copy * scale->size + counter];
    }
    return total;
}

/** Flush: add `force_sums64` to `force_sums`, and zero them. */
void kith__tally_flush_forces(const struct kith__scale *scale, struct kith__tally *tally);

/** Prepare to count n < 2^32 more pairs: flush `counts32` if a counter might overflow. */
static inline void kith__tally_reserve(const struct kith__scale *scale, struct kith__tally *tally,
                                       int64_t n)
{
    tally->n_counts32 += n;
    if (tally->n_counts32 > UINT32_MAX) {
        kith__tally_flush(scale, tally);
        tally->n_counts32 = n;
    }
}

/** Return the first counter of the partial of species a and b. */
static inline int32_t kith__first_counter(const struct kith__scale *scale, int32_t a, int32_t b)
{
    return scale->first_counters[a * scale->rdf->n_species + b];
}

/** Count a pair of particles i and j, by the caller's indices, unless it is excluded; add the
 *  product of its weights, if there are weights.
 *  @param counter  counter of the pair: the first counter of its partial plus the one within it */
void kith__tally_one(const struct kith__scale *scale, struct kith__tally *tally, int32_t counter,
                     int32_t i, int32_t j);

/** Numbers of the buffers of the context's scratch memory (core/work.h). */
enum {
    KITH_RDF_TABLE = KITH_WORK_OF(rdf),
    KITH_RDF_FIRST_COUNTERS,
    KITH_RDF_FORCE_UNITS,
    KITH_RDF_SPECIES, /* SPECIES, FORCES and POINTS have two buffers each, one for each set */
    KITH_RDF_FORCES = KITH_RDF_SPECIES + 2,
    KITH_RDF_POINTS = KITH_RDF_FORCES + 2
};

/** The sweep's operation that counts pairs by distance (tally_kernel.c). */
kith__work_fn KITH_EACH_ISA(tally);

#endif
