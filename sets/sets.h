/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproducible sets of particles for `kith make`, tests, ladder and bench: kind, n and seed
 * determine all bits, on every machine. Includes kith.h alone.
 *
 * Every generator uses integers, and + - * / and sqrt of IEEE doubles. It calls no other function
 * of libm, since their last bits differ from system to system. All run in O(n) and allocate
 * nothing.
 */
#ifndef KITH_SETS_H
#define KITH_SETS_H

#include <kith.h>

/** Make n points that are uniform in [0, 1)^3: the reference case of the benchmarks. The first m
 *  points of a longer set are the set of m points.
 *  @param[out] xyz  [n][3] */
void sets_uniform(double *xyz, int64_t n, uint64_t seed);

/** Make a lattice of complete cells in [0, 1)^3.
 *  @param[out] xyz  [n][3]
 *  @param n         largest number of points
 *  @param basis     points of a cell: 1 simple cubic, 2 bcc, 4 fcc
 *  @return the number of points: basis * m^3 with the largest m that fits; 0 for any other basis */
int64_t sets_lattice(double *xyz, int64_t n, int basis);

/** Make a Plummer sphere of scale radius 1/41 at the centre of [0, 1)^3, truncated at 20 scale
 *  radii.
 *  @param[out] xyz  [n][3] */
void sets_plummer(double *xyz, int64_t n, uint64_t seed);

/** Make halos of Plummer profile with a power-law mass function (dN/dM ~ M^-1.9), over a uniform
 *  background of 40 % of the points, in the periodic box [0, 1)^3. A halo has 20 to n/50 points and
 *  200 times the mean density, and is truncated at 5 scale radii. The points are ordered halo by
 *  halo, with the background last.
 *  @param[out] xyz  [n][3] */
void sets_clustered(double *xyz, int64_t n, uint64_t seed);

/** Make two Plummer spheres of 45 % of the points each in the periodic box [0, 1)^3, truncated at 4
 *  scale radii, then a thin bridge of n/150 points between their centres, then a uniform
 *  background. Velocities in each sphere have a dispersion of 1 along each axis; the mean
 *  velocities of the spheres are -1 and 1 along y, and vary linearly along the bridge.
 *  @param[out] xyz       [n][3]
 *  @param[out] velocity  [n][3] */
void sets_bridge(double *xyz, double *velocity, int64_t n, uint64_t seed);

/** Make a hierarchy of Soneira & Peebles (1978) with eta = 4, lambda = 1.9 in [0, 1)^3, with as
 *  many levels as n points need. If n is no power of four, the branches end at two successive
 *  levels.
 *  @param[out] xyz  [n][3] */
void sets_soneira_peebles(double *xyz, int64_t n, uint64_t seed);

#endif
