/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flocks over ranks: the state after any number of steps, the order parameters and the predators
 * are those of one process, to the last bit; also after a change of the options, and after a step
 * that fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team_case.h"

enum { MOST_RANKS = 64, HALVES = 2, MESSAGE = 512, KINDS = 3, ROOM = 8192 };

/** A flock at one time. */
typedef struct flock_state {
    kith_status status; /**< of the steps to it */
    char message[MESSAGE];
    void *r, *v; /**< [n][3] */
    int64_t steps;
    kith_flock_measures measures;
    kith_flock_thing things[KITH_MOST_THINGS];
} flock_state;

/** One flock, and what one process makes of it. */
typedef struct flock_work {
    const kith_box *box;
    kith_points r, v;
    const int64_t *first; /**< [ranks + 1] */
    kith_flock_options options[HALVES];
    int64_t steps[HALVES];
    kith_status opened, changed;
    flock_state state[HALVES];
} flock_work;

static size_t state_bytes(const flock_work *w, int64_t n)
{
    return 3 * (size_t)n * (size_t)w->r.precision;
}

/** Read the flock of one process. */
static void keep(const flock_work *w, kith_flock *flock, kith_ctx *ctx, flock_state *state)
{
    snprintf(state->message, sizeof state->message, "%s", kith_message(ctx));
    state->r = check_malloc(state_bytes(w, w->r.n));
    state->v = check_malloc(state_bytes(w, w->r.n));
    CHECK(kith_flock_read(flock, state->r, state->v) == KITH_OK, "%s", kith_message(ctx));
    state->steps = kith_flock_steps(flock);
    kith_flock_read_things(flock, state->things);
    CHECK(kith_flock_measure(flock, &state->measures) == KITH_OK, "%s", kith_message(ctx));
}

/** Let one process do it. */
static void expect(kith_ctx *ctx, flock_work *w)
{
    kith_flock *flock = NULL;
    w->opened = kith_flock_open(ctx, &w->r, &w->v, w->box, &w->options[0], &flock);
    for (int h = 0; h < HALVES && flock; h++) {
        if (h > 0) {
            w->changed = kith_flock_change(flock, &w->options[h]);
        }
        w->state[h].status = kith_flock_step(flock, w->steps[h]);
        keep(w, flock, ctx, &w->state[h]);
    }
    kith_flock_close(flock);
}

static void compare(const flock_work *w, team_rank *rank, kith_team_flock *flock, int half,
                    kith_status status)
{
    const flock_state *want = &w->state[half];
    const int64_t base = w->first[rank->rank], n = w->first[rank->rank + 1] - base;
    const size_t from = state_bytes(w, base), bytes = state_bytes(w, n);
    CHECK(status == want->status, "rank %d: %s: %s, expected %s", rank->rank,
          kith_status_name(status), kith_message(rank->ctx), kith_status_name(want->status));
    CHECK(status == KITH_OK || strcmp(kith_message(rank->ctx), want->message) == 0,
          "rank %d: \"%s\", expected \"%s\"", rank->rank, kith_message(rank->ctx), want->message);
    kith_flock_thing things[KITH_MOST_THINGS] = {{.radius = 0}};
    kith_flock_measures measures;
    void *r = check_malloc(bytes);
    void *v = check_malloc(bytes);
    CHECK(kith_team_flock_steps(flock) == want->steps, "rank %d: %lld steps, expected %lld",
          rank->rank, (long long)kith_team_flock_steps(flock), (long long)want->steps);
    CHECK(kith_team_flock_read(flock, r, v) == KITH_OK, "%s", kith_message(rank->ctx));
    CHECK(memcmp(r, (char *)want->r + from, bytes) == 0, "rank %d: other positions", rank->rank);
    CHECK(memcmp(v, (char *)want->v + from, bytes) == 0, "rank %d: other velocities", rank->rank);
    kith_team_flock_read_things(flock, things);
    const size_t things_bytes = (size_t)w->options[half].n_things * sizeof *things;
    CHECK(memcmp(things, want->things, things_bytes) == 0, "rank %d: other predators", rank->rank);
    CHECK(kith_team_flock_measure(flock, &measures) == KITH_OK, "%s", kith_message(rank->ctx));
    CHECK(memcmp(&measures, &want->measures, sizeof measures) == 0,
          "rank %d: other order parameters", rank->rank);
    free(r);
    free(v);
}

/** The options of a rank. */
static kith_flock_options options_of(const flock_work *w, int half, int64_t begin)
{
    kith_flock_options o = w->options[half];
    o.species = o.species ? o.species + begin : NULL;
    return o;
}

static void use(team_rank *rank)
{
    flock_work *w = rank->user;
    const int64_t begin = w->first[rank->rank], end = w->first[rank->rank + 1];
    const kith_points r = team_slice(&w->r, begin, end), v = team_slice(&w->v, begin, end);
    kith_team_flock *flock = NULL;
    const kith_flock_options first = options_of(w, 0, begin), second = options_of(w, 1, begin);
    const kith_status opened = kith_team_flock_open(rank->team, &r, &v, w->box, &first, &flock);
    CHECK(opened == w->opened, "rank %d: %s: %s, expected %s", rank->rank, kith_status_name(opened),
          kith_message(rank->ctx), kith_status_name(w->opened));
    if (!flock || opened != w->opened) {
        kith_team_flock_close(flock);
        return;
    }
    compare(w, rank, flock, 0, kith_team_flock_step(flock, w->steps[0]));
    int64_t pairs; /* another question between the steps */
    CHECK(kith_team_pairs_count(rank->team, &r, w->box, 0.5, NULL, &pairs, NULL) == KITH_OK, "%s",
          kith_message(rank->ctx));
    const kith_status changed = kith_team_flock_change(flock, &second);
    CHECK(changed == w->changed, "rank %d: %s", rank->rank, kith_message(rank->ctx));
    const kith_status status = kith_team_flock_step(flock, w->steps[1]);
    kith_team_load load = {.size = sizeof load};
    CHECK(kith_team_load_read(rank->team, &load) == KITH_OK && load.most_owned >= load.owned &&
              load.points == w->r.n,
          "rank %d: %lld particles, load %lld of %lld", rank->rank, (long long)load.points,
          (long long)load.owned, (long long)load.most_owned);
    compare(w, rank, flock, 1, status);
    kith_team_flock_close(flock);
}

/** Things of all kinds, at random. */
static void random_things(rng *r, const kith_box *box, kith_flock_thing *things,
                          kith_flock_options *o)
{
    o->things = things;
    o->n_things = rng_below(r, 3) ? 0 : 1 + rng_below(r, 5);
    for (int64_t t = 0; t < o->n_things; t++) {
        things[t] = (kith_flock_thing){.kind = (kith_flock_kind)rng_below(r, 4),
                                       .radius = rng_uniform(r, 0.1, 1),
                                       .speed = rng_uniform(r, 0, 2),
                                       .reach = rng_uniform(r, 0.5, 5),
                                       .weight = rng_uniform(r, 0, 1)};
        for (int k = 0; k < 3; k++) {
            things[t].normal[k] = rng_uniform(r, -1, 1) + (k == 0);
            things[t].place[k] = box->origin[k] + (double)rng_below(r, 5) / 4 * box->row[k][k];
        }
        if (things[t].kind == KITH_WALL) { /* below the box, so that few are behind it */
            things[t].normal[0] = 1;
            things[t].place[0] = box->origin[0] - 1;
        }
    }
}

/** Species that heed each other more or less, at random.
 *  @param factors  [KINDS][KINDS]   @param species  [ROOM] */
static void random_species(rng *r, kith_flock_factors *factors, uint8_t *species,
                           kith_flock_options *o)
{
    for (int k = 0; k < KINDS * KINDS; k++) {
        factors[k] = (kith_flock_factors){rng_uniform(r, -2, 2), (double)rng_below(r, 3),
                                          rng_uniform(r, 0, 2)};
    }
    for (int64_t p = 0; p < ROOM; p++) {
        species[p] = (uint8_t)rng_below(r, KINDS);
    }
    if (rng_below(r, 3) == 0) {
        o->factors = factors;
        o->n_species = KINDS;
        o->species = rng_below(r, 2) ? species : NULL;
    }
}

/** Rules of any model, at random; radii of up to `reach`. */
static void random_options(rng *r, const kith_box *box, double reach, kith_flock_thing *things,
                           kith_flock_options *o)
{
    static const double part[] = {1, 1, 0.6, 0.3, 0};
    kith_flock_options_init(o);
    o->model = (kith_flock_model)(rng_below(r, 2) ? 0 : rng_below(r, 3));
    o->separation.radius = reach * part[rng_below(r, 5)];
    o->alignment.radius = reach * part[rng_below(r, 5)];
    o->cohesion.radius = reach * part[rng_below(r, 5)];
    o->relative = (int)rng_below(r, 2);
    o->max_speed = o->model == KITH_BOIDS && rng_below(r, 3) == 0 ? 0 : 1;
    o->min_speed = o->max_speed > 0 ? 0.25 * (double)rng_below(r, 3) : 0;
    o->time_step = rng_uniform(r, 0.05, 1);
    o->noise = rng_below(r, 2) ? 0 : rng_uniform(r, 0, 1);
    o->gaussian = o->model != KITH_VICSEK_VECTORIAL && rng_below(r, 2);
    o->turn_rate = rng_below(r, 3) ? 0 : rng_uniform(r, 0.1, 2);
    o->blind_angle = rng_below(r, 3) ? 0 : rng_uniform(r, 0, 4);
    o->nearest = rng_below(r, 3) ? 0 : 1 + rng_below(r, 9);
    o->repulsion.radius = rng_below(r, 3) ? 0 : reach * part[rng_below(r, 5)];
    o->repulsion.weight = rng_uniform(r, 0, 3);
    o->leaders = rng_below(r, 2) ? 0 : rng_uniform(r, 0, 1);
    o->leader_weight = rng_uniform(r, 0, 2);
    o->leader_direction[0] = 1;
    o->leader_direction[1] = rng_uniform(r, -1, 1);
    o->seed = rng_bits(r);
    o->first_step = rng_below(r, 100);
    for (int k = 0; k < box->dim; k++) {
        o->reflecting[k] = !box->periodic[k] && rng_below(r, 4) == 0;
    }
    random_things(r, box, things, o);
}

/** Velocities of up to 1, many of them equal; one in some flocks is too large to step. */
static double *random_velocities(rng *r, int64_t n, const kith_box *box, kith_precision precision,
                                 const kith_flock_options *o)
{
    double *v = check_malloc(3 * (size_t)n * sizeof *v);
    for (int64_t e = 0; e < 3 * n; e++) {
        v[e] = e % 3 == 2 && box->dim == 2 ? 0 : (double)rng_below(r, 9) / 4 - 1;
    }
    if (n > 0 && o->max_speed == 0 && rng_below(r, 4) == 0) {
        v[3 * rng_below(r, n)] = precision == KITH_FLOAT ? 3e38 : 1e308;
    }
    return v;
}

/** One input, in one precision, with what `how` says. */
static void try_input(kith_ctx *ctx, const char *backend, rng *r, int k, int how)
{
    team_input in = team_input_make(r, k, 300);
    const kith_precision precision = how % 2 ? KITH_FLOAT : KITH_DOUBLE;
    kith_flock_thing things[HALVES][KITH_MOST_THINGS];
    kith_flock_factors factors[HALVES][KINDS * KINDS];
    static uint8_t species[HALVES][ROOM];
    int64_t first[MOST_RANKS + 1];
    flock_work w = {.box = &in.box, .first = first};
    const double least = fmin(in.box.row[0][0], fmin(in.box.row[1][1], in.box.row[2][2]));
    for (int h = 0; h < HALVES; h++) {
        /* a radius of the box's height is refused; now and then it is tried */
        const double reach = rng_below(r, 8) ? fmin(in.cutoff, 0.7 * least) : in.cutoff;
        random_options(r, &in.box, reach, things[h], &w.options[h]);
        random_species(r, factors[h], species[h], &w.options[h]);
        w.steps[h] = rng_below(r, h ? 20 : 4);
    }
    double *velocities = random_velocities(r, in.n, &in.box, precision, &w.options[0]);
    stored a = stored_make(in.xyz, in.n, precision, (layout)(how / 2 % LAYOUTS));
    stored b = stored_make(velocities, in.n, precision, (layout)(how / 4 % LAYOUTS));
    w.r = a.points;
    w.v = b.points;
    team_run run = team_run_of(backend, how);
    run.work = use;
    run.user = &w;
    team_split_at((team_split)(how / 7 % SPLITS), in.n, run.ranks, first);
    CHECK(in.n <= ROOM, "more particles than species");
    char name[256];
    snprintf(name, sizeof name, "%s, %s, %d ranks, model %d, nearest %lld, %lld things", in.name,
             precision == KITH_FLOAT ? "float" : "double", run.ranks, (int)w.options[0].model,
             (long long)w.options[0].nearest, (long long)w.options[0].n_things);
    check_case(name);
    expect(ctx, &w);
    team_go(&run);
    check_case(NULL);
    for (int h = 0; h < HALVES; h++) {
        free(w.state[h].r);
        free(w.state[h].v);
    }
    stored_free(&a);
    stored_free(&b);
    free(velocities);
    free(in.xyz);
}

static const char *message(const team_rank *rank)
{
    return kith_message(rank->ctx);
}

/** What opening a flock refuses on all ranks where rank 1 alone errs. */
static void refused_open(team_rank *rank)
{
    const int bad = rank->rank == 1;
    double xyz[] = {rank->rank, 0, 0, rank->rank, 1, 0}, v[] = {1, 0, 0, 0, 1, 0};
    const kith_points r = kith_points_packed(xyz, 2, KITH_DOUBLE);
    kith_points u = kith_points_packed(v, 2, KITH_DOUBLE);
    kith_team_flock *flock = NULL;
    kith_flock_options o;
    kith_flock_options_init(&o);
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, NULL, bad ? NULL : &flock) ==
                  KITH_INVALID &&
              strstr(message(rank), "rank 1: out is NULL"),
          "%s", message(rank));
    CHECK(kith_team_flock_open(rank->team, &r, bad ? NULL : &u, NULL, NULL, &flock) ==
                  KITH_INVALID &&
              strstr(message(rank), "rank 1: velocities is NULL"),
          "%s", message(rank));
    u.n = bad ? 1 : 2;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, NULL, &flock) == KITH_INVALID &&
              strstr(message(rank), "velocities: their number"),
          "%s", message(rank));
    u.n = 2;
    v[4] = bad ? (double)NAN : 1;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, NULL, &flock) == KITH_NOT_FINITE &&
              strstr(message(rank), "velocities: a coordinate of particle 3 "),
          "%s", message(rank));
    v[4] = 1;
    xyz[3] = bad ? (double)INFINITY : 1;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, NULL, &flock) == KITH_NOT_FINITE &&
              strstr(message(rank), "points: a coordinate of particle 3 "),
          "%s", message(rank));
    xyz[3] = rank->rank;
    o.noise = bad ? 0.5 : 0.25;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, &o, &flock) == KITH_INVALID &&
              strstr(message(rank), "options.noise differs"),
          "%s", message(rank));
    o.noise = 0;
    const kith_flock_thing thing = {.kind = KITH_POINT, .weight = bad ? 1 : 2};
    o.things = &thing;
    o.n_things = 1;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, &o, &flock) == KITH_INVALID &&
              strstr(message(rank), "options.things differs"),
          "%s", message(rank));
    const kith_flock_factors factors = {.cohesion = bad ? 1 : 2}, alike = {.cohesion = 1};
    const uint8_t species[2] = {0, (uint8_t)(bad ? 9 : 0)};
    kith_flock_options kinds = o;
    kinds.n_things = 0;
    kinds.factors = &factors;
    kinds.n_species = 1;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, &kinds, &flock) == KITH_INVALID &&
              strstr(message(rank), "options.factors differs"),
          "%s", message(rank));
    kinds.factors = &alike;
    kinds.species = bad ? species : NULL;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, &kinds, &flock) == KITH_INVALID &&
              strstr(message(rank), "options.species differs"),
          "%s", message(rank));
    kinds.species = species;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, &kinds, &flock) == KITH_INVALID &&
              strstr(message(rank), "rank 1: options.species[1] is 9"),
          "%s", message(rank));
    o.things = bad ? NULL : &thing;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, &o, &flock) == KITH_INVALID &&
              strstr(message(rank), "rank 1: options.things is NULL"),
          "%s", message(rank));
    o.n_things = KITH_MOST_THINGS + bad;
    o.things = NULL;
    CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, &o, &flock) == KITH_INVALID, "%s",
          message(rank));
    CHECK(!flock, "a flock after a failure");
}

/** What the calls of an open flock refuse on all ranks where rank 1 alone errs. */
static void refused(team_rank *rank)
{
    const int bad = rank->rank == 1;
    const double xyz[] = {rank->rank, 0, 0}, v[] = {1, 0, 0};
    const kith_points r = kith_points_packed(xyz, 1, KITH_DOUBLE);
    const kith_points u = kith_points_packed(v, 1, KITH_DOUBLE);
    kith_team_flock *flock = NULL;
    kith_flock_options o;
    kith_flock_measures measures;
    refused_open(rank);
    kith_flock_options_init(&o);
    if (!CHECK(kith_team_flock_open(rank->team, &r, &u, NULL, NULL, &flock) == KITH_OK, "%s",
               message(rank))) {
        return;
    }
    CHECK(kith_team_flock_step(flock, bad ? -1 : 2) == KITH_INVALID &&
              strstr(message(rank), "rank 1: steps is -1"),
          "%s", message(rank));
    CHECK(kith_team_flock_step(flock, bad ? 1 : 2) == KITH_INVALID &&
              strstr(message(rank), "steps differs"),
          "%s", message(rank));
    o.time_step = -1;
    CHECK(kith_team_flock_change(flock, &o) == KITH_INVALID &&
              strstr(message(rank), "options.time_step is -1"),
          "%s", message(rank));
    o.time_step = bad ? 1 : 2;
    CHECK(kith_team_flock_change(flock, &o) == KITH_INVALID &&
              strstr(message(rank), "options.time_step differs"),
          "%s", message(rank));
    CHECK(kith_team_flock_measure(flock, bad ? NULL : &measures) == KITH_INVALID &&
              strstr(message(rank), "rank 1: out is NULL"),
          "%s", message(rank));
    CHECK(kith_team_flock_steps(flock) == 0, "steps after refusals");
    CHECK(kith_team_flock_step(flock, 1) == KITH_OK && kith_team_flock_steps(flock) == 1, "%s",
          message(rank));
    if (bad) { /* the team is lost for the others, and for their flocks */
        kith_team_flock_close(flock);
        kith_team_close(rank->team);
        rank->team = NULL;
        return;
    }
    CHECK(kith_team_flock_step(flock, 1) == KITH_TEAM_LOST, "%s", message(rank));
    CHECK(kith_team_flock_read(flock, NULL, NULL) == KITH_TEAM_LOST, "%s", message(rank));
    CHECK(kith_team_flock_steps(flock) == 1, "a step of a lost team");
    kith_team_flock_close(flock);
}

/** Cancel every call. */
static int cancel(void *user, int64_t done, int64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return 1;
}

/** A step that one rank cancels leaves the flock as it was. */
static void cancelled(team_rank *rank)
{
    enum { N = 4000 };
    double *xyz = check_malloc(3 * N * sizeof *xyz), *after = check_malloc(3 * N * sizeof *after);
    rng random = {(uint64_t)rank->rank};
    for (int e = 0; e < 3 * N; e++) {
        xyz[e] = rng_uniform(&random, 0, 16);
    }
    const kith_points r = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(16, 16, 16);
    kith_team_flock *flock = NULL;
    kith_status status = kith_team_flock_open(rank->team, &r, &r, &box, NULL, &flock);
    if (status == KITH_OK) {
        status = kith_team_flock_step(flock, 1000);
        CHECK(kith_team_flock_steps(flock) < 1000, "%lld steps",
              (long long)kith_team_flock_steps(flock));
        CHECK(kith_team_flock_read(flock, after, NULL) == KITH_OK, "%s", message(rank));
        CHECK(kith_team_flock_steps(flock) > 0 || memcmp(after, xyz, 3 * N * sizeof *xyz) == 0,
              "a cancelled step has moved particles");
    }
    CHECK(status == KITH_CANCELLED, "%s", message(rank));
    kith_team_flock_close(flock);
    free(xyz);
    free(after);
}

/** Flocks are not stepped on GPUs: all ranks are told so. */
static void unsupported(team_rank *rank)
{
    const double xyz[] = {0, 0, 0};
    const kith_points r = kith_points_packed(xyz, 1, KITH_DOUBLE);
    kith_team_flock *flock = NULL;
    CHECK(kith_team_flock_open(rank->team, &r, &r, NULL, NULL, &flock) == KITH_UNSUPPORTED &&
              !flock && strstr(message(rank), "flocks over ranks are stepped on CPUs only"),
          "%s", message(rank));
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    if (strncmp(backend, "cuda", 4) == 0) {
        team_run gpus = {.backend = backend, .ranks = 2, .work = unsupported};
        team_go(&gpus);
        kith_close(ctx);
        return check_done();
    }
    team_try_inputs(ctx, backend, 21, try_input);
    team_run run = {.backend = backend, .ranks = 3, .work = refused};
    team_go(&run);
    team_run watched = {
        .backend = backend, .ranks = 3, .work = cancelled, .watch = cancel, .watched = 1};
    team_go(&watched);
    CHECK(kith_team_flock_open(NULL, NULL, NULL, NULL, NULL, NULL) == KITH_INVALID, "no team");
    CHECK(kith_team_flock_step(NULL, 1) == KITH_INVALID, "a step of no flock");
    CHECK(kith_team_flock_change(NULL, NULL) == KITH_INVALID, "a change of no flock");
    CHECK(kith_team_flock_read(NULL, NULL, NULL) == KITH_INVALID, "a state of no flock");
    CHECK(kith_team_flock_measure(NULL, NULL) == KITH_INVALID, "a measure of no flock");
    CHECK(kith_team_flock_steps(NULL) == 0, "steps of no flock");
    kith_team_flock_read_things(NULL, NULL);
    kith_team_flock_close(NULL);
    kith_close(ctx);
    return check_done();
}
