/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one thread holds while it sweeps. The sweep goes over homes: a home is the particles of one
 * cell, or of a few neighbouring ones where cells hold little. All particles near a home are packed
 * once into a tile, as floats in units of the cutoff from the home's middle, images shifted; then
 * each particle of the home runs through the tile, W candidates at a time. The tile decides clear
 * cases; what lies within its error bound of the cutoff is decided by the definition (pair.h).
 *
 * Candidates and their images may be too many for one tile: a cutoff of 400 boxes reaches 3 x 10^8
 * images of each particle. A home is then visited with one tile of about KITH_TILE candidates after
 * the other, so that memory does not grow with the images. Sorted rows and flocks alone need all
 * candidates of a home in one tile; check_images in pairs.c refuses the former where that is too
 * much.
 */
#ifndef KITH_CPU_SWEEP_H
#define KITH_CPU_SWEEP_H

#include "grid.h"

enum {
    KITH_BLOCK = 256,      /**< particles from the start of one unit of work to the next */
    KITH_HOME = 512,       /**< the most particles in a home */
    KITH_HOME_ENOUGH = 20, /**< neighbouring cells are added to a home until it holds these, unless
                                 an operation sets sweep->home_enough */
    KITH_HOME_CELLS = 8,   /**< or until it spans these */
    KITH_LANES = 16,     /**< the widest vector; tiles are padded to it on every instruction set */
    KITH_COLUMNS = 6,    /**< the most numbers of a candidate that an operation adds up */
    KITH_TILE = 1 << 18, /**< candidates from which a tile is visited before it takes more */
    KITH_SORTED_CANDIDATE_BYTES = 2 * (8 + KITH_COLUMNS) * 4 + 16, /**< two tiles and the order */
    KITH_CURSORS = 64
};

/** Which candidates a home looks at. */
enum kith__stencil {
    KITH_FORWARD, /**< each unordered pair once: later particles of the row, and rows ahead */
    KITH_ALL      /**< all around: each pair from both ends, or A against B */
};

/** Integers of each particle that are packed beside the candidates of a tile. */
struct kith__columns {
    int32_t *of[KITH_COLUMNS]; /**< [n] each, by slot of grid->b; room for KITH_LANES more */
    int32_t row[3][3];         /**< rows of the box in units of columns 0 to 2, which are positions:
                                    images move them */
};

/** Candidates near a home. Padded with KITH_LANES that are never hits. */
struct kith__tile {
    int n, room;
    bool shifted; /**< some candidate is an image: shift is kept */
    struct kith__buffer memory;
    float *x, *y, *z; /**< in units of the cutoff, from the home's middle */
    float *q;         /**< x*x + y*y + z*z */
    int32_t *id;      /**< caller's index; without columns alone */
    int32_t *slot;    /**< place in the grid */
    int32_t *shift;   /**< image, packed; see kith__pack_shift */
    int32_t *rank;    /**< 2 id + (image is after 0), sign bit flipped: orders a sorted half list.
                           Where sweep->upper is false, the operation may keep a number here */
    int32_t *column[KITH_COLUMNS]; /**< sweep->columns of each candidate, images moved */
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
    int32_t self[KITH_HOME];   /**< index of each in the tile; -1: not there */
    int64_t filled[KITH_HOME]; /**< hits of each that earlier tiles have put into its row */
};

/** What a sweep's buffers are for. */
enum {
    KITH_SWEEP_ORDER, /**< sorting a tile, or comparing clumps */
    KITH_SWEEP_IDS,   /**< of hits; what else is kept of them: */
    KITH_SWEEP_SLOTS,
    KITH_SWEEP_SHIFTS,
    KITH_SWEEP_SQUARES,
    KITH_SWEEP_ROWS,
    KITH_SWEEP_OWN_TILE, /**< an operation's data of the candidates of a tile */
    KITH_SWEEP_OWN,      /**< an operation's data of a run: kith__sweep_level does not change it */
    KITH_SWEEP_BUFFERS
};

/** Hits of one particle, collected: written by the kernel, read by the pair operations. */
struct kith__row {
    int32_t id;   /**< caller's index of i */
    int32_t n;    /**< hits */
    int64_t slot; /**< place of i */
    bool moved;   /**< some of them are images: with keep_places, hit_shift is set */
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
    kith_status failed;           /**< KITH_NO_MEMORY or KITH_CANCELLED: set once; the sweep then
                                       does nothing more */
    kith_ctx *ctx;                /**< whose call this is */
    int64_t untold;               /**< candidates since kith__cancelled was last tested */

    /* Parameters and state of the operation. */
    void *job;                           /**< shared by all threads (struct kith__run) */
    void *state;                         /**< of this thread alone (kith__run_prepare) */
    const struct kith__columns *columns; /**< packed with candidates; NULL: none. With columns, a
                                              tile holds all candidates of a home */
    int64_t home_enough;                 /**< particles of a home, see KITH_HOME_ENOUGH */
    bool keep_places;                    /**< store slots and images of hits */
    bool keep_squares;                   /**< store r2 / cutoff^2 of hits */

    /* The hits that an operation collects. */
    int32_t *hit_id;               /**< caller's index, or place in the tile */
    int32_t *hit_slot, *hit_shift; /**< with keep_places: slot, and image, packed */
    float *hit_r2;                 /**< with keep_squares: r2 / cutoff^2 */
    int64_t n_hits, room_hits;
    struct kith__row *rows; /**< the particles that they were collected for */
    int64_t n_rows, room_rows;
};

/** Does part number `block` of what a run is for (run.h): sweeps that block of the grid
 *  (kith__blocks), unless said otherwise. When it cannot go on it sets sweep->failed and stops. */
typedef void kith__block_fn(struct kith__sweep *sweep, int64_t block);

static inline int64_t kith__blocks(const struct kith__grid *grid)
{
    return (grid->a.n + KITH_BLOCK - 1) / KITH_BLOCK;
}

/** Count n candidates; test from time to time whether the call is to stop, and then set
 *  sweep->failed. @return whether the sweep goes on. */
static inline bool kith__sweep_goes_on(struct kith__sweep *sweep, int64_t n)
{
    enum { CANDIDATES = 1 << 17 };
    sweep->untold += n;
    if (sweep->untold >= CANDIDATES) {
        sweep->untold = 0;
        if (sweep->failed == KITH_OK && kith__cancelled(sweep->ctx)) {
            sweep->failed = KITH_CANCELLED;
        }
    }
    return sweep->failed == KITH_OK;
}

/** Forget the hits that were collected. */
static inline void kith__sweep_forget(struct kith__sweep *sweep)
{
    sweep->n_hits = 0;
    sweep->n_rows = 0;
}

/** Make room for n candidates in a tile; what is there stays. Without memory: false, and
 *  sweep->failed. */
bool kith__tile_room(struct kith__sweep *sweep, struct kith__tile *tile, int64_t n);

/** Room for n more hits after those collected. Without memory as above. */
bool kith__hits_room(struct kith__sweep *sweep, int64_t n);

/** Room for the rows of collected hits. Without memory as above. */
bool kith__rows_room(struct kith__sweep *sweep);

/** Give every thread's sweep the room of the largest, so that a second run allocates nothing
 *  whichever thread gets which block. What cannot be had now is tried again when it is needed.
 *  Contents are lost, but for those of KITH_SWEEP_OWN. */
void kith__sweep_level(struct kith__sweep *sweeps, int n);

void kith__sweep_free(struct kith__sweep *sweep);

#endif
