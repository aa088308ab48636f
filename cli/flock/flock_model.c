/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of `kith flock` that say how the flock moves.
 */
#include "flock_options.h"

#include "common/parse.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_rule(void *at, const option_given *given)
{
    kith_flock_rule *rule = at;
    char option[20];
    double v[2];
    const int n = parse_reals(given->arg, 2, v);
    snprintf(option, sizeof option, "--%s", given->row->name);
    if (n < 1) {
        option_error(given->state, "%s: got '%s', expected RADIUS,WEIGHT", option, given->arg);
    }
    if (!isfinite(v[0]) || v[0] < 0 || (n == 2 && !isfinite(v[1]))) {
        option_invalid(option, given->arg, "a finite radius, 0 or more, and a finite weight");
    }
    rule->radius = v[0];
    rule->weight = n == 2 ? v[1] : rule->weight;
}

/** Read the angle in degrees, store it in radians. */
static void read_blind_angle(void *at, const option_given *given)
{
    *(double *)at = option_number(given->state, "--blind-angle", given->arg, 0, 360,
                                  "0 to 360 degrees") /
                    180 * M_PI;
}

/** Add a thing of the kind `value` of the row. Its numbers are its place, what this kind alone has,
 *  then weight and reach. */
static void read_thing(void *at, const option_given *given)
{
    static const int own_numbers[] = {
        [KITH_POINT] = 0, [KITH_SPHERE] = 1, [KITH_WALL] = 3, [KITH_PREDATOR] = 1};
    enum { MOST = 8 };
    flock_stage *stage = at;
    const kith_flock_kind kind = (kith_flock_kind)given->row->value;
    double v[MOST];
    const int own = own_numbers[kind], n = parse_reals(given->arg, MOST, v);
    if (n != own + 5) {
        option_error(given->state, "--%s: got '%s', expected %d numbers", given->row->name,
                     given->arg, own + 5);
    }
    if (stage->model.n_things == KITH_MOST_THINGS) {
        exit(report_error(STATUS_LIMIT, NULL, "--%s: more than %d points, obstacles and predators",
                          given->row->name, KITH_MOST_THINGS));
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

static void remove_things(void *at, const option_given *given)
{
    (void)given;
    flock_stage *stage = at;
    stage->model.n_things = stage->kept = 0;
}

const option_row flock_model_options[] = {
    {"model", 0, "NAME", "boids; vicsek, vectorial with noise 0 to 1", 5,
     WORD_AT(flock_stage, model.model, 0, "boids, vicsek or vectorial")},
    {"noise", 0, "ETA", NULL, 5, REAL_AT(flock_stage, model.noise, 0, 1, "0 to 1")},
    {"separation", 0, "R,W", "radius and weight: 3,0.1; --cohesion=R,W: 5,0.01", 6,
     READ_AT(flock_stage, model.separation, read_rule)},
    {"cohesion", 0, "R,W", OPTION_NAMED_ABOVE, 6, READ_AT(flock_stage, model.cohesion, read_rule)},
    {"alignment", 0, "R,W", "default 5,0.1; less one's own v (Parker)", 7,
     READ_AT(flock_stage, model.alignment, read_rule)},
    {"relative", 0, NULL, NULL, 7, FLAG_AT(flock_stage, model.relative)},
    {"time-step", 0, "T", "0.2; 1, 0: no limit; --min-speed=0", 7,
     POSITIVE_AT(flock_stage, model.time_step)},
    {"max-speed", 0, "V", NULL, 7, NOT_NEGATIVE_AT(flock_stage, model.max_speed)},
    {"min-speed", 0, "V", OPTION_NAMED_ABOVE, 7, NOT_NEGATIVE_AT(flock_stage, model.min_speed)},
    {"nearest", 0, "K", "see the K nearest; none A degrees behind", 8,
     FROM_ZERO_AT(flock_stage, model.nearest)},
    {"blind-angle", 0, "A", NULL, 8, READ_AT(flock_stage, model.blind_angle, read_blind_angle)},
    {"point", 0, "X,Y,Z,W,REACH", "draws; --predator=X,Y,Z,V,W,REACH drives away", 9,
     READ_BY(read_thing), .value = KITH_POINT},
    {"predator", 0, "X,Y,Z,V,W,REACH", OPTION_NAMED_ABOVE, 9, READ_BY(read_thing),
     .value = KITH_PREDATOR},
    {"sphere", 0, "X,Y,Z,R,W,REACH", "obstacle, as --wall=X,Y,Z,NX,NY,NZ,W,REACH", 9,
     READ_BY(read_thing), .value = KITH_SPHERE},
    {"wall", 0, "X,Y,Z,NX,NY,NZ,W,REACH", OPTION_NAMED_ABOVE, 9, READ_BY(read_thing),
     .value = KITH_WALL},
    {"no-things", 0, NULL, OPTION_NAMED_ABOVE, 9, READ_BY(remove_things)},
    {0}};
