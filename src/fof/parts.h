/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cells divided into parts of which the diagonal is no longer than the linking length, for every
 * backend: the particles of one part, a clump, are friends by construction. Which parts, and which
 * cells, are in reach of a part.
 */
#ifndef KITH_PARTS_H
#define KITH_PARTS_H

#include "engine/cells.h"

enum {
    KITH_CROWD = 24,      /**< clumps in a cell from which it is worth an index */
    KITH_MOST_REACH = 16, /**< parts to look at on each side */
    KITH_STEPS = 13       /**< cells ahead of a cell */
};

/** A row of parts along x, in the index of a crowded cell. */
struct kith__part_row {
    uint16_t mask;  /**< bit x: part x holds a clump */
    uint16_t first; /**< the row's first clump, counted from the cell's */
};

/** A way to one of the cells ahead of a cell. */
struct kith__step {
    int away[3];
    int64_t cells; /**< what it adds to the cell's number */
};

struct kith__parts {
    int bits;     /**< of a key below the cell's number */
    int rows;     /**< of parts in a cell */
    int reach[3]; /**< parts to look at on each side */
    /** Parts to look at along x where rows are dz, dy away; -1: none. */
    int8_t row_reach[KITH_MOST_REACH + 1][KITH_MOST_REACH + 1];
    /** Cells that are in reach of part p along each axis: the first and the last. */
    int8_t cell_low[3][KITH_MOST_PARTS], cell_high[3][KITH_MOST_PARTS];
    bool around; /**< the cells around a cell are all that are in reach of it, */
    struct kith__step step[KITH_STEPS]; /**< and these are ahead of it */
};

/** Set the width of parts that question->part asks for, from its cutoff and box. */
void kith__parts_ask(struct kith__question *question);

/**
 * Find what is in reach of each part.
 * @param axis  the cells chosen
 * @param near  particles further apart than this are no pair, however the distance was rounded
 * @return false where more than KITH_MOST_REACH parts on a side are in reach: the box is so skewed,
 *         or so thin for the cutoff, that parts do not fit. Nothing is then known of them.
 */
bool kith__parts_init(const struct kith__question *question, const struct kith__axis axis[3],
                      double near, struct kith__parts *parts);

#endif
