/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The context and the macros for errors. Callers of library functions see only kith.h.
 */
#ifndef KITH_CONTEXT_H
#define KITH_CONTEXT_H

#include <kith.h>
#include <pool.h>
#include <stdbool.h>

#include "cancel.h"
#include "work.h"

struct kith__backend;

struct kith_ctx {
    const struct kith__backend *backend;
    void *state; /**< the backend's own */
    int threads;
    struct kith__pool *pool; /**< of `threads` threads */
    kith_watch_fn watch;
    void *user;
    struct kith__cancel cancel; /**< of the call that is being served */
    void *stream;               /**< the caller's, for device work; NULL: none given */
    int busy;      /**< 1 during a public call; read and written by kith__enter and kith__exit */
    char name[32]; /**< "cpu:avx512" */
    char message[512]; /**< of the last failure */
    struct kith__work work;
};

/** Store a message and return the status. ctx NULL: the message that kith_message(NULL) gives this
 *  thread. */
kith_status kith__fail(kith_ctx *ctx, kith_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Clear the message that kith_message(NULL) gives this thread: a call without a context begins. */
void kith__forget_failure(void);

/** Threads that a loop over n particles is worth: starting a loop costs as much as the work on
 *  thousands of particles. */
int kith__threads_for(const kith_ctx *ctx, int64_t n);

enum { KITH_RANGE = 1 << 14 }; /**< particles to loop over between two tests for cancellation */

/** Do a loop over n particles on the context's pool: as many threads as they are worth, in ranges
 *  of up to KITH_RANGE particles. */
void kith__loop(kith_ctx *ctx, int64_t n, kith__range_fn *fn, void *state);

/** Exclusive prefix sum: replace each count by the sum of those before it.
 *  @return the sum of all */
int64_t kith__prefix_sum(int64_t *counts, int64_t n);

/** At the public border: refuse an argument. */
#define KITH_CHECK(ctx, condition, status, ...) \
    do { \
        if (!(condition)) { \
            (void)kith__fail(ctx, status, __VA_ARGS__); \
            return status; \
        } \
    } while (0)

/** Begin a public call: take the context for the calling thread.
 *  @return KITH_OK; KITH_INVALID when ctx is NULL; KITH_BUSY when another call has the context.
 *          kith_message(NULL) then has the sentence, and kith__exit is not to be called. */
kith_status kith__enter(kith_ctx *ctx);

/** End a public call: give the context back. No message stays after a success.
 *  @return the status given */
kith_status kith__exit(kith_ctx *ctx, kith_status status);

/** Make a public call of a context: `work`, between kith__enter and kith__exit, gives *status. */
#define KITH_CALL(ctx, status, work) \
    do { \
        *(status) = kith__enter(ctx); \
        if (*(status) == KITH_OK) { \
            *(status) = kith__exit(ctx, work); \
        } \
    } while (0)

/** Refuse an int that is neither 0 nor 1. @param name  what the caller set, as "options.full" */
kith_status kith__check_flag(kith_ctx *ctx, const char *name, int value);

/** Refuse a struct that `init` did not fill. */
#define KITH_CHECK_SIZE(ctx, name, given, init) \
    KITH_CHECK(ctx, (given)->size == sizeof *(given), KITH_INVALID, \
               name ".size is %zu, expected %zu: fill the struct with " #init, (given)->size, \
               sizeof *(given))

/** For loops over items, in every thread: is this item to be left out, as the call is to stop?
 *  Tests the clock about every 65536 / cost items.
 *  @param cost  of an item, in steps of about a nanosecond, 1 or more */
static inline bool kith__skip(kith_ctx *ctx, int64_t item, int64_t cost)
{
    enum { STEPS = 1 << 16 };
    return __atomic_load_n(&ctx->cancel.wanted, __ATOMIC_RELAXED) ||
           (item % (1 + STEPS / cost) == 0 && kith__cancelled(ctx));
}

/** Pass a failure on, where nothing is owned. */
#define KITH_TRY(expression) \
    do { \
        const kith_status try_status = (expression); \
        if (try_status != KITH_OK) { \
            return try_status; \
        } \
    } while (0)

#endif
