/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Densities of the universe that particles are in, in their own units: mass / length^3, comoving.
 */
#ifndef KITH_CLI_COSMOLOGY_H
#define KITH_CLI_COSMOLOGY_H

#include "catalogues/catalogue.h"

typedef struct cosmology {
    bool known; /**< the numbers below, from the file or --cosmology */
    bool given; /**< by --cosmology */
    double omega_m, omega_lambda, redshift;
    double omega_b; /**< 0: not known */
    double matter;  /**< mean density of matter; 0: not known */
    double filled;  /**< mass in the box / (matter * volume), where matter is from the
                              cosmology and the box is periodic; else 0 */
} cosmology;

/** The universe of these particles. `given` holds the numbers of --cosmology, or is not known.
 *  @param volume  of the periodic box; 0: there is none
 *  @param mass    of all particles in it; 0: not known, or not all were read */
cosmology cosmology_of(const io_particles *particles, const cosmology *given, double volume,
                       double mass);

/** Critical density today, comoving, in units of the file's; 0 when these are not known. */
double cosmology_critical(const io_particles *particles);

/** Densities of the spheres 200c, 200m, 500c and virial (Bryan & Norman 1998, ApJ 495, 80); 0 where
 *  not known. */
void cosmology_spheres(const cosmology *c, double out[KITH_SPHERES]);

#endif
