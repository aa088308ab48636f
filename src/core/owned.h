/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own arrays behind a result, in the memory that the caller wants.
 */
#ifndef KITH_OWNED_H
#define KITH_OWNED_H

#include "context.h"

enum { KITH_OWNED_ARRAYS = 6 };

struct kith__owned {
    const struct kith__memory *memory;
    struct kith__buffer array[KITH_OWNED_ARRAYS];
};

/** Make the owner of a result, or take what there is; arrays that are elsewhere are freed.
 *  @param[in,out] owner  the result's; NULL or from an earlier call. NULL on failure
 *  @return *owner; NULL without memory. */
struct kith__owned *kith__owned_in(const kith_ctx *ctx, kith_memory where, void **owner);

/** Make room in one of the arrays. @return the data, or NULL. */
void *kith__owned_need(struct kith__owned *owned, int array, size_t bytes);

/** @param owned  NULL is fine. */
void kith__owned_free(struct kith__owned *owned);

#endif
