/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets that grids find hard: clusters, coincident points, clumps far apart, outliers, and numbers
 * far from 1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs_case.h"

static void check_open_set(kith_ctx *ctx, const char *name, const double *xyz, int64_t n,
                           double cutoff)
{
    case_check(ctx, &(pair_case){.name = name, .xyz = xyz, .n = n, .cutoff = cutoff});
}

static void check_clusters(kith_ctx *ctx, rng *r)
{
    const kith_box box = kith_box_periodic(1.0, 1.0, 1.0);
    const double widths[3] = {0.1, 0.01, 1e-4};
    for (int w = 0; w < 3; w++) {
        double *xyz = points_clustered(r, 300, 10, 1.0, widths[w]);
        check_open_set(ctx, "clusters", xyz, 300, widths[w]);
        case_check(ctx, &(pair_case){.name = "clusters in a box",
                                     .xyz = xyz,
                                     .n = 300,
                                     .box = &box,
                                     .cutoff = widths[w]});
        free(xyz);
    }
}

static void check_coincident(kith_ctx *ctx, rng *r)
{
    const kith_box box = kith_box_periodic(1.0, 1.0, 1.0);
    double xyz[150][3];
    for (int p = 0; p < 150; p++)
        for (int k = 0; k < 3; k++)
            xyz[p][k] = 0.3;
    check_open_set(ctx, "coincident", xyz[0], 150, 1e-3);
    check_open_set(ctx, "coincident", xyz[0], 150, 1e3);
    case_check(
        ctx,
        &(pair_case){
            .name = "coincident in a box", .xyz = xyz[0], .n = 40, .box = &box, .cutoff = 1.0});
    memset(xyz, 0, sizeof xyz);
    case_check(
        ctx,
        &(pair_case){
            .name = "coincident on a corner", .xyz = xyz[0], .n = 150, .box = &box, .cutoff = 0.5});
    for (int p = 0; p < 150; p++) { /* each place holds several, of either sign of zero */
        const int64_t place = rng_below(r, 27);
        for (int k = 0; k < 3; k++)
            xyz[p][k] = copysign(0.25 * (double)(place /
                                                 (k == 0   ? 1
                                                  : k == 1 ? 3
                                                           : 9) %
                                                 3),
                                 rng_uniform(r, -1.0, 1.0));
    }
    check_open_set(ctx, "duplicates", xyz[0], 150, 0.25);
    case_check(
        ctx,
        &(pair_case){
            .name = "duplicates in a box", .xyz = xyz[0], .n = 150, .box = &box, .cutoff = 0.25});
}

/* Clumps any distance apart, and a lone point further still. */
static void check_sparse(kith_ctx *ctx, rng *r)
{
    const double apart[3] = {1e3, 1e6, 1e12};
    for (int a = 0; a < 3; a++)
        for (int outlier = 0; outlier < 2; outlier++) {
            double *xyz = points_clustered(r, 201, 1, 1.0, 1.0);
            for (int p = 0; p < 200; p++)
                for (int k = 0; k < 3; k++)
                    xyz[3 * p + k] += p % 2 * apart[a];
            if (outlier)
                xyz[3 * 200] = 1e30;
            char name[64];
            snprintf(name, sizeof name, "clumps %g apart, outlier %d", apart[a], outlier);
            check_open_set(ctx, name, xyz, 201, 1.0);
            free(xyz);
        }
    double lone[4][3] = {{0, 0, 0}, {-1e30, 0, 0}, {0.5, 0, 0}, {1e18, -1e18, 1e18}};
    check_open_set(ctx, "four far apart", lone[0], 4, 1.0);
    double chain[64][3] = {{0}};
    for (int p = 0; p < 64; p++) /* distances double: every scale at once */
        chain[p][p % 3] = ldexp(1.0, p - 10);
    check_open_set(ctx, "chain of all scales", chain[0], 64, 1.0);
    check_open_set(ctx, "chain of all scales", chain[0], 64, 1e15);
}

/* A few clumps in a vast box, across its faces. */
static void check_sparse_periodic(kith_ctx *ctx, rng *r)
{
    const double side = 1e6;
    const kith_box boxes[2] = {kith_box_periodic(side, side, side),
                               kith_box_triclinic(side, side, side, 0.3 * side, 0.2 * side, 0.1)};
    for (int b = 0; b < 2; b++) {
        double *xyz = points_clustered(r, 200, 3, 1.0, 2.0);
        for (int p = 0; p < 200; p++)
            xyz[3 * p] += p % 2 ? side / 2 : 0.0;
        case_check(ctx, &(pair_case){.name = "clumps in a vast box",
                                     .xyz = xyz,
                                     .n = 200,
                                     .box = &boxes[b],
                                     .cutoff = 1.5});
        free(xyz);
    }
}

static void check_scale(kith_ctx *ctx, rng *r, double scale, case_precisions precisions)
{
    const kith_box boxes[2] = {
        kith_box_periodic(scale, 1.5 * scale, scale),
        kith_box_triclinic(scale, scale, 1.2 * scale, 0.4 * scale, -0.3 * scale, 0.2 * scale)};
    char name[64];
    snprintf(name, sizeof name, "scale %g", scale);
    for (int b = 0; b < 3; b++) {
        double *xyz = points_in_box(r, 150, &boxes[b % 2]);
        case_check(ctx, &(pair_case){.name = name,
                                     .xyz = xyz,
                                     .n = 150,
                                     .box = b < 2 ? &boxes[b] : NULL,
                                     .cutoff = 0.2 * scale,
                                     .precisions = precisions});
        free(xyz);
    }
}

/* Far from the origin coordinates are coarse: many coincide, in float most do. */
static void check_offset(kith_ctx *ctx, rng *r, double offset)
{
    const double lo[3] = {offset, -offset, offset}, hi[3] = {offset + 4, -offset + 4, offset + 4};
    kith_box box = {.origin = {offset, -offset, offset},
                    .row = {{4, 0, 0}, {0, 4, 0}, {0, 0, 4}},
                    .periodic = {1, 1, 1},
                    .dim = 3};
    double *xyz = points_uniform(r, 200, lo, hi);
    check_open_set(ctx, "offset", xyz, 200, 0.5);
    case_check(
        ctx, &(pair_case){.name = "offset box", .xyz = xyz, .n = 200, .box = &box, .cutoff = 0.5});
    const double back[3] = {0.1, 0.2, 0.3};
    for (int k = 0; k < 3; k++)
        box.origin[k] = back[k];
    case_check(ctx, &(pair_case){.name = "far outside the box",
                                 .xyz = xyz,
                                 .n = 200,
                                 .box = &box,
                                 .cutoff = 0.5,
                                 .precisions = offset > 4e6 ? CASE_DOUBLE
                                                            : CASE_BOTH}); /* 2^20 boxes of 4 */
    free(xyz);
}

/* So many particles so far apart that a cell's number and a particle's index together have more
 * than 64 bits. Particles come in twos, and no others are near each other. A chain along z has
 * pairs across every border of cells: cell numbers without their highest bits lose some of them. */
static void check_scattered(kith_ctx *ctx, rng *r)
{
    enum { TWOS = 40000, CHAIN = 40000, N = 2 * TWOS + CHAIN };
    double(*xyz)[3] = check_malloc(N * sizeof *xyz);
    for (int p = 0; p < TWOS; p++) {
        for (int k = 0; k < 3; k++) {
            xyz[2 * p][k] = rng_uniform(r, 0, 1e6);
            xyz[2 * p + 1][k] = xyz[2 * p][k] + rng_uniform(r, -0.5, 0.5);
        }
    }
    for (int p = 0; p < CHAIN; p++) {
        xyz[2 * TWOS + p][0] = xyz[2 * TWOS + p][1] = -10;
        xyz[2 * TWOS + p][2] = 0.9 * p;
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    kith_pairs list = {0};
    CHECK(kith_pairs_find(ctx, &points, NULL, 1, NULL, &list) == KITH_OK, "%s", kith_message(ctx));
    CHECK(list.n == TWOS + CHAIN - 1, "scattered: %lld pairs, expected %d", (long long)list.n,
          TWOS + CHAIN - 1);
    for (int64_t p = 0; p < list.n; p++) {
        const int32_t i = list.i[p], j = list.j[p];
        CHECK(i < 2 * TWOS ? i / 2 == j / 2 : j == i + 1 || j == i - 1, "scattered: %d and %d", i,
              j);
    }
    kith_pairs_free(&list);
    free(xyz);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {4};
    check_clusters(ctx, &r);
    check_coincident(ctx, &r);
    check_sparse(ctx, &r);
    check_sparse_periodic(ctx, &r);
    check_scattered(ctx, &r);
    const double any[4] = {1e-15, 1e-6, 1e6, 1e15};
    for (int s = 0; s < 4; s++)
        check_scale(ctx, &r, any[s], CASE_BOTH);
    const double wide[4] = {1e-100, 1e-30, 1e30, 1e100};
    for (int s = 0; s < 4; s++)
        check_scale(ctx, &r, wide[s], CASE_DOUBLE);
    check_offset(ctx, &r, 1e6);
    check_offset(ctx, &r, 1e8);
    kith_close(ctx);
    return check_done();
}
