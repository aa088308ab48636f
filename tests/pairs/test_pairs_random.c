/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Uniform random points in orthorhombic boxes: sizes, periodic axes, cutoffs from a fraction of the
 * box to several boxes, points outside the box, and one open set large enough for all threads.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pairs_case.h"

static void check_box(kith_ctx *ctx, rng *r, int64_t n, int periodic, double cutoff, int drift)
{
    const double origin = rng_uniform(r, -3.0, 3.0);
    kith_box box = {.origin = {origin, 0.0, -0.5},
                    .row = {{1.0, 0, 0}, {0, 1.25, 0}, {0, 0, 0.9}},
                    .periodic = {periodic & 1, periodic >> 1 & 1, periodic >> 2 & 1},
                    .dim = 3};
    double *xyz = points_in_box(r, n, &box);
    points_drift(r, xyz, n, &box, drift);
    char name[80];
    snprintf(name, sizeof name, "random, periodic %d, drift %d", periodic, drift);
    case_check(ctx, &(pair_case){.name = name, .xyz = xyz, .n = n, .box = &box, .cutoff = cutoff});
    free(xyz);
}

static void check_space(kith_ctx *ctx, rng *r, int64_t n, double cutoff)
{
    const double lo[3] = {-1.0, -1.0, -1.0}, hi[3] = {1.0, 1.0, 1.0};
    double *xyz = points_uniform(r, n, lo, hi);
    case_check(ctx, &(pair_case){.name = "open", .xyz = xyz, .n = n, .cutoff = cutoff});
    free(xyz);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {1};
    const int64_t few[] = {0, 1, 2, 3, 5, 17, 64};
    const double cutoffs[] = {0.05, 0.2, 0.45, 0.7, 1.3};
    for (int periodic = 0; periodic < 8; periodic++)
        for (int c = 0; c < 5; c++)
            for (int k = 0; k < 7; k++)
                check_box(ctx, &r, few[k], periodic, cutoffs[c], k % 2 ? 3 : 0);
    for (int periodic = 0; periodic < 8; periodic++) {
        check_box(ctx, &r, 300, periodic, 0.1, 0);
        check_box(ctx, &r, 200, periodic, 0.31, 1000);
    }
    check_box(ctx, &r, 700, 7, 0.09, 2);
    const int64_t sizes[] = {0, 1, 2, 9, 100, 2000};
    for (int k = 0; k < 6; k++)
        check_space(ctx, &r, sizes[k], 0.2);
    check_space(ctx, &r, 60, 100.0);
    check_space(ctx, &r, 5000, 0.1);
    kith_close(ctx);
    return check_done();
}
