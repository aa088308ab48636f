/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith flock: boids and their kin, step by step, measured and recorded on their way.
 */
#include "flock.h"

#include "parse.h"
#include "progress.h"
#include "report.h"
#include "verbs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BOIDS = 0x200,
    KEY_DIM,
    KEY_STEPS,
    KEY_MODEL,
    KEY_SEPARATION,
    KEY_ALIGNMENT,
    KEY_COHESION,
    KEY_RELATIVE,
    KEY_MIN_SPEED,
    KEY_MAX_SPEED,
    KEY_TIME_STEP,
    KEY_NOISE,
    KEY_NEAREST,
    KEY_BLIND,
    KEY_REFLECT,
    KEY_POINT,
    KEY_SPHERE,
    KEY_WALL,
    KEY_PREDATOR,
    KEY_PARAMETERS,
    KEY_MEASURE_EVERY,
    KEY_RECORD_EVERY,
    KEY_RESTART_EVERY,
    KEY_MEASURES,
    KEY_RESTART,
    KEY_LENGTH,
    KEY_MEMBERS,
    KEY_PLOT
};

static const struct argp_option flock_options[] = {
    {"boids", KEY_BOIDS, "N", 0, "in place of INPUT: N of them, uniform in the box", 1},
    {"seed", 's', "S", 0, "of their start and of noise; default 0", 1},
    {"dim", KEY_DIM, "2|3", 0, "with --boids; default 3", 1},
    {"steps", KEY_STEPS, "N", 0, "how far to go", 1},
    {"parameters", KEY_PARAMETERS, "FILE", 0, "lines NAME = VALUE of these options", 1},
    {"model", KEY_MODEL, "NAME", 0, "boids, vicsek, vectorial", 2},
    {"separation", KEY_SEPARATION, "R,W", 0, "radius and weight; default 3,0.1", 2},
    {"alignment", KEY_ALIGNMENT, "R,W", 0, "default 5,0.1", 2},
    {"cohesion", KEY_COHESION, "R,W", 0, "default 5,0.01", 2},
    {"relative", KEY_RELATIVE, 0, 0, "align with the others less oneself (Parker)", 2},
    {"min-speed", KEY_MIN_SPEED, "V", 0, "default 0", 2},
    {"max-speed", KEY_MAX_SPEED, "V", 0, "default 1; 0: no limit", 2},
    {"time-step", KEY_TIME_STEP, "T", 0, "default 0.2", 2},
    {"noise", KEY_NOISE, "ETA", 0, "of Vicsek, 0 to 1", 2},
    {"nearest", KEY_NEAREST, "K", 0, "look at the K nearest alone, such as 7", 2},
    {"blind-angle", KEY_BLIND, "DEGREES", 0, "cone behind that is not seen", 2},
    {"reflect", KEY_REFLECT, "xyz", 0, "axes with walls at the box's faces", 2},
    {"point", KEY_POINT, "X,Y,Z,W,REACH", 0, "draws those in reach; W < 0: drives away", 3},
    {"sphere", KEY_SPHERE, "X,Y,Z,R,W,REACH", 0, "an obstacle they turn away from", 3},
    {"wall", KEY_WALL, "X,Y,Z,NX,NY,NZ,W,REACH", 0, "likewise, with normal N", 3},
    {"predator", KEY_PREDATOR, "X,Y,Z,V,W,REACH", 0, "hunts the nearest with speed V", 3},
    {"measure-every", KEY_MEASURE_EVERY, "N", 0, "steps; default: ten times in all", 40},
    {"flock-length", KEY_LENGTH, "L", 0, "those this near are in one flock; default: R", 40},
    {"flock-members", KEY_MEMBERS, "N", 0, "smaller ones do not count; default 10", 40},
    {"measures", KEY_MEASURES, "FILE", 0, "as JSON lines", 40},
    {"plot", KEY_PLOT, "FILE", 0, "measures over time: .png, .svg, .pdf", 40},
    {"record-every", KEY_RECORD_EVERY, "N", 0, "steps; default: 100 times, films 600", 40},
    {"restart", KEY_RESTART, "FILE", 0, "go on from there, if it is there; save there", 40},
    {"restart-every", KEY_RESTART_EVERY, "N", 0, "steps; default: ten times", 40},
    {0}};

static int64_t whole(struct argp_state *state, const char *name, const char *arg, int64_t least)
{
    int64_t value = 0;
    if (!parse_count(arg, &value)) {
        argp_error(state, "--%s: got '%s', expected a whole number", name, arg);
    }
    if (value < least) {
        options_invalid(name, arg, least ? "1 or more" : "0 or more");
    }
    return value;
}

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
static void parse_thing(flock_task *task, int key, const char *arg, struct argp_state *state)
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
    if (task->model.n_things == KITH_MOST_THINGS) {
        exit(report_error(STATUS_LIMIT, NULL, "%s: more than %d points, obstacles and predators",
                          kinds[kind].name, KITH_MOST_THINGS));
    }
    kith_flock_thing *thing = &task->things[task->model.n_things++];
    *thing = (kith_flock_thing){.kind = kind, .weight = v[3 + own], .reach = v[4 + own]};
    memcpy(thing->place, v, sizeof thing->place);
    if (kind == KITH_WALL) {
        memcpy(thing->normal, v + 3, sizeof thing->normal);
    }
    thing->radius = kind == KITH_SPHERE ? v[3] : 0;
    thing->speed = kind == KITH_PREDATOR ? v[3] : 0;
}

static void parse_model(flock_task *task, const char *arg, struct argp_state *state)
{
    static const char *const names[] = {"boids", "vicsek", "vectorial"};
    for (int k = KITH_BOIDS; k <= KITH_VICSEK_VECTORIAL; k++) {
        if (strcmp(arg, names[k]) == 0) {
            task->model.model = (kith_flock_model)k;
            return;
        }
    }
    argp_error(state, "--model: got '%s', expected boids, vicsek or vectorial", arg);
}

static error_t set_model(flock_task *task, int key, char *arg, struct argp_state *state)
{
    static const double half_turn = 180, pi = 3.14159265358979323846;
    kith_flock_options *m = &task->model;
    switch (key) {
    case KEY_MODEL: parse_model(task, arg, state); return 0;
    case KEY_SEPARATION: parse_rule(state, "separation", arg, &m->separation); return 0;
    case KEY_ALIGNMENT: parse_rule(state, "alignment", arg, &m->alignment); return 0;
    case KEY_COHESION: parse_rule(state, "cohesion", arg, &m->cohesion); return 0;
    case KEY_RELATIVE: m->relative = 1; return 0;
    case KEY_MIN_SPEED: m->min_speed = at_least_0(state, "min-speed", arg); return 0;
    case KEY_MAX_SPEED: m->max_speed = at_least_0(state, "max-speed", arg); return 0;
    case KEY_TIME_STEP: m->time_step = options_positive(state, "--time-step", arg); return 0;
    case KEY_NOISE: m->noise = bounded(state, "noise", arg, 1, "0 to 1"); return 0;
    case KEY_NEAREST: m->nearest = whole(state, "nearest", arg, 0); return 0;
    case KEY_BLIND:
        m->blind_angle = bounded(state, "blind-angle", arg, 2 * half_turn, "0 to 360 degrees") /
                         half_turn * pi;
        return 0;
    case KEY_REFLECT:
        if (!parse_axes(arg, m->reflecting)) {
            argp_error(state, "--reflect: got '%s', expected axes such as xyz or xy", arg);
        }
        return 0;
    case KEY_POINT:
    case KEY_SPHERE:
    case KEY_WALL:
    case KEY_PREDATOR: parse_thing(task, key, arg, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void read_parameters(flock_task *task, const char *path, struct argp_state *state);

static error_t set_option(flock_task *task, int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case KEY_BOIDS: task->boids = whole(state, "boids", arg, 1); return 0;
    case 's':
        if (!parse_uint64(arg, &task->model.seed)) {
            argp_error(state, "--seed: got '%s', expected a whole number from 0 to 2^64 - 1", arg);
        }
        return 0;
    case KEY_DIM:
        if (strcmp(arg, "2") != 0 && strcmp(arg, "3") != 0) {
            argp_error(state, "--dim: got '%s', expected 2 or 3", arg);
        }
        task->dim = arg[0] - '0';
        return 0;
    case KEY_STEPS: task->steps = whole(state, "steps", arg, 0); return 0;
    case KEY_PARAMETERS: read_parameters(task, arg, state); return 0;
    case KEY_MEASURE_EVERY: task->measure_every = whole(state, "measure-every", arg, 0); return 0;
    case KEY_RECORD_EVERY: task->record_every = whole(state, "record-every", arg, 0); return 0;
    case KEY_RESTART_EVERY: task->restart_every = whole(state, "restart-every", arg, 0); return 0;
    case KEY_LENGTH: task->flock_length = options_positive(state, "--flock-length", arg); return 0;
    case KEY_MEMBERS: task->flock_members = whole(state, "flock-members", arg, 1); return 0;
    case KEY_MEASURES: task->measures = arg; return 0;
    case KEY_RESTART: task->restart = arg; return 0;
    case KEY_PLOT: task->plot = arg; return 0;
    default: return set_model(task, key, arg, state);
    }
}

/** Set what one line "NAME = VALUE" of a file of parameters says. The task borrows the value. */
static void set_parameter(flock_task *task, const char *path, char *line, struct argp_state *state)
{
    line[strcspn(line, "#\r\n")] = '\0';
    char *name = line + strspn(line, " \t");
    char *end = name + strcspn(name, " \t=");
    char *value = end + strspn(end, " \t=");
    for (char *last = value + strlen(value); last > value && strchr(" \t", last[-1]);) {
        *--last = '\0';
    }
    *end = '\0';
    if (*name == '\0') {
        return;
    }
    for (const struct argp_option *o = flock_options; o->name; o++) {
        if (strcmp(o->name, name) == 0 && o->key != KEY_PARAMETERS) {
            if (o->arg && *value == '\0') {
                argp_error(state, "%s: %s has no value", path, name);
            }
            (void)set_option(task, o->key, value, state);
            return;
        }
    }
    exit(report_error(STATUS_FORMAT, "kith flock --help lists the names",
                      "%s: '%s' is no option of kith flock", path, name));
}

static void read_parameters(flock_task *task, const char *path, struct argp_state *state)
{
    if (task->parameters) {
        argp_error(state, "one --parameters FILE only: got another, '%s'", path);
    }
    errno = 0;
    FILE *file = fopen(path, "r");
    size_t room = 0;
    const ssize_t length = file ? getdelim(&task->parameters, &room, '\0', file) : -1;
    if (length < 0 && errno != 0) {
        exit(report_error(STATUS_INPUT, NULL, "%s: %s", path, strerror(errno)));
    }
    fclose(file);
    char *rest = length > 0 ? task->parameters : NULL;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        set_parameter(task, path, line, state);
    }
}

static void check_task(flock_task *task, struct argp_state *state)
{
    if (!task->input && task->boids == 0) {
        argp_error(state, "no INPUT given, nor --boids N");
    }
    if (task->input && task->boids > 0) {
        argp_error(state, "the particles are those of INPUT or of --boids: leave one out");
    }
    if (task->steps < 0) {
        argp_error(state, "no --steps N given");
    }
    if (task->plot && !flock_plot_named(task->plot)) {
        argp_error(state, "--plot: '%s' does not end in .png, .svg or .pdf", task->plot);
    }
    if (task->shared.output && strcmp(task->shared.output, "-") == 0) {
        argp_error(state, "a trajectory needs the name of a file: -o flock.xyz");
    }
}

enum { FILM }; /* where it is in the list */
static const struct argp_child children[] = {
    [FILM] = {&options_film, 0, NULL, 0}, {&options_reading, 0, NULL, 0},
    {&options_space, 0, NULL, 0},         {&options_engine, 0, NULL, 0},
    {&options_result, 0, NULL, 0},        {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    flock_task *task = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        options_parse_init(state, children, &task->shared);
        state->child_inputs[FILM] = &task->film;
        return 0;
    case ARGP_KEY_ARG: options_operand(state, "INPUT", arg, &task->input); return 0;
    case ARGP_KEY_END: check_task(task, state); return 0;
    default: return set_option(task, key, arg, state);
    }
}

static const struct argp arguments = {
    .options = flock_options,
    .parser = parse_option,
    .args_doc = "[INPUT]",
    .doc = "Let a flock fly, measure it on its way; -o FILE records an extended XYZ trajectory. The"
           " same command goes on where a killed one was, with --restart FILE."
           "\vExample:\n"
           "  kith flock --boids 5000 --box 60 --steps 1000 -o flock.xyz --plot order.png",
    .children = children};

int verb_flock(int argc, char **argv)
{
    flock_task task = {.dim = 3,
                       .steps = -1,
                       .measure_every = -1,
                       .record_every = -1,
                       .restart_every = -1,
                       .flock_members = 10};
    options_init(&task.shared);
    film_options_init(&task.film);
    kith_flock_options_init(&task.model);
    options_parse(&arguments, argc, argv, &task);

    task.model.things = task.things;
    progress_catch_signals();
    flock_run run = {.step = 0};
    int status = flock_start(&task, &run);
    if (status == STATUS_OK) {
        status = flock_fly(&task, &run);
    }
    if (status == STATUS_OK && task.plot) {
        status = flock_plot(&task, &run);
    }
    if (status == STATUS_OK && task.shared.json) {
        json_t *summary = flock_summary_json(&task, &run);
        json_dumpf(summary, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(summary);
    } else if (status == STATUS_OK && !task.shared.quiet) {
        flock_print_summary(&task, &run);
    }
    kith_groups_free(&run.groups);
    film_free(run.film);
    kith_flock_close(run.flock);
    kith_close(run.ctx);
    input_free(&run.in);
    free(run.samples);
    free(task.parameters);
    return status;
}
