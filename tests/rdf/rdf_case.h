/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One input whose histogram is compared with brute force, bin by bin, in float and in double.
 */
#ifndef KITH_TEST_RDF_CASE_H
#define KITH_TEST_RDF_CASE_H

#include "check.h"
#include "oracle.h"
#include "points.h"

/** An input. Fields left 0 have the usual meaning. */
typedef struct rdf_case {
    const char *name;
    const double *xyz; /**< [n][3] */
    int64_t n;
    const double *against; /**< [m][3]; NULL: one set */
    int64_t m;
    const double *forces, *forces_against; /**< [n][3]; NULL: none */
    const kith_box *box;                   /**< NULL: open space */
    kith_rdf_options options;              /**< but for against and forces */
} rdf_case;

/** Linear bins up to r_max. */
kith_rdf_options rdf_linear(int64_t bins, double r_max);

/** Compare counts, sums of weights, pushes and numbers of pairs with brute force. */
void rdf_check(kith_ctx *ctx, const rdf_case *c);

/** Compare what several contexts count, in one precision and layout, with one brute-force tally. */
void rdf_check_form(kith_ctx *const *ctx, int contexts, const rdf_case *c, kith_precision precision,
                    layout how);

#endif
