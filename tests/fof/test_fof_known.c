/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups that are known beforehand, and what must not change them: the order of the particles, the
 * threads, a shift, an exchange of axes.
 */
#include <math.h>
#include <sets.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "points.h"

static kith_groups find(kith_ctx *ctx, const double *xyz, int64_t n, const kith_box *box,
                        double length, int64_t min_members, const int64_t *ids)
{
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = min_members;
    options.ids = ids;
    kith_groups groups = {0};
    CHECK(kith_fof_find(ctx, &points, box, length, &options, &groups) == KITH_OK, "%s",
          kith_message(ctx));
    return groups;
}

static void expect(kith_ctx *ctx, const char *what, const double *xyz, int64_t n,
                   const kith_box *box, double length, int64_t groups, int64_t largest)
{
    kith_groups found = find(ctx, xyz, n, box, length, 1, NULL);
    CHECK(found.n == groups && (groups == 0 || found.members[0] == largest),
          "%s: %lld groups of up to %lld, expected %lld of up to %lld", what, (long long)found.n,
          (long long)(found.n ? found.members[0] : 0), (long long)groups, (long long)largest);
    kith_groups_free(&found);
}

static void check_lattices(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(8, 8, 8);
    double *xyz = points_lattice(LATTICE_SC, 8, 1);
    expect(ctx, "lattice, short", xyz, 512, &box, 0.9, 512, 1);
    expect(ctx, "lattice, exact", xyz, 512, &box, 1, 1, 512);
    expect(ctx, "lattice, long", xyz, 512, &box, 2, 1, 512);
    double *four = check_malloc(sizeof(double) * 3 * 4 * 512);
    const double shift[4] = {0, 0.01, -0.01, 0.02};
    for (int copy = 0; copy < 4; copy++) {
        for (int k = 0; k < 3 * 512; k++) {
            four[3 * 512 * copy + k] = xyz[k] + shift[copy];
        }
    }
    expect(ctx, "four lattices", four, 2048, &box, 0.011 * sqrt(3), 512, 4);
    free(four);
    free(xyz);
}

static void check_chain(kith_ctx *ctx)
{
    enum { N = 20000 };
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = check_malloc(sizeof(double) * 3 * N);
    for (int64_t p = 0; p < N; p++) {
        xyz[3 * p] = (double)(p * 7919 % N) / N;
        xyz[3 * p + 1] = xyz[3 * p + 2] = 0.25;
    }
    expect(ctx, "broken chain", xyz, N, &box, 0.8 / N, N, 1);
    expect(ctx, "chain", xyz, N, &box, 1.1 / N, 1, N);
    free(xyz);
}

/** ArborX's example in two dimensions. */
static void check_plane(kith_ctx *ctx)
{
    static const double xyz[10][3] = {{4, 3}, {0, 0}, {0, 1}, {1, 1}, {1, 0},
                                      {3, 3}, {3, 4}, {4, 4}, {4, 0}, {2, 2}};
    static const int32_t near[10] = {1, 2, 2, 2, 2, 1, 1, 1, 3, 4};
    static const int32_t wide[10] = {1, 1, 1, 1, 1, 1, 1, 1, 2, 1};
    kith_box box = kith_box_open();
    box.dim = 2;
    for (int k = 0; k < 2; k++) {
        kith_groups found = find(ctx, xyz[0], 10, &box, k ? 1.5 : 1, 1, NULL);
        CHECK(memcmp(found.labels, k ? wide : near, sizeof near) == 0, "the plane, %d", k);
        kith_groups_free(&found);
    }
}

static void check_coincident(kith_ctx *ctx)
{
    enum { N = 40000 };
    double *xyz = check_malloc(sizeof(double) * 3 * N);
    for (int k = 0; k < 3 * N; k++) {
        xyz[k] = 0.5;
    }
    expect(ctx, "coincident", xyz, N, NULL, 0.001, 1, N);
    /* two places a little more than the length apart: neighbouring parts, all of them full */
    for (int64_t p = 0; p < N; p++) {
        xyz[3 * p] += p % 2 ? 0.001001 : 0;
    }
    expect(ctx, "two places", xyz, N, NULL, 0.001, 2, N / 2);
    expect(ctx, "two places, linked", xyz, N, NULL, 0.00101, 1, N);
    /* two tilted sheets, everywhere as far apart */
    rng r = {7};
    for (int64_t p = 0; p < N; p++) {
        const double u = rng_uniform(&r, 0, 0.0003);
        const double v = rng_uniform(&r, 0, 0.0003);
        const double away = p % 2 ? 0.000584 : 0;
        xyz[3 * p] = u - v + away;
        xyz[3 * p + 1] = v + away;
        xyz[3 * p + 2] = -u + away;
    }
    expect(ctx, "two sheets", xyz, N, NULL, 0.001, 2, N / 2);
    free(xyz);
}

/** Poisson points: particles without friends are exp(-4/3 pi b^3) of all; groups join at b = 0.868,
 *  where percolation sets in. */
static void check_poisson(kith_ctx *ctx, rng *r)
{
    enum { N = 100000 };
    static const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    const kith_box box = kith_box_periodic(1, 1, 1);
    const double spacing = 1 / cbrt(N);
    double *xyz = points_uniform(r, N, lo, hi);
    for (int fifths = 1; fifths <= 3; fifths++) {
        const double b = 0.2 * fifths;
        const double alone = N * exp(-4.0 / 3 * acos(-1) * b * b * b);
        kith_groups found = find(ctx, xyz, N, &box, b * spacing, 1, NULL);
        int64_t singles = 0;
        for (int64_t g = 0; g < found.n; g++) {
            singles += found.members[g] == 1;
        }
        CHECK(fabs((double)singles - alone) < 5 * sqrt((double)N), "b %g: %lld alone, expected %g",
              b, (long long)singles, alone);
        kith_groups_free(&found);
    }
    kith_groups below = find(ctx, xyz, N, &box, 0.80 * spacing, 1, NULL);
    kith_groups above = find(ctx, xyz, N, &box, 0.94 * spacing, 1, NULL);
    CHECK(below.members[0] < N / 20 && above.members[0] > N / 3,
          "percolation: %lld below, %lld above", (long long)below.members[0],
          (long long)above.members[0]);
    kith_groups_free(&below);
    kith_groups_free(&above);
    free(xyz);
}

static int32_t root_of(const int32_t *parent, int32_t p)
{
    while (parent[p] != p) {
        p = parent[p];
    }
    return p;
}

static int unite_pairs(void *user, const kith_pairs *block, int64_t first)
{
    int32_t *parent = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t a = root_of(parent, block->i[p]);
        const int32_t b = root_of(parent, block->j[p]);
        parent[a > b ? a : b] = parent[block->i[p]] = parent[block->j[p]] = a < b ? a : b;
    }
    return 0;
}

/** So many that cells, crowded and not, lie beside each other, and that their numbers need more
 *  than 16 bits: the trees that the list of pairs makes. A missing link is one group more. */
static void check_pairs(kith_ctx *ctx, rng *r)
{
    enum { N = 150000 };
    const kith_box box = kith_box_periodic(1, 1, 1);
    const double spacing = 1 / cbrt(N);
    int32_t *parent = check_malloc(sizeof(int32_t) * N);
    for (int round = 0; round < 3; round++) {
        double *xyz = points_clustered(r, N, 300 << 2 * round, 1, 0.02);
        for (int k = 0; k < 3 * N; k++) {
            xyz[k] -= floor(xyz[k]);
        }
        const double length = (0.2 + 0.1 * round) * spacing;
        const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
        for (int32_t p = 0; p < N; p++) {
            parent[p] = p;
        }
        CHECK(kith_pairs_each(ctx, &points, &box, length, NULL, unite_pairs, parent) == KITH_OK,
              "%s", kith_message(ctx));
        kith_groups found = find(ctx, xyz, N, &box, length, 1, NULL);
        int64_t trees = 0, apart = 0;
        for (int32_t p = 0; p < N; p++) {
            const int32_t root = root_of(parent, p);
            trees += root == p;
            apart += found.labels[p] != found.labels[root];
        }
        CHECK(found.n == trees && apart == 0,
              "round %d: %lld groups, %lld trees of pairs; %lld are not in their tree's group",
              round, (long long)found.n, (long long)trees, (long long)apart);
        kith_groups_free(&found);
        free(xyz);
    }
    free(parent);
}

/** Shuffled, shifted, with axes exchanged, on more threads: the same labels for the same ids. */
static void check_unchanged(kith_ctx *ctx, const char *backend, rng *r)
{
    enum { N = 30000 };
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_clustered(r, N, 300, 1, 0.01);
    double *other = check_malloc(sizeof(double) * 3 * N);
    int64_t *ids = check_malloc(sizeof(int64_t) * N);
    for (int64_t p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) { /* multiples of 2^-20: a shift by whole ones is exact */
            xyz[3 * p + k] = floor((xyz[3 * p + k] - floor(xyz[3 * p + k])) * 1048576) / 1048576;
        }
        ids[p] = p;
    }
    kith_groups want = find(ctx, xyz, N, &box, 0.004, 2, NULL);
    for (int64_t p = N - 1; p > 0; p--) {
        const int64_t q = rng_below(r, p + 1);
        const int64_t swap = ids[p];
        ids[p] = ids[q];
        ids[q] = swap;
    }
    for (int64_t p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            other[3 * p + k] = xyz[3 * ids[p] + (k + 1) % 3] + 0.375;
        }
    }
    kith_ctx *three = check_open(backend, 3);
    kith_groups found = find(three, other, N, &box, 0.004, 2, ids);
    CHECK(found.n == want.n && want.n > 100, "%lld groups, expected %lld", (long long)found.n,
          (long long)want.n);
    for (int64_t p = 0; p < N; p++) {
        CHECK(found.labels[p] == want.labels[ids[p]], "particle %lld: %d, expected %d",
              (long long)ids[p], found.labels[p], want.labels[ids[p]]);
    }
    kith_groups_free(&found);
    kith_groups_free(&want);
    kith_close(three);
    free(ids);
    free(other);
    free(xyz);
}

static void check_arguments(kith_ctx *ctx)
{
    const double xyz[2][3] = {{0, 0, 0}, {NAN, 0, 0}};
    kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    kith_groups groups = {0};
    CHECK(kith_fof_find(ctx, &points, NULL, 1, NULL, &groups) == KITH_NOT_FINITE, "NaN");
    const uint8_t ignored[2] = {KITH_LINK, KITH_IGNORE};
    options.roles = ignored;
    CHECK(kith_fof_find(ctx, &points, NULL, 1, &options, &groups) == KITH_NOT_FINITE, "NaN");
    points.n = 1;
    const uint8_t wrong[1] = {3};
    options.roles = wrong;
    CHECK(kith_fof_find(ctx, &points, NULL, 1, &options, &groups) == KITH_INVALID, "role");
    options.roles = NULL;
    options.min_members = 0;
    CHECK(kith_fof_find(ctx, &points, NULL, 1, &options, &groups) == KITH_INVALID, "members");
    options.min_members = 1;
    options.velocities = xyz;
    CHECK(kith_fof_find(ctx, &points, NULL, 1, &options, &groups) == KITH_INVALID, "velocity");
    options.velocities = NULL;
    CHECK(kith_fof_find(ctx, &points, NULL, -1, &options, &groups) == KITH_INVALID, "length");
    CHECK(kith_fof_find(ctx, &points, NULL, 1, &options, &groups) == KITH_OK && groups.n == 1 &&
              groups.labels[0] == 1,
          "one particle");
    points.n = 0;
    CHECK(kith_fof_find(ctx, &points, NULL, 1, &options, &groups) == KITH_OK && groups.n == 0,
          "no particle");
    kith_groups_free(&groups);
}

/** As many particles to be attached on one spot as particles that link, and of these as many links:
 *  10^10 pairs each, which no time must be spent on. */
static void check_shared_spot(kith_ctx *ctx)
{
    enum { N = 200000 };
    float *xyz = check_malloc(sizeof(float) * 3 * N);
    uint8_t *roles = check_malloc(N);
    for (int64_t p = 0; p < N; p++) {
        xyz[3 * p] = xyz[3 * p + 1] = xyz[3 * p + 2] = 0.25F;
        roles[p] = p % 2 ? KITH_ATTACH : KITH_LINK;
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_FLOAT);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.roles = roles;
    kith_groups groups = {0};
    for (int k = 0; k < 3; k++) {
        const int64_t links = (const int64_t[]){0, N / 2 - 1, N / 2}[k];
        options.min_links = links;
        const bool linked = links < N / 2; /* each has N / 2 - 1 others that link beside it */
        const time_t start = time(NULL);
        CHECK(kith_fof_find(ctx, &points, &box, 0.01, &options, &groups) == KITH_OK &&
                  groups.n == linked && groups.labels[0] == linked && groups.labels[1] == linked,
              "%lld links, on one spot: %lld groups", (long long)links, (long long)groups.n);
        CHECK(difftime(time(NULL), start) < 10, "%lld links: slow", (long long)links);
    }
    kith_groups_free(&groups);
    free(roles);
    free(xyz);
}

/** Links of two particles half a box apart: both images of the other one, at 0.5, count; those of
 *  the particle itself, at 1, do not. */
static void check_links_of_images(kith_ctx *ctx)
{
    static const double xyz[] = {0, 0, 0, 0.5, 0, 0};
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 10, 10);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = 1;
    kith_groups groups = {0};
    for (int links = 1; links < 5; links++) {
        options.min_links = links;
        CHECK(kith_fof_find(ctx, &points, &box, 1.1, &options, &groups) == KITH_OK &&
                  groups.n == (links <= 2),
              "%d links: %lld groups", links, (long long)groups.n);
    }
    kith_groups_free(&groups);
}

/** Two halos that a thread joins: one group, which velocities or a density floor take apart. */
/* Cells and their parts have numbers of 70 bits; those of two, a 32nd of the box apart, would be
 * the same without the highest. */
static void check_wide(kith_ctx *ctx)
{
    const double part = 1 / (sqrt(3) * (1 + 1.0 / 256));
    const double side = 1048575.5 * 8 * part;
    const kith_box box = kith_box_periodic(side, side, side);
    const double xyz[] = {1, 1, 1, 1, 1, 1 + side / 32};
    expect(ctx, "in a wide box", xyz, 2, &box, 1, 2, 1);
    const kith_box unit = kith_box_periodic(1, 1, 1);
    const double close[] = {0, 0, 0, 5e-14, 0, 0, 9e-14, 0, 0, 9.5e-14, 0, 0, 0.5, 0.5, 0.5};
    expect(ctx, "in a box of very many lengths", close, 5, &unit, 1e-14, 4, 2);
}

/* So many particles, far apart, that the numbers of cells and their parts still have 66 bits when
 * empty cells are left out: 2^19 cells remain along each axis, two for each particle of a diagonal.
 * The last particle is in the row of the first one, 2^17 cells away: without the two highest bits
 * both would be in the same part of the same cell. */
static void check_scattered(kith_ctx *ctx)
{
    enum { DIAGONAL = 1 << 18, APART = 64, ALIKE = 1 << 16 };
    const double part = 1 / (sqrt(3) * (1 + 1.0 / 256)), cells = (double)DIAGONAL * APART;
    const double side = (cells - 0.5) * 8 * part;
    const kith_box box = kith_box_periodic(side, side, side);
    double *xyz = check_malloc(sizeof(double) * 3 * (DIAGONAL + 1));
    for (int64_t p = 0; p < DIAGONAL; p++) {
        const double at = ((double)(p * APART) + 0.55) / cells * side;
        xyz[3 * p] = xyz[3 * p + 1] = xyz[3 * p + 2] = at;
    }
    double *last = xyz + (ptrdiff_t)3 * DIAGONAL;
    last[0] = last[1] = xyz[0];
    last[2] = xyz[3 * ALIKE];
    expect(ctx, "scattered in a wide box", xyz, DIAGONAL + 1, &box, 1, DIAGONAL + 1, 1);
    free(xyz);
}

/* Beyond 2^40 cells on either side the outermost part of a cell holds particles that are far from
 * each other: next to it, coordinates in cells are rounded by more than the length. */
static void check_outermost(kith_ctx *ctx)
{
    enum { NEAR = 60, FAR = 40, N = NEAR + FAR };
    for (int round = 0; round < 100; round++) {
        const int axis = round % 3, power = 42 + round % 20, sign = round % 2 ? 1 : -1;
        const double begin = ldexp(1 + round / 100.0, power);
        const double step = fmax(4, nextafter(begin, INFINITY) - begin);
        double xyz[N][3] = {{0}};
        for (int p = 0; p < N; p++) {
            xyz[p][axis] = p < NEAR ? 4 * p : sign * (begin + (p - NEAR) * step);
        }
        expect(ctx, "outermost", xyz[0], N, NULL, 1, N, 1);
    }
}

/* Wrapping 829 boxes back leaves one a little beside the oblique box, in floats. */
static void check_beside(kith_ctx *ctx)
{
    const kith_box box = kith_box_triclinic(105.428322, 2, 2, 0.00839721396, 0, 0);
    const float xyz[] = {87400.0781F, 0, 0, 87400.0625F, 0.0146036157F, 0.0146036157F};
    const kith_points points = kith_points_packed(xyz, 2, KITH_FLOAT);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = 1;
    kith_groups groups = {0};
    CHECK(kith_fof_find(ctx, &points, &box, 0.0258144719, &options, &groups) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(groups.n == 2, "beside an oblique box: %lld groups, expected 2", (long long)groups.n);
    kith_groups_free(&groups);
}

static void check_bridge(kith_ctx *ctx)
{
    enum { N = 20000, HALO = 9 * N / 20 };
    double *xyz = check_malloc(sizeof(double) * 3 * N);
    double *velocities = check_malloc(sizeof(double) * 3 * N);
    sets_bridge(xyz, velocities, N, 1);
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    for (int remedy = 0; remedy < 3; remedy++) {
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 100;
        options.velocities = remedy == 1 ? velocities : NULL;
        options.velocity_length = 1.4;
        options.min_links = remedy == 2 ? 8 : 0;
        kith_groups groups = {0};
        const bool ok = kith_fof_find(ctx, &points, &box, 0.2 / cbrt(N), &options, &groups) ==
                        KITH_OK;
        CHECK(ok && groups.n == (remedy ? 2 : 1), "bridge, remedy %d: %lld groups", remedy,
              (long long)groups.n);
        int64_t in_group[2][3] = {{0}}; /* by halo */
        for (int64_t p = 0; ok && p < (int64_t)2 * HALO; p++) {
            in_group[p / HALO][groups.labels[p] < 3 ? groups.labels[p] : 0]++;
        }
        const int first = in_group[0][1] > in_group[0][2] ? 1 : 2;
        const int second = remedy ? 3 - first : first;
        CHECK(in_group[0][first] > HALO / 3 && in_group[1][second] > HALO / 3,
              "bridge, remedy %d: the halos are not in groups %d and %d", remedy, first, second);
        CHECK(!remedy || in_group[0][second] + in_group[1][first] == 0,
              "bridge, remedy %d: some are in the other's group", remedy);
        kith_groups_free(&groups);
    }
    free(velocities);
    free(xyz);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng r = {42};
    check_lattices(ctx);
    check_chain(ctx);
    check_plane(ctx);
    check_coincident(ctx);
    check_shared_spot(ctx);
    check_links_of_images(ctx);
    check_wide(ctx);
    check_scattered(ctx);
    check_outermost(ctx);
    check_beside(ctx);
    check_bridge(ctx);
    check_poisson(ctx, &r);
    check_pairs(ctx, &r);
    check_unchanged(ctx, backend, &r);
    check_arguments(ctx);
    kith_close(ctx);
    return check_done();
}
