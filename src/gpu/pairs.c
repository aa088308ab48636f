/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists on a GPU. Lists in device memory are written where they are to be. Lists for the host are
 * made a part at a time in device memory, so that they may be larger than it.
 *
 * Appended (i, j): the hits of each home are counted, their sums are the homes' places, a second
 * sweep fills them; one sweep where any order will do.
 * By rows (CSR, or sorted): likewise, with the hits of each particle.
 */
#include "pairs.h"

#include <string.h>

#include "../list.h"
#include "state.h"

/** Small things in device memory, in slot KITH_GPU_PLAN. */
struct small {
    struct kith__gpu_plan plan;
    struct kith__gpu_survey survey[2];
    unsigned long long total;
    int32_t n_homes;
    unsigned next;
};
_Static_assert(sizeof(struct small) + sizeof(int64_t) <= KITH_GPU_SMALL_BYTES, "read back at once");

/** A search under way. */
struct search {
    kith_ctx *ctx;
    struct kith__gpu *gpu;
    const struct kith__list *list;
    struct kith__gpu_sweep sweep;
    bool empty; /**< no particles: nothing to sweep */
    void *temporary;
    size_t temporary_bytes;
    int64_t *counts; /**< [a.n + 1] device memory: counts, then offsets, of homes or rows */
};

static bool by_rows(const struct kith__list *list)
{
    return list->sorted || list->layout == KITH_CSR;
}

static int bit_length(uint64_t value)
{
    int bits = 0;
    while (value >> bits) {
        bits++;
    }
    return bits > 0 ? bits : 1;
}

/** Bits of the largest cell number if the box alone bounds it, else 0. */
static int bits_of_box(const struct kith__question *q)
{
    double cells = 1;
    for (int k = 0; k < q->dim; k++) {
        if (!q->box_d.periodic[k]) {
            return 0;
        }
        cells *= fmax(1, floor(q->height[k] / q->cutoff));
    }
    return cells < 4e18 ? bit_length((uint64_t)cells) : 62;
}

/** Wait for the device, and learn the plan and *total, where wanted, from device memory. */
static kith_status read_back(struct search *s, const void *total, int64_t *n)
{
    kith_ctx *ctx = s->ctx;
    struct kith__gpu *gpu = s->gpu;
    struct small *small = gpu->small;
    int64_t *value = (int64_t *)(small + 1);
    KITH_GPU_TRY(ctx, "reading the result",
                 gpuMemcpyAsync(small, gpu->slot[KITH_GPU_PLAN].data, sizeof *small,
                                gpuMemcpyDeviceToHost, gpu->stream));
    if (total) {
        KITH_GPU_TRY(
            ctx, "reading the result",
            gpuMemcpyAsync(value, total, sizeof *value, gpuMemcpyDeviceToHost, gpu->stream));
    }
    KITH_GPU_TRY(ctx, "finding pairs", gpuStreamSynchronize(gpu->stream));
    const struct kith__gpu_plan *plan = &small->plan;
    const char *name = plan->set ? "against" : "points";
    const bool is_float = s->sweep.grid.question.precision == KITH_FLOAT;
    KITH_CHECK(ctx, plan->status != KITH_NOT_FINITE, KITH_NOT_FINITE,
               "%s: a coordinate of particle %lld (counted from 0) is not finite", name,
               (long long)plan->index);
    KITH_CHECK(ctx, plan->status == KITH_OK, KITH_LIMIT,
               "%s: particle %lld is more than 2^%d boxes outside the periodic box: too far to "
               "wrap in %s",
               name, (long long)plan->index, is_float ? 20 : 30, is_float ? "float" : "double");
    if (total) {
        *n = *value;
    }
    return KITH_OK;
}

/** Bring the coordinates of a set to the device; points is changed to where they are. */
static kith_status bring(struct search *s, int set, kith_points *points)
{
    if (points->memory == KITH_DEVICE || points->n == 0) {
        return KITH_OK;
    }
    kith_ctx *ctx = s->ctx;
    const size_t real = (size_t)points->precision;
    const char *from[3] = {points->x, points->y, points->z};
    const int dim = s->sweep.grid.question.dim;
    const char *lowest = from[0];
    const char *highest = from[0];
    for (int k = 1; k < dim; k++) {
        lowest = from[k] < lowest ? from[k] : lowest;
        highest = from[k] > highest ? from[k] : highest;
    }
    const size_t span = ((size_t)(points->n - 1) * (size_t)points->stride + 1) * real;
    const bool together = (size_t)(highest - lowest) < (size_t)points->stride * real;
    const size_t room = together ? span + (size_t)(highest - lowest) : (size_t)dim * span;
    char *to = kith__gpu_need(s->gpu, KITH_GPU_INPUT + set * KITH_GPU_SET_SLOTS, room);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of device memory for %lld particles",
               (long long)points->n);
    const char *at[3] = {NULL, NULL, NULL};
    if (together) {
        KITH_TRY(kith__gpu_upload(ctx, to, lowest, room));
    }
    for (int k = 0; k < dim; k++) {
        at[k] = together ? to + (from[k] - lowest) : to + (size_t)k * span;
        if (!together) {
            KITH_TRY(kith__gpu_upload(ctx, to + (size_t)k * span, from[k], span));
        }
    }
    points->x = at[0];
    points->y = at[1];
    points->z = at[2];
    points->memory = KITH_DEVICE;
    return KITH_OK;
}

static kith_status need_set(struct search *s, int number, const struct kith__question *q,
                            struct kith__gpu_set *set)
{
    struct kith__gpu *gpu = s->gpu;
    const int slot = number * KITH_GPU_SET_SLOTS;
    const size_t n = (size_t)(number ? q->b.n : q->a.n);
    const size_t most = (size_t)(q->a.n > q->b.n ? q->a.n : q->b.n) + 1; /* sorting swaps memory */
    const size_t real = (size_t)q->precision;
    *set = (struct kith__gpu_set){
        .n = (int64_t)n,
        .x = kith__gpu_need(gpu, slot + KITH_GPU_X, n * real),
        .y = kith__gpu_need(gpu, slot + KITH_GPU_Y, n * real),
        .z = kith__gpu_need(gpu, slot + KITH_GPU_Z, n * real),
        .id = kith__gpu_need(gpu, slot + KITH_GPU_ID, most * sizeof(int32_t)),
        .key = kith__gpu_need(gpu, slot + KITH_GPU_KEY, most * sizeof(uint64_t)),
        .start = kith__gpu_need(gpu, slot + KITH_GPU_START,
                                (size_t)(kith__table_limit(q) + 1) * sizeof(uint32_t)),
    };
    KITH_CHECK(s->ctx, set->x && set->y && set->z && set->id && set->key && set->start,
               KITH_NO_MEMORY, "out of device memory for a grid of %lld particles", (long long)n);
    return KITH_OK;
}

/** Room for the vendor's sort, scan and select of up to n. */
static kith_status need_temporary(struct search *s, int64_t n)
{
    kith_ctx *ctx = s->ctx;
    size_t sort = 0, scan = 0, select = 0;
    uint64_t *no_keys[2] = {NULL, NULL};
    int32_t *no_ids[2] = {NULL, NULL};
    KITH_GPU_TRY(ctx, "preparing to sort",
                 kith__gpu_sort_pairs(NULL, &sort, no_keys, no_ids, n, 62, s->gpu->stream));
    KITH_GPU_TRY(ctx, "preparing to scan",
                 kith__gpu_scan(NULL, &scan, NULL, n + 1, s->gpu->stream));
    KITH_GPU_TRY(ctx, "preparing to select",
                 kith__gpu_select_homes(NULL, &select, &s->sweep.grid, s->gpu->stream));
    s->temporary_bytes = sort > scan ? sort : scan;
    s->temporary_bytes = select > s->temporary_bytes ? select : s->temporary_bytes;
    s->temporary = kith__gpu_need(s->gpu, KITH_GPU_TEMPORARY, s->temporary_bytes);
    KITH_CHECK(ctx, s->temporary != NULL, KITH_NO_MEMORY,
               "out of device memory for sorting %lld particles", (long long)n);
    return KITH_OK;
}

/** A slot's data has become the other's, if it is not what it was. */
static void settle(struct kith__buffer *slot, const void *data, struct kith__buffer *other)
{
    if (slot->data != data) {
        const struct kith__buffer was = *slot;
        *slot = *other;
        *other = was;
    }
}

/** Queue the grid of a question. wait: the number of cells may be asked for, to sort fewer bits. */
static kith_status build(kith_ctx *ctx, const struct kith__question *question,
                         const struct kith__list *list, bool wait, struct search *s)
{
    struct kith__gpu *gpu = ctx->state;
    *s = (struct search){.ctx = ctx, .gpu = gpu, .list = list};
    KITH_CHECK(ctx, !kith__watch(ctx, 0, 1), KITH_CANCELLED, "cancelled by the watch callback");
    KITH_GPU_TRY(ctx, "choosing the device", gpuSetDevice(gpu->device));
    struct kith__gpu_grid *grid = &s->sweep.grid;
    grid->question = *question;
    grid->blur = kith__blur(question);
    struct kith__question *q = &grid->question;
    KITH_TRY(bring(s, 0, &q->a));
    q->b = q->cross ? q->b : q->a;
    if (q->cross) {
        KITH_TRY(bring(s, 1, &q->b));
    }
    struct small *small = kith__gpu_need(gpu, KITH_GPU_PLAN, sizeof *small);
    KITH_CHECK(ctx, small != NULL, KITH_NO_MEMORY, "out of device memory for a plan");
    grid->plan = &small->plan;
    grid->n_homes = &small->n_homes;
    s->sweep.next = &small->next;
    s->sweep.last = INT64_MAX;
    s->sweep.blocks = 12 * gpu->processors;
    const int64_t n = q->a.n > q->b.n ? q->a.n : q->b.n;
    struct kith__gpu_sort sort = {
        .key = kith__gpu_need(gpu, KITH_GPU_SORT_KEY, (size_t)(n + 1) * sizeof(uint64_t)),
        .id = kith__gpu_need(gpu, KITH_GPU_SORT_ID, (size_t)(n + 1) * sizeof(int32_t)),
    };
    KITH_CHECK(ctx, sort.key && sort.id, KITH_NO_MEMORY,
               "out of device memory for sorting %lld particles", (long long)n);
    s->counts = (int64_t *)sort.key;
    KITH_GPU_TRY(ctx, "choosing cells", kith__gpu_choose_cells(grid, small->survey, gpu->stream));
    s->empty = q->a.n == 0 || q->b.n == 0;
    if (s->empty) {
        KITH_GPU_TRY(
            ctx, "clearing counts",
            gpuMemsetAsync(s->counts, 0, (size_t)(n + 1) * sizeof *s->counts, gpu->stream));
        return wait ? read_back(s, NULL, NULL) : KITH_OK;
    }
    KITH_TRY(need_set(s, 0, q, &grid->a));
    grid->b = grid->a;
    if (q->cross) {
        KITH_TRY(need_set(s, 1, q, &grid->b));
    }
    KITH_TRY(need_temporary(s, n));
    int bits = bits_of_box(q);
    if (bits == 0 && wait) {
        KITH_TRY(read_back(s, NULL, NULL));
        bits = bit_length((uint64_t)((struct small *)gpu->small)->plan.cells);
    }
    bits = bits ? bits : 62;
    sort.temporary = s->temporary;
    sort.temporary_bytes = s->temporary_bytes;
    for (int set = 0; set < (q->cross ? 2 : 1); set++) {
        const struct kith__gpu_set *sorted = set ? &grid->b : &grid->a;
        const int slot = set * KITH_GPU_SET_SLOTS;
        const gpuError_t error = kith__gpu_sort_set(grid, set, bits, &sort, gpu->stream);
        settle(&gpu->slot[slot + KITH_GPU_KEY], sorted->key, &gpu->slot[KITH_GPU_SORT_KEY]);
        settle(&gpu->slot[slot + KITH_GPU_ID], sorted->id, &gpu->slot[KITH_GPU_SORT_ID]);
        KITH_GPU_TRY(ctx, "sorting", error);
        if (!q->cross) {
            grid->b = grid->a;
        }
    }
    s->counts = (int64_t *)sort.key; /* no longer needed for sorting */
    grid->homes = sort.id;
    KITH_GPU_TRY(ctx, "finding homes",
                 kith__gpu_find_homes(grid, s->temporary, s->temporary_bytes, gpu->stream));
    return KITH_OK;
}

/** Queue the places of homes, or rows, in the list. @return where the number of pairs will be. */
static kith_status place(struct search *s, const int64_t **total)
{
    kith_ctx *ctx = s->ctx;
    gpuStream_t stream = s->gpu->stream;
    const struct kith__list *list = s->list;
    const int64_t n = s->sweep.grid.question.a.n;
    *total = s->counts + n;
    if (s->empty) {
        return KITH_OK;
    }
    if (by_rows(list)) {
        s->sweep.forward = list->full && !s->sweep.grid.question.cross; /* counts at both ends */
        KITH_GPU_TRY(ctx, "clearing counts",
                     gpuMemsetAsync(s->counts, 0, (size_t)(n + 1) * sizeof *s->counts, stream));
        KITH_GPU_TRY(ctx, "counting rows",
                     kith__gpu_count_rows(&s->sweep, !list->full, s->counts, stream));
        s->sweep.forward = false;
    } else {
        s->sweep.forward = !list->full;
        KITH_GPU_TRY(ctx, "counting pairs",
                     kith__gpu_count_homes(&s->sweep, s->counts, n + 1, stream));
    }
    size_t bytes = s->temporary_bytes;
    KITH_GPU_TRY(ctx, "summing counts",
                 kith__gpu_scan(s->temporary, &bytes, s->counts, n + 1, stream));
    return KITH_OK;
}

/** Pairs [base, base + capacity) of the list, into arrays in device memory. */
static struct kith__gpu_list part_of(const struct kith__list *list, const kith_pairs *out,
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
        .later = list->sorted,
    };
}

/** Queue rows [first, last) of the list. */
static kith_status fill_rows(struct search *s, const struct kith__gpu_list *part, int64_t first,
                             int64_t last)
{
    kith_ctx *ctx = s->ctx;
    gpuStream_t stream = s->gpu->stream;
    KITH_GPU_TRY(ctx, "filling rows",
                 kith__gpu_fill_rows(&s->sweep, !s->list->full, part, s->counts, stream));
    if (s->list->sorted) {
        KITH_GPU_TRY(ctx, "sorting rows",
                     kith__gpu_sort_rows(&s->sweep.grid, part, s->counts, first, last, stream));
    }
    return KITH_OK;
}

/** Queue the whole list, once it has its places. */
static kith_status fill(struct search *s, const kith_pairs *out)
{
    kith_ctx *ctx = s->ctx;
    const struct kith__list *list = s->list;
    const int64_t n = s->sweep.grid.question.a.n;
    const struct kith__gpu_list part = part_of(list, out, 0);
    if (list->layout == KITH_CSR) {
        KITH_GPU_TRY(ctx, "copying offsets",
                     gpuMemcpyAsync(out->offsets, s->counts, (size_t)(n + 1) * sizeof *s->counts,
                                    gpuMemcpyDeviceToDevice, s->gpu->stream));
    }
    if (s->empty || out->capacity == 0) {
        return KITH_OK;
    }
    if (by_rows(list)) {
        return fill_rows(s, &part, 0, n);
    }
    KITH_GPU_TRY(ctx, "filling pairs",
                 kith__gpu_append(&s->sweep, &part, s->counts, NULL, s->gpu->stream));
    return KITH_OK;
}

/** Queue a list in any order: one sweep. @return where the number of pairs will be. */
static kith_status fill_unordered(struct search *s, const kith_pairs *out, const void **total)
{
    struct small *small = s->gpu->slot[KITH_GPU_PLAN].data;
    const struct kith__gpu_list part = part_of(s->list, out, 0);
    *total = s->empty ? (const void *)s->counts : &small->total;
    s->sweep.forward = !s->list->full;
    if (!s->empty) {
        KITH_GPU_TRY(s->ctx, "finding pairs",
                     kith__gpu_append(&s->sweep, &part, NULL, &small->total, s->gpu->stream));
    }
    return KITH_OK;
}

/** Queue a list into arrays in device memory. @return where the number of pairs will be. */
static kith_status queue(struct search *s, const kith_pairs *out, const void **total)
{
    if (s->list->unordered && !by_rows(s->list)) {
        return fill_unordered(s, out, total);
    }
    const int64_t *sum;
    KITH_TRY(place(s, &sum));
    *total = sum;
    return fill(s, out);
}

/* ------------------------------------------------------------------------------------ streamed */

/** A list on its way to the host. */
struct stream {
    struct search *search;
    int64_t total;
    const int64_t *offsets; /**< of homes or rows, in host memory */
    int64_t n_offsets;
    int64_t most; /**< pairs in a part */
    kith_status (*deliver)(struct stream *stream, const kith_pairs *part, int64_t base);
    kith_pairs *out; /**< deliver's */
    kith_block_fn fn;
    void *user;
};

/** Have room for a part of n pairs in device memory. */
static kith_status stage(struct stream *t, int64_t n)
{
    struct search *s = t->search;
    s->gpu->staging.memory = KITH_DEVICE;
    return kith__list_need(s->ctx, s->list, s->sweep.grid.question.precision, 0, n,
                           &s->gpu->staging);
}

/** Make and deliver pairs [base, end), which are rows [first, last) where the list is by rows. */
static kith_status stream_part(struct stream *t, int64_t base, int64_t end, int64_t first,
                               int64_t last)
{
    struct search *s = t->search;
    kith_ctx *ctx = s->ctx;
    kith_pairs *staging = &s->gpu->staging;
    KITH_TRY(stage(t, end - base));
    staging->n = end - base;
    const struct kith__gpu_list part = part_of(s->list, staging, base);
    if (by_rows(s->list)) {
        KITH_TRY(fill_rows(s, &part, first, last));
    } else {
        s->sweep.first = first;
        s->sweep.last = last;
        KITH_GPU_TRY(ctx, "filling pairs",
                     kith__gpu_append(&s->sweep, &part, s->counts, NULL, s->gpu->stream));
    }
    KITH_TRY(t->deliver(t, staging, base));
    KITH_CHECK(ctx, !kith__watch(ctx, end, t->total), KITH_CANCELLED,
               "cancelled by the watch callback");
    return KITH_OK;
}

/** Parts end anywhere in an appended list, and between rows in others. */
static kith_status stream_parts(struct stream *t)
{
    const bool rows = by_rows(t->search->list);
    const int64_t *offsets = t->offsets;
    int64_t first = 0;
    int64_t last = 0;
    for (int64_t base = 0, end; base < t->total; base = end) {
        end = base + t->most < t->total ? base + t->most : t->total;
        while (first + 1 < t->n_offsets && offsets[first + 1] <= base) {
            first++;
        }
        last = last > first ? last : first;
        while (last + 1 < t->n_offsets && offsets[last + 1] <= end) {
            last++;
        }
        if (rows) {
            last = last > first ? last : first + 1; /* a row that is too long goes whole */
            end = offsets[last];
        }
        KITH_TRY(stream_part(t, base, end, first, rows ? last : last + 1));
    }
    return KITH_OK;
}

/** Learn where homes or rows begin. */
static kith_status fetch_offsets(struct stream *t)
{
    kith_ctx *ctx = t->search->ctx;
    const struct small *small = t->search->gpu->small; /* read back already */
    const int64_t particles = t->search->sweep.grid.question.a.n;
    const bool homes = !by_rows(t->search->list) && !t->search->empty;
    t->n_offsets = (homes ? small->n_homes : particles) + 1;
    const size_t bytes = (size_t)t->n_offsets * sizeof(int64_t);
    int64_t *offsets = kith__work_need(&ctx->work, 0, bytes);
    KITH_CHECK(ctx, offsets != NULL, KITH_NO_MEMORY, "out of memory for %lld rows",
               (long long)t->n_offsets);
    t->offsets = offsets;
    return kith__gpu_download(ctx, offsets, t->search->counts, bytes);
}

/** Copy elements of one array of a part to the host's. */
static kith_status fetch(struct stream *t, void *to, const void *from, int64_t base, int64_t n,
                         size_t element)
{
    char *at = to ? (char *)to + (size_t)base * element : NULL;
    return at && from ? kith__gpu_download(t->search->ctx, at, from, (size_t)n * element) : KITH_OK;
}

/** Copy a part to the arrays of out, from pair `base` on. */
static kith_status fetch_part(struct stream *t, const kith_pairs *part, int64_t base,
                              const kith_pairs *out)
{
    const size_t real = (size_t)t->search->sweep.grid.question.precision;
    const unsigned extras = t->search->list->extras;
    const bool csr = t->search->list->layout == KITH_CSR;
    KITH_TRY(fetch(t, csr ? NULL : out->i, part->i, base, part->n, sizeof *out->i));
    KITH_TRY(fetch(t, out->j, part->j, base, part->n, sizeof *out->j));
    if (extras & KITH_DISTANCES) {
        KITH_TRY(fetch(t, out->distances, part->distances, base, part->n, real));
    }
    if (extras & KITH_VECTORS) {
        KITH_TRY(fetch(t, out->vectors, part->vectors, base, part->n, 3 * real));
    }
    if (extras & KITH_SHIFTS) {
        KITH_TRY(fetch(t, out->shifts, part->shifts, base, part->n, 3 * sizeof *out->shifts));
    }
    return KITH_OK;
}

static kith_status deliver_to_arrays(struct stream *t, const kith_pairs *part, int64_t base)
{
    return fetch_part(t, part, base, t->out);
}

/** Hand a part to the caller's function, in pieces no larger than wanted. */
static kith_status deliver_to_function(struct stream *t, const kith_pairs *part, int64_t base)
{
    struct search *s = t->search;
    kith_pairs *block = &s->gpu->block;
    const size_t real = (size_t)s->sweep.grid.question.precision;
    KITH_TRY(kith__list_need(s->ctx, s->list, s->sweep.grid.question.precision,
                             s->sweep.grid.question.a.n, part->n, block));
    KITH_TRY(fetch_part(t, part, 0, block));
    for (int64_t first = 0; first < part->n; first += t->most) {
        kith_pairs piece = *block;
        piece.n = part->n - first < t->most ? part->n - first : t->most;
        piece.i += first;
        piece.j += first;
        piece.distances = piece.distances ? (char *)piece.distances + (size_t)first * real : NULL;
        piece.vectors = piece.vectors ? (char *)piece.vectors + 3 * (size_t)first * real : NULL;
        piece.shifts = piece.shifts ? piece.shifts + 3 * first : NULL;
        piece.capacity = piece.n;
        piece.owner = NULL;
        KITH_CHECK(s->ctx, t->fn(t->user, &piece, base + first) == 0, KITH_CANCELLED,
                   "stopped by the block callback");
    }
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------- backend */

static kith_status check_room(kith_ctx *ctx, const kith_pairs *out)
{
    KITH_CHECK(ctx, out->n <= out->capacity, KITH_CAPACITY,
               "the list has %lld pairs, the arrays have room for %lld", (long long)out->n,
               (long long)out->capacity);
    return KITH_OK;
}

/** Make the library's arrays large enough for the list. */
static kith_status grow_list(struct search *s, int64_t n, kith_pairs *out)
{
    const struct kith__question *q = &s->sweep.grid.question;
    const int64_t old = out->owner ? out->capacity : 0;
    return kith__list_need(s->ctx, s->list, q->precision, q->a.n, n > old ? n : old, out);
}

static kith_status fill_on_host(struct search *s, bool grow, kith_pairs *out)
{
    static const int64_t most = (int64_t)1 << 24;
    const int64_t *total;
    KITH_TRY(place(s, &total));
    struct stream t = {.search = s, .most = most, .deliver = deliver_to_arrays, .out = out};
    KITH_TRY(read_back(s, total, &t.total));
    if (grow) {
        KITH_TRY(grow_list(s, t.total, out));
    }
    out->n = t.total;
    out->rows = s->sweep.grid.question.a.n;
    KITH_TRY(check_room(s->ctx, out));
    KITH_TRY(fetch_offsets(&t));
    if (s->list->layout == KITH_CSR) {
        memcpy(out->offsets, t.offsets, (size_t)t.n_offsets * sizeof *t.offsets);
    }
    return stream_parts(&t);
}

kith_status kith__gpu_pairs_fill(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__list *list, bool grow, kith_pairs *out)
{
    struct search s;
    KITH_TRY(build(ctx, question, list, true, &s));
    if (out->memory == KITH_HOST) {
        return fill_on_host(&s, grow, out);
    }
    int64_t n = 0;
    if (grow) {
        const int64_t *total;
        KITH_TRY(place(&s, &total));
        KITH_TRY(read_back(&s, total, &n));
        KITH_TRY(grow_list(&s, n, out));
        KITH_TRY(fill(&s, out));
        KITH_TRY(read_back(&s, NULL, NULL));
    } else {
        const void *total;
        KITH_TRY(queue(&s, out, &total));
        KITH_TRY(read_back(&s, total, &n));
    }
    out->n = n;
    out->rows = question->a.n;
    return check_room(ctx, out);
}

kith_status kith__gpu_pairs_enqueue(kith_ctx *ctx, const struct kith__question *question,
                                    const struct kith__list *list, const kith_pairs *out,
                                    int64_t *result)
{
    struct search s;
    const void *total;
    KITH_TRY(build(ctx, question, list, false, &s));
    KITH_TRY(queue(&s, out, &total));
    KITH_GPU_TRY(ctx, "concluding",
                 kith__gpu_conclude(&s.sweep.grid, total, result, s.gpu->stream));
    return KITH_OK;
}

kith_status kith__gpu_pairs_count(kith_ctx *ctx, const struct kith__question *question,
                                  const struct kith__list *list, int64_t *n, int64_t *neighbours)
{
    struct search s;
    const int64_t particles = question->a.n;
    const int64_t each_twice = list->full && !question->cross ? 2 : 1;
    struct kith__list wanted = {.full = question->cross || neighbours,
                                .layout = neighbours ? KITH_CSR : KITH_IJ};
    const int64_t *total;
    int64_t sum = 0;
    KITH_TRY(build(ctx, question, &wanted, true, &s));
    KITH_TRY(place(&s, &total));
    KITH_TRY(read_back(&s, total, &sum));
    if (!neighbours) {
        *n = sum * each_twice;
        return KITH_OK;
    }
    struct stream t = {.search = &s};
    KITH_TRY(fetch_offsets(&t));
    for (int64_t p = 0; p < particles; p++) {
        neighbours[p] = t.offsets[p + 1] - t.offsets[p];
    }
    *n = list->full ? sum : sum / 2;
    return KITH_OK;
}

kith_status kith__gpu_pairs_each(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__list *list, kith_block_fn fn, void *user)
{
    static const int64_t most = (int64_t)1 << 22;
    struct search s;
    const int64_t *total;
    KITH_TRY(build(ctx, question, list, true, &s));
    KITH_TRY(place(&s, &total));
    struct stream t = {.search = &s,
                       .most = list->block_pairs < most ? list->block_pairs : most,
                       .deliver = deliver_to_function,
                       .fn = fn,
                       .user = user};
    KITH_TRY(read_back(&s, total, &t.total));
    KITH_TRY(fetch_offsets(&t));
    return stream_parts(&t);
}
