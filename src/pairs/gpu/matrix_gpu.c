/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists on a GPU, host side. A list in device memory is written directly to the
 * caller's arrays. A list for the host is made in parts of consecutive rows in device memory, so
 * that it may be larger than that memory; each part costs a sweep.
 */
#include "matrix_gpu.h"

#include "pairs/list.h"
#include "parts.h"

_Static_assert(sizeof(struct kith__gpu_matrix_totals) <= KITH_GPU_QUESTION_BYTES,
               "the totals fit the counters of a question");

/* Most entries of a part that is made in device memory and copied to the host. */
static const int64_t most_entries = (int64_t)1 << 24;

/** Return the totals in device memory. */
static struct kith__gpu_matrix_totals *totals_of(const struct kith__gpu_search *s)
{
    struct kith__gpu_small *small = s->gpu->slot[KITH_GPU_PLAN].data;
    return (struct kith__gpu_matrix_totals *)(void *)small->question;
}

/** Queue the clearing of the totals. */
static kith_status clear_totals(struct kith__gpu_search *s)
{
    kith_ctx *ctx = s->ctx;
    KITH_GPU_TRY(
        ctx, "clearing totals",
        gpuMemsetAsync(totals_of(s), 0, sizeof(struct kith__gpu_matrix_totals), s->gpu->stream));
    return KITH_OK;
}

/** Queue the making of rows [first, last).
 *  @param width  entries of a row
 *  @param out    arrays in device memory, whose first row is row `first` */
static kith_status queue_rows(struct kith__gpu_search *s, const struct kith__list *list,
                              int64_t width, int64_t first, int64_t last, const kith_pairs *out)
{
    kith_ctx *ctx = s->ctx;
    gpuStream_t stream = s->gpu->stream;
    const int64_t n = s->sweep.grid.question.a.n;
    struct kith__gpu_matrix matrix = {
        .list = kith__gpu_part_of(list, out, 0),
        .first = first,
        .last = last,
        .width = width,
        .fill = list->fill,
        .counts = s->counts,
        .row_counts = out->counts,
    };
    matrix.list.capacity = (last - first) * width;
    if (!s->empty) {
        s->sweep.forward = false;
        KITH_GPU_TRY(ctx, "clearing counts",
                     gpuMemsetAsync(s->counts, 0, (size_t)n * sizeof *s->counts, stream));
        KITH_GPU_TRY(ctx, "filling rows", kith__gpu_fill_matrix(&s->sweep, &matrix, stream));
    }
    KITH_GPU_TRY(ctx, "filling rows",
                 kith__gpu_finish_matrix(&s->sweep.grid, &matrix, totals_of(s), stream));
    return KITH_OK;
}

/** Make rows [first, last) in device memory, and copy them to the host's arrays. */
static kith_status fetch_rows(struct kith__gpu_search *s, const struct kith__list *list,
                              int64_t first, int64_t last, const kith_pairs *out)
{
    kith_pairs *part = &s->gpu->staging;
    const kith_precision precision = s->sweep.grid.question.precision;
    const int64_t begin = first * out->width;
    const int64_t n = (last - first) * out->width;
    part->memory = KITH_DEVICE;
    KITH_TRY(kith__list_need(s->ctx, list, precision, last - first, n, n, part));
    KITH_TRY(queue_rows(s, list, out->width, first, last, part));
    part->n = n;
    KITH_TRY(kith__gpu_fetch_part(s->ctx, list, precision, part, out, begin));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        kith__gpu_copy_of(out->counts, part->counts, first, last - first, sizeof *out->counts)};
    KITH_TRY(kith__gpu_download(s->ctx, copies));
    KITH_CHECK(s->ctx, !kith__watch(s->ctx, last, s->sweep.grid.question.a.n), KITH_CANCELLED,
               "cancelled by the watch callback");
    return KITH_OK;
}

/** Make all rows, of out->width entries, and set the totals of out. */
static kith_status fill_width(struct kith__gpu_search *s, const struct kith__list *list,
                              kith_pairs *out)
{
    const int64_t n = s->sweep.grid.question.a.n;
    KITH_TRY(clear_totals(s));
    if (out->memory == KITH_DEVICE) {
        KITH_TRY(queue_rows(s, list, out->width, 0, n, out));
    } else {
        const int64_t most = out->width > 0 ? most_entries / out->width : n;
        const int64_t rows = most > 0 ? most : 1;
        for (int64_t first = 0; first < n; first += rows) {
            KITH_TRY(fetch_rows(s, list, first, n - first < rows ? n : first + rows, out));
        }
    }
    KITH_TRY(kith__gpu_read_back(s, NULL, NULL));
    const struct kith__gpu_matrix_totals *totals =
        (const struct kith__gpu_matrix_totals *)(const void *)s->gpu->small->question;
    out->rows = n;
    out->n = (int64_t)totals->pairs;
    out->widest = (int64_t)totals->widest;
    out->overflowed = (int64_t)totals->overflowed;
    return KITH_OK;
}

kith_status kith__gpu_matrix_fill(struct kith__gpu_search *s, const struct kith__list *list,
                                  bool grow, kith_pairs *out)
{
    kith_ctx *ctx = s->ctx;
    const kith_precision precision = s->sweep.grid.question.precision;
    const int64_t n = s->sweep.grid.question.a.n;
    KITH_TRY(grow ? kith__matrix_need(ctx, list, precision, n, list->width, out) : KITH_OK);
    KITH_TRY(fill_width(s, list, out));
    if (grow && out->overflowed > 0) {
        KITH_TRY(kith__matrix_need(ctx, list, precision, n, out->widest, out));
        KITH_TRY(fill_width(s, list, out));
    }
    return kith__matrix_fits(ctx, out);
}

kith_status kith__gpu_matrix_enqueue(struct kith__gpu_search *s, const struct kith__list *list,
                                     const kith_pairs *out, int64_t *result)
{
    kith_ctx *ctx = s->ctx;
    KITH_TRY(clear_totals(s));
    KITH_TRY(queue_rows(s, list, list->width, 0, s->sweep.grid.question.a.n, out));
    KITH_GPU_TRY(ctx, "concluding",
                 kith__gpu_write_totals(&s->sweep.grid, totals_of(s), result, s->gpu->stream));
    return KITH_OK;
}
