/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Boxes of every shape: triclinic from mild to strongly skewed, general rows, left-handed,
 * elongated, tiny, flat and two-dimensional, with open axes that have a direction or none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pairs_case.h"

static void check_in(kith_ctx *ctx, rng *r, const char *name, const kith_box *box, int64_t n,
                     double cutoff, int drift)
{
    double *xyz = points_in_box(r, n, box);
    points_drift(r, xyz, n, box, drift);
    case_check(ctx, &(pair_case){.name = name, .xyz = xyz, .n = n, .box = box, .cutoff = cutoff});
    free(xyz);
}

static void check_all_axes(kith_ctx *ctx, rng *r, const char *name, kith_box box, double cutoff)
{
    for (int periodic = 0; periodic < 8; periodic++) {
        for (int k = 0; k < 3; k++)
            box.periodic[k] = periodic >> k & 1;
        char full[96];
        snprintf(full, sizeof full, "%s, periodic %d", name, periodic);
        check_in(ctx, r, full, &box, 40, cutoff, 0);
        check_in(ctx, r, full, &box, 90, 0.5 * cutoff, 2);
    }
}

/* Rotate the rows by a random rotation (Gram-Schmidt of random vectors). */
static kith_box rotated(rng *r, kith_box box)
{
    double axes[3][3];
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 3; m++)
            axes[k][m] = rng_normal(r);
        for (int other = 0; other < k; other++) {
            double along = 0.0;
            for (int m = 0; m < 3; m++)
                along += axes[k][m] * axes[other][m];
            for (int m = 0; m < 3; m++)
                axes[k][m] -= along * axes[other][m];
        }
        const double length = sqrt(axes[k][0] * axes[k][0] + axes[k][1] * axes[k][1] +
                                   axes[k][2] * axes[k][2]);
        for (int m = 0; m < 3; m++)
            axes[k][m] /= length;
    }
    kith_box out = box;
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++)
            out.row[k][m] = box.row[k][0] * axes[0][m] + box.row[k][1] * axes[1][m] +
                            box.row[k][2] * axes[2][m];
    return out;
}

static void check_triclinic(kith_ctx *ctx, rng *r)
{
    const kith_box mild = kith_box_triclinic(1.0, 1.2, 0.8, 0.3, -0.2, 0.25);
    kith_box skewed = kith_box_triclinic(1.0, 0.9, 1.1, 2.6, -3.1, 1.7);
    skewed.origin[0] = -0.7;
    skewed.origin[2] = 5.3;
    kith_box left = mild;
    for (int m = 0; m < 3; m++) {
        left.row[0][m] = mild.row[1][m];
        left.row[1][m] = mild.row[0][m];
    }
    check_all_axes(ctx, r, "mild", mild, 0.3);
    check_all_axes(ctx, r, "mild, long cutoff", mild, 0.95);
    check_all_axes(ctx, r, "skewed", skewed, 0.3);
    check_all_axes(ctx, r, "left-handed", left, 0.35);
    check_all_axes(ctx, r, "negative sides", kith_box_periodic(1.0, -1.1, -0.8), 0.35);
    for (int times = 0; times < 2; times++) {
        check_all_axes(ctx, r, "rotated", rotated(r, mild), 0.25);
        check_all_axes(ctx, r, "skewed, rotated", rotated(r, skewed), 0.25);
        check_all_axes(ctx, r, "rotated brick", rotated(r, kith_box_periodic(1.0, 0.8, 1.3)), 0.3);
    }
    kith_box many = rotated(r, mild);
    check_in(ctx, r, "rotated, many", &many, 500, 0.11, 1);
    check_in(ctx, r, "mild, many", &mild, 500, 0.11, 5);
}

/* Open axes whose rows are zero, in straight and in skewed boxes. */
static void check_zero_rows(kith_ctx *ctx, rng *r)
{
    for (int zero = 1; zero < 16; zero++)
        for (int skewed = 0; skewed < 2; skewed++) {
            kith_box box = skewed ? kith_box_triclinic(1.0, 1.2, 0.8, 0.3, -0.2, 0.25)
                                  : kith_box_periodic(1.0, 1.2, 0.8);
            double *xyz = points_in_box(r, 100, &box);
            box.dim = zero < 8 ? 3 : 2;
            for (int k = 0; k < 3; k++)
                if (zero >> k & 1) {
                    box.periodic[k] = 0;
                    box.row[k][0] = box.row[k][1] = box.row[k][2] = 0.0;
                }
            char name[64];
            snprintf(name, sizeof name, "zero rows %d, skewed %d, dim %d", zero, skewed, box.dim);
            case_check(
                ctx, &(pair_case){.name = name, .xyz = xyz, .n = 100, .box = &box, .cutoff = 0.22});
            free(xyz);
        }
}

static void check_long_and_tiny(kith_ctx *ctx, rng *r)
{
    const kith_box needle = kith_box_periodic(1000.0, 1.0, 1.0);
    const kith_box plate = kith_box_periodic(1000.0, 1.0, 1000.0);
    kith_box slanted = kith_box_triclinic(1.0, 1000.0, 1.0, 250.3, 0.4, 400.7);
    check_in(ctx, r, "needle", &needle, 500, 0.9, 0);
    check_in(ctx, r, "needle, wide", &needle, 60, 3.7, 0);
    check_in(ctx, r, "plate", &plate, 300, 30.0 / 16.0, 1);
    check_in(ctx, r, "slanted", &slanted, 150, 0.8, 0);
    slanted.periodic[1] = 0;
    check_in(ctx, r, "slanted, open", &slanted, 150, 1.6, 0);

    const kith_box cube = kith_box_periodic(1.0, 1.0, 1.0);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.45, -0.3, 0.2);
    const double cutoffs[] = {0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0};
    const int64_t sizes[] = {1, 2, 3, 12};
    for (int c = 0; c < 7; c++)
        for (int s = 0; s < 4; s++) {
            check_in(ctx, r, "tiny cube", &cube, sizes[s], cutoffs[c], 0);
            check_in(ctx, r, "tiny cell", &cell, sizes[s], cutoffs[c], 1);
        }
}

/* All z equal, in a box and in open space. */
static void check_flat(kith_ctx *ctx, rng *r)
{
    const kith_box box = kith_box_periodic(1.0, 1.0, 1.0);
    for (int box_or_not = 0; box_or_not < 2; box_or_not++)
        for (int axis = 0; axis < 3; axis++) {
            double *xyz = points_in_box(r, 400, &box);
            for (int p = 0; p < 400; p++)
                xyz[3 * p + axis] = 0.37;
            case_check(ctx, &(pair_case){.name = "flat",
                                         .xyz = xyz,
                                         .n = 400,
                                         .box = box_or_not ? &box : NULL,
                                         .cutoff = 0.08});
            free(xyz);
        }
}

/* z must not be read as a coordinate: it is NaN here. */
static void check_two_dimensions(kith_ctx *ctx, rng *r)
{
    const double skews[3] = {0.0, 0.4, -2.3};
    for (int s = 0; s < 3; s++)
        for (int periodic = 0; periodic < 4; periodic++) {
            kith_box box = kith_box_triclinic(1.0, 0.8, 0.0, skews[s], 0.0, 0.0);
            box.dim = 2;
            box.origin[1] = -0.4;
            box.periodic[0] = periodic & 1;
            box.periodic[1] = periodic >> 1;
            const int64_t sizes[] = {1, 30, 300};
            const double cutoffs[] = {1.7, 0.4, 0.06};
            for (int k = 0; k < 3; k++) {
                double *xyz = points_in_box(r, sizes[k], &box);
                points_drift(r, xyz, sizes[k], &box, 3);
                for (int64_t p = 0; p < sizes[k]; p++)
                    xyz[3 * p + 2] = (double)NAN;
                case_check(ctx, &(pair_case){.name = "two dimensions",
                                             .xyz = xyz,
                                             .n = sizes[k],
                                             .box = &box,
                                             .cutoff = cutoffs[k]});
                free(xyz);
            }
        }
}

/** Boxes whose origin is so far away that all coordinates along x and y are equal, and the bounds
 *  of rounding errors, which grow with the origin, have no room in a float. */
static void check_far_origins(kith_ctx *ctx, rng *r)
{
    enum { N = 200 };
    static const double far[] = {1e10, 1e20, 1e24, 1e26, 1e30, 1e37, 1e100, 1e160, 1e300, 1.5e308};
    const double cutoff = 0.02;
    for (size_t f = 0; f < sizeof far / sizeof *far; f++) {
        kith_box box = kith_box_periodic(1, 1, 1);
        double xyz[3 * N];
        float single[3 * N];
        int64_t expected = 0;
        box.origin[0] = box.origin[1] = far[f];
        for (int p = 0; p < N; p++) { /* multiples of 2^-20, exact in float */
            xyz[3 * p] = xyz[3 * p + 1] = far[f];
            xyz[3 * p + 2] = floor(rng_uniform(r, 0, 0x1p20)) * 0x1p-20;
            for (int q = 0; q < p; q++) {
                const double d = fabs(xyz[3 * p + 2] - xyz[3 * q + 2]);
                expected += fmin(d, 1 - d) <= cutoff;
            }
        }
        for (int e = 0; e < 3 * N; e++)
            single[e] = (float)xyz[e];
        for (int narrow = 0; narrow < 2; narrow++) {
            if (narrow && far[f] > 1e38)
                continue;
            const kith_points points = kith_points_packed(narrow ? (void *)single : xyz, N,
                                                          narrow ? KITH_FLOAT : KITH_DOUBLE);
            int64_t n = -1;
            const kith_status status = kith_pairs_count(ctx, &points, &box, cutoff, NULL, &n, NULL);
            CHECK(status == KITH_OK && n == expected,
                  "origin %g, %s: %lld pairs, expected %lld: %s", far[f],
                  narrow ? "float" : "double", (long long)n, (long long)expected,
                  kith_message(ctx));
        }
    }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {3};
    check_far_origins(ctx, &r);
    check_triclinic(ctx, &r);
    check_zero_rows(ctx, &r);
    check_long_and_tiny(ctx, &r);
    check_flat(ctx, &r);
    check_two_dimensions(ctx, &r);
    kith_close(ctx);
    return check_done();
}
