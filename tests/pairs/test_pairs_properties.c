/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What must hold between lists, at sizes beyond brute force. Coordinates are multiples of 2^-8 in a
 * box of side 8, so that moving, swapping and scaling them is exact and no rounding intervenes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 4000, SIDE = 8 };

static const double cutoff = 0.75;

static kith_box cube(void)
{
    return kith_box_periodic(SIDE, SIDE, SIDE);
}

static double *dyadic(rng *r)
{
    double *xyz = check_malloc(N * 3 * sizeof *xyz);
    for (int e = 0; e < 3 * N; e++)
        xyz[e] = 0x1p-8 * (double)rng_below(r, SIDE << 8);
    return xyz;
}

/* The sorted list with all extras. */
static kith_pairs sorted_list(kith_ctx *ctx, const double *xyz, int64_t n, const kith_box *box,
                              double radius, int full)
{
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.full = full;
    o.sorted = 1;
    o.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    kith_pairs list = {0};
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    const kith_status status = kith_pairs_find(ctx, &points, box, radius, &o, &list);
    CHECK(status == KITH_OK, "%s: %s", kith_status_name(status), kith_message(ctx));
    return list;
}

/* Lists equal but for shifts, vectors being times the other's. */
static void check_same(const char *what, const kith_pairs *a, const kith_pairs *b, double times)
{
    if (!CHECK(a->n == b->n, "%s: %lld pairs, then %lld", what, (long long)a->n, (long long)b->n))
        return;
    const double *u = a->vectors, *v = b->vectors;
    for (int64_t p = 0; p < a->n; p++) {
        int same = a->i[p] == b->i[p] && a->j[p] == b->j[p];
        for (int k = 0; k < 3; k++)
            same = same && u[3 * p + k] * times == v[3 * p + k];
        if (!CHECK(same, "%s: pair %lld: (%d, %d), then (%d, %d)", what, (long long)p, a->i[p],
                   a->j[p], b->i[p], b->j[p]))
            return;
    }
}

/* Moving all points together changes nothing but the shifts. In a periodic box the image that comes
 * first in an (i, j) may change, so there the cutoff is below half the side. */
static void check_translation(kith_ctx *ctx, const double *xyz)
{
    const kith_box box = cube();
    const double by[3] = {3.5, -17.25, 0.5};
    double *moved = points_copy(xyz, N);
    for (int e = 0; e < 3 * N; e++)
        moved[e] += by[e % 3];
    for (int periodic = 0; periodic < 2; periodic++) {
        kith_pairs before = sorted_list(ctx, xyz, N, periodic ? &box : NULL, cutoff, 0);
        kith_pairs after = sorted_list(ctx, moved, N, periodic ? &box : NULL, cutoff, 0);
        check_same(periodic ? "moved in the box" : "moved", &before, &after, 1.0);
        kith_pairs_free(&after);
        kith_pairs_free(&before);
    }
    free(moved);
}

/* Moving each point by its own lattice vector: the shifts make up for it. */
static void check_lattice_vectors(kith_ctx *ctx, rng *r, const double *xyz)
{
    const kith_box box = cube();
    double *moved = points_copy(xyz, N);
    points_drift(r, moved, N, &box, 1000);
    kith_pairs before = sorted_list(ctx, xyz, N, &box, cutoff, 0);
    kith_pairs after = sorted_list(ctx, moved, N, &box, cutoff, 0);
    check_same("moved by lattice vectors", &before, &after, 1.0);
    const double *d = after.vectors;
    for (int64_t e = 0; e < 3 * after.n; e++) {
        const int64_t p = e / 3, k = e % 3;
        const double vector = moved[3 * (int64_t)after.j[p] + k] + after.shifts[e] * (double)SIDE -
                              moved[3 * (int64_t)after.i[p] + k];
        if (!CHECK(vector == d[e], "shift of pair %lld: %g, not %g", (long long)p, vector, d[e]))
            break;
    }
    kith_pairs_free(&after);
    kith_pairs_free(&before);
    free(moved);
}

static int by_numbers(const void *left, const void *right)
{
    return memcmp(left, right, 2 * sizeof(int64_t));
}

/* Names exchanged: the same pairs of names. */
static void check_permutation(kith_ctx *ctx, rng *r, const double *xyz)
{
    const kith_box box = cube();
    int32_t *name = check_malloc(N * sizeof *name);
    double *shuffled = check_malloc(N * 3 * sizeof *shuffled);
    for (int32_t p = 0; p < N; p++) {
        const int64_t at = rng_below(r, p + 1);
        name[p] = name[at];
        name[at] = p;
    }
    for (int p = 0; p < N; p++)
        memcpy(&shuffled[3 * p], &xyz[3 * name[p]], 3 * sizeof *xyz);
    kith_pairs before = sorted_list(ctx, xyz, N, &box, cutoff, 1);
    kith_pairs after = sorted_list(ctx, shuffled, N, &box, cutoff, 1);
    if (CHECK(before.n == after.n, "permuted: %lld pairs, then %lld", (long long)before.n,
              (long long)after.n)) {
        int64_t(*a)[2] = check_malloc((size_t)before.n * sizeof *a);
        int64_t(*b)[2] = check_malloc((size_t)before.n * sizeof *b);
        for (int64_t p = 0; p < before.n; p++) {
            a[p][0] = before.i[p];
            a[p][1] = before.j[p];
            b[p][0] = name[after.i[p]];
            b[p][1] = name[after.j[p]];
        }
        qsort(a, (size_t)before.n, sizeof *a, by_numbers);
        qsort(b, (size_t)before.n, sizeof *b, by_numbers);
        CHECK(memcmp(a, b, (size_t)before.n * sizeof *a) == 0, "permuted: other pairs");
        free(b);
        free(a);
    }
    kith_pairs_free(&after);
    kith_pairs_free(&before);
    free(shuffled);
    free(name);
}

/* x, y, z renamed y, z, x. */
static void check_axes(kith_ctx *ctx, const double *xyz)
{
    kith_box box = cube(), turned = cube();
    box.periodic[0] = turned.periodic[1] = 0;
    double *swapped = check_malloc(N * 3 * sizeof *swapped);
    for (int p = 0; p < N; p++)
        for (int k = 0; k < 3; k++)
            swapped[3 * p + (k + 1) % 3] = xyz[3 * p + k];
    kith_pairs before = sorted_list(ctx, xyz, N, &box, cutoff, 0);
    kith_pairs after = sorted_list(ctx, swapped, N, &turned, cutoff, 0);
    if (CHECK(before.n == after.n, "axes swapped: %lld pairs, then %lld", (long long)before.n,
              (long long)after.n)) {
        const size_t bytes = (size_t)before.n * sizeof *before.i;
        CHECK(memcmp(before.i, after.i, bytes) == 0, "axes swapped: i differs");
        CHECK(memcmp(before.j, after.j, bytes) == 0, "axes swapped: j differs");
        CHECK(memcmp(before.distances, after.distances, (size_t)before.n * sizeof(double)) == 0,
              "axes swapped: distances differ");
    }
    kith_pairs_free(&after);
    kith_pairs_free(&before);
    free(swapped);
}

/* Two boxes along each axis hold eight times the pairs. */
static void check_supercell(kith_ctx *ctx, const double *xyz)
{
    const kith_box box = cube(), large = kith_box_periodic(2 * SIDE, 2 * SIDE, 2 * SIDE);
    double *eight = check_malloc(8 * N * 3 * sizeof *eight);
    for (int e = 0; e < 8 * N * 3; e++) {
        const int copy = e / (3 * N), k = e % 3;
        eight[e] = xyz[e % (3 * N)] + (copy >> k & 1) * SIDE;
    }
    kith_pairs one = sorted_list(ctx, xyz, N, &box, cutoff, 0);
    kith_pairs all = sorted_list(ctx, eight, 8 * N, &large, cutoff, 0);
    CHECK(all.n == 8 * one.n, "supercell: %lld pairs, 8 x %lld", (long long)all.n,
          (long long)one.n);
    kith_pairs_free(&all);
    kith_pairs_free(&one);
    free(eight);
}

static void check_scaling(kith_ctx *ctx, const double *xyz)
{
    const double scales[3] = {0x1p-100, 0x1p-1, 0x1p+100};
    const kith_box box = cube();
    kith_pairs before = sorted_list(ctx, xyz, N, &box, cutoff, 0);
    for (int s = 0; s < 3; s++) {
        double *scaled = points_copy(xyz, N);
        for (int e = 0; e < 3 * N; e++)
            scaled[e] *= scales[s];
        const double side = SIDE * scales[s];
        const kith_box large = kith_box_periodic(side, side, side);
        kith_pairs after = sorted_list(ctx, scaled, N, &large, cutoff * scales[s], 0);
        check_same("scaled", &before, &after, scales[s]);
        kith_pairs_free(&after);
        free(scaled);
    }
    kith_pairs_free(&before);
}

/* Half, full and A against A. Images of a particle itself come with a cutoff beyond the side. */
static void check_totals(kith_ctx *ctx, const double *xyz)
{
    const kith_box box = cube();
    const kith_points many = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_points few = kith_points_packed(xyz, 40, KITH_DOUBLE);
    for (int far = 0; far < 2; far++) {
        const kith_points *points = far ? &few : &many;
        kith_pairs_options o;
        kith_pairs_options_init(&o);
        int64_t half = -1, full = -1, against = -1;
        const double radius = far ? 1.5 * SIDE : cutoff;
        CHECK(kith_pairs_count(ctx, points, &box, radius, &o, &half, NULL) == KITH_OK, "half");
        o.full = 1;
        CHECK(kith_pairs_count(ctx, points, &box, radius, &o, &full, NULL) == KITH_OK, "full");
        o.against = points;
        CHECK(kith_pairs_count(ctx, points, &box, radius, &o, &against, NULL) == KITH_OK, "both");
        CHECK(full == 2 * half, "full %lld, half %lld", (long long)full, (long long)half);
        CHECK(against == full + points->n, "A against A %lld, full %lld", (long long)against,
              (long long)full);
    }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {7};
    double *xyz = dyadic(&r);
    check_translation(ctx, xyz);
    check_lattice_vectors(ctx, &r, xyz);
    check_permutation(ctx, &r, xyz);
    check_axes(ctx, xyz);
    check_supercell(ctx, xyz);
    check_scaling(ctx, xyz);
    check_totals(ctx, xyz);
    free(xyz);
    kith_close(ctx);
    return check_done();
}
