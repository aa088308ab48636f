/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancellation: the calling thread calls the watch callback some 30 times a second. When the
 * callback asks to stop, the calling thread sets a flag that all threads of the call test.
 */
#include "cancel.h"

#include <math.h>
#include <time.h>

#include "context.h"

static const double watch_interval = 0.03; /* time between two calls of the watch callback [s] */

/* The address of this variable identifies a thread: each thread has its own. */
static _Thread_local char this_thread;

double kith__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Return true when the flag that the call is to stop is set. The load is relaxed: no other data
 *  are passed by the flag, and a thread that reads it late only stops later. */
static bool is_wanted(const kith_ctx *ctx)
{
    return __atomic_load_n(&ctx->cancel.wanted, __ATOMIC_RELAXED);
}

void kith__cancel_reset(kith_ctx *ctx)
{
    ctx->cancel = (struct kith__cancel){.caller = &this_thread,
                                        .due = ctx->watch ? kith__seconds() + watch_interval : 0,
                                        .total = 1}; /* 0 of 1 steps, until there is a report */
}

void kith__cancel_never(kith_ctx *ctx)
{
    ctx->cancel.due = INFINITY;
}

bool kith__watch(kith_ctx *ctx, int64_t done, int64_t total)
{
    struct kith__cancel *cancel = &ctx->cancel;
    cancel->done = done;
    cancel->total = total;
    if (isinf(cancel->due)) {
        return false;
    }
    if (!is_wanted(ctx) && ctx->watch && ctx->watch(ctx->user, done, total) != 0) {
        __atomic_store_n(&cancel->wanted, true, __ATOMIC_RELAXED);
    }
    cancel->due = kith__seconds() + watch_interval;
    return is_wanted(ctx);
}

bool kith__cancelled(kith_ctx *ctx)
{
    struct kith__cancel *cancel = &ctx->cancel;
    /* The operation of a lane stops with its parent's call, unless kith__cancel_never was called on
     * the lane. The parent's callback may run here, if this is the thread that made that call. */
    if (ctx->parent && !isinf(cancel->due) && kith__cancelled(ctx->parent)) {
        __atomic_store_n(&cancel->wanted, true, __ATOMIC_RELAXED);
    }
    if (!is_wanted(ctx) && ctx->watch && cancel->caller == &this_thread &&
        kith__seconds() >= cancel->due) {
        kith__watch(ctx, cancel->done, cancel->total);
    }
    return is_wanted(ctx);
}

bool kith__report(kith_ctx *ctx, int64_t done, int64_t total)
{
    ctx->cancel.done = done;
    ctx->cancel.total = total;
    return kith__cancelled(ctx);
}

kith_status kith__proceed(kith_ctx *ctx)
{
    KITH_CHECK(ctx, !kith__cancelled(ctx), KITH_CANCELLED, "cancelled by the watch callback");
    return KITH_OK;
}
