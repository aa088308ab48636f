/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of pairs over ranks, the rules of pairs, and the numbers of neighbours.
 */
#include "ranks_internal.h"

#include <assert.h>

kith_status ranks__scatter_rules(struct ranks *r, const struct job *job, kith_pairs_options *o)
{
    const int64_t entries = (int64_t)o->n_species * o->n_species;
    const void *species, *molecules, *species_against, *molecules_against, *cutoffs;
    const size_t real = (size_t)job->precision;
    RANKS_TRY(ranks__scatter(r, job, SPECIES, sizeof *o->species, &species));
    RANKS_TRY(ranks__scatter(r, job, MOLECULES, sizeof *o->molecules, &molecules));
    RANKS_TRY(ranks__scatter(r, job, SPECIES_AGAINST, sizeof *o->species, &species_against));
    RANKS_TRY(ranks__scatter(r, job, MOLECULES_AGAINST, sizeof *o->molecules, &molecules_against));
    RANKS_TRY(ranks__scatter(r, job, RADII, real, &o->radii));
    RANKS_TRY(ranks__scatter(r, job, RADII_AGAINST, real, &o->radii_against));
    RANKS_TRY(ranks__share(r, job, CUTOFFS, entries * (int64_t)sizeof *o->cutoffs, &cutoffs));
    o->species = species;
    o->molecules = molecules;
    o->species_against = species_against;
    o->molecules_against = molecules_against;
    o->cutoffs = cutoffs;
    return ranks__scatter_bonds(r, job, &o->bond_offsets, &o->bonds);
}

struct job ranks__list_job(const struct ranks *r, enum job_kind kind, const kith_points *points,
                           const kith_box *box, double cutoff, const kith_pairs_options *how)
{
    assert(!how->active);
    struct job job = {.kind = kind,
                      .length = cutoff,
                      .pairs = *how,
                      .whole = {[SPECIES] = how->species,
                                [MOLECULES] = how->molecules,
                                [SPECIES_AGAINST] = how->species_against,
                                [MOLECULES_AGAINST] = how->molecules_against,
                                [RADII] = how->radii,
                                [RADII_AGAINST] = how->radii_against,
                                [CUTOFFS] = how->cutoffs}};
    ranks__describe_sets(r, &job, points, box, how->against);
    ranks__describe_bonds(&job, how->bond_offsets, how->bonds);
    return job;
}

kith_status ranks__do_pairs(struct ranks *r, const struct job *job, int64_t *n, int64_t *neighbours)
{
    kith_points points, against;
    kith_pairs_options o = job->pairs;
    int64_t *mine = neighbours;
    const bool wanted = job->whole[RESULTS] != NULL;
    RANKS_TRY(ranks__scatter_points(r, job, &points));
    RANKS_TRY(ranks__scatter_against(r, job, &against, &o.against));
    RANKS_TRY(ranks__scatter_rules(r, job, &o));
    if (wanted && r->control.rank > 0) {
        mine = ranks__need_column(r, RESULTS, points.n, sizeof *mine);
    }
    RANKS_TRY(ranks__agree(r, ranks__got(wanted ? (void *)mine : r)));
    RANKS_TRY(
        kith_team_pairs_count(r->team, &points, ranks__box_of(job), job->length, &o, n, mine));
    return wanted && !job->shares
               ? ranks__move_parts(r, (char *)neighbours, (char *)mine, job->n, sizeof *mine, true)
               : KITH_OK;
}

kith_status ranks_pairs_count(ranks *r, kith_ctx *ctx, const kith_points *points,
                              const kith_box *box, double cutoff, const kith_pairs_options *how,
                              int64_t *n, int64_t *neighbours)
{
    if (!r) {
        return kith_pairs_count(ctx, points, box, cutoff, how, n, neighbours);
    }
    struct job job = ranks__list_job(r, JOB_PAIRS, points, box, cutoff, how);
    job.whole[RESULTS] = neighbours;
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_pairs(r, &job, n, neighbours);
}

kith_status ranks__do_spread(struct ranks *r, const int64_t *neighbours, int64_t n, spread *out)
{
    spread_range range = spread_range_of(neighbours, n);
    int64_t sums[2] = {range.n, range.sum};
    RANKS_TRY(ranks__combine(r, KITH_SUM, sums, 2));
    RANKS_TRY(ranks__combine(r, KITH_MIN, &range.least, 1));
    RANKS_TRY(ranks__combine(r, KITH_MAX, &range.most, 1));
    range.n = sums[0];
    range.sum = sums[1];
    *out = spread_begin(&range);
    spread_add(out, neighbours, n);
    return ranks__combine(r, KITH_SUM, out->count, out->bins);
}

kith_status ranks_spread(ranks *r, const int64_t *neighbours, int64_t n, spread *out)
{
    if (!r || !r->shares) {
        *out = spread_of(neighbours, n);
        return KITH_OK;
    }
    struct job job = {.kind = JOB_SPREAD};
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_spread(r, neighbours, n, out);
}
