/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of every call made to fail, one by one and from one on: KITH_NO_MEMORY, nothing
 * leaked, and the same call succeeds when there is memory again.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "check.h"
#include "points.h"

enum { N = 1500 };

/* One use of the interface from open to close; the first failure ends it. */
typedef struct use {
    const char *backend;
    const kith_points *points;
    const kith_box *box;
    kith_pairs_options options;
    int opened;
    int64_t total; /* pairs seen by all calls of the last search() */
} use;

static int add_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)first;
    ((use *)user)->total += block->n;
    return 0;
}

static kith_status search(use *u, kith_ctx *ctx, kith_pairs *list)
{
    int64_t n = 0;
    kith_status status = kith_pairs_find(ctx, u->points, u->box, 0.1, &u->options, list);
    u->total += list->n;
    if (status == KITH_OK) {
        status = kith_pairs_count(ctx, u->points, u->box, 0.12, &u->options, &n, NULL);
        u->total += n;
    }
    if (status == KITH_OK)
        status = kith_pairs_each(ctx, u->points, u->box, 0.13, &u->options, add_block, u);
    if (status == KITH_OK) /* the list grows */
        status = kith_pairs_find(ctx, u->points, u->box, 0.15, &u->options, list);
    u->total += list->n;
    return status;
}

static kith_status run(use *u)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = u->backend;
    options.threads = 2;
    kith_ctx *ctx = NULL;
    kith_pairs list = {0};
    u->total = 0;
    u->opened = 0;
    kith_status status = kith_open(&options, &ctx);
    if (status != KITH_OK)
        return status;
    u->opened = 1;
    status = search(u, ctx, &list);
    if (status == KITH_NO_MEMORY) {
        CHECK(strlen(kith_message(ctx)) > 0, "no message");
        alloc_fail(0, 0);
        u->total = 0;
        CHECK(search(u, ctx, &list) == KITH_OK, "the context is not usable: %s", kith_message(ctx));
    }
    alloc_fail(0, 0);
    kith_pairs_free(&list);
    kith_close(ctx);
    return status;
}

/* Fail the k-th allocation, for each k until none is reached any more. */
static void check_failures(use *u, int64_t times)
{
    CHECK(run(u) == KITH_OK, "a run with memory fails");
    const int64_t expected = u->total;
    int64_t k = 0;
    for (kith_status status = KITH_NO_MEMORY; status != KITH_OK && k < 10000; k++) {
        const int64_t live = alloc_live();
        alloc_fail(k, times);
        status = run(u);
        alloc_fail(0, 0);
        CHECK(status == KITH_OK || status == KITH_NO_MEMORY, "allocation %lld: %s", (long long)k,
              kith_status_name(status));
        CHECK(alloc_live() == live, "allocation %lld: %lld blocks leaked", (long long)k,
              (long long)(alloc_live() - live));
        CHECK(!u->opened || u->total == expected, "allocation %lld, %s: %lld pairs, expected %lld",
              (long long)k, kith_status_name(status), (long long)u->total, (long long)expected);
    }
    CHECK(k > 5, "only %lld allocations: nothing was made to fail", (long long)k);
}

int main(int argc, char **argv)
{
    use u = {.backend = check_backend(argc, argv)};
    kith_close(check_open(u.backend, 2));
    rng r = {10};
    const kith_box box = kith_box_periodic(1.0, 1.0, 1.0);
    double *xyz = points_in_box(&r, N, &box);
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    u.points = &points;
    for (int sparse = 0; sparse < 2; sparse++) {
        if (sparse) /* a clump far away: tables of occupied cells */
            for (int p = 0; p < N / 2; p++)
                xyz[3 * p] += 1e6;
        u.box = sparse ? NULL : &box;
        for (int form = 0; form < 3; form++) {
            kith_pairs_options_init(&u.options);
            u.options.full = form > 0;
            u.options.sorted = form == 1;
            u.options.layout = form == 2 ? KITH_CSR : KITH_IJ;
            u.options.extras = form > 0 ? KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS : 0;
            u.options.block_pairs = 1000;
            check_failures(&u, 1);
            check_failures(&u, INT64_MAX);
        }
    }
    free(xyz);
    return check_done();
}
