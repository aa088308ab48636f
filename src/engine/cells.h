/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cells that particles are sorted into, for every backend: how many there are along each axis,
 * how wide they are, and which of them holds a coordinate. Cells are at least a cutoff wide, so
 * that the neighbours of a cell's particles are in the cells around it.
 */
#ifndef KITH_CELLS_H
#define KITH_CELLS_H

#include <float.h>
#include <stdbool.h>

#include "question.h"

/* Cells are this much wider than the cutoff: particles further apart than one cell in computed cell
 * coordinates u are then further apart than the cutoff although u is rounded, up to |u| of
 * KITH_FAR_CELLS; what lies beyond shares the outermost cells. */
#define KITH_CELL_MARGIN (1.0 / 256)
#define KITH_FAR_CELLS 1099511627776.0 /* 2^40 */

/* The table of all cells may have this many entries for each particle, and always small ones. */
enum { KITH_TABLE_PER_PARTICLE = 2, KITH_TABLE_SMALL = 4096 };

/* Parts of a cell along an axis: the cells of a row must fit a mask of 16 bits. */
enum { KITH_MOST_PARTS = 16 };

/** What one look at the coordinates tells. */
struct kith__survey {
    double lo[3], hi[3]; /**< fractional */
    int64_t bad, far;    /**< first particle that is not finite, or too far out; else INT64_MAX */
    int32_t images;      /**< the most boxes that a particle was outside */
};

/** One axis of the cells. */
struct kith__axis {
    int64_t n;     /**< cells */
    int reach;     /**< cells to look at on each side */
    int parts;     /**< of each cell along the axis, */
    int part_bits; /**< and bits that number them: a key is the cell's number, then its part along
                        z, y, x */
    bool periodic;
    double anchor;         /**< open: fractional coordinate where cell numbers start */
    double scale;          /**< cells for each unit of fractional coordinate */
    int64_t first;         /**< open: number of the first cell */
    int64_t plain_n;       /**< cells before empty ones were left out */
    int64_t n_places;      /**< 0: none were left out; else the number of occupied cells, */
    const int64_t *places; /**< what they were, ascending, */
    const int64_t *ranks;  /**< and what they are now */
};

/** Number of the open axis' cell that holds fractional coordinate f. */
KITH_FN int64_t kith__open_cell(const struct kith__axis *axis, double f)
{
    double u = (f - axis->anchor) * axis->scale;
    u = u < KITH_FAR_CELLS ? u : KITH_FAR_CELLS;
    u = u > -KITH_FAR_CELLS ? u : -KITH_FAR_CELLS;
    const int64_t c = (int64_t)u;
    return c - (u < (double)c); /* the floor, without a call */
}

/** Cell of fractional coordinate f along an axis, before empty ones are left out. */
KITH_FN int64_t kith__plain_cell(const struct kith__axis *axis, double f)
{
    const int64_t c = axis->periodic ? (int64_t)(f * axis->scale)
                                     : kith__open_cell(axis, f) - axis->first;
    return c < 0 ? 0 : c < axis->plain_n ? c : axis->plain_n - 1;
}

/** The same cell, and which of its parts, from 0 to parts - 1. Without branches: anchor and first
 *  are 0 along periodic axes. */
KITH_FN int64_t kith__plain_part(const struct kith__axis *axis, double f, int *part)
{
    double u = (f - axis->anchor) * axis->scale;
    u = u < KITH_FAR_CELLS ? u : KITH_FAR_CELLS;
    u = u > -KITH_FAR_CELLS ? u : -KITH_FAR_CELLS;
    int64_t c = (int64_t)u;
    c -= (u < (double)c) + axis->first;
    c = c > 0 ? c : 0;
    c = c < axis->plain_n ? c : axis->plain_n - 1;
    const int p = (int)((u - (double)(c + axis->first)) * axis->parts);
    *part = p < 0 ? 0 : p < axis->parts ? p : axis->parts - 1;
    return c;
}

/** Bound on a particle's distance from the origin: fractions of a skewed box round with it. */
KITH_FN double kith__farthest(const struct kith__question *q, const struct kith__survey *survey)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double *row = q->box_d.row[k];
        sum += fmax(fabs(survey->lo[k]), fabs(survey->hi[k])) *
               (fabs(row[0]) + fabs(row[1]) + fabs(row[2]));
    }
    return sum;
}

/** Of the precision: twice what rounding may change of 1. */
KITH_FN double kith__epsilon(const struct kith__question *q)
{
    return q->precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
}

/** The least width of a cell: the cutoff, the margin, and what wrapping may have rounded. */
KITH_FN double kith__cell_side(const struct kith__question *q, const struct kith__survey *survey)
{
    const double epsilon = kith__epsilon(q);
    double side = q->cutoff * (1 + KITH_CELL_MARGIN) +
                  16 * epsilon * q->reach * (1 + survey->images);
    if (!q->box_d.orthorhombic) {
        side += 16 * DBL_EPSILON * kith__farthest(q, survey);
    }
    return side;
}

/** An axis with cells at least `side` wide; anchor is anywhere among the particles. Where cells
 *  have parts, they are at most `side` wide along periodic axes. */
KITH_FN struct kith__axis kith__choose_axis(const struct kith__question *q,
                                            const struct kith__survey *survey, double anchor,
                                            double side, int k)
{
    const double height = q->height[k];
    struct kith__axis axis = {0, 1, 1, 0, q->box_d.periodic[k] != 0, 0, 0, 0, 0, 0, NULL, NULL};
    if (axis.periodic) {
        const double most = fmin(height / side, KITH_FAR_CELLS);
        const double n = q->part > 0 ? ceil(most) : floor(most);
        axis.n = n > 1 ? (int64_t)n : 1;
        axis.scale = (double)axis.n;
        /* the tiny factor keeps a quotient that is 1 but for rounding from becoming 2 */
        /* Cells may be much wider than pairs are apart, where keys of narrow ones do not fit. */
        const double near = fmin(side, kith__cell_side(q, survey));
        axis.reach = (int)ceil(near * (double)axis.n / height * (1 - 1e-9));
    } else {
        axis.anchor = anchor;
        axis.scale = height / side;
        axis.first = kith__open_cell(&axis, survey->lo[k]);
        axis.n = kith__open_cell(&axis, survey->hi[k]) - axis.first + 1;
    }
    axis.plain_n = axis.n;
    return axis;
}

/** Product of the axes, or -1 beyond 2^62. */
KITH_FN int64_t kith__count_cells(const struct kith__axis axis[3])
{
    const double product = (double)axis[0].n * (double)axis[1].n * (double)axis[2].n;
    return product < 4.6e18 ? axis[0].n * axis[1].n * axis[2].n : -1;
}

/** Cells `side` wide. @return how many, or -1 as kith__count_cells. */
KITH_FN int64_t kith__choose_axes(const struct kith__question *q, const struct kith__survey *survey,
                                  const double anchor[3], double side, struct kith__axis axis[3])
{
    for (int k = 0; k < 3; k++) {
        axis[k] = kith__choose_axis(q, survey, anchor[k], side, k);
    }
    return kith__count_cells(axis);
}

/** Bits that hold value. */
KITH_FN int kith__bit_length(uint64_t value)
{
    int bits = 0;
    while (value >> bits) {
        bits++;
    }
    return bits;
}

/** The most cells of which a table is kept. */
KITH_FN int64_t kith__table_limit(const struct kith__question *q)
{
    const int64_t n = q->cross && q->b.n < q->a.n ? q->b.n : q->a.n;
    const int64_t small = KITH_TABLE_SMALL;
    const int64_t most = n * KITH_TABLE_PER_PARTICLE;
    return most > small ? most : small;
}

/** Bound on the rounding of r2 / cutoff^2 by the definition where j is no image: r_j - r_i is then
 *  rounded once, by a part of itself. */
KITH_FN double kith__own_blur(const struct kith__question *q)
{
    return 4 * kith__epsilon(q);
}

/**
 * Bound on how far the definition's r2 / cutoff^2 is from what coordinates shifted in double give,
 * up to 1. In a skewed box each operation rounds once, and where images are added, lengths of up to
 * (images + 1) boxes. In a straight one, a component is off by the rounding of r_j - r_i, less than
 * a box, that of the shift, and that of a position in double.
 */
KITH_FN double kith__blur(const struct kith__question *q)
{
    const double epsilon = kith__epsilon(q);
    double images = 1;
    double square = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            const double boxes = (ceil(q->cutoff / q->height[k]) + 1) * q->box_d.row[k][k];
            const double off = 0.5 * epsilon * boxes +
                               DBL_EPSILON * (boxes + fabs(q->box_d.origin[k]));
            square += off * off;
            images = fmax(images, ceil(q->cutoff / q->height[k]) + 1);
        }
    }
    if (!q->box_d.orthorhombic) {
        return 16 * epsilon + 32 * epsilon * q->reach * (images + 1) / q->cutoff;
    }
    const double off = sqrt(square) / q->cutoff;
    return kith__own_blur(q) + off * (2 + off);
}

/** The fewest parts that a cell can have along an axis for there to be no more than `limit` cells;
 *  where even the most are too few, a middling number. */
KITH_FN int kith__choose_parts(const struct kith__question *q, const struct kith__survey *survey,
                               const double anchor[3], int64_t limit)
{
    const int least = 4;
    const int middle = 8;
    for (int parts = least; parts <= KITH_MOST_PARTS; parts++) {
        struct kith__axis axis[3];
        const int64_t cells = kith__choose_axes(q, survey, anchor, parts * q->part, axis);
        if (cells >= 0 && cells <= limit) {
            return parts;
        }
    }
    return middle;
}

/** Divide cells into parts. @return whether some part may hold particles that are farther apart
 *  than it is asked to be wide: beyond KITH_FAR_CELLS, where a periodic axis would need more cells
 *  than these, or where wrapping into an oblique box left them beside it. */
KITH_FN bool kith__divide(const struct kith__question *q, const struct kith__survey *survey,
                          int parts, double near, struct kith__axis axis[3])
{
    bool far = false;
    for (int k = 0; k < q->dim; k++) {
        const double first = (double)axis[k].first;
        const double last = first + (double)axis[k].plain_n - 1;
        axis[k].parts = parts;
        axis[k].part_bits = kith__bit_length((uint64_t)parts - 1);
        axis[k].reach = (int)ceil(near * axis[k].scale / q->height[k] * (1 - 1e-9));
        far = far || first <= -KITH_FAR_CELLS || last >= KITH_FAR_CELLS - axis[k].periodic;
        if (axis[k].periodic) { /* beside the box, in parts; all must fit the margin */
            const double beside = fmax(-survey->lo[k], survey->hi[k] - 1) * axis[k].scale * parts;
            far = far || beside > KITH_CELL_MARGIN / 4;
        }
    }
    return far;
}

/** Bits of a key below the cell's number. */
KITH_FN int kith__part_bits(const struct kith__axis axis[3])
{
    return axis[0].part_bits + axis[1].part_bits + axis[2].part_bits;
}

/** Position in its cell, from a key. */
KITH_FN void kith__part_of(const struct kith__axis axis[3], uint64_t key, int part[3])
{
    uint32_t rest = (uint32_t)key; /* parts are numbered by 12 bits at most */
    for (int k = 0; k < 3; k++) {
        part[k] = (int)(rest & ((1u << axis[k].part_bits) - 1));
        rest >>= axis[k].part_bits;
    }
}

#define KITH_TWICE "engine/cells_real.h"
#include "core/twice.h"

/** Particle p of the caller's, wrapped in its precision. @return 0 when too far away for that. */
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
