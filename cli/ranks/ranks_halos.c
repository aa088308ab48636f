/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos over ranks.
 */
#include "ranks_internal.h"

#include <math.h>
#include <string.h>

/** Measure the groups, and bring the halos together at rank 0.
 *  @param labels  the labels of this rank's particles
 *  @param out     NULL at ranks above 0 */
static kith_status measure_halos(struct ranks *r, const struct job *job, const kith_points *points,
                                 const kith_halo_input *known, int64_t *labels, kith_halos *out)
{
    const kith_team_groups groups = {.n = job->groups,
                                     .points = points->n,
                                     .labels = labels,
                                     .memory = KITH_HOST,
                                     .size = sizeof groups};
    kith_team_halos found = {.size = sizeof found, .stride = sizeof(kith_halo)};
    kith_halo *all = NULL;
    kith_status status = kith_team_halos_measure(r->team, points, ranks__box_of(job), &groups,
                                                 known, &found);
    if (status == KITH_OK) {
        status = ranks__bring(r, HALOS, found.halo, job->groups, sizeof *all, &all);
    }
    kith_team_halos_free(&found);
    if (status == KITH_OK && out) {
        out->n = job->groups;
        out->halo = all;
        out->memory = KITH_HOST;
        out->sphere_seconds = NAN; /* a part of the call of the team */
    }
    return status;
}

kith_status ranks__do_halos(struct ranks *r, const struct job *job, kith_halos *out)
{
    const size_t real = (size_t)job->precision;
    kith_points points;
    kith_halo_input known;
    kith_halo_input_init(&known);
    memcpy(known.sphere_density, job->sphere_density, sizeof known.sphere_density);
    const void *types, *given = NULL;
    RANKS_TRY(ranks__scatter_points(r, job, &points));
    if (!job->shares) {
        RANKS_TRY(ranks__scatter(r, job, LABELS, sizeof(int32_t), &given));
    }
    RANKS_TRY(ranks__scatter(r, job, MASSES, real, &known.masses));
    RANKS_TRY(ranks__scatter(r, job, VELOCITIES, 3 * real, &known.velocities));
    RANKS_TRY(ranks__scatter(r, job, POTENTIALS, real, &known.potentials));
    RANKS_TRY(ranks__scatter(r, job, DENSITIES, real, &known.densities));
    RANKS_TRY(ranks__scatter(r, job, TYPES, 1, &types));
    known.types = types;
    if (job->shares) { /* the labels are those that JOB_FOF has left here */
        return measure_halos(r, job, &points, &known, r->groups.labels, out);
    }
    const int32_t *narrow = given;
    int64_t *labels = ranks__need_column(r, WIDE_LABELS, points.n, sizeof *labels);
    RANKS_TRY(ranks__agree(r, ranks__got(labels)));
    for (int64_t p = 0; p < points.n; p++) {
        labels[p] = narrow[p];
    }
    return measure_halos(r, job, &points, &known, labels, out);
}

kith_status ranks_halos_measure(ranks *r, kith_ctx *ctx, const kith_points *points,
                                const kith_box *box, const kith_groups *groups,
                                const kith_halo_input *known, kith_halos *out)
{
    if (!r) {
        return kith_halos_measure(ctx, points, box, groups, known, out);
    }
    struct job job = {.kind = JOB_HALOS,
                      .groups = groups->n,
                      .whole = {[LABELS] = groups->labels,
                                [MASSES] = known->masses,
                                [VELOCITIES] = known->velocities,
                                [POTENTIALS] = known->potentials,
                                [DENSITIES] = known->densities,
                                [TYPES] = known->types}};
    memcpy(job.sphere_density, known->sphere_density, sizeof job.sphere_density);
    ranks__describe_sets(r, &job, points, box, NULL);
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_halos(r, &job, out);
}
