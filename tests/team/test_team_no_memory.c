/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation that one rank makes in a call of a team made to fail: all ranks end with
 * KITH_NO_MEMORY, nothing is leaked, and the next call of the team has the answer.
 */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "team_case.h"

enum { RANKS = 3, EACH = 60, ROOM = 20 * EACH, MOST = 4000 };

/** What each rank brings to a call. */
typedef struct no_memory_input {
    kith_points points, against;
    kith_box box;
    float xyz[3 * EACH], other[3 * EACH], velocities[3 * EACH], masses[EACH];
    int64_t ids[EACH], labels[EACH];
    uint8_t roles[EACH];
    int32_t species[EACH];
} no_memory_input;

/** A call: adds up what came out. */
typedef kith_status no_memory_call(kith_team *team, no_memory_input *in, int64_t *seen);

static kith_status call_rdf(kith_team *team, no_memory_input *in, int64_t *seen)
{
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.r_max = 2;
    o.bins = 10;
    o.species = in->species;
    o.n_species = 2;
    kith_histogram out = {.size = sizeof out};
    const kith_status status = kith_team_rdf_count(team, &in->points, &in->box, &o, &out);
    for (int64_t k = 0; k < out.bins * out.partials; k++) {
        *seen += (k + 1) * out.counts[k];
    }
    kith_histogram_free(&out);
    return status;
}

static kith_status groups_of(kith_team *team, no_memory_input *in, const kith_fof_options *o,
                             int64_t *seen)
{
    kith_team_groups out = {.size = sizeof out};
    const kith_status status = kith_team_fof_find(team, &in->points, &in->box, 0.9, o, &out);
    for (int64_t k = 0; k < out.points; k++) {
        *seen += (k + 1) * out.labels[k];
    }
    kith_team_groups_free(&out);
    return status;
}

static kith_status call_fof(kith_team *team, no_memory_input *in, int64_t *seen)
{
    kith_fof_options o;
    kith_fof_options_init(&o);
    o.min_members = 2;
    o.ids = in->ids;
    return groups_of(team, in, &o, seen);
}

static kith_status call_roles(kith_team *team, no_memory_input *in, int64_t *seen)
{
    kith_fof_options o;
    kith_fof_options_init(&o);
    o.min_members = 2;
    o.roles = in->roles;
    o.min_links = 2;
    o.velocities = in->velocities;
    o.velocity_length = 10;
    return groups_of(team, in, &o, seen);
}

static kith_status pairs_of(kith_team *team, no_memory_input *in, const kith_points *against,
                            bool rules, int64_t *seen)
{
    static const double cutoffs[4] = {0.8, 0.5, 0.5, 0.7};
    static const int64_t offsets[EACH + 1];
    kith_pairs_options o;
    int32_t species[EACH];
    kith_pairs_options_init(&o);
    for (int p = 0; p < EACH && rules; p++) {
        species[p] = p % 2;
    }
    if (rules) {
        o.n_species = 2;
        o.cutoffs = cutoffs;
        o.species = species;
        o.bond_offsets = offsets;
    }
    o.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    o.against = against;
    kith_team_pairs out = {.size = sizeof out};
    kith_status status = kith_team_pairs_find(team, &in->points, &in->box, 0.8, &o, &out);
    for (int64_t k = 0; k < out.n; k++) {
        *seen += out.i[k] + 3 * (int64_t)out.j[k] + out.shifts[3 * k];
    }
    if (status == KITH_OK) {
        int64_t n = 0, neighbours[EACH];
        status = kith_team_pairs_count(team, &in->points, &in->box, 0.8, &o, &n, neighbours);
        *seen += n;
    }
    kith_team_pairs_free(&out);
    return status;
}

static kith_status call_pairs(kith_team *team, no_memory_input *in, int64_t *seen)
{
    return pairs_of(team, in, NULL, false, seen);
}

static kith_status call_against(kith_team *team, no_memory_input *in, int64_t *seen)
{
    return pairs_of(team, in, &in->against, false, seen);
}

static kith_status call_rules(kith_team *team, no_memory_input *in, int64_t *seen)
{
    return pairs_of(team, in, NULL, true, seen);
}

static kith_status call_nearest(kith_team *team, no_memory_input *in, int64_t *seen)
{
    kith_nearest_options o;
    kith_nearest_options_init(&o);
    o.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    kith_team_nearest out = {.size = sizeof out};
    const kith_status status = kith_team_nearest_find(team, &in->points, &in->box, 6, &o, &out);
    for (int64_t k = 0; k < out.rows * out.k; k++) {
        *seen += (k + 1) * out.j[k] + out.shifts[3 * k];
    }
    kith_team_nearest_free(&out);
    return status;
}

static kith_status call_halos(kith_team *team, no_memory_input *in, int64_t *seen)
{
    kith_halo_input o;
    kith_halo_input_init(&o);
    o.masses = in->masses;
    o.velocities = in->velocities;
    o.sphere_density[0] = 10;
    const kith_team_groups groups = {.n = 4, .points = EACH, .labels = in->labels};
    kith_team_halos out = {.size = sizeof out, .stride = sizeof(kith_halo)};
    const kith_status status = kith_team_halos_measure(team, &in->points, &in->box, &groups, &o,
                                                       &out);
    for (int64_t k = 0; k < out.held; k++) {
        *seen += (out.first + k + 1) * out.halo[k].members + out.halo[k].particle;
        *seen += (int64_t)(1e6 * out.halo[k].sphere_radius[0]);
    }
    kith_team_halos_free(&out);
    return status;
}

static kith_status call_domain(kith_team *team, no_memory_input *in, int64_t *seen)
{
    kith_domain *domain = NULL;
    kith_domain_view view = {.size = sizeof view};
    kith_status status = kith_domain_open(team, &in->points, &in->box, 0.7, &domain);
    int64_t home[EACH], ids[ROOM];
    if (status == KITH_OK) {
        status = kith_domain_read(domain, &view);
    }
    if (status == KITH_OK) {
        CHECK(view.n + view.ghosts <= ROOM, "more particles than expected");
        status = kith_domain_send(domain, in->ids, sizeof *ids, ids);
    }
    if (status == KITH_OK) {
        status = kith_domain_refresh(domain, ids, sizeof *ids);
    }
    if (status == KITH_OK) {
        status = kith_domain_home(domain, ids, sizeof *ids, home);
    }
    for (int64_t k = 0; status == KITH_OK && k < EACH; k++) {
        *seen += (k + 1) * home[k];
    }
    kith_domain_close(domain);
    return status;
}

static kith_status call_flock(kith_team *team, no_memory_input *in, int64_t *seen)
{
    const kith_points velocities = kith_points_packed(in->velocities, EACH, KITH_FLOAT);
    kith_team_flock *flock = NULL;
    kith_flock_options o;
    kith_flock_measures measures = {.neighbours = 0};
    float xyz[3 * EACH] = {0};
    kith_flock_options_init(&o);
    o.alignment.radius = o.cohesion.radius = 1.5;
    o.separation.radius = 1;
    kith_status status = kith_team_flock_open(team, &in->points, &velocities, &in->box, &o, &flock);
    if (status == KITH_OK) {
        status = kith_team_flock_step(flock, 2);
    }
    if (status == KITH_OK) {
        status = kith_team_flock_read(flock, xyz, NULL);
    }
    if (status == KITH_OK) {
        status = kith_team_flock_measure(flock, &measures);
    }
    for (int64_t k = 0; status == KITH_OK && k < 3 * EACH; k++) {
        *seen += (k + 1) * (int64_t)(1e5 * (double)xyz[k]);
    }
    *seen += (int64_t)(1e6 * measures.neighbours);
    kith_team_flock_close(flock);
    return status;
}

static const struct {
    const char *name;
    no_memory_call *call;
} calls[] = {{"rdf", call_rdf},         {"groups", call_fof},  {"roles", call_roles},
             {"pairs", call_pairs},     {"rules", call_rules}, {"two sets", call_against},
             {"nearest", call_nearest}, {"halos", call_halos}, {"domain", call_domain},
             {"flock", call_flock}};

/** One run of a team. */
typedef struct no_memory_work {
    no_memory_call *call;
    int bad;          /**< the rank that has no memory */
    int64_t k, times; /**< which of its allocations fail, as in alloc_fail_thread */
    kith_status status[RANKS];
    int64_t seen[RANKS]; /**< by the call that succeeded */
    char message[RANKS][256];
} no_memory_work;

static void fill_input(no_memory_input *in, int rank)
{
    rng random = {(uint64_t)rank + 5};
    for (int k = 0; k < 3 * EACH; k++) {
        in->xyz[k] = (float)rng_uniform(&random, 0, 5);
        in->other[k] = (float)rng_uniform(&random, 0, 5);
        in->velocities[k] = (float)rng_uniform(&random, -1, 1);
    }
    for (int k = 0; k < EACH; k++) {
        in->ids[k] = 1000 - (rank * EACH + k);
        in->labels[k] = (rank + k) % 5;
        in->masses[k] = (float)(1 + k % 3);
        in->roles[k] = (uint8_t)(k % 4 ? KITH_LINK : KITH_ATTACH);
        in->species[k] = k % 2;
    }
    in->points = kith_points_packed(in->xyz, EACH, KITH_FLOAT);
    in->against = kith_points_packed(in->other, EACH, KITH_FLOAT);
    in->box = kith_box_periodic(5, 5, 5);
}

static void work(team_rank *rank)
{
    no_memory_work *w = rank->user;
    no_memory_input in;
    const int r = rank->rank;
    fill_input(&in, r);
    w->seen[r] = 0;
    alloc_fail_thread(w->k, r == w->bad ? w->times : 0);
    w->status[r] = w->call(rank->team, &in, &w->seen[r]);
    alloc_fail_thread(0, 0);
    strncpy(w->message[r], kith_message(rank->ctx), sizeof w->message[r] - 1);
    if (w->status[r] == KITH_NO_MEMORY) {
        w->seen[r] = 0;
        CHECK(w->call(rank->team, &in, &w->seen[r]) == KITH_OK, "rank %d, next call: %s", r,
              kith_message(rank->ctx));
    }
}

/** Run the call with some allocations failing. @return its status */
static kith_status run(const char *backend, no_memory_work *w)
{
    const int64_t live = alloc_live();
    team_run team = {.backend = backend, .ranks = RANKS, .work = work, .user = w, .watched = -1};
    team_go(&team);
    CHECK(alloc_live() == live, "%lld blocks leaked", (long long)(alloc_live() - live));
    for (int r = 1; r < RANKS; r++) {
        CHECK(w->status[r] == w->status[0], "rank %d: %s, rank 0: %s", r,
              kith_status_name(w->status[r]), kith_status_name(w->status[0]));
    }
    return w->status[0];
}

static void try_call(const char *backend, int which, int bad, int64_t times)
{
    no_memory_work whole = {.call = calls[which].call, .bad = -1};
    CHECK(run(backend, &whole) == KITH_OK, "with memory: %s", whole.message[0]);
    kith_status status = KITH_NO_MEMORY;
    int64_t k = 0;
    for (; status != KITH_OK && k < MOST; k++) {
        no_memory_work w = {.call = calls[which].call, .bad = bad, .k = k, .times = times};
        char text[96];
        snprintf(text, sizeof text, "%s, allocation %lld of rank %d", calls[which].name,
                 (long long)k, bad);
        check_case(text);
        status = run(backend, &w);
        CHECK(status == KITH_OK || status == KITH_NO_MEMORY, "%s, %s", kith_status_name(status),
              w.message[bad]);
        CHECK(status == KITH_OK || w.message[bad][0] != '\0', "no message");
        CHECK(memcmp(w.seen, whole.seen, sizeof w.seen) == 0, "another answer");
    }
    check_case(NULL);
    CHECK(k > 5 && k < MOST, "%s: %lld allocations", calls[which].name, (long long)k);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    for (int which = 0; which < (int)(sizeof calls / sizeof *calls); which++) {
        try_call(backend, which, 0, 1);
        try_call(backend, which, RANKS - 1, 1);
        try_call(backend, which, RANKS - 1, INT64_MAX);
    }
    return check_done();
}
