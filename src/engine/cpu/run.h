/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running the blocks of a sweep on all threads.
 */
#ifndef KITH_CPU_RUN_H
#define KITH_CPU_RUN_H

#include <stdatomic.h>

#include "cpu_state.h"

/** A parallel pass over blocks [first, last) of the grid. */
struct kith__run {
    kith_ctx *ctx;
    int64_t first, last;
    int64_t watch_from, watch_to, watch_total; /**< what the watch callback is told */
    kith__block_fn *block;                     /**< what is done */
    void *job;                                 /**< what sweep->job is then */
    bool heavy; /**< each block is worth a thread; else only some of them are */

    atomic_int status; /**< KITH_OK, or why the blocks that are left are skipped */
};

/** A pass over n blocks, of which alone the watch callback is told. */
static inline struct kith__run kith__run_of(kith_ctx *ctx, int64_t n)
{
    return (struct kith__run){.ctx = ctx, .last = n, .watch_to = n, .watch_total = n};
}

/** Prepare every thread's sweep for an operation.
 *  @param state_bytes  of the operation's state in each thread: sweep->state is zeroed memory
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__run_prepare(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__grid *grid, enum kith__stencil stencil,
                              size_t state_bytes);

/** Do every block. @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED. */
kith_status kith__run(struct kith__run *run);

#endif
