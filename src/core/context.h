/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The context (struct kith_ctx), the start and end of a public call, the macros for errors, and the
 * parallel loop over particles.
 */
#ifndef KITH_CONTEXT_H
#define KITH_CONTEXT_H

#include <kith.h>
#include <pool.h>
#include <stdbool.h>

#include "cancel.h"
#include "work.h"

struct kith__backend;

/** A context, opaque to callers (kith/core.h). One call uses it at a time. */
struct kith_ctx {
    const struct kith__backend *backend; /**< the operations of the backend that was chosen */
    void *state;                /**< data of the backend: struct kith__cpu (cpu_state.h) or struct
                                     kith__gpu (gpu_state.h) */
    int threads;                /**< most threads that a loop uses; 1 or more */
    struct kith__pool *pool;    /**< pool of `threads` threads, owned by the context */
    kith_watch_fn watch;        /**< the caller's watch callback; NULL: none */
    void *user;                 /**< argument of the watch callback */
    struct kith__cancel cancel; /**< state of cancellation of the call that is running */
    void *stream;               /**< the caller's stream for device work; NULL: none given */
    int busy;      /**< 1 during a public call; accessed atomically by kith__enter, kith__exit */
    char name[32]; /**< name of the backend and its variant, as "cpu:avx512" */
    char message[512];      /**< message of the last failure; "" after a success */
    struct kith__work work; /**< scratch memory on the host, reused by later calls */
    kith_ctx *parent;       /**< of a lane, the context that it belongs to; else NULL */
    kith_ctx **lanes;       /**< [threads] the lanes of this context; NULL: none were needed yet */
};

/** Store the message of a failure.
 *  @param ctx  NULL: store the message that kith_message(NULL) returns in this thread
 *  @return status */
kith_status kith__fail(kith_ctx *ctx, kith_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Clear the message that kith_message(NULL) returns in this thread, at the start of a call without
 *  a context. */
void kith__clear_message(void);

/** Return how many threads a loop over n particles should use, 1 to ctx->threads: one for each 4096
 *  particles, as starting a thread in a loop costs as much as the work on thousands of them. */
int kith__threads_for(const kith_ctx *ctx, int64_t n);

/** Most particles of a range of kith__loop: between two ranges a thread tests for cancellation. */
enum { KITH_RANGE = 1 << 14 };

/** Run a loop over n particles on kith__threads_for threads of the context's pool, in ranges of at
 *  most KITH_RANGE particles. */
void kith__loop(kith_ctx *ctx, int64_t n, kith__range_fn *fn, void *state);

/** Open the lanes of a context, unless they are open. A lane is a context of one thread with the
 *  backend of its parent. Each thread of the parent's loops has a lane of its own, so that one loop
 *  runs whole operations in parallel: those of the systems of a batch (engine/batch.h). When the
 *  parent's call is cancelled, operations on its lanes end too.
 *  @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__lanes_need(kith_ctx *ctx);

/** Return the lane of a worker, the thread that calls this function, and reset the lane's message
 *  and state of cancellation for an operation that this thread runs on it.
 *  @param worker  index of the thread in a loop of the parent's pool (kith__piece_fn) */
kith_ctx *kith__lane(kith_ctx *ctx, int worker);

/** Zero memory on all threads of the context (kith__loop), so that the page faults of the first
 *  access, up to a second for each GB of new memory, are shared among them.
 *  @return KITH_OK or KITH_CANCELLED */
kith_status kith__zero(kith_ctx *ctx, void *memory, size_t bytes);

/** Exclusive prefix sum: replace each of n counts by the sum of the counts before it.
 *  @return the sum of all n counts */
int64_t kith__prefix_sum(int64_t *counts, int64_t n);

/** A list of those of n items that a test selects, in ascending order, made on all threads of the
 *  context: the selected items of each range are counted, then written where they belong. */
struct kith__listing {
    int64_t n;      /**< number of items */
    int ranges;     /**< number of ranges of consecutive items, as kith__piece_begin cuts them */
    int64_t *first; /**< [ranges + 1] memory for the index in the list of the first item of each
                         range, then the length of the list */
    void *state;    /**< first argument of both functions */

    /** Return how many of items [begin, end) are selected. */
    int64_t (*count)(void *state, int64_t begin, int64_t end);
    /** Write the selected items from item `begin` on to entries [at, stop) of the list. */
    void (*write)(void *state, int64_t begin, int64_t at, int64_t stop);
};

/** Count the selected items of all ranges: sets `first`.
 *  @return KITH_OK, or KITH_CANCELLED, after which `first` is undefined */
kith_status kith__list_count(kith_ctx *ctx, struct kith__listing *list);

/** Write the list; after cancellation only a part of it. */
void kith__list_write(kith_ctx *ctx, struct kith__listing *list);

/** Return from the current function with `status` and a message unless a condition holds: for
 *  checks of arguments, of allocations and of other results. */
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

/** End a public call: release the context for other calls. Clears the message after a success.
 *  @return status */
kith_status kith__exit(kith_ctx *ctx, kith_status status);

/** Body of a public call: set *status to the value of the expression `work`, which is evaluated
 *  between kith__enter and kith__exit, or to the status of kith__enter when that fails. */
#define KITH_CALL(ctx, status, work) \
    do { \
        *(status) = kith__enter(ctx); \
        if (*(status) == KITH_OK) { \
            *(status) = kith__exit(ctx, work); \
        } \
    } while (0)

/** Refuse memory that is neither KITH_HOST nor KITH_DEVICE, or that the backend cannot reach.
 *  @param name  the struct as the caller writes it, for the message: "points", "out"
 *  @return KITH_OK, KITH_INVALID, KITH_UNSUPPORTED */
kith_status kith__check_memory(kith_ctx *ctx, const char *name, kith_memory memory);

/** Refuse an int that is neither 0 nor 1.
 *  @param name  the field as the caller writes it, for the message: "options.full"
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__check_flag(kith_ctx *ctx, const char *name, int value);

/** Return true when the call is to stop, so that a loop over items should end before this one. Any
 *  thread of the call may call it. Calls kith__cancelled, which may read the clock, about every
 *  65536 / cost items; for the others it tests the flag alone.
 *  @param item  number of the item in the loop
 *  @param cost  cost of an item [about 1 ns], 1 or more */
static inline bool kith__skip(kith_ctx *ctx, int64_t item, int64_t cost)
{
    enum { INTERVAL = 1 << 16 }; /* cost of the items between two readings of the clock */
    return __atomic_load_n(&ctx->cancel.wanted, __ATOMIC_RELAXED) ||
           (item % (1 + INTERVAL / cost) == 0 && kith__cancelled(ctx));
}

/** Return from the current function when an expression has a status other than KITH_OK. For
 *  functions that own nothing that would have to be freed. */
#define KITH_TRY(expression) \
    do { \
        const kith_status try_status = (expression); \
        if (try_status != KITH_OK) { \
            return try_status; \
        } \
    } while (0)

#endif
