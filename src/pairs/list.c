/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arrays of a pair list that the library owns: allocating them, and views of a range of them.
 */
#include "list.h"

#include "core/owned.h"

/* Numbers of the arrays in kith__owned.array. */
enum { I, J, OFFSETS, DISTANCES, VECTORS, SHIFTS, COUNTS };

/** Make an array hold n elements if the list has this array; its contents are lost when it grows.
 *  @param array       its number, of the enum above
 *  @param present     the list has this array
 *  @param element     size of an element [bytes]
 *  @param[in,out] ok  false: nothing is allocated any more; set to false when there is no memory
 *  @return the array; NULL when the list does not have it, or when there is no memory */
static void *need(struct kith__owned *owned, int array, bool present, int64_t n, size_t element,
                  bool *ok)
{
    void *data = present && *ok ? kith__owned_need(owned, array, (size_t)n * element) : NULL;
    *ok = *ok && (data || !present);
    return data;
}

kith_status kith__list_too_large(kith_ctx *ctx, const char *about, int64_t pairs, int64_t capacity)
{
    return kith__fail(ctx, KITH_NO_MEMORY,
                      "out of memory for a list of %s%lld pairs, in arrays for %lld; stream it in "
                      "blocks with kith_pairs_each",
                      about, (long long)pairs, (long long)capacity);
}

kith_status kith__list_need(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t pairs, int64_t capacity, kith_pairs *out)
{
    struct kith__owned *owned = kith__owned_in(ctx, out->memory, &out->owner);
    KITH_CHECK(ctx, owned != NULL, KITH_NO_MEMORY, "out of memory for a pair list");
    const size_t real = (size_t)precision;
    const bool ij = list->layout == KITH_IJ;
    const bool csr = list->layout == KITH_CSR;
    const bool matrix = list->layout == KITH_MATRIX;
    const unsigned extras = list->extras;
    bool ok = capacity < INT64_MAX / 64; /* no array overflows: an element has at most 24 bytes */
    *out = (kith_pairs){
        .rows = rows,
        .i = need(owned, I, ij, capacity, sizeof *out->i, &ok),
        .j = need(owned, J, true, capacity, sizeof *out->j, &ok),
        .offsets = need(owned, OFFSETS, csr, rows + 1, sizeof *out->offsets, &ok),
        .distances = need(owned, DISTANCES, extras & KITH_DISTANCES, capacity, real, &ok),
        .vectors = need(owned, VECTORS, extras & KITH_VECTORS, capacity, 3 * real, &ok),
        .shifts = need(owned, SHIFTS, extras & KITH_SHIFTS, capacity, 3 * sizeof *out->shifts, &ok),
        .capacity = capacity,
        .memory = out->memory,
        .size = out->size,
        .owner = owned,
        .counts = need(owned, COUNTS, matrix, rows, sizeof *out->counts, &ok),
    };
    if (!ok) {
        out->capacity = 0;
        return kith__list_too_large(ctx, "", pairs, capacity);
    }
    return KITH_OK;
}

kith_status kith__list_grow(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t pairs, kith_pairs *out)
{
    const int64_t old = out->owner ? out->capacity : 0;
    return kith__list_need(ctx, list, precision, rows, pairs, pairs > old ? pairs : old, out);
}

kith_pairs kith__list_piece(const kith_pairs *all, kith_precision precision, int64_t first,
                            int64_t n)
{
    const size_t real = (size_t)precision;
    kith_pairs piece = *all;
    piece.n = n;
    piece.capacity = n;
    piece.size = sizeof piece;
    piece.owner = NULL;
    piece.i = all->i ? all->i + first : NULL;
    piece.j = all->j ? all->j + first : NULL;
    piece.distances = all->distances ? (char *)all->distances + (size_t)first * real : NULL;
    piece.vectors = all->vectors ? (char *)all->vectors + 3 * (size_t)first * real : NULL;
    piece.shifts = all->shifts ? all->shifts + 3 * first : NULL;
    return piece;
}

kith_status kith__list_set(kith_ctx *ctx, int64_t n, int64_t rows, kith_pairs *out)
{
    out->n = n;
    out->rows = rows;
    KITH_CHECK(ctx, n <= out->capacity, KITH_CAPACITY,
               "the list has %lld pairs, the arrays hold %lld", (long long)n,
               (long long)out->capacity);
    return KITH_OK;
}

kith_status kith__matrix_need(kith_ctx *ctx, const struct kith__list *list,
                              kith_precision precision, int64_t rows, int64_t width,
                              kith_pairs *out)
{
    const kith_status status = kith__list_grow(ctx, list, precision, rows, rows * width, out);
    out->width = width;
    KITH_CHECK(ctx, status == KITH_OK, status, "out of memory for %lld rows of %lld neighbours",
               (long long)rows, (long long)width);
    return KITH_OK;
}

kith_status kith__matrix_fits(kith_ctx *ctx, const kith_pairs *out)
{
    KITH_CHECK(ctx, out->overflowed == 0, KITH_CAPACITY,
               "%lld of %lld rows have more than %lld neighbours: options.width %lld is needed",
               (long long)out->overflowed, (long long)out->rows, (long long)out->width,
               (long long)out->widest);
    return KITH_OK;
}
