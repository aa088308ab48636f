/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cells of the cell lists, for every backend: how many there are along each axis, how wide they
 * are, and which of them holds a coordinate. Cells are usually at least a cutoff wide: all
 * neighbours of a particle are then in its own cell and the adjacent ones. They may be narrower
 * where a periodic box is shorter than the cutoff and, in a skewed box, where they are divided into
 * subcells; axis->reach is the number of cells on each side that must be searched. Coordinates are
 * used in fractional form: fraction f_k of r along row k of the box, 0 to 1 inside the box.
 *
 * If question->subcell > 0, each cell is divided into subcells of at most this width.
 * Friends-of-friends chooses the width so that all particles of one subcell are within the linking
 * length of each other. Particles are sorted by cell and, inside a cell, by subcell.
 */
#ifndef KITH_CELLS_H
#define KITH_CELLS_H

#include <float.h>
#include <stdbool.h>

#include "question.h"

/* Cells are wider than the cutoff by this fraction of it. The cell coordinate u, (f - anchor) *
 * scale of a fractional coordinate f, is rounded; with the margin, particles whose u differ by more
 * than 1 are further apart than the cutoff, as long as |u| <= KITH_FAR_CELLS: the spacing of
 * doubles is 2^-12 there, much less than the margin. Particles beyond that are put into the
 * outermost cells. */
#define KITH_CELL_MARGIN (1.0 / 256)
#define KITH_FAR_CELLS 1099511627776.0 /* 2^40 */

/* Most cells for which there is a table of the first slot of each: KITH_TABLE_PER_PARTICLE for each
 * particle (of the smaller set, where there are two), but at least KITH_TABLE_SMALL. */
enum { KITH_TABLE_PER_PARTICLE = 2, KITH_TABLE_SMALL = 4096 };

/* Most subcells of a cell along an axis: a row of subcells must fit a mask of 16 bits. */
enum { KITH_MOST_SUBCELLS = 16 };

/** Bounds of the coordinates of all particles, wrapped into the box; found in one pass. */
struct kith__bounds {
    double lo[3];    /**< smallest fractional coordinate along each row of the box */
    double hi[3];    /**< largest fractional coordinate along each row of the box */
    int64_t bad;     /**< first particle with a coordinate that is not finite; else INT64_MAX */
    int64_t far;     /**< first particle that is too far outside the box to wrap; else INT64_MAX */
    int32_t wrapped; /**< upper bound on the number of boxes by which wrapping moved any particle
                          along an axis; 0: it moved none */
};

/**
 * The cells along one axis. A key, by which particles are sorted, is the number of the cell,
 * (z * n_y + y) * n_x + x, followed by the numbers of the subcell along z, y and x in subcell_bits
 * bits each.
 *
 * Where a table of all cells would be too large, long axes are compressed: runs of cells that hold
 * no particle are shortened, and cells are renumbered: cell occupied[m] before compression is cell
 * ranks[m] after it.
 */
struct kith__axis {
    int64_t n;        /**< number of cells, after compression where the axis is compressed */
    int reach;        /**< a neighbour of a particle is at most so many cells away along the axis */
    int subcells;     /**< subcells of each cell along the axis; 1: cells are not divided */
    int subcell_bits; /**< bits of a key that hold the number of a subcell along the axis */
    bool periodic;    /**< cells continue with images of the box on both sides */
    double anchor;    /**< fractional coordinate that cells are counted from; 0 when periodic */
    double scale;     /**< cells for each unit of fractional coordinate */
    int64_t first;    /**< cell 0 of the axis, counted from the anchor; 0 when periodic */
    int64_t n_uncompressed;  /**< number of cells before compression */
    int64_t n_occupied;      /**< number of occupied cells; 0: the axis is not compressed */
    const int64_t *occupied; /**< [n_occupied] occupied cells before compression; ascending */
    const int64_t *ranks;    /**< [n_occupied] numbers of occupied cells after compression;
                                  ascending */
};

/** Return the image of the box along an axis of n cells that cell `at` is in: at / n rounded down.
 *  Divides only when that is not image -1, 0 or 1. */
KITH_FN int64_t kith__image_of_cell(int64_t at, int64_t n)
{
    if ((uint64_t)at < (uint64_t)n) {
        return 0;
    }
    const int64_t next = at < 0 ? -1 : 1;
    return (uint64_t)(at - next * n) < (uint64_t)n ? next : at >= 0 ? at / n : -((-at + n - 1) / n);
}

/** Find cell c + d of an axis.
 *  @param[out] cell   its number inside the box
 *  @param[out] image  shift, along this axis, of the image of the box that it is in; 0 for an open
 *                     axis
 *  @return false when it is outside an open axis */
KITH_FN bool kith__step_axis(const struct kith__axis *axis, int64_t c, int64_t d, int64_t *cell,
                             int32_t *image)
{
    const int64_t at = c + d;
    *image = axis->periodic ? (int32_t)kith__image_of_cell(at, axis->n) : 0;
    *cell = at - *image * axis->n;
    return *cell >= 0 && *cell < axis->n;
}

/** Return the cell of an open axis that holds fractional coordinate f, counted from the anchor:
 *  it may be negative. */
KITH_FN int64_t kith__open_cell(const struct kith__axis *axis, double f)
{
    double u = (f - axis->anchor) * axis->scale;
    u = u < KITH_FAR_CELLS ? u : KITH_FAR_CELLS;
    u = u > -KITH_FAR_CELLS ? u : -KITH_FAR_CELLS;
    const int64_t c = (int64_t)u;
    return c - (u < (double)c); /* floor(u) without a call */
}

/** Return the cell of an axis that holds fractional coordinate f, 0 to n_uncompressed - 1: its
 *  number before compression. */
KITH_FN int64_t kith__uncompressed_cell(const struct kith__axis *axis, double f)
{
    const int64_t c = axis->periodic ? (int64_t)(f * axis->scale)
                                     : kith__open_cell(axis, f) - axis->first;
    return c < 0 ? 0 : c < axis->n_uncompressed ? c : axis->n_uncompressed - 1;
}

/** Return the cell of an axis that holds fractional coordinate f, as kith__uncompressed_cell does,
 *  and set *subcell to the number of its subcell, 0 to subcells - 1. Open and periodic axes need no
 *  branch: anchor and first are 0 along periodic ones. */
KITH_FN int64_t kith__uncompressed_subcell(const struct kith__axis *axis, double f, int *subcell)
{
    double u = (f - axis->anchor) * axis->scale;
    u = u < KITH_FAR_CELLS ? u : KITH_FAR_CELLS;
    u = u > -KITH_FAR_CELLS ? u : -KITH_FAR_CELLS;
    int64_t c = (int64_t)u;
    c -= (u < (double)c) + axis->first;
    c = c > 0 ? c : 0;
    c = c < axis->n_uncompressed ? c : axis->n_uncompressed - 1;
    const int p = (int)((u - (double)(c + axis->first)) * axis->subcells);
    *subcell = p < 0 ? 0 : p < axis->subcells ? p : axis->subcells - 1;
    return c;
}

/** Return a bound on the distance of any particle from the box's origin [length], as the sum of
 *  absolute values of components. The rounding errors of fractional coordinates in a triclinic box
 *  are proportional to it. */
KITH_FN double kith__farthest(const struct kith__question *q, const struct kith__bounds *bounds)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double *row = q->box_d.row[k];
        sum += fmax(fabs(bounds->lo[k]), fabs(bounds->hi[k])) *
               (fabs(row[0]) + fabs(row[1]) + fabs(row[2]));
    }
    return sum;
}

/** Return the machine epsilon of the question's precision: twice the largest relative rounding
 *  error. */
KITH_FN double kith__epsilon(const struct kith__question *q)
{
    return q->precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
}

/** Return how far wrapped particles lie outside the box along row k of a periodic axis [boxes]; 0
 *  or less when all are inside. In an orthorhombic box, whose wrapping leaves no particle outside,
 *  it is a rounding error of the fraction at most. In a triclinic box it is the rounding error of
 *  wrapping, which grows with the number of boxes that are subtracted. */
KITH_FN double kith__outside_along(const struct kith__bounds *bounds, int k)
{
    return fmax(-bounds->lo[k], bounds->hi[k] - 1);
}

/** Return how far wrapped particles lie outside the box at most, across the faces of its periodic
 *  axes [length]; 0 when all are inside. */
KITH_FN double kith__outside(const struct kith__question *q, const struct kith__bounds *bounds)
{
    double outside = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            outside = fmax(outside, kith__outside_along(bounds, k) * q->height[k]);
        }
    }
    return outside;
}

/** Return a bound on the shift of a pair of particles inside the box, along any periodic axis
 *  [boxes]; 0 in open space. One is added to the cutoff in heights of the box, as either particle
 *  may be anywhere in the box. */
KITH_FN double kith__most_images(const struct kith__question *q)
{
    double images = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            images = fmax(images, ceil(q->cutoff / q->height[k]) + 1);
        }
    }
    return images;
}

/**
 * Return the width that a cell needs so that all neighbours of its particles are in adjacent cells
 * [length]; it is also a bound on the distance of a pair, with rounding errors: the cutoff and the
 * margin, plus a bound on rounding errors, plus twice the distance by which particles lie outside
 * the box, since either particle of a pair may have been put into the outermost cell instead.
 *
 * The rounding errors are those of the distance of a pair: of the difference of two positions in
 * the box and, in a triclinic box, of adding as many rows as the shift of a pair can have, and of
 * fractional coordinates (kith__farthest). The factors are ample: the roundings in
 * kith__separation add up to less than a half of them.
 */
KITH_FN double kith__cell_side(const struct kith__question *q, const struct kith__bounds *bounds)
{
    const double epsilon = kith__epsilon(q);
    double side = q->cutoff * (1 + KITH_CELL_MARGIN) + 16 * epsilon * q->period_sum +
                  2 * kith__outside(q, bounds);
    if (!q->box_d.orthorhombic) {
        side += 8 * epsilon * q->period_sum * kith__most_images(q) +
                16 * DBL_EPSILON * kith__farthest(q, bounds);
    }
    return side;
}

/** Choose the cells of axis k. On an open axis, cells are exactly `side` wide. On a periodic axis
 *  there is a whole number of cells, each at least `side` wide, or one cell when the box is
 *  shorter; with subcells, each at most `side` wide. No periodic axis has more than KITH_FAR_CELLS
 *  cells.
 *  @param anchor  a fractional coordinate among the particles, from which cells of an open axis
 *                 are counted
 *  @param side    requested width of a cell [length] */
KITH_FN struct kith__axis kith__choose_axis(const struct kith__question *q,
                                            const struct kith__bounds *bounds, double anchor,
                                            double side, int k)
{
    const double height = q->height[k];
    struct kith__axis axis = {0, 1, 1, 0, q->box_d.periodic[k] != 0, 0, 0, 0, 0, 0, NULL, NULL};
    if (axis.periodic) {
        const double most = fmin(height / side, KITH_FAR_CELLS);
        const double n = q->subcell > 0 ? ceil(most) : floor(most);
        axis.n = n > 1 ? (int64_t)n : 1;
        axis.scale = (double)axis.n;
        /* `side` may be much larger than the largest distance of a pair: it is doubled while there
         * are more than 2^62 cells. The reach follows from the smaller of the two. The factor
         * 1 - 1e-9 keeps a quotient that exceeds 1 only by a rounding error from becoming 2. No
         * pair has a shift of more than KITH_MOST_SHIFT, so the reach is at most that many boxes;
         * `near`, with its bound on rounding errors, may be longer. */
        const double near = fmin(side, kith__cell_side(q, bounds));
        const double farthest = (double)KITH_MOST_SHIFT * height;
        axis.reach = (int)ceil(fmin(near, farthest) * (double)axis.n / height * (1 - 1e-9));
    } else {
        axis.anchor = anchor;
        axis.scale = height / side;
        axis.first = kith__open_cell(&axis, bounds->lo[k]);
        axis.n = kith__open_cell(&axis, bounds->hi[k]) - axis.first + 1;
    }
    axis.n_uncompressed = axis.n;
    return axis;
}

/** Return the number of all cells, the product of three axes; -1 when it exceeds 2^62. */
KITH_FN int64_t kith__count_cells(const struct kith__axis axis[3])
{
    const double product = (double)axis[0].n * (double)axis[1].n * (double)axis[2].n;
    return product < 4.6e18 ? axis[0].n * axis[1].n * axis[2].n : -1;
}

/** Choose cells of width `side` along all axes.
 *  @param anchor     fractional coordinates of a point among the particles
 *  @param side       width of a cell [length]
 *  @param[out] axis  the cells
 *  @return the number of cells; -1 when it exceeds 2^62 */
KITH_FN int64_t kith__choose_axes(const struct kith__question *q, const struct kith__bounds *bounds,
                                  const double anchor[3], double side, struct kith__axis axis[3])
{
    for (int k = 0; k < 3; k++) {
        axis[k] = kith__choose_axis(q, bounds, anchor[k], side, k);
    }
    return kith__count_cells(axis);
}

/** Return how many bits the binary form of a value has; 0 for 0. */
KITH_FN int kith__bit_length(uint64_t value)
{
    int bits = 0;
    while (value >> bits) {
        bits++;
    }
    return bits;
}

/** Return the largest number of cells for which a table of the first slot of each is kept. The
 *  factor KITH_TABLE_PER_PARTICLE makes the memory of the table O(n). With subcells there is a
 *  table of set a alone. */
KITH_FN int64_t kith__table_limit(const struct kith__question *q)
{
    const bool both = q->cross && !(q->subcell > 0);
    const int64_t n = both && q->b.n < q->a.n ? q->b.n : q->a.n;
    const int64_t small = KITH_TABLE_SMALL;
    const int64_t most = n * KITH_TABLE_PER_PARTICLE;
    return most > small ? most : small;
}

/** Return a bound on the rounding error of r^2 / cutoff^2 in the definition of a pair (pair.h), for
 *  r up to the cutoff and a j that is not a periodic image: r_j - r_i is then rounded once, with an
 *  error relative to itself. These are six roundings of epsilon / 2, of which 4 epsilon is a bound:
 *  the difference, twice as it is squared, its square, two sums, and the square of the cutoff. */
KITH_FN double kith__definition_error_no_image(const struct kith__question *q)
{
    return 4 * kith__epsilon(q);
}

/**
 * Return a bound on the difference between r^2 / cutoff^2 of the definition of a pair (pair.h) and
 * of coordinates that are moved to the image in double precision, for r up to the cutoff. In a
 * triclinic box each operation rounds once, and where rows are added the numbers are up to (images
 * + 1) boxes long; the factors are ample. In an orthorhombic box a component has the rounding
 * errors of r_j - r_i, which is less than a box, of the shift, and of a position in double. An
 * error `off` of r / cutoff near 1 is one of (1 + off)^2 - 1 of its square.
 */
KITH_FN double kith__definition_error(const struct kith__question *q)
{
    const double epsilon = kith__epsilon(q);
    double square = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            const double boxes = (ceil(q->cutoff / q->height[k]) + 1) * q->box_d.row[k][k];
            const double off = 0.5 * epsilon * boxes +
                               DBL_EPSILON * (boxes + fabs(q->box_d.origin[k]));
            square += off * off;
        }
    }
    if (!q->box_d.orthorhombic) {
        const double images = fmax(1.0, kith__most_images(q));
        return 16 * epsilon + 32 * epsilon * q->period_sum * (images + 1) / q->cutoff;
    }
    const double off = sqrt(square) / q->cutoff;
    return kith__definition_error_no_image(q) + off * (2 + off);
}

/** Return the smallest number of subcells along an axis of a cell, 4 to KITH_MOST_SUBCELLS, with
 *  which there are at most `limit` cells; 8 when even KITH_MOST_SUBCELLS gives more cells: there is
 *  then no table of all cells, or axes are compressed.
 *  @param limit  most cells of a table of first slots */
KITH_FN int kith__choose_subcells(const struct kith__question *q, const struct kith__bounds *bounds,
                                  const double anchor[3], int64_t limit)
{
    const int least = 4;
    const int middle = 8;
    for (int subcells = least; subcells <= KITH_MOST_SUBCELLS; subcells++) {
        struct kith__axis axis[3];
        const int64_t cells = kith__choose_axes(q, bounds, anchor, subcells * q->subcell, axis);
        if (cells >= 0 && cells <= limit) {
            return subcells;
        }
    }
    return middle;
}

/** Divide the cells of all axes into subcells.
 *  @param subcells      subcells of a cell along each axis
 *  @param near          largest distance of a pair, rounding errors included [length]
 *  @param[in,out] axis  the cells; their subcells, subcell_bits and reach are set
 *  @return true when a subcell may hold particles that are further apart than its width: beyond
 *          KITH_FAR_CELLS cells from the anchor, where a periodic axis would need more cells than
 *          KITH_FAR_CELLS, or where rounding left wrapped particles outside a triclinic box */
KITH_FN bool kith__divide_cells(const struct kith__question *q, const struct kith__bounds *bounds,
                                int subcells, double near, struct kith__axis axis[3])
{
    bool far = false;
    for (int k = 0; k < q->dim; k++) {
        const double first = (double)axis[k].first;
        const double last = first + (double)axis[k].n_uncompressed - 1;
        axis[k].subcells = subcells;
        axis[k].subcell_bits = kith__bit_length((uint64_t)subcells - 1);
        axis[k].reach = (int)ceil(near * axis[k].scale / q->height[k] * (1 - 1e-9));
        far = far || first <= -KITH_FAR_CELLS || last >= KITH_FAR_CELLS - axis[k].periodic;
        if (axis[k].periodic) {
            /* distance of particles outside the box [subcells]; must be a part of the margin by
             * which fof/subcells.c makes subcells narrower */
            const double outside = kith__outside_along(bounds, k) * axis[k].scale * subcells;
            far = far || outside > KITH_CELL_MARGIN / 4;
        }
    }
    return far;
}

/** Return how many low bits of a key hold the number of the subcell. */
KITH_FN int kith__subcell_bits(const struct kith__axis axis[3])
{
    return axis[0].subcell_bits + axis[1].subcell_bits + axis[2].subcell_bits;
}

/** Return how many bits are needed for all keys, and for the one after the last: the end of a range
 *  of cells.
 *  @param cells  number of all cells */
KITH_FN int kith__key_bits(int64_t cells, const struct kith__axis axis[3])
{
    return kith__bit_length((uint64_t)cells) + kith__subcell_bits(axis);
}

/** Return true when keys fit: in 63 bits, so that they may be signed. It is always so without
 *  subcells, as there are at most 2^62 cells.
 *  @param cells  number of all cells; -1: too many (kith__count_cells) */
KITH_FN bool kith__keys_fit(int64_t cells, const struct kith__axis axis[3])
{
    return cells >= 0 && kith__key_bits(cells, axis) <= 63;
}

/** Extract the numbers of the subcell along x, y and z from a key. */
KITH_FN void kith__subcell_of(const struct kith__axis axis[3], uint64_t key, int subcell[3])
{
    uint32_t rest = (uint32_t)key; /* subcells are numbered by 12 bits at most */
    for (int k = 0; k < 3; k++) {
        subcell[k] = (int)(rest & ((1u << axis[k].subcell_bits) - 1));
        rest >>= axis[k].subcell_bits;
    }
}

#define KITH_PER_PRECISION "engine/cells_real.h"
#include "core/per_precision.h"

/** Read particle p of the caller's points and wrap it into the box, in the question's precision.
 *  @param[out] r      wrapped position [length]
 *  @param[out] image  number of boxes that were subtracted along each axis
 *  @return 0 when the particle is too far outside the box to wrap */
KITH_FN int kith__load(const struct kith__question *q, const kith_points *points, int64_t p,
                       double r[3], int32_t image[3])
{
    if (q->precision == KITH_DOUBLE) {
        return kith__load_d(&q->box_d, points, q->dim, p, r, image);
    }
    float single[3];
    const int fits = kith__load_f(&q->box_f, points, q->dim, p, single, image);
    for (int k = 0; k < 3; k++) {
        r[k] = (double)single[k];
    }
    return fits;
}

#endif
