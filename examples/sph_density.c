/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The density step of smoothed particle hydrodynamics: rho_i = sum_j m W(|r_j - r_i|, h) with the
 * cubic spline (Monaghan & Lattanzio 1985), from a half list with distances. Checks the density of
 * a lattice, which is equal for all particles.
 */
#include <kith.h>

#include <math.h>
#include <stdio.h>

enum { SIDE = 16, N = SIDE * SIDE * SIDE };

/** The cubic spline in 3-D, 0 from r = 2 h on. */
static double kernel(double r, double h)
{
    const double pi = 3.14159265358979323846;
    const double q = r / h;
    const double shape = q < 1   ? 1 - 1.5 * q * q + 0.75 * q * q * q
                         : q < 2 ? 0.25 * (2 - q) * (2 - q) * (2 - q)
                                 : 0;
    return shape / (pi * h * h * h);
}

int main(void)
{
    static double xyz[N][3], density[N];
    const double spacing = 1.0 / SIDE, h = 1.2 * spacing, mass = 1.0 / N;
    for (int p = 0; p < N; p++) {
        xyz[p][0] = (p % SIDE + 0.5) * spacing;
        xyz[p][1] = (p / SIDE % SIDE + 0.5) * spacing;
        xyz[p][2] = (p / SIDE / SIDE + 0.5) * spacing;
    }

    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        puts(kith_message(NULL));
        return 1;
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.extras = KITH_DISTANCES;
    kith_pairs list = {0};
    if (kith_pairs_find(ctx, &points, &box, 2 * h, &options, &list) != KITH_OK) {
        puts(kith_message(ctx));
        return 1;
    }

    const double *distance = list.distances;
    for (int p = 0; p < N; p++) {
        density[p] = mass * kernel(0, h); /* of the particle itself */
    }
    for (int64_t k = 0; k < list.n; k++) {
        const double term = mass * kernel(distance[k], h);
        density[list.i[k]] += term;
        density[list.j[k]] += term;
    }
    kith_pairs_free(&list);
    kith_close(ctx);

    double least = density[0], most = density[0];
    for (int p = 0; p < N; p++) {
        least = fmin(least, density[p]);
        most = fmax(most, density[p]);
    }
    printf("density %.6f to %.6f, expected 1\n", least, most);
    return fabs(least - 1) < 0.01 && most - least < 1e-12 ? 0 : 1;
}
