/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checking points, box and cutoff, and completing the box: the rows of open axes that were not
 * given, the inverse matrix, the heights. Constant time: coordinates are not read.
 */
#include "question.h"

#include "cells.h"
#include "core/backend.h"

#include <assert.h>
#include <float.h>
#include <string.h>

static double dot(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static void cross(const double u[3], const double v[3], double out[3])
{
    out[0] = u[1] * v[2] - u[2] * v[1];
    out[1] = u[2] * v[0] - u[0] * v[2];
    out[2] = u[0] * v[1] - u[1] * v[0];
}

/** Return the largest absolute component of v. */
static double largest(const double v[3])
{
    return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

/** Return the length of v, without overflow or underflow of the squares. */
static double length(const double v[3])
{
    const double scale = largest(v);
    const double u[3] = {v[0] / scale, v[1] / scale, v[2] / scale};
    return scale > 0 ? scale * sqrt(dot(u, u)) : 0;
}

/** Scale v to length 1. */
static void normalise(double v[3])
{
    const double scale = length(v);
    for (int m = 0; m < 3; m++) {
        v[m] /= scale;
    }
}

/** Compute a unit vector perpendicular to v: the part of a coordinate axis that is perpendicular to
 *  v. The axis is the one along which v has the smallest component, and `preferred` when there are
 *  several. */
static void perpendicular(const double v[3], int preferred, double out[3])
{
    double unit[3] = {v[0], v[1], v[2]};
    normalise(unit);
    int axis = preferred;
    for (int m = 0; m < 3; m++) {
        axis = fabs(unit[m]) < fabs(unit[axis]) ? m : axis;
    }
    for (int m = 0; m < 3; m++) {
        out[m] = (m == axis) - unit[axis] * unit[m];
    }
    normalise(out);
}

/** Replace rows that are 0 by unit vectors perpendicular to the other rows. */
static void complete_rows(double row[3][3])
{
    int given = 0; /* rows that are not 0 */
    int last = 0;  /* the last of them */
    for (int k = 0; k < 3; k++) {
        if (largest(row[k]) > 0) {
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
        perpendicular(row[last], next, row[next]);
    }
    for (int k = 0; k < 3; k++) {
        if (largest(row[k]) == 0) {
            double u[3], v[3];
            memcpy(u, row[(k + 1) % 3], sizeof u);
            memcpy(v, row[(k + 2) % 3], sizeof v);
            normalise(u);
            normalise(v);
            cross(u, v, row[k]);
            normalise(row[k]);
        }
    }
}

/** Compute the inverse matrix of the rows, and the distance between the faces across each row.
 *  @return false when the rows span no volume */
static bool invert(double row[3][3], double inverse[3][3], double height[3])
{
    double unit[3][3];
    double size[3];
    for (int k = 0; k < 3; k++) {
        memcpy(unit[k], row[k], sizeof unit[k]);
        size[k] = length(row[k]);
        if (!(size[k] > 0) || !isfinite(size[k])) {
            return false;
        }
        normalise(unit[k]);
    }
    double normal[3];
    cross(unit[1], unit[2], normal);
    const double volume = dot(unit[0], normal);
    if (!(fabs(volume) > 1e-10)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        cross(unit[(k + 1) % 3], unit[(k + 2) % 3], normal);
        for (int m = 0; m < 3; m++) {
            inverse[k][m] = normal[m] / volume / size[k];
        }
        height[k] = 1 / length(inverse[k]);
    }
    return true;
}

static bool is_orthorhombic(double row[3][3])
{
    bool yes = true;
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 3; m++) {
            yes = yes && (k == m ? row[k][m] > 0 : row[k][m] == 0);
        }
    }
    return yes;
}

static kith_status check_points(kith_ctx *ctx, const char *name, const kith_points *p, int dim)
{
    KITH_CHECK(ctx, p->n >= 0, KITH_INVALID, "%s: n is %lld, expected 0 or more", name,
               (long long)p->n);
    KITH_CHECK(ctx, p->precision == KITH_FLOAT || p->precision == KITH_DOUBLE, KITH_INVALID,
               "%s: precision is %d, expected KITH_FLOAT or KITH_DOUBLE", name, (int)p->precision);

    KITH_CHECK(ctx, p->n <= INT32_MAX - 64, KITH_LIMIT,
               "%s: n is %lld, the most for one device is 2^31 - 65", name, (long long)p->n);
    KITH_CHECK(ctx, p->n == 0 || p->stride >= 1, KITH_INVALID,
               "%s: stride is %lld elements, expected 1 or more", name, (long long)p->stride);
    KITH_CHECK(ctx, p->n == 0 || (p->x && p->y && (p->z || dim == 2)), KITH_INVALID,
               "%s: a coordinate array is NULL", name);
    return KITH_OK;
}

static kith_status check_cutoff(kith_ctx *ctx, double cutoff, struct kith__question *q)
{
    KITH_CHECK(ctx, isfinite(cutoff) && cutoff > 0, KITH_INVALID,
               "cutoff is %g, expected a positive, finite length", cutoff);
    q->cutoff = kith__rounded(cutoff, q->precision);
    const double square = kith__rounded(q->cutoff * q->cutoff, q->precision);
    const double least = q->precision == KITH_FLOAT ? (double)FLT_MIN : DBL_MIN;
    KITH_CHECK(ctx, isfinite(square) && square >= least, KITH_INVALID,
               "cutoff is %g: its square leaves the range of %s coordinates; choose another unit",
               cutoff, q->precision == KITH_FLOAT ? "float" : "double");
    return KITH_OK;
}

static kith_status check_box(kith_ctx *ctx, const kith_box *box, struct kith__question *q)
{
    static const char *const periodic_name[3] = {"box: periodic[0]", "box: periodic[1]",
                                                 "box: periodic[2]"};
    double row[3][3];
    for (int k = 0; k < 3; k++) {
        const bool used = k < box->dim;
        KITH_TRY(used ? kith__check_flag(ctx, periodic_name[k], box->periodic[k]) : KITH_OK);
        const bool periodic = used && box->periodic[k] != 0;
        for (int m = 0; m < 3; m++) {
            row[k][m] = used && m < box->dim ? kith__rounded(box->row[k][m], q->precision) : 0;
        }
        const double origin = used ? kith__rounded(box->origin[k], q->precision) : 0;
        KITH_CHECK(ctx, kith__is_finite(row[k]), KITH_INVALID, "box: row %c is not finite",
                   'a' + k);
        KITH_CHECK(ctx, isfinite(origin), KITH_INVALID, "box: origin %c is %g, expected finite",
                   'x' + k, origin);
        KITH_CHECK(ctx, !periodic || largest(row[k]) > 0, KITH_INVALID,
                   "box: row %c is zero, but that axis is periodic", 'a' + k);
        q->box_d.origin[k] = origin;
        q->box_d.periodic[k] = periodic;
    }
    if (box->dim == 2) {
        row[2][2] = 1; /* rows of open axes are then completed within the plane */
    }
    complete_rows(row);
    for (int k = 0; k < 3; k++) {
        if (!q->box_d.periodic[k]) {
            normalise(row[k]); /* only its direction matters; length 1 keeps fractions exact */
        }
    }
    KITH_CHECK(ctx, invert(row, q->box_d.inverse, q->height), KITH_INVALID,
               "box: rows a, b, c span no volume");
    memcpy(q->box_d.row, row, sizeof row);
    q->box_d.orthorhombic = is_orthorhombic(row);
    q->period_sum = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            q->period_sum += length(row[k]);
            KITH_CHECK(ctx, q->cutoff <= KITH_MAX_IMAGES * q->height[k], KITH_LIMIT,
                       "cutoff is %g, more than %d times the box's height along %c (%g)", q->cutoff,
                       KITH_MAX_IMAGES, 'a' + k, q->height[k]);
        }
    }
    return KITH_OK;
}

static void round_to_float(const struct kith__lattice_d *d, struct kith__lattice_f *f)
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

/** Check the sets of points, and set the members of q that do not depend on box or cutoff. */
static kith_status check_sets(kith_ctx *ctx, const kith_points *points, const kith_points *against,
                              const kith_box *box, struct kith__question *q)
{
    KITH_CHECK(ctx, points != NULL, KITH_INVALID, "points is NULL");
    KITH_CHECK(ctx, box->dim == 2 || box->dim == 3, KITH_INVALID, "box: dim is %d, expected 2 or 3",
               box->dim);
    KITH_TRY(check_points(ctx, "points", points, box->dim));
    KITH_TRY(kith__check_memory(ctx, "points", points->memory));
    *q = (struct kith__question){.a = *points,
                                 .b = *points,
                                 .cross = against != NULL,
                                 .precision = points->precision,
                                 .dim = box->dim};
    if (against) {
        KITH_TRY(check_points(ctx, "against", against, box->dim));
        KITH_CHECK(ctx, against->precision == points->precision, KITH_INVALID,
                   "against: precision differs from that of the points");
        KITH_CHECK(ctx, against->memory == points->memory, KITH_INVALID,
                   "against: memory differs from that of the points");
        q->b = *against;
    }
    return KITH_OK;
}

/** Refuse a cutoff with which rounding might make a pair of an image whose shift cannot be packed:
 *  in a triclinic box that is very flat and skewed, the sums of many rows are rounded by more than
 *  its height. The bound on rounding errors is that of kith__cell_side. */
static kith_status check_rounding(kith_ctx *ctx, const struct kith__question *q)
{
    const double most = KITH_MOST_SHIFT - 3; /* wrapping leaves particles a box outside at most */
    const double error = kith__epsilon(q) * q->period_sum * (16 + 8 * kith__most_images(q));
    for (int k = 0; k < 3 && !q->box_d.orthorhombic; k++) {
        KITH_CHECK(ctx, !q->box_d.periodic[k] || q->cutoff + error <= most * q->height[k],
                   KITH_LIMIT,
                   "cutoff is %g, and distances of its images are rounded by up to %g: together "
                   "more than %g times the box's height along %c (%g)",
                   q->cutoff, error, most, 'a' + k, q->height[k]);
    }
    return KITH_OK;
}

/** Check all arguments of a question and set q.
 *  @param cutoff  NULL: the question has no cutoff */
static kith_status init(kith_ctx *ctx, const kith_points *points, const kith_points *against,
                        const kith_box *box, const double *cutoff, struct kith__question *q)
{
    const kith_box open = kith_box_open();
    box = box ? box : &open;
    KITH_TRY(check_sets(ctx, points, against, box, q));
    KITH_TRY(cutoff ? check_cutoff(ctx, *cutoff, q) : KITH_OK);
    KITH_TRY(check_box(ctx, box, q));
    KITH_TRY(cutoff ? check_rounding(ctx, q) : KITH_OK);
    assert(q->height[0] > 0 && q->height[1] > 0 && q->height[2] > 0 && q->period_sum >= 0);
    round_to_float(&q->box_d, &q->box_f);
    return KITH_OK;
}

kith_status kith__question_init(kith_ctx *ctx, const kith_points *points,
                                const kith_points *against, const kith_box *box, double cutoff,
                                struct kith__question *q)
{
    return init(ctx, points, against, box, &cutoff, q);
}

kith_status kith__question_space(kith_ctx *ctx, const kith_points *points,
                                 const kith_points *against, const kith_box *box,
                                 struct kith__question *q)
{
    return init(ctx, points, against, box, NULL, q);
}

/** Subtract the whole multiple of `step` from r that makes r shortest.
 *  @return true when r changed */
static bool shorten(double r[3], const double step[3])
{
    const double many = rint(dot(r, step) / dot(step, step));
    for (int k = 0; k < 3; k++) {
        r[k] -= many * step[k];
    }
    return many != 0;
}

double kith__shortest_period(const struct kith__question *q)
{
    enum { MOST_TURNS = 1000, WAYS = 4 };
    /* each row is shortened by multiples of way[0] a + way[1] b of the two other rows a and b; of
     * two rows, by the other one alone */
    static const double ways[WAYS][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    double row[3][3];
    int n = 0;
    for (int k = 0; k < 3; k++) {
        if (q->box_d.periodic[k]) {
            memcpy(row[n++], q->box_d.row[k], sizeof row[0]);
        }
    }
    bool shorter = n > 1;
    for (int turn = 0; turn < MOST_TURNS && shorter; turn++) {
        shorter = false;
        for (int k = 0; k < n * (n == 3 ? WAYS : 1); k++) {
            const double *a = row[(k + 1) % n];
            const double *b = row[(k + 2) % n];
            const double *way = ways[k / n];
            double step[3];
            for (int m = 0; m < 3; m++) {
                step[m] = way[0] * a[m] + way[1] * b[m];
            }
            shorter = shorten(row[k % n], step) || shorter;
        }
    }
    double shortest = INFINITY;
    for (int k = 0; k < n; k++) {
        shortest = fmin(shortest, length(row[k]));
    }
    return shortest;
}

kith_status kith__check_species(kith_ctx *ctx, const char *count, const char *name,
                                const int32_t *species, int64_t n, int32_t n_species)
{
    enum { MOST_SPECIES = 1024 };
    KITH_CHECK(ctx, n_species >= 1 && n_species <= MOST_SPECIES, KITH_INVALID,
               "%s is %d, expected 1 to 1024", count, (int)n_species);
    for (int64_t p = 0; p < n && species; p++) {
        KITH_CHECK(ctx, species[p] >= 0 && species[p] < n_species, KITH_INVALID,
                   "%s[%lld] is %d, expected 0 to n_species - 1, %d", name, (long long)p,
                   (int)species[p], (int)n_species - 1);
    }
    return KITH_OK;
}

kith_status kith__check_extras(kith_ctx *ctx, unsigned extras)
{
    const unsigned all = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    KITH_CHECK(ctx, (extras & ~all) == 0, KITH_INVALID,
               "options.extras is %#x, expected a combination of KITH_DISTANCES, KITH_VECTORS and "
               "KITH_SHIFTS, or 0",
               extras);
    return KITH_OK;
}

kith_status kith__check_extra_arrays(kith_ctx *ctx, unsigned extras, const void *distances,
                                     const void *vectors, const void *shifts)
{
    KITH_CHECK(ctx, !(extras & KITH_DISTANCES) || distances, KITH_INVALID,
               "out->distances is NULL, but options.extras contains KITH_DISTANCES");
    KITH_CHECK(ctx, !(extras & KITH_VECTORS) || vectors, KITH_INVALID,
               "out->vectors is NULL, but options.extras contains KITH_VECTORS");
    KITH_CHECK(ctx, !(extras & KITH_SHIFTS) || shifts, KITH_INVALID,
               "out->shifts is NULL, but options.extras contains KITH_SHIFTS");
    return KITH_OK;
}

kith_status kith__refuse(kith_ctx *ctx, const struct kith__question *q, const char *set,
                         kith_status status, int64_t particle)
{
    if (status == KITH_NOT_FINITE) {
        return kith__fail(ctx, status,
                          "%s: a coordinate of particle %lld (counted from 0) is not finite", set,
                          (long long)particle);
    }
    const bool is_float = q->precision == KITH_FLOAT;
    return kith__fail(ctx, status,
                      "%s: particle %lld is too far outside the periodic box to wrap in %s: more "
                      "than 2^%d boxes, or so many skewed ones that rounding errors exceed a box",
                      set, (long long)particle, is_float ? "float" : "double", is_float ? 20 : 30);
}
