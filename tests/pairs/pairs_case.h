/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One input, checked in every way the interface offers it: the table of tests is made of these.
 */
#ifndef KITH_TEST_PAIRS_CASE_H
#define KITH_TEST_PAIRS_CASE_H

#include <stdbool.h>

#include "check.h"
#include "oracle.h"
#include "points.h"

/** Which precisions a case runs in. */
typedef enum case_precisions { CASE_BOTH, CASE_FLOAT, CASE_DOUBLE } case_precisions;

/** An input. Fields left 0 have the usual meaning. */
typedef struct pair_case {
    const char *name;
    const double *xyz; /**< [n][3] */
    int64_t n;
    const double *against; /**< [m][3]; NULL: one set */
    int64_t m;
    const kith_box *box; /**< NULL: open space */
    double cutoff;
    case_precisions precisions; /**< float and double unless said */
    int exact_inverse;          /**< fractional coordinates have no rounding errors: points may be
                                     on the faces of a triclinic box */

    /** Add the rules of the case to the options; NULL: it has none. KITH_MATRIX lists are checked
     *  too, then. */
    void (*rules)(const void *user, kith_precision precision, kith_pairs_options *o);
    /** Return whether the rules list a pair within `reach`. */
    int (*listed)(const void *user, kith_precision precision, const oracle_pair *pair);
    const void *user; /**< argument of both */
    double reach;     /**< with rules: at least the distance of any pair */
    int full_only;    /**< with rules: they are for full lists alone */
} pair_case;

/**
 * Check a case against the oracle: half and full lists, (i, j) and CSR, sorted and not, every
 * extra, found, filled, counted and in blocks.
 */
void case_check(kith_ctx *ctx, const pair_case *c);

/**
 * Check one form of the list on several contexts, against the oracle. In a skewed box the caller
 * makes sure that no coordinate is so near a face that rounding decides how it is wrapped
 * (oracle_margin).
 * @param form  the options; `against` is set by this call
 */
void case_check_form(kith_ctx *const *ctx, int contexts, const pair_case *c,
                     kith_precision precision, layout how, kith_pairs_options form);

/**
 * Check that a search is refused with KITH_INVALID and a message that contains a text.
 * @param[in,out] o  the options; afterwards those of `good`
 */
void case_refused(kith_ctx *ctx, const kith_points *points, double cutoff, kith_pairs_options *o,
                  const kith_pairs_options *good, const char *text);

/**
 * Check that the rows of a KITH_MATRIX list are those of a KITH_CSR list, found by the search for
 * points of double precision.
 * @param o  the options, with `full`; the layout is set by this call
 * @return the number of pairs
 */
int64_t case_check_matrix(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                          double cutoff, kith_pairs_options o);

/**
 * Return true when the rows of a KITH_MATRIX list are those of a KITH_CSR list, bit for bit: the
 * first `width` of each, then empty entries; and counts and totals. Arrays that the list does not
 * have are not compared.
 */
bool case_is_matrix(const kith_pairs *list, int64_t width, int32_t fill, const kith_pairs *csr,
                    kith_precision precision);

#endif
