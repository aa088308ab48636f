/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Labels against brute force: random and clustered sets in every kind of box, at lengths from a
 * part of the spacing to several boxes; roles, density floors, velocities and ids.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fof_case.h"

static const double unit[3] = {1, 1, 1};
static const double zero[3] = {0, 0, 0};

static kith_box some_box(int kind)
{
    kith_box box = kith_box_periodic(1, 1, 1);
    switch (kind) {
    case 0: return kith_box_open();
    case 1: return box;
    case 2: return kith_box_triclinic(1, 0.9, 0.8, 0.4, -0.3, 0.35);
    case 3: box.periodic[1] = 0; return box;
    case 4: box.dim = 2; return box;
    case 5: return kith_box_triclinic(1, 0.5, 0.6, 0.9, 0.2, -0.5);
    default: box.row[2][2] = 0.02; return box;
    }
}

enum { BOXES = 7 };

static void check_random(kith_ctx *ctx, rng *r)
{
    for (int kind = 0; kind < BOXES; kind++) {
        const kith_box box = some_box(kind);
        for (int round = 0; round < 4; round++) {
            const int64_t n = 1 + rng_below(r, 150);
            const double length = 0.008 * (double)(1 << rng_below(r, kind == 6 ? 4 : 7));
            double *xyz = round % 2 ? points_in_box(r, n, &box)
                                    : points_clustered(r, n, 6, 1, 0.3 * length);
            points_drift(r, xyz, n, &box, round > 2 ? 2 : 0);
            char name[64];
            snprintf(name, sizeof name, "box %d, round %d, length %g", kind, round, length);
            fof_check(ctx,
                      &(fof_case){.name = name, .xyz = xyz, .n = n, .box = &box, .length = length});
            free(xyz);
        }
    }
}

/** Clumps of many particles, which cells and their indexes are for. */
static void check_dense(kith_ctx *ctx, rng *r)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    for (int round = 0; round < 8; round++) {
        const double width = 0.01 * (1 + round);
        double *xyz = points_clustered(r, 400, 1 + round % 3, 1, width);
        for (int k = 0; k < 900 && round > 3; k++) {
            xyz[k] = xyz[k % 30]; /* some in one place */
        }
        fof_check(ctx, &(fof_case){.name = "dense",
                                   .xyz = xyz,
                                   .n = 400,
                                   .box = round % 2 ? &box : NULL,
                                   .length = 0.01,
                                   .options = {.size = sizeof(kith_fof_options),
                                               .min_members = 1 + round}});
        free(xyz);
    }
}

static void check_far(kith_ctx *ctx, rng *r)
{
    double *xyz = points_uniform(r, 300, zero, unit);
    for (int64_t p = 0; p < 300; p++) {
        xyz[3 * p] += p % 3 ? 0 : 1e9;       /* two clumps, far apart */
        xyz[3 * p + 1] += p % 7 ? 0 : -3e14; /* and beyond what cells can number */
    }
    fof_check(ctx, &(fof_case){.name = "far", .xyz = xyz, .n = 300, .length = 0.1});
    fof_check(ctx, &(fof_case){.name = "far, longer", .xyz = xyz, .n = 300, .length = 1e9});
    free(xyz);
}

static void check_roles(kith_ctx *ctx, rng *r)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    enum { N = 200 };
    uint8_t roles[N];
    int64_t ids[N];
    for (int round = 0; round < 12; round++) {
        double *xyz = points_clustered(r, N, 8, 1, 0.02);
        double *velocities = points_uniform(r, N, zero, unit);
        for (int p = 0; p < N; p++) {
            roles[p] = (uint8_t)rng_below(r, 3);
            ids[p] = (int64_t)rng_bits(r);
        }
        for (int p = N / 2; round % 4 > 1 && p < N; p++) { /* some places are shared */
            const int other = rng_below(r, N / 4);
            memcpy(xyz + 3 * p, xyz + 3 * other, 3 * sizeof *xyz);
            memcpy(velocities + 3 * p, velocities + 3 * (p % 3 ? other : p), 3 * sizeof *xyz);
        }
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 1 + round % 3;
        options.roles = round % 2 ? roles : NULL;
        const bool wide = round == 7; /* images are others too */
        options.min_links = wide ? 100 : round % 3 == 1 ? 4 : 0;
        options.ids = round % 4 ? ids : NULL;
        options.velocities = round % 5 > 2 ? velocities : NULL;
        options.velocity_length = 0.3;
        fof_check(ctx, &(fof_case){.name = "roles",
                                   .xyz = xyz,
                                   .n = N,
                                   .box = &box,
                                   .length = wide ? 0.7 : 0.02, /* images too */
                                   .options = options});
        free(velocities);
        free(xyz);
    }
}

int main(int argc, char **argv)
{
    rng r = {20261121};
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_random(ctx, &r);
    check_dense(ctx, &r);
    check_far(ctx, &r);
    check_roles(ctx, &r);
    kith_close(ctx);
    return check_done();
}
