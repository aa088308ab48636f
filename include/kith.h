/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith: which particles are near each other?
 *
 * One engine finds all pairs of particles within a radius, on CPU cores and on GPUs.
 *
 *     kith_ctx *ctx = NULL;
 *     kith_open(NULL, &ctx);                                        // best backend, all cores
 *     kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE); // double xyz[n][3]
 *     kith_box box = kith_box_periodic(lx, ly, lz);
 *     kith_pairs pairs = {0};
 *     if (kith_pairs_find(ctx, &points, &box, cutoff, NULL, &pairs) != KITH_OK)
 *         puts(kith_message(ctx));
 *     for (int64_t p = 0; p < pairs.n; p++)
 *         use(pairs.i[p], pairs.j[p]);
 *     kith_pairs_free(&pairs);
 *     kith_close(ctx);
 *
 * UNITS. None: coordinates, box and cutoff have the caller's unit of length.
 *
 * A PAIR. Particles i and j, with j taken at the periodic image S = (Sa, Sb, Sc), are a pair when
 *     r2 <= cutoff * cutoff,   r2 = (dx*dx + dy*dy) + dz*dz,
 *     d  = (((r_j - r_i) + Sc*c) + Sb*b) + Sa*a,
 * every operation rounded in the precision of the coordinates (what NumPy gives), the coordinates
 * wrapped into the box first, and (i, S) != (j, 0). A coordinate may be 2^30 boxes outside, 2^20 in
 * float; fewer in a skewed box, where rounding must leave it at most one box outside.
 * Every backend, instruction set and number of threads gives exactly this set. All images count: a
 * cutoff beyond half the box is allowed, and i, j then appear once for each image within it.
 *
 * A HALF list holds each pair once, with i < j; an image of a particle itself (i = j) is held once,
 * with the last non-zero of Sa, Sb, Sc positive. A FULL list holds (i, j, S) and (j, i, -S).
 *
 * A BOX has an origin o and three row vectors. Any axis may be periodic or open.
 *
 *                 c                      a = ( lx,  0,  0)
 *                /       b               b = ( xy, ly,  0)     LAMMPS, HOOMD, GROMACS
 *               /      .                 c = ( xz, yz, lz)
 *              / .
 *             o--------------> a         or any three independent vectors (ASE, vesin)
 *
 * MEMORY. Inputs are borrowed for the call, never written, never kept. Where the library allocates
 * (kith_pairs_find), the result owns its arrays until kith_pairs_free. Scratch is kept in the
 * context and reused: a second call of equal size allocates nothing. Calls that make a flock or
 * choose a subset of one allocate each time, and so do kith_verlet_open, the spheres of
 * kith_halos_measure, and groups and histograms of a batch.
 *
 * THREADS. A context serves one call at a time; different contexts are independent. While a call
 * runs, any other call that returns a status, of the context or a flock of it, from another thread
 * or from a callback, does nothing and returns KITH_BUSY; kith_message(NULL) has its message. The
 * library starts threads inside a call, which sleep between calls; it never prints, exits or
 * touches signal handlers. A child made by fork() may use its parent's context, on CPU cores.
 *
 * VERSIONS. Structs that may grow have a size, by which a program may be older or newer than the
 * library that it runs with: the init calls set that of options and inputs; results are zeroed,
 * which stands for the fields of version 0.1, and later fields are used where size is set. A field
 * that the library does not know must be 0. kith_points, kith_box, kith_replicas, kith_flock_rule
 * and kith_flock_thing never grow.
 *
 * ERRORS. Every fallible call returns a kith_status; kith_message() has the message. A ctx, flock
 * or kept list that is NULL gives KITH_INVALID. After every failure, also of a refused argument,
 * results are empty, as each call says. An int that is a flag is 0 or 1, an enum one of its values;
 * others are refused by name.
 */
#ifndef KITH_H
#define KITH_H

#include <kith/core.h>
#include <kith/pairs.h>
#include <kith/verlet.h>
#include <kith/nearest.h>
#include <kith/order.h>
#include <kith/fof.h>
#include <kith/halos.h>
#include <kith/rdf.h>
#include <kith/waves.h>
#include <kith/debye.h>
#include <kith/overlap.h>
#include <kith/flock.h>
#include <kith/glance.h>
#include <kith/team.h>

#endif
