/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Growing and freeing the arrays of a list that the library owns.
 */
#include "list.h"

#include <stdlib.h>

struct owner {
    struct kith__buffer i, j, offsets, distances, vectors, shifts;
};

/** Room for n elements where wanted, else NULL; *ok becomes false when there is no memory. */
static void *need(struct kith__buffer *buffer, bool wanted, int64_t n, size_t element, bool *ok)
{
    void *data = wanted && *ok ? kith__buffer_need(buffer, (size_t)n * element) : NULL;
    *ok = *ok && (data || !wanted);
    return data;
}

kith_status kith__list_need(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t capacity, kith_pairs *out)
{
    struct owner *owner = out->owner ? out->owner : calloc(1, sizeof *owner);
    KITH_CHECK(ctx, owner != NULL, KITH_NO_MEMORY, "out of memory for a pair list");
    const size_t real = (size_t)precision;
    const bool csr = list->layout == KITH_CSR;
    bool ok = capacity < INT64_MAX / 64;
    *out = (kith_pairs){
        .rows = rows,
        .i = need(&owner->i, !csr, capacity, sizeof *out->i, &ok),
        .j = need(&owner->j, true, capacity, sizeof *out->j, &ok),
        .offsets = need(&owner->offsets, csr, rows + 1, sizeof *out->offsets, &ok),
        .distances = need(&owner->distances, list->extras & KITH_DISTANCES, capacity, real, &ok),
        .vectors = need(&owner->vectors, list->extras & KITH_VECTORS, capacity, 3 * real, &ok),
        .shifts = need(&owner->shifts, list->extras & KITH_SHIFTS, capacity,
                       3 * sizeof *out->shifts, &ok),
        .capacity = capacity,
        .owner = owner,
    };
    if (!ok) {
        out->capacity = 0;
        return kith__fail(ctx, KITH_NO_MEMORY,
                          "out of memory for a list of %lld pairs; stream it in blocks with "
                          "kith_pairs_each",
                          (long long)capacity);
    }
    return KITH_OK;
}

void kith__list_free(void *owned)
{
    struct owner *owner = owned;
    if (owner) {
        kith__buffer_free(&owner->i);
        kith__buffer_free(&owner->j);
        kith__buffer_free(&owner->offsets);
        kith__buffer_free(&owner->distances);
        kith__buffer_free(&owner->vectors);
        kith__buffer_free(&owner->shifts);
        free(owner);
    }
}
