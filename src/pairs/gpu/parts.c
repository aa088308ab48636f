/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copying parts of a list from device memory to the host (parts.h).
 */
#include "parts.h"

#include "pairs/list.h"

struct kith__gpu_list kith__gpu_part_of(const struct kith__list *list, const kith_pairs *out,
                                        int64_t base)
{
    return (struct kith__gpu_list){
        .base = base,
        .capacity = out->capacity,
        .i = list->layout == KITH_IJ ? out->i : NULL,
        .j = out->j,
        .distances = list->extras & KITH_DISTANCES ? out->distances : NULL,
        .vectors = list->extras & KITH_VECTORS ? out->vectors : NULL,
        .shifts = list->extras & KITH_SHIFTS ? out->shifts : NULL,
        .extras_later = list->sorted,
    };
}

struct kith__gpu_copy kith__gpu_copy_of(void *to, const void *from, int64_t begin, int64_t n,
                                        size_t element)
{
    const bool wanted = to && from;
    return (struct kith__gpu_copy){wanted ? (char *)to + (size_t)begin * element : NULL, from,
                                   wanted ? (size_t)n * element : 0};
}

kith_status kith__gpu_fetch_part(kith_ctx *ctx, const struct kith__list *list,
                                 kith_precision precision, const kith_pairs *part,
                                 const kith_pairs *out, int64_t base)
{
    const size_t real = (size_t)precision;
    const int64_t n = part->n;
    const struct kith__gpu_list from = kith__gpu_part_of(list, part, base);
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        kith__gpu_copy_of(out->i, from.i, base, n, sizeof *out->i),
        kith__gpu_copy_of(out->j, from.j, base, n, sizeof *out->j),
        kith__gpu_copy_of(out->distances, from.distances, base, n, real),
        kith__gpu_copy_of(out->vectors, from.vectors, base, n, 3 * real),
        kith__gpu_copy_of(out->shifts, from.shifts, base, n, 3 * sizeof *out->shifts),
    };
    return kith__gpu_download(ctx, copies);
}

kith_status kith__gpu_pass_part(kith_ctx *ctx, const struct kith__list *list,
                                kith_precision precision, int64_t rows, const kith_pairs *part,
                                int64_t base, int64_t most, kith_block_fn fn, void *user)
{
    struct kith__gpu *gpu = ctx->state;
    kith_pairs *block = &gpu->block;
    KITH_TRY(kith__list_need(ctx, list, precision, rows, part->n, part->n, block));
    KITH_TRY(kith__gpu_fetch_part(ctx, list, precision, part, block, 0));
    for (int64_t first = 0; first < part->n; first += most) {
        const int64_t left = part->n - first;
        const kith_pairs piece = kith__list_piece(block, precision, first,
                                                  left < most ? left : most);
        KITH_CHECK(ctx, fn(user, &piece, base + first) == 0, KITH_CANCELLED,
                   "stopped by the block callback");
    }
    return KITH_OK;
}
