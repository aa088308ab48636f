/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pairs of a benchmark set, found by code that shares nothing with the library.
 */
#ifndef KITH_BENCH_VERIFY_H
#define KITH_BENCH_VERIFY_H

#include "rung.h"

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

/** Find the same by cells. @return false when memory could not be had */
bool verify_cells(const verify_question *question, verify_answer *answer);

#endif
