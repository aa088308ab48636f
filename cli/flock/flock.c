/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith flock: boids and their kin, step by step, measured and recorded on their way.
 */
#include "flock_options.h"
#include "sweep.h"

#include "common/gnuplot.h"
#include "common/parse.h"
#include "common/progress.h"
#include "ranks/ranks.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static void read_boids(void *at, const option_given *given)
{
    *(int64_t *)at = option_whole(given->state, "--boids", given->arg, 1);
    if (*(int64_t *)at > INT32_MAX) {
        exit(report_error(STATUS_LIMIT, NULL, "--boids: got %s, expected at most %d", given->arg,
                          INT32_MAX));
    }
}

/** Refuse an output whose format cannot be appended to; a pipe or device may have any name. */
static void check_output(const char *path, struct argp_state *state)
{
    struct stat facts;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const bool known = !dot || strcasecmp(dot, ".xyz") == 0 || strcasecmp(dot, ".extxyz") == 0 ||
                       strcasecmp(dot, ".gsd") == 0;
    option_refuse(state, strcmp(path, "-") == 0,
                  "a trajectory needs the name of a file: -o flock.xyz");
    if (!known && !(stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))) {
        option_error(state, "--output: '%s' does not end in .gsd, .xyz or .extxyz", path);
    }
}

/** End the command where --gaussian has no effect, as there never is noise: the live view and a
 *  sweep may add some, and that of a preset was not asked for. */
static void check_gaussian(const flock_task *task)
{
    bool gaussian = false, used = task->view || task->sweep || task->preset_gaussian;
    for (int64_t k = 0; k < task->n_stages; k++) {
        const kith_flock_options *model = &task->stage[k].model;
        gaussian = gaussian || model->gaussian;
        used = used || (model->gaussian && model->noise > 0);
    }
    if (gaussian && !used) {
        exit(report_error(STATUS_INVALID, "leave it out, or give --noise ETA",
                          "--gaussian: there is no noise that could be normal"));
    }
}

/** Refuse options of INPUT where there is none; --precision is that of --boids, too. */
static void check_reading(const flock_task *task, struct argp_state *state)
{
    for (const option_row *row = one_frame_options; row->name && !task->input; row++) {
        if (option_is_set(row) && strcmp(row->name, "precision") != 0) {
            option_error(state, "--%s is of INPUT, and there is none", row->name);
        }
    }
}

static void check_task(void *at, struct argp_state *state)
{
    flock_task *task = at;
    const bool recorded = task->shared.output || task->film.path;
    task->endless = task->steps < 0;
    const bool own = option_is_set(option_find(flock_model_options, "gaussian"));
    flock_apply_preset(task, state);
    task->preset_gaussian = !own && task->start.model.gaussian;
    option_refuse(
        state, !task->sweep && (task->replicas != 1 || task->equilibrate >= 0 || task->sample >= 0),
        "--replicas, --equilibrate and --sample need --sweep");
    option_refuse(state, task->restart_change && !task->restart,
                  "--restart-change needs --restart FILE, the run to continue");
    const bool by_sweep = task->sweep && strncmp(task->sweep, "boids=", strlen("boids=")) == 0;
    option_refuse(state, !task->input && task->boids == 0 && !by_sweep,
                  "no INPUT given, nor --boids N or --preset NAME");
    option_refuse(state, task->input && task->boids > 0,
                  "INPUT and --boids both give the particles: leave one out");
    option_refuse(state, task->endless && !task->view && !task->sweep, "no --steps N given");
    option_refuse(state, task->record_every >= 0 && !recorded && !task->sweep,
                  "--record-every is of recorded frames: it needs -o FILE or --record FILE");
    option_refuse(state, task->restart_every >= 0 && !task->restart && !task->sweep,
                  "--restart-every needs --restart FILE, where the state is saved");
    film_check_options(&task->film, state);
    option_refuse(state, task->endless && !task->sweep && recorded && task->record_every < 0,
                  "--output and --record without --steps need --record-every N");
    option_refuse(state, task->shared.port > 0 && !task->view, "--port needs --view");
    option_refuse(state, task->shared.address && !task->view, "--address needs --view");
    if (task->shared.output && !task->sweep) {
        check_output(task->shared.output, state);
    }
    check_reading(task, state);
    flock_make_stages(task, state);
    for (int64_t k = 0; k < task->n_stages; k++) {
        flock_check_model(&task->stage[k].model);
    }
    check_gaussian(task);
    sweep_check(task, state);
    flock_check_effects(task);
    task->steps = task->endless ? INT64_MAX / 2 : task->steps;
}

static const option_row flock_options[] = {
    {"boids", 0, "N", "in place of INPUT, uniform in the box", 1,
     READ_AT(flock_task, boids, read_boids)},
    {"dim", 0, "2|3", NULL, 1, WORD_AT(flock_task, dim, 2, "2 or 3")},
    {"steps", 0, "N", "how far; of start and noise", 2, FROM_ZERO_AT(flock_task, steps)},
    {"seed", 's', "S", NULL, 2, READ_AT(flock_task, start.model.seed, option_read_seed)},
    {"view", 0, NULL, "in a browser; default: 8420, 127.0.0.1", 2, FLAG_AT(flock_task, view)},
    {"port", 0, "N", NULL, 2, WHOLE_AT(flock_task, shared.port, 1, 65535, "1 to 65535")},
    {"address", 0, "A", NULL, 2, TEXT_AT(flock_task, shared.address)},
    {"preset", 0, "NAME", "murmuration, mill, bands, shoal, abp; a file", 3,
     TEXT_AT(flock_task, preset)},
    {"parameters", 0, "F", NULL, 3, READ_BY(flock_read_parameters),
     PATH_AT(flock_task, parameters_file, FILE_READ)},
    {"at", 0, "STEP:NAME=V", "a change on the way: 500:noise=0.2, 9:no-things", 4,
     READ_BY(flock_note_change)},
    {"sweep", 0, "NAME=A:B:C", "order over A to B by C, or V/V; -o is a table", 12,
     TEXT_AT(flock_task, sweep)},
    {"replicas", 0, "N", "runs: 1; steps: 4000, after --equilibrate=1000", 13,
     WHOLE_AT(flock_task, replicas, 1, 1000000, "1 to 1000000")},
    {"sample", 0, "N", NULL, 13, FROM_ONE_AT(flock_task, sample)},
    {"equilibrate", 0, "N", OPTION_NAMED_ABOVE, 13, FROM_ZERO_AT(flock_task, equilibrate)},
    {"reflect", 0, "xyz", "walls; --repulsion=R,K: soft spheres, by a rate K", 8,
     READ_AT(flock_task, start.model.reflecting, option_read_axes),
     .expected = "axes like xyz or xy"},
    {"measure-every", 0, "N", "steps; default: 10, 100 times, films 600", 40,
     FROM_ZERO_AT(flock_task, measure_every)},
    {"record-every", 0, "N", NULL, 40, FROM_ZERO_AT(flock_task, record_every)},
    {"flock-length", 0, "L", "that link flocks of --flock-members=10", 40,
     POSITIVE_AT(flock_task, flock_length)},
    {"flock-velocity", 0, "V", NULL, 40, POSITIVE_AT(flock_task, flock_velocity)},
    {"flock-members", 0, "N", OPTION_NAMED_ABOVE, 40, FROM_ONE_AT(flock_task, flock_members)},
    {"r-max", 0, "R", "of g(r); default: the largest radius, 20", 40,
     POSITIVE_AT(flock_task, r_max)},
    {"bins", 0, "N", NULL, 40, FROM_ZERO_AT(flock_task, bins)},
    {"measures", 0, "FILE", "as JSON lines; as .png, .svg, .pdf", 40,
     FILE_AT(flock_task, measures, FILE_WRITTEN)},
    {"plot", 0, "FILE", NULL, 40, READ_AT(flock_task, plot, gnuplot_read_path),
     PATH_AT(flock_task, plot, FILE_FIGURE_AGAIN)},
    {"restart", 0, "FILE", "save, go on; --restart-every=N, --restart-change", 40,
     FILE_AT(flock_task, restart, FILE_STATE)},
    {"restart-every", 0, "N", OPTION_NAMED_ABOVE, 40, FROM_ZERO_AT(flock_task, restart_every)},
    {"restart-change", 0, NULL, OPTION_NAMED_ABOVE, 40, FLAG_AT(flock_task, restart_change)},
    {0}};

const command_line flock_line = {
    .operands = "[INPUT]",
    .operand = "INPUT",
    .operand_at = offsetof(flock_task, input),
    .may_lack = true,
    .tables = {{.rows = output_options},
               {.rows = flock_options},
               {.rows = flock_model_options, .base = offsetof(flock_task, start)},
               {.rows = film_option_rows, .base = offsetof(flock_task, film)},
               {.rows = one_frame_options},
               {.rows = space_options},
               {.rows = engine_options},
               {.rows = report_options}},
    .check = check_task,
    .help = "Let a flock fly, measured on its way; -o FILE records it as .gsd or .xyz."
            "\vExample:\n"
            "  kith flock --boids 5000 --box 60 --steps 1000 -o flock.gsd --plot order.png\n"
            "  kith rdf flock.gsd --r-max 10 -o gr.txt"};

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

/** Refuse what works on one rank only. */
static int check_ranks(const flock_task *task)
{
    if (!ranks_several(&task->shared) || !task->view) {
        return STATUS_OK;
    }
    return report_error(STATUS_USAGE,
                        "run it without mpirun or srun, and with one name in --backend",
                        "--view works in one process, on one backend");
}

int verb_flock(int argc, char **argv)
{
    flock_task task = {.dim = 3,
                       .steps = -1,
                       .measure_every = -1,
                       .record_every = -1,
                       .restart_every = -1,
                       .replicas = 1,
                       .equilibrate = -1,
                       .sample = -1,
                       .flock_members = 10,
                       .bins = 20};
    film_options_init(&task.film);
    flock_stage_init(&task.start);
    command_line_parse(&flock_line, argc, argv, &task);

    progress_catch_signals();
    flock_run run = {.saved = -1};
    int status = check_ranks(&task);
    flock_warn(&task);
    if (status == STATUS_OK) {
        status = task.swept ? sweep_fly(&task) : run_flock(&task, &run);
    }
    flock_view_close(&run);
    kith_groups_free(&run.groups);
    film_free(run.film);
    kith_flock_close(run.flock);
    ranks_close(run.ranks);
    kith_close(run.ctx);
    input_free(&run.in);
    for (int k = 0; k < run.n_locks; k++) {
        io_lock_release(run.locks[k]);
    }
    free(run.g);
    free(run.samples);
    free(run.species);
    free(task.stage);
    free(task.change);
    free(task.parameters);
    sweep_free(task.swept);
    return status;
}
