/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kept lists of a batch. Each system has a kept list of its own, with counters, and the list that
 * its last update made. The loop over the systems (engine/batch.h) updates them, several at a time;
 * then their lists are copied to that of the batch, one behind the other, with indices of all
 * particles. O(n + kept pairs), and a search in each system that is rebuilt.
 */
#include "verlet_batch.h"

#include <stdlib.h>
#include <string.h>

#include "pairs/list.h"

/** One system. */
struct system_list {
    struct kith_verlet list; /**< its kept list; list.batch is NULL */
    kith_pairs pairs;        /**< the list that its last update made, with indices of its own */
    int64_t first;           /**< index in the list of the batch of its first pair */
};

struct kith__verlet_batch {
    int64_t systems;            /**< systems of the last update */
    int64_t room;               /**< elements of `system` */
    struct system_list *system; /**< [room] the systems; those from `systems` on keep nothing */
};

/** Forget what a system keeps, and begin anew. */
static void reset(struct system_list *system, const struct kith_verlet *whole)
{
    kith__verlet_forget(&system->list);
    kith_pairs_free(&system->pairs);
    *system = (struct system_list){.list = {.ctx = whole->ctx, .options = whole->options},
                                   .pairs = {.size = sizeof system->pairs}};
}

/** Make the batch of a list have a number of systems. Systems that are no more lose what they
 *  keep. */
static kith_status need_systems(struct kith_verlet *v, int64_t systems)
{
    v->batch = v->batch ? v->batch : calloc(1, sizeof *v->batch);
    struct kith__verlet_batch *b = v->batch;
    KITH_CHECK(v->ctx, b != NULL, KITH_NO_MEMORY, "out of memory for a list");
    if (systems > b->room) {
        struct system_list *grown = realloc(b->system, (size_t)systems * sizeof *grown);
        KITH_CHECK(v->ctx, grown != NULL, KITH_NO_MEMORY, "out of memory for %lld systems",
                   (long long)systems);
        memset(grown + b->room, 0, (size_t)(systems - b->room) * sizeof *grown);
        b->system = grown;
        b->room = systems;
    }
    for (int64_t s = b->systems; s < systems; s++) {
        reset(&b->system[s], v);
    }
    for (int64_t s = systems; s < b->systems; s++) {
        reset(&b->system[s], v);
    }
    b->systems = systems;
    return KITH_OK;
}

/* -------------------------------------------------------------------------------------- updates */

/** State of the loop that updates the systems. */
struct update {
    struct kith_verlet *whole;      /**< the list of the batch */
    const struct kith__batch *now;  /**< systems, boxes and cutoff */
    const struct kith__batch *skin; /**< systems and boxes with the radius cutoff + skin */
};

/** Update the list of one system. */
static kith_status update_system(kith_ctx *lane, const struct update *update, int64_t s)
{
    struct system_list *system = &update->whole->batch->system[s];
    struct kith__question now, skin;
    KITH_TRY(kith__batch_question(lane, update->now, s, &now));
    KITH_TRY(kith__batch_question(lane, update->skin, s, &skin));
    return kith__verlet_make(lane, &system->list, &now, &skin, &system->pairs);
}

/** kith__group_fn: update the lists of the systems of a group. */
static kith_status update_group(kith_ctx *lane, const struct kith__group *group, void *state)
{
    for (int64_t s = group->first; s < group->last; s++) {
        KITH_TRY(kith__batch_failed(lane, s, update_system(lane, state, s)));
    }
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------- the list */

/** State of the loop that copies the lists of the systems. */
struct join {
    const struct kith__verlet_batch *batch; /**< the systems, with their lists */
    const int64_t *offsets;                 /**< [systems + 1] first particle of each system */
    size_t real;                            /**< size of a distance or coordinate [bytes] */
    kith_pairs *out;                        /**< the list of the batch */
};

/** Copy n indices, adding a number to each. */
static void copy_indices(int32_t *to, const int32_t *from, int64_t n, int64_t by)
{
    for (int64_t p = 0; p < n && to; p++) {
        to[p] = from[p] + (int32_t)by;
    }
}

/** Copy n elements of an array to element `at` of another one, where the list has it. */
static void copy_extras(void *to, const void *from, int64_t at, int64_t n, size_t element)
{
    if (to && n > 0) {
        memcpy((char *)to + (size_t)at * element, from, (size_t)n * element);
    }
}

/** kith__piece_fn: copy the list of one system. */
static void join_system(void *state, int64_t s, int worker)
{
    (void)worker;
    const struct join *join = state;
    const kith_pairs *from = &join->batch->system[s].pairs;
    const kith_pairs *out = join->out;
    const int64_t at = join->batch->system[s].first;
    const int64_t row = join->offsets[s];
    copy_indices(out->i ? out->i + at : NULL, from->i, from->n, row);
    copy_indices(out->j ? out->j + at : NULL, from->j, from->n, row);
    for (int64_t r = 0; r < from->rows && out->offsets; r++) {
        out->offsets[row + r] = from->offsets[r] + at;
    }
    copy_extras(out->distances, from->distances, at, from->n, join->real);
    copy_extras(out->vectors, from->vectors, at, from->n, 3 * join->real);
    copy_extras(out->shifts, from->shifts, at, from->n, 3 * sizeof *out->shifts);
}

/** Copy the lists of all systems to the list of the batch. Where its arrays are too small, they get
 *  1/16 more than is needed, for later steps. */
static kith_status join_lists(struct kith_verlet *v, const struct kith__batch *now, kith_pairs *out)
{
    kith_ctx *ctx = v->ctx;
    const struct kith__verlet_batch *b = v->batch;
    const struct kith__list form = kith__verlet_form(v);
    const int64_t rows = now->whole.a.n;
    struct join join = {b, now->a, (size_t)now->whole.precision, out};
    int64_t pairs = 0;
    for (int64_t s = 0; s < b->systems; s++) {
        b->system[s].first = pairs;
        pairs += b->system[s].pairs.n;
    }
    const int64_t capacity = out->owner && out->capacity >= pairs ? out->capacity
                                                                  : pairs + pairs / 16;
    KITH_TRY(kith__list_need(ctx, &form, now->whole.precision, rows, pairs, capacity, out));
    kith__pool_run(ctx->pool, kith__threads_for(ctx, rows + pairs), b->systems, join_system, &join);
    out->n = pairs;
    if (out->offsets) {
        out->offsets[rows] = pairs;
    }
    return kith__proceed(ctx);
}

/** Add an update to the counters of all systems, and to those of the batch. */
static void count(struct kith_verlet *v)
{
    struct kith__verlet_batch *b = v->batch;
    kith_verlet_state *state = &v->state;
    *state = (kith_verlet_state){.updates = state->updates + 1, .rebuilds = state->rebuilds};
    for (int64_t s = 0; s < b->systems; s++) {
        struct kith_verlet *list = &b->system[s].list;
        kith__verlet_add_update(list);
        state->rebuilds += list->rebuilt;
        state->reason = state->rebuilt ? state->reason : list->reason;
        state->rebuilt = state->rebuilt || list->rebuilt;
        state->kept += list->state.kept;
        state->displacement = fmax(state->displacement, list->displacement);
        state->allowed = s == 0 ? list->allowed : fmin(state->allowed, list->allowed);
    }
    v->asked = false;
    v->batch_updated = true;
}

kith_status kith__verlet_update_batch(struct kith_verlet *v, struct kith__batch *now,
                                      struct kith__batch *skin, kith_pairs *out)
{
    kith_ctx *ctx = v->ctx;
    struct update update = {v, now, skin};
    struct kith__group_loop loop;
    KITH_TRY(need_systems(v, now->systems));
    for (int64_t s = 0; s < now->systems; s++) {
        v->batch->system[s].list.asked = v->batch->system[s].list.asked || v->asked;
    }
    KITH_TRY(kith__batch_groups(ctx, now, &loop));
    loop.fn = update_group;
    loop.state = &update;
    KITH_TRY(kith__end_call(ctx, kith__batch_loop(&loop)));
    KITH_TRY(join_lists(v, now, out));
    count(v);
    return KITH_OK;
}

kith_status kith__verlet_reasons(const struct kith_verlet *v, int64_t systems, int32_t *reasons)
{
    const struct kith__verlet_batch *b = v->batch;
    KITH_CHECK(v->ctx, v->batch_updated, KITH_INVALID,
               "there is no successful update by kith_verlet_update_batch to tell about");
    KITH_CHECK(v->ctx, systems == b->systems, KITH_INVALID,
               "systems is %lld, but the last update had %lld", (long long)systems,
               (long long)b->systems);
    KITH_CHECK(v->ctx, reasons || systems == 0, KITH_INVALID, "reasons is NULL");
    for (int64_t s = 0; s < systems; s++) {
        reasons[s] = b->system[s].list.state.reason;
    }
    return KITH_OK;
}

void kith__verlet_free_batch(struct kith_verlet *v)
{
    struct kith__verlet_batch *b = v->batch;
    for (int64_t s = 0; b && s < b->systems; s++) {
        kith__verlet_forget(&b->system[s].list);
        kith_pairs_free(&b->system[s].pairs);
    }
    free(b ? b->system : NULL);
    free(b);
    v->batch = NULL;
}
