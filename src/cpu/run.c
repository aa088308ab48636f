/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads take blocks in order from one counter; the calling thread reports progress.
 */
#include "run.h"

#include <omp.h>

static const double watch_interval = 0.1; /* seconds */

void kith__run_prepare(kith_ctx *ctx, const struct kith__question *q, const struct kith__grid *grid,
                       enum kith__stencil stencil)
{
    struct kith__cpu *cpu = ctx->state;
    for (int t = 0; t < ctx->threads; t++) {
        struct kith__sweep *sweep = &cpu->sweeps[t];
        sweep->question = q;
        sweep->grid = grid;
        sweep->stencil = stencil;
        sweep->blur = kith__blur(q);
        sweep->own_blur = kith__own_blur(q);
        sweep->by_id = false;
        sweep->upper = false;
        sweep->id_begin = 0;
        sweep->id_end = INT32_MAX;
        sweep->no_memory = false;
        sweep->hits = 0;
        kith__sweep_forget(sweep);
        sweep->room_hits = 0;
        sweep->extras = 0;
        sweep->scale = NULL;
        sweep->flight = NULL;
        for (int c = 0; c < KITH_CURSORS; c++) {
            sweep->cursor[c] = 0;
        }
    }
}

/** One thread's share. @return KITH_OK, or why it stopped the others. */
static kith_status work(struct kith__run *run, struct kith__sweep *sweep, bool watching)
{
    double watched = omp_get_wtime();
    kith_status status = KITH_OK;
    sweep->job = run->job;
    while (status == KITH_OK && !atomic_load(&run->stop)) {
        const int64_t block = atomic_fetch_add(&run->next, 1);
        if (block >= run->last) {
            break;
        }
        run->block(sweep, block);
        if (sweep->no_memory) {
            status = KITH_NO_MEMORY;
        } else if (watching && omp_get_wtime() - watched > watch_interval) {
            watched = omp_get_wtime();
            const double part = (double)(block - run->first) / (double)(run->last - run->first);
            const double done = (double)run->watch_from +
                                part * (double)(run->watch_to - run->watch_from);
            status = kith__watch(run->ctx, (int64_t)done, run->watch_total) ? KITH_CANCELLED
                                                                            : KITH_OK;
        }
    }
    if (status != KITH_OK) {
        atomic_store(&run->stop, true);
    }
    return status;
}

kith_status kith__run(struct kith__run *run)
{
    kith_ctx *ctx = run->ctx;
    struct kith__cpu *cpu = ctx->state;
    int worst = KITH_OK;
    if (kith__watch(ctx, run->watch_from, run->watch_total)) {
        worst = KITH_CANCELLED;
    } else {
        atomic_store(&run->next, run->first);
        atomic_store(&run->stop, false);
        const int64_t blocks = run->last - run->first;
        const int threads = !run->heavy             ? kith__threads_for(ctx, blocks * KITH_BLOCK)
                            : blocks < ctx->threads ? (int)blocks
                                                    : ctx->threads;
#pragma omp parallel num_threads(threads) reduction(min : worst)
        {
            const int t = omp_get_thread_num();
            worst = (int)work(run, &cpu->sweeps[t], t == 0);
        }
    }
    kith__sweep_level(cpu->sweeps, ctx->threads);
    KITH_CHECK(ctx, worst != KITH_NO_MEMORY, KITH_NO_MEMORY, "out of memory in the sweep");
    KITH_CHECK(ctx, worst != KITH_CANCELLED, KITH_CANCELLED, "cancelled by the watch callback");
    return KITH_OK;
}
