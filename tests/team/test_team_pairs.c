/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists and counts of teams are those of one process, however the particles are given and
 * dealt: with global indices, and sorted, the rows of all ranks together have the bits of its list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { MOST_RANKS = 64, AGAIN = 2 };

/** One search, on one process and on a team. */
typedef struct pairs_work {
    const team_input *in;
    kith_points points, against;          /**< against.n: -1 where there is one set */
    const int64_t *first, *first_against; /**< [ranks + 1] */
    double cutoff;
    kith_pairs_options options; /**< arrays are of all particles */
    kith_status status[MOST_RANKS];
    kith_team_pairs out[MOST_RANKS];
    int64_t n[MOST_RANKS];
    int64_t *neighbours; /**< [points.n] */
    char message[MOST_RANKS][512];
} pairs_work;

/** Return the elements of an array from a particle on; NULL: there is no array. */
static const void *from(const void *array, size_t size, int64_t first)
{
    const char *at = array;
    return at ? at + (size_t)first * size : NULL;
}

/** Return the options of a rank: the arrays from its first particle on. */
static kith_pairs_options options_of(const pairs_work *w, int rank)
{
    const size_t real = (size_t)w->points.precision;
    const int64_t first = w->first[rank], other = w->first_against[rank];
    kith_pairs_options o = w->options;
    o.species = from(o.species, sizeof *o.species, first);
    o.radii = from(o.radii, real, first);
    o.molecules = from(o.molecules, sizeof *o.molecules, first);
    o.active = from(o.active, sizeof *o.active, first);
    o.bond_offsets = from(o.bond_offsets, sizeof *o.bond_offsets, first);
    o.species_against = from(o.species_against, sizeof *o.species_against, other);
    o.radii_against = from(o.radii_against, real, other);
    o.molecules_against = from(o.molecules_against, sizeof *o.molecules_against, other);
    return o;
}

static void find(team_rank *rank)
{
    pairs_work *w = rank->user;
    const int r = rank->rank;
    const kith_points mine = team_slice(&w->points, w->first[r], w->first[r + 1]);
    kith_pairs_options o = options_of(w, r);
    kith_points other;
    if (w->against.n >= 0) {
        other = team_slice(&w->against, w->first_against[r], w->first_against[r + 1]);
        o.against = &other;
    }
    w->out[r].size = o.layout == KITH_CSR ? sizeof w->out[r] : 0;
    for (int k = 0; k < AGAIN && w->status[r] == KITH_OK; k++) { /* twice into one struct */
        w->status[r] = kith_team_pairs_find(rank->team, &mine, &w->in->box, w->cutoff, &o,
                                            &w->out[r]);
    }
    if (w->status[r] == KITH_OK) {
        w->status[r] = kith_team_pairs_count(rank->team, &mine, &w->in->box, w->cutoff, &o,
                                             &w->n[r], w->neighbours + w->first[r]);
    }
    snprintf(w->message[r], sizeof w->message[r], "%s", kith_message(rank->ctx));
}

/** A pair with all that is known of it. */
typedef struct entry {
    int64_t i, j;
    int32_t shift[3];
    char extras[4 * sizeof(double)]; /**< distance, vector */
} entry;

static int by_pair(const void *left, const void *right)
{
    const entry *a = left;
    const entry *b = right;
    if (a->i != b->i) {
        return a->i < b->i ? -1 : 1;
    }
    if (a->j != b->j) {
        return a->j < b->j ? -1 : 1;
    }
    for (int k = 2; k >= 0; k--) {
        if (a->shift[k] != b->shift[k]) {
            return a->shift[k] < b->shift[k] ? -1 : 1;
        }
    }
    return 0;
}

/** An entry of a list. @param ids_i, ids_j  NULL: the numbers are global indices */
static entry entry_of(const int64_t *ids_i, const int64_t *ids_j, const int32_t *i,
                      const int32_t *j, const void *distances, const void *vectors,
                      const int32_t *shifts, size_t real, int64_t p)
{
    entry e;
    memset(&e, 0, sizeof e);
    e.i = ids_i ? ids_i[i[p]] : i[p];
    e.j = ids_j ? ids_j[j[p]] : j[p];
    if (shifts) {
        memcpy(e.shift, shifts + 3 * p, sizeof e.shift);
    }
    if (distances) {
        memcpy(e.extras, (const char *)distances + (size_t)p * real, real);
    }
    if (vectors) {
        memcpy(e.extras + real, (const char *)vectors + (size_t)p * 3 * real, 3 * real);
    }
    return e;
}

/** Return i of each pair of a list of rows; NULL where the rows are not those of the list. */
static int32_t *make_i(const kith_team_pairs *o)
{
    int32_t *i = check_malloc((size_t)o->n * sizeof *i);
    int fine = !o->i && o->offsets && o->offsets[0] == 0 && o->offsets[o->rows] == o->n;
    for (int64_t row = 0; row < o->rows && fine; row++) {
        fine = o->offsets[row + 1] >= o->offsets[row] && o->offsets[row + 1] <= o->n;
        for (int64_t p = o->offsets[row]; p < o->offsets[row + 1] && fine; p++) {
            i[p] = (int32_t)row;
        }
    }
    if (!fine) {
        free(i);
        return NULL;
    }
    return i;
}

/** Compare the ranks' rows, put together, with the list of one process, which is sorted. */
static void check_list(const pairs_work *w, int ranks, const kith_pairs *one)
{
    const size_t real = (size_t)w->points.precision;
    int64_t n = 0;
    int64_t rows = 0;
    int fine = 1;
    for (int r = 0; r < ranks; r++) {
        n += w->out[r].n;
        rows += w->out[r].rows;
        fine = CHECK(w->out[r].all == one->n, "rank %d: %lld pairs of all ranks, not %lld", r,
                     (long long)w->out[r].all, (long long)one->n) &&
               fine;
    }
    fine = CHECK(n == one->n && rows == w->points.n, "%lld pairs, %lld rows", (long long)n,
                 (long long)rows) &&
           fine;
    entry *all = check_malloc((size_t)n * sizeof *all);
    int64_t at = 0;
    for (int r = 0; r < ranks && fine; r++) {
        const kith_team_pairs *o = &w->out[r];
        const int64_t *ids_j = w->against.n >= 0 ? o->ids_against : o->ids;
        const int rowed = w->options.layout == KITH_CSR;
        int32_t *made = rowed ? make_i(o) : NULL;
        const int32_t *i = rowed ? made : o->i;
        fine = fine && i && (rowed || !o->offsets);
        for (int64_t p = 0; p < o->n && i; p++) {
            fine = fine && i[p] >= 0 && i[p] < o->rows && o->j[p] >= 0 && o->j[p] < o->points;
            all[at] = entry_of(o->ids, ids_j, i, o->j, o->distances, o->vectors, o->shifts, real,
                               p);
            fine = fine && (!(w->options.sorted || rowed) || p == 0 ||
                            by_pair(&all[at - 1], &all[at]) <= 0);
            at++;
        }
        free(made);
        for (int64_t p = 1; p < o->rows; p++) {
            fine = fine && o->ids[p] > o->ids[p - 1];
        }
        CHECK(fine, "rank %d has other numbers, or another order", r);
    }
    qsort(all, fine ? (size_t)n : 0, sizeof *all, by_pair);
    for (int64_t p = 0; p < n && fine; p++) {
        const entry e = entry_of(NULL, NULL, one->i, one->j, one->distances, one->vectors,
                                 one->shifts, real, p);
        fine = CHECK(memcmp(&e, &all[p], sizeof e) == 0,
                     "entry %lld is (%lld, %lld), expected (%lld, %lld)", (long long)p,
                     (long long)all[p].i, (long long)all[p].j, (long long)e.i, (long long)e.j);
    }
    free(all);
}

/** Compare a team with one process. */
static void compare(kith_ctx *ctx, pairs_work *w, team_run *run, const char *name)
{
    kith_pairs one = {0};
    kith_pairs_options o = w->options;
    int64_t n = 0;
    int64_t *neighbours = check_malloc((size_t)w->points.n * sizeof *neighbours);
    char text[256];
    snprintf(text, sizeof text, "%s; against %lld, %d ranks, deal %d, chunks of %lld", name,
             (long long)w->against.n, run->ranks, (int)run->deal, (long long)run->chunk_bytes);
    check_case(text);
    memset(w->status, 0, sizeof w->status);
    memset(w->out, 0, sizeof w->out);
    o.sorted = 1;
    o.layout = KITH_IJ;
    o.against = w->against.n >= 0 ? &w->against : NULL;
    kith_status status = kith_pairs_find(ctx, &w->points, &w->in->box, w->cutoff, &o, &one);
    if (status == KITH_OK) {
        status = kith_pairs_count(ctx, &w->points, &w->in->box, w->cutoff, &o, &n, neighbours);
    }
    run->work = find;
    run->user = w;
    team_go(run);
    int fine = 1;
    for (int r = 0; r < run->ranks; r++) {
        fine = CHECK(w->status[r] == status, "rank %d: %s, one process: %s (%s; %s)", r,
                     kith_status_name(w->status[r]), kith_status_name(status), w->message[r],
                     kith_message(ctx)) &&
               fine;
        fine = fine && CHECK(status != KITH_OK || w->n[r] == n, "rank %d counts %lld pairs", r,
                             (long long)w->n[r]);
    }
    if (fine && status == KITH_OK) {
        check_list(w, run->ranks, &one);
        CHECK(memcmp(neighbours, w->neighbours, (size_t)w->points.n * sizeof *neighbours) == 0,
              "other numbers of neighbours");
    }
    for (int r = 0; r < run->ranks; r++) {
        kith_team_pairs_free(&w->out[r]);
    }
    kith_pairs_free(&one);
    free(neighbours);
    check_case(NULL);
}

enum { SPECIES = 3 };

/** Arrays of rules, of both sets. */
typedef struct rule_arrays {
    int32_t *species[2], *molecules[2];
    stored radii[2]; /**< in the x coordinate */
    uint8_t *active;
    int64_t *bond_offsets;
    int32_t *bonds;
    double cutoffs[SPECIES * SPECIES];
} rule_arrays;

/** Make random rules for sets of n[0] and n[1] particles. */
static void make_rules(rule_arrays *rules, rng *r, kith_precision precision, double cutoff,
                       const int64_t n[2], int two)
{
    for (int s = 0; s < 2; s++) {
        rules->species[s] = team_random_column(r, n[s], SPECIES);
        rules->molecules[s] = team_random_column(r, n[s], 9);
        double *h = check_malloc(3 * (size_t)n[s] * sizeof *h);
        const double most = rng_below(r, 8) == 0 ? 0 : cutoff * rng_uniform(r, 0.1, 0.7);
        for (int64_t p = 0; p < 3 * n[s]; p++) {
            h[p] = rng_below(r, 9) == 0 ? 0 : most * rng_uniform(r, 0, 1);
        }
        rules->radii[s] = stored_make(h, n[s], precision, LAYOUT_PACKED);
        free(h);
    }
    rules->active = check_malloc((size_t)n[0]);
    for (int64_t p = 0; p < n[0]; p++) {
        rules->active[p] = rng_below(r, 3) > 0;
    }
    rules->bonds = team_random_bonds(r, n[0], n[two], &rules->bond_offsets);
    for (int a = 0; a < SPECIES; a++) {
        for (int b = 0; b <= a; b++) {
            const double c = rng_below(r, 4) == 0 ? 0 : cutoff * rng_uniform(r, 0.2, 1.1);
            rules->cutoffs[SPECIES * a + b] = rules->cutoffs[SPECIES * b + a] = c;
        }
    }
}

static void free_rules(rule_arrays *rules)
{
    for (int s = 0; s < 2; s++) {
        free(rules->species[s]);
        free(rules->molecules[s]);
        stored_free(&rules->radii[s]);
    }
    free(rules->active);
    free(rules->bond_offsets);
    free(rules->bonds);
}

/** Take some of the rules into the options. */
static void choose_rules(pairs_work *w, const rule_arrays *rules, rng *r, int two)
{
    kith_pairs_options *o = &w->options;
    if (rng_below(r, 2)) {
        o->n_species = SPECIES;
        o->cutoffs = rules->cutoffs;
        o->species = rules->species[0];
        o->species_against = two ? rules->species[1] : NULL;
    }
    if (rng_below(r, 2)) {
        o->radius_rule = (kith_radius_rule)(1 + rng_below(r, KITH_RADIUS_SUM));
        o->radii = rules->radii[0].points.x;
        o->radii_against = two ? rules->radii[1].points.x : NULL;
    }
    if (rng_below(r, 2)) {
        o->molecules = rules->molecules[0];
        o->molecules_against = two ? rules->molecules[1] : NULL;
    }
    if (rng_below(r, 2)) {
        o->bond_offsets = rules->bond_offsets;
        o->bonds = rules->bonds;
    }
    o->active = rng_below(r, 3) == 0 ? rules->active : NULL;
    o->r_min = rng_below(r, 3) == 0 ? 0.2 * w->cutoff : 0;
    if ((o->species || o->radii) && rng_below(r, 2)) {
        w->cutoff = 0;
    }
    if (o->active || o->radius_rule == KITH_RADIUS_GATHER ||
        o->radius_rule == KITH_RADIUS_SCATTER) {
        o->full = 1;
    }
}

/** One input, in one precision, with what `how` says. */
static void try_input(kith_ctx *ctx, const char *backend, rng *r, int k, int how)
{
    team_input in = team_input_make(r, k, 500);
    const kith_precision precision = how % 2 ? KITH_FLOAT : KITH_DOUBLE;
    stored a = stored_make(in.xyz, in.n, precision, (layout)(how / 2 % LAYOUTS));
    team_input other = team_input_make(r, (k + 1 + how % 3) % team_inputs(), how / 23 % 300);
    stored b = stored_make(other.xyz, other.n, precision, (layout)(how / 3 % LAYOUTS));
    int64_t first[MOST_RANKS + 1], first_against[MOST_RANKS + 1];
    pairs_work w = {.in = &in,
                    .cutoff = in.cutoff,
                    .points = a.points,
                    .against = b.points,
                    .first = first,
                    .first_against = first_against};
    w.against.n = how / 29 % 3 ? -1 : how / 29 % 5 == 0 ? 0 : other.n;
    w.neighbours = check_malloc((size_t)in.n * sizeof *w.neighbours);
    kith_pairs_options_init(&w.options);
    w.options.full = how / 11 % 2;
    w.options.sorted = how / 13 % 2;
    w.options.layout = how / 5 % 3 == 1 ? KITH_CSR : KITH_IJ;
    /* an unsorted list is compared pair by pair: equal (i, j) must have their shifts */
    w.options.extras = (unsigned)(how / 17 % 2 ? KITH_SHIFTS | KITH_DISTANCES | KITH_VECTORS
                                               : KITH_SHIFTS);
    w.options.block_pairs = how / 19 % 3 == 0 ? 7 : 0;
    const int two = w.against.n >= 0;
    const int64_t n[2] = {in.n, two ? w.against.n : 0};
    rule_arrays rules;
    make_rules(&rules, r, precision, in.cutoff, n, two);
    if (how / 37 % 2) {
        choose_rules(&w, &rules, r, two);
    }
    team_run run = team_run_of(backend, how);
    team_split_at((team_split)(how / 7 % SPLITS), in.n, run.ranks, first);
    team_split_at((team_split)(how / 31 % SPLITS), w.against.n > 0 ? w.against.n : 0, run.ranks,
                  first_against);
    compare(ctx, &w, &run, in.name);
    free_rules(&rules);
    free(w.neighbours);
    stored_free(&a);
    stored_free(&b);
    free(in.xyz);
    free(other.xyz);
}

int main(int argc, char **argv)
{
    return team_main(argc, argv, 3, try_input);
}
