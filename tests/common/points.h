/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Point sets for tests, and the ways to store them. Sets are made in double, [n][3], and stored in
 * the precision and layout under test.
 */
#ifndef KITH_TEST_POINTS_H
#define KITH_TEST_POINTS_H

#include "kith.h"
#include "random.h"

/** A reproducible random sequence: set the counter to the seed. */
typedef random_state rng;

/** 64 random bits. */
uint64_t rng_bits(rng *r);

/** Uniform in [lo, hi). */
double rng_uniform(rng *r, double lo, double hi);

/** Uniform in 0 to n - 1. */
int64_t rng_below(rng *r, int64_t n);

/** Normal, mean 0 and standard deviation 1. */
double rng_normal(rng *r);

/* Sets. Each returns [n][3] to be freed. */

/** Uniform in the block [lo, hi). */
double *points_uniform(rng *r, int64_t n, const double lo[3], const double hi[3]);

/** Uniform in the box: origin + f . rows with f in [0, 1). */
double *points_in_box(rng *r, int64_t n, const kith_box *box);

/** Gaussian clusters of the given width around centres uniform in [0, side). */
double *points_clustered(rng *r, int64_t n, int clusters, double side, double width);

/** Cubic lattices. */
typedef enum lattice { LATTICE_SC = 1, LATTICE_BCC = 2, LATTICE_FCC = 4 } lattice;

/** cells^3 cubic cells of side a: n = kind * cells^3 points k * a, computed in double. */
double *points_lattice(lattice kind, int cells, double a);

/** Add to each point whole multiples, up to most, of the vectors of the box's periodic axes. */
void points_drift(rng *r, double *xyz, int64_t n, const kith_box *box, int most);

/** A copy of n points. */
double *points_copy(const double *xyz, int64_t n);

/* Storage. */

/** How coordinates lie in memory. */
typedef enum layout { LAYOUT_PACKED, LAYOUT_SPLIT, LAYOUT_STRIDE7, LAYOUTS } layout;

/** Points and the memory they borrow; unused elements between coordinates are NaN. */
typedef struct stored {
    kith_points points;
    void *memory;
} stored;

/** Store xyz, rounded to the precision. Free with stored_free. */
stored stored_make(const double *xyz, int64_t n, kith_precision precision, layout how);

void stored_free(stored *s);

/** Coordinate k of particle p. */
double points_get(const kith_points *points, int64_t p, int k);

#endif
