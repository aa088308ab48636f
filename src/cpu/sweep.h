/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one thread holds while it sweeps. The sweep goes over homes: a home is the particles of one
 * cell, or of a few neighbouring ones where cells hold little. All particles near a home are packed
 * once into a tile, as floats in units of the cutoff from the home's middle, images shifted; then
 * each particle of the home runs through the tile, W candidates at a time. The tile decides clear
 * cases; what lies within its error bound of the cutoff is decided by the definition (pair.h).
 */
#ifndef KITH_CPU_SWEEP_H
#define KITH_CPU_SWEEP_H

#include "flight.h"
#include "grid.h"
#include "tally.h"

enum {
    KITH_BLOCK = 256,       /**< particles from the start of one unit of work to the next */
    KITH_HOME = 512,        /**< the most particles in a home */
    KITH_HOME_ENOUGH = 20,  /**< neighbouring cells are added to a home until it holds these, */
    KITH_FLOCK_ENOUGH = 12, /**< for flocks, where each candidate costs more, */
    KITH_HOME_CELLS = 8,    /**< or spans these */
    KITH_CURSORS = 64
};

/** Which candidates a home looks at. */
enum kith__stencil {
    KITH_FORWARD, /**< each unordered pair once: later particles of the row, and rows ahead */
    KITH_ALL      /**< all around: each pair from both ends, or A against B */
};

/** Candidates near a home. Padded with KITH_LANES that are never hits. */
struct kith__tile {
    int n, room;
    bool shifted; /**< some candidate is an image: shift is kept */
    struct kith__buffer memory;
    float *x, *y, *z; /**< in units of the cutoff, from the home's middle */
    float *q;         /**< x*x + y*y + z*z */
    int32_t *id;      /**< caller's index; not for flocks */
    int32_t *slot;    /**< place in the grid */
    int32_t *shift;   /**< image, packed; see kith__pack_shift */
    int32_t *rank;    /**< 2 id + (image is after 0), sign bit flipped: orders a sorted half list;
                           for histograms: the species */
    int32_t *cargo[KITH_CARGO]; /**< for flocks: what is summed of each, images moved */
};

/** Particles whose neighbours are wanted. */
struct kith__home {
    int64_t begin, end; /**< places in grid->a */
    int64_t cell[3];    /**< of the first; */
    int64_t last_x;     /**< the home spans cells cell[0] to last_x of one row */
    double middle[3];
    double unit;    /**< 1 / cutoff; 0: too spread for floats, everything is borderline */
    float half[3];  /**< half the extent of the particles, in cutoffs */
    float band;     /**< error bound of r2 / cutoff^2 */
    float own_band; /**< the same where no candidate is an image */
    float x[KITH_HOME], y[KITH_HOME], z[KITH_HOME];
    int32_t self[KITH_HOME]; /**< index of each in the tile; -1: not there */
};

/** What a sweep's buffers are for. */
enum {
    KITH_SWEEP_ORDER, /**< sorting a tile, or comparing clumps */
    KITH_SWEEP_IDS,   /**< of hits; what else is kept of them: */
    KITH_SWEEP_SLOTS,
    KITH_SWEEP_SHIFTS,
    KITH_SWEEP_SQUARES,
    KITH_SWEEP_ROWS,
    KITH_SWEEP_PUSHED,
    KITH_SWEEP_BUFFERS
};

/** Hits of one particle, collected: written by the kernel, read by the pair operations. */
struct kith__row {
    int32_t id;   /**< caller's index of i */
    int32_t n;    /**< hits */
    int64_t slot; /**< place of i */
    bool moved;   /**< some of them are images: with extras, their shifts are kept */
};

struct kith__sweep {
    const struct kith__question *question;
    const struct kith__grid *grid;
    enum kith__stencil stencil;
    bool by_id;               /**< tiles sorted by the caller's index */
    bool upper;               /**< keep only candidates that rank after i */
    double blur;              /**< rounding of the definition itself, in r2 / cutoff^2, */
    double own_blur;          /**< and where j is no image */
    int32_t id_begin, id_end; /**< only these i */

    struct kith__home home;
    struct kith__tile tile, spare;
    struct kith__buffer memory[KITH_SWEEP_BUFFERS];
    int64_t cursor[KITH_CURSORS]; /**< where searches of the keys last ended */
    bool no_memory;               /**< set once; the sweep then does nothing more */

    /* The pair operations' part. */
    unsigned extras; /**< KITH_DISTANCES, ...: slots or shifts of hits are wanted */
    int64_t hits;
    int32_t *hit_id;               /**< the hits collected; */
    int32_t *hit_slot, *hit_shift; /**< with extras, where they are and at which image */
    float *hit_r2;                 /**< for histograms: r2 / cutoff^2 */
    int64_t n_hits, room_hits;
    struct kith__row *rows;
    int64_t n_rows, room_rows;
    void (*flush)(struct kith__sweep *sweep); /**< the buffer is full: take the rows away */
    int64_t *counts;                          /**< by caller's index of i */
    const kith_pairs *out;                    /**< arrays to write */
    const int64_t *offsets;                   /**< where each i's row begins, */
    int64_t base;                             /**< counted from this pair of the whole list */
    void *job;                                /**< what is done, see run.h; whose flush it is */
    int64_t block;                            /**< being swept */
    const struct kith__scale *scale;          /**< histograms: distances to bins; else NULL */
    struct kith__tally tally;
    double (*pushed)[KITH_PUSHED]; /**< [tile.n] histograms with forces: candidates, moved */
    struct kith__flight *flight;   /**< flocks: what is summed; else NULL */
};

static inline int64_t kith__blocks(const struct kith__grid *grid)
{
    return (grid->a.n + KITH_BLOCK - 1) / KITH_BLOCK;
}

/** Forget the hits that were collected. */
static inline void kith__sweep_forget(struct kith__sweep *sweep)
{
    sweep->n_hits = 0;
    sweep->n_rows = 0;
}

/** Make room for n candidates in a tile; what is there stays. Without memory: false, and
 *  sweep->no_memory. */
bool kith__tile_room(struct kith__sweep *sweep, struct kith__tile *tile, int64_t n);

/** Room for n more hits after those collected. Without memory as above. */
bool kith__hits_room(struct kith__sweep *sweep, int64_t n);

/** Room for the rows of collected hits. Without memory as above. */
bool kith__rows_room(struct kith__sweep *sweep);

/** Give every thread's sweep the room of the largest, so that a second run allocates nothing
 *  whichever thread gets which block. What cannot be had now is tried again when it is needed. */
void kith__sweep_level(struct kith__sweep *sweeps, int n);

void kith__sweep_free(struct kith__sweep *sweep);

#endif
