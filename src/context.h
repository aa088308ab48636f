/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The context and the macros for errors. Callers of library functions see only kith.h.
 */
#ifndef KITH_CONTEXT_H
#define KITH_CONTEXT_H

#include <kith.h>
#include <stdbool.h>

#include "work.h"

struct kith__backend;

struct kith_ctx {
    const struct kith__backend *backend;
    void *state; /**< the backend's own */
    int threads;
    kith_watch_fn watch;
    void *user;
    void *stream;      /**< the caller's, for device work; NULL: none given */
    char name[32];     /**< "cpu:avx512" */
    char message[512]; /**< of the last failure */
    struct kith__work work;
};

/** Store a message and return the status. ctx NULL: the message of this thread's kith_open. */
kith_status kith__fail(kith_ctx *ctx, kith_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Ask the watch callback. @return true when it wants to stop. */
bool kith__watch(const kith_ctx *ctx, int64_t done, int64_t total);

/** Threads worth starting for n particles: a parallel region costs as much as thousands of them. */
int kith__threads_for(const kith_ctx *ctx, int64_t n);

/** A thread of a team, and its share of n items: [begin, end). */
struct kith__share {
    int team, me;
    int64_t begin, end;
};

/** The calling thread's share, in a parallel region. */
struct kith__share kith__my_share(int64_t n);

/** Where the calling thread of a team begins to write, each of which writes `many`: called by all.
 *  @param ends  [team] scratch: where each thread ends, once all have left the region */
int64_t kith__my_place(int64_t many, int64_t *ends);

/** At the public border: refuse an argument. */
#define KITH_CHECK(ctx, condition, status, ...) \
    do { \
        if (!(condition)) { \
            (void)kith__fail(ctx, status, __VA_ARGS__); \
            return status; \
        } \
    } while (0)

/** Begin a public call of a context. */
#define KITH_BEGIN(ctx) \
    do { \
        KITH_CHECK(NULL, (ctx) != NULL, KITH_INVALID, "ctx is NULL"); \
        (ctx)->message[0] = '\0'; \
    } while (0)

/** Refuse a struct that `init` did not fill. */
#define KITH_CHECK_SIZE(ctx, name, given, init) \
    KITH_CHECK(ctx, (given)->size == sizeof *(given), KITH_INVALID, \
               name ".size is %zu, expected %zu: fill the struct with " #init, (given)->size, \
               sizeof *(given))

/** Pass a failure on, where nothing is owned. */
#define KITH_TRY(expression) \
    do { \
        const kith_status try_status = (expression); \
        if (try_status != KITH_OK) { \
            return try_status; \
        } \
    } while (0)

#endif
