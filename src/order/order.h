/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operation that a backend offers for orders of particles, permutations in which neighbours in
 * space are near each other in memory; and the keys by which particles are sorted, which every
 * backend computes by these functions. A key is the number of the particle's cell: by rows of
 * cells, or along a Hilbert curve (engine/curve.h).
 */
#ifndef KITH_ORDER_H
#define KITH_ORDER_H

#include "core/backend.h"
#include "engine/curve.h"
#include "engine/question.h"

/** The smallest and largest coordinates of all particles, wrapped into the box. */
struct kith__extents {
    double lo[3]; /**< smallest coordinate along x, y, z [length] */
    double hi[3]; /**< largest coordinate along x, y, z [length] */
};

/** The cells that particles are sorted by: cubes, counted from the smallest coordinates. */
struct kith__order_cells {
    double lo[3];      /**< the smallest coordinates [length] */
    double per_length; /**< 1 / width of a cell; 0: all particles are in one cell [1 / length] */
    double last[3];    /**< number of the last cell along x, y, z */
    uint64_t n_x, n_y; /**< numbers of cells along x and y; unused with the Hilbert curve */
    int dim;           /**< dimensions, 2 or 3 */
    int curve_bits;    /**< bits of the number of a cell along an axis of the Hilbert curve; 0:
                            cells are numbered by rows */
    int bits;          /**< bits of a key, 0 to 63 */
};

/** Operations that a backend offers; NULL: not offered. */
struct kith__order_backend {
    /** Find the order: a stable sort of the particles by key.
     *  @param cell        width of a cell; 0: cells along the Hilbert curve [length]
     *  @param[out] order  [a.n] caller's index of the particle at each place of the order
     *  @param where       memory of `order`: KITH_HOST or KITH_DEVICE
     *  @return KITH_OK, KITH_NOT_FINITE or KITH_LIMIT for a particle that cannot be used,
     *          KITH_NO_MEMORY, KITH_CANCELLED, KITH_DEVICE_LOST */
    kith_status (*find)(kith_ctx *ctx, const struct kith__question *question, double cell,
                        int32_t *order, kith_memory where);
};

extern const struct kith__order_backend kith__cpu_order, kith__cuda_order;

/** Choose the cells: at most 2^21 (KITH_CURVE_BITS) along an axis; where the given width would make
 *  more, they are wider.
 *  @param extents  extents of all particles; lo > hi when there is none
 *  @param cell     width of a cell; 0: cells along the Hilbert curve [length] */
struct kith__order_cells kith__order_cells_of(const struct kith__question *question,
                                              const struct kith__extents *extents, double cell);

/** Return the key of a particle: the number of its cell, of cells->bits bits.
 *  @param r  position of the particle, wrapped into the box [length] */
KITH_FN uint64_t kith__order_key(const struct kith__order_cells *cells, const double r[3])
{
    uint32_t c[3] = {0, 0, 0};
    for (int k = 0; k < cells->dim; k++) {
        const double at = KITH_MUL_d(KITH_SUB_d(r[k], cells->lo[k]), cells->per_length);
        c[k] = (uint32_t)fmin(fmax(at, 0.0), cells->last[k]); /* 0 when it is not a number */
    }
    if (cells->curve_bits > 0) {
        return cells->dim == 2 ? kith__hilbert(c, 2, cells->curve_bits)
                               : kith__hilbert(c, 3, cells->curve_bits);
    }
    return (c[2] * cells->n_y + c[1]) * cells->n_x + c[0];
}

#endif
