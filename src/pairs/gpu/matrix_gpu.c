/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists on a GPU, host side. A list in device memory is written directly to the
 * caller's arrays. A list for the host is made in parts of consecutive rows in device memory, so
 * that it may be larger than that memory; each part costs a sweep.
 */
#include "matrix_gpu.h"

#include <string.h>

#include "pairs/list.h"
#include "pairs_batch_gpu.h"
#include "parts.h"

_Static_assert(sizeof(struct kith__gpu_matrix_totals) <= KITH_GPU_QUESTION_BYTES,
               "the totals fit the counters of a question");

/* Most entries of a part that is made in device memory and copied to the host. */
static const int64_t most_entries = (int64_t)1 << 24;

/* Buffer in device memory: struct kith__gpu_matrix_totals of a batch. */
enum { TOTALS = KITH_WORK_OF(pairs) + 8 };

/** A search whose rows are made: of one system, or of a batch. */
struct rows {
    kith_ctx *ctx;                          /**< context of the call */
    struct kith__gpu *gpu;                  /**< ctx->state */
    struct kith__gpu_search *search;        /**< the search in one system; NULL: in a batch */
    struct kith__gpu_batch *batch;          /**< the search in a batch; NULL: in one system */
    kith_precision precision;               /**< precision of the points */
    int64_t n;                              /**< number of rows */
    bool empty;                             /**< a set has no particles: nothing to sweep */
    int64_t *counts;                        /**< [n] neighbours of each particle; device memory */
    struct kith__gpu_matrix_totals *totals; /**< the totals; device memory */
};

/** Describe the rows of a search in one system, whose totals are the counters of the question. The
 *  sweep finds pairs from both ends. */
static struct rows rows_of_search(struct kith__gpu_search *s)
{
    struct kith__gpu_small *small = s->gpu->slot[KITH_GPU_PLAN].data;
    s->sweep.forward = false;
    return (struct rows){.ctx = s->ctx,
                         .gpu = s->gpu,
                         .search = s,
                         .precision = s->sweep.grid.question.precision,
                         .n = s->sweep.grid.question.a.n,
                         .empty = s->empty,
                         .counts = s->counts,
                         .totals = (struct kith__gpu_matrix_totals *)(void *)small->question};
}

/** Describe the rows of a search in a batch. Their totals need memory of their own, buffer TOTALS,
 *  as the small data of a batch have no counters of a question. */
static kith_status rows_of_batch(struct kith__gpu_batch *b, struct rows *rows)
{
    kith_ctx *ctx = b->ctx;
    b->sweep.upper = false;
    *rows = (struct rows){.ctx = ctx,
                          .gpu = b->gpu,
                          .batch = b,
                          .precision = b->sweep.systems.question.precision,
                          .n = b->sweep.systems.question.a.n,
                          .empty = b->empty,
                          .counts = b->counts,
                          .totals = kith__gpu_need(b->gpu, TOTALS, sizeof *rows->totals)};
    KITH_CHECK(ctx, rows->totals != NULL, KITH_NO_MEMORY, "out of device memory for totals");
    return KITH_OK;
}

/** Queue the clearing of the totals. */
static kith_status clear_totals(const struct rows *rows)
{
    kith_ctx *ctx = rows->ctx;
    KITH_GPU_TRY(ctx, "clearing totals",
                 gpuMemsetAsync(rows->totals, 0, sizeof *rows->totals, rows->gpu->stream));
    return KITH_OK;
}

/** Queue the sweep that writes the hits of some rows. */
static gpuError_t queue_sweep(const struct rows *rows, const struct kith__rules *rules,
                              const struct kith__gpu_matrix *matrix)
{
    gpuStream_t stream = rows->gpu->stream;
    return rows->batch ? kith__gpu_batch_fill_matrix(&rows->batch->sweep, rules, matrix, stream)
                       : kith__gpu_fill_matrix(&rows->search->sweep, rules, matrix, stream);
}

/** Queue what follows the sweep for some rows: the sort, the entries without a neighbour, and the
 *  sum of the totals. */
static gpuError_t queue_finish(const struct rows *rows, const struct kith__gpu_matrix *matrix)
{
    gpuStream_t stream = rows->gpu->stream;
    return rows->batch
               ? kith__gpu_batch_finish_matrix(&rows->batch->sweep.systems, matrix, rows->totals,
                                               stream)
               : kith__gpu_finish_matrix(&rows->search->sweep.grid, matrix, rows->totals, stream);
}

/** Queue the making of rows [first, last).
 *  @param width  entries of a row
 *  @param out    arrays in device memory, whose first row is row `first` */
static kith_status queue_rows(const struct rows *rows, const struct kith__list *list, int64_t width,
                              int64_t first, int64_t last, const kith_pairs *out)
{
    kith_ctx *ctx = rows->ctx;
    struct kith__gpu_matrix matrix = {
        .list = kith__gpu_part_of(list, out, 0),
        .first = first,
        .last = last,
        .width = width,
        .fill = list->fill,
        .counts = rows->counts,
        .row_counts = out->counts,
    };
    matrix.list.capacity = (last - first) * width;
    if (!rows->empty) {
        KITH_GPU_TRY(ctx, "clearing counts",
                     gpuMemsetAsync(rows->counts, 0, (size_t)rows->n * sizeof *rows->counts,
                                    rows->gpu->stream));
        KITH_GPU_TRY(ctx, "filling rows", queue_sweep(rows, list->rules, &matrix));
    }
    KITH_GPU_TRY(ctx, "filling rows", queue_finish(rows, &matrix));
    return KITH_OK;
}

/** Make rows [first, last) in device memory, and copy them to the host's arrays. */
static kith_status fetch_rows(const struct rows *rows, const struct kith__list *list, int64_t first,
                              int64_t last, const kith_pairs *out)
{
    kith_pairs *part = &rows->gpu->staging;
    const int64_t begin = first * out->width;
    const int64_t n = (last - first) * out->width;
    part->memory = KITH_DEVICE;
    KITH_TRY(kith__list_need(rows->ctx, list, rows->precision, last - first, n, n, part));
    KITH_TRY(queue_rows(rows, list, out->width, first, last, part));
    part->n = n;
    KITH_TRY(kith__gpu_fetch_part(rows->ctx, list, rows->precision, part, out, begin));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        kith__gpu_copy_of(out->counts, part->counts, first, last - first, sizeof *out->counts)};
    KITH_TRY(kith__gpu_download(rows->ctx, copies));
    KITH_CHECK(rows->ctx, !kith__watch(rows->ctx, last, rows->n), KITH_CANCELLED,
               "cancelled by the watch callback");
    return KITH_OK;
}

/** Wait for all queued work, and copy the totals to the host.
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used; KITH_INVALID for
 *          offsets or boxes of a batch; a failure */
static kith_status read_totals(const struct rows *rows, struct kith__gpu_matrix_totals *totals)
{
    if (rows->search) {
        KITH_TRY(kith__gpu_read_back(rows->search, NULL, NULL));
        memcpy(totals, rows->gpu->small->question, sizeof *totals);
        return KITH_OK;
    }
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)totals, (const char *)rows->totals, sizeof *totals}};
    KITH_TRY(kith__gpu_batch_read(rows->batch, NULL));
    return kith__gpu_download(rows->ctx, copies);
}

/** Make all rows, of out->width entries, and set rows, n, widest and overflowed of out. */
static kith_status fill_width(const struct rows *rows, const struct kith__list *list,
                              kith_pairs *out)
{
    struct kith__gpu_matrix_totals totals;
    const int64_t n = rows->n;
    KITH_TRY(clear_totals(rows));
    if (out->memory == KITH_DEVICE) {
        KITH_TRY(queue_rows(rows, list, out->width, 0, n, out));
    } else {
        const int64_t most = out->width > 0 ? most_entries / out->width : n;
        const int64_t each = most > 0 ? most : 1;
        for (int64_t first = 0; first < n; first += each) {
            KITH_TRY(fetch_rows(rows, list, first, n - first < each ? n : first + each, out));
        }
    }
    KITH_TRY(read_totals(rows, &totals));
    out->rows = n;
    out->n = (int64_t)totals.pairs;
    out->widest = (int64_t)totals.widest;
    out->overflowed = (int64_t)totals.overflowed;
    return KITH_OK;
}

/** Make a list. @param grow  as for kith__pairs_backend.fill */
static kith_status fill(const struct rows *rows, const struct kith__list *list, bool grow,
                        kith_pairs *out)
{
    kith_ctx *ctx = rows->ctx;
    KITH_TRY(grow ? kith__matrix_need(ctx, list, rows->precision, rows->n, list->width, out)
                  : KITH_OK);
    KITH_TRY(fill_width(rows, list, out));
    if (grow && out->overflowed > 0) {
        KITH_TRY(kith__matrix_need(ctx, list, rows->precision, rows->n, out->widest, out));
        KITH_TRY(fill_width(rows, list, out));
    }
    return kith__matrix_fits(ctx, out);
}

/** Queue the making of a list, whose arrays are in device memory. */
static kith_status queue(const struct rows *rows, const struct kith__list *list,
                         const kith_pairs *out)
{
    KITH_TRY(clear_totals(rows));
    return queue_rows(rows, list, list->width, 0, rows->n, out);
}

kith_status kith__gpu_matrix_fill(struct kith__gpu_search *search, const struct kith__list *list,
                                  bool grow, kith_pairs *out)
{
    const struct rows rows = rows_of_search(search);
    return fill(&rows, list, grow, out);
}

kith_status kith__gpu_matrix_enqueue(struct kith__gpu_search *search, const struct kith__list *list,
                                     const kith_pairs *out, int64_t *result)
{
    kith_ctx *ctx = search->ctx;
    const struct rows rows = rows_of_search(search);
    KITH_TRY(queue(&rows, list, out));
    KITH_GPU_TRY(
        ctx, "concluding",
        kith__gpu_write_totals(&search->sweep.grid, rows.totals, result, rows.gpu->stream));
    return KITH_OK;
}

kith_status kith__gpu_matrix_fill_batch(struct kith__gpu_batch *batch,
                                        const struct kith__list *list, bool grow, kith_pairs *out)
{
    struct rows rows;
    KITH_TRY(rows_of_batch(batch, &rows));
    return fill(&rows, list, grow, out);
}

kith_status kith__gpu_matrix_enqueue_batch(struct kith__gpu_batch *batch,
                                           const struct kith__list *list, const kith_pairs *out,
                                           int64_t *result)
{
    kith_ctx *ctx = batch->ctx;
    struct rows rows;
    KITH_TRY(rows_of_batch(batch, &rows));
    KITH_TRY(queue(&rows, list, out));
    KITH_GPU_TRY(
        ctx, "concluding",
        kith__gpu_batch_write_totals(&batch->sweep.systems, rows.totals, result, rows.gpu->stream));
    return KITH_OK;
}
