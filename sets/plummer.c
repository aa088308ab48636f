/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plummer spheres: one alone, or halos with a mass function over a uniform background.
 *
 * A Plummer sphere of scale radius 1 holds the mass fraction s^3 within r, with s = r/sqrt(1+r^2).
 * A point uniform in the unit ball holds s^3 within s. So a uniform ball, stretched by
 * r/s = 1/sqrt(1-s^2), is a Plummer sphere: no power function is needed. Plummer, MNRAS 71 (1911).
 */
#include "random.h"
#include "sets.h"

#include <math.h>

/** Draw a point of a Plummer sphere of scale radius 1, truncated where r^2 = cut2. */
static void plummer_point(random_state *random, double cut2, double v[3])
{
    const double s2 = random_in_ball(random, cut2 / (1 + cut2), v);
    const double stretch = 1 / sqrt(1 - s2);
    for (int k = 0; k < 3; k++) {
        v[k] *= stretch;
    }
}

void sets_plummer(double *xyz, int64_t n, uint64_t seed)
{
    random_state random = random_start(seed);
    for (int64_t p = 0; p < n; p++) {
        double v[3];
        plummer_point(&random, 20 * 20, v);
        for (int k = 0; k < 3; k++) {
            xyz[3 * p + k] = 0.5 + v[k] / 41;
        }
    }
}

/** Compute the cube root of 0 < x <= 1 by Newton's iteration from 1, which decreases monotonically
 *  until it is limited by rounding. */
static double cube_root(double x)
{
    double root = 1;
    for (;;) {
        const double next = (2 * root + x / (root * root)) / 3;
        if (!(next < root)) {
            return root;
        }
        root = next;
    }
}

/** A mass from dN/dM ~ M^-1.9 in [least, most): drawn from M^-2, which inverts by a division, and
 *  kept with probability (M/most)^0.1, which is a power of ten away from a product. */
static double halo_mass(random_state *random, double least, double most)
{
    for (;;) {
        const double mass = 1 / (1 / least - random_unit(random) * (1 / least - 1 / most));
        const double u = random_unit(random);
        const double u2 = u * u, u4 = u2 * u2;
        if (u4 * u4 * u2 < mass / most) {
            return mass;
        }
    }
}

/** Put x back into [0, 1), x within one box of it. */
static double wrap(double x)
{
    const double y = x < 0 ? x + 1 : x;
    return y < 1 ? y : y - 1;
}

/** Fill a halo of the given number of points in a set of n. */
static void fill_halo(random_state *random, double *xyz, int64_t points, int64_t n)
{
    enum { CONCENTRATION = 5, OVERDENSITY = 200 };
    const double pi = 3.14159265358979323846;
    const double fraction = (double)points / (double)n;
    const double radius = cube_root(fraction / OVERDENSITY / (4 * pi / 3));
    double centre[3];
    for (int k = 0; k < 3; k++) {
        centre[k] = random_unit(random);
    }
    for (int64_t p = 0; p < points; p++) {
        double v[3];
        plummer_point(random, CONCENTRATION * CONCENTRATION, v);
        for (int k = 0; k < 3; k++) {
            xyz[3 * p + k] = wrap(centre[k] + v[k] * (radius / CONCENTRATION));
        }
    }
}

void sets_clustered(double *xyz, int64_t n, uint64_t seed)
{
    enum { LEAST = 20 };
    random_state random = random_start(seed);
    const int64_t in_halos = n - 2 * n / 5;
    const int64_t share = n / 50;
    const double most = share > LEAST ? (double)share : LEAST;
    int64_t done = 0;
    while (done < in_halos) {
        const int64_t mass = (int64_t)halo_mass(&random, LEAST, most);
        const int64_t points = mass < in_halos - done ? mass : in_halos - done;
        fill_halo(&random, xyz + 3 * done, points, n);
        done += points;
    }
    for (int64_t k = 3 * done; k < 3 * n; k++) {
        xyz[k] = random_unit(&random);
    }
}
