/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends groups over ranks: labels and sizes.
 */
#include "ranks_internal.h"

#include <stdlib.h>
#include <string.h>

/** Convert the labels of this rank's particles to int32_t, and bring them together at rank 0 unless
 *  ranks have shares. @param[out] out  the labels; at ranks above 0 their own */
static kith_status collect_labels(struct ranks *r, const struct job *job, int32_t **out)
{
    const kith_team_groups *groups = &r->groups;
    const bool root = r->control.rank == 0;
    const int64_t n = root && !job->shares ? job->n : groups->points;
    int32_t *labels = ranks__need_column(r, RESULTS, n, sizeof *labels);
    RANKS_TRY(ranks__agree(r, ranks__got(labels)));
    for (int64_t k = 0; k < groups->points; k++) {
        labels[k] = (int32_t)groups->labels[k];
    }
    *out = labels;
    return job->shares
               ? KITH_OK
               : ranks__move_parts(r, (char *)labels, (char *)labels, job->n, sizeof *labels, true);
}

/** Bring the labels and sizes of groups together at rank 0. */
static kith_status collect_groups(struct ranks *r, const struct job *job, kith_groups *out)
{
    const kith_team_groups *groups = &r->groups;
    int64_t held[MOST_RANKS];
    const bool root = r->control.rank == 0;
    int32_t *labels;
    int64_t *members = groups->members;
    RANKS_TRY(collect_labels(r, job, &labels));
    if (root) {
        free(r->members);
        members = r->members = malloc((size_t)groups->n * sizeof *members + 1);
    }
    RANKS_TRY(ranks__agree(r, ranks__got(members || !root ? r : NULL)));
    RANKS_TRY(ranks__gather(r, &groups->held, sizeof groups->held, held));
    if (root) {
        memcpy(members, groups->members, (size_t)groups->held * sizeof *members);
        *out = (kith_groups){.n = groups->n,
                             .points = job->shares ? groups->points : job->n,
                             .labels = labels,
                             .members = members,
                             .memory = KITH_HOST,
                             .size = out->size};
    }
    return ranks__bring_held(r, held, members, sizeof *members);
}

/** Make the roles of the particles of this rank's share from their types.
 *  @param[out] roles  NULL where there are none */
static kith_status share_roles(struct ranks *r, const struct job *job, const void **roles)
{
    const io_particles *p = &r->share[0];
    *roles = job->whole[ROLES];
    if (!*roles) {
        return KITH_OK;
    }
    uint8_t *mine = r->control.rank > 0 ? ranks__need_column(r, ROLES, p->n, sizeof *mine) : NULL;
    RANKS_TRY(ranks__agree(r, ranks__got(r->control.rank > 0 ? (void *)mine : r)));
    for (int64_t k = 0; mine && k < p->n; k++) {
        mine[k] = job->role_of[p->type[k]];
    }
    *roles = mine ? mine : *roles;
    return KITH_OK;
}

kith_status ranks__do_fof(struct ranks *r, const struct job *job, kith_groups *out)
{
    kith_points points;
    kith_fof_options o = job->fof;
    const void *ids, *roles;
    RANKS_TRY(ranks__scatter_points(r, job, &points));
    RANKS_TRY(ranks__scatter(r, job, IDS, sizeof *o.ids, &ids));
    RANKS_TRY(job->shares ? share_roles(r, job, &roles)
                          : ranks__scatter(r, job, ROLES, sizeof *o.roles, &roles));
    RANKS_TRY(ranks__scatter(r, job, VELOCITIES, 3 * (size_t)job->precision, &o.velocities));
    o.ids = ids;
    o.roles = roles;
    RANKS_TRY(
        kith_team_fof_find(r->team, &points, ranks__box_of(job), job->length, &o, &r->groups));
    return collect_groups(r, job, out);
}

kith_status ranks_fof_find(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           double length, const kith_fof_options *how, const uint8_t *role_of,
                           kith_groups *out)
{
    if (!r) {
        return kith_fof_find(ctx, points, box, length, how, out);
    }
    struct job job = {
        .kind = JOB_FOF,
        .length = length,
        .fof = *how,
        .whole = {[IDS] = how->ids, [ROLES] = how->roles, [VELOCITIES] = how->velocities}};
    ranks__describe_sets(r, &job, points, box, NULL);
    memcpy(job.role_of, role_of, sizeof job.role_of);
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_fof(r, &job, out);
}

kith_status ranks__do_count_labels(struct ranks *r, int64_t n, int64_t *members)
{
    int64_t *mine = members ? members : ranks__need_column(r, NUMBERS, n, sizeof *mine);
    RANKS_TRY(ranks__agree(r, ranks__got(mine)));
    memset(mine, 0, (size_t)n * sizeof *mine);
    for (int64_t k = 0; k < r->groups.points; k++) {
        if (r->groups.labels[k] > 0) {
            mine[r->groups.labels[k] - 1]++;
        }
    }
    return ranks__combine(r, KITH_SUM, mine, n);
}

kith_status ranks_groups_count(ranks *r, const kith_groups *groups, int64_t *members)
{
    if (r && r->shares) {
        struct job job = {.kind = JOB_COUNT_LABELS, .groups = groups->n};
        RANKS_TRY(ranks__tell(r, &job));
        return ranks__do_count_labels(r, groups->n, members);
    }
    memset(members, 0, (size_t)groups->n * sizeof *members);
    for (int64_t k = 0; k < groups->points; k++) {
        if (groups->labels[k] > 0) {
            members[groups->labels[k] - 1]++;
        }
    }
    return KITH_OK;
}

kith_status ranks__do_renumber(struct ranks *r, const struct job *job)
{
    const void *at;
    const int64_t bytes = (job->groups + 1) * (int64_t)sizeof(int32_t);
    RANKS_TRY(ranks__share(r, job, NUMBERS, bytes, &at));
    const int32_t *number = at;
    for (int64_t k = 0; k < r->groups.points; k++) {
        r->groups.labels[k] = number[r->groups.labels[k]];
    }
    return KITH_OK;
}

kith_status ranks_groups_renumber(ranks *r, kith_groups *groups, const int32_t *number)
{
    for (int64_t k = 0; k < groups->points; k++) {
        groups->labels[k] = number[groups->labels[k]];
    }
    if (!r || !r->shares) {
        return KITH_OK;
    }
    struct job job = {.kind = JOB_RENUMBER, .groups = groups->n, .whole = {[NUMBERS] = number}};
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_renumber(r, &job);
}
