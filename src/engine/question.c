/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checking points, box and cutoff, and completing the box: the rows of open axes that were not
 * given, the inverse matrix, the heights. Constant time: coordinates are not read.
 */
#include "question.h"
#include "box.h"

#include "cells.h"
#include "core/backend.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/** Check the description of one set of points; its coordinates are not read.
 *  @param name  name of the set for messages */
static kith_status check_points(kith_ctx *ctx, const char *name, const kith_points *p, int dim)
{
    KITH_CHECK(ctx, p->n >= 0, KITH_INVALID, "%s: n is %lld, expected 0 or more", name,
               (long long)p->n);
    KITH_CHECK(ctx, p->precision == KITH_FLOAT || p->precision == KITH_DOUBLE, KITH_INVALID,
               "%s: precision is %d, expected KITH_FLOAT or KITH_DOUBLE", name, (int)p->precision);

    /* the limit that kith/core.h states: an index, plus 64 at most, does not overflow an int32_t */
    KITH_CHECK(ctx, p->n <= INT32_MAX - 64, KITH_LIMIT,
               "%s: n is %lld, the most for one device is 2^31 - 65", name, (long long)p->n);
    KITH_CHECK(ctx, p->n == 0 || p->stride >= 1, KITH_INVALID,
               "%s: stride is %lld elements, expected 1 or more", name, (long long)p->stride);
    KITH_CHECK(ctx, p->n == 0 || (p->x && p->y && (p->z || dim == 2)), KITH_INVALID,
               "%s: a coordinate array is NULL", name);
    return KITH_OK;
}

/** Check the cutoff, and set q->cutoff to it, rounded to the precision. The definition of a pair
 *  compares squares, so the square of the cutoff must be a normal number of that precision. */
static kith_status check_cutoff(kith_ctx *ctx, double cutoff, struct kith__question *q)
{
    KITH_CHECK(ctx, isfinite(cutoff) && cutoff > 0, KITH_INVALID,
               "%s is %g, expected a positive, finite length", q->cutoff_name, cutoff);
    q->cutoff = kith__rounded(cutoff, q->precision);
    const double square = kith__rounded(q->cutoff * q->cutoff, q->precision);
    const double least = q->precision == KITH_FLOAT ? (double)FLT_MIN : DBL_MIN;
    KITH_CHECK(ctx, isfinite(square) && square >= least, KITH_INVALID,
               "%s is %g: its square leaves the range of %s coordinates; choose another unit",
               q->cutoff_name, cutoff, q->precision == KITH_FLOAT ? "float" : "double");
    return KITH_OK;
}

/** Check and complete the box (kith__complete_box), and store the message of what is wrong. */
static kith_status check_box(kith_ctx *ctx, const kith_box *box, struct kith__question *q)
{
    static const char *const periodic_name[3] = {"box: periodic[0]", "box: periodic[1]",
                                                 "box: periodic[2]"};
    const int fault = kith__complete_box(box, q);
    const int k = fault % KITH_BOX_AXES;
    switch (fault - k) {
    case KITH_BOX_FLAG: return kith__check_flag(ctx, periodic_name[k], box->periodic[k]);
    case KITH_BOX_ROW_NOT_FINITE:
        return kith__fail(ctx, KITH_INVALID, "box: row %c is not finite", 'a' + k);
    case KITH_BOX_ORIGIN_NOT_FINITE:
        return kith__fail(ctx, KITH_INVALID, "box: origin %c is %g, expected finite", 'x' + k,
                          box->origin[k]);
    case KITH_BOX_ROW_ZERO:
        return kith__fail(ctx, KITH_INVALID, "box: row %c is zero, but that axis is periodic",
                          'a' + k);
    case KITH_BOX_NO_VOLUME:
        return kith__fail(ctx, KITH_INVALID, "box: rows a, b, c span no volume");
    case KITH_BOX_SHORT:
        return kith__fail(ctx, KITH_LIMIT,
                          "%s is %g, more than %d times the box's height along %c (%g)",
                          q->cutoff_name ? q->cutoff_name : "", q->cutoff, KITH_MAX_IMAGES, 'a' + k,
                          q->height[k]);
    case KITH_BOX_ROUNDED:
        return kith__fail(ctx, KITH_LIMIT,
                          "%s is %g, and distances of its images are rounded by up to %g: together "
                          "more than %d times the box's height along %c (%g)",
                          q->cutoff_name ? q->cutoff_name : "", q->cutoff, kith__image_error(q),
                          KITH_MOST_HEIGHTS, 'a' + k, q->height[k]);
    default: return KITH_OK;
    }
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

/** Check all arguments of a question and set q.
 *  @param cutoff_name  NULL: the question has no cutoff */
static kith_status init(kith_ctx *ctx, const kith_points *points, const kith_points *against,
                        const kith_box *box, double cutoff, const char *cutoff_name,
                        struct kith__question *q)
{
    const kith_box open = kith_box_open();
    box = box ? box : &open;
    KITH_TRY(check_sets(ctx, points, against, box, q));
    q->cutoff_name = cutoff_name;
    KITH_TRY(cutoff_name ? check_cutoff(ctx, cutoff, q) : KITH_OK);
    KITH_TRY(check_box(ctx, box, q));
    assert(q->height[0] > 0 && q->height[1] > 0 && q->height[2] > 0 && q->period_sum >= 0);
    return KITH_OK;
}

kith_status kith__question_init(kith_ctx *ctx, const kith_points *points,
                                const kith_points *against, const kith_box *box, double cutoff,
                                const char *cutoff_name, struct kith__question *q)
{
    return init(ctx, points, against, box, cutoff, cutoff_name, q);
}

kith_status kith__question_space(kith_ctx *ctx, const kith_points *points,
                                 const kith_points *against, const kith_box *box,
                                 struct kith__question *q)
{
    return init(ctx, points, against, box, 0, NULL, q);
}

/** Subtract the whole multiple of `step` from r that makes r shortest.
 *  @return true when r changed */
static bool shorten(double r[3], const double step[3])
{
    const double many = rint(kith__dot(r, step) / kith__dot(step, step));
    for (int k = 0; k < 3; k++) {
        r[k] -= many * step[k];
    }
    return many != 0;
}

double kith__shortest_period(const struct kith__question *q)
{
    /* MOST_TURNS is a guard: rounding errors could keep the loop going. */
    enum { MOST_TURNS = 1000, WAYS = 4 };
    /* Each row is shortened by multiples of way[0] a + way[1] b, a and b being the two other rows.
     * Where there are two rows, each is shortened by the other alone: the first way. */
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
        shortest = fmin(shortest, kith__length(row[k]));
    }
    return shortest;
}

kith_status kith__check_species(kith_ctx *ctx, const char *count, const char *name,
                                const int32_t *species, int64_t n, int32_t n_species)
{
    enum { MOST_SPECIES = 1024 }; /* limit that the public headers state */
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
