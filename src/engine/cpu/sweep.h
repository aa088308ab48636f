/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep finds all pairs within the cutoff; this is the working memory of one of its threads.
 *
 * Query particles are processed in query blocks: the particles of one cell, or of a few
 * neighbouring cells of a row where cells hold few particles. All particles near a query block, its
 * candidates, are packed once into a tile: coordinates as floats, in units of the cutoff, relative
 * to the centre of the query block, moved to their periodic image. Each query particle is then
 * tested against all candidates of the tile, W at a time (the lanes of a vector, simd.h). A
 * candidate that forms a pair with the query particle is a hit. What is done with the hits, the
 * operation, is known at compile time (visit.h). The float distances decide all cases but those
 * within their error bound of the cutoff; these borderline cases are decided by the definition
 * (pair.h). So the pairs found are exact.
 *
 * The unit of parallel work is a work block: the query blocks that begin in KITH_WORK_BLOCK
 * consecutive slots. Cost: O(n) work blocks, and for each query particle a test of the particles in
 * the volume around its cells, W at a time.
 *
 * Candidates and their images may be too many for one tile: a cutoff of 400 boxes reaches 3 x 10^8
 * images of each particle. A query block is then processed with several tiles of about KITH_TILE
 * candidates, one after the other, so that memory does not grow with the number of images. Only
 * sorted rows and flocks need all candidates of a query block in one tile; check_images in
 * pairs_cpu.c refuses sorted rows where that takes too much memory.
 */
#ifndef KITH_CPU_SWEEP_H
#define KITH_CPU_SWEEP_H

#include "grid.h"

enum {
    KITH_WORK_BLOCK = 256,  /**< slots of a work block */
    KITH_QUERY_BLOCK = 512, /**< most particles of a query block */
    /** Cells are added to a query block until it has this many particles: default of
     *  sweep->query_fill. */
    KITH_QUERY_FILL = 20,
    KITH_QUERY_CELLS = 8, /**< most cells that a query block spans along x; on a compressed axis, it
                               is any number of consecutive occupied cells */
    KITH_LANES = 16,  /**< lanes of the widest vector: tiles are padded by this many candidates */
    KITH_COLUMNS = 6, /**< integers of a candidate that an operation may have packed into a tile
                           (kith__columns) */
    KITH_TILE = 1 << 18, /**< candidates from which on a tile is processed before it is filled
                              further */
    /** Bytes for each candidate of a tile that is sorted by index: in each of two tiles, 8 +
     *  KITH_COLUMNS arrays of 4 bytes; in the sort, two arrays of 8 bytes. */
    KITH_SORTED_CANDIDATE_BYTES = 2 * (8 + KITH_COLUMNS) * 4 + 16,
    KITH_CURSORS = 64 /**< elements of kith__sweep.cursor: rows of cells around a query block whose
                           last search is remembered; a power of two, as a mask selects one */
};

/** Which cells around a query block are searched. */
enum kith__stencil {
    KITH_FORWARD, /**< half of the cells, so that each unordered pair of one set is found once: the
                       block's own row of cells, from the block on, and the rows at a higher y of
                       its layer, and all rows at a higher z, counted through images of the box */
    KITH_ALL      /**< all cells in reach: each pair of one set is found twice, as (i, j) and (j,
                       i); each pair of sets a and b is found once */
};

/** Integers of each particle that an operation has packed into the tile with the candidates. */
struct kith__columns {
    int32_t *of[KITH_COLUMNS]; /**< [n + KITH_LANES] value of each slot of grid->b; the padding is
                                    readable. All KITH_COLUMNS arrays are read: none is NULL */
    int32_t row[3][3];         /**< rows of the box in the units of columns 0 to 2, which hold
                                    positions: S[k] times row k is added to those of a candidate at
                                    image S, modulo 2^32 */
};

/** The candidates of a query block: arrays of n elements, padded by KITH_LANES candidates that are
 *  never hits: x, y, z, q and, with sweep->upper, rank are set in the padding, other arrays are
 *  not. The arrays follow each other in the order below, `room` elements apart. */
struct kith__tile {
    int n;                      /**< candidates */
    int room;                   /**< elements that each array has room for, padding included */
    bool shifted;               /**< at least one candidate is an image: `shift` is valid */
    struct kith__buffer memory; /**< memory of all arrays */
    float *x, *y, *z; /**< coordinates relative to the centre of the query block [cutoff] */
    float *q;         /**< x*x + y*y + z*z [cutoff^2]; INFINITY in the padding */
    int32_t *id;      /**< index in the caller's order; not set when there are columns */
    int32_t *slot;    /**< slot in grid->b */
    int32_t *shift;   /**< shift S of the candidate's image, packed by kith__pack_shift */
    int32_t *rank;    /**< with sweep->upper: 2 id + (the last non-zero of S is positive), a number
                           of 32 bits, with the sign bit flipped, so that signed comparison orders
                           it. A half list that is written by rows (sorted, or CSR) keeps the
                           candidates with a rank above that of the query particle, 2 id. Without
                           sweep->upper: scratch memory of the operation */
    int32_t *column[KITH_COLUMNS]; /**< the candidate's values of sweep->columns, positions moved to
                                        the image */
};

/** A block of query particles that share one tile of candidates: the particles of one cell, or of
 *  several neighbouring cells of one row when the cells hold few particles. */
struct kith__query_block {
    int64_t begin;         /**< first slot in grid->a */
    int64_t end;           /**< slot after the last */
    int64_t first_cell[3]; /**< x, y, z number of the first cell */
    int64_t last_cell_x;   /**< x number of the last cell; all are in one row */
    double centre[3]; /**< centre of the bounding box of the particles, from which coordinates of
                           the tile are measured [length] */
    double inverse_cutoff; /**< 1 / cutoff; 0 when the block is too wide for float coordinates: all
                                candidates are then borderline cases */
    float half_extent[3];  /**< half the size of the bounding box, rounded up [cutoff] */
    float error_bound;     /**< bound on the rounding error of r^2 / cutoff^2 */

    /** Bound on the rounding error of r^2 / cutoff^2 when no candidate is an image, for operations
     *  that compare distances again (tally_kernel.c); the sweep uses error_bound. */
    float error_bound_no_image;

    /** Coordinates of the particles, relative to the centre [cutoff]. */
    float x[KITH_QUERY_BLOCK], y[KITH_QUERY_BLOCK], z[KITH_QUERY_BLOCK];

    /** Index of each particle among the candidates of the tile; -1: it is no candidate. */
    int32_t self[KITH_QUERY_BLOCK];

    /** Hits of each particle that earlier tiles have written to its row. */
    int64_t filled[KITH_QUERY_BLOCK];
};

/** Buffers of a sweep, each for one purpose. */
enum {
    KITH_SWEEP_ORDER,    /**< sort of a tile; or comparison of cells, by friends-of-friends */
    KITH_SWEEP_IDS,      /**< kith__sweep.hit_id */
    KITH_SWEEP_SLOTS,    /**< kith__sweep.hit_slot */
    KITH_SWEEP_SHIFTS,   /**< kith__sweep.hit_shift */
    KITH_SWEEP_SQUARES,  /**< kith__sweep.hit_r2 */
    KITH_SWEEP_ROWS,     /**< kith__sweep.rows */
    KITH_SWEEP_OWN_TILE, /**< scratch memory of the operation, for one tile */
    KITH_SWEEP_OWN,      /**< scratch memory of the operation, for a whole run:
                              kith__sweep_equalise does not touch it */
    KITH_SWEEP_BUFFERS   /**< number of these buffers */
};

/** The hits of one query particle that an operation has collected. */
struct kith__row {
    int32_t id;   /**< index of the query particle in the caller's order */
    int32_t n;    /**< number of hits */
    int64_t slot; /**< slot of the query particle in grid->a */
    bool moved;   /**< true: a hit may be an image, and with keep_slots hit_shift is set; false: all
                       hits are at shift 0 */
};

/** The working memory of one thread: parameters of the sweep, the query block and its tile, and the
 *  hits collected. */
struct kith__sweep {
    const struct kith__question *question; /**< box, cutoff and precision */
    const struct kith__grid *grid;         /**< the sorted particles */
    enum kith__stencil stencil;            /**< the cells around a query block that are searched */
    bool by_id;              /**< candidates of a tile are sorted by the caller's index */
    bool upper;              /**< only candidates of higher rank (kith__tile.rank) than the query
                                  particle are hits */
    double definition_error; /**< bound on the rounding error of r^2 / cutoff^2 in the definition */

    /** Bound on the rounding error of r^2 / cutoff^2 in the definition, when j is not an image. */
    double definition_error_no_image;
    int32_t id_begin; /**< first caller's index of the query particles that are processed */
    int32_t id_end;   /**< index after the last; INT32_MAX: all from id_begin on */

    struct kith__query_block query;                 /**< the query block that is processed */
    struct kith__tile tile;                         /**< candidates of the query block */
    struct kith__tile spare;                        /**< second tile, for sorting the first */
    struct kith__buffer memory[KITH_SWEEP_BUFFERS]; /**< buffers, numbered by KITH_SWEEP_... */
    int64_t cursor[KITH_CURSORS]; /**< for row number k of the cells around a query block, in
                                       element k modulo KITH_CURSORS: slot where the last search of
                                       the keys ended, and where the next one begins. Used without a
                                       table of first slots */
    kith_status failed; /**< KITH_NO_MEMORY or KITH_CANCELLED once the sweep has failed: it then
                             does nothing more until kith__run_prepare; else KITH_OK */
    kith_ctx *ctx;      /**< context of the call */
    int64_t candidates_since_poll; /**< candidates since kith__cancelled was last called */
    int64_t candidates; /**< the cost of all searches since the context was opened, for tests:
                             candidates considered for tiles, candidates tested, and other work in
                             units of these (all n of kith__sweep_goes_on) */

    /* Parameters and state of the operation. */
    void *job;                           /**< data that all threads share (kith__run.job) */
    void *state;                         /**< data of this thread alone (kith__run_prepare) */
    const struct kith__columns *columns; /**< integers to pack with candidates; NULL: none. With
                                              columns, a tile holds all candidates of a block, and
                                              by_id is false: a sort would not move the columns */

    /** Cells are added to a query block until it has this many particles. */
    int64_t query_fill;
    bool keep_slots;   /**< hit_slot and hit_shift are stored */
    bool keep_squares; /**< hit_r2 is stored */

    /* The hits that an operation collects. */
    int32_t *hit_id;        /**< [room_hits] index in the caller's order, or index in the tile, as
                                 the operation chooses */
    int32_t *hit_slot;      /**< [room_hits] with keep_slots: slot in grid->b */
    int32_t *hit_shift;     /**< [room_hits] with keep_slots: shift S of the image, packed */
    float *hit_r2;          /**< [room_hits] with keep_squares: r^2 / cutoff^2 */
    int64_t n_hits;         /**< hits collected */
    int64_t room_hits;      /**< capacity of the arrays of hits */
    struct kith__row *rows; /**< [room_rows] the query particles that hits were collected for */
    int64_t n_rows;         /**< query particles in rows */
    int64_t room_rows;      /**< capacity of rows */
};

/** Process work block number `block` of a run (run.h): the query blocks that begin in slots [block
 *  * KITH_WORK_BLOCK, (block + 1) * KITH_WORK_BLOCK) of the grid, unless the operation documents
 *  another division of its work. Sets sweep->failed and returns early when it cannot go on. */
typedef void kith__work_fn(struct kith__sweep *sweep, int64_t block);

/** Return the number of work blocks of a grid. */
static inline int64_t kith__work_blocks(const struct kith__grid *grid)
{
    return (grid->a.n + KITH_WORK_BLOCK - 1) / KITH_WORK_BLOCK;
}

/** Add n candidates to those processed; every 2^17 candidates, test whether the call is to stop,
 *  and set sweep->failed then.
 *  @return true when the sweep goes on */
static inline bool kith__sweep_goes_on(struct kith__sweep *sweep, int64_t n)
{
    enum { CANDIDATES = 1 << 17 };
    sweep->candidates_since_poll += n;
    sweep->candidates += n;
    if (sweep->candidates_since_poll >= CANDIDATES) {
        sweep->candidates_since_poll = 0;
        if (sweep->failed == KITH_OK && kith__cancelled(sweep->ctx)) {
            sweep->failed = KITH_CANCELLED;
        }
    }
    return sweep->failed == KITH_OK;
}

/** Discard the hits that were collected. */
static inline void kith__sweep_discard_hits(struct kith__sweep *sweep)
{
    sweep->n_hits = 0;
    sweep->n_rows = 0;
}

/** Make the capacity of a tile at least n candidates and 2 KITH_LANES: the padding, and a vector
 *  that is stored where fewer candidates are appended. Its contents are kept.
 *  @return false when there is no memory, or the capacity would exceed an int; sweep->failed is set
 *          then */
bool kith__tile_room(struct kith__sweep *sweep, struct kith__tile *tile, int64_t n);

/** Make the capacity of the arrays of hits at least n more than those collected, and a vector of
 *  padding.
 *  @return false when there is no memory; sweep->failed is set then */
bool kith__hits_room(struct kith__sweep *sweep, int64_t n);

/** Allocate sweep->rows for 2048 query particles: when they are full, an operation processes them
 *  and begins again. Its contents are lost.
 *  @return false when there is no memory; sweep->failed is set then */
bool kith__rows_room(struct kith__sweep *sweep);

/** Grow the buffers of all threads to the size of the largest, so that a second run allocates
 *  nothing, whichever thread processes which work block. Buffers that cannot be grown now are grown
 *  when they are needed. Contents are lost. KITH_SWEEP_OWN is left as it is.
 *  @param sweeps  [n] the working memory of all threads */
void kith__sweep_equalise(struct kith__sweep *sweeps, int n);

/** Free the buffers of one thread. */
void kith__sweep_free(struct kith__sweep *sweep);

#endif
