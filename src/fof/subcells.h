/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Subcells: each cell of the grid is divided into subcells whose diagonal is at most the linking
 * length, so that all particles of one subcell are friends. The particles of one subcell are called
 * a clump; clumps are the nodes of the union-find forest. Subcells, or cells, are within reach of a
 * subcell when they may hold particles within the linking length of a particle in it. Shared by all
 * backends.
 */
#ifndef KITH_SUBCELLS_H
#define KITH_SUBCELLS_H

#include "engine/cells.h"

enum {
    KITH_DENSE = 24,      /**< a cell of at least so many clumps is dense: it has an index */
    KITH_MOST_REACH = 16, /**< largest number of subcells within reach on one side */
    KITH_STEPS = 13       /**< forward neighbours of a cell: half of the 26 cells around it */
};

/** Index of a dense cell: one entry for each row of subcells along x. */
struct kith__subcell_row {
    uint16_t mask;  /**< bit x is set when subcell x of the row holds a clump */
    uint16_t first; /**< first clump of the row, counted from the first clump of the cell */
};

/** Offset from a cell to one of its forward neighbours. */
struct kith__step {
    int away[3];   /**< offset along each axis [cells] */
    int64_t cells; /**< number of the neighbour less that of the cell, where both are in the box */
};

/** Geometry of subcells. */
struct kith__subcells {
    int bits;     /**< bits of a key that number the subcell within its cell */
    int rows;     /**< rows of subcells along x in a cell: subcells along y times those along z */
    int reach[3]; /**< subcells within reach on each side, along each axis */
    /** [|dz|][|dy|] subcells within reach along x in a row that is dz, dy away; -1: none. */
    int8_t row_reach[KITH_MOST_REACH + 1][KITH_MOST_REACH + 1];
    /** [axis][p] offset of the first cell within reach of subcell p along an axis. */
    int8_t cell_low[3][KITH_MOST_SUBCELLS];
    /** [axis][p] offset of the last cell within reach of subcell p along an axis. */
    int8_t cell_high[3][KITH_MOST_SUBCELLS];
    bool around; /**< all cells within reach of a subcell are its own cell and the 26 around it */
    /** Forward neighbours of a cell: those of the 26 cells around it whose offset (z, y, x) is
     *  lexicographically positive, ascending. Each pair of adjacent cells is visited once. */
    struct kith__step step[KITH_STEPS];
};

/** Set question->subcell, the width of subcells, from the linking length and the box [length]. */
void kith__subcells_set_width(struct kith__question *question);

/**
 * Find the subcells and cells within reach of each subcell. O(1).
 * @param axis  the axes of the grid, divided by kith__divide_cells
 * @param near  largest distance of a pair, rounding errors included [length]
 * @param every_image  true: every image of a particle within the linking length is wanted; false:
 *                     in an orthorhombic box the nearest image of each particle is enough
 * @return false when more than KITH_MOST_REACH subcells on one side are within reach: the box is
 *         too skewed, or too thin for the linking length. *subcells is then undefined.
 */
bool kith__subcells_init(const struct kith__question *question, const struct kith__axis axis[3],
                         double near, bool every_image, struct kith__subcells *subcells);

#endif
