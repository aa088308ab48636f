/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours over ranks.
 */
#include "ranks_internal.h"

/** Bring the rows of all ranks together at rank 0. @param out  NULL at ranks above 0 */
static kith_status bring_rows(struct ranks *r, const struct job *job,
                              const kith_team_nearest *found, kith_nearest *out)
{
    const size_t k = (size_t)job->k, real = (size_t)job->precision;
    const unsigned extras = job->nearest.extras;
    kith_nearest all = {.rows = job->n, .k = job->k};
    int32_t *j = ranks__need_column(r, RESULTS, found->rows * job->k, sizeof *j);
    RANKS_TRY(ranks__agree(r, ranks__got(j)));
    for (int64_t e = 0; e < found->rows * job->k; e++) {
        j[e] = (int32_t)found->j[e];
    }
    RANKS_TRY(
        ranks__bring(r, NEAREST_COUNTS, found->counts, job->n, sizeof *all.counts, &all.counts));
    RANKS_TRY(ranks__bring(r, NEAREST_J, j, job->n, k * sizeof *j, &all.j));
    if (extras & KITH_DISTANCES) {
        RANKS_TRY(
            ranks__bring(r, NEAREST_DISTANCES, found->distances, job->n, k * real, &all.distances));
    }
    if (extras & KITH_VECTORS) {
        RANKS_TRY(
            ranks__bring(r, NEAREST_VECTORS, found->vectors, job->n, 3 * k * real, &all.vectors));
    }
    if (extras & KITH_SHIFTS) {
        RANKS_TRY(ranks__bring(r, NEAREST_SHIFTS, found->shifts, job->n, 3 * k * sizeof *all.shifts,
                               &all.shifts));
    }
    if (out) {
        all.size = out->size;
        *out = all;
    }
    return KITH_OK;
}

kith_status ranks__do_nearest(struct ranks *r, const struct job *job, kith_nearest *out)
{
    kith_points points, against;
    kith_nearest_options o = job->nearest;
    kith_team_nearest found = {.size = sizeof found};
    RANKS_TRY(ranks__scatter_points(r, job, &points));
    RANKS_TRY(ranks__scatter_against(r, job, &against, &o.against));
    kith_status status = kith_team_nearest_find(r->team, &points, ranks__box_of(job), job->k, &o,
                                                &found);
    status = status == KITH_OK ? bring_rows(r, job, &found, out) : status;
    kith_team_nearest_free(&found);
    return status;
}

kith_status ranks_nearest_find(ranks *r, kith_ctx *ctx, const kith_points *points,
                               const kith_box *box, int64_t k, const kith_nearest_options *how,
                               kith_nearest *out)
{
    if (!r) {
        return kith_nearest_find(ctx, points, box, k, how, out);
    }
    struct job job = {.kind = JOB_NEAREST, .k = k, .nearest = *how};
    ranks__describe_sets(r, &job, points, box, how->against);
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_nearest(r, &job, out);
}
