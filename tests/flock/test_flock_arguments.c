/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What flocks must refuse, with a sentence; what they must survive; cancellation and change.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 3000 };

static double xyz[3 * N], vel[3 * N];

static void refuse(kith_ctx *ctx, const char *what, const kith_box *box,
                   const kith_flock_options *o, kith_status wanted)
{
    const kith_points r = kith_points_packed(xyz, 10, KITH_DOUBLE);
    const kith_points v = kith_points_packed(vel, 10, KITH_DOUBLE);
    kith_flock *flock = NULL;
    const kith_status got = kith_flock_open(ctx, &r, &v, box, o, &flock);
    CHECK(got == wanted && !flock, "%s: %s", what, kith_status_name(got));
    CHECK(strlen(kith_message(ctx)) > 0, "%s: no message", what);
    kith_flock_close(flock);
}

static kith_flock_options good(void)
{
    kith_flock_options o;
    kith_flock_options_init(&o);
    return o;
}

static void check_numbers(kith_ctx *ctx, const kith_box *box)
{
    const double bad[] = {-1, NAN, INFINITY};
    for (int b = 0; b < 3; b++) {
        double *fields[13];
        for (int f = 0; f < 13; f++) {
            kith_flock_options o = good();
            fields[0] = &o.separation.radius;
            fields[1] = &o.alignment.radius;
            fields[2] = &o.cohesion.radius;
            fields[3] = &o.min_speed;
            fields[4] = &o.max_speed;
            fields[5] = &o.time_step;
            fields[6] = &o.noise;
            fields[7] = &o.blind_angle;
            fields[8] = &o.alignment.weight;
            fields[9] = &o.repulsion.radius;
            fields[10] = &o.repulsion.weight;
            fields[11] = &o.leaders;
            fields[12] = &o.leader_weight;
            *fields[f] = bad[b];
            if (f != 8 || b > 0)
                refuse(ctx, "a number", box, &o, KITH_INVALID);
        }
    }
    kith_flock_options o = good();
    o.time_step = 0;
    refuse(ctx, "no time", box, &o, KITH_INVALID);
    o = good();
    o.noise = 1.1;
    refuse(ctx, "noise", box, &o, KITH_INVALID);
    o = good();
    o.turn_rate = -1;
    refuse(ctx, "turn_rate", box, &o, KITH_INVALID);
    o.turn_rate = NAN;
    refuse(ctx, "turn_rate", box, &o, KITH_INVALID);
    o = good();
    o.gaussian = 2;
    refuse(ctx, "gaussian", box, &o, KITH_INVALID);
    o.gaussian = 1;
    o.model = KITH_VICSEK_VECTORIAL;
    refuse(ctx, "gaussian", box, &o, KITH_INVALID);
    o = good();
    o.leaders = 1.01;
    refuse(ctx, "leaders", box, &o, KITH_INVALID);
    o.leaders = 0.5;
    o.leader_direction[0] = 1;
    o.leader_weight = 1.1e9;
    refuse(ctx, "leader_weight", box, &o, KITH_INVALID);
    o.leader_direction[0] = 0;
    o.leader_weight = 1;
    refuse(ctx, "no direction", box, &o, KITH_INVALID);
    o.leader_direction[1] = NAN;
    refuse(ctx, "a direction", box, &o, KITH_INVALID);
    o.leader_direction[1] = INFINITY;
    refuse(ctx, "a direction", box, &o, KITH_INVALID);
    o = good();
    o.blind_angle = 6.3;
    refuse(ctx, "blind_angle", box, &o, KITH_INVALID);
    o = good();
    o.min_speed = 2;
    refuse(ctx, "speeds", box, &o, KITH_INVALID);
    o = good();
    o.model = KITH_VICSEK_ANGULAR;
    o.max_speed = 0;
    refuse(ctx, "Vicsek without speed", box, &o, KITH_INVALID);
    o = good();
    o.model = (kith_flock_model)3;
    refuse(ctx, "model", box, &o, KITH_INVALID);
    o = good();
    o.nearest = -1;
    refuse(ctx, "nearest", box, &o, KITH_INVALID);
    o.nearest = 65;
    refuse(ctx, "nearest", box, &o, KITH_INVALID);
    o = good();
    o.first_step = -1;
    refuse(ctx, "first_step", box, &o, KITH_INVALID);
    o = good();
    o.size = 8;
    refuse(ctx, "size", box, &o, KITH_INVALID);
    o = good();
    o.cohesion.radius = 20;
    refuse(ctx, "a radius as large as the box", box, &o, KITH_INVALID);
    o = good();
    o.repulsion.radius = 20;
    refuse(ctx, "a repulsion as far as the box", box, &o, KITH_INVALID);
    o = good();
    o.cohesion.radius = 1e-200;
    o.separation.radius = o.alignment.radius = 0;
    refuse(ctx, "a radius without a square", box, &o, KITH_INVALID);
}

static void check_species(kith_ctx *ctx, const kith_box *box)
{
    kith_flock_factors factors[4] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    uint8_t species[10] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    kith_flock_options o = good();
    o.n_species = 2;
    refuse(ctx, "no factors", box, &o, KITH_INVALID);
    o.factors = factors;
    o.n_species = -1;
    refuse(ctx, "fewer than no species", box, &o, KITH_INVALID);
    o.n_species = KITH_MOST_SPECIES + 1;
    refuse(ctx, "many species", box, &o, KITH_INVALID);
    o.n_species = 0;
    o.species = species;
    refuse(ctx, "species of none", box, &o, KITH_INVALID);
    o.n_species = 2;
    species[7] = 2;
    refuse(ctx, "a species outside the table", box, &o, KITH_INVALID);
    CHECK(strstr(kith_message(ctx), "species[7] is 2"), "%s", kith_message(ctx));
    species[7] = 1;
    const double bad[] = {NAN, INFINITY, 64.001, -65};
    for (int b = 0; b < 4; b++) {
        factors[2].cohesion = bad[b];
        refuse(ctx, "a factor", box, &o, KITH_INVALID);
        CHECK(strstr(kith_message(ctx), "factors[1][0].cohesion"), "%s", kith_message(ctx));
    }
    /* a change that is refused leaves the species */
    factors[2].cohesion = 0;
    double state[2][6 * 10];
    for (int changed = 0; changed < 2; changed++) {
        const kith_points r = kith_points_packed(xyz, 10, KITH_DOUBLE);
        const kith_points v = kith_points_packed(vel, 10, KITH_DOUBLE);
        kith_flock *flock = NULL;
        CHECK(kith_flock_open(ctx, &r, &v, box, &o, &flock) == KITH_OK, "%s", kith_message(ctx));
        CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_options other = o;
        other.factors = factors + 1;
        other.n_species = 1;
        CHECK(!changed || kith_flock_change(flock, &other) == KITH_INVALID, "no species 1");
        CHECK(kith_flock_step(flock, 2) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_read(flock, state[changed], state[changed] + 30);
        kith_flock_close(flock);
    }
    CHECK(memcmp(state[0], state[1], sizeof *state) == 0, "a refused change changed the flock");
}

static void check_space(kith_ctx *ctx)
{
    kith_box box = kith_box_periodic(20, 20, 20);
    kith_flock_options o = good();
    o.reflecting[0] = 1;
    refuse(ctx, "walls on a periodic axis", &box, &o, KITH_INVALID);
    refuse(ctx, "walls without a box", NULL, &o, KITH_INVALID);
    box.periodic[0] = 0;
    box.row[1][0] = 1;
    refuse(ctx, "walls of an oblique box", &box, &o, KITH_INVALID);
    box = kith_box_periodic(5, 20, 20);
    box.periodic[0] = 0;
    refuse(ctx, "a particle outside", &box, &o, KITH_INVALID);
    box.dim = 4;
    refuse(ctx, "dim", &box, &o, KITH_INVALID);
    box = kith_box_periodic(20, 20, 20);
    const double kept = vel[7];
    vel[7] = NAN;
    refuse(ctx, "velocity", &box, NULL, KITH_NOT_FINITE);
    CHECK(strstr(kith_message(ctx), "velocities") && strstr(kith_message(ctx), "2"), "%s",
          kith_message(ctx));
    vel[7] = kept;
    const double place = xyz[10];
    xyz[10] = INFINITY;
    refuse(ctx, "position", &box, NULL, KITH_NOT_FINITE);
    xyz[10] = 1e300;
    refuse(ctx, "far away", &box, NULL, KITH_LIMIT);
    xyz[10] = place;
    const kith_points r = kith_points_packed(xyz, 10, KITH_DOUBLE);
    const kith_points fewer = kith_points_packed(vel, 9, KITH_DOUBLE);
    const kith_points other = kith_points_packed(vel, 10, KITH_FLOAT);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &r, &fewer, &box, NULL, &flock) == KITH_INVALID, "fewer");
    CHECK(kith_flock_open(ctx, &r, &other, &box, NULL, &flock) == KITH_INVALID, "precision");
    CHECK(kith_flock_open(ctx, &r, NULL, &box, NULL, &flock) == KITH_INVALID, "no velocities");
    CHECK(kith_flock_open(ctx, NULL, &r, &box, NULL, &flock) == KITH_INVALID, "no points");
    CHECK(kith_flock_open(ctx, &r, &r, &box, NULL, NULL) == KITH_INVALID, "no out");
    CHECK(kith_flock_open(NULL, &r, &r, &box, NULL, &flock) == KITH_INVALID, "no ctx");
}

/* A step from a state that is given. */
static void step_from(kith_ctx *ctx, const double *from, const kith_box *box,
                      const kith_flock_options *o, double *to)
{
    const kith_points r = kith_points_packed(from, N, KITH_DOUBLE);
    const kith_points v = kith_points_packed(from + 3 * N, N, KITH_DOUBLE);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &r, &v, box, o, &flock) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read(flock, to, to + 3 * N);
    kith_flock_close(flock);
}

/* A step that leads nowhere leaves the flock where it was, in any box, and it can go on from there.
 */
static void check_lost(kith_ctx *ctx, const kith_box *box)
{
    const kith_points r = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_points v = kith_points_packed(vel, N, KITH_DOUBLE);
    const size_t bytes = sizeof xyz + sizeof vel;
    kith_flock_options o = good();
    o.max_speed = 0;
    o.time_step = 1e308;
    kith_flock *flock = NULL;
    double *before = check_malloc(bytes), *after = check_malloc(bytes);
    double *wanted = check_malloc(bytes);
    CHECK(kith_flock_open(ctx, &r, &v, box, &o, &flock) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_read(flock, before, before + 3 * N);
    CHECK(memcmp(before, xyz, sizeof xyz) == 0, "not what was given");
    kith_status status = KITH_OK;
    for (int s = 0; s < 5 && status == KITH_OK; s++) {
        kith_flock_read(flock, before, before + 3 * N);
        status = kith_flock_step(flock, 1);
    }
    CHECK(status == KITH_NOT_FINITE, "%s", kith_status_name(status));
    CHECK(strstr(kith_message(ctx), "time_step"), "%s", kith_message(ctx));
    kith_flock_read(flock, after, after + 3 * N);
    CHECK(memcmp(before, after, bytes) == 0, "not where it was");
    const int64_t done = kith_flock_steps(flock);
    o.time_step = 0.1;
    CHECK(kith_flock_change(flock, &o) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_steps(flock) == done + 1, "steps");
    CHECK(kith_flock_step(flock, -1) == KITH_INVALID, "back");
    kith_flock_read(flock, after, after + 3 * N);
    o.first_step = done;
    step_from(ctx, before, box, &o, wanted);
    CHECK(memcmp(after, wanted, bytes) == 0, "not from where it was");
    o.time_step = -1;
    CHECK(kith_flock_change(flock, &o) == KITH_INVALID, "changed for the worse");
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_close(flock);
    free(before);
    free(after);
    free(wanted);
}

static int stop(void *user, int64_t done, int64_t total)
{
    ++*(int *)user;
    return 2 * done >= total;
}

static void check_cancel(const char *backend)
{
    int asked = 0;
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.watch = stop;
    options.user = &asked;
    kith_ctx *ctx = NULL;
    CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL));
    const kith_points r = kith_points_packed(xyz, N, KITH_DOUBLE);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &r, &r, NULL, NULL, &flock) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_step(flock, 6) == KITH_CANCELLED && asked > 0, "not cancelled");
    CHECK(kith_flock_steps(flock) == 3, "%lld steps", (long long)kith_flock_steps(flock));
    kith_flock_close(flock);
    kith_close(ctx);
}

/* Nobody, one, and many in one place. */
static void check_few(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(20, 20, 20);
    static double same[3 * N];
    for (int n = 0; n <= 2000; n = n ? n * 2000 : 1) {
        const kith_points r = kith_points_packed(same, n, KITH_DOUBLE);
        const kith_points v = kith_points_packed(vel, n, KITH_DOUBLE);
        kith_flock *flock = NULL;
        kith_flock_measures m;
        CHECK(kith_flock_open(ctx, &r, &v, &box, NULL, &flock) == KITH_OK, "%s", kith_message(ctx));
        CHECK(kith_flock_step(flock, 2) == KITH_OK, "%d: %s", n, kith_message(ctx));
        CHECK(kith_flock_measure(flock, &m) == KITH_OK, "%d: %s", n, kith_message(ctx));
        CHECK(n == 0 || m.neighbours == n - 1, "%d: %g neighbours", n, m.neighbours);
        kith_flock_close(flock);
        if (n == 2000)
            break;
    }
    kith_flock_close(NULL);
    CHECK(kith_flock_step(NULL, 1) == KITH_INVALID &&
              kith_flock_change(NULL, NULL) == KITH_INVALID &&
              kith_flock_read(NULL, NULL, NULL) == KITH_INVALID &&
              kith_flock_read_device(NULL, NULL, NULL) == KITH_INVALID &&
              kith_flock_measure(NULL, NULL) == KITH_INVALID,
          "no flock");
}

/* CPU cores have no device memory. tests/python/test_kith_gpu.py has what a GPU does. */
static void check_device_memory(kith_ctx *ctx, const char *backend)
{
    if (strncmp(backend, "cpu", 3) != 0)
        return;
    kith_points r = kith_points_packed(xyz, 10, KITH_DOUBLE);
    const kith_points v = kith_points_packed(vel, 10, KITH_DOUBLE);
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &r, &v, NULL, NULL, &flock) == KITH_OK, "%s", kith_message(ctx));
    double to[30];
    CHECK(kith_flock_read_device(flock, to, NULL) == KITH_UNSUPPORTED, "read_device");
    CHECK(strstr(kith_message(ctx), "device memory") != NULL, "%s", kith_message(ctx));
    kith_flock_close(flock);
    r.memory = KITH_DEVICE;
    CHECK(kith_flock_open(ctx, &r, &v, NULL, NULL, &flock) == KITH_UNSUPPORTED && !flock,
          "points in device memory");
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng random = {5};
    for (int e = 0; e < 3 * N; e++) {
        xyz[e] = rng_uniform(&random, 0, 20);
        vel[e] = rng_uniform(&random, -1, 1);
    }
    xyz[0] = 10; /* outside a box of 5 */
    const kith_box box = kith_box_periodic(20, 20, 20);
    check_numbers(ctx, &box);
    check_species(ctx, &box);
    check_space(ctx);
    check_lost(ctx, NULL);
    check_lost(ctx, &box);
    check_few(ctx);
    check_device_memory(ctx, backend);
    kith_close(ctx);
    check_cancel(backend);
    return check_done();
}
