/* SPDX-License-Identifier: BSD-3-Clause
 *
 * THE SEAM. A backend is a const table of whole operations, chosen by name when a context opens:
 * some of its own, and those of each question (questions.h). Arguments arrive checked
 * (engine/question.h); a NULL operation is not offered.
 */
#ifndef KITH_BACKEND_H
#define KITH_BACKEND_H

#include "context.h"
#include "questions.h"

struct kith__backend {
    const char *name; /**< what stands before the colon */

    /** Where lists in device memory get it; NULL: points and lists can only be in host memory. */
    const struct kith__memory *device_memory;

    /** Prepare ctx->state and ctx->name. @param variant  what stands behind the colon, or "".
     *  @return KITH_OK, KITH_INVALID (unknown variant), KITH_NO_BACKEND, KITH_NO_MEMORY. */
    kith_status (*open)(kith_ctx *ctx, const char *variant);
    void (*close)(kith_ctx *ctx);
    int64_t (*scratch_bytes)(const kith_ctx *ctx);

    /** End a call of what is below; NULL: there is nothing to end. @return the status, or what is
     *  behind it. */
    kith_status (*leave)(kith_ctx *ctx, kith_status status);

    /** Operations of each question: `const struct kith__pairs_backend *pairs` (pairs/pairs.h), and
     *  so on. */
#define KITH_OPERATIONS(question) const struct kith__##question##_backend *question;
    KITH_QUESTIONS(KITH_OPERATIONS)
#undef KITH_OPERATIONS
};

extern const struct kith__backend kith__cpu_backend;
extern const struct kith__backend kith__cuda_backend;

/** What every call of an operation goes through. */
static inline kith_status kith__leave(kith_ctx *ctx, kith_status status)
{
    return ctx->backend->leave ? ctx->backend->leave(ctx, status) : status;
}

/** Where arrays that the caller wants there get their memory. */
const struct kith__memory *kith__memory_of(const kith_ctx *ctx, kith_memory where);

/** Choose by name and open; sets ctx->backend. */
kith_status kith__backend_open(kith_ctx *ctx, const char *name);

#endif
