/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of the systems of a batch: together, where the backend offers that and the options permit
 * it. Otherwise consecutive systems are gathered to groups of systems (engine/batch.h), which run
 * in parallel, each on a lane: a context of one thread. The groups of each system are found as in
 * a call for it alone. Then, in the order of the systems, its sizes are appended to those of all
 * groups, and its labels are raised by the number of groups of all systems before it.
 */
#include "groups.h"

#include <string.h>

#include "core/owned.h"

/* Buffers of a lane: sizes of the groups of some systems, and how many groups each system has. */
enum { SIZES = KITH_BATCH_LANE, NUMBERS };

/** The groups of a batch. */
struct batch_groups {
    struct kith__group_loop loop; /**< the loop over the systems */
    const struct kith__fof *fof;  /**< the options, with the arrays of all systems */
    kith_groups *out;             /**< the whole result */
    struct kith__buffer *sizes;   /**< sizes of the groups so far */
    int64_t n;                    /**< number of these groups */
};

/** Append n sizes of groups to a buffer that holds `used` sizes. The buffer grows geometrically.
 *  @return false when out of memory */
static bool append_sizes(struct kith__buffer *buffer, int64_t used, const int64_t *sizes, int64_t n)
{
    const size_t bytes = (size_t)(used + n + 1) * sizeof *sizes;
    const size_t room = bytes > buffer->bytes ? bytes + bytes / 2 : buffer->bytes;
    int64_t *all = kith__buffer_grow(buffer, (size_t)used * sizeof *sizes, room);
    if (all && n > 0) {
        memcpy(all + used, sizes, (size_t)n * sizeof *sizes);
    }
    return all != NULL;
}

/** Return the options of one system: its arrays begin at the system's first particle. */
static struct kith__fof options_of(const struct kith__fof *all, const struct kith__batch *batch,
                                   int64_t system)
{
    struct kith__fof own = *all;
    const int64_t first = batch->a[system];
    const size_t real = (size_t)batch->whole.precision;
    own.ids = all->ids ? all->ids + first : NULL;
    own.roles = all->roles ? all->roles + first : NULL;
    own.velocities = all->velocities ? (const char *)all->velocities + 3 * (size_t)first * real
                                     : NULL;
    return own;
}

/** Find the groups of one system, and copy its labels, which count from 1 in the system, to the
 *  whole result.
 *  @param part  result for one system, whose memory is reused by the next one */
static kith_status find_system(kith_ctx *lane, const struct batch_groups *groups, int64_t system,
                               kith_groups *part)
{
    const struct kith__batch *batch = groups->loop.batch;
    const struct kith__fof fof = options_of(groups->fof, batch, system);
    struct kith__question q;
    KITH_TRY(kith__batch_question(lane, batch, system, &q));
    part->n = 0;
    if (q.a.n == 0) {
        return KITH_OK;
    }
    KITH_TRY(kith__fof_find(lane, &q, &fof, part));
    memcpy(groups->out->labels + batch->a[system], part->labels,
           (size_t)q.a.n * sizeof *part->labels);
    return KITH_OK;
}

/** Find the groups of particles of all systems of a group of systems. The sizes of the groups, and
 *  the number of groups of each system, are written to buffers SIZES and NUMBERS of the lane.
 *  @param[out] n  number of groups of particles of all these systems */
static kith_status find_systems(kith_ctx *lane, const struct batch_groups *groups,
                                const struct kith__group *group, kith_groups *part, int64_t *n)
{
    const size_t bytes = (size_t)(group->last - group->first) * sizeof(int64_t);
    int64_t *numbers = kith__work_need(&lane->work, NUMBERS, bytes);
    KITH_CHECK(lane, numbers != NULL, KITH_NO_MEMORY, "out of memory for some systems");
    *n = 0;
    for (int64_t s = group->first; s < group->last; s++) {
        KITH_TRY(kith__batch_failed(lane, s, find_system(lane, groups, s, part)));
        numbers[s - group->first] = part->n;
        KITH_CHECK(lane, append_sizes(&lane->work.buffer[SIZES], *n, part->members, part->n),
                   KITH_NO_MEMORY, "out of memory for the groups of some systems");
        *n += part->n;
    }
    return KITH_OK;
}

/** kith__group_fn: find the groups of some systems, and append them to the whole result. Only the
 *  lane whose turn it is appends; labels are raised after the turn, in parallel. */
static kith_status find_group(kith_ctx *lane, const struct kith__group *group, void *state)
{
    struct batch_groups *groups = state;
    const struct kith__batch *batch = groups->loop.batch;
    kith_groups part = {.memory = KITH_HOST};
    int64_t n;
    kith_status status = find_systems(lane, groups, group, &part, &n);
    kith__owned_free(part.owner);
    KITH_TRY(status);
    if (!kith__batch_turn(&groups->loop, lane, group)) {
        return KITH_CANCELLED;
    }
    const int64_t first = groups->n;
    const int64_t *numbers = lane->work.buffer[NUMBERS].data;
    if (!append_sizes(groups->sizes, first, lane->work.buffer[SIZES].data, n)) {
        return kith__fail(lane, KITH_NO_MEMORY, "out of memory for %lld groups",
                          (long long)(first + n));
    }
    groups->n += n;
    kith__batch_next(&groups->loop, group);
    int64_t by = first; /* number of groups of all systems before system s */
    for (int64_t s = group->first; s < group->last; s++) {
        groups->out->offsets[s] = by;
        for (int64_t p = batch->a[s]; p < batch->a[s + 1]; p++) {
            groups->out->labels[p] += groups->out->labels[p] > 0 ? (int32_t)by : 0;
        }
        by += numbers[s - group->first];
    }
    return KITH_OK;
}

kith_status kith__fof_batch(kith_ctx *ctx, const struct kith__batch *given,
                            const struct kith__fof *fof, kith_groups *out)
{
    struct kith__batch batch = *given;
    struct kith__buffer sizes = {NULL, 0};
    struct batch_groups groups = {.fof = fof, .out = out, .sizes = &sizes};
    const bool plain = !fof->ids && !fof->roles && !fof->velocities && fof->min_links == 0;
    if (ctx->backend->fof->find_together && plain) {
        bool done;
        KITH_TRY(ctx->backend->fof->find_together(ctx, given, fof, out, &done));
        if (done) {
            return KITH_OK;
        }
    }
    KITH_TRY(kith__batch_fetch(ctx, &batch));
    KITH_TRY(kith__groups_need(ctx, batch.whole.a.n, out));
    KITH_TRY(kith__groups_systems(ctx, batch.systems, out));
    KITH_TRY(kith__batch_groups(ctx, &batch, &groups.loop));
    groups.loop.fn = find_group;
    groups.loop.state = &groups;
    kith_status status = kith__batch_loop(&groups.loop);
    if (status == KITH_OK) {
        out->offsets[batch.systems] = groups.n;
        status = kith__groups_number(ctx, groups.n, out);
    }
    if (status == KITH_OK && groups.n > 0) {
        memcpy(out->members, sizes.data, (size_t)groups.n * sizeof *out->members);
    }
    kith__buffer_free(&sizes);
    return status;
}
