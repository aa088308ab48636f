/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening and closing a context: options, environment, choice of backend, messages.
 */
#include "context.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"

static _Thread_local char open_message[512];

kith_status kith__fail(kith_ctx *ctx, kith_status status, const char *format, ...)
{
    char *message = ctx ? ctx->message : open_message;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof open_message, format, arguments);
    va_end(arguments);
    return status;
}

bool kith__watch(const kith_ctx *ctx, int64_t done, int64_t total)
{
    return ctx->watch && ctx->watch(ctx->user, done, total) != 0;
}

int kith__threads_for(const kith_ctx *ctx, int64_t n)
{
    enum { PARTICLES_PER_THREAD = 4096 };
    const int64_t useful = 1 + n / PARTICLES_PER_THREAD;
    return useful < ctx->threads ? (int)useful : ctx->threads;
}

struct kith__share kith__my_share(int64_t n)
{
    const int team = omp_get_num_threads();
    const int me = omp_get_thread_num();
    return (struct kith__share){team, me, n * me / team, n * (me + 1) / team};
}

int64_t kith__my_place(int64_t many, int64_t *ends)
{
    const int me = omp_get_thread_num();
    ends[me] = many;
#pragma omp barrier
#pragma omp single
    for (int t = 1; t < omp_get_num_threads(); t++) {
        ends[t] += ends[t - 1];
    }
    return ends[me] - many;
}

void kith_options_init(kith_options *options)
{
    *options = (kith_options){.size = sizeof *options};
}

kith_status kith_open(const kith_options *options, kith_ctx **out)
{
    KITH_CHECK(NULL, out != NULL, KITH_INVALID, "kith_open: out is NULL");
    *out = NULL;
    kith_options defaults;
    kith_options_init(&defaults);
    options = options ? options : &defaults;
    KITH_CHECK_SIZE(NULL, "options", options, kith_options_init);
    KITH_CHECK(NULL, options->threads >= 0 && options->threads <= 4096, KITH_INVALID,
               "options.threads is %d, expected 0 (all cores) to 4096", options->threads);

    const char *name = options->backend ? options->backend : getenv("KITH_BACKEND");
    kith_ctx *ctx = calloc(1, sizeof *ctx);
    KITH_CHECK(NULL, ctx != NULL, KITH_NO_MEMORY, "out of memory for a context");
    ctx->threads = options->threads ? options->threads : omp_get_max_threads();
    ctx->watch = options->watch;
    ctx->user = options->user;
    ctx->stream = options->stream;
    const kith_status status = kith__backend_open(ctx, name && *name ? name : "auto");
    if (status != KITH_OK) {
        snprintf(open_message, sizeof open_message, "%s", ctx->message);
        free(ctx);
        return status;
    }
    *out = ctx;
    return KITH_OK;
}

void kith_close(kith_ctx *ctx)
{
    if (ctx) {
        ctx->backend->close(ctx);
        kith__work_free(&ctx->work);
        free(ctx);
    }
}

const char *kith_message(const kith_ctx *ctx)
{
    return ctx ? ctx->message : open_message;
}

const char *kith_backend(const kith_ctx *ctx)
{
    return ctx->name;
}

int kith_threads(const kith_ctx *ctx)
{
    return ctx->threads;
}

int64_t kith_scratch_bytes(const kith_ctx *ctx)
{
    return kith__work_bytes(&ctx->work) + ctx->backend->scratch_bytes(ctx);
}
