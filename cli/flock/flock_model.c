/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of `kith flock` that say how the flock moves.
 */
#include "flock_options.h"

#include "common/parse.h"
#include "common/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void parse_rule(struct argp_state *state, const char *option, const char *arg,
                       kith_flock_rule *rule)
{
    double v[2];
    const int n = parse_reals(arg, 2, v);
    if (n < 1) {
        options_error(state, "%s: got '%s', expected RADIUS,WEIGHT", option, arg);
    }
    if (!isfinite(v[0]) || v[0] < 0 || (n == 2 && !isfinite(v[1]))) {
        options_invalid(option, arg, "a finite radius, 0 or more, and a finite weight");
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
        options_error(state, "%s: got '%s', expected %d numbers", kinds[kind].name, arg, own + 5);
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

error_t flock_set_model(flock_stage *stage, int key, const char *arg, struct argp_state *state)
{
    kith_flock_options *m = &stage->model;
    switch (key) {
    case KEY_MODEL:
        m->model = options_word(state, "--model", arg, "boids, vicsek or vectorial");
        return 0;
    case KEY_SEPARATION: parse_rule(state, "--separation", arg, &m->separation); return 0;
    case KEY_ALIGNMENT: parse_rule(state, "--alignment", arg, &m->alignment); return 0;
    case KEY_COHESION: parse_rule(state, "--cohesion", arg, &m->cohesion); return 0;
    case KEY_RELATIVE: m->relative = 1; return 0;
    case KEY_MIN_SPEED: m->min_speed = options_from_zero(state, "--min-speed", arg); return 0;
    case KEY_MAX_SPEED: m->max_speed = options_from_zero(state, "--max-speed", arg); return 0;
    case KEY_TIME_STEP: m->time_step = options_positive(state, "--time-step", arg); return 0;
    case KEY_NOISE: m->noise = options_number(state, "--noise", arg, 0, 1, "0 to 1"); return 0;
    case KEY_NEAREST: m->nearest = options_whole(state, "--nearest", arg, 0); return 0;
    case KEY_BLIND:
        m->blind_angle = options_number(state, "--blind-angle", arg, 0, 360, "0 to 360 degrees") /
                         180 * M_PI;
        return 0;
    case KEY_NO_THINGS: m->n_things = stage->kept = 0; return 0;
    case KEY_POINT:
    case KEY_SPHERE:
    case KEY_WALL:
    case KEY_PREDATOR: parse_thing(stage, key, arg, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}
