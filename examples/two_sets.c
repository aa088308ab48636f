/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points of one set against points of another: how many lattice points lie near each hole of the
 * lattice? Holes are not compared with holes, and counting stores no list.
 */
#include <kith.h>
#include <stdio.h>

enum { SIDE = 8, N = SIDE * SIDE * SIDE };

int main(void)
{
    static double lattice[N][3], holes[N][3];
    for (int p = 0; p < N; p++) {
        const int cell[3] = {p % SIDE, p / SIDE % SIDE, p / SIDE / SIDE % SIDE};
        for (int k = 0; k < 3; k++) {
            lattice[p][k] = cell[k];
            holes[p][k] = cell[k] + 0.5;
        }
    }
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "two_sets: %s\n", kith_message(NULL));
        return 1;
    }
    const kith_points from = kith_points_packed(holes, N, KITH_DOUBLE);
    const kith_points to = kith_points_packed(lattice, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(SIDE, SIDE, SIDE);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.against = &to;

    int64_t n = 0;
    static int64_t near[N];
    const double cutoff = 0.9; /* beyond half the diagonal of a cell, 0.866 */
    const kith_status status = kith_pairs_count(ctx, &from, &box, cutoff, &options, &n, near);
    if (status != KITH_OK) {
        fprintf(stderr, "two_sets: %s\n", kith_message(ctx));
    }

    int wrong = 0; /* every hole is a cell's centre: its eight corners are near */
    for (int p = 0; p < N; p++) {
        wrong += near[p] != 8;
    }
    printf("%d holes, %lld lattice points near them\n", N, (long long)n);

    kith_close(ctx);
    return status == KITH_OK && n == INT64_C(8) * N && wrong == 0 ? 0 : 1;
}
