/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One set against another: sizes apart, overlapping places, empty sets, a set against itself.
 */
#include <stdlib.h>

#include "pairs_case.h"

static void check_two(kith_ctx *ctx, rng *r, const char *name, const kith_box *box, int64_t n,
                      int64_t m, double cutoff)
{
    const kith_box unit = kith_box_periodic(1.0, 1.0, 1.0);
    double *a = points_in_box(r, n, box ? box : &unit);
    double *b = points_in_box(r, m, box ? box : &unit);
    if (box) {
        points_drift(r, a, n, box, 2);
        points_drift(r, b, m, box, 3);
    }
    for (int64_t e = 0; e < 3 * (n < m ? n : m); e += 6) /* every other point is in both sets */
        for (int k = 0; k < 3; k++)
            b[e + k] = a[e + k];
    case_check(
        ctx,
        &(pair_case){
            .name = name, .xyz = a, .n = n, .against = b, .m = m, .box = box, .cutoff = cutoff});
    free(b);
    free(a);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {5};
    kith_box brick = kith_box_periodic(1.0, 1.25, 0.75);
    kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    kith_box plane = kith_box_triclinic(1.0, 0.9, 0.0, 0.4, 0.0, 0.0);
    plane.dim = 2;
    const int64_t sizes[][2] = {{0, 0},   {0, 5},   {5, 0},    {1, 1},  {1, 200},
                                {200, 1}, {60, 61}, {300, 17}, {9, 400}};
    const double cutoffs[] = {0.15, 0.6};
    for (int s = 0; s < 9; s++)
        for (int c = 0; c < 2; c++) {
            check_two(ctx, &r, "two sets, open", NULL, sizes[s][0], sizes[s][1], cutoffs[c]);
            check_two(ctx, &r, "two sets, brick", &brick, sizes[s][0], sizes[s][1], cutoffs[c]);
            check_two(ctx, &r, "two sets, cell", &cell, sizes[s][0], sizes[s][1], cutoffs[c]);
            check_two(ctx, &r, "two sets, plane", &plane, sizes[s][0], sizes[s][1], cutoffs[c]);
        }
    cell.periodic[2] = brick.periodic[0] = 0;
    check_two(ctx, &r, "two sets, partly open", &brick, 300, 500, 0.1);
    check_two(ctx, &r, "two sets, partly open", &cell, 300, 500, 0.1);
    check_two(ctx, &r, "two tiny sets", &brick, 3, 2, 2.5);

    double *far = points_clustered(&r, 100, 1, 1.0, 1.0);
    double *near = points_clustered(&r, 100, 1, 1.0, 1.0);
    for (int p = 0; p < 50; p++)
        far[3 * p] += 1e9; /* half of B lies where A has nothing */
    case_check(
        ctx, &(pair_case){
                 .name = "apart", .xyz = near, .n = 100, .against = far, .m = 100, .cutoff = 0.5});
    case_check(
        ctx,
        &(pair_case){
            .name = "itself", .xyz = near, .n = 100, .against = near, .m = 100, .cutoff = 0.5});
    free(near);
    free(far);
    kith_close(ctx);
    return check_done();
}
