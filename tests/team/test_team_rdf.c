/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair distributions of teams have the bits of those of one process, however the particles are
 * given and dealt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { BINS = 17, MOST_RANKS = 64, FRAMES = 2 };

/** One count, on one process and on a team. */
typedef struct rdf_work {
    const team_input *in;
    kith_points points, against;
    const int64_t *first, *first_against; /**< [ranks + 1] */
    kith_rdf_options options;
    kith_status status[MOST_RANKS];
    kith_histogram out[MOST_RANKS];
    char message[MOST_RANKS][512];
} rdf_work;

/** Return the forces from a particle on. */
static const void *forces_from(const rdf_work *w, const void *forces, int64_t first)
{
    const char *at = forces;
    return at ? at + 3 * (size_t)first * (size_t)w->points.precision : NULL;
}

static void count(team_rank *rank)
{
    rdf_work *w = rank->user;
    const int r = rank->rank;
    const kith_points mine = team_slice(&w->points, w->first[r], w->first[r + 1]);
    kith_points other;
    kith_rdf_options o = w->options;
    o.species = o.species ? o.species + w->first[r] : NULL;
    o.molecules = o.molecules ? o.molecules + w->first[r] : NULL;
    o.bond_offsets = o.bond_offsets ? o.bond_offsets + w->first[r] : NULL;
    o.weights = o.weights ? o.weights + w->first[r] : NULL;
    o.forces = forces_from(w, o.forces, w->first[r]);
    if (o.against) {
        other = team_slice(&w->against, w->first_against[r], w->first_against[r + 1]);
        o.against = &other;
        o.species_against = o.species_against ? o.species_against + w->first_against[r] : NULL;
        o.molecules_against = o.molecules_against ? o.molecules_against + w->first_against[r]
                                                  : NULL;
        o.weights_against = o.weights_against ? o.weights_against + w->first_against[r] : NULL;
        o.forces_against = forces_from(w, o.forces_against, w->first_against[r]);
    }
    for (int frame = 0; frame < FRAMES && w->status[r] == KITH_OK; frame++) {
        w->status[r] = kith_team_rdf_count(rank->team, &mine, &w->in->box, &o, &w->out[r]);
    }
    snprintf(w->message[r], sizeof w->message[r], "%s", kith_message(rank->ctx));
}

static int equal(const kith_histogram *a, const kith_histogram *b)
{
    const size_t all = (size_t)a->partials * (size_t)a->bins * sizeof(int64_t);
    const size_t partials = (size_t)a->partials * sizeof(double);
    const size_t forces = 2 * partials * ((size_t)a->bins + 1);
    return a->bins == b->bins && a->partials == b->partials && a->frames == b->frames &&
           a->against == b->against && a->dim == b->dim && a->n_species == b->n_species &&
           memcmp(a->counts, b->counts, all) == 0 && memcmp(a->ideal, b->ideal, all) == 0 &&
           memcmp(a->edges, b->edges, ((size_t)a->bins + 1) * sizeof *a->edges) == 0 &&
           memcmp(a->pairs, b->pairs, (size_t)a->partials * sizeof *a->pairs) == 0 &&
           memcmp(a->centres, b->centres, (size_t)a->n_species * sizeof *a->centres) == 0 &&
           !a->sums == !b->sums && (!a->sums || memcmp(a->sums, b->sums, all) == 0) &&
           !a->pushes == !b->pushes &&
           (!a->pushes || (memcmp(a->pushes, b->pushes, forces) == 0 &&
                           memcmp(a->density, b->density, partials) == 0));
}

/** Compare a team with one process. */
static void compare(kith_ctx *ctx, rdf_work *w, team_run *run, const char *name)
{
    kith_histogram one = {0};
    char text[256];
    snprintf(text, sizeof text, "%s; %d ranks, deal %d, chunks of %lld", name, run->ranks,
             (int)run->deal, (long long)run->chunk_bytes);
    check_case(text);
    memset(w->status, 0, sizeof w->status);
    memset(w->out, 0, sizeof w->out);
    kith_status status = KITH_OK;
    for (int frame = 0; frame < FRAMES && status == KITH_OK; frame++) {
        status = kith_rdf_count(ctx, &w->points, &w->in->box, &w->options, &one);
    }
    run->work = count;
    run->user = w;
    team_go(run);
    for (int r = 0; r < run->ranks; r++) {
        CHECK(w->status[r] == status, "rank %d: %s, one process: %s (%s; %s)", r,
              kith_status_name(w->status[r]), kith_status_name(status), w->message[r],
              kith_message(ctx));
        CHECK(status != KITH_OK || w->status[r] != KITH_OK || equal(&w->out[r], &one),
              "rank %d has another histogram", r);
        kith_histogram_free(&w->out[r]);
    }
    kith_histogram_free(&one);
    check_case(NULL);
}

/** Make n random numbers of both signs, some of them 0. The last one is the largest, so that ranks
 *  differ in their largest ones. */
static double *random_reals(rng *r, int64_t n, double most)
{
    double *reals = check_malloc((size_t)n * sizeof *reals);
    for (int64_t p = 0; p < n; p++) {
        reals[p] = p == n - 1 ? -3 * most : p % 10 == 3 ? 0 : most * rng_uniform(r, -0.5, 0.5);
    }
    return reals;
}

/** One input, in one precision, with what `how` says. */
static void try_input(kith_ctx *ctx, const char *backend, rng *r, int k, int how)
{
    team_input in = team_input_make(r, k, 700);
    team_input other = team_input_make(r, k, 400);
    const int species = how % 3 == 1;
    const kith_precision precision = how % 2 ? KITH_FLOAT : KITH_DOUBLE;
    stored a = stored_make(in.xyz, in.n, precision, (layout)(how / 2 % LAYOUTS));
    stored b = stored_make(other.xyz, other.n, precision, LAYOUT_PACKED);
    int64_t first[MOST_RANKS + 1], first_against[MOST_RANKS + 1];
    rdf_work w = {.in = &in,
                  .points = a.points,
                  .against = b.points,
                  .first = first,
                  .first_against = first_against};
    int32_t *column[4] = {team_random_column(r, in.n, 3), team_random_column(r, in.n, 9),
                          team_random_column(r, other.n, 3), team_random_column(r, other.n, 9)};
    kith_rdf_options_init(&w.options);
    w.options.bins = BINS;
    w.options.r_min = how % 5 == 0 ? 0.1 : 0;
    w.options.r_max = in.cutoff;
    w.options.n_species = species ? 3 : 1;
    w.options.species = species ? column[0] : NULL;
    w.options.molecules = how % 4 == 2 ? column[1] : NULL;
    w.options.minimum_image = how % 7 == 3;
    if (how % 3 == 2) {
        w.options.against = &w.against;
        w.options.molecules_against = w.options.molecules ? column[3] : NULL;
    }
    double *weights[2] = {random_reals(r, in.n, 1e3), random_reals(r, other.n, 1e-7)};
    double *reals[2] = {random_reals(r, 3 * in.n, 20), random_reals(r, 3 * other.n, 1e4)};
    stored forces[2] = {stored_make(reals[0], in.n, precision, LAYOUT_PACKED),
                        stored_make(reals[1], other.n, precision, LAYOUT_PACKED)};
    const bool two = w.options.against != NULL;
    if (how / 5 % 2) {
        w.options.weights = weights[0];
        w.options.weights_against = two ? weights[1] : NULL;
    }
    if (how / 11 % 2 && !w.options.minimum_image) {
        w.options.forces = forces[0].points.x;
        w.options.forces_against = two ? forces[1].points.x : NULL;
    }
    int64_t *offsets;
    int32_t *bonds = team_random_bonds(r, in.n, two ? other.n : in.n, &offsets);
    if (how / 7 % 2) {
        w.options.bond_offsets = offsets;
        w.options.bonds = bonds;
    }
    team_run run = team_run_of(backend, how);
    team_split_at((team_split)(how % SPLITS), in.n, run.ranks, first);
    team_split_at((team_split)(how / 3 % SPLITS), other.n, run.ranks, first_against);
    compare(ctx, &w, &run, in.name);
    for (int c = 0; c < 4; c++) {
        free(column[c]);
    }
    free(offsets);
    free(bonds);
    for (int s = 0; s < 2; s++) {
        free(weights[s]);
        free(reals[s]);
        stored_free(&forces[s]);
    }
    stored_free(&a);
    stored_free(&b);
    free(in.xyz);
    free(other.xyz);
}

int main(int argc, char **argv)
{
    return team_main(argc, argv, 1, try_input);
}
