/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Particles sorted by cell. Cells are at least a cutoff wide, so that the neighbours of a cell's
 * particles are in the cells around it; cells of one row (x runs fastest) are consecutive, so that
 * a run of them is one range of particles. Memory is O(n) for any input: the table of cells is kept
 * while it is no larger than a few n, and beyond that cells are found in the sorted keys. A
 * question may ask for cells divided into parts; particles are then sorted by cell and part.
 */
#ifndef KITH_CPU_GRID_H
#define KITH_CPU_GRID_H

#include "engine/cells.h"

/** One set of particles in cell order. */
struct kith__sorted {
    int64_t n;
    void *x, *y, *z; /**< wrapped, precision of the points */
    int32_t *id;     /**< index in the caller's order; ascending inside a cell */
    uint64_t *key;   /**< cell and part of each; ascending */
    uint32_t *start; /**< [cells + 1] first particle of each cell; NULL: search the keys */
};

struct kith__grid {
    struct kith__axis axis[3];
    int64_t cells;
    double near; /**< what is further apart than this is no pair, however it was rounded */
    struct kith__sorted a, b; /**< b is a unless the question has two sets */
    bool table;               /**< cells are few enough for a table of all */
    bool wrapped;             /**< some particle was outside the box */
    bool plain;               /**< all coordinates are known to be in the box as they are given */
    bool far;                 /**< some part may hold particles that are farther apart than it is
                                   asked to be wide (kith__divide), or sides were doubled */
};

/** Slots of the context's scratch that the grid of set 0 (a) and 1 (b) uses. */
enum {
    KITH_GRID_XYZ,
    KITH_GRID_ID,
    KITH_GRID_ELEMENTS,
    KITH_GRID_SPARE,
    KITH_GRID_KEYS,
    KITH_GRID_SLOTS,
    KITH_GRID_BINS = 2 * KITH_GRID_SLOTS,
    KITH_GRID_PLACES,                        /* three slots, one an axis */
    KITH_SWEEP_STATES = KITH_GRID_PLACES + 3 /* see kith__run_prepare */
};

/** Check the coordinates and sort them. O(n).
 *  @return KITH_OK; KITH_NOT_FINITE with the first index in the message; KITH_LIMIT when a particle
 *  is too far outside a periodic box; KITH_NO_MEMORY. */
kith_status kith__grid_build(kith_ctx *ctx, const struct kith__question *question,
                             struct kith__grid *grid);

/** The same where cells have parts, up to the coordinates: sort the particles by part. Until
 *  kith__grid_gather, the memory of grid->a.z is free, and grid->a.key may be in that of x and y.
 *  @param id  [n] the caller's, for grid->a.id */
kith_status kith__grid_sort(kith_ctx *ctx, const struct kith__question *question, int32_t *id,
                            struct kith__grid *grid);

/** Write the coordinates in order, over what was in their memory. */
void kith__grid_gather(kith_ctx *ctx, const struct kith__question *question,
                       struct kith__grid *grid);

/** First particle of `sorted` whose key is not less than key; near is a guess. O(log distance). */
int64_t kith__grid_search(const struct kith__sorted *sorted, uint64_t key, int64_t near);

#endif
