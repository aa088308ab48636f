/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms against brute force: boxes of every kind, any number of bins and any edges, species,
 * two sets, pairs left out, weights, distances at edges, nearest images beyond half the box.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rdf_case.h"

enum { N = 80, MOST_BINS = 5000 };

/* Particles beside their coordinates. */
static int32_t species[2][N], molecules[2][N], bonds[N], to_the_first[N];
static int64_t bond_offsets[N + 1];
static double weights[2][N];
static double log_edges[MOST_BINS + 1];

static void make_properties(rng *r)
{
    for (int set = 0; set < 2; set++)
        for (int p = 0; p < N; p++) {
            species[set][p] = (int32_t)rng_below(r, 3);
            molecules[set][p] = p % 7 == 0 ? -1 : p / 3;
            weights[set][p] = rng_uniform(r, -1, 1);
        }
    for (int p = 0; p < N; p++) {
        bond_offsets[p + 1] = bond_offsets[p] + (p % 4 != 0);
        bonds[bond_offsets[p]] = (int32_t)rng_below(r, N);
    }
}

static const double *edges_to(double r_max, int64_t bins, double decades)
{
    for (int64_t k = 0; k <= bins; k++)
        log_edges[k] = r_max * pow(10, -decades * (1 - (double)k / (double)bins));
    return log_edges;
}

/* Every kind of bins and option for one input. */
static void check_options(kith_ctx *ctx, rdf_case c, double r_max, int minimum_image)
{
    const int64_t sizes[] = {1, 2, 7, 64, 2000, MOST_BINS};
    for (int s = 0; s < 6; s++) {
        c.options = rdf_linear(sizes[s], r_max);
        c.options.minimum_image = minimum_image;
        c.options.r_min = s % 2 ? 0.3 * r_max : 0;
        rdf_check(ctx, &c);
        c.options.edges = edges_to(r_max, sizes[s], s % 2 ? 5 : 1);
        rdf_check(ctx, &c);
    }
    c.options = rdf_linear(50, r_max);
    c.options.minimum_image = minimum_image;
    for (int what = 1; what < 16; what += what < 3 ? 1 : 3) {
        kith_rdf_options *o = &c.options;
        o->n_species = what & 1 ? 3 : 1;
        o->species = what & 1 ? species[0] : NULL;
        o->species_against = what & 1 ? species[1] : NULL;
        o->molecules = what & 2 ? molecules[0] : NULL;
        o->molecules_against = what & 2 ? molecules[1] : NULL;
        o->weights = what & 4 ? weights[0] : NULL;
        o->weights_against = what & 4 ? weights[1] : NULL;
        o->bond_offsets = what & 8 ? bond_offsets : NULL;
        o->bonds = c.against || c.n < N ? to_the_first : bonds;
        rdf_check(ctx, &c);
    }
}

static void check_boxes(kith_ctx *ctx, rng *r)
{
    for (int kind = 0; kind < 6; kind++) {
        kith_box box = {.origin = {-0.4, 0.1, 2},
                        .row = {{1, 0, 0}, {0, 1.25, 0}, {0, 0, 0.9}},
                        .periodic = {kind != 0, kind != 0 && kind != 4, kind != 0},
                        .dim = kind == 3 ? 2 : 3};
        if (kind == 2) {
            box.row[1][0] = 0.3;
            box.row[2][0] = -0.2;
            box.row[2][1] = 0.45;
        }
        double *xyz = points_in_box(r, N, &box);
        double *other = points_in_box(r, N / 2, &box);
        points_drift(r, xyz, N, &box, 2);
        rdf_case c = {.name = "box", .xyz = xyz, .n = N, .box = kind ? &box : NULL};
        check_options(ctx, c, kind == 5 ? 0.08 : 0.3, 0);
        c.name = "box, two sets";
        c.against = other;
        c.m = N / 2;
        check_options(ctx, c, 0.2, 0);
        free(other);
        free(xyz);
    }
}

static void check_nearest(kith_ctx *ctx, rng *r)
{
    for (int dim = 2; dim <= 3; dim++) {
        const kith_box box = {.origin = {-0.4, 0.1, 2},
                              .row = {{1, 0, 0}, {0, 1.25, 0}, {0, 0, 0.9}},
                              .periodic = {1, 1, 1},
                              .dim = dim};
        double *xyz = points_in_box(r, N, &box);
        double *other = points_in_box(r, N / 2, &box);
        rdf_case c = {.name = "nearest", .xyz = xyz, .n = N, .box = &box};
        check_options(ctx, c, 0.92, 1);
        check_options(ctx, c, 0.5, 1);
        c.name = "nearest, two sets";
        c.against = other;
        c.m = N / 2;
        check_options(ctx, c, 0.7, 1);
        free(other);
        free(xyz);
    }
}

/* A box 100 times longer than wide: across its far faces the definition rounds differences of 100,
 * more than all that vectors round. */
static void check_long_nearest(kith_ctx *ctx, rng *r)
{
    for (int axis = 0; axis < 3; axis++) {
        kith_box box = kith_box_periodic(1, 1, 1);
        box.row[axis][axis] = 100;
        double xyz[N][3];
        for (int p = 0; p < N; p++)
            for (int k = 0; k < 3; k++)
                xyz[p][k] = rng_uniform(r, k == axis ? -0.5 : 0, k == axis ? 0.5 : 1);
        rdf_case c = {.name = "long", .xyz = xyz[0], .n = N, .box = &box};
        c.options = rdf_linear(2000, 0.6);
        c.options.minimum_image = 1;
        rdf_check(ctx, &c);
    }
}

/* Shells of a lattice on the edges, and pairs at exactly half the box. */
static void check_lattices(kith_ctx *ctx)
{
    const lattice kinds[3] = {LATTICE_SC, LATTICE_BCC, LATTICE_FCC};
    for (int k = 0; k < 3; k++)
        for (int nearest = 0; nearest < 2; nearest++) {
            const int cells = k == 0 ? 6 : 4;
            const kith_box box = kith_box_periodic(cells, cells, cells);
            double *xyz = points_lattice(kinds[k], cells, 1);
            rdf_case c = {.name = "lattice", .xyz = xyz, .box = &box};
            c.n = (int64_t)kinds[k] * cells * cells * cells;
            c.options = rdf_linear(4 * cells, nearest ? cells : 2);
            c.options.minimum_image = nearest;
            rdf_check(ctx, &c);
            c.options = rdf_linear(1, sqrt(2));
            c.options.minimum_image = nearest;
            rdf_check(ctx, &c);
            c.options = rdf_linear(4, 0.5 * cells); /* exactly half the box */
            c.options.minimum_image = nearest;
            rdf_check(ctx, &c);
            free(xyz);
        }
}

/* Distances of every order of magnitude, beyond what floats in units of the cutoff can tell. */
static void check_spread(kith_ctx *ctx, rng *r)
{
    double *xyz = points_clustered(r, N, 4, 1, 1e-3);
    for (int p = 0; p < 40; p++)
        for (int k = 0; k < 3; k++)
            xyz[3 * p + k] = xyz[0] + rng_normal(r) * pow(10, rng_uniform(r, -9, -2));
    memcpy(&xyz[3 * 50], &xyz[3 * 51], 3 * sizeof *xyz); /* coincident */
    rdf_case c = {.name = "spread", .xyz = xyz, .n = N};
    const double radii[] = {1e-5, 1e-2, 3};
    for (int s = 0; s < 3; s++) {
        c.options = rdf_linear(700, radii[s]);
        rdf_check(ctx, &c);
        c.options.edges = edges_to(radii[s], 700, 6);
        rdf_check(ctx, &c);
    }
    for (int p = 0; p < N; p++)
        xyz[3 * p] += p % 2 ? 0 : 1e7;
    c.options = rdf_linear(30, 2e7);
    rdf_check(ctx, &c);
    free(xyz);
}

/* Bins that are not linear are found by a table of r2 / r_max^2 in 1024 cells: edges on the borders
 * of its cells, distances a few units in the last place from them, and a cutoff whose square is
 * rounded. */
static void check_table_borders(kith_ctx *ctx, rng *r)
{
    enum { EDGES = 12 };
    for (int round = 0; round < 6; round++) {
        const double r_max = round % 2 ? rng_uniform(r, 0.6, 1.9) : 1;
        double edges[EDGES + 1], xyz[N][3] = {{0}};
        for (int k = 0; k <= EDGES; k++)
            edges[k] = r_max * sqrt((double)(k * k * 7 + 3 * k) / (EDGES * EDGES * 7 + 3 * EDGES));
        for (int k = 1; k < EDGES; k++)
            edges[k] = r_max * sqrt(floor(1024 * edges[k] * edges[k] / r_max / r_max) / 1024);
        for (int p = 1; p < N; p++) { /* around particle 0, along one axis */
            const double ulps = (double)(rng_below(r, 9) - 4);
            const double ulp = rng_below(r, 2) ? 0x1p-24 : 0x1p-50;
            xyz[p][round % 3] = edges[1 + p % EDGES] * (1 + ulps * ulp);
        }
        rdf_case c = {.name = "table", .xyz = xyz[0], .n = N};
        c.options = rdf_linear(EDGES, r_max);
        c.options.edges = edges;
        rdf_check(ctx, &c);
    }
}

/* Pairs at an edge, one rounding error below it and one above it: one particle at the origin, the
 * others along x. With the largest number of bins, the error of r in float is wider than a bin; a
 * particle that is far away widens it again. */
static void check_edges(kith_ctx *ctx, rng *r)
{
    enum { EDGES = 400, ORDERS = 6 };
    static const int64_t sizes[] = {1, 777, 100003, 1 << 20, 1, 777, 100003, 1 << 20};
    static const double origin[3] = {0}, starts[] = {0, 0.3, 2.9, 3.09};
    double *xyz = check_malloc(sizeof(double[EDGES * ORDERS][3]));
    memset(xyz, 0, sizeof(double[EDGES * ORDERS][3]));
    for (int s = 0; s < 8; s++)
        for (int start = 0; start < 4; start++) {
            rdf_case c = {.name = "at edges",
                          .xyz = xyz,
                          .n = (int64_t)EDGES * ORDERS,
                          .against = origin,
                          .m = 1,
                          .options = rdf_linear(sizes[s], 3.1)};
            c.options.r_min = starts[start];
            const double width = (3.1 - starts[start]) / (double)sizes[s];
            for (int e = 0; e < EDGES; e++) {
                const int64_t k = e < 2 ? e * sizes[s] : (int64_t)rng_below(r, sizes[s] + 1);
                const double edge = starts[start] + (double)k * width;
                const float single = (float)edge;
                const double places[ORDERS] = {edge,
                                               nextafter(edge, 0),
                                               nextafter(edge, 4),
                                               (double)single,
                                               (double)nextafterf(single, 0),
                                               (double)nextafterf(single, 4)};
                for (int order = 0; order < ORDERS; order++)
                    xyz[3 * (e * ORDERS + order)] = places[order];
            }
            if (s >= 4)
                xyz[3 * 5] = 3e6;
            rdf_check(ctx, &c);
        }
    free(xyz);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {21};
    make_properties(&r);
    check_boxes(ctx, &r);
    check_nearest(ctx, &r);
    check_long_nearest(ctx, &r);
    check_lattices(ctx);
    check_spread(ctx, &r);
    check_table_borders(ctx, &r);
    check_edges(ctx, &r);
    for (int64_t n = 0; n < 3; n++) {
        const kith_box box = kith_box_periodic(1, 1, 1);
        const double xyz[6] = {0.1, 0.2, 0.3, 0.9, 0.2, 0.3};
        rdf_case c = {.name = "few", .xyz = xyz, .n = n, .box = &box};
        check_options(ctx, c, 0.4, 0);
        check_options(ctx, c, 0.8, 1);
    }
    kith_close(ctx);
    return check_done();
}
