/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys of particles, the numbers of cell and subcell by which they are sorted (kith__axis in
 * engine/cells.h), by vector operations, for the common case: an orthorhombic box, coordinates that
 * need no wrapping, axes that are not compressed, keys of at most KITH_PLAIN_BITS bits.
 */
#ifndef KITH_CPU_KEYS_H
#define KITH_CPU_KEYS_H

#include "engine/cells.h"
#include "isa.h"

/* Most bits of a key: the width of the fraction of a double, which holds the key exactly. */
enum { KITH_PLAIN_BITS = 52 };

/** The constants from which cell and subcell of a coordinate follow along one axis, as doubles. */
struct kith__key_axis {
    double origin;    /**< origin of the box [length] */
    double inverse;   /**< 1 / length of the box [1 / length] */
    double anchor;    /**< kith__axis.anchor [fractional coordinate] */
    double scale;     /**< kith__axis.scale: cells for each unit of fractional coordinate */
    double first;     /**< kith__axis.first: cell 0 of the axis, counted from the anchor [cells] */
    double last_cell; /**< number of cells - 1 */
    double subcells;  /**< subcells of a cell */
    double last_subcell;  /**< subcells of a cell - 1 */
    double subcell_scale; /**< 2^b, with the b bits of a key that hold the number of the subcell */
};

/** Write the elements to sort for particles [begin, end): the index in the `low` lowest bits, and
 *  the key in the bits above them. Cell and subcell are computed as in kith__uncompressed_subcell
 *  (engine/cells.h), but `first` is subtracted before the number is rounded down: a particle that
 *  is within a rounding error of the face between two cells may get the other cell, which
 *  KITH_CELL_MARGIN permits. KITH_FAR_CELLS is not tested: an axis of less than 2^31 cells, which
 *  contain the anchor, does not extend that far.
 *  @param key_axis  constants of each axis
 *  @param low       bits of an index
 *  @param elements  [n] the elements, by the caller's index of the particle */
typedef void kith__elements_fn(const struct kith__question *question, const kith_points *points,
                               const struct kith__key_axis key_axis[3], int64_t begin, int64_t end,
                               int low, uint64_t *elements);
kith__elements_fn KITH_EACH_ISA(write_elements);

#endif
