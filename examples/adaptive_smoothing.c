/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Smoothing lengths that adapt to densities over a range of 6 * 10^4: the cubic spline of particle
 * i ends at its k-th nearest neighbour, 2 h_i = r_k. The particles sample Plummer's sphere at
 * random, independently of each other, so that a particle is no sample of its own surroundings: its
 * own term is omitted. Checks the densities against the sphere's, shell by shell.
 */
#include <kith.h>

#include <math.h>
#include <stdio.h>

enum { N = 50000, K = 32, SHELLS = 4 };

static const double pi = 3.14159265358979323846;

/** Return a random number of (0, 1), by a linear congruential generator (Knuth's MMIX). */
static double draw(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

/** Draw a place in Plummer's sphere of scale 1. */
static void draw_plummer(double r[3])
{
    const double radius = 1 / sqrt(pow(draw(), -2.0 / 3) - 1);
    const double cosine = 2 * draw() - 1, angle = 2 * pi * draw();
    r[0] = radius * sqrt(1 - cosine * cosine) * cos(angle);
    r[1] = radius * sqrt(1 - cosine * cosine) * sin(angle);
    r[2] = radius * cosine;
}

/** The cubic spline in 3-D, 0 from r = 2 h on. */
static double kernel(double r, double h)
{
    const double q = r / h;
    const double shape = q < 1   ? 1 - 1.5 * q * q + 0.75 * q * q * q
                         : q < 2 ? 0.25 * (2 - q) * (2 - q) * (2 - q)
                                 : 0;
    return shape / (pi * h * h * h);
}

int main(void)
{
    static double xyz[N][3];
    for (int p = 0; p < N; p++) {
        draw_plummer(xyz[p]);
    }
    kith_ctx *ctx = NULL;
    kith_options setup;
    kith_options_init(&setup);
    setup.backend = "cpu"; /* a GPU does not offer it yet */
    if (kith_open(&setup, &ctx) != KITH_OK) {
        puts(kith_message(NULL));
        return 1;
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.extras = KITH_DISTANCES;
    kith_nearest nearest = {.size = sizeof nearest};
    if (kith_nearest_find(ctx, &points, NULL, K, &options, &nearest) != KITH_OK) {
        puts(kith_message(ctx));
        return 1;
    }

    static const double end[SHELLS] = {0.5, 1, 3, 9};
    double error[SHELLS] = {0}; /* sum over the shell's particles, relative */
    int members[SHELLS] = {0}, wrong = 0;
    for (int p = 0; p < N; p++) {
        const double *distance = (const double *)nearest.distances + (int64_t)K * p;
        const double h = distance[K - 1] / 2;
        double density = 0;
        for (int k = 0; k < K; k++) {
            density += kernel(distance[k], h) / N;
        }
        const double r2 = xyz[p][0] * xyz[p][0] + xyz[p][1] * xyz[p][1] + xyz[p][2] * xyz[p][2];
        const double expected = 3 / (4 * pi) * pow(1 + r2, -2.5);
        for (int s = 0; s < SHELLS; s++) {
            if (r2 < end[s] * end[s]) {
                error[s] += density / expected - 1;
                members[s]++;
                break;
            }
        }
    }
    for (int s = 0; s < SHELLS; s++) {
        printf("to r = %3.1f: %5d particles, mean error of the density %+.1f %%\n", end[s],
               members[s], 100 * error[s] / members[s]);
        wrong += fabs(error[s] / members[s]) > 0.05;
    }
    kith_nearest_free(&nearest);
    kith_close(ctx);
    return wrong == 0 ? 0 : 1;
}
