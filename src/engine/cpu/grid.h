/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The grid: particles sorted by cell (cells.h). The position of a particle in this order is its
 * slot. Cells of one row (x runs fastest) are consecutive, so that neighbouring cells of a row are
 * one range of slots.
 *
 * Building takes O(n) time and memory for any input. A table of the first slot of each cell is kept
 * while there are at most kith__table_limit cells, about two for each particle. Where there are
 * more, long axes are compressed (kith__axis in cells.h) until there are few enough; where that
 * does not suffice, there is no table, and cells are found by a search in the sorted keys. For a
 * question with subcells, particles are sorted by cell and subcell.
 */
#ifndef KITH_CPU_GRID_H
#define KITH_CPU_GRID_H

#include "engine/cells.h"

/** One set of particles in cell order. */
struct kith__sorted {
    int64_t n;       /**< number of particles */
    void *x, *y, *z; /**< [n] wrapped coordinates of each slot, in the precision of the points
                          [length]; two vectors of 64 bytes beyond element n are readable */
    int32_t *id;     /**< [n] index of each slot's particle in the caller's order; ascending where
                          keys are equal */
    uint64_t *key;   /**< [n] number of the cell, and of the subcell, of each slot (kith__axis);
                          ascending */
    uint32_t *start; /**< [cells + 1] first slot of each cell; start[cells] is n. NULL: there is no
                          table, and the keys are searched (kith__grid_search); always NULL with
                          subcells, and for set a of two sets */
};

/** The sorted particles of a question. */
struct kith__grid {
    struct kith__axis axis[3]; /**< the cells along each row of the box */
    int64_t cells;             /**< number of all cells; 0: a set has no particles */
    double near;               /**< bound on the distance of a pair, with rounding errors
                                    (kith__cell_side) [length] */
    struct kith__sorted a;     /**< query particles */
    struct kith__sorted b;     /**< candidates; a copy of `a` unless the question has two sets; set
                                    last, by kith__grid_build or kith__grid_gather */
    bool table;                /**< cells are few enough for a table of first slots */
    bool wrapped;              /**< at least one particle was outside the box as given */
    bool plain; /**< all particles are known to be inside the box as given: coordinates are read
                     without wrapping */
    bool far;   /**< a subcell may hold particles that are further apart than its width
                     (kith__divide_cells), or the width of subcells was doubled, as there were
                     more than 2^62 cells */
};

/** Numbers of the scratch buffers of the context (core/work.h) that the engine uses. Those before
 *  KITH_GRID_SLOTS are for set a; KITH_GRID_SLOTS is added to their numbers for set b. The radix
 *  sort leaves its result in one of its two arrays: it becomes kith__sorted.key, and the other one
 *  becomes kith__sorted.start where there is a table. With subcells, the second array of the sort
 *  is in KITH_GRID_XYZ, and KITH_GRID_ID and KITH_GRID_SPARE are not used here. */
enum {
    KITH_GRID_XYZ,      /* coordinates in cell order, x, then y, then z */
    KITH_GRID_ID,       /* kith__sorted.id */
    KITH_GRID_ELEMENTS, /* elements to sort, key and index of each particle in one word; then
                           kith__sorted.key or kith__sorted.start */
    KITH_GRID_SPARE,    /* second array of the sort; then kith__sorted.start or kith__sorted.key */
    KITH_GRID_KEYS,     /* whole keys, where key and index together exceed 64 bits */
    KITH_GRID_SLOTS,    /* number of these buffers */
    KITH_GRID_BINS = 2 * KITH_GRID_SLOTS,      /* histograms of the radix sort */
    KITH_GRID_OCCUPIED,                        /* three buffers, one for each compressed axis */
    KITH_SWEEP_STATES = KITH_GRID_OCCUPIED + 3 /* kith__sweep.state of all threads */
};

/** Build the grid of a question without subcells: check the coordinates, sort the particles by
 *  cell, and copy the coordinates in that order. O(n), parallel.
 *  @return KITH_OK; KITH_NOT_FINITE with the first index in the message; KITH_LIMIT when a particle
 *          is too far outside a periodic box; KITH_NO_MEMORY; KITH_CANCELLED */
kith_status kith__grid_build(kith_ctx *ctx, const struct kith__question *question,
                             struct kith__grid *grid);

/** Build the grid of a question of one set with subcells, except for its copy of the coordinates:
 *  check the coordinates, and sort the particles by cell and subcell. There is no table of first
 *  slots. Until kith__grid_gather is called, the memory of grid->a.z is free for other use, and
 *  grid->a.key may overlap that of grid->a.x and grid->a.y.
 *  @param id  [n] memory for grid->a.id, which the caller owns
 *  @return as kith__grid_build */
kith_status kith__grid_sort(kith_ctx *ctx, const struct kith__question *question, int32_t *id,
                            struct kith__grid *grid);

/** Copy the coordinates in cell order, and complete a grid that kith__grid_sort began. Overwrites
 *  grid->a.key where that is in the memory of the coordinates. */
void kith__grid_gather(kith_ctx *ctx, const struct kith__question *question,
                       struct kith__grid *grid);

/** Return the first slot whose key is at least `key`; sorted->n when there is none. Cost:
 *  O(log d), with d the distance of the result from `near`.
 *  @param near  a slot, 0 to n, from which the search begins */
int64_t kith__grid_search(const struct kith__sorted *sorted, uint64_t key, int64_t near);

#endif
