/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms where the rounding of vectors is largest: pairs at the edges of bins, or a rounding
 * error beside them. Distances are computed relative to the middle of a block of particles, and
 * the error grows with the block; blocks here span several cells of few particles.
 */
#include <math.h>
#include <stdlib.h>

#include "rdf_case.h"

enum { CENTRES = 16, AROUND = 40, N = CENTRES * AROUND, MOST_BINS = 4000 };

static void random_direction(rng *r, int dim, double d[3])
{
    double length = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = k < dim ? rng_normal(r) : 0;
        length += d[k] * d[k];
    }
    for (int k = 0; k < 3; k++) {
        d[k] /= sqrt(length);
    }
}

/** Put AROUND particles at the edges of bins around each centre. */
static void surround(rng *r, const double *edges, int64_t bins, double (*centre)[3],
                     double (*around)[3])
{
    for (int p = 0; p < N; p++) {
        double d[3];
        const double edge = edges[rng_below(r, bins + 1)];
        random_direction(r, 3, d);
        for (int k = 0; k < 3; k++) {
            around[p][k] = centre[p / AROUND][k] + edge * d[k];
        }
    }
}

/** Centres along a row, from a small part of a cutoff to several cells apart. */
static void check_rows(kith_ctx *ctx, rng *r)
{
    static const int64_t sizes[] = {1, 7, 60, 500, MOST_BINS};
    static double edges[MOST_BINS + 1], centre[CENTRES][3], around[N][3];
    for (int round = 0; round < 60; round++) {
        const double r_max = rng_uniform(r, 0.6, 1.9);
        const double spacing = r_max * pow(2, -(round % 12));
        const int64_t bins = sizes[rng_below(r, 5)];
        for (int p = 0; p < CENTRES; p++) {
            for (int k = 0; k < 3; k++) {
                centre[p][k] = (k == 0 ? p * spacing : 0) + 0.5 * spacing * rng_uniform(r, 0, 1);
            }
        }
        rdf_case c = {.name = "rows", .xyz = centre[0], .n = CENTRES, .against = around[0], .m = N};
        c.options = rdf_linear(bins, r_max);
        c.options.r_min = round % 3 ? 0 : 0.4 * r_max;
        for (int64_t k = 0; k <= bins; k++) {
            const double part = (double)k / (double)bins;
            edges[k] = c.options.r_min + part * (r_max - c.options.r_min);
        }
        surround(r, edges, bins, centre, around);
        rdf_check(ctx, &c);
        for (int64_t k = 0; k <= bins; k++) {
            edges[k] = r_max * sqrt((double)(k + 1) / (double)(bins + 1));
        }
        c.options.edges = edges;
        surround(r, edges, bins, centre, around);
        rdf_check(ctx, &c);
    }
}

/** Across the faces of a box of hundreds of cutoffs: in float the definition rounds differences of
 *  a box, which is more than all that vectors round. With thousands of cutoffs it is also more than
 *  the table for bins of different widths allows. */
static void check_faces(kith_ctx *ctx, rng *r)
{
    enum { BINS = 200 };
    static double edges[BINS + 1], centre[CENTRES][3], around[N][3];
    for (int round = 0; round < 48; round++) {
        const double r_max = rng_uniform(r, 0.6, 1.9);
        const double cutoffs = round < 24 ? rng_uniform(r, 100, 800) : rng_uniform(r, 1000, 8000);
        kith_box box = kith_box_periodic(4, 4, 4);
        box.row[round % 3][round % 3] = r_max * cutoffs;
        for (int p = 0; p < CENTRES; p++) {
            for (int k = 0; k < 3; k++) {
                centre[p][k] = 0.3 * rng_uniform(r, 0, 1);
            }
        }
        rdf_case c = {.name = "faces",
                      .xyz = centre[0],
                      .n = CENTRES,
                      .against = around[0],
                      .m = N,
                      .box = &box};
        c.options = rdf_linear(BINS, r_max);
        for (int k = 0; k <= BINS; k++) {
            edges[k] = r_max * (round / 3 % 2 ? (double)k / BINS : sqrt((k + 1.0) / (BINS + 1)));
        }
        c.options.edges = round / 3 % 2 ? NULL : edges;
        surround(r, edges, BINS, centre, around);
        rdf_check(ctx, &c);
    }
}

/** Nearest images beyond half a box. */
static void check_nearest(kith_ctx *ctx, rng *r)
{
    static const int64_t sizes[] = {60, 500, MOST_BINS};
    static const double starts[] = {0, 0, 0.5, 0.9, 0.97};
    static double edges[MOST_BINS + 1], centre[CENTRES][3], around[N][3];
    for (int round = 0; round < 120; round++) {
        const kith_box box = kith_box_periodic(rng_uniform(r, 1, 2), rng_uniform(r, 1, 2),
                                               rng_uniform(r, 1, 2));
        const int64_t bins = sizes[rng_below(r, 3)];
        rdf_case c = {.name = "nearest",
                      .xyz = centre[0],
                      .n = CENTRES,
                      .against = around[0],
                      .m = N,
                      .box = &box};
        c.options = rdf_linear(bins, rng_uniform(r, 0.6, 1));
        c.options.minimum_image = 1;
        c.options.r_min = starts[round % 5] * c.options.r_max;
        for (int64_t k = 0; k <= bins; k++) {
            const double part = (double)k / (double)bins;
            edges[k] = c.options.r_min + part * (c.options.r_max - c.options.r_min);
        }
        for (int p = 0; p < CENTRES; p++) {
            for (int k = 0; k < 3; k++) {
                centre[p][k] = rng_uniform(r, 0, 1) * box.row[k][k];
            }
        }
        surround(r, edges, bins, centre, around);
        rdf_check(ctx, &c);
        for (int64_t k = 0; k <= bins; k++) {
            edges[k] = c.options.r_max * sqrt((double)(k + 1) / (double)(bins + 1));
        }
        c.options.edges = edges;
        surround(r, edges, bins, centre, around);
        rdf_check(ctx, &c);
    }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {20261124};
    check_rows(ctx, &r);
    check_faces(ctx, &r);
    check_nearest(ctx, &r);
    kith_close(ctx);
    return check_done();
}
