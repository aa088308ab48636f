/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smallest use: the pairs among the corners of a square that are its sides.
 */
#include <kith.h>
#include <stdio.h>

int main(void)
{
    const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    const double cutoff = 1.1; /* more than a side, less than a diagonal */

    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "first_pairs: %s\n", kith_message(NULL));
        return 1;
    }
    const kith_points points = kith_points_packed(corners, 4, KITH_DOUBLE);
    kith_pairs pairs = {0};
    if (kith_pairs_find(ctx, &points, NULL, cutoff, NULL, &pairs) != KITH_OK) {
        fprintf(stderr, "first_pairs: %s\n", kith_message(ctx));
    }

    const int64_t n = pairs.n;
    for (int64_t p = 0; p < n; p++) {
        printf("%d - %d\n", pairs.i[p], pairs.j[p]);
    }

    kith_pairs_free(&pairs);
    kith_close(ctx);
    return n == 4 ? 0 : 1;
}
