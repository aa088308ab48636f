/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pairs of a benchmark set, and their distances in bins, found by code that shares nothing with
 * the library.
 */
#ifndef KITH_BENCH_VERIFY_H
#define KITH_BENCH_VERIFY_H

#include "rung.h"
#include "rung_hash.h"

/** Points in the unit cube [0, 1)^3. */
typedef struct verify_question {
    const double *xyz; /**< [n][3], each a number of the precision */
    int64_t n;
    double cutoff;            /**< below 1/2 in the periodic cube */
    kith_precision precision; /**< in which every operation is rounded */
    bool periodic;            /**< on all three axes; open otherwise */
} verify_question;

typedef struct verify_answer {
    int64_t pairs;  /**< each once */
    rung_hash half; /**< of (i, j), i < j */
    rung_hash full; /**< of (i, j) and (j, i) */
} verify_answer;

/** Compare every point with every other. */
void verify_all_pairs(const verify_question *question, verify_answer *answer);

/** Find the pairs by cells. @return false when memory could not be had */
bool verify_cells(const verify_question *question, verify_answer *answer);

/** Bins of distances. */
typedef struct verify_bins {
    int32_t n;
    const double *edge2; /**< [n + 1] squared edges, rounded to the precision */
    int64_t *counts;     /**< [n] pairs with edge2[k] <= r2 < edge2[k + 1], the last edge as well */
} verify_bins;

/** Count pairs within the cutoff by distance. @return false when memory could not be had */
bool verify_histogram(const verify_question *question, const verify_bins *bins);

/** Count the nearest images of all pairs in the periodic cube by distance. */
void verify_nearest(const verify_question *question, const verify_bins *bins);

#endif
