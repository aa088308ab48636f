/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Width of subcells, and which subcells and cells are within reach of one.
 */
#include "subcells.h"

#include <assert.h>

/** Return the longest diagonal of a parallelepiped with the shape of the box whose opposite faces
 *  are one unit of length apart. */
static double longest_diagonal(const struct kith__question *q)
{
    double longest = 0;
    /* the 4 diagonals +-a +-b + c of a parallelepiped; bit k of `signs`: the sign of row k */
    for (int signs = 0; signs < 4; signs++) {
        double d[3] = {0, 0, 0};
        for (int k = 0; k < q->dim; k++) {
            const int sign = (signs >> k & 1) ? -1 : 1;
            for (int m = 0; m < 3; m++) {
                d[m] += sign * q->box_d.row[k][m] / q->height[k];
            }
        }
        longest = fmax(longest, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    return longest;
}

void kith__subcells_set_width(struct kith__question *q)
{
    /* a diagonal of at most the cutoff; the margin covers the rounding of cell coordinates */
    q->subcell = q->cutoff / (longest_diagonal(q) * (1 + KITH_CELL_MARGIN));
}

/** Compute the width of a subcell along axis k, and the number of subcells within reach.
 *  @param near         largest distance of a pair [length]
 *  @param every_image  as in kith__subcells_init
 *  @param[out] reach   subcells within reach on each side
 *  @return the width of a subcell [length] */
static double reach_along(const struct kith__question *q, const struct kith__axis *axis, int k,
                          double near, bool every_image, double *reach)
{
    const double width = q->height[k] / (axis->scale * axis->subcells);
    *reach = floor(near / width) + 1;
    if (axis->periodic && q->box_d.orthorhombic && axis->n == 1 && !every_image) {
        /* Subcells further away belong to images beyond the nearest ones: a friend at a far image
         * of an orthorhombic box is a friend at a nearer image too. */
        *reach = fmin(*reach, axis->subcells);
    }
    return width;
}

/** Set row_reach: along x, the reach into a row that is dy, dz subcells away is less than within
 *  the own row, because of the distance between the two rows. */
static void set_rows(const struct kith__question *q, const double width[3], double near,
                     struct kith__subcells *subcells)
{
    for (int z = 0; z <= subcells->reach[2]; z++) {
        for (int y = 0; y <= subcells->reach[1]; y++) {
            /* particles in rows z apart are at least z - 1 widths apart along the axis */
            const double gap_z = z > 1 ? (z - 1) * width[2] : 0;
            const double gap_y = y > 1 ? (y - 1) * width[1] : 0;
            const double rest = near * near - gap_z * gap_z - gap_y * gap_y;
            const double along = rest < 0 ? -1 : floor(sqrt(rest) / width[0]) + 1;
            subcells->row_reach[z][y] = (int8_t)(q->box_d.orthorhombic && along < subcells->reach[0]
                                                     ? along
                                                     : subcells->reach[0]);
        }
    }
}

/** List the forward neighbours of a cell, in ascending order of their offset. */
static void set_steps(const struct kith__axis axis[3], struct kith__subcells *subcells)
{
    int n = 0;
    for (int z = 0; z <= 1; z++) {
        for (int y = z ? -1 : 0; y <= 1; y++) {
            for (int x = z || y ? -1 : 1; x <= 1; x++) {
                subcells->step[n++] = (struct kith__step){{x, y, z},
                                                          (z * axis[1].n + y) * axis[0].n + x};
            }
        }
    }
}

bool kith__subcells_init(const struct kith__question *q, const struct kith__axis axis[3],
                         double near, bool every_image, struct kith__subcells *subcells)
{
    double width[3] = {0, 0, 0};
    *subcells = (struct kith__subcells){.bits = kith__subcell_bits(axis),
                                        .rows = axis[1].subcells * axis[2].subcells,
                                        .around = true};
    for (int k = 0; k < q->dim; k++) {
        double reach;
        width[k] = reach_along(q, &axis[k], k, near, every_image, &reach);
        if (!(reach <= KITH_MOST_REACH)) { /* also true for NaN */
            return false;
        }
        subcells->reach[k] = (int)reach;
        subcells->around = subcells->around && subcells->reach[k] <= axis[k].subcells;
        for (int p = 0; p < axis[k].subcells; p++) {
            subcells->cell_low[k][p] = (int8_t)floor((p - reach) / axis[k].subcells);
            subcells->cell_high[k][p] = (int8_t)((p + subcells->reach[k]) / axis[k].subcells);
        }
    }
    assert(subcells->bits <= 12); /* three numbers below KITH_MOST_SUBCELLS, 4 bits each */
    set_rows(q, width, near, subcells);
    set_steps(axis, subcells);
    return true;
}
