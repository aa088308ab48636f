/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checking a batch, and the loop over its systems on CPU cores. A system costs from microseconds to
 * seconds, so systems are gathered to groups of about one size: the loop claims groups, in
 * ascending order. O(systems) beside the work on the systems.
 */
#include "batch.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "core/backend.h"
#include "core/sized.h"

/* A group with GROUP particles or more gets no further system. Each system adds SYSTEM to its
 * number of particles, for the constant part of its cost. */
enum { GROUP = 1024, SYSTEM = 8 };

/* A system of this many particles or more runs on all threads: a loop over them uses 9 threads
 * (kith__threads_for), or all where there are fewer. */
static const int64_t large = (int64_t)1 << 15;

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_BATCH_0_2 = KITH_SIZE_UP_TO(kith_batch, memory) };

static const kith_batch defaults = {.size = sizeof(kith_batch)};

/* kith_batch_init_sized, kith_batch_init */
KITH_INIT_CALLS(kith_batch, KITH_BATCH_0_2)

kith_status kith__batch_check_offsets(kith_ctx *ctx, const char *name, const int64_t *offsets,
                                      int64_t systems, int64_t n)
{
    KITH_CHECK(ctx, offsets[0] == 0, KITH_INVALID, "%s[0] is %lld, expected 0", name,
               (long long)offsets[0]);
    for (int64_t s = 0; s < systems; s++) {
        KITH_CHECK(ctx, offsets[s] <= offsets[s + 1], KITH_INVALID,
                   "%s[%lld] is %lld, expected %lld or more, as offsets ascend", name,
                   (long long)s + 1, (long long)offsets[s + 1], (long long)offsets[s]);
    }
    KITH_CHECK(ctx, offsets[systems] == n, KITH_INVALID,
               "%s[%lld] is %lld, expected %lld, the number of particles", name, (long long)systems,
               (long long)offsets[systems], (long long)n);
    return KITH_OK;
}

/** Check the fields of a batch. @param name  what messages call the batch */
static kith_status check_batch(kith_ctx *ctx, const char *name, const kith_batch *given, bool cross,
                               const kith_box *box)
{
    KITH_CHECK(ctx, given->systems >= 0, KITH_INVALID, "%s.systems is %lld, expected 0 or more",
               name, (long long)given->systems);
    KITH_CHECK(ctx, given->systems <= INT32_MAX, KITH_LIMIT,
               "%s.systems is %lld, the most is 2^31 - 1", name, (long long)given->systems);
    KITH_TRY(kith__check_memory(ctx, name, given->memory));
    KITH_CHECK(ctx, given->offsets != NULL, KITH_INVALID, "%s.offsets is NULL", name);
    KITH_CHECK(ctx, !cross || given->against_offsets, KITH_INVALID,
               "%s.against_offsets is NULL, but there is a second set", name);
    KITH_CHECK(ctx, cross || !given->against_offsets, KITH_INVALID,
               "%s.against_offsets is given, but there is no second set", name);
    KITH_CHECK(ctx, !given->boxes || !box, KITH_INVALID,
               "box is given beside %s.boxes: one of them must be NULL", name);
    KITH_CHECK(ctx, given->dim == 0 || given->dim == 2 || given->dim == 3, KITH_INVALID,
               "%s.dim is %d, expected 2, 3, or 0", name, given->dim);
    return KITH_OK;
}

/** Check that all boxes in host memory have one number of dimensions. */
static kith_status check_dims(kith_ctx *ctx, const char *name, const kith_box *boxes,
                              int64_t systems, int dim)
{
    for (int64_t s = 0; s < systems; s++) {
        KITH_CHECK(ctx, boxes[s].dim == dim, KITH_INVALID,
                   "%s.boxes: dim of box %lld is %d, expected %d", name, (long long)s, boxes[s].dim,
                   dim);
    }
    return KITH_OK;
}

/** Check the offsets of a batch in host memory. */
static kith_status check_offsets(kith_ctx *ctx, const struct kith__batch *batch)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s.offsets", batch->name);
    KITH_TRY(kith__batch_check_offsets(ctx, name, batch->a, batch->systems, batch->whole.a.n));
    (void)snprintf(name, sizeof name, "%s.against_offsets", batch->name);
    return batch->whole.cross
               ? kith__batch_check_offsets(ctx, name, batch->b, batch->systems, batch->whole.b.n)
               : KITH_OK;
}

kith_status kith__batch_read(kith_ctx *ctx, const char *name, const kith_batch *given,
                             const kith_points *points, const kith_points *against,
                             const kith_box *box, double cutoff, const char *cutoff_name,
                             struct kith__batch *batch)
{
    kith_batch own = defaults;
    KITH_OPTIONS_READ(ctx, name, kith_batch_init, given, KITH_BATCH_0_2, &own);
    KITH_TRY(check_batch(ctx, name, &own, against != NULL, box));
    kith_box first = kith_box_open();
    if (own.boxes && own.systems > 0 && own.memory == KITH_HOST) {
        first.dim = own.boxes[0].dim;
        KITH_CHECK(ctx, first.dim == 2 || first.dim == 3, KITH_INVALID,
                   "%s.boxes: dim of box 0 is %d, expected 2 or 3", name, first.dim);
        KITH_TRY(check_dims(ctx, name, own.boxes, own.systems, first.dim));
    } else if (own.boxes) {
        first.dim = own.dim ? own.dim : 3;
    }
    const kith_box *space = own.boxes ? &first : box;
    KITH_TRY(cutoff_name ? kith__question_init(ctx, points, against, space, cutoff, cutoff_name,
                                               &batch->whole)
                         : kith__question_space(ctx, points, against, space, &batch->whole));
    batch->name = name;
    batch->systems = own.systems;
    batch->a = own.offsets;
    batch->b = against ? own.against_offsets : own.offsets;
    batch->boxes = own.boxes;
    batch->memory = own.memory;
    batch->cutoff = cutoff;
    return own.memory == KITH_HOST ? check_offsets(ctx, batch) : KITH_OK;
}

/** Copy an array in device memory to a buffer of the context's scratch memory.
 *  @param[in,out] array  the array; afterwards the copy; NULL: there is none */
static kith_status fetch(kith_ctx *ctx, int number, size_t bytes, const void **array)
{
    if (*array) {
        void *to = kith__work_need(&ctx->work, number, bytes);
        KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for the systems of a batch");
        KITH_TRY(ctx->backend->fetch(ctx, to, *array, bytes));
        *array = to;
    }
    return KITH_OK;
}

kith_status kith__batch_fetch(kith_ctx *ctx, struct kith__batch *batch)
{
    if (batch->memory == KITH_HOST) {
        return KITH_OK;
    }
    const bool cross = batch->whole.cross;
    const size_t bytes = (size_t)(batch->systems + 1) * sizeof(int64_t);
    const void *a = batch->a, *b = cross ? batch->b : NULL;
    const void *boxes = batch->systems > 0 ? batch->boxes : NULL;
    KITH_TRY(fetch(ctx, KITH_BATCH_OFFSETS_A, bytes, &a));
    KITH_TRY(fetch(ctx, KITH_BATCH_OFFSETS_B, bytes, &b));
    KITH_TRY(fetch(ctx, KITH_BATCH_BOXES, (size_t)batch->systems * sizeof(kith_box), &boxes));
    batch->a = a;
    batch->b = cross ? b : a;
    batch->boxes = boxes;
    batch->memory = KITH_HOST;
    KITH_TRY(boxes ? check_dims(ctx, batch->name, boxes, batch->systems, batch->whole.dim)
                   : KITH_OK);
    return check_offsets(ctx, batch);
}

/** Return the particles of one system: a view of the arrays of all systems. */
static kith_points slice(const kith_points *all, const int64_t *offsets, int64_t system)
{
    kith_points part = *all;
    const int64_t skip = offsets[system] * all->stride * (int64_t)all->precision;
    part.n = offsets[system + 1] - offsets[system];
    part.x = part.n > 0 ? (const char *)all->x + skip : NULL;
    part.y = part.n > 0 ? (const char *)all->y + skip : NULL;
    part.z = part.n > 0 && all->z ? (const char *)all->z + skip : NULL;
    return part;
}

kith_status kith__batch_question(kith_ctx *ctx, const struct kith__batch *batch, int64_t system,
                                 struct kith__question *question)
{
    const struct kith__question *whole = &batch->whole;
    const kith_points a = slice(&whole->a, batch->a, system);
    const kith_points b = whole->cross ? slice(&whole->b, batch->b, system) : a;
    if (!batch->boxes) {
        *question = *whole;
        question->a = a;
        question->b = b;
        return KITH_OK;
    }
    const kith_points *against = whole->cross ? &b : NULL;
    const kith_box *box = &batch->boxes[system];
    return whole->cutoff_name ? kith__question_init(ctx, &a, against, box, batch->cutoff,
                                                    whole->cutoff_name, question)
                              : kith__question_space(ctx, &a, against, box, question);
}

kith_status kith__batch_failed(kith_ctx *ctx, int64_t system, kith_status status)
{
    char about[sizeof ctx->message];
    if (status != KITH_OK && status != KITH_CANCELLED) {
        /* 400: with the longest number of a system, the message fits 512 bytes */
        snprintf(about, sizeof about, "system %lld of the batch: %.400s", (long long)system,
                 ctx->message);
        memcpy(ctx->message, about, sizeof about);
    }
    return status;
}

/* -------------------------------------------------------------------------------------- groups */

/** Return how many particles of both sets a system has. */
static int64_t size_of(const struct kith__batch *batch, int64_t s)
{
    const int64_t a = batch->a[s + 1] - batch->a[s];
    return batch->whole.cross ? a + batch->b[s + 1] - batch->b[s] : a;
}

/** List the groups.
 *  @param[out] groups  NULL: they are counted alone
 *  @return their number */
static int64_t list_groups(const kith_ctx *ctx, const struct kith__batch *batch,
                           struct kith__group *groups)
{
    /* on a device, each system is a group: the operations of a GPU run one at a time */
    const bool alone = ctx->backend->device_memory != NULL;
    int64_t n = 0;
    for (int64_t s = 0, next; s < batch->systems; s = next, n++) {
        const bool is_large = alone || (ctx->threads > 1 && size_of(batch, s) >= large);
        int64_t size = SYSTEM + size_of(batch, s);
        for (next = s + 1; next < batch->systems && !is_large && size < GROUP; next++) {
            if (size_of(batch, next) >= large) {
                break;
            }
            size += SYSTEM + size_of(batch, next);
        }
        if (groups) {
            groups[n] = (struct kith__group){n, s, next, is_large};
        }
    }
    return n;
}

kith_status kith__batch_groups(kith_ctx *ctx, const struct kith__batch *batch,
                               struct kith__group_loop *loop)
{
    assert(batch->memory == KITH_HOST);
    const int64_t n = list_groups(ctx, batch, NULL);
    struct kith__group *groups = kith__work_need(&ctx->work, KITH_BATCH_GROUPS,
                                                 (size_t)(n + 1) * sizeof *groups);
    KITH_CHECK(ctx, groups != NULL, KITH_NO_MEMORY, "out of memory for %lld systems",
               (long long)batch->systems);
    (void)list_groups(ctx, batch, groups);
    *loop = (struct kith__group_loop){.ctx = ctx, .batch = batch, .groups = groups, .n_groups = n};
    return KITH_OK;
}

/** Keep the status and the message of a group that failed, unless a lower group has failed. A group
 *  that is told to stop because another one has failed returns KITH_CANCELLED: that is kept only
 *  where no group has failed otherwise, whatever their numbers. */
static void fail(struct kith__group_loop *loop, const struct kith__group *group, kith_status status,
                 const char *message)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    const bool is_first = loop->failed == INT64_MAX;
    const bool is_better = status != KITH_CANCELLED &&
                           (loop->status == KITH_CANCELLED || group->number < loop->failed);
    if (is_first || is_better) {
        loop->status = status;
        snprintf(loop->message, sizeof loop->message, "%s", message);
        __atomic_store_n(&loop->failed, group->number, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

/** Return true when a group has failed. */
static bool has_failed(const struct kith__group_loop *loop)
{
    return __atomic_load_n(&loop->failed, __ATOMIC_ACQUIRE) != INT64_MAX;
}

/** Process one group, unless another has failed. */
static void do_group(struct kith__group_loop *loop, const struct kith__group *group, kith_ctx *lane)
{
    if (has_failed(loop)) {
        return;
    }
    const kith_status status = loop->fn(lane, group, loop->state);
    if (status != KITH_OK) {
        fail(loop, group, status, lane->message);
    }
}

/** Process one group of a parallel loop. The calling thread, worker 0, reports progress. */
static void do_piece(void *state, int64_t piece, int worker)
{
    struct kith__group_loop *loop = state;
    const struct kith__group *group = &loop->groups[loop->first + piece];
    if (worker == 0) {
        (void)kith__report(loop->ctx, loop->first + piece, loop->n_groups);
    }
    do_group(loop, group, kith__lane(loop->ctx, worker));
}

kith_status kith__batch_loop(struct kith__group_loop *loop)
{
    kith_ctx *ctx = loop->ctx;
    loop->turn = loop->n_groups > 0 ? loop->groups[0].number : 0;
    loop->failed = INT64_MAX;
    KITH_CHECK(ctx, !kith__watch(ctx, 0, loop->n_groups), KITH_CANCELLED,
               "cancelled by the watch callback");
    for (int64_t g = 0, next; g < loop->n_groups && !has_failed(loop); g = next) {
        next = g + 1;
        if (loop->groups[g].large) {
            do_group(loop, &loop->groups[g], ctx);
        } else { /* all groups up to the next large one, on the lanes of the context */
            KITH_TRY(kith__lanes_need(ctx));
            while (next < loop->n_groups && !loop->groups[next].large) {
                next++;
            }
            loop->first = g;
            kith__pool_run(ctx->pool, ctx->threads, next - g, do_piece, loop);
        }
        if (kith__cancelled(ctx)) {
            break;
        }
    }
    if (has_failed(loop) && loop->status != KITH_CANCELLED) {
        return kith__fail(ctx, loop->status, "%s", loop->message);
    }
    return kith__proceed(ctx);
}

bool kith__batch_turn(struct kith__group_loop *loop, kith_ctx *lane,
                      const struct kith__group *group)
{
    enum { SPINS = 256 }; /* tests after which the thread yields its core between them */
    for (int spins = 0; __atomic_load_n(&loop->turn, __ATOMIC_ACQUIRE) != group->number; spins++) {
        if (has_failed(loop) || kith__cancelled(lane)) {
            return false;
        }
        if (spins > SPINS) {
            sched_yield();
        }
    }
    return true;
}

void kith__batch_next(struct kith__group_loop *loop, const struct kith__group *group)
{
    __atomic_store_n(&loop->turn, group->number + 1, __ATOMIC_RELEASE);
}
