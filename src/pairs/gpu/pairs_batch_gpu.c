/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists of a batch on a GPU, by rows: one sweep counts the hits of each particle, the prefix
 * sum of the counts gives the offset of each row, and a second sweep fills the rows. That is so for
 * (i, j) lists that are not sorted, too, except when any order is permitted: then a single sweep
 * appends pairs instead. Lists for the host are made in parts in device memory, which end between
 * rows. matrix_gpu.c makes rows of a fixed width.
 */
#include "pairs_batch_gpu.h"

#include "engine/gpu/batch_search.h"
#include "matrix_gpu.h"
#include "pairs/list.h"
#include "parts.h"
#include "rules_gpu.h"

/** Queue the offsets of the rows: b->counts. Sets b->sweep.upper.
 *  @param full  count the pairs of the full list, whatever list->full is */
static kith_status queue_offsets(struct kith__gpu_batch *b, const struct kith__list *list,
                                 bool full)
{
    kith_ctx *ctx = b->ctx;
    b->sweep.upper = !list->full && !full;
    if (b->empty) {
        return KITH_OK;
    }
    KITH_GPU_TRY(ctx, "counting rows",
                 kith__gpu_batch_count(&b->sweep, list->rules, b->counts, b->gpu->stream));
    return kith__gpu_batch_scan(b);
}

/** Return true when any order of the list is permitted, and its pairs can be appended. */
static bool is_unordered(const struct kith__list *list)
{
    return list->unordered && !list->sorted && list->layout == KITH_IJ;
}

/** Queue the making of a list in any order by one sweep, in arrays in device memory:
 *  b->sweep.systems.small->total becomes the number of its pairs. */
static kith_status queue_unordered(struct kith__gpu_batch *b, const struct kith__list *list,
                                   const kith_pairs *out)
{
    kith_ctx *ctx = b->ctx;
    const struct kith__gpu_list part = kith__gpu_part_of(list, out, 0);
    b->sweep.upper = !list->full;
    if (!b->empty) {
        KITH_GPU_TRY(ctx, "finding pairs",
                     kith__gpu_batch_write(&b->sweep, list->rules, &part, NULL, b->gpu->stream));
    }
    return KITH_OK;
}

/** Queue the writing of the part of the list from pair `base` on that the arrays hold. */
static kith_status queue_rows(struct kith__gpu_batch *b, const struct kith__list *list,
                              const kith_pairs *out, int64_t base)
{
    kith_ctx *ctx = b->ctx;
    const struct kith__gpu_list part = kith__gpu_part_of(list, out, base);
    if (b->empty || out->capacity == 0) {
        return KITH_OK;
    }
    KITH_GPU_TRY(ctx, "filling rows",
                 kith__gpu_batch_write(&b->sweep, list->rules, &part, b->counts, b->gpu->stream));
    if (list->sorted) {
        KITH_GPU_TRY(ctx, "sorting rows",
                     kith__gpu_batch_sort(&b->sweep.systems, &part, b->counts, b->gpu->stream));
    }
    return KITH_OK;
}

/** Queue the writing of the whole list, in arrays in device memory. */
static kith_status queue_list(struct kith__gpu_batch *b, const struct kith__list *list,
                              const kith_pairs *out)
{
    kith_ctx *ctx = b->ctx;
    const size_t rows = (size_t)b->sweep.systems.question.a.n + 1;
    if (list->layout == KITH_CSR) {
        KITH_GPU_TRY(ctx, "copying offsets",
                     gpuMemcpyAsync(out->offsets, b->counts, rows * sizeof *b->counts,
                                    gpuMemcpyDeviceToDevice, b->gpu->stream));
    }
    return queue_rows(b, list, out, 0);
}

/* ---------------------------------------------------------------------------------- to the host */

/** A list that is made in parts and copied to the host. */
struct parts {
    struct kith__gpu_batch *b;     /**< the search */
    const struct kith__list *list; /**< the form of the list */
    const int64_t *offsets;        /**< [a.n + 1] first pair of each row, in host memory */
    kith_pairs *out;               /**< destination; NULL: the callback */
    kith_block_fn fn;              /**< the callback */
    void *user;                    /**< argument of the callback */
};

/** Make the list in parts, and copy them to the host. A part has the rows that together have at
 *  most `most` pairs, or one row with more. Each part is a sweep over all particles. */
static kith_status make_parts(const struct parts *t, int64_t most)
{
    struct kith__gpu_batch *b = t->b;
    kith_pairs *staging = &b->gpu->staging;
    const int64_t rows = b->batch->whole.a.n;
    const kith_precision precision = b->batch->whole.precision;
    for (int64_t first = 0, last; first < rows; first = last) {
        const int64_t base = t->offsets[first];
        for (last = first + 1; last < rows && t->offsets[last + 1] - base <= most; last++) {}
        const int64_t n = t->offsets[last] - base;
        if (n == 0) {
            continue;
        }
        staging->memory = KITH_DEVICE;
        KITH_TRY(kith__list_need(b->ctx, t->list, precision, 0, n, n, staging));
        staging->n = n;
        kith_pairs part = *staging;
        part.capacity = n;
        KITH_TRY(queue_rows(b, t->list, &part, base));
        KITH_TRY(t->out ? kith__gpu_fetch_part(b->ctx, t->list, precision, &part, t->out, base)
                        : kith__gpu_pass_part(b->ctx, t->list, precision, rows, &part, base,
                                              t->list->block_pairs, t->fn, t->user));
        KITH_CHECK(b->ctx, !kith__watch(b->ctx, t->offsets[last], t->offsets[rows] + 1),
                   KITH_CANCELLED, "cancelled by the watch callback");
    }
    return KITH_OK;
}

/** Copy the offsets of the rows, b->counts after queue_offsets, to the host.
 *  @param to            [a.n + 1] destination; NULL: scratch memory of the context
 *  @param[out] offsets  [a.n + 1] the destination */
static kith_status fetch_offsets(struct kith__gpu_batch *b, int64_t *to, const int64_t **offsets)
{
    kith_ctx *ctx = b->ctx;
    const int64_t rows = b->batch->whole.a.n;
    const size_t bytes = (size_t)(rows + 1) * sizeof *to;
    to = to ? to : kith__work_need(&ctx->work, KITH_WORK_OF(pairs), bytes);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for %lld rows", (long long)rows);
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {{(char *)to, (const char *)b->counts, bytes}};
    *offsets = to;
    return kith__gpu_download(ctx, copies);
}

/** Make a list in arrays in host memory. */
static kith_status fill_on_host(struct kith__gpu_batch *b, const struct kith__list *list, bool grow,
                                kith_pairs *out)
{
    static const int64_t most = (int64_t)1 << 24; /* pairs of a part */
    struct parts t = {.b = b, .list = list, .out = out};
    const int64_t rows = b->batch->whole.a.n;
    int64_t n = 0;
    KITH_TRY(queue_offsets(b, list, false));
    KITH_TRY(kith__gpu_batch_read(b, &n));
    if (grow) {
        KITH_TRY(kith__list_grow(b->ctx, list, b->batch->whole.precision, rows, n, out));
    }
    KITH_TRY(kith__list_set(b->ctx, n, rows, out));
    KITH_TRY(fetch_offsets(b, list->layout == KITH_CSR ? out->offsets : NULL, &t.offsets));
    return make_parts(&t, most);
}

/* ------------------------------------------------------------------------------------- backend */

kith_status kith__gpu_fill_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                 const struct kith__list *asked, bool grow, kith_pairs *out)
{
    struct kith__gpu_batch b;
    struct kith__gpu_ruled ruled;
    const struct kith__list *list = &ruled.list;
    const int64_t rows = batch->whole.a.n;
    int64_t n = 0;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_bring_rules(ctx, &batch->whole, asked, false, &ruled));
    KITH_TRY(kith__gpu_batch_begin(ctx, batch, true, false, &b));
    if (list->layout == KITH_MATRIX) {
        return kith__gpu_matrix_fill_batch(&b, list, grow, out);
    }
    if (out->memory == KITH_HOST) {
        return fill_on_host(&b, list, grow, out);
    }
    if (!grow && is_unordered(list)) {
        KITH_TRY(queue_unordered(&b, list, out));
        KITH_TRY(kith__gpu_batch_read(&b, NULL));
        return kith__list_set(ctx, b.small.total, rows, out);
    }
    KITH_TRY(queue_offsets(&b, list, false));
    if (grow) {
        KITH_TRY(kith__gpu_batch_read(&b, &n));
        KITH_TRY(kith__list_grow(ctx, list, batch->whole.precision, rows, n, out));
    }
    KITH_TRY(queue_list(&b, list, out));
    KITH_TRY(kith__gpu_batch_read(&b, &n));
    return kith__list_set(ctx, n, rows, out);
}

kith_status kith__gpu_enqueue_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                    const struct kith__list *asked, const kith_pairs *out,
                                    int64_t *result)
{
    struct kith__gpu_batch b;
    struct kith__gpu_ruled ruled;
    const struct kith__list *list = &ruled.list;
    KITH_TRY(kith__gpu_begin_queueing(ctx));
    KITH_TRY(kith__gpu_bring_rules(ctx, &batch->whole, asked, true, &ruled));
    KITH_TRY(kith__gpu_batch_begin(ctx, batch, false, false, &b));
    if (list->layout == KITH_MATRIX) {
        return kith__gpu_matrix_enqueue_batch(&b, list, out, result);
    }
    const int64_t *total = b.counts + batch->whole.a.n;
    if (is_unordered(list)) {
        KITH_TRY(queue_unordered(&b, list, out));
        total = &b.sweep.systems.small->total;
    } else {
        KITH_TRY(queue_offsets(&b, list, false));
        KITH_TRY(queue_list(&b, list, out));
    }
    KITH_GPU_TRY(ctx, "concluding",
                 kith__gpu_batch_result(&b.sweep.systems, total, result, b.gpu->stream));
    return KITH_OK;
}

kith_status kith__gpu_count_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                  const struct kith__list *asked, int64_t *n, int64_t *neighbours)
{
    struct kith__gpu_batch b;
    struct kith__gpu_ruled ruled;
    const struct kith__list *list = &ruled.list;
    int64_t sum = 0;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_bring_rules(ctx, &batch->whole, asked, false, &ruled));
    KITH_TRY(kith__gpu_batch_begin(ctx, batch, true, false, &b));
    KITH_TRY(queue_offsets(&b, list, true));
    KITH_TRY(kith__gpu_batch_read(&b, &sum));
    if (neighbours) {
        const int64_t *offsets;
        KITH_TRY(fetch_offsets(&b, NULL, &offsets));
        for (int64_t p = 0; p < batch->whole.a.n; p++) {
            neighbours[p] = offsets[p + 1] - offsets[p];
        }
    }
    *n = list->full ? sum : sum / 2;
    return KITH_OK;
}

kith_status kith__gpu_each_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                 const struct kith__list *asked, kith_block_fn fn, void *user)
{
    static const int64_t least = (int64_t)1 << 22; /* pairs of a part, whatever block_pairs is */
    struct kith__gpu_batch b;
    struct kith__gpu_ruled ruled;
    const struct kith__list *list = &ruled.list;
    struct parts t = {.b = &b, .list = list, .fn = fn, .user = user};
    int64_t n = 0;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_bring_rules(ctx, &batch->whole, asked, false, &ruled));
    KITH_TRY(kith__gpu_batch_begin(ctx, batch, true, false, &b));
    KITH_TRY(queue_offsets(&b, list, false));
    KITH_TRY(kith__gpu_batch_read(&b, &n));
    KITH_TRY(fetch_offsets(&b, NULL, &t.offsets));
    return make_parts(&t, least);
}
