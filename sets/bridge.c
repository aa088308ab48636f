/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two halos that are joined by a thin bridge of particles: friends-of-friends finds one group.
 */
#include "random.h"
#include "sets.h"

#include <math.h>

/** Distance of the centre of each halo from the centre of the box, along x. */
static const double APART = 0.17;

/** A velocity of a distribution that is uniform in a ball, with a dispersion of 1 along each axis,
 *  about one along y. */
static void put_velocity(random_state *random, double mean, double v[3])
{
    random_in_ball(random, 1, v);
    for (int k = 0; k < 3; k++) {
        v[k] *= sqrt(5);
    }
    v[1] += mean;
}

/** Draw the points of a Plummer sphere that is truncated at 4 scale radii (see plummer.c). */
static void put_halo(random_state *random, double side, int64_t n, double *xyz, double *velocity)
{
    const double radius = 0.025, cut2 = 16;
    for (int64_t p = 0; p < n; p++) {
        double *const x = xyz + 3 * p;
        const double s2 = random_in_ball(random, cut2 / (1 + cut2), x);
        const double stretch = radius / sqrt(1 - s2);
        for (int k = 0; k < 3; k++) {
            x[k] = 0.5 + stretch * x[k];
        }
        x[0] += side * APART;
        put_velocity(random, side, velocity + 3 * p);
    }
}

/** A straight thread from one centre to the other. A particle is somewhere in its own piece of it,
 *  so that no gap is longer than two pieces. */
static void put_thread(random_state *random, int64_t n, double *xyz, double *velocity)
{
    const double width = 0.002;
    for (int64_t p = 0; p < n; p++) {
        double *const x = xyz + 3 * p;
        const double along = 2 * ((double)p + random_unit(random)) / (double)n - 1;
        random_in_ball(random, 1, x);
        for (int k = 1; k < 3; k++) {
            x[k] = 0.5 + width * x[k];
        }
        x[0] = 0.5 + APART * along;
        put_velocity(random, along, velocity + 3 * p);
    }
}

void sets_bridge(double *xyz, double *velocity, int64_t n, uint64_t seed)
{
    random_state random = random_start(seed);
    const int64_t halo = 9 * n / 20, thread = n / 150;
    put_halo(&random, -1, halo, xyz, velocity);
    put_halo(&random, 1, halo, xyz + 3 * halo, velocity + 3 * halo);
    put_thread(&random, thread, xyz + 6 * halo, velocity + 6 * halo);
    for (int64_t p = 2 * halo + thread; p < n; p++) {
        for (int k = 0; k < 3; k++) {
            xyz[3 * p + k] = random_unit(&random);
        }
        put_velocity(&random, 0, velocity + 3 * p);
    }
}
