/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A parallel pass over the work blocks of a sweep. Threads claim blocks from the pool's counter, so
 * that the load is balanced; the calling thread reports progress.
 */
#include "run.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

kith_status kith__run_prepare(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__grid *grid, enum kith__stencil stencil,
                              size_t state_bytes)
{
    struct kith__cpu *cpu = ctx->state;
    /* whole cache lines, so that threads share none (false sharing); at least one, never 0 bytes */
    const size_t each = (state_bytes + KITH_ALIGN) / KITH_ALIGN * KITH_ALIGN;
    char *states = kith__work_need(&ctx->work, KITH_SWEEP_STATES, (size_t)ctx->threads * each);
    KITH_CHECK(ctx, states != NULL, KITH_NO_MEMORY, "out of memory for %d threads", ctx->threads);
    memset(states, 0, (size_t)ctx->threads * each);
    for (int t = 0; t < ctx->threads; t++) {
        struct kith__sweep *sweep = &cpu->sweeps[t];
        sweep->question = q;
        sweep->grid = grid;
        sweep->stencil = stencil;
        sweep->definition_error = kith__definition_error(q);
        sweep->definition_error_no_image = kith__definition_error_no_image(q);
        sweep->by_id = false;
        sweep->upper = false;
        sweep->id_begin = 0;
        sweep->id_end = INT32_MAX;
        sweep->failed = KITH_OK;
        sweep->candidates_since_poll = 0;
        kith__sweep_discard_hits(sweep);
        sweep->room_hits = 0; /* kith__hits_room then sets the arrays that are kept */
        sweep->state = states + (size_t)t * each;
        sweep->columns = NULL;
        sweep->query_fill = KITH_QUERY_FILL;
        sweep->keep_slots = false;
        sweep->keep_squares = false;
        for (int c = 0; c < KITH_CURSORS; c++) {
            sweep->cursor[c] = 0;
        }
    }
    return KITH_OK;
}

/** Report the progress of a run; the watch callback is called when it is due. When it cancels the
 *  call, the pool drops the remaining work blocks (core/cancel.h), so the result is not needed. */
static void report(const struct kith__run *run, int64_t blocks_done)
{
    const double part = (double)blocks_done / (double)(run->last - run->first);
    const double done = (double)run->watch_from + part * (double)(run->watch_to - run->watch_from);
    (void)kith__report(run->ctx, (int64_t)done, run->watch_total);
}

/** kith__piece_fn: process one work block, unless one has failed before. The calling thread,
 *  worker 0, reports progress. */
static void do_block(void *state, int64_t piece, int worker)
{
    struct kith__run *run = state;
    assert(0 <= worker && worker < run->ctx->threads);
    struct kith__sweep *sweep = &((struct kith__cpu *)run->ctx->state)->sweeps[worker];
    if (worker == 0) {
        report(run, piece);
    }
    if (atomic_load_explicit(&run->status, memory_order_relaxed) != KITH_OK) {
        return;
    }
    sweep->job = run->job;
    run->block(sweep, run->first + piece);
    if (sweep->failed) {
        atomic_store(&run->status, sweep->failed);
    }
}

kith_status kith__run(struct kith__run *run)
{
    kith_ctx *ctx = run->ctx;
    struct kith__cpu *cpu = ctx->state;
    const int64_t blocks = run->last - run->first;
    const bool cancelled = kith__watch(ctx, run->watch_from, run->watch_total);
    atomic_store(&run->status, cancelled ? KITH_CANCELLED : KITH_OK);
    if (!cancelled) {
        kith__pool_run(ctx->pool,
                       run->heavy ? ctx->threads : kith__threads_for(ctx, blocks * KITH_WORK_BLOCK),
                       blocks, do_block, run);
    }
    kith__sweep_equalise(cpu->sweeps, ctx->threads);
    KITH_CHECK(ctx, atomic_load(&run->status) != KITH_NO_MEMORY, KITH_NO_MEMORY,
               "out of memory in the sweep");
    return kith__proceed(ctx);
}

bool kith__wait_turn(kith_ctx *ctx, const _Atomic int64_t *turn, int64_t block,
                     const atomic_int *status)
{
    enum { SPINS = 256 }; /* tests after which the thread yields its core between them */
    for (int spins = 0; atomic_load_explicit(turn, memory_order_acquire) != block; spins++) {
        if ((status && atomic_load(status) != KITH_OK) || kith__cancelled(ctx)) {
            return false;
        }
        if (spins > SPINS) {
            sched_yield();
        }
    }
    return true;
}
