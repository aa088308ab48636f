/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos of teams have the bits of those of one process, however the particles are given: groups of
 * friends, which span ranks, and groups whose members are anywhere; also with spheres, few or many
 * particles in each. Then what is refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { MOST_RANKS = 64, AGAIN = 2 };

/** One measurement, on one process and on a team. */
typedef struct halos_work {
    const kith_box *box;
    kith_points points;
    const int64_t *first; /**< [ranks + 1] */
    int64_t groups;
    const int64_t *labels; /**< [points.n] */
    kith_halo_input input; /**< of all particles */
    int64_t stride;
    kith_status status[MOST_RANKS];
    kith_team_halos out[MOST_RANKS];
    kith_team_load load[MOST_RANKS];
    char message[MOST_RANKS][512];
} halos_work;

/** An array from element `at` on; NULL where there is none. */
static const void *part_of(const void *array, int64_t at, size_t size)
{
    return array ? (const char *)array + (size_t)at * size : NULL;
}

static void measure(team_rank *rank)
{
    halos_work *w = rank->user;
    const int r = rank->rank;
    const int64_t at = w->first[r];
    const size_t real = (size_t)w->points.precision;
    const kith_points mine = team_slice(&w->points, at, w->first[r + 1]);
    int64_t *labels = check_malloc((size_t)(mine.n + 1) * sizeof *labels);
    memcpy(labels, w->labels + at, (size_t)mine.n * sizeof *labels);
    const kith_team_groups groups = {.n = w->groups, .points = mine.n, .labels = labels};
    kith_halo_input input = w->input;
    input.masses = part_of(input.masses, at, real);
    input.velocities = part_of(input.velocities, at, 3 * real);
    input.types = part_of(input.types, at, 1);
    input.potentials = part_of(input.potentials, at, real);
    input.densities = part_of(input.densities, at, real);
    for (int n = 0; n < AGAIN && w->status[r] == KITH_OK; n++) { /* twice into one struct */
        w->out[r].size = sizeof w->out[r];
        w->out[r].stride = w->stride;
        w->status[r] = kith_team_halos_measure(rank->team, &mine, w->box, &groups, &input,
                                               &w->out[r]);
    }
    w->load[r].size = sizeof w->load[r];
    CHECK(kith_team_load_read(rank->team, &w->load[r]) == KITH_OK, "no load");
    snprintf(w->message[r], sizeof w->message[r], "%s", kith_message(rank->ctx));
    free(labels);
}

/** Compare the ranks' halos with those of one process. */
static void check_halos(const halos_work *w, int ranks, const kith_halos *one)
{
    int64_t held = 0;
    for (int r = 0; r < ranks; r++) {
        const kith_team_halos *out = &w->out[r];
        const int fine = CHECK(out->n == one->n && out->first == held &&
                                   out->held - one->n / ranks <= 1,
                               "rank %d: %lld halos of %lld, first %lld", r, (long long)out->held,
                               (long long)out->n, (long long)out->first);
        for (int64_t g = 0; g < out->held && fine; g++) {
            const char *expected = (const char *)one->halo + (size_t)((held + g) * one->stride);
            const char *found = (const char *)out->halo + (size_t)(g * w->stride);
            CHECK(memcmp(expected, found, (size_t)w->stride) == 0, "group %lld is another halo",
                  (long long)(held + g + 1));
        }
        held += out->held;
    }
    CHECK(held == one->n, "%lld halos", (long long)held);
}

/** Measure on one process, with labels of 32 bits. */
static kith_status measure_one(kith_ctx *ctx, const halos_work *w, kith_halos *one)
{
    const int64_t n = w->points.n;
    int32_t *labels = check_malloc((size_t)(n + 1) * sizeof *labels);
    for (int64_t p = 0; p < n; p++) {
        labels[p] = (int32_t)w->labels[p];
    }
    const kith_groups groups = {.n = w->groups, .points = n, .labels = labels};
    one->size = sizeof *one;
    one->stride = w->stride;
    const kith_status status = kith_halos_measure(ctx, &w->points, w->box, &groups, &w->input, one);
    free(labels);
    return status;
}

/** Compare a team with one process. */
static void compare(kith_ctx *ctx, halos_work *w, team_run *run, const char *name)
{
    kith_halos one = {0};
    char text[256];
    snprintf(text, sizeof text, "%s; %lld groups, %d ranks, chunks of %lld", name,
             (long long)w->groups, run->ranks, (long long)run->chunk_bytes);
    check_case(text);
    memset(w->status, 0, sizeof w->status);
    memset(w->out, 0, sizeof w->out);
    const kith_status status = measure_one(ctx, w, &one);
    run->work = measure;
    run->user = w;
    team_go(run);
    int fine = 1;
    int64_t owned = 0;
    int64_t members = 0;
    for (int64_t p = 0; p < w->points.n; p++) {
        members += w->labels[p] > 0;
    }
    for (int r = 0; r < run->ranks; r++) {
        fine = CHECK(w->status[r] == status, "rank %d: %s, one process: %s (%s; %s)", r,
                     kith_status_name(w->status[r]), kith_status_name(status), w->message[r],
                     kith_message(ctx)) &&
               fine;
        owned += w->load[r].owned;
    }
    if (fine && status == KITH_OK) {
        check_halos(w, run->ranks, &one);
        CHECK(owned == members, "%lld members were dealt, not %lld", (long long)owned,
              (long long)members);
    }
    for (int r = 0; r < run->ranks; r++) {
        kith_team_halos_free(&w->out[r]);
        CHECK(!w->out[r].owner && !w->out[r].halo, "not freed");
    }
    kith_halos_free(&one);
    check_case(NULL);
}

/** Labels: groups of friends; or members anywhere, also many members of few groups.
 *  @return the number of groups */
static int64_t make_labels(kith_ctx *ctx, rng *r, const kith_points *points, const team_input *in,
                           int how, int64_t *labels)
{
    kith_groups groups = {0};
    kith_fof_options o;
    kith_fof_options_init(&o);
    o.min_members = 1 + how / 3 % 4;
    if (how % 3 == 0) {
        const int64_t n = how % 2 ? points->n / 20 + 1 : 3;
        for (int64_t p = 0; p < points->n; p++) {
            labels[p] = p < n ? p + 1 : rng_below(r, n + 1);
        }
        return n < points->n ? n : points->n;
    }
    CHECK(kith_fof_find(ctx, points, &in->box, in->cutoff, &o, &groups) == KITH_OK, "%s",
          kith_message(ctx));
    for (int64_t p = 0; p < points->n; p++) {
        labels[p] = groups.labels[p];
    }
    const int64_t n = groups.n;
    kith_groups_free(&groups);
    return n;
}

/** Three random values for each particle, from lo to hi. Few of them are distinct,
 *  so that some are equal. */
static stored make_column(rng *r, int64_t n, double lo, double hi, kith_precision precision)
{
    double *v = check_malloc(3 * (size_t)n * sizeof *v);
    for (int64_t p = 0; p < 3 * n; p++) {
        v[p] = lo + (hi - lo) * (double)rng_below(r, 200) / 199;
    }
    const stored column = stored_make(v, n, precision, LAYOUT_PACKED);
    free(v);
    return column;
}

/** One input, in one precision, with what `how` says. */
static void try_input(kith_ctx *ctx, const char *backend, rng *r, int k, int how)
{
    team_input in = team_input_make(r, k, 1500);
    const kith_precision precision = how % 2 ? KITH_FLOAT : KITH_DOUBLE;
    stored a = stored_make(in.xyz, in.n, precision, (layout)(how / 2 % LAYOUTS));
    stored masses = make_column(r, in.n, 0.1, 7.3, precision);
    stored velocities = make_column(r, in.n, -3, 3, precision);
    stored marks = make_column(r, in.n, -1, 1, precision);
    uint8_t *types = check_malloc((size_t)in.n);
    int64_t *labels = check_malloc((size_t)in.n * sizeof *labels);
    for (int64_t p = 0; p < in.n; p++) {
        types[p] = (uint8_t)rng_below(r, KITH_TYPES);
    }
    int64_t first[MOST_RANKS + 1];
    halos_work w = {.box = &in.box, .points = a.points, .first = first, .labels = labels};
    w.groups = make_labels(ctx, r, &a.points, &in, how / 5 % 12, labels);
    w.stride = how / 23 % 4 ? (int64_t)sizeof(kith_halo) : (int64_t)sizeof(kith_halo) + 16;
    kith_halo_input_init(&w.input);
    w.input.masses = how / 7 % 4 ? masses.points.x : NULL;
    w.input.velocities = how / 11 % 4 ? velocities.points.x : NULL;
    w.input.types = how / 13 % 2 ? types : NULL;
    w.input.potentials = how / 17 % 3 == 0 ? marks.points.x : NULL;
    w.input.densities = how / 17 % 3 == 1 ? marks.points.x : NULL;
    if (in.box.dim == 3 && how / 29 % 3) {
        const double density = 1 / (in.cutoff * in.cutoff * in.cutoff);
        w.input.sphere_density[0] = density * (how / 29 % 3 == 1 ? 2 : 0.1);
        w.input.sphere_density[3] = 7 * density;
    }
    team_run run = team_run_of(backend, how);
    team_split_at((team_split)(how / 19 % SPLITS), in.n, run.ranks, first);
    compare(ctx, &w, &run, in.name);
    free(labels);
    free(types);
    stored_free(&marks);
    stored_free(&velocities);
    stored_free(&masses);
    stored_free(&a);
    free(in.xyz);
}

/** What is wrong with an input. */
typedef enum fault { FINE, MASS, VELOCITY, TYPE, LABEL, EMPTY, TOO_MANY, SPHERE, FAULTS } fault;

/** Faults of particle 13, of rank 1, whose number there is 3: messages name it by the first. What
 *  all ranks say names no rank. */
static void try_fault(const char *backend, fault what)
{
    enum { N = 30, RANKS = 3, BAD = 13 };
    static const struct {
        kith_status status;
        const char *message;
    } expected[FAULTS] = {
        [FINE] = {KITH_OK, ""},
        [MASS] = {KITH_INVALID, "rank 1: masses: the mass of particle 13 "},
        [VELOCITY] = {KITH_NOT_FINITE, "rank 1: velocities: the velocity of particle 13 "},
        [TYPE] = {KITH_INVALID, "rank 1: types: the type of particle 13 "},
        [LABEL] =
            {KITH_INVALID,
             "rank 1: groups.labels: the label of particle 13 (counted from 0) is 4294967297"},
        [EMPTY] = {KITH_INVALID, "rank 1: group 5 has no particle"},
        [TOO_MANY] = {KITH_INVALID, "groups.n is 31"},
        [SPHERE] = {KITH_INVALID, "sphere_density[2] is -5, expected a density"},
    };
    const int64_t first[RANKS + 1] = {0, 10, 20, N};
    double xyz[3 * N], masses[N], velocities[3 * N] = {0};
    uint8_t types[N] = {0};
    int64_t labels[N];
    for (int p = 0; p < N; p++) {
        masses[p] = 1;
        labels[p] = 1 + p % 6;
        for (int m = 0; m < 3; m++) {
            xyz[3 * p + m] = p + 0.1 * m;
        }
    }
    halos_work w = {.points = kith_points_packed(xyz, N, KITH_DOUBLE),
                    .first = first,
                    .groups = 6,
                    .labels = labels,
                    .stride = sizeof(kith_halo)};
    kith_halo_input_init(&w.input);
    w.input.masses = masses;
    w.input.velocities = velocities;
    w.input.types = types;
    masses[BAD] = what == MASS ? 0 : 1;
    velocities[3 * BAD + 1] = what == VELOCITY ? NAN : 0;
    types[BAD] = what == TYPE ? KITH_TYPES : 0;
    labels[BAD] = what == LABEL ? ((int64_t)1 << 32) + 1 : labels[BAD];
    for (int p = 0; p < N && what == EMPTY; p++) {
        labels[p] -= labels[p] == 5;
    }
    w.groups = what == TOO_MANY ? N + 1 : 6;
    w.input.sphere_density[2] = what == SPHERE ? -5 : 0;
    team_run run = {.backend = backend, .ranks = RANKS, .work = measure, .user = &w};
    team_go(&run);
    for (int r = 0; r < RANKS; r++) {
        CHECK(w.status[r] == expected[what].status && strncmp(w.message[r], expected[what].message,
                                                              strlen(expected[what].message)) == 0,
              "fault %d: %s, \"%s\"", (int)what, kith_status_name(w.status[r]), w.message[r]);
        CHECK(what == FINE || (w.out[r].n == 0 && w.out[r].held == 0), "halos after a failure");
        kith_team_halos_free(&w.out[r]);
    }
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    team_try_inputs(ctx, backend, 6, try_input);
    for (fault what = FINE; what < FAULTS; what++) {
        try_fault(backend, what);
    }
    kith_team_halos_free(NULL);
    kith_close(ctx);
    return check_done();
}
