/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A checked question: points, box and cutoff as every backend takes them. Public calls build one,
 * so that arguments are checked once and in one place.
 */
#ifndef KITH_QUESTION_H
#define KITH_QUESTION_H

#include "core/context.h"
#include "pair.h"

/* |S| fits 10 bits with room for the sign, so that a shift packs into an int32. */
enum { KITH_MAX_IMAGES = 500 };

struct kith__question {
    kith_points a; /**< rows of the list */
    kith_points b; /**< candidates; the same as a when !cross */
    bool cross;    /**< b is another set */
    kith_precision precision;
    int dim;
    double cutoff;    /**< rounded to the precision */
    double height[3]; /**< distance between the faces of axis k */
    double reach;     /**< sum of the periodic rows' lengths; 0 in open space */
    double part;      /**< 0: cells as wide as the cutoff; else cells are divided into parts at most
                           this wide, and are as small as their table allows */
    struct kith__lattice_d box_d;
    struct kith__lattice_f box_f;
};

/** Element k of an array of reals. */
KITH_FN double kith__real_at(const void *data, int64_t k, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)data)[k] : ((const double *)data)[k];
}

/** Set it, to what the precision can hold. */
KITH_FN void kith__set_real(void *data, int64_t k, kith_precision precision, double value)
{
    if (precision == KITH_FLOAT) {
        ((float *)data)[k] = (float)value;
    } else {
        ((double *)data)[k] = value;
    }
}

/** Position of particle p as the caller gave it. */
KITH_FN void kith__position(const kith_points *points, int dim, kith_precision precision, int64_t p,
                            double r[3])
{
    r[0] = kith__real_at(points->x, p * points->stride, precision);
    r[1] = kith__real_at(points->y, p * points->stride, precision);
    r[2] = dim == 3 ? kith__real_at(points->z, p * points->stride, precision) : 0;
}

/** Are all three numbers finite? */
KITH_FN bool kith__is_finite(const double r[3])
{
    return isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]);
}

/** A number as the precision has it. */
KITH_FN double kith__rounded(double value, kith_precision precision)
{
    return precision == KITH_FLOAT ? kith__round_to_float(value) : value;
}

/** Check and normalise. Coordinates are not read. @return KITH_OK, KITH_INVALID, KITH_LIMIT. */
kith_status kith__question_init(kith_ctx *ctx, const kith_points *points,
                                const kith_points *against, const kith_box *box, double cutoff,
                                struct kith__question *question);

/** The same for a question without a cutoff. */
kith_status kith__question_space(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                 struct kith__question *question);

/** Check 1 to 1024 species, and that of each particle. @param count  name of n_species in messages,
 *  @param name  and of species. @return KITH_OK, KITH_INVALID */
kith_status kith__check_species(kith_ctx *ctx, const char *count, const char *name,
                                const int32_t *species, int64_t n, int32_t n_species);

/** Say which particle of a set cannot be used, and why. @param status  KITH_NOT_FINITE, or
 *  KITH_LIMIT for one too far outside the box. @return status */
kith_status kith__refuse(kith_ctx *ctx, const struct kith__question *question, const char *set,
                         kith_status status, int64_t particle);

/** Length of the shortest vector of the lattice of the periodic axes, which does not depend on the
 *  rows that the lattice is given by; infinity in open space. Once no row is shortened by another,
 *  nor by a sum or difference of two others, the shortest row is that vector (Minkowski). */
double kith__shortest_period(const struct kith__question *question);

#endif
