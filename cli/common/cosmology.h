/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mean, critical and spherical-overdensity densities of a cosmological simulation, comoving, in the
 * units of its file [mass / length^3].
 */
#ifndef KITH_CLI_COSMOLOGY_H
#define KITH_CLI_COSMOLOGY_H

#include "catalogues/catalogue.h"

/** Cosmology of a run, and the mean density of matter. */
typedef struct cosmology {
    bool known;          /**< the numbers below are set, by the file or by --cosmology */
    bool given;          /**< the numbers are those of --cosmology */
    double omega_m;      /**< density of matter / critical density, today */
    double omega_lambda; /**< density of the cosmological constant / critical density, today */
    double redshift;     /**< redshift of the snapshot */
    double omega_b;      /**< density of baryons / critical density, today; 0: not known */
    double matter;       /**< mean density of matter [mass / length^3]; 0: not known */
    double filled;       /**< mass in the box / (matter * volume), where matter is from the
                              cosmology and the box is periodic; else 0 */
} cosmology;

/** Return the cosmology of a file's particles.
 *  @param given   the numbers of --cosmology; given->known is false without the option
 *  @param volume  of the periodic box; 0: there is none
 *  @param mass    of all particles in it; 0: not known, or not all were read */
cosmology cosmology_of(const io_particles *particles, const cosmology *given, double volume,
                       double mass);

/** Return the critical density today in the units of the file [mass / comoving length^3]; 0 when
 *  the units are not known. */
double cosmology_critical(const io_particles *particles);

/** Return (H / H_0)^2 at the redshift; at most 0: with these Omegas no universe was ever so small.
 */
double cosmology_expansion(const cosmology *c);

/** Compute the mean densities that define the spheres 200c, 200m, 500c and virial (Bryan & Norman
 *  1998, ApJ 495, 80) [mass / length^3]; 0: not known. The virial one is also 0 where their fit is
 *  below 0, far above the largest Omega of matter that it is made for, 1. */
void cosmology_spheres(const cosmology *c, double out[KITH_SPHERES]);

#endif
