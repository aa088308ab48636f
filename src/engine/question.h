/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A checked question: the points, box and cutoff of a public call, in the form that every backend
 * takes. Public calls build one first, so that arguments are checked once and in one place.
 */
#ifndef KITH_QUESTION_H
#define KITH_QUESTION_H

#include "core/context.h"
#include "pair.h"

/* Largest cutoff, in heights of the box along a periodic axis: 8 less than KITH_MOST_HEIGHTS
 * (box.h). With the rounding errors that kith__check_rounding permits, up to these 8 heights for
 * the largest cutoff, no pair has |S[k]| > KITH_MOST_SHIFT. */
enum { KITH_MAX_IMAGES = 500 };

/** The arguments of a public call, checked. */
struct kith__question {
    kith_points a; /**< query particles: index i of a pair */
    kith_points b; /**< candidates: index j of a pair; equal to a when !cross */
    bool cross;    /**< a and b are two sets: pairs are between them; else pairs are within a */
    kith_precision precision; /**< precision of all coordinates, and of the definition of a pair */
    int dim;                  /**< dimensions, 2 or 3 */
    double cutoff;            /**< largest distance of a pair, rounded to the precision [length]; 0:
                                   the question has none */
    double height[3];  /**< distance between the two faces of the box across row k [length]; along
                            an open axis, whose row has length 1, at most 1 */
    double period_sum; /**< sum of the lengths of the periodic rows; 0 in open space [length] */
    double subcell; /**< 0: cells are as wide as the cutoff. Else, for friends-of-friends, cells are
                         divided into subcells of at most this width [length], and are as small as
                         their table permits (cells.h). Set after kith__question_init, in
                         fof/subcells.c */
    struct kith__lattice_d box_d; /**< the box, in double */
    struct kith__lattice_f box_f; /**< the box, its origin and rows rounded to float */
    const char *cutoff_name;      /**< what messages call the cutoff; NULL: there is no cutoff */
};

/** Return element k of an array of floats or doubles. */
KITH_FN double kith__real_at(const void *data, int64_t k, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)data)[k] : ((const double *)data)[k];
}

/** Set element k of an array of floats or doubles, rounding the value to the precision. */
KITH_FN void kith__set_real(void *data, int64_t k, kith_precision precision, double value)
{
    if (precision == KITH_FLOAT) {
        ((float *)data)[k] = (float)value;
    } else {
        ((double *)data)[k] = value;
    }
}

/** Read the position of particle p as the caller gave it, not wrapped. */
KITH_FN void kith__position(const kith_points *points, int dim, kith_precision precision, int64_t p,
                            double r[3])
{
    r[0] = kith__real_at(points->x, p * points->stride, precision);
    r[1] = kith__real_at(points->y, p * points->stride, precision);
    r[2] = dim == 3 ? kith__real_at(points->z, p * points->stride, precision) : 0;
}

/** Return true when all three numbers are finite. */
KITH_FN bool kith__is_finite(const double r[3])
{
    return isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]);
}

/** Return a number rounded to a precision. */
KITH_FN double kith__rounded(double value, kith_precision precision)
{
    return precision == KITH_FLOAT ? kith__round_to_float(value) : value;
}

/** Check points, box and cutoff and build a question of them. Coordinates are not read.
 *  @param against      the second set; NULL: pairs are within points
 *  @param box          NULL: open space
 *  @param cutoff_name  what messages call the cutoff; stays as long as the question
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT; KITH_UNSUPPORTED for memory that the backend cannot
 *          reach */
kith_status kith__question_init(kith_ctx *ctx, const kith_points *points,
                                const kith_points *against, const kith_box *box, double cutoff,
                                const char *cutoff_name, struct kith__question *question);

/** Check points and box and build a question without a cutoff. Coordinates are not read.
 *  @param against  the second set; NULL: there is one set
 *  @param box      NULL: open space
 *  @return as kith__question_init */
kith_status kith__question_space(kith_ctx *ctx, const kith_points *points,
                                 const kith_points *against, const kith_box *box,
                                 struct kith__question *question);

/** Check that n_species is 1 to 1024, and each particle's species 0 to n_species - 1.
 *  @param count    name of n_species for messages
 *  @param name     name of the array `species` for messages
 *  @param species  [n]; NULL: there is none to check
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__check_species(kith_ctx *ctx, const char *count, const char *name,
                                const int32_t *species, int64_t n, int32_t n_species);

/** Refuse options.extras, the arrays that a list has beside the indices, unless it is a combination
 *  of KITH_DISTANCES, KITH_VECTORS and KITH_SHIFTS.
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__check_extras(kith_ctx *ctx, unsigned extras);

/** Refuse a caller's result that lacks one of the arrays that options.extras names.
 *  @param distances, vectors, shifts  the arrays, fields of the result; NULL: it lacks the array
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__check_extra_arrays(kith_ctx *ctx, unsigned extras, const void *distances,
                                     const void *vectors, const void *shifts);

/** Store the message that a particle cannot be used.
 *  @param set       name of its set for the message
 *  @param status    KITH_NOT_FINITE, or KITH_LIMIT for a particle too far outside the box
 *  @param particle  index of the particle
 *  @return status */
kith_status kith__refuse(kith_ctx *ctx, const struct kith__question *question, const char *set,
                         kith_status status, int64_t particle);

/** Return the length of the shortest vector of the lattice that the periodic rows span; infinity in
 *  open space. It does not depend on the choice of the rows. Found by lattice reduction: once no
 *  row is shortened by another, nor by a sum or difference of two others, the rows are a basis
 *  reduced in the sense of Minkowski, whose shortest row is the shortest vector of the lattice. */
double kith__shortest_period(const struct kith__question *question);

#endif
