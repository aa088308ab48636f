/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replicas to test with, and the counts that are right for them: by the definition of
 * kith/overlap.h, pair after pair, with no code of the library.
 */
#ifndef KITH_TEST_OVERLAP_CASE_H
#define KITH_TEST_OVERLAP_CASE_H

#include <kith/overlap.h>
#include "points.h"

/** What replicas hold. */
typedef enum overlap_kind {
    OVERLAP_NORMAL,  /**< normal numbers, moved so that the mean is not 0 */
    OVERLAP_WHOLE,   /**< small whole numbers */
    OVERLAP_HUGE,    /**< normal numbers of sizes from 1e-12 to 1e12, by replica */
    OVERLAP_SPINS,   /**< 1 and -1 */
    OVERLAP_TWINS,   /**< a few vectors, their copies and their negatives, some a little off */
    OVERLAP_OPPOSED, /**< 1 and normal numbers of width 0.3; the upper half of every other replica
                          has the other sign, so that long sums cancel */
    OVERLAP_KINDS
} overlap_kind;

/** Replicas and the memory that they borrow: rows are `gap` numbers (bytes of bits) apart. */
typedef struct overlap_case {
    kith_replicas replicas;
    double *numbers; /**< [n][dim] what the values are, exactly */
} overlap_case;

/** Make replicas of a type. Free with overlap_case_free. */
overlap_case overlap_case_make(rng *r, overlap_kind kind, int64_t n, int64_t dim, int type,
                               int64_t gap);
void overlap_case_free(overlap_case *c);

/** The overlap of two rows of numbers, by the definition. */
double overlap_case_value(const double *x, const double *y, int64_t dim,
                          kith_overlap_measure measure);

/** Count all pairs. @param numbers  as the definition takes them: the mean is subtracted
 *  @param[out] counts  [bins] */
void overlap_case_count(const double *numbers, int64_t n, int64_t dim, kith_overlap_measure measure,
                        const double *edges, int64_t bins, int64_t *counts);

/** The numbers of a case less their mean, rounded to its type; to be freed. */
double *overlap_case_centred(const overlap_case *c);

#endif
