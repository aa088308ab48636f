/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancellation of a call. The loops of the context's pool of threads drop the pieces that are left
 * once the call is to stop. Every other loop that can run longer than some milliseconds, also one
 * within a piece, tests kith__cancelled and ends early. The function that started a loop then
 * returns kith__proceed. The thread that made the call is the only one that calls the watch
 * callback: it tests the clock in kith__cancelled, and sets a flag that the other threads read.
 */
#ifndef KITH_CANCEL_H
#define KITH_CANCEL_H

#include <kith.h>
#include <stdbool.h>

/** State of cancellation in a context. Only the calling thread writes it. */
struct kith__cancel {
    bool wanted;         /**< the call is to stop. Atomic: accessed by __atomic builtins, as C++
                              compilers read this header too */
    const void *caller;  /**< identifies the thread that made the call */
    double due;          /**< when the watch callback is to be called next [s] */
    int64_t done, total; /**< progress, as the watch callback was last told */
};

/** Seconds of a clock that only runs forward. */
double kith__seconds(void);

/** Begin a public call: the calling thread is the one that calls the watch callback. */
void kith__cancel_reset(kith_ctx *ctx);

/** From here on the call cannot be cancelled: it brings what the caller needs after cancelling. */
void kith__cancel_never(kith_ctx *ctx);

/** Is the call to stop? For every thread; costs an atomic load, in the calling thread the reading
 *  of a clock too. Test it once in about 10 to 1000 microseconds of work. */
bool kith__cancelled(kith_ctx *ctx);

/** Report progress and call the watch callback now. For the calling thread.
 *  @return true when the call is to stop. */
bool kith__watch(kith_ctx *ctx, int64_t done, int64_t total);

/** Report progress; the watch callback is called when it is due. For the calling thread.
 *  @return true when the call is to stop. */
bool kith__report(kith_ctx *ctx, int64_t done, int64_t total);

/** Test whether the call is to stop, after a loop that may have ended early.
 *  @return KITH_OK, or KITH_CANCELLED with a message. */
kith_status kith__proceed(kith_ctx *ctx);

#endif
