/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair distributions from forces: sums against brute force; pairs bound by springs, of which g(r)
 * is known; an ideal gas; what must be refused; the same bits with any number of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rdf_case.h"

static const double pi = 3.141592653589793;

enum { N = 90 };

/* Boxes of every kind, species, two sets, pairs left out, bins from 0 and not. */
static void check_sums(kith_ctx *ctx, rng *r)
{
    double forces[2][3 * N];
    int32_t species[2][N], molecules[N];
    for (int p = 0; p < 3 * N; p++)
        for (int set = 0; set < 2; set++)
            forces[set][p] = rng_normal(r);
    for (int p = 0; p < N; p++) {
        species[0][p] = (int32_t)rng_below(r, 3);
        species[1][p] = (int32_t)rng_below(r, 3);
        molecules[p] = p / 3;
    }
    for (int kind = 0; kind < 6; kind++) {
        kith_box box = {.origin = {-0.4, 0.1, 2},
                        .row = {{1, 0, 0}, {0, 1.25, 0}, {0, 0, 0.9}},
                        .periodic = {kind != 0, kind != 0 && kind != 4, kind != 0},
                        .dim = kind == 3 ? 2 : 3};
        if (kind == 2)
            box.row[1][0] = 0.3, box.row[2][0] = -0.2, box.row[2][1] = 0.45;
        double *xyz = points_in_box(r, N, &box), *other = points_in_box(r, N, &box);
        if (kind == 1)
            points_drift(r, xyz, N, &box, 2);
        for (int k = 0; k < 3; k++) { /* some in one place, some nearer than pushes tell apart */
            xyz[3 * 11 + k] = xyz[3 * 5 + k];
            xyz[3 * 12 + k] = xyz[3 * 5 + k] + (k < 2 ? 1e-5 : 0);
        }
        for (int what = kind % 2; what < 8; what += kind == 5 ? 3 : 2) {
            rdf_case c = {.name = "pushes", .xyz = xyz, .n = N, .box = &box, .forces = forces[0]};
            c.options = rdf_linear(what & 1 ? 300 : 17, kind == 5 ? 0.95 : 0.4);
            c.options.r_min = what & 1 ? 0.1 : 0;
            c.options.n_species = what & 2 ? 3 : 1;
            c.options.species = what & 2 ? species[0] : NULL;
            c.options.molecules = what > 5 ? molecules : NULL;
            if (what & 4) {
                c.against = other;
                c.m = N;
                c.forces_against = forces[1];
                c.options.species_against = what & 2 ? species[1] : NULL;
                c.options.molecules_against = what > 5 ? molecules : NULL;
            }
            rdf_check(ctx, &c);
        }
        free(other);
        free(xyz);
    }
}

/* Pairs far from each other, each held by a spring: d is normal of width s along each axis, the
 * forces -+kT d / s^2, and g(r) in the bins is the chance to be there over that of a gas. */
static void check_springs(kith_ctx *ctx, rng *r, int dim)
{
    enum { SIDE = 14, BINS = 40 };
    const double s = 0.1, kT = 0.7, r_max = 0.45;
    const int64_t pairs = dim == 3 ? SIDE * SIDE * SIDE : 50 * 50;
    const double side = dim == 3 ? SIDE : 50;
    kith_box box = kith_box_periodic(side, side, side);
    box.dim = dim;
    double *xyz = check_malloc((size_t)pairs * 6 * sizeof *xyz);
    double *force = check_malloc((size_t)pairs * 6 * sizeof *force);
    for (int64_t p = 0; p < pairs; p++) {
        const int64_t cell[3] = {p % (int64_t)side, p / (int64_t)side % (int64_t)side,
                                 p / (int64_t)(side * side)};
        double d[3];
        double far;
        do {
            far = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = k < dim ? s * rng_normal(r) : 0;
                far += d[k] * d[k];
            }
        } while (far > 0.2); /* rarer than one of a million */
        for (int k = 0; k < 3; k++) {
            xyz[6 * p + k] = (double)cell[k] + 0.5;
            xyz[6 * p + 3 + k] = (double)cell[k] + 0.5 + d[k];
            force[6 * p + k] = kT * d[k] / (s * s);
            force[6 * p + 3 + k] = -kT * d[k] / (s * s);
        }
    }
    const kith_points points = kith_points_packed(xyz, 2 * pairs, KITH_DOUBLE);
    kith_rdf_options o = rdf_linear(BINS, r_max);
    o.forces = force;
    kith_histogram h = {0};
    double zero[BINS], infinity[BINS];
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_OK, "%s", kith_message(ctx));
    kith_rdf_force(&h, 0, 0, kT, zero, infinity);
    /* g(0), which the estimate from 0 takes for 0: the normal distribution at its middle */
    const double at_zero = pow(side, dim) / (double)(2 * pairs - 1) /
                           pow(2 * pi * s * s, 0.5 * dim);
    for (int k = 0; k < BINS; k++) {
        /* the normal distribution within r; in 2-D of the Rayleigh kind */
        double within[2];
        for (int end = 0; end < 2; end++) {
            const double x = h.edges[k + end] / s;
            within[end] = dim == 2 ? 1 - exp(-x * x / 2)
                                   : erf(x / sqrt(2)) - sqrt(2 / pi) * x * exp(-x * x / 2);
        }
        const double known = (double)pairs * (within[1] - within[0]) / h.ideal[k];
        CHECK(fabs(zero[k] + at_zero - known) < 0.05 * at_zero,
              "springs in %d-D, from 0, bin %d: %g, expected %g", dim, k, zero[k], known - at_zero);
        CHECK(fabs(infinity[k] - 1 - known) < 0.05 * at_zero,
              "springs in %d-D, from infinity, bin %d: %g, expected %g", dim, k, infinity[k],
              1 + known);
    }
    CHECK(fabs(infinity[BINS - 1] - 1) < 0.05, "from infinity it ends at %g", infinity[BINS - 1]);
    kith_histogram_free(&h);
    free(force);
    free(xyz);
}

/* Without forces there is nothing but the gas. */
static void check_gas(kith_ctx *ctx, rng *r)
{
    enum { GAS = 500 };
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(r, GAS, &box);
    double none[3 * GAS] = {0};
    const kith_points points = kith_points_packed(xyz, GAS, KITH_DOUBLE);
    kith_rdf_options o = rdf_linear(10, 0.5);
    o.forces = none;
    kith_histogram h = {0};
    double zero[10], infinity[10];
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_OK, "%s", kith_message(ctx));
    kith_rdf_force(&h, 0, 0, 1, zero, infinity);
    for (int k = 0; k < 10; k++)
        CHECK(zero[k] == 0 && infinity[k] == 1, "gas: %g from 0, %g from infinity", zero[k],
              infinity[k]);
    kith_histogram_free(&h);
    free(xyz);
}

static void check_refusals(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    const double xyz[6] = {0.1, 0.2, 0.3, 0.9, 0.2, 0.3};
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    double force[6] = {1, 0, 0, 0, 0, NAN};
    kith_histogram h = {0};
    kith_rdf_options o = rdf_linear(10, 0.4);
    o.forces = force;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_NOT_FINITE, "a force that is NaN");
    CHECK(strstr(kith_message(ctx), "the force on particle 1 ") != NULL, "%s", kith_message(ctx));
    force[5] = 1e308;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "too large forces");
    force[5] = 1e-290;
    force[0] = 0;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "too small forces");
    force[5] = 1;
    o.against = &points;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "forces of one set alone");
    o.against = NULL;
    o.r_max = 0.8;
    o.minimum_image = 1;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "shells that are cut");
    o = rdf_linear(10, 0.4);
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_OK, "%s", kith_message(ctx));
    double g[10], other[10];
    kith_rdf_force(&h, 0, 0, 1, g, other);
    CHECK(isnan(g[0]) && isnan(other[9]), "counts alone: %g, %g", g[0], other[9]);
    o.forces = force;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "forces after counts alone");
    kith_histogram_free(&h);
}

static void check_threads(const char *backend, rng *r)
{
    enum { MANY = 20000, BINS = 50 };
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(r, MANY, &box), *force = points_in_box(r, MANY, &box);
    const kith_points points = kith_points_packed(xyz, MANY, KITH_DOUBLE);
    kith_rdf_options o = rdf_linear(BINS, 0.08);
    o.forces = force;
    double first[2 * (BINS + 1)];
    for (int threads = 1; threads <= 3; threads++) {
        kith_ctx *ctx = check_open(backend, threads);
        kith_histogram h = {0};
        CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_OK, "%s", kith_message(ctx));
        if (threads == 1)
            memcpy(first, h.pushes, sizeof first);
        CHECK(memcmp(first, h.pushes, sizeof first) == 0, "other bits with %d threads", threads);
        kith_histogram_free(&h);
        kith_close(ctx);
    }
    free(force);
    free(xyz);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng r = {77};
    check_sums(ctx, &r);
    check_springs(ctx, &r, 2);
    check_springs(ctx, &r, 3);
    check_gas(ctx, &r);
    check_refusals(ctx);
    kith_close(ctx);
    check_threads(backend, &r);
    return check_done();
}
