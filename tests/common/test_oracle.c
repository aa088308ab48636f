/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle itself, against closed forms: the shells of cubic lattices, lines, and images of a
 * single point. Spacings are powers of two, so that every shell is hit exactly.
 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "oracle.h"
#include "points.h"

/* Squared radius of a shell in cell sides, and the neighbours on it. */
typedef struct shell {
    double r2;
    int count;
} shell;

static const shell shells_sc[] = {{1, 6},  {2, 12}, {3, 8},  {4, 6},  {5, 24},
                                  {6, 24}, {8, 12}, {9, 30}, {10, 24}};
static const shell shells_bcc[] = {{.75, 8}, {1, 6}, {2, 12},    {2.75, 24},
                                   {3, 8},   {4, 6}, {4.75, 24}, {5, 24}};
static const shell shells_fcc[] = {{.5, 12}, {1, 6},    {1.5, 24}, {2, 12},   {2.5, 24},
                                   {3, 8},   {3.5, 48}, {4, 6},    {4.5, 36}, {5, 24}};

/* Entries of the full list at each shell, within a cutoff just beyond the last. */
static void count_shell(void *user, const oracle_pair *pair)
{
    int64_t *counts = user; /* by r2 in quarters of a cell side squared, cell side 1/8 */
    counts[(int64_t)(pair->r2 * 64.0 * 4.0)]++;
}

static void check_lattice(lattice kind, const shell *shells, int n_shells, int cells,
                          kith_precision precision)
{
    const double a = 0.125, side = cells * a;
    const kith_box box = kith_box_periodic(side, side, side);
    double *xyz = points_lattice(kind, cells, a);
    const int64_t n = (int64_t)kind * cells * cells * cells;
    stored s = stored_make(xyz, n, precision, LAYOUT_PACKED);
    int64_t counts[64] = {0};
    const double last = shells[n_shells - 1].r2;
    oracle_each(&s.points, NULL, &box, a * sqrt(last) * 1.0001, count_shell, counts);
    int64_t total = 0, expected = 0;
    for (int q = 0; q < 64; q++)
        total += counts[q];
    for (int k = 0; k < n_shells; k++) {
        expected += n * shells[k].count;
        CHECK(counts[(int)(shells[k].r2 * 4.0)] == n * shells[k].count,
              "lattice %d, %d cells, r2 %g: %lld entries, expected %lld", kind, cells, shells[k].r2,
              (long long)counts[(int)(shells[k].r2 * 4.0)], (long long)(n * shells[k].count));
    }
    CHECK(total == expected, "lattice %d: %lld entries, expected %lld", kind, (long long)total,
          (long long)expected);
    stored_free(&s);
    free(xyz);
}

/* One point in a cubic box: its images are a simple cubic lattice. */
static void check_images(void)
{
    const double xyz[3] = {0.0, 0.0, 0.0};
    const kith_box box = kith_box_periodic(1.0, 1.0, 1.0);
    stored s = stored_make(xyz, 1, KITH_DOUBLE, LAYOUT_PACKED);
    oracle_list full = oracle_full(&s.points, NULL, &box, 3.0);
    oracle_list half = oracle_half(&full);
    CHECK(full.n == 6 + 12 + 8 + 6 + 24 + 24 + 12 + 30, "%lld images", (long long)full.n);
    CHECK(2 * half.n == full.n, "%lld images in the half list", (long long)half.n);
    oracle_free(&half);
    oracle_free(&full);
    stored_free(&s);
}

/* Shifts and vectors of points given far outside a two-dimensional box. */
static void check_wrapping(void)
{
    const double xyz[6] = {-0.25, 0.5, 7.0, 41.25, -9.5, -3.0};
    kith_box box = kith_box_periodic(1.0, 2.0, 0.0);
    box.dim = 2;
    stored s = stored_make(xyz, 2, KITH_FLOAT, LAYOUT_STRIDE7);
    oracle_list full = oracle_full(&s.points, NULL, &box, 0.5);
    CHECK(full.n == 4, "%lld entries", (long long)full.n); /* half a box apart: two images */
    for (int64_t t = 0; t < full.n; t++) {
        const oracle_pair *p = &full.pairs[t];
        const double dx = xyz[3 * p->j] + p->shift[0] * 1.0 - xyz[3 * p->i];
        const double dy = xyz[3 * p->j + 1] + p->shift[1] * 2.0 - xyz[3 * p->i + 1];
        CHECK(p->vector[0] == dx && p->vector[1] == dy && p->vector[2] == 0.0, "vector %g %g",
              p->vector[0], p->vector[1]);
        CHECK(p->distance == 0.5, "distance %g", p->distance);
    }
    oracle_free(&full);
    stored_free(&s);
}

int main(void)
{
    const kith_precision precisions[2] = {KITH_FLOAT, KITH_DOUBLE};
    for (int p = 0; p < 2; p++)
        for (int cells = 1; cells <= 3; cells++) {
            check_lattice(LATTICE_SC, shells_sc, 9, cells, precisions[p]);
            check_lattice(LATTICE_BCC, shells_bcc, 8, cells, precisions[p]);
            check_lattice(LATTICE_FCC, shells_fcc, 10, cells, precisions[p]);
        }
    check_images();
    check_wrapping();
    return check_done();
}
