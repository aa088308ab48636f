/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The definition of a pair, by brute force: every i, every j, every image that could matter. It
 * shares no code with the library, and is what every backend must agree with to the last bit.
 */
#ifndef KITH_TEST_ORACLE_H
#define KITH_TEST_ORACLE_H

#include "kith.h"

/** One entry of a full list. Values are those of the points' precision, held in double. */
typedef struct oracle_pair {
    int32_t i, j;
    int32_t shift[3]; /**< S for the coordinates as given */
    int32_t image[3]; /**< S for the wrapped coordinates */
    double vector[3]; /**< d */
    double r2;        /**< d . d */
    double distance;  /**< sqrt(r2) */
} oracle_pair;

/** A list sorted by i, then j, then Sc, Sb, Sa. */
typedef struct oracle_list {
    int64_t n, capacity;
    oracle_pair *pairs;
} oracle_list;

typedef void (*oracle_fn)(void *user, const oracle_pair *pair);

/**
 * Hand every (i, j, S) of the full list to fn, in sorted order. Cost: n * m * images.
 * @param against  B, or NULL for pairs within the points
 * @param box      NULL: open space
 */
void oracle_each(const kith_points *points, const kith_points *against, const kith_box *box,
                 double cutoff, oracle_fn fn, void *user);

/** The full list. Free with oracle_free. */
oracle_list oracle_full(const kith_points *points, const kith_points *against, const kith_box *box,
                        double cutoff);

/** The entries of a full list that belong to the half list. Free with oracle_free. */
oracle_list oracle_half(const oracle_list *full);

void oracle_free(oracle_list *list);

/**
 * Wrap the points into the box.
 * @param[out] xyz    [n][3] wrapped coordinates
 * @param[out] boxes  [n][3] how many boxes each was moved down; as given = xyz + boxes . rows
 */
void oracle_wrap(const kith_points *points, const kith_box *box, double *xyz, int64_t *boxes);

/** Distances between the two faces across each axis of the box, which is rounded to the precision
 *  first. Only those of periodic axes have a meaning. */
void oracle_heights(const kith_box *box, kith_precision precision, double height[3]);

/** Fractional coordinates of a position. The box is rounded to the precision first. */
void oracle_fractions(const kith_box *box, kith_precision precision, const double x[3],
                      double f[3]);

/**
 * How far the points are from where wrapping would depend on the rounding of the box's inverse: the
 * smallest |f - nearest whole| / (1 + |f|) over fractional coordinates f of periodic axes; infinity
 * in an orthorhombic box, whose wrapping uses no inverse.
 */
double oracle_margin(const kith_points *points, const kith_box *box);

#endif
