/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processing the work blocks of a sweep (sweep.h) on all threads of the context.
 */
#ifndef KITH_CPU_RUN_H
#define KITH_CPU_RUN_H

#include <stdatomic.h>

#include "cpu_state.h"

/** A parallel pass over work blocks [first, last). */
struct kith__run {
    kith_ctx *ctx;        /**< context of the call */
    int64_t first;        /**< first work block */
    int64_t last;         /**< work block after the last */
    int64_t watch_from;   /**< `done` of the watch callback before the pass */
    int64_t watch_to;     /**< `done` of the watch callback after the pass */
    int64_t watch_total;  /**< `total` of the watch callback: work of the whole call */
    kith__work_fn *block; /**< function that processes one work block */
    void *job;            /**< data that all threads share: sweep->job during the pass */
    bool heavy; /**< true: use all threads, as one block is enough work for a thread; false: use
                     kith__threads_for the particles of all blocks */
    atomic_int status; /**< KITH_OK, or the failure for which the remaining blocks are skipped */
};

/** Return a pass over n work blocks, with `done` and `total` of the watch callback in work blocks.
 *  `block`, and `job` where that needs one, are to be set. */
static inline struct kith__run kith__run_of(kith_ctx *ctx, int64_t n)
{
    return (struct kith__run){.ctx = ctx, .last = n, .watch_to = n, .watch_total = n};
}

/** Prepare every thread's sweep for an operation: set its parameters to their defaults, discard the
 *  hits, and set sweep->state to zeroed memory of the thread's own.
 *  @param stencil      the cells around a query block that are searched
 *  @param state_bytes  size of the operation's state in each thread
 *  @return KITH_OK or KITH_NO_MEMORY */
kith_status kith__run_prepare(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__grid *grid, enum kith__stencil stencil,
                              size_t state_bytes);

/** Process every work block of a pass. Afterwards the buffers of all threads are made equally large
 *  (kith__sweep_equalise): hits that an operation has not used by then are lost.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED */
kith_status kith__run(struct kith__run *run);

/** Wait until *turn is `block`: the threads of all earlier work blocks, which were claimed before,
 *  have then advanced it. So results of work blocks are appended in ascending order.
 *  @param status  status of the pass: other than KITH_OK where it has stopped; NULL: the blocks of
 *                 the pass cannot fail
 *  @return false when the pass has stopped, or the call is to stop */
bool kith__wait_turn(kith_ctx *ctx, const _Atomic int64_t *turn, int64_t block,
                     const atomic_int *status);

#endif
