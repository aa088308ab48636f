/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of distances: how a distance becomes a counter, and the counters of one thread.
 *
 * A partial histogram has one counter below the first edge, one for each bin, and some above the
 * last edge, so that whatever a vector holds may be counted without a branch. A thread counts in 32
 * bits, in several copies while these fit the nearest cache: lanes of one vector that meet in a bin
 * then need not wait for each other. Before 32 bits overflow they are added to 64.
 */
#ifndef KITH_CPU_TALLY_H
#define KITH_CPU_TALLY_H

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "rdf/counter.h"

enum {
    KITH_MOST_COPIES = 8,
    KITH_PUSHED = 8 /**< numbers of a particle that is pushed: position, 0, force, 0 */
};

/** Distances to counters, for all threads. */
struct kith__scale {
    const struct kith__rdf *rdf;
    const struct kith__question *question;
    const int32_t *species[2];              /**< of places in the grid; NULL: all are 0 */
    const double (*pushed[2])[KITH_PUSHED]; /**< likewise; NULL: no pushes are wanted */
    const double *push_over; /**< [size] of rdf->push, by counter; 0 beyond the last bin */
    const int32_t *rows;     /**< [n_species][n_species] first counter of each partial */
    int64_t stride;          /**< counters of one partial */
    int64_t size;            /**< of one copy */
    int copies;              /**< a power of 2 */
    bool plain;              /**< every pair counts, and without weights */

    /** Linear bins: the counter is r / cutoff * factor + offset, rounded down. */
    float factor, offset;

    /** Other bins: r2 / cutoff^2 from 0 to 1 is divided into cells, the last of which is all beyond
     *  1. With `margin` added on either side a cell either holds no edge (it is then far away), or
     *  one, or several (it is then NaN, and the cell decides nothing). */
    int cells;
    float margin;
    const int32_t *first; /**< [cells + 1] counter below the edge */
    const float *edge;    /**< [cells + 1] */
};

/** What one thread has counted: sweep->state. */
struct kith__tally {
    const struct kith__scale *scale;
    double (*near)[KITH_PUSHED]; /**< [tile.n] with forces: the tile's candidates, moved */
    uint32_t *fine;              /**< [copies][size] */
    int64_t *total;              /**< [size] */
    kith__wide *sums;            /**< [size]; NULL without weights */
    kith__wide (*pushes)[2];     /**< [size]; NULL without forces */
    int64_t (*fine_pushes)[2];   /**< [size] likewise, not yet added to `pushes` */
    int64_t pushed;              /**< pairs in `fine_pushes` */
    int64_t since;               /**< pairs since `fine` was last added to `total` */
};

/** Prepare the scale for a question. species are set by the caller.
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__scale_init(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__rdf *rdf, struct kith__scale *scale);

static inline struct kith__tally *kith__tally_of(const struct kith__sweep *sweep)
{
    return sweep->state;
}

/** Begin a thread's counters, all zero. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__tally_init(kith_ctx *ctx, const struct kith__scale *scale,
                             struct kith__sweep *sweep);

/** Add `fine` to `total`. */
void kith__tally_flush(const struct kith__scale *scale, struct kith__tally *tally);

/** Add `fine_pushes` to `pushes`. */
void kith__tally_flush_pushes(const struct kith__scale *scale, struct kith__tally *tally);

/** Before n more pairs are counted: flush if they might overflow. */
static inline void kith__tally_room(const struct kith__scale *scale, struct kith__tally *tally,
                                    int64_t n)
{
    tally->since += n;
    if (tally->since > UINT32_MAX) {
        kith__tally_flush(scale, tally);
        tally->since = n;
    }
}

/** First counter of the partial that particles at these places in the grid belong to. */
static inline int32_t kith__row(const struct kith__scale *scale, int32_t a, int32_t b)
{
    return scale->rows[a * scale->rdf->n_species + b];
}

/** Count a pair of the caller's i and j, unless it is left out. */
void kith__tally_one(const struct kith__scale *scale, struct kith__tally *tally, int32_t counter,
                     int32_t i, int32_t j);

/** Slots of the context's scratch. */
enum {
    KITH_RDF_TABLE = KITH_WORK_OF(rdf),
    KITH_RDF_ROWS,
    KITH_RDF_PUSH_UNITS,
    KITH_RDF_SPECIES, /* two slots each, one a set: */
    KITH_RDF_FORCES = KITH_RDF_SPECIES + 2,
    KITH_RDF_POINTS = KITH_RDF_FORCES + 2
};

/** Count pairs by distance (tally_kernel.c). */
kith__block_fn KITH_EACH_ISA(tally);

#endif
