/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays of a result that the library allocates and owns, in host or device memory as the caller
 * chooses. The public struct of the result holds a pointer to them, `owner`.
 */
#ifndef KITH_OWNED_H
#define KITH_OWNED_H

#include "context.h"

enum { KITH_OWNED_ARRAYS = 7 }; /**< most arrays of a result: a team's pair list has 7 */

/** The arrays of one result. */
struct kith__owned {
    const struct kith__memory *memory;            /**< allocator of all the arrays */
    struct kith__buffer array[KITH_OWNED_ARRAYS]; /**< the arrays; data is NULL where unused */
};

/** Return the owner of a result's arrays: the owner of an earlier call when its arrays are in
 *  `where`, else a new one without arrays; arrays in the other memory are freed.
 *  @param[in,out] owner  the result's owner, a struct kith__owned: NULL or from an earlier call;
 *                        NULL after a failure
 *  @return *owner; NULL when there is no memory */
struct kith__owned *kith__owned_in(const kith_ctx *ctx, kith_memory where, void **owner);

/** Make one of the arrays hold at least `bytes`; its contents are lost when it grows.
 *  @param array  index of the array, 0 to KITH_OWNED_ARRAYS - 1
 *  @return the data, or NULL when there is no memory */
void *kith__owned_need(struct kith__owned *owned, int array, size_t bytes);

/** Free the arrays and the owner. NULL is permitted. */
void kith__owned_free(struct kith__owned *owned);

#endif
