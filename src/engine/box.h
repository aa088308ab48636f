/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completing a box: the rows of open axes that were not given, the inverse matrix, the heights.
 * Constant time. Compiled by the C and the CUDA compiler, both without contraction to fused
 * multiply-add: boxes of a batch in device memory are completed there, with equal bits.
 */
#ifndef KITH_BOX_H
#define KITH_BOX_H

#include <string.h>

#include "cells.h"

/** What is wrong with a box: one of these numbers, plus the axis, 0 to 2; 0 is a valid box. */
enum {
    KITH_BOX_AXES = 4, /**< the numbers are multiples of this: the axis is the remainder */
    KITH_BOX_FLAG = 4, /**< periodic is neither 0 nor 1 */
    KITH_BOX_ROW_NOT_FINITE = 8,     /**< a row is not finite */
    KITH_BOX_ORIGIN_NOT_FINITE = 12, /**< a coordinate of the origin is not finite */
    KITH_BOX_ROW_ZERO = 16,          /**< the row of a periodic axis is zero */
    KITH_BOX_NO_VOLUME = 20,         /**< the rows span no volume */
    KITH_BOX_SHORT = 24,             /**< the cutoff exceeds KITH_MAX_IMAGES heights of the box */
    KITH_BOX_ROUNDED = 28 /**< the cutoff and the rounding errors of distances together exceed
                               KITH_MOST_HEIGHTS heights of the box */
};

/* Cutoff and rounding errors together are at most so many heights of a box. Then no pair has a
 * shift above KITH_MOST_SHIFT: fractional coordinates of wrapped particles are in [-1, 2]
 * (kith__lies_outside in cells_real.h), which adds 3 at most. */
enum { KITH_MOST_HEIGHTS = KITH_MOST_SHIFT - 3 };

/** Return the scalar product of u and v. */
KITH_FN double kith__dot(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/** Compute the vector product of u and v. */
KITH_FN void kith__cross(const double u[3], const double v[3], double out[3])
{
    out[0] = u[1] * v[2] - u[2] * v[1];
    out[1] = u[2] * v[0] - u[0] * v[2];
    out[2] = u[0] * v[1] - u[1] * v[0];
}

/** Return the largest absolute component of v. */
KITH_FN double kith__largest(const double v[3])
{
    return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

/** Return the length of v, without overflow or underflow of the squares. */
KITH_FN double kith__length(const double v[3])
{
    const double scale = kith__largest(v);
    const double u[3] = {v[0] / scale, v[1] / scale, v[2] / scale};
    return scale > 0 ? scale * sqrt(kith__dot(u, u)) : 0;
}

/** Scale v, which is not 0, to length 1. */
KITH_FN void kith__normalise(double v[3])
{
    const double scale = kith__length(v);
    for (int m = 0; m < 3; m++) {
        v[m] /= scale;
    }
}

/** Compute a unit vector perpendicular to v, which is not 0: the part of a coordinate axis that is
 *  perpendicular to v, scaled to length 1. The axis is the one along which v has the smallest
 *  absolute component, and `preferred` when that is one of several. */
KITH_FN void kith__perpendicular(const double v[3], int preferred, double out[3])
{
    double unit[3] = {v[0], v[1], v[2]};
    kith__normalise(unit);
    int axis = preferred;
    for (int m = 0; m < 3; m++) {
        axis = fabs(unit[m]) < fabs(unit[axis]) ? m : axis;
    }
    for (int m = 0; m < 3; m++) {
        out[m] = (m == axis) - unit[axis] * unit[m];
    }
    kith__normalise(out);
}

/** Replace rows that are 0 by unit vectors perpendicular to the other rows. If two rows are 0, the
 *  one that follows the given row (cyclically) is made perpendicular to it, and the other is the
 *  vector product of both. If all are 0, they become the unit vectors along x, y and z. */
KITH_FN void kith__complete_rows(double row[3][3])
{
    int given = 0; /* rows that are not 0 */
    int last = 0;  /* the last of them */
    for (int k = 0; k < 3; k++) {
        if (kith__largest(row[k]) > 0) {
            given++;
            last = k;
        }
    }
    if (given == 0) {
        for (int k = 0; k < 3; k++) {
            row[k][k] = 1;
        }
        return;
    }
    const int next = (last + 1) % 3;
    if (given == 1) {
        kith__perpendicular(row[last], next, row[next]);
    }
    for (int k = 0; k < 3; k++) {
        if (kith__largest(row[k]) == 0) {
            double u[3], v[3];
            memcpy(u, row[(k + 1) % 3], sizeof u);
            memcpy(v, row[(k + 2) % 3], sizeof v);
            kith__normalise(u);
            kith__normalise(v);
            kith__cross(u, v, row[k]);
            kith__normalise(row[k]);
        }
    }
}

/** Compute the inverse matrix of the rows, so that inverse[k] . r is fractional coordinate k of r,
 *  and the distance between the faces across each row. inverse[k] is the vector product of the two
 *  other rows, divided by the volume; the distance is 1 / |inverse[k]|. Both are computed from rows
 *  scaled to length 1, so that products of long or short rows do not overflow or underflow.
 *  @return false when the rows span no volume: less than 1e-10 of that of perpendicular rows */
KITH_FN bool kith__invert(double row[3][3], double inverse[3][3], double height[3])
{
    double unit[3][3];
    double size[3];
    for (int k = 0; k < 3; k++) {
        memcpy(unit[k], row[k], sizeof unit[k]);
        size[k] = kith__length(row[k]);
        if (!(size[k] > 0) || !isfinite(size[k])) {
            return false;
        }
        kith__normalise(unit[k]);
    }
    double normal[3];
    kith__cross(unit[1], unit[2], normal);
    const double volume = kith__dot(unit[0], normal);
    if (!(fabs(volume) > 1e-10)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        kith__cross(unit[(k + 1) % 3], unit[(k + 2) % 3], normal);
        for (int m = 0; m < 3; m++) {
            inverse[k][m] = normal[m] / volume / size[k];
        }
        height[k] = 1 / kith__length(inverse[k]);
    }
    return true;
}

/** Return true when each row k lies along axis k in the positive direction. */
KITH_FN bool kith__is_orthorhombic(double row[3][3])
{
    bool yes = true;
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 3; m++) {
            yes = yes && (k == m ? row[k][m] > 0 : row[k][m] == 0);
        }
    }
    return yes;
}

/** Copy a box, with origin and rows rounded to float; the inverse stays double. */
KITH_FN void kith__round_box(const struct kith__lattice_d *d, struct kith__lattice_f *f)
{
    for (int k = 0; k < 3; k++) {
        f->origin[k] = (float)d->origin[k];
        f->periodic[k] = d->periodic[k];
        for (int m = 0; m < 3; m++) {
            f->row[k][m] = (float)d->row[k][m];
            f->inverse[k][m] = d->inverse[k][m];
        }
    }
    f->orthorhombic = d->orthorhombic;
}

/** Check axis k of a box, and copy its row, rounded to the precision of the question. Also sets
 *  origin and periodicity of the axis in q->box_d. An axis beyond q->dim is open, with row 0.
 *  @return 0, or what is wrong with the box */
KITH_FN int kith__read_axis(const kith_box *box, int k, double row[3], struct kith__question *q)
{
    const bool used = k < q->dim;
    if (used && box->periodic[k] != 0 && box->periodic[k] != 1) {
        return KITH_BOX_FLAG + k;
    }
    const bool periodic = used && box->periodic[k] != 0;
    for (int m = 0; m < 3; m++) {
        row[m] = used && m < q->dim ? kith__rounded(box->row[k][m], q->precision) : 0;
    }
    const double origin = used ? kith__rounded(box->origin[k], q->precision) : 0;
    q->box_d.origin[k] = origin;
    q->box_d.periodic[k] = periodic;
    if (!kith__is_finite(row)) {
        return KITH_BOX_ROW_NOT_FINITE + k;
    }
    if (!isfinite(origin)) {
        return KITH_BOX_ORIGIN_NOT_FINITE + k;
    }
    return periodic && !(kith__largest(row) > 0) ? KITH_BOX_ROW_ZERO + k : 0;
}

/** Return a bound on the rounding error of the distance of an image [length]: the terms for
 *  rounding errors in kith__cell_side (cells.h) that do not depend on the particles; an
 *  orthorhombic box would need the first of them alone. In a triclinic box that is very flat and
 *  skewed, the sums of many rows are rounded by more than its height. */
KITH_FN double kith__image_error(const struct kith__question *q)
{
    return kith__epsilon(q) * q->period_sum * (16 + 8 * kith__most_images(q));
}

/** Check that rounding errors cannot make a pair with an image whose shift is too large to pack
 *  (kith__pack_shift). An orthorhombic box needs no check.
 *  @return 0, or what is wrong with the box */
KITH_FN int kith__check_rounding(const struct kith__question *q)
{
    const double farthest = q->cutoff + kith__image_error(q);
    for (int k = 0; k < 3 && !q->box_d.orthorhombic; k++) {
        if (q->box_d.periodic[k] && !(farthest <= KITH_MOST_HEIGHTS * q->height[k])) {
            return KITH_BOX_ROUNDED + k;
        }
    }
    return 0;
}

/** Check a box of q->dim dimensions, and set the members of the question that follow from it: the
 *  box in both precisions, the heights, the sum of the periods. q->dim, q->precision and q->cutoff
 *  must be set before; without a cutoff, q->cutoff is 0.
 *  @return 0, or what is wrong with the box */
KITH_FN int kith__complete_box(const kith_box *box, struct kith__question *q)
{
    double row[3][3];
    for (int k = 0; k < 3; k++) {
        const int fault = kith__read_axis(box, k, row[k], q);
        if (fault) {
            return fault;
        }
    }
    if (q->dim == 2) {
        row[2][2] = 1; /* along z, so that rows of open axes are completed within the plane */
    }
    kith__complete_rows(row);
    for (int k = 0; k < 3; k++) {
        if (!q->box_d.periodic[k]) {
            kith__normalise(
                row[k]); /* only its direction matters; length 1 keeps fractions exact */
        }
    }
    if (!kith__invert(row, q->box_d.inverse, q->height)) {
        return KITH_BOX_NO_VOLUME;
    }
    memcpy(q->box_d.row, row, sizeof row);
    q->box_d.orthorhombic = kith__is_orthorhombic(row);
    q->period_sum = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            q->period_sum += kith__length(row[k]);
            if (!(q->cutoff <= KITH_MAX_IMAGES * q->height[k])) {
                return KITH_BOX_SHORT + k;
            }
        }
    }
    kith__round_box(&q->box_d, &q->box_f);
    return q->cutoff > 0 ? kith__check_rounding(q) : 0;
}

#endif
