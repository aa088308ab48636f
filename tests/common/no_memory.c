/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allocations that fail, one after the other.
 */
#include "no_memory.h"

#include <string.h>

#include "alloc.h"
#include "check.h"

/** What became of a run. */
typedef struct outcome {
    kith_status status;
    int64_t seen; /* by the work that succeeded */
} outcome;

/* Open, work, close; the first failure ends it. */
static outcome run(const no_memory_use *use)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = use->backend;
    options.threads = 2;
    kith_ctx *ctx = NULL;
    outcome got = {.status = kith_open(&options, &ctx), .seen = -1};
    if (got.status != KITH_OK) {
        return got;
    }
    got.seen = 0;
    got.status = use->work(use->user, ctx, &got.seen);
    if (got.status == KITH_NO_MEMORY) {
        CHECK(strlen(kith_message(ctx)) > 0, "no message");
        alloc_fail(0, 0);
        got.seen = 0;
        CHECK(use->work(use->user, ctx, &got.seen) == KITH_OK, "the context is not usable: %s",
              kith_message(ctx));
    }
    alloc_fail(0, 0);
    use->release(use->user);
    kith_close(ctx);
    return got;
}

/* Fail the k-th allocation, for each k until none is reached any more. */
static void fail_each(const no_memory_use *use, int64_t times, int64_t expected)
{
    int64_t k = 0;
    for (kith_status status = KITH_NO_MEMORY; status != KITH_OK && k < 10000; k++) {
        const int64_t live = alloc_live();
        alloc_fail(k, times);
        const outcome got = run(use);
        status = got.status;
        alloc_fail(0, 0);
        CHECK(status == KITH_OK || status == KITH_NO_MEMORY, "allocation %lld: %s", (long long)k,
              kith_status_name(status));
        CHECK(alloc_live() == live, "allocation %lld: %lld blocks leaked", (long long)k,
              (long long)(alloc_live() - live));
        CHECK(got.seen < 0 || got.seen == expected, "allocation %lld, %s: %lld, expected %lld",
              (long long)k, kith_status_name(status), (long long)got.seen, (long long)expected);
    }
    CHECK(k > 5, "only %lld allocations: nothing was made to fail", (long long)k);
}

void no_memory_check(const no_memory_use *use)
{
    const outcome whole = run(use);
    CHECK(whole.status == KITH_OK, "a run with memory fails");
    fail_each(use, 1, whole.seen);
    fail_each(use, INT64_MAX, whole.seen);
}
