/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loop over groups of systems: the failure of a group is reported, whatever other groups return
 * that stop because of it.
 */
#include <sched.h>
#include <string.h>

#include "core/context.h"
#include "engine/batch.h"

#include "check.h"

enum { GROUPS = 3 };

/** What the groups of a loop share. */
typedef struct shared {
    struct kith__group_loop *loop;
    int waiting;  /**< 1: group 1 waits for its turn, or is about to */
    int finished; /**< number of groups that have returned without a turn */
} shared;

static bool has_failed(const shared *s)
{
    return __atomic_load_n(&s->loop->failed, __ATOMIC_ACQUIRE) != INT64_MAX;
}

/* Group 0 goes on until another has failed, group 1 waits for its turn, which does not come, and
 * group 2 fails. */
static kith_status take(kith_ctx *lane, const struct kith__group *group, void *state)
{
    shared *s = state;
    switch (group->number) {
    case 0:
        while (!has_failed(s)) {
            sched_yield();
        }
        return KITH_OK;
    case 1:
        __atomic_store_n(&s->waiting, 1, __ATOMIC_RELEASE);
        if (!kith__batch_turn(s->loop, lane, group)) {
            s->finished++;
            return KITH_CANCELLED;
        }
        return KITH_OK;
    default:
        while (!__atomic_load_n(&s->waiting, __ATOMIC_ACQUIRE)) {
            sched_yield();
        }
        return kith__fail(lane, KITH_NO_MEMORY, "no memory for group %d", (int)group->number);
    }
}

int main(void)
{
    kith_ctx *ctx = check_open("cpu", GROUPS);
    struct kith__group groups[GROUPS];
    struct kith__group_loop loop = {.ctx = ctx, .groups = groups, .n_groups = GROUPS, .fn = take};
    shared s = {.loop = &loop};
    loop.state = &s;
    for (int g = 0; g < GROUPS; g++) {
        groups[g] = (struct kith__group){.number = g, .first = g, .last = g + 1};
    }
    const kith_status status = kith__batch_loop(&loop);
    CHECK(s.finished == 1, "group 1 had its turn");
    CHECK(status == KITH_NO_MEMORY, "the loop returned %d", (int)status);
    CHECK(strcmp(kith_message(ctx), "no memory for group 2") == 0, "%s", kith_message(ctx));
    kith_close(ctx);
    return check_done();
}
