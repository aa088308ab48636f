/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One atom in the oblique primitive cell of a face-centred cubic crystal. Its neighbours are all
 * images of itself, far beyond half the cell: 12 at 1/sqrt(2) and 6 at 1. The shifts say which.
 */
#include <kith.h>
#include <stdio.h>

/** Return 1 when vector is the sum of the box's rows, each multiplied by its number in shift; else
 *  0. */
static int agrees(const kith_box *box, const int32_t shift[3], const double vector[3])
{
    for (int k = 0; k < 3; k++) {
        double d = 0;
        for (int row = 0; row < 3; row++) {
            d += shift[row] * box->row[row][k];
        }
        if (d != vector[k]) {
            return 0;
        }
    }
    return 1;
}

int main(void)
{
    const double atom[3] = {0, 0, 0};
    const kith_box cell = {
        .row = {{0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}, .periodic = {1, 1, 1}, .dim = 3};

    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "triclinic_images: %s\n", kith_message(NULL));
        return 1;
    }
    const kith_points points = kith_points_packed(atom, 1, KITH_DOUBLE);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = 1;
    options.sorted = 1;
    options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;

    kith_pairs pairs = {0};
    if (kith_pairs_find(ctx, &points, &cell, 1.0, &options, &pairs) != KITH_OK) {
        fprintf(stderr, "triclinic_images: %s\n", kith_message(ctx));
    }

    const double *distances = pairs.distances;
    const double *vectors = pairs.vectors;
    int first = 0, second = 0, wrong = 0;
    for (int64_t p = 0; p < pairs.n; p++) {
        const int32_t *shift = pairs.shifts + 3 * p;
        printf("image %2d %2d %2d at %.4f\n", shift[0], shift[1], shift[2], distances[p]);
        wrong += !agrees(&cell, shift, vectors + 3 * p);
        first += distances[p] < 0.8;
        second += distances[p] == 1.0;
    }
    kith_pairs_free(&pairs);
    kith_close(ctx);
    return first == 12 && second == 6 && wrong == 0 ? 0 : 1;
}
