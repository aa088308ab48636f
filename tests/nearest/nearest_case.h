/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random inputs of searches for nearest neighbours, and a result compared with the oracle's list of
 * pairs.
 */
#ifndef KITH_TEST_NEAREST_CASE_H
#define KITH_TEST_NEAREST_CASE_H

#include "oracle.h"
#include "points.h"

/** One random input. */
typedef struct nearest_input {
    kith_box box;
    int64_t n, m, k; /**< m: particles of the second set; -1: there is none */
    double cutoff;   /**< 0: none */
    double least;    /**< least height of the box [length] */
    double *xyz, *against;
    char name[160];
} nearest_input;

/** Make a random input: two and three dimensions, open to periodic, orthorhombic to skewed boxes,
 *  one set and two, with and without a cutoff, points outside the box, equal points and lattices.
 *  Free with nearest_input_free. */
nearest_input nearest_random(rng *r);

void nearest_input_free(nearest_input *in);

/** Sort a full list by i, then by the order of neighbours: r2, j, Sc, Sb, Sa. */
void nearest_sort(oracle_list *list);

/**
 * Check a result to the last bit. Extras that it does not have are not checked.
 * @param name  of the case, for messages
 * @param n     particles
 * @param k     entries of a row
 * @param list  sorted by nearest_sort; it holds at least the first k pairs of each particle, or all
 *              of them where there are fewer
 */
void nearest_check(const char *name, const kith_nearest *got, int64_t n, int64_t k,
                   kith_precision precision, const oracle_list *list);

#endif
