/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith flock: boids and their kin, step by step, measured and recorded on their way.
 */
#include "flock_options.h"

#include "common/files.h"
#include "common/gnuplot.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
    KEY_BOIDS = KEY_MODEL_END,
    KEY_DIM,
    KEY_STEPS,
    KEY_REFLECT,
    KEY_PARAMETERS,
    KEY_AT,
    KEY_MEASURE_EVERY,
    KEY_RECORD_EVERY,
    KEY_RESTART_EVERY,
    KEY_MEASURES,
    KEY_RESTART,
    KEY_RESTART_CHANGE,
    KEY_LENGTH,
    KEY_VELOCITY,
    KEY_MEMBERS,
    KEY_R_MAX,
    KEY_BINS,
    KEY_PLOT,
    KEY_VIEW
};

/* Options that go together share a line of the help. */
enum { LINE = OPTION_DOC | OPTION_NO_USAGE, HIDDEN = OPTION_HIDDEN };

const struct argp_option flock_options[] = {
    {"boids", KEY_BOIDS, "N", HIDDEN, 0, 1},
    {"dim", KEY_DIM, "2|3", HIDDEN, 0, 1},
    {"--boids=N, --dim=2|3", 0, 0, LINE, "in place of INPUT, uniform in the box", 1},
    {"steps", KEY_STEPS, "N", HIDDEN, 0, 2},
    {"seed", 's', "S", HIDDEN, 0, 2},
    {"--steps=N, --seed=S", 0, 0, LINE, "how far; of start and noise; --view: in a browser", 2},
    {"view", KEY_VIEW, 0, HIDDEN, 0, 2},
    {"parameters", KEY_PARAMETERS, "FILE", 0, "lines NAME = VALUE of these options", 3},
    {"at", KEY_AT, "STEP:NAME=V", 0, "a change on the way, such as 500:noise=0.2", 4},
    {"model", KEY_MODEL, "NAME", HIDDEN, 0, 5},
    {"noise", KEY_NOISE, "ETA", HIDDEN, 0, 5},
    {"--model=NAME, --noise=ETA", 0, 0, LINE, "boids; vicsek, vectorial with noise 0 to 1", 5},
    {"separation", KEY_SEPARATION, "R,W", 0, "radius and weight; default 3,0.1", 6},
    {"alignment", KEY_ALIGNMENT, "R,W", HIDDEN, 0, 7},
    {"cohesion", KEY_COHESION, "R,W", HIDDEN, 0, 7},
    {"--alignment=, --cohesion=R,W", 0, 0, LINE, "default 5,0.1 and 5,0.01", 7},
    {"min-speed", KEY_MIN_SPEED, "V", HIDDEN, 0, 7},
    {"max-speed", KEY_MAX_SPEED, "V", HIDDEN, 0, 7},
    {"time-step", KEY_TIME_STEP, "T", HIDDEN, 0, 7},
    {"--time-step=T, --max-speed=V", 0, 0, LINE, "0.2; 1, 0: no limit; --min-speed=0", 7},
    {"nearest", KEY_NEAREST, "K", HIDDEN, 0, 8},
    {"blind-angle", KEY_BLIND, "DEGREES", HIDDEN, 0, 8},
    {"--nearest=K, --blind-angle=A", 0, 0, LINE, "see the K nearest; none A degrees behind", 8},
    {"relative", KEY_RELATIVE, 0, HIDDEN, 0, 8},
    {"reflect", KEY_REFLECT, "xyz", HIDDEN, 0, 8},
    {"--relative, --reflect=xyz", 0, 0, LINE, "align less one's own v (Parker); walls of the box",
     8},
    {"point", KEY_POINT, "X,Y,Z,W,REACH", HIDDEN, 0, 9},
    {"predator", KEY_PREDATOR, "X,Y,Z,V,W,REACH", HIDDEN, 0, 9},
    {"--point=X,Y,Z,W,REACH", 0, 0, LINE, "draws; --predator=X,Y,Z,V,W,REACH drives away", 9},
    {"sphere", KEY_SPHERE, "X,Y,Z,R,W,REACH", HIDDEN, 0, 9},
    {"wall", KEY_WALL, "X,Y,Z,NX,NY,NZ,W,REACH", HIDDEN, 0, 9},
    {"no-things", KEY_NO_THINGS, 0, HIDDEN, 0, 9},
    {"--sphere=X,Y,Z,R,W,REACH", 0, 0, LINE, "obstacle, as --wall=X,Y,Z,NX,NY,NZ,W,REACH", 9},
    {"measure-every", KEY_MEASURE_EVERY, "N", HIDDEN, 0, 40},
    {"record-every", KEY_RECORD_EVERY, "N", HIDDEN, 0, 40},
    {"--{measure,record}-every=N", 0, 0, LINE, "steps; default: 10, 100 times, films 600", 40},
    {"flock-length", KEY_LENGTH, "L", HIDDEN, 0, 40},
    {"flock-velocity", KEY_VELOCITY, "V", HIDDEN, 0, 40},
    {"flock-members", KEY_MEMBERS, "N", HIDDEN, 0, 40},
    {"--flock-{length,velocity}=L", 0, 0, LINE, "that link flocks of --flock-members=10", 40},
    {"r-max", KEY_R_MAX, "R", HIDDEN, 0, 40},
    {"bins", KEY_BINS, "N", HIDDEN, 0, 40},
    {"--r-max=R, --bins=N", 0, 0, LINE, "of g(r); default: the largest radius, 20", 40},
    {"measures", KEY_MEASURES, "FILE", HIDDEN, 0, 40},
    {"plot", KEY_PLOT, "FILE", HIDDEN, 0, 40},
    {"--measures=FILE, --plot=FILE", 0, 0, LINE, "as JSON lines; as .png, .svg, .pdf", 40},
    {"restart", KEY_RESTART, "FILE", HIDDEN, 0, 40},
    {"restart-change", KEY_RESTART_CHANGE, 0, HIDDEN, 0, 40},
    {"--restart=FILE", 0, 0, LINE, "save, go on from there; --restart-{every=N,change}", 40},
    {"restart-every", KEY_RESTART_EVERY, "N", HIDDEN, 0, 40},
    {0}};

const struct argp_child flock_children[] = {[FLOCK_FILM] = {&options_film, 0, NULL, 0},
                                            {&options_one_frame, 0, NULL, 0},
                                            {&options_space, 0, NULL, 0},
                                            {&options_engine, 0, NULL, 0},
                                            {&options_viewing_unseen, 0, NULL, 0},
                                            {&options_result, 0, NULL, 0},
                                            {0}};

error_t flock_set_option(flock_task *task, int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case KEY_BOIDS:
        task->boids = options_whole(state, "--boids", arg, 1);
        if (task->boids > INT32_MAX) {
            exit(report_error(STATUS_LIMIT, NULL, "--boids: got %s, at most %d can fly", arg,
                              INT32_MAX));
        }
        return 0;
    case 's': task->start.model.seed = options_seed(state, arg); return 0;
    case KEY_DIM: task->dim = 2 + options_word(state, "--dim", arg, "2 or 3"); return 0;
    case KEY_REFLECT:
        if (!parse_axes(arg, task->start.model.reflecting)) {
            options_error(state, "--reflect: got '%s', expected axes such as xyz or xy", arg);
        }
        return 0;
    case KEY_STEPS: task->steps = options_whole(state, "--steps", arg, 0); return 0;
    case KEY_PARAMETERS: flock_read_parameters(task, arg, state); return 0;
    case KEY_AT: flock_note_change(task, arg); return 0;
    case KEY_MEASURE_EVERY:
        task->measure_every = options_whole(state, "--measure-every", arg, 0);
        return 0;
    case KEY_RECORD_EVERY:
        task->record_every = options_whole(state, "--record-every", arg, 0);
        return 0;
    case KEY_RESTART_EVERY:
        task->restart_every = options_whole(state, "--restart-every", arg, 0);
        return 0;
    case KEY_LENGTH: task->flock_length = options_positive(state, "--flock-length", arg); return 0;
    case KEY_VELOCITY:
        task->flock_velocity = options_positive(state, "--flock-velocity", arg);
        return 0;
    case KEY_MEMBERS:
        task->flock_members = options_whole(state, "--flock-members", arg, 1);
        return 0;
    case KEY_R_MAX: task->r_max = options_positive(state, "--r-max", arg); return 0;
    case KEY_BINS: task->bins = options_whole(state, "--bins", arg, 0); return 0;
    case KEY_MEASURES: task->measures = arg; return 0;
    case KEY_RESTART: task->restart = arg; return 0;
    case KEY_RESTART_CHANGE: task->restart_change = true; return 0;
    case KEY_PLOT: task->plot = gnuplot_option(arg); return 0;
    case KEY_VIEW: task->view = true; return 0;
    default: return flock_set_model(&task->start, key, arg, state);
    }
}

/** A trajectory is of a format that can grow; what is no regular file may have any name. */
static void check_output(const char *path, struct argp_state *state)
{
    struct stat facts;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const bool known = !dot || strcasecmp(dot, ".xyz") == 0 || strcasecmp(dot, ".extxyz") == 0 ||
                       strcasecmp(dot, ".gsd") == 0;
    options_refuse(state, strcmp(path, "-") == 0,
                   "a trajectory needs the name of a file: -o flock.xyz");
    if (!known && !(stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))) {
        options_error(state, "--output: '%s' does not end in .gsd, .xyz or .extxyz", path);
    }
}

/** Files that a restarted run writes again take their .part from a killed run. */
static void check_files(const flock_task *task)
{
    const file_use files[] = {
        {"INPUT", task->input, FILE_READ},
        {"--parameters", task->parameters_file, FILE_READ},
        {"--output", task->shared.output, FILE_WRITTEN},
        {"--measures", task->measures, FILE_WRITTEN},
        {"--restart", task->restart, FILE_STATE},
        {"--plot", task->plot, task->restart ? FILE_FIGURE_AGAIN : FILE_FIGURE},
        {"--record", task->film.path, FILE_FILM}};
    files_check(files, sizeof files / sizeof *files);
}

static void check_noise(const flock_task *task)
{
    for (int64_t k = 0; k < task->n_stages; k++) {
        const kith_flock_options *model = &task->stage[k].model;
        if (model->model == KITH_BOIDS && model->noise > 0) {
            exit(report_error(STATUS_INVALID, "give --model vicsek or vectorial",
                              "--noise: got %s, but boids have none", report_real(model->noise).s));
        }
    }
}

static void check_task(flock_task *task, struct argp_state *state)
{
    const bool recorded = task->shared.output || task->film.path;
    task->endless = task->steps < 0;
    options_refuse(state, task->restart_change && !task->restart,
                   "--restart-change goes on from a restart file: it needs --restart FILE");
    options_refuse(state, !task->input && task->boids == 0, "no INPUT given, nor --boids N");
    options_refuse(state, task->input && task->boids > 0,
                   "the particles are those of INPUT or of --boids: leave one out");
    options_refuse(state, task->endless && !task->view, "no --steps N given");
    options_refuse(state, task->endless && recorded && task->record_every < 0,
                   "a run without --steps is recorded with --record-every N");
    task->steps = task->endless ? INT64_MAX / 2 : task->steps;
    if (task->shared.output) {
        check_output(task->shared.output, state);
    }
    check_files(task);
    flock_make_stages(task, state);
    check_noise(task);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    flock_task *task = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        options_parse_init(state, flock_children, &task->shared);
        state->child_inputs[FLOCK_FILM] = &task->film;
        return 0;
    case ARGP_KEY_ARG: options_operand(state, "INPUT", arg, &task->input); return 0;
    case ARGP_KEY_END: check_task(task, state); return 0;
    default: return flock_set_option(task, key, arg, state);
    }
}

static const struct argp arguments = {
    .options = flock_options,
    .parser = parse_option,
    .args_doc = "[INPUT]",
    .doc = "Let a flock fly, measured on its way; -o FILE records it as .gsd or .xyz."
           "\vExample:\n"
           "  kith flock --boids 5000 --box 60 --steps 1000 -o flock.gsd --plot order.png\n"
           "  kith rdf flock.gsd --r-max 10 -o gr.txt",
    .children = flock_children};

static int run_flock(flock_task *task, flock_run *run)
{
    if (task->restart) {
        CLI_TRY(flock_lock(run, task->restart, IO_LOCK_BESIDE));
    }
    CLI_TRY(flock_start(task, run));
    if (task->view) {
        CLI_TRY(flock_view_open(task, run));
    }
    const int status = flock_fly(task, run);
    flock_view_close(run);
    CLI_TRY(status);
    if (task->plot && run->n_samples > 0) {
        CLI_TRY(flock_plot(task, run));
    }
    if (task->shared.json) {
        CLI_TRY(report_json_line(flock_summary_json(task, run)));
    } else if (!task->shared.quiet) {
        flock_print_summary(task, run);
    }
    return run->interrupted ? flock_report_interrupted(task, run) : STATUS_OK;
}

int verb_flock(int argc, char **argv)
{
    flock_task task = {.dim = 3,
                       .steps = -1,
                       .measure_every = -1,
                       .record_every = -1,
                       .restart_every = -1,
                       .flock_members = 10,
                       .bins = 20};
    film_options_init(&task.film);
    kith_flock_options_init(&task.start.model);
    options_parse(&arguments, argc, argv, &task);

    progress_catch_signals();
    flock_run run = {.saved = -1};
    const int status = run_flock(&task, &run);
    flock_view_close(&run);
    kith_groups_free(&run.groups);
    film_free(run.film);
    kith_flock_close(run.flock);
    kith_close(run.ctx);
    input_free(&run.in);
    for (int k = 0; k < run.n_locks; k++) {
        io_lock_release(run.locks[k]);
    }
    free(run.g);
    free(run.samples);
    free(task.stage);
    free(task.change);
    free(task.parameters);
    return status;
}
