/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many small systems in one call: a batch. A thousand boxes with a pair of particles each, one on
 * either side of a face; every box has another length.
 */
#include <kith.h>
#include <stdio.h>

enum { SYSTEMS = 1000 };

int main(void)
{
    static double x[2 * SYSTEMS][3];
    static int64_t offsets[SYSTEMS + 1];
    static kith_box boxes[SYSTEMS];
    for (int s = 0; s < SYSTEMS; s++) {
        const double length = 3 + 0.001 * s;
        boxes[s] = kith_box_periodic(length, length, length);
        x[2 * s][0] = 0.25;
        x[2 * s + 1][0] = length - 0.25;
        offsets[s + 1] = 2 * (s + 1); /* system s has particles offsets[s] to offsets[s + 1] - 1 */
    }
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "many_molecules: %s\n", kith_message(NULL));
        return 1;
    }
    kith_batch batch;
    kith_batch_init(&batch);
    batch.systems = SYSTEMS;
    batch.offsets = offsets;
    batch.boxes = boxes;

    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.sorted = 1;
    options.extras = KITH_DISTANCES | KITH_SHIFTS;
    options.batch = &batch;

    const kith_points points = kith_points_packed(x, 2 * SYSTEMS, KITH_DOUBLE);
    kith_pairs pairs = {0};
    const kith_status status = kith_pairs_find(ctx, &points, NULL, 0.6, &options, &pairs);
    if (status != KITH_OK) {
        fprintf(stderr, "many_molecules: %s\n", kith_message(ctx));
    }
    int wrong = 0; /* indices count in the whole batch: pair s is of particles 2s and 2s + 1 */
    for (int64_t p = 0; p < pairs.n; p++) {
        wrong += pairs.i[p] != 2 * p || pairs.j[p] != 2 * p + 1 || pairs.shifts[3 * p] != -1;
    }
    printf("%lld pairs in %d systems\n", (long long)pairs.n, SYSTEMS);
    const int good = status == KITH_OK && pairs.n == SYSTEMS && wrong == 0;

    kith_pairs_free(&pairs);
    kith_close(ctx);
    return good ? 0 : 1;
}
