/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves against a plain one, with species, in boxes of every form; the same bits
 * again, with other threads and instructions; a perfect lattice; what must be refused.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include <kith/waves.h>
#include "points.h"

enum { N = 5000, KINDS = 3, MOST_WAVES = 400 };

static int32_t species[N], hkl[3 * MOST_WAVES];

/** Vectors up to `most` along each axis, 0 along those that `open` names. */
static kith_waves make_waves(rng *r, int64_t n, int most, const kith_box *box)
{
    kith_waves waves;
    kith_waves_init(&waves);
    for (int64_t at = 0; at < 3 * n; at++) {
        const int32_t power = (int32_t)rng_below(r, (uint64_t)(2 * most + 1)) - most;
        hkl[at] = at % 3 < box->dim && box->periodic[at % 3] ? power : 0;
    }
    for (int p = 0; p < N; p++) {
        species[p] = (int32_t)rng_below(r, 10) < 7 ? 2 : 0; /* none of 1 */
    }
    waves.n = n;
    waves.hkl = hkl;
    waves.species = species;
    waves.n_species = KINDS;
    return waves;
}

/** Fractional coordinates by Cramer's rule. */
static void fractions(const kith_points *points, const kith_box *box, int64_t p, double f[3])
{
    double a[3][3], d[3];
    for (int k = 0; k < 3; k++) {
        const bool flat = k >= box->dim;
        d[k] = flat ? 0 : points_get(points, p, k) - box->origin[k];
        for (int m = 0; m < 3; m++) {
            a[k][m] = flat || m >= box->dim ? (double)(k == m) : box->row[k][m];
        }
    }
    const double volume = a[0][0] * a[1][1] * a[2][2]; /* the rows are a lower triangle */
    f[2] = d[2] * a[0][0] * a[1][1] / volume;
    f[1] = (d[1] - f[2] * a[2][1]) / a[1][1];
    f[0] = (d[0] - f[2] * a[2][0] - f[1] * a[1][0]) / a[0][0];
}

static void right_sum(const kith_points *points, const kith_box *box, const int32_t *wave,
                      double sum[KINDS][2])
{
    const double two_pi = 6.283185307179586;
    memset(sum, 0, KINDS * sizeof sum[0]);
    for (int64_t p = 0; p < points->n; p++) {
        double f[3];
        fractions(points, box, p, f);
        const double turns = wave[0] * f[0] + wave[1] * f[1] + wave[2] * f[2];
        sum[species[p]][0] += cos(two_pi * (turns - rint(turns)));
        sum[species[p]][1] += sin(two_pi * (turns - rint(turns)));
    }
}

static void check_sums(kith_ctx *ctx, kith_ctx *other, const char *name, const kith_box *box,
                       kith_precision precision, int64_t n)
{
    static double sums[MOST_WAVES * KINDS * 2], again[MOST_WAVES * KINDS * 2];
    rng r = {(uint64_t)n};
    double *xyz = points_in_box(&r, n, box);
    const kith_waves waves = make_waves(&r, check_brief() ? 40 : MOST_WAVES, 9, box);
    stored s = stored_make(xyz, n, precision, LAYOUT_STRIDE7);
    CHECK(kith_waves_sum(ctx, &s.points, box, &waves, sums) == KITH_OK, "%s: %s", name,
          kith_message(ctx));
    const double may = 1e-12 * (double)(n + 10);
    for (int64_t w = 0; w < waves.n; w++) {
        double right[KINDS][2];
        right_sum(&s.points, box, hkl + 3 * w, right);
        for (int k = 0; k < 2 * KINDS; k++) {
            const double got = sums[2 * KINDS * w + k];
            CHECK(fabs(got - right[k / 2][k % 2]) <= may,
                  "%s: wave %lld, species %d: %.17g, expected %.17g", name, (long long)w, k / 2,
                  got, right[k / 2][k % 2]);
        }
    }
    const size_t bytes = (size_t)waves.n * KINDS * 2 * sizeof *sums;
    CHECK(kith_waves_sum(ctx, &s.points, box, &waves, again) == KITH_OK &&
              memcmp(sums, again, bytes) == 0,
          "%s: other bits again", name);
    CHECK(kith_waves_sum(other, &s.points, box, &waves, again) == KITH_OK &&
              memcmp(sums, again, bytes) == 0,
          "%s: other bits with other threads and instructions", name);
    stored_free(&s);
    free(xyz);
}

static void check_boxes(kith_ctx *ctx, kith_ctx *other)
{
    kith_box slanted = kith_box_periodic(3, 4, 5), flat = kith_box_periodic(2, 3, 1);
    slanted.row[1][0] = 1.2;
    slanted.row[2][0] = -0.7;
    slanted.row[2][1] = 0.4;
    slanted.origin[1] = -7;
    kith_box slab = slanted;
    slab.periodic[2] = 0;
    flat.dim = 2;
    const kith_box cube = kith_box_periodic(1, 1, 1);
    check_sums(ctx, other, "cube", &cube, KITH_DOUBLE, N);
    check_sums(ctx, other, "cube, float", &cube, KITH_FLOAT, 129);
    check_sums(ctx, other, "slanted", &slanted, KITH_DOUBLE, 1000);
    check_sums(ctx, other, "slab", &slab, KITH_DOUBLE, 2);
    check_sums(ctx, other, "flat", &flat, KITH_FLOAT, 700);
    check_sums(ctx, other, "nothing", &cube, KITH_DOUBLE, 0);
}

/** All in phase on reciprocal vectors of a lattice, and nothing on others. */
static void check_lattice(kith_ctx *ctx)
{
    enum { CELLS = 8, POINTS = 4 * CELLS * CELLS * CELLS };
    double *xyz = points_lattice(LATTICE_FCC, CELLS, 1);
    const kith_points points = kith_points_packed(xyz, POINTS, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(CELLS, CELLS, CELLS);
    const int32_t some[] = {0, 0, 0, 8, -8, 8, 0, 16, 0, 8, 0, 0, 3, -5, 1};
    double sums[5][2];
    kith_waves waves;
    kith_waves_init(&waves);
    waves.n = 5;
    waves.hkl = some;
    CHECK(kith_waves_sum(ctx, &points, &box, &waves, &sums[0][0]) == KITH_OK, "lattice: %s",
          kith_message(ctx));
    for (int w = 0; w < 5; w++) {
        CHECK(fabs(sums[w][0] - (w < 3 ? POINTS : 0)) < 1e-9 && fabs(sums[w][1]) < 1e-9,
              "lattice: wave %d: %.17g %.17g", w, sums[w][0], sums[w][1]);
    }
    free(xyz);
}

static void refuse(kith_ctx *ctx, const char *what, const kith_points *points, const kith_box *box,
                   const kith_waves *waves, kith_status wanted)
{
    double sums[2 * KINDS];
    const kith_status got = kith_waves_sum(ctx, points, box, waves, sums);
    CHECK(got == wanted, "%s: %s", what, kith_status_name(got));
    CHECK(strlen(kith_message(ctx)) > 0, "%s: no message", what);
}

static void check_refusals(kith_ctx *ctx)
{
    rng r = {3};
    double xyz[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    kith_box box = kith_box_periodic(1, 1, 1);
    const kith_waves good = make_waves(&r, 1, 2, &box);
    hkl[2] = 1;
    kith_waves waves = good;
    waves.size = 0;
    refuse(ctx, "size", &points, &box, &waves, KITH_INVALID);
    refuse(ctx, "no waves", &points, &box, NULL, KITH_INVALID);
    waves = good;
    waves.hkl = NULL;
    refuse(ctx, "no hkl", &points, &box, &waves, KITH_INVALID);
    waves = good;
    waves.n_species = 1;
    species[1] = 1;
    refuse(ctx, "species", &points, &box, &waves, KITH_INVALID);
    box.periodic[2] = 0;
    refuse(ctx, "an open axis", &points, &box, &good, KITH_INVALID);
    box.periodic[2] = 1;
    xyz[4] = NAN;
    refuse(ctx, "not finite", &points, &box, &good, KITH_NOT_FINITE);
    xyz[4] = 1e12;
    refuse(ctx, "too far", &points, &box, &good, KITH_LIMIT);
    xyz[3] = xyz[4] = 1e308;
    refuse(ctx, "a sum beyond the range of double", &points, &box, &good, KITH_LIMIT);
    xyz[3] = xyz[4] = 0;
    hkl[1] = 20000;
    refuse(ctx, "too high", &points, &box, &good, KITH_LIMIT);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 1);
    kith_ctx *other = check_open(strncmp(backend, "cpu", 3) == 0 ? "cpu:baseline" : backend, 3);
    check_boxes(ctx, other);
    check_lattice(ctx);
    check_refusals(ctx);
    kith_close(other);
    kith_close(ctx);
    return check_done();
}
