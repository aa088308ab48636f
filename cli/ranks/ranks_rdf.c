/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A histogram of distances, which all ranks count together.
 */
#include "ranks_internal.h"

#include <string.h>

/** Choose the particles of this rank's share whose types have a class, above rank 0.
 *  @param[out] o  the class of each, and the weights: those that JOB_WEIGHTS has left, without the
 *                 particles that are not chosen */
static kith_status choose_particles(struct ranks *r, const struct job *job, kith_points *points,
                                    kith_rdf_options *o)
{
    double *weight = job->whole[WEIGHTS] ? r->column[WEIGHTS] : NULL;
    const io_particles *p = &r->share[0];
    const size_t row = 3 * (size_t)job->precision;
    int32_t *class = ranks__need_column(r, SPECIES, p->n, sizeof *class);
    char *xyz = ranks__need_column(r, XYZ, p->n, row);
    RANKS_TRY(ranks__agree(r, ranks__got(class && xyz ? r : NULL)));
    int64_t n = 0;
    for (int64_t k = 0; k < p->n; k++) {
        class[n] = job->class_of_type[p->type ? p->type[k] : 0];
        if (class[n] >= 0) {
            memcpy(xyz + (size_t)n * row, (const char *)p->pos + (size_t)k * row, row);
            if (weight) {
                weight[n] = weight[k];
            }
            n++;
        }
    }
    *points = kith_points_packed(xyz, n, job->precision);
    o->species = class;
    o->weights = weight;
    return KITH_OK;
}

/** Give each rank its particles, with the arrays of the options. */
static kith_status scatter_distribution(struct ranks *r, const struct job *job, kith_points *points,
                                        kith_rdf_options *o)
{
    const void *species, *molecules, *weights, *edges;
    RANKS_TRY(ranks__scatter_points(r, job, points));
    RANKS_TRY(ranks__scatter(r, job, SPECIES, sizeof *o->species, &species));
    RANKS_TRY(ranks__scatter(r, job, MOLECULES, sizeof *o->molecules, &molecules));
    RANKS_TRY(ranks__scatter(r, job, WEIGHTS, sizeof *o->weights, &weights));
    RANKS_TRY(ranks__scatter(r, job, FORCES, 3 * (size_t)job->precision, &o->forces));
    RANKS_TRY(ranks__scatter_bonds(r, job, &o->bond_offsets, &o->bonds));
    RANKS_TRY(ranks__share(r, job, EDGES, (o->bins + 1) * (int64_t)sizeof *o->edges, &edges));
    o->species = species;
    o->molecules = molecules;
    o->weights = weights;
    o->edges = edges;
    return KITH_OK;
}

/** Give each rank the edges of the bins, and its particles: rank 0 has chosen its own. */
static kith_status choose_distribution(struct ranks *r, const struct job *job, kith_points *points,
                                       kith_rdf_options *o)
{
    const void *edges;
    RANKS_TRY(ranks__share(r, job, EDGES, (o->bins + 1) * (int64_t)sizeof *o->edges, &edges));
    o->edges = edges;
    if (r->control.rank > 0) {
        return choose_particles(r, job, points, o);
    }
    RANKS_TRY(ranks__agree(r, KITH_OK));
    *points = kith_points_packed(job->whole[XYZ], job->held, job->precision);
    return KITH_OK;
}

/** Add the weights of particles to the sums. */
static void add_weights(const kith_points *points, const kith_rdf_options *o,
                        ranks_weight_sums *sums)
{
    for (int64_t p = 0; p < points->n; p++) {
        const int32_t k = o->species[p];
        sums->n[k]++;
        sums->sum[k] += o->weights[p];
        sums->squares[k] += o->weights[p] * o->weights[p];
    }
}

/** Add the weights of the particles of all shares to the sums, rank after rank. */
static kith_status add_all_weights(struct ranks *r, const kith_points *points,
                                   const kith_rdf_options *o, ranks_weight_sums *sums)
{
    for (int k = 0; k < r->control.ranks; k++) {
        if (r->control.rank == k) {
            add_weights(points, o, sums);
        }
        RANKS_TRY(ranks__hand_on(r, k, sums, sizeof *sums));
    }
    return KITH_OK;
}

kith_status ranks__do_rdf(struct ranks *r, const struct job *job, kith_histogram *out,
                          ranks_weight_sums *sums)
{
    kith_points points;
    kith_rdf_options o = job->rdf;
    kith_histogram own = {0};
    RANKS_TRY(job->shares ? choose_distribution(r, job, &points, &o)
                          : scatter_distribution(r, job, &points, &o));
    const kith_status status = kith_team_rdf_count(r->team, &points, ranks__box_of(job), &o,
                                                   out ? out : &own);
    kith_histogram_free(&own);
    return status == KITH_OK && job->shares && job->whole[WEIGHTS]
               ? add_all_weights(r, &points, &o, sums)
               : status;
}

kith_status ranks_rdf_count(ranks *r, kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const kith_rdf_options *how, const int32_t *class_of_type,
                            kith_histogram *out, ranks_weight_sums *sums)
{
    *sums = (ranks_weight_sums){0};
    if (how->weights && (!r || !r->shares)) {
        add_weights(points, how, sums);
    }
    if (!r) {
        return kith_rdf_count(ctx, points, box, how, out);
    }
    struct job job = {.kind = JOB_RDF,
                      .rdf = *how,
                      .held = points->n,
                      .whole = {[SPECIES] = how->species,
                                [MOLECULES] = how->molecules,
                                [WEIGHTS] = how->weights,
                                [FORCES] = how->forces,
                                [EDGES] = how->edges}};
    ranks__describe_sets(r, &job, points, box, NULL);
    ranks__describe_bonds(&job, how->bond_offsets, how->bonds);
    if (job.shares) {
        memcpy(job.class_of_type, class_of_type, sizeof job.class_of_type);
    }
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_rdf(r, &job, out, sums);
}
