/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One input for the search for groups, checked against brute force in both precisions.
 */
#ifndef KITH_TEST_FOF_CASE_H
#define KITH_TEST_FOF_CASE_H

#include "check.h"
#include "points.h"

/** An input. Fields left 0 have the usual meaning. */
typedef struct fof_case {
    const char *name;
    const double *xyz; /**< [n][3] */
    int64_t n;
    const kith_box *box; /**< NULL: open space */
    double length;
    kith_fof_options options; /**< zeroed: the defaults with min_members 1; velocities here are
                                   double [n][3] whatever the precision */
    int large; /**< 1: too many particles for the oracle: kith_pairs_find, which has tests of its
                    own, gives the pairs */
} fof_case;

/** Find the groups in float and double and compare with the oracle's pairs, followed one by one. */
void fof_check(kith_ctx *ctx, const fof_case *c);

/** Compare the groups that several contexts find, in one precision and layout, with the oracle's.
 *  options.size is set by the caller. */
void fof_check_form(kith_ctx *const *ctx, int contexts, const fof_case *c, kith_precision precision,
                    layout how);

#endif
