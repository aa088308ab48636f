/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Densities of a cosmological simulation, by the Friedmann equation with matter, curvature and a
 * cosmological constant.
 */
#include "cosmology.h"

#include <math.h>

double cosmology_critical(const io_particles *particles)
{
    const double gravity = 6.6743e-8;                   /* [cm^3 / g / s^2], CODATA 2018 */
    const double hundred = 1e7 / 3.0856775814913673e24; /* 100 km/s/Mpc [1/s] */
    const io_units *u = &particles->units;
    if (!particles->cosmology.known || u->source == IO_UNITS_NONE) {
        return 0;
    }
    const double h = particles->cosmology.h;
    const double length = u->length * pow(h, u->length_h), mass = u->mass * pow(h, u->mass_h);
    const double hubble = hundred * h;
    const double critical = 3 * hubble * hubble / (8 * M_PI * gravity); /* [g / cm^3] */
    return critical * length * length * length / mass;
}

cosmology cosmology_of(const io_particles *particles, const cosmology *given, double volume,
                       double mass)
{
    const io_cosmology *file = &particles->cosmology;
    cosmology c = *given;
    if (!given->known && file->known) {
        c = (cosmology){.known = true,
                        .omega_m = file->omega_m,
                        .omega_lambda = file->omega_lambda,
                        .omega_b = file->omega_b,
                        .redshift = file->redshift};
    }
    c.matter = c.known ? c.omega_m * cosmology_critical(particles) : 0;
    const double mean = volume > 0 ? mass / volume : 0;
    if (c.matter > 0) {
        c.filled = mean / c.matter;
    } else {
        c.matter = mean;
    }
    return c;
}

/** Return the density of matter at the redshift / critical density today. */
static double matter_then(const cosmology *c)
{
    const double a = 1 / (1 + c->redshift);
    return c->omega_m / (a * a * a);
}

double cosmology_expansion(const cosmology *c)
{
    const double a = 1 / (1 + c->redshift);
    const double curved = 1 - c->omega_m - c->omega_lambda;
    return matter_then(c) + curved / (a * a) + c->omega_lambda;
}

void cosmology_spheres(const cosmology *c, double out[KITH_SPHERES])
{
    for (int s = 0; s < KITH_SPHERES; s++) {
        out[s] = 0;
    }
    out[IO_SPHERE_200M] = 200 * c->matter;
    const double square = cosmology_expansion(c);
    if (!c->known || !(square > 0)) {
        return;
    }
    const double share = matter_then(c) / square; /* Omega_m(z) */
    const double critical = c->matter / share;    /* at the redshift, comoving as matter is */
    const double x = share - 1;                   /* x in the fits of Bryan & Norman */
    const double virial = c->omega_lambda != 0 ? 18 * M_PI * M_PI + 82 * x - 39 * x * x
                                               : 18 * M_PI * M_PI + 60 * x - 32 * x * x;
    out[IO_SPHERE_200C] = 200 * critical;
    out[IO_SPHERE_500C] = 500 * critical;
    out[IO_SPHERE_VIRIAL] = virial > 0 ? virial * critical : 0;
}
