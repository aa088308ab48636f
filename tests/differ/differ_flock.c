/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flocks: random rules, walls, things and noise; after some steps every context holds the same
 * bits, also where the flock was read and opened again on the way.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../flock/flock_case.h"
#include "differ.h"
#include "oracle.h"

enum { THINGS = 4 };

/** A flock and how it flies. */
typedef struct flight {
    kith_box box;
    kith_precision precision;
    int64_t n, steps, pause; /**< read and opened again after `pause` steps; 0: never */
    stored r, v;
    kith_flock_options options;
    kith_flock_thing things[THINGS];
} flight;

/** A box whose periodic axes are longer than every radius, and one in which there are walls. */
static kith_box make_box(rng *r, double side, kith_flock_options *o)
{
    kith_box box = kith_box_periodic(side, side * rng_uniform(r, 0.7, 1.5), side);
    const int64_t kind = rng_below(r, 6);
    box.dim = differ_one_in(r, 3) ? 2 : 3;
    for (int k = 0; k < 3; k++) {
        box.periodic[k] = differ_one_in(r, 4) ? 0 : 1;
        box.origin[k] = differ_one_in(r, 2) ? 0 : rng_uniform(r, -side, side);
        o->reflecting[k] = kind != 0 && k < box.dim && !box.periodic[k] && differ_one_in(r, 2);
    }
    for (int k = 0; k < 3 && kind == 0; k++) {
        box.row[k][(k + 1) % 3] = k == 2 ? 0 : 0.3 * side * rng_uniform(r, -1, 1);
    }
    return box;
}

static void make_rules(rng *r, kith_flock_options *o, double most)
{
    o->model = differ_one_in(r, 2) ? KITH_BOIDS : (kith_flock_model)rng_below(r, 3);
    kith_flock_rule *const rules[3] = {&o->separation, &o->alignment, &o->cohesion};
    const bool one = differ_one_in(r, 3); /* radius of all */
    const double radius = most * rng_uniform(r, 0.3, 1);
    for (int k = 0; k < 3; k++) {
        rules[k]->radius = one ? radius : differ_one_in(r, 6) ? 0 : most * rng_uniform(r, 0.1, 1);
        rules[k]->weight = differ_one_in(r, 6) ? 0 : rng_uniform(r, -0.2, 0.5);
    }
    o->relative = (int)rng_below(r, 2);
    o->min_speed = differ_one_in(r, 3) ? rng_uniform(r, 0, 0.9) : 0;
    o->max_speed = o->model == KITH_BOIDS && differ_one_in(r, 4) ? 0 : rng_uniform(r, 0.9, 2);
    o->time_step = exp(rng_uniform(r, -3, 1));
    o->nearest = differ_one_in(r, 3) ? 1 + rng_below(r, differ_one_in(r, 3) ? 64 : 9) : 0;
    o->blind_angle = differ_one_in(r, 3) ? rng_uniform(r, 0, 6.28) : 0;
    if (o->blind_angle > 0 && differ_one_in(r, 3)) {
        o->blind_angle = acos(-1); /* offsets at right angles to v are on the border */
    }
    o->noise = differ_one_in(r, 2) ? rng_uniform(r, 0, 1) : 0;
    o->gaussian = o->model != KITH_VICSEK_VECTORIAL && differ_one_in(r, 2);
    o->turn_rate = differ_one_in(r, 3) ? rng_uniform(r, 0.01, 4) / o->time_step : 0;
    o->repulsion.radius = differ_one_in(r, 3) ? most * rng_uniform(r, 0.05, 1) : 0;
    o->repulsion.weight = differ_one_in(r, 4) ? 0 : rng_uniform(r, 0, 2) / o->time_step;
    o->leaders = differ_one_in(r, 3) ? rng_uniform(r, 0, 1) : 0;
    o->leader_weight = rng_uniform(r, 0, 2);
    o->leader_direction[0] = rng_normal(r);
    o->leader_direction[1] = rng_normal(r);
    o->leader_direction[2] = rng_normal(r);
    static const kith_flock_factors heed[4] = {
        {1, 0.3, -2}, {0, 0, 0}, {0, 1.5, 0.25}, {64, -0.01, 1}};
    o->n_species = differ_one_in(r, 3) ? 1 + rng_below(r, 2) : 0;
    o->factors = o->n_species > 0 ? heed : NULL;
    o->seed = rng_bits(r);
    o->first_step = differ_one_in(r, 2) ? 0 : rng_below(r, 1000);
}

static void make_things(rng *r, flight *f, double side)
{
    f->options.n_things = differ_one_in(r, 2) ? 0 : 1 + rng_below(r, THINGS);
    f->options.things = f->things;
    for (int64_t t = 0; t < f->options.n_things; t++) {
        kith_flock_thing *thing = &f->things[t];
        *thing = (kith_flock_thing){.kind = (kith_flock_kind)rng_below(r, 4)};
        for (int k = 0; k < 3; k++) {
            thing->place[k] = f->box.origin[k] + rng_uniform(r, 0, side);
            thing->normal[k] = rng_normal(r);
        }
        thing->radius = rng_uniform(r, 0.1, 0.3) * side;
        thing->speed = rng_uniform(r, 0, 1);
        thing->reach = rng_uniform(r, 0.1, 1) * side;
        thing->weight = rng_uniform(r, 0, 1);
    }
}

/** Particles in the box, some of them coincident, some on a grid so that distances are equal. */
static void make_particles(rng *r, flight *f)
{
    double *x = points_in_box(r, f->n, &f->box);
    double *v = check_malloc((size_t)(3 * f->n) * sizeof *v);
    const int64_t kind = rng_below(r, 4);
    for (int64_t k = 0; k < 3 * f->n; k++) {
        const double step = f->box.row[0][0] / 16;
        const bool flat = k % 3 == 2 && f->box.dim == 2;
        const double low = f->box.origin[k % 3];
        v[k] = flat ? 0 : rng_uniform(r, -1, 1);
        if (kind == 1 && f->box.row[k % 3][k % 3] >= f->box.row[0][0]) {
            x[k] = low + step * floor((x[k] - low) / step);
        } else if (kind == 2 && k >= 3 && differ_one_in(r, 8)) {
            x[k] = x[k - 3];
        }
        if (kind == 2 && differ_one_in(r, 3)) { /* by less than the unit that offsets have */
            x[k] = low + (1 - ldexp(1, -26)) * (x[k] - low);
        }
        if (kind == 3) {
            v[k] = flat ? 0 : (double)(rng_below(r, 3) - 1) / 2;
        }
    }
    f->r = stored_make(x, f->n, f->precision, (layout)rng_below(r, LAYOUTS));
    f->v = stored_make(v, f->n, f->precision, (layout)rng_below(r, LAYOUTS));
    free(x);
    free(v);
}

/** Fly on one context. @return whether all went well; r and v receive the state. */
static bool fly(kith_ctx *ctx, const flight *f, void *r, void *v, kith_flock_measures *measures)
{
    kith_flock *flock = NULL;
    const char *name = kith_backend(ctx);
    if (!CHECK(kith_flock_open(ctx, &f->r.points, &f->v.points, &f->box, &f->options, &flock) ==
                   KITH_OK,
               "%s: %s", name, kith_message(ctx))) {
        return false;
    }
    bool good = true;
    if (f->pause > 0) {
        kith_flock_options o = f->options;
        kith_flock_thing things[THINGS];
        good = CHECK(kith_flock_step(flock, f->pause) == KITH_OK, "%s: %s", name,
                     kith_message(ctx));
        kith_flock_read(flock, r, v);
        kith_flock_read_things(flock, things);
        o.things = things;
        o.first_step = kith_flock_steps(flock);
        kith_flock_close(flock);
        const kith_points x = kith_points_packed(r, f->n, f->precision);
        const kith_points u = kith_points_packed(v, f->n, f->precision);
        good = good && CHECK(kith_flock_open(ctx, &x, &u, &f->box, &o, &flock) == KITH_OK, "%s: %s",
                             name, kith_message(ctx));
        if (!good) {
            return false;
        }
    }
    good = CHECK(kith_flock_step(flock, f->steps - f->pause) == KITH_OK, "%s: %s", name,
                 kith_message(ctx)) &&
           CHECK(kith_flock_measure(flock, measures) == KITH_OK, "%s: %s", name, kith_message(ctx));
    kith_flock_read(flock, r, v);
    kith_flock_close(flock);
    return good;
}

static void compare_contexts(differ *d, flight *f)
{
    const size_t bytes = 3 * (size_t)f->n * (size_t)f->precision;
    char *state[2] = {check_malloc(2 * bytes), check_malloc(2 * bytes)};
    kith_flock_measures measures[2];
    memset(measures, 0, sizeof measures);
    const int64_t pause = f->pause;
    bool good = true;
    for (int k = 0; k < d->contexts && good; k++) {
        const int to = k > 0;
        f->pause = k > 0 ? pause : 0;
        good = fly(d->ctx[k], f, state[to], state[to] + bytes, &measures[to]);
        if (k > 0 && good) {
            CHECK(memcmp(state[0], state[1], 2 * bytes) == 0,
                  "%lld particles, %lld steps, pause %lld: other bits of %s than of %s",
                  (long long)f->n, (long long)f->steps, (long long)f->pause,
                  kith_backend(d->ctx[k]), kith_backend(d->ctx[0]));
            CHECK(memcmp(&measures[0], &measures[1], sizeof *measures) == 0,
                  "other measures of %s than of %s", kith_backend(d->ctx[k]),
                  kith_backend(d->ctx[0]));
        }
    }
    free(state[0]);
    free(state[1]);
}

/** One step of boids against brute force, which knows neither things nor noise. Without a least
 *  speed, as a velocity of nearly 0 has any direction. */
static void check_step(const differ *d, const flight *f)
{
    flock_case c = {.name = "flock", .n = f->n, .box = f->box, .precision = f->precision};
    c.r = f->r;
    c.v = f->v;
    c.options = f->options;
    for (int k = 0; k < d->contexts; k++) {
        flock_case_check(d->ctx[k], &c, false);
    }
}

void differ_flock(differ *d, rng *r)
{
    flight f = {.precision = differ_one_in(r, 2) ? KITH_FLOAT : KITH_DOUBLE};
    const bool large = differ_one_in(r, 30);
    const double side = exp(rng_uniform(r, 0, 3));
    kith_flock_options_init(&f.options);
    f.n = 1 + rng_below(r, large ? 20000 : differ_one_in(r, 3) ? 20 : 400);
    f.box = make_box(r, side, &f.options);
    double height[3], least = side;
    oracle_heights(&f.box, f.precision, height);
    for (int k = 0; k < f.box.dim; k++) {
        least = fmin(least, height[k]);
    }
    make_rules(r, &f.options, large ? 0.08 * least : 0.99 * least);
    make_things(r, &f, side);
    f.steps = 1 + rng_below(r, 6);
    f.pause = differ_one_in(r, 2) ? rng_below(r, f.steps) : 0;
    make_particles(r, &f);
    d->large += large;
    compare_contexts(d, &f);
    if (f.n <= 50 && f.options.model == KITH_BOIDS && f.options.n_things == 0 &&
        f.options.min_speed == 0 && f.options.noise == 0) {
        check_step(d, &f);
    }
    stored_free(&f.r);
    stored_free(&f.v);
}
