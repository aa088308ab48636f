/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pairs of a benchmark set, and their distances in bins, found by code that shares nothing with
 * the library.
 */
#ifndef KITH_BENCH_VERIFY_H
#define KITH_BENCH_VERIFY_H

#include "rung.h"
#include "rung_hash.h"

/** Points in the unit cube [0, 1)^3, whose pairs are searched. */
typedef struct verify_question {
    const double *xyz;        /**< [n][3], each a number of the precision */
    int64_t n;                /**< number of points */
    double cutoff;            /**< largest distance of a pair; below 1/2 in the periodic cube */
    kith_precision precision; /**< precision to which every operation is rounded */
    bool periodic;            /**< the cube is periodic on all three axes; open otherwise */
} verify_question;

/** The pairs that were found, as hashes that do not depend on their order. */
typedef struct verify_answer {
    int64_t pairs;  /**< number of pairs, each counted once */
    rung_hash half; /**< hash of (i, j), i < j */
    rung_hash full; /**< hash of (i, j) and (j, i) */
} verify_answer;

/** Find the pairs by comparing every point with every other, O(n^2). */
void verify_all_pairs(const verify_question *question, verify_answer *answer);

/** Find the pairs by cells, O(n). @return false without memory */
bool verify_cells(const verify_question *question, verify_answer *answer);

/** Bins of distances. */
typedef struct verify_bins {
    int32_t n;           /**< number of bins */
    const double *edge2; /**< [n + 1] squared edges, rounded to the precision */
    int64_t *counts;     /**< [n] pairs with edge2[k] <= r^2 < edge2[k + 1], the last bin with its
                              upper edge; set by the functions below */
} verify_bins;

/** Count pairs within the cutoff by distance. @return false without memory */
bool verify_histogram(const verify_question *question, const verify_bins *bins);

/** Count all pairs of the periodic cube by the distance of their nearest images, O(n^2). The cutoff
 *  is not used. */
void verify_nearest(const verify_question *question, const verify_bins *bins);

#endif
