/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening and closing a context: options, environment, choice of backend. Also what every public
 * call does with it: its start and end, messages, checks of arguments, parallel loops, lanes.
 */
#include "context.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "sized.h"

/** Message of this thread's last call that failed without a context. It is as long as
 *  kith_ctx.message: kith__fail writes to either. */
static _Thread_local char thread_message[512];

kith_status kith__fail(kith_ctx *ctx, kith_status status, const char *format, ...)
{
    char *message = ctx ? ctx->message : thread_message;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof thread_message, format, arguments);
    va_end(arguments);
    return status;
}

void kith__clear_message(void)
{
    thread_message[0] = '\0';
}

kith_status kith__enter(kith_ctx *ctx)
{
    KITH_CHECK(NULL, ctx != NULL, KITH_INVALID, "ctx is NULL");
    /* Acquire, and release in kith__exit: the writes of the last call to the context are visible
     * here. Builtins of gcc: the CUDA compiler, which also compiles context.h, has no C11
     * atomics. */
    KITH_CHECK(NULL, __atomic_exchange_n(&ctx->busy, 1, __ATOMIC_ACQUIRE) == 0, KITH_BUSY,
               "the context is in use by a call of another thread, or by the call that this "
               "callback belongs to");
    ctx->message[0] = '\0';
    kith__cancel_reset(ctx);
    return KITH_OK;
}

kith_status kith__exit(kith_ctx *ctx, kith_status status)
{
    if (status == KITH_OK) {
        ctx->message[0] = '\0'; /* a failure inside the call may have been recovered from */
    }
    assert(__atomic_load_n(&ctx->busy, __ATOMIC_RELAXED) == 1);
    __atomic_store_n(&ctx->busy, 0, __ATOMIC_RELEASE);
    return status;
}

kith_status kith__check_memory(kith_ctx *ctx, const char *name, kith_memory memory)
{
    KITH_CHECK(ctx, memory == KITH_HOST || memory == KITH_DEVICE, KITH_INVALID,
               "%s: memory is %d, expected KITH_HOST or KITH_DEVICE", name, (int)memory);
    KITH_CHECK(ctx, memory == KITH_HOST || ctx->backend->device_memory, KITH_UNSUPPORTED,
               "%s: in device memory, which backend \"%s\" cannot reach", name, ctx->name);
    return KITH_OK;
}

kith_status kith__check_flag(kith_ctx *ctx, const char *name, int value)
{
    KITH_CHECK(ctx, value == 0 || value == 1, KITH_INVALID, "%s is %d, expected 0 or 1", name,
               value);
    return KITH_OK;
}

int kith__threads_for(const kith_ctx *ctx, int64_t n)
{
    enum { PARTICLES_PER_THREAD = 4096 };
    const int64_t useful = 1 + n / PARTICLES_PER_THREAD;
    return useful < ctx->threads ? (int)useful : ctx->threads;
}

void kith__loop(kith_ctx *ctx, int64_t n, kith__range_fn *fn, void *state)
{
    /* RANGES_EACH: ranges of each thread, so that one slow thread does not delay the others. LEAST:
     * fewest items of a range. */
    enum { RANGES_EACH = 4, LEAST = 512 };
    const int threads = kith__threads_for(ctx, n);
    /* items of a range where each thread has RANGES_EACH ranges */
    const int64_t share = n / (threads * RANGES_EACH) + 1;
    kith__pool_chunks(ctx->pool, threads, n,
                      share > KITH_RANGE ? KITH_RANGE
                      : share > LEAST    ? share
                                         : LEAST,
                      fn, state);
}

/** kith__range_fn: zero blocks [begin, end) of KITH_ALIGN bytes. @param state  the memory */
static void zero_blocks(void *state, int64_t begin, int64_t end)
{
    memset((char *)state + begin * KITH_ALIGN, 0, (size_t)(end - begin) * KITH_ALIGN);
}

kith_status kith__zero(kith_ctx *ctx, void *memory, size_t bytes)
{
    const size_t rest = bytes % KITH_ALIGN;
    memset((char *)memory + (bytes - rest), 0, rest);
    kith__loop(ctx, (int64_t)(bytes / KITH_ALIGN), zero_blocks, memory);
    return kith__proceed(ctx);
}

int64_t kith__prefix_sum(int64_t *counts, int64_t n)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t count = counts[k];
        assert(count >= 0);
        counts[k] = sum;
        sum += count;
    }
    return sum;
}

/** kith__piece_fn: count the selected items of a range. @param state  the kith__listing */
static void count_range(void *state, int64_t range, int worker)
{
    (void)worker;
    const struct kith__listing *list = state;
    list->first[range] = list->count(list->state, kith__piece_begin(list->n, list->ranges, range),
                                     kith__piece_begin(list->n, list->ranges, range + 1));
}

/** kith__piece_fn: write the selected items of a range. @param state  the kith__listing */
static void write_range(void *state, int64_t range, int worker)
{
    (void)worker;
    const struct kith__listing *list = state;
    list->write(list->state, kith__piece_begin(list->n, list->ranges, range), list->first[range],
                list->first[range + 1]);
}

kith_status kith__list_count(kith_ctx *ctx, struct kith__listing *list)
{
    kith__pool_run(ctx->pool, ctx->threads, list->ranges, count_range, list);
    KITH_TRY(kith__proceed(ctx)); /* after cancellation counts are undefined */
    list->first[list->ranges] = 0;
    kith__prefix_sum(list->first, list->ranges + 1);
    return KITH_OK;
}

void kith__list_write(kith_ctx *ctx, struct kith__listing *list)
{
    kith__pool_run(ctx->pool, ctx->threads, list->ranges, write_range, list);
}

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_options, stream) };

static const kith_options defaults = {.size = sizeof(kith_options)};

/* kith_options_init_sized, kith_options_init */
KITH_INIT_CALLS(kith_options, KITH_OPTIONS_0_1)

/** Callback of kith__pool_watch: return true when the call on this context is to stop. */
static bool is_cancelled(void *ctx)
{
    return kith__cancelled(ctx);
}

kith_status kith_open(const kith_options *options, kith_ctx **out)
{
    kith__clear_message();
    KITH_CHECK(NULL, out != NULL, KITH_INVALID, "kith_open: out is NULL");
    *out = NULL;
    kith_options own = defaults;
    KITH_OPTIONS_READ(NULL, "options", kith_options_init, options, KITH_OPTIONS_0_1, &own);
    KITH_CHECK(NULL, own.threads >= 0 && own.threads <= 4096, KITH_INVALID,
               "options.threads is %d, expected 0 (all cores) to 4096", own.threads);

    const char *name = own.backend ? own.backend : getenv("KITH_BACKEND");
    kith_ctx *ctx = calloc(1, sizeof *ctx);
    KITH_CHECK(NULL, ctx != NULL, KITH_NO_MEMORY, "out of memory for a context");
    ctx->threads = own.threads ? own.threads : kith__default_threads();
    ctx->pool = kith__pool_open(ctx->threads);
    if (ctx->pool) {
        kith__pool_watch(ctx->pool, is_cancelled, ctx);
    }
    ctx->watch = own.watch;
    ctx->user = own.user;
    ctx->stream = own.stream;
    const kith_status status = ctx->pool
                                   ? kith__backend_open(ctx, name && *name ? name : "auto")
                                   : kith__fail(ctx, KITH_NO_MEMORY, "out of memory for threads");
    if (status != KITH_OK) {
        snprintf(thread_message, sizeof thread_message, "%s", ctx->message);
        kith__pool_close(ctx->pool);
        free(ctx);
        return status;
    }
    ctx->message[0] = '\0'; /* "auto" may have tried a backend that cannot run here */
    *out = ctx;
    return KITH_OK;
}

static kith_status set_stream(kith_ctx *ctx, void *stream)
{
    KITH_CHECK(ctx, ctx->backend->set_stream != NULL, KITH_UNSUPPORTED,
               "kith_set_stream needs a GPU; the backend is \"%s\"", ctx->name);
    return kith__end_call(ctx, ctx->backend->set_stream(ctx, stream));
}

kith_status kith_set_stream(kith_ctx *ctx, void *stream)
{
    kith_status status;
    KITH_CALL(ctx, &status, set_stream(ctx, stream));
    return status;
}

/** Open one lane of a context. @return NULL on failure. As the parent has opened the backend, this
 *  means that there is no memory */
static kith_ctx *open_lane(kith_ctx *parent)
{
    kith_ctx *lane = calloc(1, sizeof *lane);
    if (!lane) {
        return NULL;
    }
    lane->parent = parent;
    lane->threads = 1;
    lane->pool = kith__pool_open(1);
    if (!lane->pool || kith__backend_open(lane, parent->name) != KITH_OK) {
        kith__pool_close(lane->pool);
        free(lane);
        return NULL;
    }
    kith__pool_watch(lane->pool, is_cancelled, lane);
    return lane;
}

/** Close the lanes of a context that are open. */
static void close_lanes(kith_ctx *ctx)
{
    for (int t = 0; t < ctx->threads && ctx->lanes; t++) {
        kith_close(ctx->lanes[t]);
    }
    free(ctx->lanes);
    ctx->lanes = NULL;
}

kith_status kith__lanes_need(kith_ctx *ctx)
{
    if (ctx->lanes) {
        return KITH_OK;
    }
    ctx->lanes = calloc((size_t)ctx->threads, sizeof(kith_ctx *));
    bool ok = ctx->lanes != NULL;
    for (int t = 0; t < ctx->threads && ok; t++) {
        ctx->lanes[t] = open_lane(ctx);
        ok = ctx->lanes[t] != NULL;
    }
    if (!ok) {
        close_lanes(ctx);
        return kith__fail(ctx, KITH_NO_MEMORY, "out of memory for %d threads", ctx->threads);
    }
    return KITH_OK;
}

kith_ctx *kith__lane(kith_ctx *ctx, int worker)
{
    kith_ctx *lane = ctx->lanes[worker];
    lane->message[0] = '\0';
    kith__cancel_reset(lane);
    return lane;
}

void kith_close(kith_ctx *ctx)
{
    if (ctx) {
        close_lanes(ctx);
        ctx->backend->close(ctx);
        kith__work_free(&ctx->work);
        kith__pool_close(ctx->pool);
        free(ctx);
    }
}

const char *kith_message(const kith_ctx *ctx)
{
    return ctx ? ctx->message : thread_message;
}

const char *kith_backend(const kith_ctx *ctx)
{
    return ctx ? ctx->name : "";
}

int kith_threads(const kith_ctx *ctx)
{
    return ctx ? ctx->threads : 0;
}

int64_t kith_scratch_bytes(const kith_ctx *ctx)
{
    int64_t bytes = ctx ? kith__work_bytes(&ctx->work) + ctx->backend->scratch_bytes(ctx) : 0;
    for (int t = 0; ctx && ctx->lanes && t < ctx->threads; t++) {
        bytes += kith_scratch_bytes(ctx->lanes[t]);
    }
    return bytes;
}
