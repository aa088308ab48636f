/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair-force sums, from which g(r) can be estimated with less noise than from counts; pair_force.c
 * gives the formula and the reference. Read by the C and the CUDA compiler.
 *
 * With F the force on a particle, d the vector from i to j, computed in double, r its length, and e
 * the upper edge of a bin, two sums are made over the pairs of each bin: of p = (F_j - F_i).d, and
 * of p (e / r)^dim, where an r^2 below force_units.least2 is replaced by that. Two more are made
 * over the pairs below the first edge, with e of edge_of (pair_force.c). The sums are in fixed
 * point, so that their order does not matter: terms are rounded to 2^-40 of the next power of 2
 * above the largest term that the forces allow, and 2^22 terms never overflow 63 bits.
 */
#ifndef KITH_PAIR_FORCE_H
#define KITH_PAIR_FORCE_H

#include <string.h>

#include "rdf.h"

enum { KITH_FORCE_TERMS = 1 << 22 /**< number of terms that never overflow 63 bits */ };

/** Return the index of a pair-force sum in an array [partials][2][bins + 1].
 *  @param partial  number of the pair of species (kith__partial)
 *  @param which    0: sum of p; 1: sum of p (e / r)^dim
 *  @param k        counter of the pairs: 0 below the first edge, b + 1 in bin b */
KITH_FN int64_t kith__force_sum_at(const struct kith__rdf *rdf, int32_t partial, int which,
                                   int64_t k)
{
    return (2 * (int64_t)partial + which) * (rdf->bins + 1) + k;
}

/** Return the integer nearest to x, |x| < 2^51. In x + 1.5 * 2^52 the last bit of the fraction is
 *  worth 1, so the addition rounds to an integer, and the bits of the sum less those of 1.5 * 2^52,
 *  0x4338000000000000, are that integer. */
KITH_FN int64_t kith__nearest_integer(double x)
{
    const double shifted = KITH_ADD_d(x, 6755399441055744.0);
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4338000000000000;
}

/** Fast inverse square root: return 1 / sqrt(x), with an error of some units in the last place, for
 *  x in [1e-150, 1e150]. Halving the bits of x halves its exponent: the magic number less them is a
 *  guess y with an error of at most 3.5 %. With e = 1 - x y^2, 1 / sqrt(x) = y (1 - e)^(-1/2); the
 *  series 1 + e/2 + 3/8 e^2 + 5/16 e^3 of that is used to second, then to third order. The result
 *  has equal bits on all processors, as it is made of sums and products alone. */
KITH_FN double kith__inverse_root(double x)
{
    uint64_t bits;
    double y;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5fe6eb50c7b537a9 - (bits >> 1);
    memcpy(&y, &bits, sizeof y);
    double e = KITH_SUB_d(1, KITH_MUL_d(KITH_MUL_d(x, y), y));
    y = KITH_ADD_d(y, KITH_MUL_d(KITH_MUL_d(y, e), KITH_ADD_d(0.5, KITH_MUL_d(0.375, e))));
    e = KITH_SUB_d(1, KITH_MUL_d(KITH_MUL_d(x, y), y));
    const double more = KITH_MUL_d(e, KITH_ADD_d(0.375, KITH_MUL_d(0.3125, e)));
    return KITH_ADD_d(y, KITH_MUL_d(KITH_MUL_d(y, e), KITH_ADD_d(0.5, more)));
}

/** Compute the terms that a pair adds to the two sums of its counter, in fixed point.
 *  @param dim        dimensions, 2 or 3
 *  @param over       force_units.over of its counter
 *  @param p          (F_j - F_i).d [force length]
 *  @param r2         squared distance [length^2]
 *  @param[out] term  the terms of p and of p (e / r)^dim */
KITH_FN void kith__force_terms(const struct kith__force_units *unit, double over, int dim, double p,
                               double r2, int64_t term[2])
{
    const double least2 = unit->least2;
    const double one = kith__inverse_root(r2 < least2 ? least2 : r2);
    const double square = KITH_MUL_d(one, one);
    const double power = dim == 3 ? KITH_MUL_d(square, one) : square;
    term[0] = kith__nearest_integer(KITH_MUL_d(p, unit->plain));
    term[1] = kith__nearest_integer(KITH_MUL_d(KITH_MUL_d(p, power), over));
}

/** Return a pair-force sum in the caller's units: that of p [force length], or of p / r^dim
 *  [force / length^(dim - 1)].
 *  @param which, k  as for kith__force_sum_at
 *  @param sum       the sum in fixed point */
static inline double kith__force_sum_value(const struct kith__rdf *rdf, int which, int64_t k,
                                           kith__wide sum)
{
    return (double)sum / (which == 0 ? rdf->force_units.plain : rdf->force_units.over[k]);
}

/** Check that forces are finite, and set rdf->forces and rdf->most_forces. O(n), parallel.
 *  @return KITH_OK, KITH_INVALID, KITH_NOT_FINITE or KITH_CANCELLED. */
kith_status kith__forces_measure(kith_ctx *ctx, const kith_rdf_options *options,
                                 const struct kith__question *question, struct kith__rdf *rdf);

/** Check that the largest forces, rdf->most_forces, and the cutoff are within the range of fixed
 *  point; set rdf->most_force.
 *  @return KITH_OK or KITH_INVALID */
kith_status kith__forces_check(kith_ctx *ctx, const struct kith__question *question,
                               struct kith__rdf *rdf);

/** Choose the fixed-point units, rdf->force_units, by rdf->most_force.
 *  @param edges  [bins + 1] edges of the bins [length]
 *  @param over   [bins + 1] memory for rdf->force_units.over */
void kith__force_units(const struct kith__question *question, const double *edges, double *over,
                       struct kith__rdf *rdf);

#endif
