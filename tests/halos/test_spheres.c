/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spheres of a given mean density: against brute force over all particles and their images, and
 * for a body whose mass within a radius is known.
 */
#include "check.h"
#include "points.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static double ball(double radius)
{
    return 4 * pi / 3 * radius * radius * radius;
}

/** A singular isothermal body: M(<r) = M r / R, so that the mean density falls as r^-2. */
static void test_isothermal(kith_ctx *ctx)
{
    enum { N = 20000 };
    const double radius = 0.1, mass = 3;
    double *xyz = check_malloc(3 * N * sizeof *xyz), *masses = check_malloc(N * sizeof *masses);
    int32_t *labels = check_malloc(N * sizeof *labels);
    double *densities = check_malloc(N * sizeof *densities);
    rng r = {3};
    for (int p = 0; p < N; p++) {
        const double at = p ? radius * p / N : 0;
        const double z = rng_uniform(&r, -1, 1), angle = rng_uniform(&r, 0, 2 * pi);
        const double across = sqrt(1 - z * z);
        xyz[3 * p] = at * across * cos(angle);
        xyz[3 * p + 1] = at * across * sin(angle);
        xyz[3 * p + 2] = at * z;
        masses[p] = mass / N;
        labels[p] = 2 * p < N; /* the group is the inner half */
        densities[p] = N - p;
    }
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.masses = masses;
    input.densities = densities;
    static const double at[KITH_SPHERES] = {0.02, 0.06, 0.1, 0.2};
    for (int t = 0; t < KITH_SPHERES; t++) {
        const double inside = at[t] < radius ? at[t] / radius : 1;
        input.sphere_density[t] = mass * inside / ball(at[t]);
    }
    const kith_groups groups = {.n = 1, .points = N, .labels = labels};
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    for (int periodic = 0; periodic < 2; periodic++) {
        kith_halos halos = {0};
        const kith_status status = kith_halos_measure(ctx, &points, periodic ? &box : NULL, &groups,
                                                      &input, &halos);
        if (CHECK(status == KITH_OK, "%s", kith_message(ctx))) {
            for (int t = 0; t < KITH_SPHERES; t++) {
                const double found = halos.halo[0].sphere_radius[t];
                CHECK(fabs(found / at[t] - 1) < 1e-3, "radius %g, expected %g", found, at[t]);
                CHECK(fabs(halos.halo[0].sphere_mass[t] / ball(found) / input.sphere_density[t] -
                           1) < 1e-12,
                      "mass %g in %g", halos.halo[0].sphere_mass[t], found);
            }
        }
        kith_halos_free(&halos);
    }
    free(xyz);
    free(masses);
    free(labels);
    free(densities);
}

/** Mass of all particles and images within a radius; float distances as the library's. */
static double mass_within(const double *xyz, const double *mass, int64_t n, const double centre[3],
                          double radius)
{
    double sum = 0;
    for (int64_t p = 0; p < n; p++) {
        for (int image = 0; image < 27; image++) {
            const double dx = xyz[3 * p] - centre[0] + image % 3 - 1;
            const double dy = xyz[3 * p + 1] - centre[1] + image / 3 % 3 - 1;
            const double dz = xyz[3 * p + 2] - centre[2] + image / 9 - 1;
            sum += sqrt(dx * dx + dy * dy + dz * dz) <= radius ? mass[p] : 0;
        }
    }
    return sum;
}

static kith_box box_of(const double rows[3][3])
{
    kith_box box = {.periodic = {1, 1, 1}, .dim = 3};
    for (int k = 0; k < 9; k++) {
        box.row[k / 3][k % 3] = rows[k / 3][k % 3];
    }
    return box;
}

/** Measure, and compare the masses of spheres with those expected. */
static void check_masses(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                         const kith_groups *groups, const kith_halo_input *input,
                         const kith_halos *expected, const char *what)
{
    kith_halos halos = {0};
    CHECK(kith_halos_measure(ctx, points, box, groups, input, &halos) == KITH_OK, "%s: %s", what,
          kith_message(ctx));
    for (int64_t h = 0; h < halos.n; h++) {
        for (int t = 0; t < KITH_SPHERES; t++) {
            const double found = halos.halo[h].sphere_mass[t];
            const double wanted = expected->halo[h].sphere_mass[t];
            CHECK(fabs(found - wanted) <= 1e-9 * wanted, "%s: halo %lld: mass %g, expected %g",
                  what, (long long)h, found, wanted);
        }
    }
    kith_halos_free(&halos);
}

/** The lattice of the unit cube given by other rows, of which some are very skewed, has the spheres
 *  of the cube; and so have particles that lie many boxes outside. */
static void check_oblique(kith_ctx *ctx, const double *xyz, int64_t n, const kith_groups *groups,
                          const kith_halo_input *given)
{
    static const double rows[4][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                         {{1, 0, 0}, {1, 1, 0}, {-1, 1, 1}},
                                         {{1, 0, 0}, {7, 1, 0}, {-5, 9, 1}},
                                         {{1, 2, 5}, {3, 7, 17}, {-4, -6, -15}}};
    const kith_box cube = kith_box_periodic(1, 1, 1);
    const kith_points here = kith_points_packed(xyz, n, KITH_DOUBLE);
    kith_halo_input input = *given;
    input.densities = input.masses; /* centres are particles: no box moves them */
    kith_halos expected = {0};
    CHECK(kith_halos_measure(ctx, &here, &cube, groups, &input, &expected) == KITH_OK, "%s",
          kith_message(ctx));
    rng r = {8};
    const int boxes = check_brief() > 1 ? 2 : 4; /* the most skewed take longest */
    for (int k = 0; k < boxes; k++) {
        const kith_box box = box_of(rows[k]);
        for (int most = 0; most < 10; most += 9) {
            double *moved = points_copy(xyz, n);
            points_drift(&r, moved, n, &cube, most);
            const kith_points points = kith_points_packed(moved, n, KITH_DOUBLE);
            check_masses(ctx, &points, &box, groups, &input, &expected, "the unit cube");
            free(moved);
        }
    }
    kith_halos_free(&expected);
}

/** In a crowd, each sphere found holds what it says, and is the nearest to the halo's own radius;
 *  where none is found there is none. */
static void test_crowd(kith_ctx *ctx)
{
    enum { N = 1500, GROUPS = 12 };
    rng r = {5};
    double *xyz = check_malloc(3 * N * sizeof *xyz), *mass = check_malloc(N * sizeof *mass);
    double place[GROUPS + 1][3];
    int32_t *labels = check_malloc(N * sizeof *labels);
    for (int p = 0; p < N; p++) {
        const int g = p <= GROUPS ? p : (int)rng_below(&r, GROUPS + 1);
        labels[p] = g;
        mass[p] = rng_uniform(&r, 1, 2);
        for (int k = 0; k < 3; k++) {
            place[g][k] = p <= GROUPS ? rng_uniform(&r, 0, 1) : place[g][k];
            const double x = place[g][k] + (g ? 0.02 : 0.5) * rng_normal(&r);
            xyz[3 * p + k] = x - floor(x);
        }
    }
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.masses = mass;
    static const double wanted[KITH_SPHERES] = {4e6, 1e5, 1e4, 40}; /* the mean is 2250 */
    memcpy(input.sphere_density, wanted, sizeof wanted);
    const kith_groups groups = {.n = GROUPS, .points = N, .labels = labels};
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_halos halos = {0};
    CHECK(kith_halos_measure(ctx, &points, &box, &groups, &input, &halos) == KITH_OK, "%s",
          kith_message(ctx));
    int found = 0;
    for (int h = 0; h < GROUPS; h++) {
        const kith_halo *halo = &halos.halo[h];
        for (int t = 0; t < KITH_SPHERES; t++) {
            const double alone = cbrt(halo->mass / (4 * pi / 3 * wanted[t]));
            const double radius = halo->sphere_radius[t];
            const bool outward = mass_within(xyz, mass, N, halo->centre, alone) >= halo->mass;
            if (radius > 0) {
                found++;
                const double inside = mass_within(xyz, mass, N, halo->centre, radius);
                CHECK(fabs(inside / halo->sphere_mass[t] - 1) < 1e-12, "mass %g, but %g is inside",
                      halo->sphere_mass[t], inside);
                CHECK(outward == (radius >= alone) || fabs(radius / alone - 1) < 1e-12,
                      "radius %g on the wrong side of %g", radius, alone);
            }
            const double edge = outward ? (radius > 0 ? radius : 1) : alone;
            for (int step = 1; step < 8; step++) { /* none between here and there */
                const double from = outward ? alone : radius;
                const double at = from + (edge - from) * step / 8;
                const double density = mass_within(xyz, mass, N, halo->centre, at) / ball(at);
                const double excess = density / wanted[t] - 1;
                CHECK(outward == (excess >= 0) || fabs(excess) < 1e-12,
                      "density %g at %g before %g", density, at, radius);
            }
        }
    }
    check_oblique(ctx, xyz, N, &groups, &input);
    CHECK(found > GROUPS && found < GROUPS * KITH_SPHERES, "%d spheres", found);
    kith_halos_free(&halos);
    free(xyz);
    free(mass);
    free(labels);
}

/** A sphere that reaches across the whole box, where to sort pairs would take more memory than the
 *  pair search allows. The mean density of all is N, and no sphere below it ends. */
static void test_wide(kith_ctx *ctx)
{
    enum { N = 500000, GROUPS = 1 };
    static const double origin[3] = {0, 0, 0}, unit[3] = {1, 1, 1};
    rng r = {9};
    double *xyz = points_uniform(&r, N, origin, unit);
    int32_t *labels = check_malloc(N * sizeof *labels);
    for (int p = 0; p < N; p++) {
        labels[p] = p < 100 * GROUPS ? p / 100 + 1 : 0;
        if (p < 100 * GROUPS) {
            for (int k = 0; k < 3; k++) {
                xyz[3 * p + k] = xyz[300 * (p / 100) + k] + 1e-3 * (xyz[3 * p + k] - 0.5);
            }
        }
    }
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.sphere_density[0] = 0.9 * N;
    const kith_groups groups = {.n = GROUPS, .points = N, .labels = labels};
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_halos halos = {0};
    CHECK(kith_halos_measure(ctx, &points, &box, &groups, &input, &halos) == KITH_OK, "%s",
          kith_message(ctx));
    for (int64_t h = 0; h < halos.n; h++) {
        CHECK(halos.halo[h].sphere_radius[0] == 0, "halo %lld: radius %g", (long long)h,
              halos.halo[h].sphere_radius[0]);
    }
    kith_halos_free(&halos);
    free(xyz);
    free(labels);
}

/** A ball of even density just above the one asked for: its sphere reaches almost as far as the
 *  first search, of 1.5 times the radius that the halo alone would have. */
static void test_even_ball(kith_ctx *ctx)
{
    enum { N = 4000 };
    const double group = 1, radius = 1.44; /* of the halo, and of the ball */
    double *xyz = check_malloc(3 * N * sizeof *xyz);
    double *densities = check_malloc(N * sizeof *densities);
    int32_t *labels = check_malloc(N * sizeof *labels);
    rng r = {9};
    for (int p = 0; p < N; p++) {
        const double at = radius * cbrt(p / (double)N);
        const double z = rng_uniform(&r, -1, 1), angle = rng_uniform(&r, 0, 2 * pi);
        const double across = sqrt(1 - z * z);
        xyz[3 * p] = 1e-3 + at * across * cos(angle);
        xyz[3 * p + 1] = 1e-3 + at * across * sin(angle);
        xyz[3 * p + 2] = 1e-3 + at * z;
        labels[p] = at < group;
        densities[p] = N - p;
    }
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.densities = densities;
    input.sphere_density[0] = N / ball(radius) / 1.1;
    const kith_groups groups = {.n = 1, .points = N, .labels = labels};
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    kith_halos halos = {0};
    CHECK(kith_halos_measure(ctx, &points, NULL, &groups, &input, &halos) == KITH_OK &&
              halos.halo[0].sphere_mass[0] == N,
          "a ball of %d particles: %g", N, halos.n ? halos.halo[0].sphere_mass[0] : 0);
    kith_halos_free(&halos);
    free(xyz);
    free(densities);
    free(labels);
}

/** Three rows of length 1, none of which another one shortens, whose sum has length 0.245: a sphere
 *  as wide as that would hold images, and is not looked for. A narrower one is found. */
static void test_short_period(kith_ctx *ctx)
{
    enum { N = 2000 };
    const double h = sqrt(0.01 / 1.5), s = sqrt(1 - h * h), volume = 1.5 * sqrt(3) * s * s * h;
    kith_box box = {.periodic = {1, 1, 1}, .dim = 3};
    for (int k = 0; k < 3; k++) {
        box.row[k][0] = s * cos(2 * pi * k / 3);
        box.row[k][1] = s * sin(2 * pi * k / 3);
        box.row[k][2] = h;
    }
    rng r = {10};
    double *xyz = points_in_box(&r, N, &box);
    double mass[N];
    int32_t labels[N] = {1};
    const kith_groups groups = {.n = 1, .points = N, .labels = labels};
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    static const double radius[2] = {0.4,
                                     0.2}; /* where the mean density is twice that of the box */
    for (int narrow = 0; narrow < 2; narrow++) {
        for (int p = 0; p < N; p++) {
            mass[p] = p ? 1 : N / volume * ball(radius[narrow]);
        }
        kith_halo_input input;
        kith_halo_input_init(&input);
        input.masses = mass;
        input.sphere_density[0] = 2 * N / volume;
        kith_halos halos = {0};
        CHECK(kith_halos_measure(ctx, &points, &box, &groups, &input, &halos) == KITH_OK, "%s",
              kith_message(ctx));
        const double found = halos.halo[0].sphere_radius[0];
        CHECK(fabs(found - narrow * radius[1]) < 0.01, "a sphere of radius %g", found);
        kith_halos_free(&halos);
    }
    free(xyz);
}

/** A rod along a long box, about whose middle the mean density falls as r^-2 up to the nearest
 *  image, at a distance of 1. A sphere with the rod's mass is wider than that for both densities:
 *  the denser sphere ends before the image, the other one would end beyond it. */
static void test_rod(kith_ctx *ctx)
{
    enum { N = 4000 };
    const double rod = 8, radius[2] = {0.75, 1.25};
    double *xyz = check_malloc(3 * N * sizeof *xyz);
    double *densities = check_malloc(N * sizeof *densities);
    int32_t *labels = check_malloc(N * sizeof *labels);
    for (int p = 0; p < N; p++) {
        xyz[3 * p] = xyz[3 * p + 1] = 0.5;
        xyz[3 * p + 2] = 1 + rod * p / N;
        labels[p] = 1;
        densities[p] = p == N / 2;
    }
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.densities = densities;
    for (int t = 0; t < 2; t++) {
        input.sphere_density[t] = N * 2 * radius[t] / rod / ball(radius[t]);
    }
    const kith_groups groups = {.n = 1, .points = N, .labels = labels};
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 10);
    kith_halos halos = {0};
    if (CHECK(kith_halos_measure(ctx, &points, &box, &groups, &input, &halos) == KITH_OK, "%s",
              kith_message(ctx))) {
        const double *found = halos.halo[0].sphere_radius;
        CHECK(fabs(found[0] - radius[0]) < 0.01 && found[1] == 0,
              "radii %g and %g, expected %g and 0", found[0], found[1], radius[0]);
    }
    kith_halos_free(&halos);
    free(xyz);
    free(densities);
    free(labels);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    test_even_ball(ctx);
    test_short_period(ctx);
    test_rod(ctx);
    test_isothermal(ctx);
    test_crowd(ctx);
    test_wide(ctx);
    kith_close(ctx);
    return check_done();
}
