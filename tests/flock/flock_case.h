/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock under test: made at random, stepped by brute force in double.
 */
#ifndef KITH_TEST_FLOCK_CASE_H
#define KITH_TEST_FLOCK_CASE_H

#include <stdbool.h>

#include "kith.h"
#include "points.h"

typedef struct flock_case {
    const char *name;
    int64_t n;
    kith_box box;
    kith_precision precision;
    kith_flock_options options;
    stored r, v; /* rounded to the precision */
} flock_case;

/** Particles uniform in a box of this side (in open space too), velocities up to 1. grid > 0: all
 *  numbers are multiples of it. Free with flock_case_free. */
flock_case flock_case_make(const char *name, int64_t n, double side, kith_box box,
                           kith_precision precision, double grid, uint64_t seed);
void flock_case_free(flock_case *c);

/** A flock of the case. */
kith_flock *flock_case_open(kith_ctx *ctx, const flock_case *c);

/** One step without noise in double, by looking at all pairs. r and v [n][3]; error [n][3]: what
 *  rounding to the units of the sums may change in v, and in r, for each particle; and the factor
 *  by which other roundings grow in turns. */
void flock_case_step(const flock_case *c, double *r, double *v, double *error);

/** Take one step of the case and compare it with brute force.
 *  @param exact  all sums are exact, so that only the rounding of r' and v' is allowed for */
void flock_case_check(kith_ctx *ctx, const flock_case *c, bool exact);

/** The state in double. @param[out] r, v  [n][3] */
void flock_case_read(const flock_case *c, const kith_flock *flock, double *r, double *v);

#endif
