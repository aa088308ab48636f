/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A periodic box has no surface: in a simple cubic lattice every point then has six neighbours.
 * The cutoff is inclusive, so points at exactly that distance are pairs.
 */
#include <kith.h>
#include <stdio.h>

enum { SIDE = 10, N = SIDE * SIDE * SIDE };

static int64_t count_pairs(kith_ctx *ctx, const kith_points *points, const kith_box *box)
{
    int64_t n = -1;
    if (kith_pairs_count(ctx, points, box, 1.0, NULL, &n, NULL) != KITH_OK) {
        fprintf(stderr, "periodic_box: %s\n", kith_message(ctx));
    }
    return n;
}

int main(void)
{
    static float x[N], y[N], z[N];
    for (int p = 0; p < N; p++) {
        x[p] = (float)(p % SIDE);
        y[p] = (float)(p / SIDE % SIDE);
        z[p] = (float)(p / SIDE / SIDE % SIDE);
    }
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "periodic_box: %s\n", kith_message(NULL));
        return 1;
    }
    const kith_points points = kith_points_split(x, y, z, N, KITH_FLOAT);
    const kith_box open = kith_box_open();
    const kith_box periodic = kith_box_periodic(SIDE, SIDE, SIDE);
    kith_box slab = periodic; /* periodic along x and y, open along z */
    slab.periodic[2] = 0;

    const int64_t n_open = count_pairs(ctx, &points, &open);
    const int64_t n_slab = count_pairs(ctx, &points, &slab);
    const int64_t n_periodic = count_pairs(ctx, &points, &periodic);
    printf("%d points: %lld pairs in open space, %lld in a slab, %lld in a periodic box\n", N,
           (long long)n_open, (long long)n_slab, (long long)n_periodic);

    kith_close(ctx);
    const int64_t axis = N, open_axis = N - SIDE * SIDE; /* pairs along one axis */
    const int right = n_open == 3 * open_axis && n_slab == 2 * axis + open_axis &&
                      n_periodic == 3 * axis;
    return right ? 0 : 1;
}
