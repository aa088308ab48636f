/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock over ranks.
 */
#include "ranks_internal.h"

#include <string.h>

/** Describe the options of a flock in a job, in rank 0. Too many things or species are refused by
 *  the library, which does not read them then. */
static void describe_model(struct job *job, const kith_flock_options *how)
{
    job->flock = *how;
    if (how->things && how->n_things > 0 && how->n_things <= KITH_MOST_THINGS) {
        memcpy(job->things, how->things, (size_t)how->n_things * sizeof *how->things);
    }
    if (how->n_species > 0 && how->n_species <= KITH_MOST_SPECIES) {
        job->whole[FACTORS] = how->factors;
        job->whole[SPECIES] = how->species;
    }
}

/** Give each rank the options of a flock. */
static kith_status share_model(struct ranks *r, const struct job *job, kith_flock_options *model)
{
    const int64_t kinds = job->flock.n_species;
    const void *factors = NULL, *species = NULL;
    *model = job->flock;
    RANKS_TRY(ranks__scatter(r, job, SPECIES, sizeof *model->species, &species));
    RANKS_TRY(
        ranks__share(r, job, FACTORS, kinds * kinds * (int64_t)sizeof *model->factors, &factors));
    model->things = model->things ? job->things : NULL;
    model->factors = factors;
    model->species = species;
    return KITH_OK;
}

kith_status ranks__do_flock(struct ranks *r, const struct job *job)
{
    kith_flock_options model;
    const void *given = NULL;
    kith_points points;
    RANKS_TRY(ranks__scatter_points(r, job, &points));
    RANKS_TRY(ranks__scatter(r, job, VELOCITIES, 3 * (size_t)job->precision, &given));
    RANKS_TRY(share_model(r, job, &model));
    const kith_points velocities = kith_points_packed(given, points.n, job->precision);
    kith_team_flock_close(r->flock);
    return kith_team_flock_open(r->team, &points, &velocities, ranks__box_of(job), &model,
                                &r->flock);
}

kith_status ranks_flock_open(ranks *r, kith_ctx *ctx, const kith_points *points,
                             const kith_points *velocities, const kith_box *box,
                             const kith_flock_options *how, kith_flock **out)
{
    if (!r) {
        return kith_flock_open(ctx, points, velocities, box, how, out);
    }
    struct job job = {.kind = JOB_FLOCK};
    *out = NULL;
    ranks__describe_sets(r, &job, points, box, NULL);
    describe_model(&job, how);
    job.whole[VELOCITIES] = velocities->x;
    r->flown = job.n;
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_flock(r, &job);
}

kith_status ranks__do_change(struct ranks *r, const struct job *job)
{
    kith_flock_options model;
    RANKS_TRY(share_model(r, job, &model));
    return kith_team_flock_change(r->flock, &model);
}

kith_status ranks_flock_change(ranks *r, kith_flock *flock, const kith_flock_options *how)
{
    if (!r) {
        return kith_flock_change(flock, how);
    }
    struct job job = {.kind = JOB_CHANGE, .n = r->flown};
    describe_model(&job, how);
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_change(r, &job);
}

kith_status ranks_flock_step(ranks *r, kith_flock *flock, int64_t steps)
{
    if (!r) {
        return kith_flock_step(flock, steps);
    }
    struct job job = {.kind = JOB_STEP, .steps = steps};
    RANKS_TRY(ranks__tell(r, &job));
    return kith_team_flock_step(r->flock, steps);
}

int64_t ranks_flock_steps(const ranks *r, const kith_flock *flock)
{
    return r ? kith_team_flock_steps(r->flock) : kith_flock_steps(flock);
}

kith_status ranks__do_state(struct ranks *r, const struct job *job, io_particles *p)
{
    const int rank = r->control.rank;
    const int64_t own = ranks__rows_of(r, job->n, rank);
    const size_t size = 3 * (size_t)job->precision;
    void *positions = p ? p->pos : ranks__need_column(r, FLOCK_POSITIONS, own, size);
    void *velocities = p ? p->velocity : ranks__need_column(r, FLOCK_VELOCITIES, own, size);
    RANKS_TRY(ranks__agree(r, ranks__got(positions && velocities ? positions : NULL)));
    RANKS_TRY(kith_team_flock_read(r->flock, positions, velocities));
    RANKS_TRY(ranks__move_parts(r, positions, positions, job->n, size, true));
    return ranks__move_parts(r, velocities, velocities, job->n, size, true);
}

kith_status ranks_flock_read(ranks *r, kith_flock *flock, io_particles *p)
{
    if (!r) {
        return kith_flock_read(flock, p->pos, p->velocity);
    }
    struct job job = {.kind = JOB_STATE, .n = p->n, .precision = p->precision};
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_state(r, &job, p);
}

void ranks_flock_read_things(const ranks *r, const kith_flock *flock, kith_flock_thing *things)
{
    if (r) {
        kith_team_flock_read_things(r->flock, things);
    } else {
        kith_flock_read_things(flock, things);
    }
}

kith_status ranks_flock_measure(ranks *r, kith_flock *flock, kith_flock_measures *out)
{
    if (!r) {
        return kith_flock_measure(flock, out);
    }
    struct job job = {.kind = JOB_MEASURE};
    RANKS_TRY(ranks__tell(r, &job));
    return kith_team_flock_measure(r->flock, out);
}
