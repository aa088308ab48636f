/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mean distance of pairs, without ever holding their list: pairs arrive in blocks, and memory
 * stays bounded whatever their number. For uniform points the mean is 3/4 of the cutoff.
 */
#include <kith.h>
#include <math.h>
#include <stdio.h>

enum { N = 20000 };

struct sum {
    double distance;
    int64_t pairs;
    int blocks;
};

static int add_block(void *user, const kith_pairs *block, int64_t first)
{
    struct sum *sum = user;
    const double *distances = block->distances;
    if (first != sum->pairs) {
        return 1;
    }
    for (int64_t p = 0; p < block->n; p++) {
        sum->distance += distances[p];
    }
    sum->pairs += block->n;
    sum->blocks++;
    return 0;
}

/** The next number of a small generator (xorshift64*), in [0, 1). */
static double uniform(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * 0x2545F4914F6CDD1Du >> 11) * 0x1p-53;
}

int main(void)
{
    static double xyz[N][3];
    uint64_t state = 1;
    for (int p = 0; p < N; p++) {
        for (int k = 0; k < 3; k++) {
            xyz[p][k] = uniform(&state);
        }
    }

    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        fprintf(stderr, "stream_blocks: %s\n", kith_message(NULL));
        return 1;
    }
    const double cutoff = 0.1;
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.extras = KITH_DISTANCES;
    options.block_pairs = 1 << 16;

    struct sum sum = {0};
    if (kith_pairs_each(ctx, &points, &box, cutoff, &options, add_block, &sum) != KITH_OK) {
        fprintf(stderr, "stream_blocks: %s\n", kith_message(ctx));
    }
    const double mean = sum.distance / (double)sum.pairs;
    printf("%lld pairs in %d blocks, mean distance %.5f\n", (long long)sum.pairs, sum.blocks, mean);

    kith_close(ctx);
    return fabs(mean / cutoff - 0.75) < 0.001 && sum.blocks > 1 ? 0 : 1;
}
