/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays of a result that the library owns: allocated in host or device memory, reused when a later
 * call has the result filled again.
 */
#include "owned.h"

#include <assert.h>
#include <stdlib.h>

#include "backend.h"

struct kith__owned *kith__owned_in(const kith_ctx *ctx, kith_memory where, void **owner)
{
    const struct kith__memory *memory = kith__memory_of(ctx, where);
    struct kith__owned *owned = *owner;
    if (owned && owned->memory != memory) { /* the arrays are in the other memory */
        kith__owned_free(owned);
        owned = NULL;
    }
    owned = owned ? owned : calloc(1, sizeof *owned);
    if (owned) {
        owned->memory = memory;
    }
    *owner = owned;
    return owned;
}

void *kith__owned_need(struct kith__owned *owned, int array, size_t bytes)
{
    assert(array >= 0 && array < KITH_OWNED_ARRAYS);
    return owned->memory->need(&owned->array[array], bytes);
}

void kith__owned_free(struct kith__owned *owned)
{
    if (owned) {
        for (int a = 0; a < KITH_OWNED_ARRAYS; a++) {
            owned->memory->free(&owned->array[a]);
        }
        free(owned);
    }
}
