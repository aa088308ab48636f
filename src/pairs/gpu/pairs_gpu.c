/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists on a GPU, host side, by the sweep (engine/gpu/gpu_sweep.cuh). Lists in device memory
 * are written directly to the list's arrays. Lists for the host are made in parts in device memory,
 * so that they may be larger than that memory.
 *
 * Appended, for (i, j) lists that are not sorted: one sweep counts the hits of each work block, the
 * prefix sum of the counts gives the offset of each work block, and a second sweep writes the
 * pairs. When any order is permitted, a single sweep appends pairs with an atomic counter.
 *
 * By rows, for CSR and sorted lists, and those with radii of several classes (class_lists.h): one
 * sweep counts the hits of each particle, the prefix sum of the counts gives the offset of each
 * row, and a second sweep fills the rows. matrix_gpu.c makes rows of a fixed width.
 */
#include "pairs_gpu.h"

#include "class_lists.h"
#include "engine/gpu/search.h"
#include "matrix_gpu.h"
#include "pairs/list.h"
#include "pairs_batch_gpu.h"
#include "parts.h"
#include "rules_gpu.h"

/** Return true when the list is written by rows, at offsets that are counted first; else it is
 *  written in the order of the work blocks, or in any order. */
static bool by_rows(const struct kith__list *list)
{
    return list->sorted || list->layout == KITH_CSR || list->classes;
}

/** Queue the offsets of work blocks, or rows, in the list: s->counts. Sets s->sweep.forward for the
 *  sweep that writes the list. Where there is nothing to sweep, the offsets are 0 already.
 *  @param[out] total  number of pairs of the list, in device memory: the last offset */
static kith_status queue_offsets(struct kith__gpu_search *s, const struct kith__list *list,
                                 const int64_t **total)
{
    kith_ctx *ctx = s->ctx;
    gpuStream_t stream = s->gpu->stream;
    const int64_t n = by_rows(list) ? s->sweep.grid.question.a.n : s->work_blocks;
    *total = s->counts + n;
    if (s->empty) {
        return KITH_OK;
    }
    if (list->classes) {
        return kith__gpu_classes_offsets(s, list);
    }
    if (by_rows(list)) {
        const bool one_sided = list->rules && list->rules->one_sided;
        s->sweep.forward = list->full && !s->sweep.grid.question.cross &&
                           !one_sided; /* count_both (pairs_gpu.cu) */
        KITH_GPU_TRY(ctx, "clearing counts",
                     gpuMemsetAsync(s->counts, 0, (size_t)(n + 1) * sizeof *s->counts, stream));
        KITH_GPU_TRY(ctx, "counting rows",
                     kith__gpu_count_rows(&s->sweep, list->rules, !list->full, s->counts, stream));
        s->sweep.forward = false;
    } else {
        s->sweep.forward = !list->full;
        KITH_GPU_TRY(ctx, "counting pairs",
                     kith__gpu_count_work_blocks(&s->sweep, list->rules, s->counts, n + 1, stream));
    }
    size_t bytes = s->temporary_bytes;
    KITH_GPU_TRY(ctx, "summing counts",
                 kith__gpu_scan(s->temporary, &bytes, s->counts, n + 1, stream));
    return KITH_OK;
}

/** Queue the writing of the rows that the arrays hold, and for a sorted list the sort of rows
 *  [first, last).
 *  @param part         the arrays, and the first pair of the list that they receive
 *  @param first, last  the rows whose pairs the arrays hold */
static kith_status fill_rows(struct kith__gpu_search *s, const struct kith__list *list,
                             const struct kith__gpu_list *part, int64_t first, int64_t last)
{
    kith_ctx *ctx = s->ctx;
    gpuStream_t stream = s->gpu->stream;
    if (list->classes) {
        return kith__gpu_classes_fill(s, list, part, first, last);
    }
    KITH_GPU_TRY(ctx, "filling rows",
                 kith__gpu_fill_rows(&s->sweep, list->rules, !list->full, part, s->counts, stream));
    if (list->sorted) {
        KITH_GPU_TRY(ctx, "sorting rows",
                     kith__gpu_sort_rows(&s->sweep.grid, part, s->counts, first, last, stream));
    }
    return KITH_OK;
}

/** Queue the writing of the whole list, whose offsets are in s->counts. */
static kith_status fill(struct kith__gpu_search *s, const struct kith__list *list,
                        const kith_pairs *out)
{
    kith_ctx *ctx = s->ctx;
    const int64_t n = s->sweep.grid.question.a.n;
    const struct kith__gpu_list part = kith__gpu_part_of(list, out, 0);
    if (list->layout == KITH_CSR) {
        KITH_GPU_TRY(ctx, "copying offsets",
                     gpuMemcpyAsync(out->offsets, s->counts, (size_t)(n + 1) * sizeof *s->counts,
                                    gpuMemcpyDeviceToDevice, s->gpu->stream));
    }
    if (s->empty || out->capacity == 0) {
        return KITH_OK;
    }
    if (by_rows(list)) {
        return fill_rows(s, list, &part, 0, n);
    }
    KITH_GPU_TRY(ctx, "filling pairs",
                 kith__gpu_append(&s->sweep, list->rules, &part, s->counts, NULL, s->gpu->stream));
    return KITH_OK;
}

/** Queue the making of a list in any order, by one sweep.
 *  @param[out] total  number of pairs of the list, in device memory */
static kith_status fill_unordered(struct kith__gpu_search *s, const struct kith__list *list,
                                  const kith_pairs *out, const void **total)
{
    struct kith__gpu_small *small = s->gpu->slot[KITH_GPU_PLAN].data;
    const struct kith__gpu_list part = kith__gpu_part_of(list, out, 0);
    *total = s->empty ? (const void *)s->counts : &small->total;
    s->sweep.forward = !list->full;
    if (!s->empty) {
        KITH_GPU_TRY(
            s->ctx, "finding pairs",
            kith__gpu_append(&s->sweep, list->rules, &part, NULL, &small->total, s->gpu->stream));
    }
    return KITH_OK;
}

/** Queue the making of a list in arrays in device memory.
 *  @param[out] total  number of pairs of the list, in device memory */
static kith_status queue(struct kith__gpu_search *s, const struct kith__list *list,
                         const kith_pairs *out, const void **total)
{
    if (list->unordered && !by_rows(list)) {
        return fill_unordered(s, list, out, total);
    }
    const int64_t *sum;
    KITH_TRY(queue_offsets(s, list, &sum));
    *total = sum;
    return fill(s, list, out);
}

/* ------------------------------------------------------------------------------------ streamed */

/* Smallest room for a part [pairs]: each part costs some launches and a wait, however small it
 * is. */
static const int64_t least_part = (int64_t)1 << 16;

/** A list that is made in parts and copied to the host. */
struct stream {
    struct kith__gpu_search *search; /**< the search */
    const struct kith__list *list;   /**< the list that is wanted */
    int64_t total;                   /**< number of pairs of the list */
    const int64_t *offsets; /**< [n_offsets] first pair of each work block or row, in host memory;
                                 NULL: not copied from the device yet */
    int64_t n_offsets;      /**< number of work blocks or rows, plus 1 */
    int64_t most;           /**< most pairs of a part, unless it is one row with more */
    int64_t piece;          /**< most pairs passed to fn at a time */

    /** Copy a part, whose first pair is pair `base` of the list, to its destination on the host. */
    kith_status (*deliver)(struct stream *stream, const kith_pairs *part, int64_t base);
    kith_pairs *out;  /**< destination of deliver_to_arrays */
    kith_block_fn fn; /**< the caller's callback, for deliver_to_function */
    void *user;       /**< argument of the callback */
};

/** Make the staging arrays in device memory hold a part of n pairs, at least least_part, and make
 *  the buffers through which it is copied (kith__gpu_need_transfers), for its i and j at least. */
static kith_status stage(struct stream *t, int64_t n)
{
    struct kith__gpu_search *s = t->search;
    KITH_TRY(kith__gpu_need_transfers(s->ctx, 2 * (size_t)n * sizeof(int32_t)));
    s->gpu->staging.memory = KITH_DEVICE;
    return kith__list_need(s->ctx, t->list, s->sweep.grid.question.precision, 0, n,
                           n > least_part ? n : least_part, &s->gpu->staging);
}

/** Make pairs [base, end) of the list and deliver them.
 *  @param first, last  the rows, or work blocks, that contain them: [first, last) */
static kith_status stream_part(struct stream *t, int64_t base, int64_t end, int64_t first,
                               int64_t last)
{
    struct kith__gpu_search *s = t->search;
    kith_ctx *ctx = s->ctx;
    kith_pairs *staging = &s->gpu->staging;
    KITH_TRY(stage(t, end - base));
    staging->n = end - base;
    struct kith__gpu_list part = kith__gpu_part_of(t->list, staging, base);
    part.capacity = staging->n; /* the arrays may hold more, but the part ends at pair `end` */
    if (by_rows(t->list)) {
        KITH_TRY(fill_rows(s, t->list, &part, first, last));
    } else {
        s->sweep.first = first;
        s->sweep.last = last < s->work_blocks ? last : s->work_blocks;
        KITH_GPU_TRY(
            ctx, "filling pairs",
            kith__gpu_append(&s->sweep, t->list->rules, &part, s->counts, NULL, s->gpu->stream));
    }
    KITH_TRY(t->deliver(t, staging, base));
    KITH_CHECK(ctx, !kith__watch(ctx, end, t->total), KITH_CANCELLED,
               "cancelled by the watch callback");
    return KITH_OK;
}

/** Copy the first n elements of s->counts, which are offsets after queue_offsets, to the host. */
static kith_status fetch_counts(struct kith__gpu_search *s, int64_t *to, int64_t n)
{
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)to, (const char *)s->counts, (size_t)n * sizeof *to}};
    return kith__gpu_download(s->ctx, copies);
}

/** Copy the offsets of work blocks or rows to the host. */
static kith_status fetch_offsets(struct stream *t)
{
    kith_ctx *ctx = t->search->ctx;
    const bool rows = by_rows(t->list);
    t->n_offsets = (rows ? t->search->sweep.grid.question.a.n : t->search->work_blocks) + 1;
    const size_t bytes = (size_t)t->n_offsets * sizeof(int64_t);
    int64_t *offsets = kith__work_need(&ctx->work, KITH_WORK_OF(pairs), bytes);
    KITH_CHECK(ctx, offsets != NULL, KITH_NO_MEMORY, "out of memory for %lld rows",
               (long long)t->n_offsets);
    t->offsets = offsets;
    return fetch_counts(t->search, offsets, t->n_offsets);
}

/** Make the list in parts and deliver them. Parts of an appended list have `most` pairs, and may
 *  end inside a work block; parts of a list by rows end between rows, and have one row with more
 *  than `most` pairs, or as many rows as together have at most `most`. */
static kith_status stream_parts(struct stream *t)
{
    const bool rows = by_rows(t->list);
    int64_t first = 0;
    int64_t last = 0;
    if (t->total <= t->most) { /* one part: no offsets are needed on the host */
        last = rows ? t->search->sweep.grid.question.a.n : INT64_MAX;
        return t->total > 0 ? stream_part(t, 0, t->total, 0, last) : KITH_OK;
    }
    if (!t->offsets) {
        KITH_TRY(fetch_offsets(t));
    }
    const int64_t *offsets = t->offsets;
    for (int64_t base = 0, end; base < t->total; base = end) {
        end = base + t->most < t->total ? base + t->most : t->total;
        /* first: row or work block of pair `base`; last: the one that begins at, or contains,
         * `end` */
        while (first + 1 < t->n_offsets && offsets[first + 1] <= base) {
            first++;
        }
        last = last > first ? last : first;
        while (last + 1 < t->n_offsets && offsets[last + 1] <= end) {
            last++;
        }
        if (rows) {
            last = last > first ? last : first + 1; /* a row with more than `most` pairs */
            end = offsets[last];
        }
        KITH_TRY(stream_part(t, base, end, first, rows ? last : last + 1));
    }
    return KITH_OK;
}

/** Copy a part to the host, to the arrays of the whole list. */
static kith_status deliver_to_arrays(struct stream *t, const kith_pairs *part, int64_t base)
{
    return kith__gpu_fetch_part(t->search->ctx, t->list, t->search->sweep.grid.question.precision,
                                part, t->out, base);
}

/** Copy a part to the host, and pass it to the callback, at most t->piece pairs at a time. */
static kith_status deliver_to_function(struct stream *t, const kith_pairs *part, int64_t base)
{
    const struct kith__question *q = &t->search->sweep.grid.question;
    return kith__gpu_pass_part(t->search->ctx, t->list, q->precision, q->a.n, part, base, t->piece,
                               t->fn, t->user);
}

/* ------------------------------------------------------------------------------------- backend */

/** Make the arrays that the library owns hold n pairs; a capacity that suffices stays. */
static kith_status grow_list(struct kith__gpu_search *s, const struct kith__list *list, int64_t n,
                             kith_pairs *out)
{
    const struct kith__question *q = &s->sweep.grid.question;
    return kith__list_grow(s->ctx, list, q->precision, q->a.n, n, out);
}

/** Make a list in arrays in host memory, in parts of at most 2^24 pairs, or of one row with
 *  more. */
static kith_status fill_on_host(struct kith__gpu_search *s, const struct kith__list *list,
                                bool grow, kith_pairs *out)
{
    static const int64_t most = (int64_t)1 << 24;
    const int64_t *total;
    KITH_TRY(queue_offsets(s, list, &total));
    struct stream t = {
        .search = s, .list = list, .most = most, .deliver = deliver_to_arrays, .out = out};
    KITH_TRY(kith__gpu_read_back(s, total, &t.total));
    if (grow) {
        KITH_TRY(grow_list(s, list, t.total, out));
    }
    KITH_TRY(kith__list_set(s->ctx, t.total, s->sweep.grid.question.a.n, out));
    if (list->layout == KITH_CSR) {
        t.offsets = out->offsets;
        t.n_offsets = out->rows + 1;
        KITH_TRY(fetch_counts(s, out->offsets, t.n_offsets));
    }
    return stream_parts(&t);
}

/** A search of an operation that waits for the device. */
struct waiting {
    struct kith__gpu_search s;      /**< the search */
    struct kith__gpu_ruled ruled;   /**< the list, with its rules in device memory */
    struct kith__class_lists lists; /**< searches between classes of radius */
};

/** Begin an operation that waits for the device: copy its rules, and build its grid or, where
 *  particles have radii of several classes, choose the searches between classes.
 *  @param asked   the list, with rules whose arrays are the caller's
 *  @param[out] w  w->ruled.list is the list for launchers. Not to be copied, as its members refer
 *                 to each other */
static kith_status begin_waiting(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__list *asked, struct waiting *w)
{
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_bring_rules(ctx, question, asked, false, &w->ruled));
    if (kith__wants_classes(question, asked) && asked->layout != KITH_MATRIX) {
        KITH_TRY(
            kith__gpu_classes_begin(ctx, question, asked->rules, &w->ruled.list, &w->lists, &w->s));
    }
    return w->ruled.list.classes
               ? KITH_OK
               : kith__gpu_search_begin(ctx, question, true, KITH_GPU_CLUSTER, &w->s);
}

/** kith__pairs_backend.fill. */
static kith_status fill_pairs(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__list *asked, bool grow, kith_pairs *out)
{
    struct waiting w;
    const struct kith__list *list = &w.ruled.list;
    struct kith__gpu_search *s = &w.s;
    KITH_TRY(begin_waiting(ctx, question, asked, &w));
    if (list->layout == KITH_MATRIX) {
        return kith__gpu_matrix_fill(s, list, grow, out);
    }
    if (out->memory == KITH_HOST) {
        return fill_on_host(s, list, grow, out);
    }
    int64_t n = 0;
    if (grow) {
        const int64_t *total;
        KITH_TRY(queue_offsets(s, list, &total));
        KITH_TRY(kith__gpu_read_back(s, total, &n));
        KITH_TRY(grow_list(s, list, n, out));
        KITH_TRY(fill(s, list, out));
        KITH_TRY(list->queued ? KITH_OK : kith__gpu_read_back(s, NULL, NULL));
    } else {
        const void *total;
        KITH_TRY(queue(s, list, out, &total));
        KITH_TRY(kith__gpu_read_back(s, total, &n));
    }
    return kith__list_set(ctx, n, question->a.n, out);
}

/** kith__pairs_backend.enqueue. */
static kith_status enqueue_pairs(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__list *asked, const kith_pairs *out,
                                 int64_t *result)
{
    struct kith__gpu_search s;
    struct kith__gpu_ruled ruled;
    const struct kith__list *list = &ruled.list;
    const void *total;
    KITH_TRY(kith__gpu_begin_queueing(ctx));
    KITH_TRY(kith__gpu_bring_rules(ctx, question, asked, true, &ruled));
    KITH_TRY(kith__gpu_search_begin(ctx, question, false, KITH_GPU_CLUSTER, &s));
    if (list->layout == KITH_MATRIX) {
        return kith__gpu_matrix_enqueue(&s, list, out, result);
    }
    KITH_TRY(queue(&s, list, out, &total));
    KITH_GPU_TRY(ctx, "concluding",
                 kith__gpu_write_result(&s.sweep.grid, total, result, s.gpu->stream));
    return KITH_OK;
}

/** kith__pairs_backend.count. */
static kith_status count_pairs(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__list *list, int64_t *n, int64_t *neighbours)
{
    struct waiting w;
    struct kith__gpu_search *s = &w.s;
    const int64_t particles = question->a.n;
    const bool from_both = question->cross || (list->rules && list->rules->one_sided);
    const int64_t each_twice = list->full && !from_both ? 2 : 1;
    /* By rows where each particle's number is wanted, else by work blocks. `full` makes each of
     * these sweeps find pairs from both ends; else the hits are those of a half list. */
    struct kith__list wanted = {.full = from_both || neighbours,
                                .layout = neighbours ? KITH_CSR : KITH_IJ};
    const int64_t *total;
    int64_t sum = 0;
    wanted.rules = list->rules;
    KITH_TRY(begin_waiting(ctx, question, &wanted, &w));
    wanted = w.ruled.list;
    KITH_TRY(queue_offsets(s, &wanted, &total));
    KITH_TRY(kith__gpu_read_back(s, total, &sum));
    if (!neighbours) {
        *n = sum * each_twice;
        return KITH_OK;
    }
    struct stream t = {.search = s, .list = &wanted};
    KITH_TRY(fetch_offsets(&t));
    for (int64_t p = 0; p < particles; p++) {
        neighbours[p] = t.offsets[p + 1] - t.offsets[p];
    }
    *n = list->full ? sum : sum / 2;
    return KITH_OK;
}

/** kith__pairs_backend.each. */
static kith_status each_block(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__list *asked, kith_block_fn fn, void *user)
{
    static const int64_t most = (int64_t)1 << 22; /* largest block, whatever the caller permits */
    struct waiting w;
    struct kith__gpu_search *s = &w.s;
    const struct kith__list *list = &w.ruled.list;
    const int64_t *total;
    KITH_TRY(begin_waiting(ctx, question, asked, &w));
    KITH_TRY(queue_offsets(s, list, &total));
    const int64_t wanted = list->block_pairs < most ? list->block_pairs : most;
    struct stream t = {.search = s,
                       .list = list,
                       .most = wanted > least_part ? wanted : least_part,
                       .piece = wanted,
                       .deliver = deliver_to_function,
                       .fn = fn,
                       .user = user};
    KITH_TRY(kith__gpu_read_back(s, total, &t.total));
    return stream_parts(&t);
}

const struct kith__pairs_backend kith__cuda_pairs = {
    .count = count_pairs,
    .fill = fill_pairs,
    .each = each_block,
    .enqueue = enqueue_pairs,
    .batch_count = kith__gpu_count_batch,
    .batch_fill = kith__gpu_fill_batch,
    .batch_each = kith__gpu_each_batch,
    .batch_enqueue = kith__gpu_enqueue_batch,
};
