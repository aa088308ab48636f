/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of `kith flock` that say how the flock moves.
 */
#include "flock_options.h"

#include "parse.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** A finite number from 0 to most. */
static double bounded(struct argp_state *state, const char *name, const char *arg, double most,
                      const char *expected)
{
    double value = 0;
    if (!parse_real(arg, &value)) {
        argp_error(state, "--%s: got '%s', expected a number", name, arg);
    }
    if (!isfinite(value) || !(value >= 0 && value <= most)) {
        options_invalid(name, arg, expected);
    }
    return value;
}

static double at_least_0(struct argp_state *state, const char *name, const char *arg)
{
    return bounded(state, name, arg, HUGE_VAL, "a finite number, 0 or more");
}

static void parse_rule(struct argp_state *state, const char *name, const char *arg,
                       kith_flock_rule *rule)
{
    double v[2];
    const int n = parse_reals(arg, 2, v);
    if (n < 1) {
        argp_error(state, "--%s: got '%s', expected RADIUS,WEIGHT", name, arg);
    }
    if (!isfinite(v[0]) || v[0] < 0 || (n == 2 && !isfinite(v[1]))) {
        options_invalid(name, arg, "a finite radius, 0 or more, and a finite weight");
    }
    rule->radius = v[0];
    rule->weight = n == 2 ? v[1] : rule->weight;
}

/** Add a thing of these numbers: its place, what is its own, then weight and reach. */
static void parse_thing(flock_stage *stage, int key, const char *arg, struct argp_state *state)
{
    static const struct {
        const char *name;
        int own;
    } kinds[] = {[KITH_POINT] = {"--point", 0},
                 [KITH_SPHERE] = {"--sphere", 1},
                 [KITH_WALL] = {"--wall", 3},
                 [KITH_PREDATOR] = {"--predator", 1}};
    enum { MOST = 8 };
    const kith_flock_kind kind = (kith_flock_kind)(key - KEY_POINT);
    double v[MOST];
    const int own = kinds[kind].own, n = parse_reals(arg, MOST, v);
    if (n != own + 5) {
        argp_error(state, "%s: got '%s', expected %d numbers", kinds[kind].name, arg, own + 5);
    }
    if (stage->model.n_things == KITH_MOST_THINGS) {
        exit(report_error(STATUS_LIMIT, NULL, "%s: more than %d points, obstacles and predators",
                          kinds[kind].name, KITH_MOST_THINGS));
    }
    kith_flock_thing *thing = &stage->things[stage->model.n_things++];
    *thing = (kith_flock_thing){.kind = kind, .weight = v[3 + own], .reach = v[4 + own]};
    memcpy(thing->place, v, sizeof thing->place);
    if (kind == KITH_WALL) {
        memcpy(thing->normal, v + 3, sizeof thing->normal);
    }
    thing->radius = kind == KITH_SPHERE ? v[3] : 0;
    thing->speed = kind == KITH_PREDATOR ? v[3] : 0;
}

static void parse_model(kith_flock_options *model, const char *arg, struct argp_state *state)
{
    static const char *const names[] = {"boids", "vicsek", "vectorial"};
    for (int k = KITH_BOIDS; k <= KITH_VICSEK_VECTORIAL; k++) {
        if (strcmp(arg, names[k]) == 0) {
            model->model = (kith_flock_model)k;
            return;
        }
    }
    argp_error(state, "--model: got '%s', expected boids, vicsek or vectorial", arg);
}

error_t flock_set_model(flock_stage *stage, int key, const char *arg, struct argp_state *state)
{
    static const double half_turn = 180, pi = 3.14159265358979323846;
    kith_flock_options *m = &stage->model;
    switch (key) {
    case KEY_MODEL: parse_model(m, arg, state); return 0;
    case KEY_SEPARATION: parse_rule(state, "separation", arg, &m->separation); return 0;
    case KEY_ALIGNMENT: parse_rule(state, "alignment", arg, &m->alignment); return 0;
    case KEY_COHESION: parse_rule(state, "cohesion", arg, &m->cohesion); return 0;
    case KEY_RELATIVE: m->relative = 1; return 0;
    case KEY_MIN_SPEED: m->min_speed = at_least_0(state, "min-speed", arg); return 0;
    case KEY_MAX_SPEED: m->max_speed = at_least_0(state, "max-speed", arg); return 0;
    case KEY_TIME_STEP: m->time_step = options_positive(state, "--time-step", arg); return 0;
    case KEY_NOISE: m->noise = bounded(state, "noise", arg, 1, "0 to 1"); return 0;
    case KEY_NEAREST: m->nearest = options_whole(state, "--nearest", arg, 0); return 0;
    case KEY_BLIND:
        m->blind_angle = bounded(state, "blind-angle", arg, 2 * half_turn, "0 to 360 degrees") /
                         half_turn * pi;
        return 0;
    case KEY_NO_THINGS: m->n_things = stage->kept = 0; return 0;
    case KEY_POINT:
    case KEY_SPHERE:
    case KEY_WALL:
    case KEY_PREDATOR: parse_thing(stage, key, arg, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}
