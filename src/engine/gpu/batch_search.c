/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's side of the start of a search in a batch on a GPU, and the messages for systems that
 * cannot be used. The work is queued without waiting, except where the size of the largest system
 * is to be read back first.
 */
#include "batch_search.h"

#include <assert.h>
#include <string.h>

#include "engine/box.h"

/** Buffers of scratch memory on the device, behind those of the grid (gpu_state.h). */
enum {
    KITH_GPU_BATCH_INPUT = KITH_GPU_ENGINE_SLOTS, /* offsets and boxes */
    KITH_GPU_BATCH_SMALL,                         /* struct kith__gpu_batch_small, and bounds */
    KITH_GPU_BATCH_SYSTEM,                        /* kith__gpu_systems.system */
    KITH_GPU_BATCH_CELLS,                         /* kith__gpu_systems.cells */
    KITH_GPU_BATCH_OF,                            /* kith__gpu_systems.of_a; + 1: of_b */
    KITH_GPU_BATCH_WORD = KITH_GPU_BATCH_OF + 2,  /* second array of words of set a; + 1: of b */
    KITH_GPU_BATCH_END = KITH_GPU_BATCH_WORD + 2  /* number after the last buffer */
};

_Static_assert((int)KITH_GPU_BATCH_END <= (int)KITH_WORK_EACH,
               "the engine has as many buffers as a question");

/** Set offsets and boxes in device memory: the caller's, or copies. */
static kith_status upload_batch(struct kith__gpu_batch *b)
{
    const struct kith__batch *batch = b->batch;
    struct kith__gpu_systems *all = &b->sweep.systems;
    const bool cross = batch->whole.cross;
    const size_t bytes = (size_t)(batch->systems + 1) * sizeof(int64_t);
    all->n = batch->systems;
    all->first_a = batch->a;
    all->first_b = batch->b;
    all->boxes = batch->boxes;
    if (batch->memory == KITH_DEVICE) {
        return KITH_OK;
    }
    enum { A, B, BOXES, ARRAYS };
    struct kith__gpu_array array[ARRAYS] = {
        [A] = {batch->a, bytes, NULL},
        [B] = {cross ? batch->b : NULL, bytes, NULL},
        [BOXES] = {batch->boxes, (size_t)batch->systems * sizeof *batch->boxes, NULL},
    };
    void *rest;
    if (batch->systems == 0) {
        array[BOXES].from = NULL;
    }
    KITH_TRY(kith__gpu_upload_arrays(b->ctx, KITH_GPU_BATCH_INPUT, array, ARRAYS, 0, &rest));
    all->first_a = array[A].at;
    all->first_b = cross ? array[B].at : array[A].at;
    all->boxes = array[BOXES].at;
    return KITH_OK;
}

/** Allocate what the systems need, and clear their small data and bounds. `cells` has n + 1
 *  elements; the other arrays have one more than they need, and so are never empty. */
static kith_status need_systems(struct kith__gpu_batch *b)
{
    kith_ctx *ctx = b->ctx;
    struct kith__gpu *gpu = b->gpu;
    struct kith__gpu_systems *all = &b->sweep.systems;
    const struct kith__question *q = &all->question;
    const size_t n = (size_t)all->n;
    const size_t small = (sizeof *all->small + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
    const size_t bytes = small + (q->cross ? 2 : 1) * n * sizeof *all->bounds;
    char *data = kith__gpu_need(gpu, KITH_GPU_BATCH_SMALL, bytes);
    all->system = kith__gpu_need(gpu, KITH_GPU_BATCH_SYSTEM, (n + 1) * sizeof *all->system);
    all->cells = kith__gpu_need(gpu, KITH_GPU_BATCH_CELLS, (n + 1) * sizeof *all->cells);
    all->of_a = kith__gpu_need(gpu, KITH_GPU_BATCH_OF, (size_t)(q->a.n + 1) * sizeof(int32_t));
    all->of_b = q->cross ? kith__gpu_need(gpu, KITH_GPU_BATCH_OF + 1,
                                          (size_t)(q->b.n + 1) * sizeof(int32_t))
                         : all->of_a;
    KITH_CHECK(ctx, data && all->system && all->cells && all->of_a && all->of_b, KITH_NO_MEMORY,
               "out of device memory for %lld systems", (long long)all->n);
    all->small = (struct kith__gpu_batch_small *)(void *)data;
    all->bounds = (struct kith__gpu_bounds *)(void *)(data + small);
    gpu->stop = &all->small->next;
    KITH_GPU_TRY(ctx, "clearing bounds", gpuMemsetAsync(data, 0, bytes, gpu->stream));
    return KITH_OK;
}

/** Allocate the arrays of a set.
 *  @param number     0: set a, 1: set b
 *  @param[out] word  two arrays of words; key is that which does not hold the sorted words */
static kith_status need_set(struct kith__gpu_batch *b, int number, struct kith__gpu_set *set,
                            uint64_t *word[2])
{
    struct kith__gpu *gpu = b->gpu;
    const struct kith__gpu_systems *all = &b->sweep.systems;
    const struct kith__question *q = &all->question;
    const int slot = number * KITH_GPU_SET_SLOTS;
    const size_t n = (size_t)(number ? q->b.n : q->a.n);
    const size_t real = (size_t)q->precision;
    const size_t table = (size_t)(all->most_cells + 1) * sizeof(uint32_t);
    *set = (struct kith__gpu_set){
        .n = (int64_t)n,
        .x = kith__gpu_need(gpu, slot + KITH_GPU_X, n * real),
        .y = kith__gpu_need(gpu, slot + KITH_GPU_Y, n * real),
        .z = kith__gpu_need(gpu, slot + KITH_GPU_Z, n * real),
        .id = kith__gpu_need(gpu, slot + KITH_GPU_ID, (n + 1) * sizeof(int32_t)),
        .wrap = kith__gpu_need(gpu, slot + KITH_GPU_WRAP, (n + 1) * sizeof(int32_t)),
        .start = kith__gpu_need(gpu, slot + KITH_GPU_START, table),
    };
    word[0] = kith__gpu_need(gpu, slot + KITH_GPU_KEY, (n + 1) * sizeof(uint64_t));
    word[1] = kith__gpu_need(gpu, KITH_GPU_BATCH_WORD + number, (n + 1) * sizeof(uint64_t));
    KITH_CHECK(b->ctx,
               set->x && set->y && set->z && set->id && set->wrap && set->start && word[0] &&
                   word[1],
               KITH_NO_MEMORY, "out of device memory for a grid of %lld particles", (long long)n);
    return KITH_OK;
}

/** Test if all systems are single cells, so that their particles are sorted as given. Offsets in
 *  device memory can only be tested by waiting for the device.
 *  @param wait         the host may wait for the device
 *  @param[out] sorted  true when all are known to be */
static kith_status find_order(struct kith__gpu_batch *b, bool wait, bool *sorted)
{
    const struct kith__batch *batch = b->batch;
    const struct kith__question *q = &batch->whole;
    const int64_t fits = batch->systems * KITH_GPU_ONE_CELL;
    *sorted = false;
    if (q->a.n > fits || q->b.n > fits) {
        return KITH_OK; /* the mean size exceeds KITH_GPU_ONE_CELL, so a system does */
    }
    int64_t most = 0;
    if (batch->memory == KITH_HOST) {
        for (int64_t s = 0; s < batch->systems; s++) {
            const int64_t a = batch->a[s + 1] - batch->a[s];
            const int64_t other = batch->b[s + 1] - batch->b[s];
            most = a > most ? a : most;
            most = other > most ? other : most;
        }
    } else if (wait) {
        KITH_TRY(kith__gpu_batch_read(b, NULL));
        most = b->small.most;
    } else {
        return KITH_OK;
    }
    *sorted = most <= KITH_GPU_ONE_CELL;
    return KITH_OK;
}

/** Queue the keys, the sort, and the copy in the order of the cells of one set.
 *  @param number  0: set a, 1: set b
 *  @param sorted  the words are sorted as they are made
 *  @param word    the two arrays of words of need_set */
static kith_status sort_set(struct kith__gpu_batch *b, int number, bool sorted, uint64_t *word[2])
{
    kith_ctx *ctx = b->ctx;
    gpuStream_t stream = b->gpu->stream;
    struct kith__gpu_systems *all = &b->sweep.systems;
    struct kith__gpu_set *set = number ? &all->b : &all->a;
    const int low = kith__bit_length((uint64_t)set->n);
    const int high = low + kith__bit_length((uint64_t)all->most_cells);
    size_t bytes = b->temporary_bytes;
    KITH_GPU_TRY(ctx, "making keys", kith__gpu_make_system_keys(all, number, word[0], stream));
    if (!sorted && set->n > 0) {
        KITH_GPU_TRY(ctx, "sorting",
                     kith__gpu_sort_words(b->temporary, &bytes, word, set->n, low, high, stream));
    }
    set->key = word[1];
    if (!all->question.cross) {
        all->b = all->a;
    }
    KITH_GPU_TRY(ctx, "sorting", kith__gpu_gather_systems(all, number, word[0], stream));
    return KITH_OK;
}

/** Allocate the sets, and queue the plan of the systems and the sort. */
static kith_status sort_systems(struct kith__gpu_batch *b, bool wait)
{
    kith_ctx *ctx = b->ctx;
    struct kith__gpu_systems *all = &b->sweep.systems;
    const bool cross = all->question.cross;
    uint64_t *word[2][2] = {{NULL}};
    bool sorted;
    KITH_TRY(need_set(b, 0, &all->a, word[0]));
    all->b = all->a;
    KITH_TRY(cross ? need_set(b, 1, &all->b, word[1]) : KITH_OK);
    KITH_TRY(find_order(b, wait, &sorted));
    KITH_GPU_TRY(ctx, "choosing cells", kith__gpu_plan_systems(all, b->gpu->stream));
    size_t bytes = b->temporary_bytes;
    KITH_GPU_TRY(ctx, "numbering cells",
                 kith__gpu_scan(b->temporary, &bytes, all->cells, all->n + 1, b->gpu->stream));
    for (int set = 0; set < (cross ? 2 : 1); set++) {
        KITH_TRY(sort_set(b, set, sorted, word[set]));
    }
    return KITH_OK;
}

kith_status kith__gpu_batch_begin(kith_ctx *ctx, const struct kith__batch *batch, bool wait,
                                  bool by_number, struct kith__gpu_batch *b)
{
    struct kith__gpu *gpu = ctx->state;
    struct kith__gpu_search s = {.ctx = ctx, .gpu = gpu};
    *b = (struct kith__gpu_batch){.ctx = ctx, .gpu = gpu, .batch = batch};
    struct kith__gpu_systems *all = &b->sweep.systems;
    KITH_TRY(kith__gpu_upload_question(&s, &batch->whole));
    all->question = s.sweep.grid.question;
    const struct kith__question *q = &all->question;
    const int64_t n = q->a.n > q->b.n ? q->a.n : q->b.n;
    b->empty = q->a.n == 0 && q->b.n == 0;
    b->sweep.unit = 1 / q->cutoff;
    all->by_number = by_number;
    b->sweep.blocks = 12 * gpu->processors; /* 3 times BATCH_BLOCKS on each multiprocessor */
    /* a system has one cell, or at most one for KITH_GPU_CELL_FILL particles of its larger set */
    all->most_cells = batch->systems + (q->a.n + q->b.n) / KITH_GPU_CELL_FILL;
    KITH_TRY(upload_batch(b));
    KITH_TRY(need_systems(b));
    KITH_TRY(kith__gpu_need_temporary(&s, n > batch->systems ? n : batch->systems + 1));
    b->temporary = s.temporary;
    b->temporary_bytes = s.temporary_bytes;
    b->counts = kith__gpu_need(gpu, KITH_GPU_SORT_KEY, (size_t)(q->a.n + 1) * sizeof *b->counts);
    KITH_CHECK(ctx, b->counts != NULL, KITH_NO_MEMORY, "out of device memory for %lld rows",
               (long long)q->a.n);
    KITH_GPU_TRY(
        ctx, "clearing counts",
        gpuMemsetAsync(b->counts, 0, (size_t)(q->a.n + 1) * sizeof *b->counts, gpu->stream));
    KITH_GPU_TRY(ctx, "checking offsets", kith__gpu_check_offsets(all, gpu->stream));
    if (b->empty) { /* boxes are checked nevertheless */
        KITH_GPU_TRY(ctx, "checking boxes", kith__gpu_plan_systems(all, gpu->stream));
        return KITH_OK;
    }
    return sort_systems(b, wait);
}

kith_status kith__gpu_batch_scan(struct kith__gpu_batch *b)
{
    kith_ctx *ctx = b->ctx;
    size_t bytes = b->temporary_bytes;
    KITH_GPU_TRY(ctx, "summing counts",
                 kith__gpu_scan(b->temporary, &bytes, b->counts, b->sweep.systems.question.a.n + 1,
                                b->gpu->stream));
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------- results */

/** Copy the small data to b->small, and the last of b->counts to *total, unless total is NULL.
 *  Waits for all work that is queued before. */
static kith_status read_small(struct kith__gpu_batch *b, int64_t *total)
{
    const struct kith__gpu_systems *all = &b->sweep.systems;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)&b->small, (const char *)all->small, sizeof b->small},
        {(char *)total, total ? (const char *)(b->counts + all->question.a.n) : NULL,
         total ? sizeof *total : 0},
    };
    return kith__gpu_download(b->ctx, copies);
}

/** Store the message that an offset cannot be used: decode kith__gpu_batch_small.offsets_failed,
 *  with the index in 36 bits. */
static kith_status refuse_offset(struct kith__gpu_batch *b)
{
    const unsigned long long what = ~b->small.offsets_failed;
    const int set = (int)(what >> 40);
    const long long index = (long long)(what >> 4 & 0xfffffffff);
    const char *name = set ? "options.batch.against_offsets" : "options.batch.offsets";
    const struct kith__question *q = &b->batch->whole;
    switch ((int)(what & 15)) {
    case KITH_OFFSETS_FIRST:
        return kith__fail(b->ctx, KITH_INVALID, "%s[0] is %lld, expected 0", name,
                          (long long)b->small.detail);
    case KITH_OFFSETS_DESCEND:
        return kith__fail(b->ctx, KITH_INVALID,
                          "%s[%lld] is %lld, expected %lld or more, as offsets ascend", name, index,
                          (long long)b->small.detail, (long long)b->small.expected);
    default:
        return kith__fail(b->ctx, KITH_INVALID,
                          "%s[%lld] is %lld, expected %lld, the number of particles", name, index,
                          (long long)b->small.detail, (long long)(set ? q->b.n : q->a.n));
    }
}

/** Store the message that the box of a system cannot be used: the message of a call for that system
 *  alone, which checks the box on the host. */
static kith_status refuse_box(struct kith__gpu_batch *b, int64_t system)
{
    kith_box box;
    struct kith__question q;
    const struct kith__batch *batch = b->batch;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)&box, (const char *)(b->sweep.systems.boxes + system), sizeof box}};
    KITH_TRY(kith__gpu_download(b->ctx, copies));
    KITH_CHECK(b->ctx, box.dim == batch->whole.dim, KITH_INVALID,
               "options.batch.boxes: dim of box %lld is %d, expected %d", (long long)system,
               box.dim, batch->whole.dim);
    const kith_points none = {.stride = 1, .precision = batch->whole.precision};
    const char *name = batch->whole.cutoff_name;
    return name ? kith__question_init(b->ctx, &none, NULL, &box, batch->cutoff, name, &q)
                : kith__question_space(b->ctx, &none, NULL, &box, &q);
}

/** Store the message that a system cannot be used: decode kith__gpu_batch_small.failed. Faults
 *  below KITH_SYSTEM_NOT_FINITE are of the box; the lowest bit of others is the set. */
static kith_status refuse_system(struct kith__gpu_batch *b)
{
    const unsigned long long what = ~b->small.failed;
    const int64_t system = (int64_t)(what >> 8);
    const int fault = (int)(what & 255);
    const kith_status status = fault < KITH_SYSTEM_NOT_FINITE
                                   ? refuse_box(b, system)
                                   : kith__refuse(
                                         b->ctx, &b->batch->whole, fault & 1 ? "against" : "points",
                                         fault < KITH_SYSTEM_FAR ? KITH_NOT_FINITE : KITH_LIMIT,
                                         b->small.detail);
    return kith__batch_failed(b->ctx, system, status);
}

kith_status kith__gpu_batch_read(struct kith__gpu_batch *b, int64_t *total)
{
    kith_ctx *ctx = b->ctx;
    KITH_TRY(read_small(b, total));
    KITH_TRY(kith__proceed(ctx));
    if (!b->small.offsets_failed && !b->small.failed) {
        return KITH_OK;
    }
    KITH_GPU_TRY(ctx, "finding what is wrong",
                 kith__gpu_find_fault(&b->sweep.systems, b->gpu->stream));
    KITH_TRY(read_small(b, NULL));
    return b->small.offsets_failed ? refuse_offset(b) : refuse_system(b);
}

kith_status kith__gpu_fetch(kith_ctx *ctx, void *to, const void *from, size_t bytes)
{
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {{to, from, bytes}};
    KITH_TRY(kith__gpu_begin(ctx));
    return kith__gpu_download(ctx, copies);
}

kith_status kith__gpu_add(kith_ctx *ctx, int32_t *index, int64_t n, int32_t by)
{
    const struct kith__gpu *gpu = ctx->state;
    if (n > 0 && by != 0) {
        KITH_GPU_TRY(ctx, "shifting indices", kith__gpu_add_to_indices(index, n, by, gpu->stream));
    }
    return KITH_OK;
}
