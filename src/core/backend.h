/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The backend interface. A backend is a constant table of functions, chosen by name when a context
 * is opened. Each function is a whole operation, for example "fill a pair list": the table has the
 * backend's life cycle, and one sub-table of operations for each question (questions.h). Arguments
 * are checked before an operation is called (engine/question.h). An operation that is NULL is not
 * offered by the backend; the public call then returns KITH_UNSUPPORTED.
 */
#ifndef KITH_BACKEND_H
#define KITH_BACKEND_H

#include "context.h"
#include "questions.h"

/** A backend. */
struct kith__backend {
    const char *name; /**< the backend's name: the part before the colon of "cpu:avx2" */

    /** Allocator of device memory; NULL when points and lists can be in host memory only. */
    const struct kith__memory *device_memory;

    /** Set ctx->state and ctx->name.
     *  @param variant  the part of the name after the colon, "" when there is none
     *  @return KITH_OK, KITH_INVALID (unknown variant), KITH_NO_BACKEND, KITH_NO_MEMORY */
    kith_status (*open)(kith_ctx *ctx, const char *variant);

    /** Free ctx->state. */
    void (*close)(kith_ctx *ctx);

    /** Return the bytes of scratch memory that the backend holds for the context. */
    int64_t (*scratch_bytes)(const kith_ctx *ctx);

    /** End an operation that returned `status`: undo what its start changed outside the context,
     *  the current GPU of the calling thread, for example. NULL when there is nothing to undo.
     *  @return status, or the status of the failure that caused it */
    kith_status (*end_call)(kith_ctx *ctx, kith_status status);

    /** Queue later work of the context on another stream, after all work that is queued already.
     *  NULL when the backend has no streams.
     *  @param stream  NULL: the default stream of the device */
    kith_status (*set_stream)(kith_ctx *ctx, void *stream);

    /** Copy device memory to host memory, and wait for it. NULL without device memory. */
    kith_status (*fetch)(kith_ctx *ctx, void *to, const void *from, size_t bytes);

    /** Add `by` to those of n indices in device memory that are not negative: in a batch, indices
     *  within a system become those within all systems. NULL without device memory. */
    kith_status (*add)(kith_ctx *ctx, int32_t *index, int64_t n, int32_t by);

    /** Tables of operations, one for each question: `const struct kith__pairs_backend *pairs`
     *  (pairs/pairs.h), and so on. */
#define KITH_OPERATIONS(question) const struct kith__##question##_backend *question;
    KITH_QUESTIONS(KITH_OPERATIONS)
#undef KITH_OPERATIONS
};

extern const struct kith__backend kith__cpu_backend;
extern const struct kith__backend kith__cuda_backend;

/** End an operation of the context's backend. Public calls wrap each operation in this, or a
 *  function that calls several.
 *  @param status  what the operation returned
 *  @return the status of the call */
static inline kith_status kith__end_call(kith_ctx *ctx, kith_status status)
{
    return ctx->backend->end_call ? ctx->backend->end_call(ctx, status) : status;
}

/** Return the allocator for arrays in `where`: host memory, or the backend's device memory. */
const struct kith__memory *kith__memory_of(const kith_ctx *ctx, kith_memory where);

/** Find the backend of this name, set ctx->backend to it and open it.
 *  @param name  "auto", or the name of a backend and optionally a colon and a variant
 *  @return KITH_OK, KITH_INVALID (unknown name), KITH_NO_BACKEND, KITH_NO_MEMORY */
kith_status kith__backend_open(kith_ctx *ctx, const char *name);

#endif
