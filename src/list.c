/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Growing and freeing the arrays of a list that the library owns.
 */
#include "list.h"

#include <stdlib.h>

struct owner {
    const struct kith__memory *memory;
    struct kith__buffer i, j, offsets, distances, vectors, shifts;
};

/** Room for n elements where wanted, else NULL; *ok becomes false when there is no memory. */
static void *need(const struct kith__memory *memory, struct kith__buffer *buffer, bool wanted,
                  int64_t n, size_t element, bool *ok)
{
    void *data = wanted && *ok ? memory->need(buffer, (size_t)n * element) : NULL;
    *ok = *ok && (data || !wanted);
    return data;
}

kith_status kith__list_need(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t capacity, kith_pairs *out)
{
    const struct kith__memory *memory = kith__memory_of(ctx, out->memory);
    struct owner *owner = out->owner;
    if (owner && owner->memory != memory) { /* the caller wants it elsewhere now */
        kith__list_free(owner);
        owner = NULL;
    }
    owner = owner ? owner : calloc(1, sizeof *owner);
    out->owner = owner;
    KITH_CHECK(ctx, owner != NULL, KITH_NO_MEMORY, "out of memory for a pair list");
    owner->memory = memory;
    const size_t real = (size_t)precision;
    const bool csr = list->layout == KITH_CSR;
    bool ok = capacity < INT64_MAX / 64;
    *out = (kith_pairs){
        .rows = rows,
        .i = need(memory, &owner->i, !csr, capacity, sizeof *out->i, &ok),
        .j = need(memory, &owner->j, true, capacity, sizeof *out->j, &ok),
        .offsets = need(memory, &owner->offsets, csr, rows + 1, sizeof *out->offsets, &ok),
        .distances = need(memory, &owner->distances, list->extras & KITH_DISTANCES, capacity, real,
                          &ok),
        .vectors = need(memory, &owner->vectors, list->extras & KITH_VECTORS, capacity, 3 * real,
                        &ok),
        .shifts = need(memory, &owner->shifts, list->extras & KITH_SHIFTS, capacity,
                       3 * sizeof *out->shifts, &ok),
        .capacity = capacity,
        .memory = out->memory,
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

kith_pairs kith__list_piece(const kith_pairs *all, kith_precision precision, int64_t first,
                            int64_t n)
{
    const size_t real = (size_t)precision;
    kith_pairs piece = *all;
    piece.n = n;
    piece.capacity = n;
    piece.owner = NULL;
    piece.i = all->i + first;
    piece.j = all->j + first;
    piece.distances = all->distances ? (char *)all->distances + (size_t)first * real : NULL;
    piece.vectors = all->vectors ? (char *)all->vectors + 3 * (size_t)first * real : NULL;
    piece.shifts = all->shifts ? all->shifts + 3 * first : NULL;
    return piece;
}

kith_status kith__list_fits(kith_ctx *ctx, const kith_pairs *out)
{
    KITH_CHECK(ctx, out->n <= out->capacity, KITH_CAPACITY,
               "the list has %lld pairs, the arrays have room for %lld", (long long)out->n,
               (long long)out->capacity);
    return KITH_OK;
}

void kith__list_free(void *owned)
{
    struct owner *owner = owned;
    if (owner) {
        owner->memory->free(&owner->i);
        owner->memory->free(&owner->j);
        owner->memory->free(&owner->offsets);
        owner->memory->free(&owner->distances);
        owner->memory->free(&owner->vectors);
        owner->memory->free(&owner->shifts);
        free(owner);
    }
}
