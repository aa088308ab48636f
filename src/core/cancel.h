/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancellation of a call. The loops of the context's pool of threads drop the pieces that no thread
 * has claimed once the call is to stop. Every other loop that can run longer than some
 * milliseconds, also one within a piece, tests kith__cancelled and ends early. The function that
 * started a loop then returns kith__proceed. The thread that made the call is the only one that
 * calls the watch callback: it tests the clock in kith__cancelled, and sets a flag that the other
 * threads read.
 */
#ifndef KITH_CANCEL_H
#define KITH_CANCEL_H

#include <kith.h>
#include <stdbool.h>

/** State of cancellation in a context. Only the calling thread writes it. */
struct kith__cancel {
    bool wanted;        /**< the call is to stop. Accessed by the __atomic builtins alone: C++
                             compilers, which read this header too, have no _Atomic */
    const void *caller; /**< identifies the thread that made the public call */
    double due;         /**< time at which the watch callback is called next, on the clock of
                             kith__seconds [s]; INFINITY: the call cannot be cancelled any more */
    int64_t done;       /**< steps done, as last reported to the watch callback */
    int64_t total;      /**< steps of the whole call, as last reported to the watch callback */
};

/** Return the time of a monotonic clock [s]. */
double kith__seconds(void);

/** Begin a public call: the calling thread is the one that calls the watch callback. */
void kith__cancel_reset(kith_ctx *ctx);

/** Make the rest of the call impossible to cancel: it computes results that the caller needs even
 *  after a cancellation. To be called while nothing has cancelled the call: the flag `wanted` is
 *  not cleared. */
void kith__cancel_never(kith_ctx *ctx);

/** Return true when the call is to stop. Any thread of the call may call it. Costs an atomic load,
 *  and in the calling thread, where there is a watch callback, the reading of a clock. Call it
 *  about every 10 to 1000 microseconds of work. */
bool kith__cancelled(kith_ctx *ctx);

/** Report progress and call the watch callback now, unless there is none, the call is to stop
 *  already, or kith__cancel_never was called. Only the calling thread may use it.
 *  @param done   work finished so far, 0 to total, in a unit that the operation chooses
 *  @param total  work of the whole call, in that unit
 *  @return true when the call is to stop. */
bool kith__watch(kith_ctx *ctx, int64_t done, int64_t total);

/** Report progress, and call the watch callback when it is due. Only the calling thread may use it.
 *  @param done, total  as for kith__watch
 *  @return true when the call is to stop. */
bool kith__report(kith_ctx *ctx, int64_t done, int64_t total);

/** Test whether the call is to stop, after a loop that may have ended early.
 *  @return KITH_OK, or KITH_CANCELLED with a message. */
kith_status kith__proceed(kith_ctx *ctx);

#endif
