/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums: clusters of which they are known, brute force by species, distances of 0, what must
 * be refused, and the same bits with any number of threads.
 */
#include <kith/debye.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

static kith_debye_options at(double q_min, double q_width, int64_t n_q)
{
    kith_debye_options o;
    kith_debye_options_init(&o);
    o.q_min = q_min;
    o.q_width = q_width;
    o.n_q = n_q;
    return o;
}

/* I(q) of f = 1 and bonds of 1. */
static void check_known(kith_ctx *ctx)
{
    const double a = sqrt(0.5);
    static const struct {
        const char *name;
        int n;
        double q, intensity;
    } known[] = {{"dimer", 2, 1, 3.68294197},        {"dimer", 2, 0, 4},
                 {"dimer", 2, 5, 1.61643029},        {"dimer", 2, 10, 1.89119578},
                 {"dimer", 2, 3.141592653589793, 2}, {"triangle", 3, 1, 8.04882591},
                 {"tetrahedron", 4, 1, 14.09765182}, {"tetrahedron", 4, 3.141592653589793, 4},
                 {"cube", 8, 1, 49.5171284},         {"fcc", 13, 1, 123.1579242}};
    const double dimer[] = {0, 0, 0, 0, 0, 1}, triangle[] = {0, 0, 0, 1, 0, 0, 0.5, sqrt(0.75), 0};
    const double tetrahedron[] = {0, 0, 0, a, a, 0, a, 0, a, 0, a, a};
    const double cube[] = {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1};
    const double fcc[] = {0,  0,  0, a, a,  0, a,  -a, 0, -a, a, 0, -a, -a, 0,  a, 0, a,  a, 0,
                          -a, -a, 0, a, -a, 0, -a, 0,  a, a,  0, a, -a, 0,  -a, a, 0, -a, -a};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const double *xyz = known[k].n == 2   ? dimer
                            : known[k].n == 3 ? triangle
                            : known[k].n == 4 ? tetrahedron
                            : known[k].n == 8 ? cube
                                              : fcc;
        const kith_points points = kith_points_packed(xyz, known[k].n, KITH_DOUBLE);
        const kith_debye_options o = at(known[k].q, 1, 1);
        double sum = 0;
        CHECK(kith_debye_sum(ctx, &points, &o, &sum) == KITH_OK, "%s", kith_message(ctx));
        const double intensity = known[k].n + 2 * sum;
        CHECK(fabs(intensity - known[k].intensity) < 5e-8 * intensity, "%s at %g: %.10g",
              known[k].name, known[k].q, intensity);
    }
    kith_points flat = kith_points_packed(triangle, 3, KITH_DOUBLE);
    flat.z = NULL;
    const kith_debye_options o = at(1, 1, 1);
    double sum = 0;
    CHECK(kith_debye_sum(ctx, &flat, &o, &sum) == KITH_OK && fabs(3 + 2 * sum - 8.04882591) < 4e-7,
          "z NULL: %.10g: %s", 3 + 2 * sum, kith_message(ctx));
}

/* All partials, in both precisions, at enough q for several runs. */
static void check_sums(kith_ctx *ctx, rng *r)
{
    enum { N = 300, KINDS = 3, Q = 75, PARTIALS = KINDS * (KINDS + 1) / 2 };
    const double low[3] = {-3, 1, 100}, high[3] = {4, 9, 103};
    double *xyz = points_uniform(r, N, low, high);
    memcpy(xyz + 30, xyz, 3 * sizeof *xyz); /* coincident */
    int32_t species[N];
    for (int p = 0; p < N; p++)
        species[p] = (int32_t)(rng_below(r, 4) % KINDS);
    for (int turn = 0; turn < 2; turn++) {
        stored s = stored_make(xyz, N, turn ? KITH_DOUBLE : KITH_FLOAT, LAYOUT_SPLIT);
        kith_debye_options o = at(turn ? 0 : 0.3, 0.11, Q);
        o.species = species;
        o.n_species = KINDS;
        double sums[PARTIALS][Q], known[PARTIALS][Q] = {{0}};
        const int row[KINDS] = {0, KINDS, 2 * KINDS - 1};
        CHECK(kith_debye_sum(ctx, &s.points, &o, sums[0]) == KITH_OK, "%s", kith_message(ctx));
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++) {
                const int a = species[i] < species[j] ? species[i] : species[j];
                const int b = species[i] + species[j] - a;
                double r2 = 0;
                for (int k = 0; k < 3; k++) {
                    const double d = points_get(&s.points, j, k) - points_get(&s.points, i, k);
                    r2 += d * d;
                }
                for (int k = 0; k < Q; k++) {
                    const double x = (o.q_min + k * o.q_width) * sqrt(r2);
                    known[row[a] + b - a][k] += x > 0 ? sin(x) / x : 1;
                }
            }
        for (int k = 0; k < PARTIALS * Q; k++)
            CHECK(fabs(sums[k / Q][k % Q] - known[k / Q][k % Q]) < 1e-8,
                  "partial %d at q %d: %.12g, expected %.12g", k / Q, k % Q, sums[0][k],
                  known[0][k]);
        stored_free(&s);
    }
    free(xyz);
}

static void check_refusals(kith_ctx *ctx)
{
    const double xyz[6] = {0, 0, 0, 1, 1, NAN};
    const kith_points points = kith_points_packed(xyz, 1, KITH_DOUBLE);
    const kith_points bad = kith_points_packed(xyz, 2, KITH_DOUBLE);
    const int32_t species[2] = {0, 2};
    double sums[8];
    kith_debye_options o = at(0, 1, 2);
    CHECK(kith_debye_sum(ctx, &points, NULL, sums) == KITH_INVALID, "no options");
    CHECK(kith_debye_sum(ctx, &points, &o, NULL) == KITH_INVALID, "no sums");
    CHECK(kith_debye_sum(ctx, &bad, &o, sums) == KITH_NOT_FINITE, "NaN");
    CHECK(strstr(kith_message(ctx), "1") != NULL, "%s", kith_message(ctx));
    CHECK(kith_debye_sum(ctx, &points, &o, sums) == KITH_OK && sums[0] == 0, "one particle");
    const double far[6] = {1e308, 1e308, 1e308, 1e308, 1e308, 1e308};
    const kith_points same = kith_points_packed(far, 2, KITH_DOUBLE);
    CHECK(kith_debye_sum(ctx, &same, &o, sums) == KITH_OK && sums[0] == 1 &&
              fabs(sums[1] - 1) < 1e-9,
          "finite coordinates whose sum overflows: %s", kith_message(ctx));
    for (int k = 0; k < 2; k++) {
        const double apart[6] = {k ? 1e160 : -1e308, 0, 0, k ? -1e160 : 1e308, 0, 0};
        const kith_points two = kith_points_packed(apart, 2, KITH_DOUBLE);
        CHECK(kith_debye_sum(ctx, &two, &o, sums) == KITH_LIMIT, "overflow: %s", kith_message(ctx));
        CHECK(strstr(kith_message(ctx), "too far apart"), "%s", kith_message(ctx));
    }
    o = at(1e308, 1e308, 2);
    CHECK(kith_debye_sum(ctx, &points, &o, sums) == KITH_INVALID, "q overflows");
    o = at(0, 1, 2);
    o.n_q = 0;
    CHECK(kith_debye_sum(ctx, &points, &o, sums) == KITH_INVALID, "no q");
    o = at(-1, 1, 2);
    CHECK(kith_debye_sum(ctx, &points, &o, sums) == KITH_INVALID, "q below 0");
    o = at(0, 0, 2);
    CHECK(kith_debye_sum(ctx, &points, &o, sums) == KITH_INVALID, "no width");
    o = at(0, 1, 2);
    o.size = 3;
    CHECK(kith_debye_sum(ctx, &points, &o, sums) == KITH_INVALID, "size");
    o = at(0, 1, 2);
    o.species = species;
    o.n_species = 2;
    CHECK(kith_debye_sum(ctx, &bad, &o, sums) == KITH_INVALID, "species 2 of 2");
}

static void check_threads(const char *backend, rng *r)
{
    enum { N = 700, Q = 40 };
    const double low[3] = {0, 0, 0}, high[3] = {9, 9, 9};
    double *xyz = points_uniform(r, N, low, high);
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_debye_options o = at(1, 0.5, Q);
    double first[Q], sums[Q];
    for (int threads = 1; threads <= 3; threads++) {
        kith_ctx *ctx = check_open(backend, threads);
        CHECK(kith_debye_sum(ctx, &points, &o, sums) == KITH_OK, "%s", kith_message(ctx));
        if (threads == 1)
            memcpy(first, sums, sizeof first);
        CHECK(memcmp(first, sums, sizeof first) == 0, "other bits with %d threads", threads);
        kith_close(ctx);
    }
    free(xyz);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng r = {3};
    check_known(ctx);
    check_sums(ctx, &r);
    check_refusals(ctx);
    kith_close(ctx);
    check_threads(backend, &r);
    return check_done();
}
