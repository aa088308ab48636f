/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Known answers: volumes of shells cut by a box, shells of lattices, an ideal gas to the corner of
 * its box, frames of changing volume, and processes whose g(r) is known in closed form.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

static const double pi = 3.141592653589793;

static void near(const char *what, double got, double expected, double tolerance)
{
    CHECK(fabs(got - expected) <= tolerance, "%s: %.12g, expected %.12g", what, got, expected);
}

/* Integral of a thin shell's density: the part of the sphere of radius r inside the box. */
static double factor(const kith_box *box, double r)
{
    const double edges[2] = {r * (1 - 1e-5), r * (1 + 1e-5)};
    double cut = 0, whole = 0;
    kith_box open = kith_box_open();
    open.dim = box->dim;
    CHECK(kith_shell_volumes(box, 1, 1, edges, &cut) == KITH_OK, "%s", kith_message(NULL));
    CHECK(kith_shell_volumes(&open, 0, 1, edges, &whole) == KITH_OK, "%s", kith_message(NULL));
    return cut / whole;
}

static void check_shells(void)
{
    const kith_box cube = kith_box_periodic(2, 2, 2);
    const double known[][2] = {{0.9, 1},        {1.1, 0.727273}, {1.2, 0.5},     {1.4, 0.142857},
                               {1.5, 0.048328}, {1.6, 0.012361}, {1.7, 0.000599}};
    for (int k = 0; k < 7; k++)
        near("factor of a cube", factor(&cube, known[k][0]), known[k][1], 1e-6);
    kith_box block = kith_box_periodic(1, 1.5, 4);
    for (int dim = 2; dim <= 3; dim++) {
        block.dim = dim;
        const double whole = dim == 3 ? 6 : 1.5;
        double edges[301], volumes[300], sum = 0;
        for (int k = 0; k <= 300; k++)
            edges[k] = 2.2 * k / 300;
        CHECK(kith_shell_volumes(&block, 1, 300, edges, volumes) == KITH_OK, "%s",
              kith_message(NULL));
        for (int k = 0; k < 300; k++)
            sum += volumes[k];
        near("all shells together", sum, whole, 1e-12);
        rng r = {5};
        int inside[300] = {0};
        enum { TRIES = 200000 };
        for (int t = 0; t < TRIES; t++) {
            const double x = rng_uniform(&r, -0.5, 0.5), y = rng_uniform(&r, -0.75, 0.75);
            const double z = dim == 3 ? rng_uniform(&r, -2, 2) : 0;
            inside[(int)(sqrt(x * x + y * y + z * z) * 300 / 2.2)]++;
        }
        for (int k = 0; k < 300; k++) {
            const double expected = volumes[k] / whole * TRIES;
            near("points in a shell", inside[k], expected, 5 * sqrt(expected) + 3);
        }
    }
    double volume;
    const double falling[2] = {1, 1};
    CHECK(kith_shell_volumes(NULL, 1, 1, falling, &volume) == KITH_INVALID, "open, cut");
    CHECK(kith_shell_volumes(&cube, 1, 1, falling, &volume) == KITH_INVALID, "falling edges");
    kith_box oblique = kith_box_triclinic(1, 1, 1, 0.2, 0, 0);
    const double rising[2] = {0, 1};
    CHECK(kith_shell_volumes(&oblique, 1, 1, rising, &volume) == KITH_INVALID, "oblique, cut");
}

static void count(kith_ctx *ctx, const double *xyz, int64_t n, const kith_box *box,
                  const kith_rdf_options *o, kith_histogram *h)
{
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    CHECK(kith_rdf_count(ctx, &points, box, o, h) == KITH_OK, "%s", kith_message(ctx));
}

/* Neighbours at each squared distance (cell side 1). */
static void check_lattices(kith_ctx *ctx)
{
    static const struct {
        lattice kind;
        double r2[9];
        int n[9];
    } known[3] = {
        {LATTICE_SC, {1, 2, 3, 4, 5, 6, 8, 9, 10}, {6, 12, 8, 6, 24, 24, 12, 30, 24}},
        {LATTICE_BCC, {.75, 1, 2, 2.75, 3, 4, 4.75, 5, 0}, {8, 6, 12, 24, 8, 6, 24, 24, 0}},
        {LATTICE_FCC, {.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5}, {12, 6, 24, 12, 24, 8, 48, 6, 36}},
    };
    for (int l = 0; l < 3; l++) {
        const int cells = 7;
        const int64_t n = (int64_t)known[l].kind * cells * cells * cells;
        double *xyz = points_lattice(known[l].kind, cells, 1);
        const kith_box box = kith_box_periodic(cells, cells, cells);
        for (int s = 0; s < 9 && known[l].n[s] > 0; s++) {
            const double edges[3] = {0, sqrt(known[l].r2[s] - 0.1), sqrt(known[l].r2[s] + 0.1)};
            kith_rdf_options o;
            kith_rdf_options_init(&o);
            o.bins = 2;
            o.edges = edges;
            kith_histogram h = {0};
            double around[2];
            count(ctx, xyz, n, &box, &o, &h);
            kith_rdf_coordination(&h, 0, 0, around);
            near("neighbours in a shell", around[1] - around[0], known[l].n[s], 1e-9);
            kith_histogram_free(&h);
        }
        free(xyz);
    }
}

/* Cells of sides a, b, c with some points in each, and the neighbours at each squared distance. */
typedef struct crystal {
    const char *name;
    int dim, cells, points;
    double side[3];
    double at[8][3]; /* in sides */
    double r2[9];
    int n[9];
} crystal;

static double *crystal_points(const crystal *c, int64_t *n)
{
    const int depth = c->dim == 3 ? c->cells : 1;
    double *xyz = check_malloc((size_t)(c->cells * c->cells * depth * c->points) * 3 * sizeof *xyz);
    *n = 0;
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < c->cells; y++)
            for (int x = 0; x < c->cells; x++)
                for (int p = 0; p < c->points; p++, ++*n) {
                    xyz[3 * *n] = (x + c->at[p][0]) * c->side[0];
                    xyz[3 * *n + 1] = (y + c->at[p][1]) * c->side[1];
                    xyz[3 * *n + 2] = (z + c->at[p][2]) * c->side[2];
                }
    return xyz;
}

static void check_crystals(kith_ctx *ctx)
{
    static const double root3 = 1.7320508075688772, height = 1.632993161855452; /* sqrt(8 / 3) */
    const crystal known[] = {
        {"square", 2, 12, 1, {1, 1, 1}, {{0}}, {1, 2, 4, 5, 8, 9, 10}, {4, 4, 4, 8, 4, 4, 8}},
        {"triangular",
         2,
         10,
         2,
         {1, root3, 1},
         {{0}, {.5, .5, 0}},
         {1, 3, 4, 7, 9},
         {6, 6, 6, 12, 6}},
        {"honeycomb",
         2,
         6,
         4,
         {root3, 3, 1},
         {{0}, {0, 1. / 3, 0}, {.5, .5, 0}, {.5, 5. / 6, 0}},
         {1, 3, 4, 7, 9},
         {3, 6, 3, 6, 6}},
        {"diamond",
         3,
         5,
         8,
         {1, 1, 1},
         {{0},
          {0, .5, .5},
          {.5, 0, .5},
          {.5, .5, 0},
          {.25, .25, .25},
          {.25, .75, .75},
          {.75, .25, .75},
          {.75, .75, .25}},
         {.1875, .5, .6875, 1, 1.1875, 1.5, 1.6875},
         {4, 12, 12, 6, 12, 24, 16}},
        {"close-packed, hexagonal",
         3,
         7,
         4,
         {1, root3, height},
         {{0}, {.5, .5, 0}, {.5, 1. / 6, .5}, {0, 2. / 3, .5}},
         {1, 2, 8. / 3, 3, 11. / 3, 4, 5},
         {12, 6, 2, 18, 12, 6, 12}},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const crystal *c = &known[k];
        int64_t n;
        double *xyz = crystal_points(c, &n);
        kith_box box = kith_box_periodic(c->cells * c->side[0], c->cells * c->side[1],
                                         c->cells * c->side[2]);
        box.dim = c->dim;
        for (int s = 0; s < 9 && c->n[s] > 0; s++) {
            const double edges[3] = {0, sqrt(c->r2[s] - 0.05), sqrt(c->r2[s] + 0.05)};
            kith_rdf_options o;
            kith_rdf_options_init(&o);
            o.bins = 2;
            o.edges = edges;
            kith_histogram h = {0};
            double around[2];
            count(ctx, xyz, n, &box, &o, &h);
            kith_rdf_coordination(&h, 0, 0, around);
            near(c->name, around[1] - around[0], c->n[s], 1e-9);
            kith_histogram_free(&h);
        }
        free(xyz);
    }
}

/* g is 1 up to the corner of the box, within the noise of each bin's count. */
/* So far apart that one cell, or two beside each other, hold particles that are no pairs. */
static void check_far(kith_ctx *ctx)
{
    const double xyz[] = {0, 0, 0, 0, 3e13, 0, 1e20, 1e20, 1e20, 0.5, 0, 0};
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.bins = 10;
    o.r_max = 1;
    kith_histogram h = {0};
    count(ctx, xyz, 4, NULL, &o, &h);
    for (int64_t k = 0; k < h.bins; k++) {
        CHECK(h.counts[k] == (k == 5), "far apart: %lld pairs in bin %lld", (long long)h.counts[k],
              (long long)k);
    }
    kith_histogram_free(&h);
}

static void check_ideal_gas(kith_ctx *ctx)
{
    enum { N = 3000, BINS = 60 };
    kith_box box = kith_box_periodic(1, 1.25, 0.9);
    rng r = {6};
    int32_t species[N];
    for (int p = 0; p < N; p++)
        species[p] = p % 3 == 0;
    for (int dim = 2; dim <= 3; dim++) {
        box.dim = dim;
        kith_rdf_options o;
        kith_rdf_options_init(&o);
        o.bins = BINS;
        o.r_max = 0.5 * sqrt(1 + 1.5625 + (dim == 3 ? 0.81 : 0));
        o.minimum_image = 1;
        o.species = species;
        o.n_species = 2;
        kith_histogram h = {0};
        double *xyz = points_in_box(&r, N, &box);
        count(ctx, xyz, N, &box, &o, &h);
        for (int32_t a = 0; a < 2; a++)
            for (int32_t b = 0; b < 2; b++) {
                const int32_t partial = kith_histogram_partial(&h, a, b);
                double g[BINS];
                int64_t sum = 0;
                kith_rdf_g(&h, a, b, g);
                for (int k = 0; k < BINS; k++) {
                    const double ideal = h.ideal[partial * BINS + k];
                    sum += h.counts[partial * BINS + k];
                    near("ideal gas", g[k] * ideal, ideal, 6 * sqrt(ideal) + 4);
                }
                CHECK(sum == h.pairs[partial], "partial %d: not every pair was counted", partial);
            }
        CHECK(kith_histogram_partial(&h, 0, 2) == -1, "no such species");
        free(xyz);
        kith_histogram_free(&h);
    }
}

/* Frames of volume 1 and 2: two particles a fixed part of the box apart. Every frame's own volume
 * makes the expected count of each what it is; an average box, or the last one, does not. */
static void check_changing_box(kith_ctx *ctx)
{
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.bins = 1;
    o.r_max = 0.4;
    kith_histogram h = {0};
    const double xyz[6] = {0, 0, 0, 0.3, 0, 0};
    const double shell = 4 * pi / 3 * 0.064;
    for (int frame = 0; frame < 2; frame++) {
        const double side = cbrt(1 + frame);
        const kith_box box = kith_box_periodic(side, side, side);
        count(ctx, xyz, 2, &box, &o, &h);
    }
    near("expected in both volumes", h.ideal[0], shell * (1 + 0.5), 1e-12);
    double g;
    kith_rdf_g(&h, 0, 0, &g);
    near("g over frames", g, 2 / (shell * 1.5), 1e-9);
    CHECK(h.frames == 2 && h.counts[0] == 2 && h.pairs[0] == 2, "frames add up");
    count(ctx, xyz, 2, NULL, &o, &h);
    kith_rdf_g(&h, 0, 0, &g);
    CHECK(isnan(g), "g without a volume");
    kith_histogram_free(&h);
}

/* Thomas' cluster process: g = 1 + exp(-r^2 / 4 s^2) / (kappa (4 pi s^2)^(3/2)). */
static void check_thomas(kith_ctx *ctx)
{
    enum { PARENTS = 10, FRAMES = 60, CHILDREN = 40, MOST = 4000 };
    const double s = 0.02;
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    const double edges[] = {0.009, 0.011, 0.038, 0.042, 0.076, 0.084};
    o.bins = 5;
    o.edges = edges;
    kith_histogram h = {0};
    rng r = {8};
    for (int frame = 0; frame < FRAMES; frame++) {
        static double xyz[3 * MOST];
        int64_t n = 0;
        int parents = 0; /* Poisson, mean PARENTS */
        for (double left = exp(-PARENTS), p = rng_uniform(&r, 0, 1); p > left; parents++)
            p *= rng_uniform(&r, 0, 1);
        for (int parent = 0; parent < parents; parent++) {
            const double at[3] = {rng_uniform(&r, 0, 1), rng_uniform(&r, 0, 1),
                                  rng_uniform(&r, 0, 1)};
            int children = 0;
            for (double left = exp(-CHILDREN), p = rng_uniform(&r, 0, 1); p > left; children++)
                p *= rng_uniform(&r, 0, 1);
            for (int c = 0; c < children && n < MOST; c++, n++)
                for (int k = 0; k < 3; k++)
                    xyz[3 * n + k] = at[k] + s * rng_normal(&r);
        }
        count(ctx, xyz, n, &box, &o, &h);
    }
    const double density = PARENTS * CHILDREN;
    for (int k = 0; k < 5; k += 2) {
        const double middle = 0.5 * (edges[k] + edges[k + 1]);
        const double shell = 4 * pi / 3 * (pow(edges[k + 1], 3) - pow(edges[k], 3));
        const double g = (double)h.counts[k] / (FRAMES * 0.5 * density * density * shell);
        const double expected = 1 + exp(-middle * middle / (4 * s * s)) /
                                        (PARENTS * pow(4 * pi * s * s, 1.5));
        near("Thomas process", g / expected, 1, 0.25);
    }
    kith_histogram_free(&h);
}

/* Hard rods of length 1 on a line (Tonks 1936): N uniform gaps; at contact g = 1 / (1 - rho). */
static void check_rods(kith_ctx *ctx)
{
    enum { N = 2000, FRAMES = 20 };
    const double rho = 0.5, length = N / rho;
    const kith_box box = kith_box_periodic(length, length, length);
    const double edges[] = {0.5, 1, 1.01, 1.24, 1.26, 1.49, 1.51, 2.4, 2.6};
    const double known[] = {0, 2, 0, 1.557602, 0, 1.213061, 0, 1.052791};
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.bins = 8;
    o.edges = edges;
    kith_histogram h = {0};
    rng r = {9};
    static double xyz[3 * N], gap[N];
    for (int frame = 0; frame < FRAMES; frame++) {
        double sum = 0, at = 0;
        for (int p = 0; p < N; p++)
            sum += gap[p] = -log(1 - rng_uniform(&r, 0, 1));
        for (int p = 0; p < N; p++) {
            xyz[3 * p] = at;
            xyz[3 * p + 1] = xyz[3 * p + 2] = 1;
            at += 1 + gap[p] / sum * (length - N);
        }
        count(ctx, xyz, N, &box, &o, &h);
    }
    for (int k = 0; k < 8; k++) {
        const double ideal = FRAMES * N * rho * (edges[k + 1] - edges[k]);
        if (k == 0 || known[k] > 0)
            near("hard rods", (double)h.counts[k] / ideal, known[k],
                 known[k] * 4 / sqrt(ideal + 1) + 0.03);
    }
    kith_histogram_free(&h);
}

enum { GINIBRE = 80 };

/* z^k exp(-|z|^2 / 2) / sqrt(pi k!) for all k < GINIBRE. */
static void ginibre_modes(double complex z, double complex mode[GINIBRE])
{
    mode[0] = exp(-0.5 * creal(z * conj(z))) / sqrt(pi);
    for (int k = 1; k < GINIBRE; k++)
        mode[k] = mode[k - 1] * z / sqrt(k);
}

/* The Ginibre ensemble's eigenvalues without a matrix: the modes' determinantal process, point by
 * point, each after those before it have been projected out (Hough, Krishnapur, Peres and Virag,
 * Probability Surveys 3, 206, 2006, algorithm 18). Density 1 / pi. */
static void ginibre_points(rng *r, double complex z[GINIBRE])
{
    static double complex basis[GINIBRE][GINIBRE], mode[GINIBRE];
    for (int n = 0; n < GINIBRE;) {
        double square = 0; /* |z|^2 of a mode is a sum of exponential numbers */
        for (int64_t k = rng_below(r, GINIBRE); k >= 0; k--)
            square -= log(1 - rng_uniform(r, 0, 1));
        z[n] = sqrt(square) * cexp(I * rng_uniform(r, 0, 2 * pi));
        ginibre_modes(z[n], mode);
        double all = 0, left = 0;
        for (int k = 0; k < GINIBRE; k++)
            all += creal(mode[k] * conj(mode[k]));
        for (int b = 0; b < n; b++) {
            double complex along = 0;
            for (int k = 0; k < GINIBRE; k++)
                along += mode[k] * conj(basis[b][k]);
            for (int k = 0; k < GINIBRE; k++)
                mode[k] -= along * basis[b][k];
        }
        for (int k = 0; k < GINIBRE; k++)
            left += creal(mode[k] * conj(mode[k]));
        if (rng_uniform(r, 0, 1) * all < left) {
            for (int k = 0; k < GINIBRE; k++)
                basis[n][k] = mode[k] / sqrt(left);
            n++;
        }
    }
}

/* g = 1 - exp(-pi r^2) at density 1, around points far from the edge (Ginibre 1965). */
static void check_ginibre(kith_ctx *ctx)
{
    enum { BINS = 6 };
    const int frames = check_brief() ? 20 : 60;
    const double inner = sqrt(GINIBRE) - 4;
    kith_box box = kith_box_open();
    box.dim = 2;
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.bins = BINS;
    o.r_min = 0.1; /* all points are in both sets */
    o.r_max = 1.3;
    kith_histogram h = {0};
    rng r = {5};
    for (int frame = 0; frame < frames; frame++) {
        static double complex z[GINIBRE];
        double xyz[3 * GINIBRE] = {0}, middle[3 * GINIBRE] = {0};
        int64_t n = 0;
        ginibre_points(&r, z);
        for (int p = 0; p < GINIBRE; p++) {
            xyz[3 * p] = creal(z[p]) / sqrt(pi);
            xyz[3 * p + 1] = cimag(z[p]) / sqrt(pi);
            if (cabs(z[p]) < inner)
                memcpy(middle + 3 * n++, xyz + 3 * p, 3 * sizeof *xyz);
        }
        const kith_points all = kith_points_packed(xyz, GINIBRE, KITH_DOUBLE);
        o.against = &all;
        count(ctx, middle, n, &box, &o, &h);
    }
    for (int k = 0; k < BINS; k++) {
        const double a = h.edges[k], b = h.edges[k + 1]; /* the ring's integral is exact */
        const double expected = (double)h.centres[0] *
                                (pi * (b * b - a * a) + exp(-pi * b * b) - exp(-pi * a * a));
        near("Ginibre", (double)h.counts[k], expected, 5 * sqrt(expected));
    }
    kith_histogram_free(&h);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_shells();
    check_lattices(ctx);
    check_crystals(ctx);
    check_far(ctx);
    check_ideal_gas(ctx);
    check_changing_box(ctx);
    check_thomas(ctx);
    check_rods(ctx);
    check_ginibre(ctx);
    kith_close(ctx);
    return check_done();
}
