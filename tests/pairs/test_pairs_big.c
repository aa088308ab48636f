/* SPDX-License-Identifier: BSD-3-Clause
 *
 * More than 2^31 pairs: counted, and streamed in blocks with the memory of one block. The long
 * form also streams 5 * 10^9 pairs.
 */
#include <stdlib.h>

#include "check.h"
#include "points.h"

static double *coincident(int64_t n)
{
    double *xyz = check_malloc((size_t)n * 3 * sizeof *xyz);
    for (int64_t e = 0; e < 3 * n; e++)
        xyz[e] = 0.25;
    return xyz;
}

/* What the blocks added up to; order is checked from the last pair of one to the next. */
typedef struct sums {
    int64_t n, indices;
    int64_t disorder; /* pairs with i >= j, or a sorted list's steps that do not ascend */
    int64_t last;
    int sorted;
} sums;

static int add_block(void *user, const kith_pairs *block, int64_t first)
{
    sums *s = user;
    if (!CHECK(first == s->n, "block at %lld after %lld pairs", (long long)first, (long long)s->n))
        return 1;
    int64_t indices = 0, disorder = 0;
    for (int64_t p = 0; p < block->n; p++) {
        indices += (int64_t)block->i[p] + block->j[p];
        disorder += block->i[p] >= block->j[p];
    }
    for (int64_t p = 0; p < block->n && s->sorted; p++) {
        const int64_t pair = (int64_t)block->i[p] << 32 | block->j[p];
        disorder += pair <= s->last;
        s->last = pair;
    }
    s->n += block->n;
    s->indices += indices;
    s->disorder += disorder;
    return 0;
}

/* Among n coincident points each index is in n - 1 pairs. */
static void check_stream(kith_ctx *ctx, int64_t n, int sorted)
{
    double *xyz = coincident(n);
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.sorted = sorted;
    sums s = {.sorted = sorted, .last = -1};
    const kith_status status = kith_pairs_each(ctx, &points, NULL, 0.5, &o, add_block, &s);
    const int64_t pairs = n * (n - 1) / 2;
    CHECK(status == KITH_OK, "%s", kith_message(ctx));
    CHECK(s.n == pairs, "%lld pairs of %lld", (long long)s.n, (long long)pairs);
    CHECK(s.indices == (n - 1) * pairs, "the indices add up to %lld", (long long)s.indices);
    CHECK(s.disorder == 0, "%lld pairs out of order", (long long)s.disorder);
    free(xyz);
}

static void check_count(kith_ctx *ctx, int64_t particles)
{
    double *xyz = coincident(particles);
    int64_t n = 0, *neighbours = check_malloc((size_t)particles * sizeof *neighbours);
    const kith_points points = kith_points_packed(xyz, particles, KITH_DOUBLE);
    const kith_status status = kith_pairs_count(ctx, &points, NULL, 0.5, NULL, &n, neighbours);
    CHECK(status == KITH_OK, "%s", kith_message(ctx));
    CHECK(n == particles * (particles - 1) / 2, "%lld pairs", (long long)n);
    for (int64_t i = 0; i < particles; i++)
        if (!CHECK(neighbours[i] == particles - 1, "neighbours[%lld] = %lld", (long long)i,
                   (long long)neighbours[i]))
            break;
    free(neighbours);
    free(xyz);
}

int main(void)
{
    kith_ctx *ctx = check_open("auto", 2);
    check_count(ctx, check_brief() ? 66000 : 100000);
    check_stream(ctx, check_brief() ? 12000 : 66000, 0);
    check_stream(ctx, 5000, 1);
    if (check_deep()) {
        check_stream(ctx, 100000, 0);
        check_stream(ctx, 66000, 1);
    }
    kith_close(ctx);
    return check_done();
}
