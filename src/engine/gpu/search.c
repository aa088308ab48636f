/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's side of the start of a search on a GPU: copy the coordinates to the device, allocate
 * the grid, queue the kernels that build it (gpu_grid.cu). The work is queued without waiting,
 * except where the number of bits to sort is to be read back first.
 */
#include "search.h"

#include <assert.h>

_Static_assert((int)KITH_GPU_ENGINE_SLOTS <= (int)KITH_WORK_EACH,
               "the engine has as many buffers as a question");
_Static_assert(sizeof(struct kith__gpu_small) + sizeof(int64_t) <= KITH_GPU_SMALL_BYTES,
               "small data and one result are read back together");

/** Return the largest possible number of cells where it follows from the box alone, so that the
 *  host knows the bits of a key without the plan; else 0: an axis is open, or cells have
 *  subcells. */
static int64_t cells_of_box(const struct kith__question *q)
{
    const double most = 4e18;
    double cells = 1;
    if (q->subcell > 0) {
        return 0;
    }
    for (int k = 0; k < q->dim; k++) {
        if (!q->box_d.periodic[k]) {
            return 0;
        }
        cells *= fmax(1, floor(q->height[k] / q->cutoff));
    }
    return (int64_t)fmin(cells, most);
}

kith_status kith__gpu_queue_small(const struct kith__gpu_search *s)
{
    kith_ctx *ctx = s->ctx;
    struct kith__gpu *gpu = s->gpu;
    KITH_GPU_TRY(ctx, "reading the result",
                 gpuMemcpyAsync(gpu->small, gpu->slot[KITH_GPU_PLAN].data, sizeof *gpu->small,
                                gpuMemcpyDeviceToHost, gpu->stream));
    KITH_GPU_TRY(ctx, "reading the result", gpuEventRecord(gpu->planned, gpu->stream));
    return KITH_OK;
}

kith_status kith__gpu_await_small(const struct kith__gpu_search *s)
{
    kith_ctx *ctx = s->ctx;
    KITH_TRY(kith__gpu_wait(ctx, s->gpu->planned, "reading the result"));
    return kith__proceed(ctx);
}

struct kith__gpu_copy kith__gpu_copy_of_plan(const struct kith__gpu_search *s)
{
    struct kith__gpu *gpu = s->gpu;
    return (struct kith__gpu_copy){(char *)gpu->small, gpu->slot[KITH_GPU_PLAN].data,
                                   sizeof *gpu->small};
}

kith_status kith__gpu_check_plan(const struct kith__gpu_search *s)
{
    const struct kith__gpu_plan *plan = &s->gpu->small->plan;
    if (plan->status != KITH_OK) {
        return kith__refuse(s->ctx, &s->sweep.grid.question, plan->set ? "against" : "points",
                            (kith_status)plan->status, plan->index);
    }
    return KITH_OK;
}

kith_status kith__gpu_read_back(struct kith__gpu_search *s, const void *total, int64_t *n)
{
    kith_ctx *ctx = s->ctx;
    struct kith__gpu *gpu = s->gpu;
    int64_t *value = (int64_t *)(void *)(gpu->small + 1);
    KITH_TRY(kith__gpu_queue_small(s));
    if (total) {
        KITH_GPU_TRY(
            ctx, "reading the result",
            gpuMemcpyAsync(value, total, sizeof *value, gpuMemcpyDeviceToHost, gpu->stream));
    }
    KITH_TRY(kith__gpu_wait_all(ctx, "finding pairs"));
    KITH_TRY(kith__proceed(ctx));
    KITH_TRY(kith__gpu_check_plan(s));
    if (total) {
        *n = *value;
    }
    return KITH_OK;
}

/** Copy the coordinates of a set to the device, unless they are there, with the gaps between them
 *  that its stride leaves.
 *  @param[in,out] points  the set; afterwards its copy in device memory */
static kith_status upload_points(struct kith__gpu_search *s, int set, kith_points *points)
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
    for (int k = 1; k < 3 && k < dim; k++) {
        lowest = from[k] < lowest ? from[k] : lowest;
        highest = from[k] > highest ? from[k] : highest;
    }
    const size_t span = ((size_t)(points->n - 1) * (size_t)points->stride + 1) * real;
    /* coordinates of a particle beside each other in one array: it is copied as a whole */
    const bool together = (size_t)(highest - lowest) < (size_t)points->stride * real;
    const size_t room = together ? span + (size_t)(highest - lowest) : (size_t)dim * span;
    char *to = kith__gpu_need(s->gpu, KITH_GPU_INPUT + set * KITH_GPU_SET_SLOTS, room);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of device memory for %lld particles",
               (long long)points->n);
    const char *at[3] = {NULL, NULL, NULL};
    if (together) {
        KITH_TRY(kith__gpu_upload(ctx, to, lowest, room));
    }
    for (int k = 0; k < 3 && k < dim; k++) {
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

/** Return the size of the table of first slots [bytes]. */
static size_t table_bytes(const struct kith__question *q)
{
    return (size_t)(kith__table_limit(q) + 1) * sizeof(uint32_t);
}

/** Return the size of an array of n + 1 keys [bytes]: one of the arrays of keys becomes
 *  kith__gpu_search.counts after the sort. With subcells, the table of first slots later uses its
 *  memory. */
static size_t key_bytes(const struct kith__question *q, int64_t n)
{
    const size_t keys = (size_t)(n + 1) * sizeof(uint64_t);
    const size_t table = q->subcell > 0 ? table_bytes(q) : 0;
    return keys > table ? keys : table;
}

/** Allocate the arrays of a set.
 *  @param number  0: set a, 1: set b */
static kith_status need_set(struct kith__gpu_search *s, int number, const struct kith__question *q,
                            struct kith__gpu_set *set)
{
    struct kith__gpu *gpu = s->gpu;
    const int slot = number * KITH_GPU_SET_SLOTS;
    const size_t n = (size_t)(number ? q->b.n : q->a.n);
    /* the sort exchanges key and id with its second arrays, which both sets share: all of them have
     * the size for the larger set */
    const int64_t most = q->a.n > q->b.n ? q->a.n : q->b.n;
    const size_t real = (size_t)q->precision;
    const bool table = !(q->subcell > 0);
    *set = (struct kith__gpu_set){
        .n = (int64_t)n,
        .x = kith__gpu_need(gpu, slot + KITH_GPU_X, n * real),
        .y = kith__gpu_need(gpu, slot + KITH_GPU_Y, n * real),
        .z = kith__gpu_need(gpu, slot + KITH_GPU_Z, n * real),
        .id = kith__gpu_need(gpu, slot + KITH_GPU_ID, (size_t)(most + 1) * sizeof(int32_t)),
        .key = kith__gpu_need(gpu, slot + KITH_GPU_KEY, key_bytes(q, most)),
        .wrap = table ? kith__gpu_need(gpu, slot + KITH_GPU_WRAP, (n + 1) * sizeof(int32_t)) : NULL,
        .start = table ? kith__gpu_need(gpu, slot + KITH_GPU_START, table_bytes(q)) : NULL,
    };
    KITH_CHECK(s->ctx,
               set->x && set->y && set->z && set->id && set->key &&
                   ((set->start && set->wrap) || !table),
               KITH_NO_MEMORY, "out of device memory for a grid of %lld particles", (long long)n);
    return KITH_OK;
}

/** Determine the scratch memory that the vendor's sort, scan and select of up to n elements need:
 *  sets s->temporary_bytes. */
static kith_status find_temporary_bytes(struct kith__gpu_search *s, int64_t n)
{
    kith_ctx *ctx = s->ctx;
    enum { PAIRS, WORDS, SCAN, RUNS, COUNTS, ASKED };
    size_t bytes[ASKED] = {0}, largest = 0;
    uint64_t *no_keys[2] = {NULL, NULL};
    int32_t *no_ids[2] = {NULL, NULL};
    gpuStream_t stream = s->gpu->stream;
    KITH_GPU_TRY(ctx, "preparing to sort",
                 kith__gpu_sort_pairs(NULL, &bytes[PAIRS], no_keys, no_ids, n, 62, stream));
    KITH_GPU_TRY(ctx, "preparing to sort",
                 kith__gpu_sort_words(NULL, &bytes[WORDS], no_keys, n, 0, 64, stream));
    KITH_GPU_TRY(ctx, "preparing to scan", kith__gpu_scan(NULL, &bytes[SCAN], NULL, n + 1, stream));
    KITH_GPU_TRY(ctx, "preparing to select",
                 kith__gpu_list_runs(NULL, &bytes[RUNS], NULL, n, 0, NULL, NULL, NULL, stream));
    KITH_GPU_TRY(ctx, "preparing to select",
                 kith__gpu_select_counts(NULL, &bytes[COUNTS], NULL, n, 0, NULL, NULL, stream));
    for (int k = 0; k < ASKED; k++) {
        largest = bytes[k] > largest ? bytes[k] : largest;
    }
    s->gpu->temporary[s->gpu->next_temporary] = (struct kith__gpu_temporary){n, largest};
    s->gpu->next_temporary = (s->gpu->next_temporary + 1) % KITH_GPU_TEMPORARIES;
    s->temporary_bytes = largest;
    return KITH_OK;
}

kith_status kith__gpu_need_temporary(struct kith__gpu_search *s, int64_t n)
{
    s->temporary_bytes = 0;
    for (int k = 0; k < KITH_GPU_TEMPORARIES; k++) {
        const struct kith__gpu_temporary *known = &s->gpu->temporary[k];
        s->temporary_bytes = known->n == n ? known->bytes : s->temporary_bytes;
    }
    if (s->temporary_bytes == 0) { /* determining it takes as long as a small sort */
        KITH_TRY(find_temporary_bytes(s, n));
    }
    s->temporary = kith__gpu_need(s->gpu, KITH_GPU_TEMPORARY, s->temporary_bytes);
    KITH_CHECK(s->ctx, s->temporary != NULL, KITH_NO_MEMORY,
               "out of device memory for sorting %lld particles", (long long)n);
    return KITH_OK;
}

/** Exchange two buffers after the sort may have exchanged their data.
 *  @param slot   a buffer
 *  @param data   the data it should have now: its own, or that of `other`
 *  @param other  the buffer to exchange it with */
static void follow_exchange(struct kith__buffer *slot, const void *data, struct kith__buffer *other)
{
    if (slot->data != data) {
        const struct kith__buffer was = *slot;
        *slot = *other;
        *other = was;
    }
}

kith_status kith__gpu_upload_question(struct kith__gpu_search *s,
                                      const struct kith__question *question)
{
    struct kith__question *q = &s->sweep.grid.question;
    *q = *question;
    s->sweep.grid.definition_error = kith__definition_error(question);
    KITH_TRY(upload_points(s, 0, &q->a));
    q->b = q->cross ? q->b : q->a;
    return q->cross ? upload_points(s, 1, &q->b) : KITH_OK;
}

/** Allocate the small data in device memory. The buffer is cleared once: bounds start from 0, and
 *  members that are not set yet are copied to the host too. */
static kith_status need_small(struct kith__gpu_search *s, struct kith__gpu_small **small)
{
    kith_ctx *ctx = s->ctx;
    struct kith__gpu *gpu = s->gpu;
    const bool is_new = gpu->slot[KITH_GPU_PLAN].bytes == 0;
    *small = kith__gpu_need(gpu, KITH_GPU_PLAN, sizeof **small);
    KITH_CHECK(ctx, *small != NULL, KITH_NO_MEMORY, "out of device memory for a plan");
    if (is_new) {
        KITH_GPU_TRY(ctx, "clearing the plan",
                     gpuMemsetAsync(*small, 0, sizeof **small, gpu->stream));
    }
    return KITH_OK;
}

/** Choose the size of work blocks: KITH_GPU_WORK_BLOCK slots, fewer, but at least 4, when there
 *  would otherwise be less than 16 work blocks for each thread block of the sweep, 4 for each
 *  warp. */
static void choose_work_blocks(struct kith__gpu_search *s)
{
    const int least = 4;
    const int64_t n = s->sweep.grid.question.a.n;
    /* thread blocks: twice SWEEP_BLOCKS on each multiprocessor */
    const int64_t most = (int64_t)12 * s->gpu->processors;
    const int64_t enough = 16 * most; /* work blocks */
    s->sweep.blocks = (int)(n < most ? n : most);
    s->sweep.work_block = KITH_GPU_WORK_BLOCK;
    while (s->sweep.work_block > least && n / s->sweep.work_block < enough) {
        s->sweep.work_block /= 2;
    }
    assert(KITH_GPU_WORK_BLOCK % s->sweep.work_block == 0);
    s->work_blocks = (n + s->sweep.work_block - 1) / s->sweep.work_block;
    s->sweep.last = s->work_blocks;
}

/** Allocate the plan and the second arrays of the sort of n particles.
 *  @param[out] small  the plan, with the bounds that it is made from */
static kith_status need_plan(struct kith__gpu_search *s, int64_t n, struct kith__gpu_sort *sort,
                             struct kith__gpu_small **small)
{
    kith_ctx *ctx = s->ctx;
    struct kith__gpu *gpu = s->gpu;
    KITH_TRY(need_small(s, small));
    s->sweep.grid.plan = &(*small)->plan;
    gpu->stop = s->sweep.next = &(*small)->next;
    choose_work_blocks(s);
    *sort = (struct kith__gpu_sort){
        .key = kith__gpu_need(gpu, KITH_GPU_SORT_KEY, key_bytes(&s->sweep.grid.question, n)),
        .id = kith__gpu_need(gpu, KITH_GPU_SORT_ID, (size_t)(n + 1) * sizeof(int32_t)),
    };
    KITH_CHECK(ctx, sort->key && sort->id, KITH_NO_MEMORY,
               "out of device memory for sorting %lld particles", (long long)n);
    s->counts = (int64_t *)sort->key;
    return KITH_OK;
}

/** Queue the choice of cells. */
static kith_status choose_cells(const struct kith__gpu_search *s, struct kith__gpu_small *small)
{
    kith_ctx *ctx = s->ctx;
    KITH_GPU_TRY(ctx, "choosing cells",
                 kith__gpu_choose_cells(&s->sweep.grid, small->bounds, s->gpu->stream));
    return KITH_OK;
}

/** Queue the keys of the sets.
 *  @param[in,out] bits  bits of the largest key; 0: wait for the plan while the device makes the
 *                       keys, and set it to the plan's */
static kith_status make_keys(struct kith__gpu_search *s, int *bits)
{
    kith_ctx *ctx = s->ctx;
    struct kith__gpu *gpu = s->gpu;
    const struct kith__gpu_grid *grid = &s->sweep.grid;
    const bool ask = *bits == 0;
    if (ask) {
        KITH_TRY(kith__gpu_queue_small(s));
    }
    for (int set = 0; set < (grid->question.cross ? 2 : 1); set++) {
        KITH_GPU_TRY(ctx, "making keys", kith__gpu_make_keys(grid, set, *bits, gpu->stream));
    }
    if (ask) {
        KITH_TRY(kith__gpu_await_small(s));
        KITH_TRY(kith__gpu_check_plan(s));
        *bits = gpu->small->plan.bits;
    }
    assert(*bits >= 0 && *bits <= 63);
    return KITH_OK;
}

/** Queue the sort of the sets by cell, and the division into i-clusters. */
static kith_status sort_sets(struct kith__gpu_search *s, int bits, struct kith__gpu_sort *sort)
{
    kith_ctx *ctx = s->ctx;
    struct kith__gpu *gpu = s->gpu;
    struct kith__gpu_grid *grid = &s->sweep.grid;
    const bool cross = grid->question.cross;
    sort->temporary = s->temporary;
    sort->temporary_bytes = s->temporary_bytes;
    for (int set = 0; set < (cross ? 2 : 1); set++) {
        const struct kith__gpu_set *sorted = set ? &grid->b : &grid->a;
        const int slot = set * KITH_GPU_SET_SLOTS;
        const gpuError_t error = kith__gpu_sort_set(grid, set, bits, sort, gpu->stream);
        follow_exchange(&gpu->slot[slot + KITH_GPU_KEY], sorted->key,
                        &gpu->slot[KITH_GPU_SORT_KEY]);
        follow_exchange(&gpu->slot[slot + KITH_GPU_ID], sorted->id, &gpu->slot[KITH_GPU_SORT_ID]);
        KITH_GPU_TRY(ctx, "sorting", error);
        if (!cross) {
            grid->b = grid->a;
        }
    }
    s->counts = (int64_t *)sort->key; /* reuse the arrays of the sort */
    grid->marks = (uint32_t *)sort->id;
    if (grid->question.subcell > 0) {
        return KITH_OK; /* groups need no i-clusters */
    }
    KITH_GPU_TRY(ctx, "finding i-clusters", kith__gpu_find_clusters(grid, gpu->stream));
    return KITH_OK;
}

kith_status kith__gpu_search_queue_check(kith_ctx *ctx, const struct kith__question *question,
                                         struct kith__gpu_search *s)
{
    struct kith__gpu_sort sort;
    struct kith__gpu_small *small;
    *s = (struct kith__gpu_search){.ctx = ctx, .gpu = ctx->state};
    const struct kith__question *q = &s->sweep.grid.question;
    KITH_TRY(kith__gpu_upload_question(s, question));
    KITH_TRY(need_plan(s, 0, &sort, &small));
    s->empty = q->a.n == 0 || q->b.n == 0;
    return choose_cells(s, small);
}

kith_status kith__gpu_search_check(kith_ctx *ctx, const struct kith__question *question,
                                   struct kith__gpu_search *s)
{
    KITH_TRY(kith__gpu_search_queue_check(ctx, question, s));
    return kith__gpu_read_back(s, NULL, NULL);
}

kith_status kith__gpu_search_begin(kith_ctx *ctx, const struct kith__question *question, bool wait,
                                   int cluster, struct kith__gpu_search *s)
{
    struct kith__gpu *gpu = ctx->state;
    *s = (struct kith__gpu_search){.ctx = ctx, .gpu = gpu};
    struct kith__gpu_grid *grid = &s->sweep.grid;
    grid->cluster = cluster;
    const struct kith__question *q = &grid->question;
    const int64_t n = question->a.n > question->b.n ? question->a.n : question->b.n;
    struct kith__gpu_sort sort;
    struct kith__gpu_small *small;
    KITH_TRY(kith__gpu_upload_question(s, question));
    KITH_TRY(need_plan(s, n, &sort, &small));
    s->empty = q->a.n == 0 || q->b.n == 0;
    if (!s->empty) {
        KITH_TRY(need_set(s, 0, q, &grid->a));
        grid->b = grid->a;
    }
    if (!s->empty && q->cross) {
        KITH_TRY(need_set(s, 1, q, &grid->b));
    }
    if (!s->empty && gpu->capturing) { /* a capture without memory is refused before any work */
        KITH_TRY(kith__gpu_need_temporary(s, n));
    }
    KITH_TRY(choose_cells(s, small));
    if (s->empty) {
        KITH_GPU_TRY(
            ctx, "clearing counts",
            gpuMemsetAsync(s->counts, 0, (size_t)(n + 1) * sizeof *s->counts, gpu->stream));
        return wait ? kith__gpu_read_back(s, NULL, NULL) : KITH_OK;
    }
    KITH_TRY(kith__gpu_need_temporary(s, n)); /* the device chooses cells meanwhile */
    const int64_t cells = cells_of_box(q);
    /* there are at most 2^62 cells (kith__count_cells) */
    int bits = cells > 0 ? kith__bit_length((uint64_t)cells) : wait ? 0 : 62;
    KITH_TRY(make_keys(s, &bits));
    return sort_sets(s, bits, &sort);
}

kith_status kith__gpu_search_room(kith_ctx *ctx, const struct kith__question *question,
                                  struct kith__gpu_search *s, uint64_t *key[2], int32_t *id[2])
{
    struct kith__gpu *gpu = ctx->state;
    struct kith__gpu_small *small;
    const int64_t n = question->a.n > question->b.n ? question->a.n : question->b.n;
    const size_t most = (size_t)n + 1;
    *s = (struct kith__gpu_search){.ctx = ctx, .gpu = gpu};
    KITH_TRY(kith__gpu_upload_question(s, question));
    KITH_TRY(need_small(s, &small));
    key[0] = kith__gpu_need(gpu, KITH_GPU_KEY, most * sizeof **key);
    key[1] = kith__gpu_need(gpu, KITH_GPU_SORT_KEY, most * sizeof **key);
    id[0] = kith__gpu_need(gpu, KITH_GPU_ID, most * sizeof **id);
    id[1] = kith__gpu_need(gpu, KITH_GPU_SORT_ID, most * sizeof **id);
    KITH_CHECK(ctx, key[0] && key[1] && id[0] && id[1], KITH_NO_MEMORY,
               "out of device memory for sorting %lld particles", (long long)n);
    return kith__gpu_need_temporary(s, n);
}
