/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproducible test sets: the same kind, n and seed give the same bits on any machine.
 * Needs only kith.h; used by `kith make`, tests, ladder and bench.
 *
 * Every generator uses integers, + - * / and sqrt of IEEE doubles and nothing else of libm, whose
 * last bits differ from system to system. All run in O(n) and allocate nothing.
 */
#ifndef KITH_SETS_H
#define KITH_SETS_H

#include <kith.h>

/** Fill xyz [n][3] with n points uniform in [0, 1)^3. The reference case of the benchmarks.
 *  The first m points of a longer set are the set of m points. */
void sets_uniform(double *xyz, int64_t n, uint64_t seed);

/** A lattice of n points or a few less in [0, 1)^3 (whole cells): 1 simple cubic, 2 bcc, 4 fcc per
 *  cell. @return the number of points: basis * m^3 with the largest m that fits; 0 for any other
 *  basis. */
int64_t sets_lattice(double *xyz, int64_t n, int basis);

/** One Plummer sphere of scale radius 1/41 in the middle of [0, 1)^3, cut at 20 radii. */
void sets_plummer(double *xyz, int64_t n, uint64_t seed);

/** Halos of Plummer profile with a power-law mass function (dN/dM ~ M^-1.9) over a uniform
 *  background holding 40 % of the points, in the periodic box [0, 1)^3. A halo has 20 to n/50
 *  points, 200 times the mean density, and is cut at 5 scale radii. Points come halo by halo, the
 *  background last. */
void sets_clustered(double *xyz, int64_t n, uint64_t seed);

/** Two Plummer spheres of 45 % of the points each in the periodic box [0, 1)^3, cut at 4 scale
 *  radii, that a thin thread of n/150 points joins from centre to centre, over a uniform
 *  background. Points come in this order. Velocities have a dispersion of 1 along each axis in each
 *  sphere; their own are -1 and 1 along y, and change from one to the other along the thread.
 *  @param[out] velocity  [n][3] */
void sets_bridge(double *xyz, double *velocity, int64_t n, uint64_t seed);

/** Soneira & Peebles (1978) hierarchy, eta = 4, lambda = 1.9, in [0, 1)^3. The levels are as many
 *  as n points need; where n is no power of four, branches end one level apart. */
void sets_soneira_peebles(double *xyz, int64_t n, uint64_t seed);

#endif
