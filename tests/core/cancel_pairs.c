/* SPDX-License-Identifier: BSD-3-Clause */
#include "cancel_case.h"

#include <stdlib.h>

#include "check.h"

/** What to do with pairs. */
typedef enum { COUNT, NEIGHBOURS, FIND, EACH } pairs_verb;

static int ignore_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)user;
    (void)first;
    return block->n < 0;
}

static kith_status run_pairs(kith_ctx *ctx, pairs_verb verb, const kith_points *points,
                             double cutoff, const kith_pairs_options *options)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    int64_t n = 0;
    if (verb == COUNT || verb == NEIGHBOURS) {
        int64_t *all = check_malloc((size_t)points->n * sizeof *all);
        const kith_status status = kith_pairs_count(ctx, points, &box, cutoff, options, &n,
                                                    verb == COUNT ? NULL : all);
        free(all);
        return status;
    }
    if (verb == EACH) {
        return kith_pairs_each(ctx, points, &box, cutoff, options, ignore_block, NULL);
    }
    kith_pairs pairs = {0};
    const kith_status status = kith_pairs_find(ctx, points, &box, cutoff, options, &pairs);
    kith_pairs_free(&pairs);
    return status;
}

static kith_pairs_options plain_pairs(void)
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    return options;
}

kith_status cancel_count_spread(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    return run_pairs(ctx, COUNT, &points, 0.05, NULL);
}

kith_status cancel_count_single(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->single, s->n, KITH_FLOAT);
    return run_pairs(ctx, NEIGHBOURS, &points, 0.05, NULL);
}

kith_status cancel_count_clump(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clump, s->dense, KITH_DOUBLE);
    return run_pairs(ctx, NEIGHBOURS, &points, 0.1, NULL);
}

kith_status cancel_count_images(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->few, KITH_DOUBLE);
    return run_pairs(ctx, COUNT, &points, 30, NULL);
}

kith_status cancel_count_most_images(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, 1, KITH_DOUBLE);
    return run_pairs(ctx, NEIGHBOURS, &points, 400, NULL);
}

kith_status cancel_count_images_between(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->dense, KITH_DOUBLE);
    const kith_points against = kith_points_packed(s->clustered, s->few, KITH_DOUBLE);
    kith_pairs_options options = plain_pairs();
    options.against = &against;
    return run_pairs(ctx, COUNT, &points, 5, &options);
}

kith_status cancel_find_sorted(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n < 300000 ? s->n : 300000,
                                                  KITH_DOUBLE);
    kith_pairs_options options = plain_pairs();
    options.sorted = 1;
    options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    return run_pairs(ctx, FIND, &points, 0.03, &options);
}

kith_status cancel_find_rows(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clustered, s->n < 100000 ? s->n : 100000,
                                                  KITH_DOUBLE);
    kith_pairs_options options = plain_pairs();
    options.layout = KITH_CSR;
    options.full = 1;
    return run_pairs(ctx, FIND, &points, 0.005, &options);
}

kith_status cancel_find_images(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->single, 3, KITH_FLOAT);
    return run_pairs(ctx, FIND, &points, 80, NULL);
}

kith_status cancel_each_clump(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clump, s->dense, KITH_DOUBLE);
    kith_pairs_options options = plain_pairs();
    options.extras = KITH_DISTANCES;
    return run_pairs(ctx, EACH, &points, 0.1, &options);
}

kith_status cancel_each_sorted(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    kith_pairs_options options = plain_pairs();
    options.sorted = 1;
    options.block_pairs = 1 << 20;
    return run_pairs(ctx, EACH, &points, 0.03, &options);
}

kith_status cancel_each_image(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->few, KITH_DOUBLE);
    kith_pairs_options options = plain_pairs();
    options.extras = KITH_SHIFTS;
    return run_pairs(ctx, EACH, &points, 40, &options);
}
