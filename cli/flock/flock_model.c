/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of `kith flock` that say how the flock moves.
 */
#include "flock_options.h"

#include "common/box.h"
#include "common/parse.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Value of the row of --repulsion: its weight is not below 0. */
enum { PUSHES = 1 };

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
    if (given->row->value == PUSHES && n == 2 && v[1] < 0) {
        option_invalid(option, given->arg, "a strength of 0 or more");
    }
    if (given->row->value == PUSHES && n == 2 && (v[0] > 0) != (v[1] > 0)) {
        option_invalid(option, given->arg, "a radius and a strength above 0, or 0: none");
    }
    rule->radius = v[0];
    rule->weight = n == 2 ? v[1] : rule->weight;
}

/** Read the radius and strength of the repulsion; a radius alone leaves the strength. */
static void read_repulsion(void *at, const option_given *given)
{
    flock_stage *stage = at;
    double v[2];
    read_rule(&stage->model.repulsion, given);
    stage->strength = stage->strength || parse_reals(given->arg, 2, v) == 2;
}

/** Read the angle in degrees, store it in radians. */
static void read_blind_angle(void *at, const option_given *given)
{
    *(double *)at = option_number(given->state, "--blind-angle", given->arg, 0, 360,
                                  "0 to 360 degrees") /
                    180 * M_PI;
}

/** Read the angle in degrees, store it in radians. */
static void read_turn_rate(void *at, const option_given *given)
{
    *(double *)at = option_number(given->state, "--turn-rate", given->arg, 0, 1e9,
                                  "0 to 1e9 degrees in a unit of time; 0: no limit") /
                    180 * M_PI;
}

/** Return what a thing needs and lacks, as a message names it; NULL: nothing. */
static const char *lacks(const kith_flock_thing *thing)
{
    const bool obstacle = thing->kind == KITH_SPHERE || thing->kind == KITH_WALL;
    return thing->kind == KITH_SPHERE && !(thing->radius > 0)     ? "a radius above 0"
           : thing->kind == KITH_PREDATOR && !(thing->speed >= 0) ? "a speed of 0 or more"
           : thing->kind == KITH_WALL && !(box_vector_length(thing->normal) > 0)
               ? "a normal of a length above 0"
           : thing->kind == KITH_PREDATOR && !(thing->weight >= 0) ? "a weight W of 0 or more"
           : !(thing->reach >= 0)                                  ? "a REACH of 0 or more"
           : obstacle && thing->weight != 0 && !(thing->reach > 0)
               ? "a REACH above 0, as W is not 0"
               : NULL;
}

/** Add a thing of the kind `value` of the row. Its numbers are its place, what this kind alone has,
 *  then weight and reach; in 2-D vectors may have two coordinates. */
static void read_thing(void *at, const option_given *given)
{
    static const struct {
        int vectors, numbers; /* of the place and what this kind alone has */
    } own[] = {[KITH_POINT] = {1, 0},
               [KITH_SPHERE] = {1, 1},
               [KITH_WALL] = {2, 0},
               [KITH_PREDATOR] = {1, 1}};
    enum { MOST = 8 };
    flock_stage *stage = at;
    const kith_flock_kind kind = (kith_flock_kind)given->row->value;
    double v[MOST];
    const int n = parse_reals(given->arg, MOST, v), others = own[kind].numbers + 2;
    const int dim = n == 2 * own[kind].vectors + others ? 2 : 3;
    if (n != dim * own[kind].vectors + others) {
        option_error(given->state, "--%s: got '%s', expected %d numbers, or %d in 2-D",
                     given->row->name, given->arg, 3 * own[kind].vectors + others,
                     2 * own[kind].vectors + others);
    }
    if (stage->model.n_things == KITH_MOST_THINGS) {
        exit(report_error(STATUS_LIMIT, NULL, "--%s: more than %d points, obstacles and predators",
                          given->row->name, KITH_MOST_THINGS));
    }
    stage->flat = dim == 2 ? given->row->name : stage->flat;
    kith_flock_thing *thing = &stage->things[stage->model.n_things++];
    const double *number = v + dim * own[kind].vectors;
    *thing = (kith_flock_thing){.kind = kind, .weight = v[n - 2], .reach = v[n - 1]};
    memcpy(thing->place, v, (size_t)dim * sizeof *v);
    if (kind == KITH_WALL) {
        memcpy(thing->normal, v + dim, (size_t)dim * sizeof *v);
    }
    thing->radius = kind == KITH_SPHERE ? *number : 0;
    thing->speed = kind == KITH_PREDATOR ? *number : 0;
    const char *needed = lacks(thing);
    for (int k = 0; k < n; k++) {
        needed = isfinite(v[k]) ? needed : "finite numbers";
    }
    if (needed) {
        option_invalid(report_format("--%s", given->row->name).s, given->arg, needed);
    }
}

/** Return true for a factor between species that the library takes. */
static bool is_factor(double factor)
{
    return fabs(factor) <= 64;
}

/** Set how one species heeds another: I,J,S,A,C, or I,J,F for all three rules. */
static void read_heed(void *at, const option_given *given)
{
    flock_stage *stage = at;
    double v[5];
    const int n = parse_reals(given->arg, 5, v);
    if (n != 3 && n != 5) {
        option_error(given->state, "--heed: got '%s', expected I,J,S,A,C or I,J,F", given->arg);
    }
    for (int k = 0; k < 2; k++) {
        if (!(v[k] >= 0 && v[k] < FLOCK_SPECIES && v[k] == floor(v[k]))) {
            option_invalid("--heed", given->arg, "species I and J, from 0 to 7");
        }
        stage->heeded = v[k] + 1 > (double)stage->heeded ? (int64_t)v[k] + 1 : stage->heeded;
    }
    v[3] = n == 3 ? v[2] : v[3];
    v[4] = n == 3 ? v[2] : v[4];
    if (!is_factor(v[2]) || !is_factor(v[3]) || !is_factor(v[4])) {
        option_invalid("--heed", given->arg, "factors from -64 to 64");
    }
    stage->heed[(int)v[0]][(int)v[1]] = (kith_flock_factors){v[2], v[3], v[4]};
    stage->named[(int)v[0]][(int)v[1]] = true;
}

/** Set how each species heeds all others, but for those that --heed names, whichever comes first: F
 *  for all three rules. */
static void read_heed_others(void *at, const option_given *given)
{
    flock_stage *stage = at;
    const double f = option_number(given->state, "--heed-others", given->arg, -64, 64,
                                   "a factor from -64 to 64");
    for (int k = 0; k < FLOCK_SPECIES * FLOCK_SPECIES; k++) {
        const int i = k / FLOCK_SPECIES, j = k % FLOCK_SPECIES;
        if (i != j && !stage->named[i][j]) {
            stage->heed[i][j] = (kith_flock_factors){f, f, f};
        }
    }
}

/** Read the direction of the leaders, of two or three numbers. */
static void read_direction(void *at, const option_given *given)
{
    double *g = at, v[3] = {0, 0, 0};
    const int n = parse_reals(given->arg, 3, v);
    if (n != 2 && n != 3) {
        option_error(given->state, "--leader-direction: got '%s', expected X,Y,Z or X,Y",
                     given->arg);
    }
    const double length = box_vector_length(v);
    if (!(isfinite(length) && length > 0)) {
        option_invalid("--leader-direction", given->arg, "a vector of a length above 0");
    }
    memcpy(g, v, sizeof v);
}

static void remove_things(void *at, const option_given *given)
{
    (void)given;
    flock_stage *stage = at;
    stage->model.n_things = stage->kept = 0;
    stage->flat = NULL;
}

const option_row flock_model_options[] = {
    {"model", 0, "NAME", "boids, vicsek, vectorial; 0 to 1", 5,
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
    {"turn-rate", 0, "A", "most degrees in a unit of time; noise is normal", 8,
     READ_AT(flock_stage, model.turn_rate, read_turn_rate)},
    {"gaussian", 0, NULL, NULL, 8, FLAG_AT(flock_stage, model.gaussian)},
    {"flock-species", 0, "N", "of the boids; --heed=I,J,S,A,C, --heed-others=F", 8,
     WHOLE_AT(flock_stage, model.n_species, 0, FLOCK_SPECIES, "0 to 8")},
    {"heed", 0, "I,J,S,A,C", OPTION_NAMED_ABOVE, 8, READ_BY(read_heed)},
    {"heed-others", 0, "F", OPTION_NAMED_ABOVE, 8, READ_BY(read_heed_others)},
    {"leaders", 0, "S", "a share; --leader-weight=W, --leader-direction=G", 8,
     REAL_AT(flock_stage, model.leaders, 0, 1, "a share from 0 to 1")},
    {"leader-weight", 0, "W", OPTION_NAMED_ABOVE, 8,
     REAL_AT(flock_stage, model.leader_weight, 0, 1e9, "0 to 1e9")},
    {"leader-direction", 0, "X,Y,Z", OPTION_NAMED_ABOVE, 8,
     READ_AT(flock_stage, model.leader_direction, read_direction)},
    {"repulsion", 0, "R,K", OPTION_NAMED_ABOVE, 8, READ_BY(read_repulsion), .value = PUSHES},
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

int flock_check_flat(const flock_task *task, int dim)
{
    for (int64_t k = 0; k < task->n_stages && dim == 3; k++) {
        if (task->stage[k].flat) {
            return report_error(STATUS_INVALID, "give X,Y,Z",
                                "--%s: got two coordinates, but the flock is in 3-D",
                                task->stage[k].flat);
        }
    }
    return STATUS_OK;
}

/** An option of the model that only boids have, and whether it has its usual value. */
static const char *rule_of_boids(const kith_flock_options *m)
{
    kith_flock_options usual;
    kith_flock_options_init(&usual);
    const kith_flock_rule *rules[][2] = {{&m->separation, &usual.separation},
                                         {&m->cohesion, &usual.cohesion}};
    for (int k = 0; k < 2; k++) {
        if (rules[k][0]->radius != rules[k][1]->radius ||
            rules[k][0]->weight != rules[k][1]->weight) {
            return k == 0 ? "--separation" : "--cohesion";
        }
    }
    return m->relative ? "--relative" : m->min_speed > 0 ? "--min-speed" : NULL;
}

void flock_check_model(const kith_flock_options *m)
{
    if (m->model == KITH_VICSEK_VECTORIAL && m->gaussian) {
        exit(report_error(STATUS_INVALID, "leave it out, or give --model boids or vicsek",
                          "--gaussian: the noise of --model vectorial is no angle"));
    }
    const char *rule = m->model == KITH_BOIDS ? NULL : rule_of_boids(m);
    if (rule) {
        exit(report_error(STATUS_INVALID, "leave it out, or give --model boids",
                          "%s: --model %s does not have it", rule,
                          m->model == KITH_VICSEK_ANGULAR ? "vicsek" : "vectorial"));
    }
}
