/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith flock --sweep: the values, and the runs. Small flocks are flown side by side, a thread each;
 * a large flock has all threads of its rank, and so has one on a GPU.
 */
#include "sweep_crew.h"

#include "flock_options.h"

#include "common/parse.h"
#include "common/progress.h"
#include "ranks/ranks.h"
#include "common/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MOST_VALUES = 10000,
    EVERY = 10 /* steps between samples, by default */
};

/* ------------------------------------------------------------------------------------ values */

static void *need(void *memory)
{
    if (!memory) {
        exit(report_no_memory("the values of --sweep"));
    }
    return memory;
}

/** Append a value: a text that is a number. */
static void add_value(sweep *s, const char *text, struct argp_state *state)
{
    double number;
    if (s->n == MOST_VALUES) {
        option_error(state, "--sweep: more than %d values", MOST_VALUES);
    }
    if (parse_reals(text, 1, &number) != 1 || strlen(text) >= sizeof s->value->text) {
        option_error(state, "--sweep: got the value '%s', expected a number", text);
    }
    for (int v = 0; v < s->n; v++) {
        option_refuse(state, s->value[v].number == number, "--sweep gives a value twice");
    }
    s->value = need(realloc(s->value, (size_t)(s->n + 1) * sizeof *s->value));
    sweep_value *value = &s->value[s->n++];
    *value = (sweep_value){.number = number};
    snprintf(value->text, sizeof value->text, "%s", text);
}

/** Append the values FROM, FROM + STEP, ... to TO. */
static void add_range(sweep *s, char *text, struct argp_state *state)
{
    double range[3];
    for (char *at = text; (at = strchr(at, ':')) != NULL;) {
        *at = ',';
    }
    if (parse_reals(text, 3, range) != 3 || !(range[2] > 0) || !(range[1] >= range[0])) {
        option_error(state, "--sweep: got '%s', expected FROM:TO:STEP that rises", s->task->sweep);
    }
    const double steps = floor((range[1] - range[0]) / range[2] * (1 + 1e-12) + 1e-9);
    for (double k = 0; k <= steps; k++) { /* add_value ends the command at MOST_VALUES */
        /* twelve digits: 0.15, not 0.15000000000000002 */
        add_value(s, report_format("%.12g", range[0] + k * range[2]).s, state);
    }
}

/** Give a value to the option, in the task of its runs. */
static void set_value(const sweep *s, sweep_value *value, struct argp_state *state)
{
    const flock_task *task = s->task;
    value->stage = task->stage[0];
    value->boids = task->boids;
    char *text = need(strdup(value->text));
    if (strcmp(s->name, "boids") == 0) {
        value->boids = option_whole(state, "--sweep: boids", text, 1);
        option_refuse(state, value->boids > INT32_MAX, "--sweep: there are too many boids");
    } else {
        option_set(&value->stage,
                   &(option_given){option_find(flock_model_options, s->name), text, state});
    }
    free(text);
    flock_check_model(&value->stage.model);
    flock_lay_out(&value->stage);
}

static bool ends_like_a_trajectory(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".gsd") == 0 || strcasecmp(dot, ".xyz") == 0 ||
                   strcasecmp(dot, ".extxyz") == 0);
}

/** Refuse options that a sweep does not have. */
static void check_options(const flock_task *task, struct argp_state *state)
{
    option_refuse(state, task->steps >= 0,
                  "--sweep has --equilibrate N and --sample N in place of --steps");
    option_refuse(state, task->view || task->film.path, "--sweep is neither seen nor filmed");
    option_refuse(state, task->n_changes > 0, "--sweep and --at exclude each other");
    option_refuse(state, task->measures || task->record_every >= 0,
                  "--sweep writes a table (-o): leave out --measures and --record-every");
    option_refuse(state, task->measure_every == 0, "--measure-every: a sweep needs 1 or more");
    option_refuse(state, task->shared.output && ends_like_a_trajectory(task->shared.output),
                  "--sweep writes a table: -o FILE.txt, .npy or .json");
    option_refuse(state, task->restart_change || task->restart_every >= 0,
                  "--sweep keeps each run in the file of --restart when it ends: leave out "
                  "--restart-every and --restart-change");
    table_check_options(state, &task->shared, TABLE_BY_NAME);
}

void sweep_check(flock_task *task, struct argp_state *state)
{
    if (!task->sweep) {
        return;
    }
    task->equilibrate = task->equilibrate < 0 ? 1000 : task->equilibrate;
    task->sample = task->sample < 0 ? 4000 : task->sample;
    check_options(task, state);
    sweep *s = task->swept = need(calloc(1, sizeof *s));
    s->task = task;
    s->every = task->measure_every > 0 ? task->measure_every : EVERY;
    s->samples = task->sample / s->every;
    option_refuse(state, s->samples < SWEEP_LOOKS,
                  "--sample needs 20 samples or more, one each --measure-every steps");
    char *copy = need(strdup(task->sweep)), *rest = strchr(copy, '=');
    if (!rest || rest == copy || (size_t)(rest - copy) >= sizeof s->name) {
        option_error(state, "--sweep: got '%s', expected NAME=FROM:TO:STEP or NAME=V/V/V",
                     task->sweep);
    }
    *rest++ = '\0';
    snprintf(s->name, sizeof s->name, "%s", copy);
    const option_row *row = option_find(flock_model_options, s->name);
    if (strcmp(s->name, "boids") != 0 && !(row && row->argument)) {
        option_error(state, "--sweep: '%s' is no option of the model with a number, nor boids",
                     s->name);
    }
    option_refuse(state, strcmp(s->name, "boids") == 0 && task->input,
                  "--sweep boids=... is in place of INPUT");
    if (strchr(rest, ':')) {
        add_range(s, rest, state);
        rest = NULL;
    }
    for (char *text; (text = strsep(&rest, "/")) != NULL;) {
        add_value(s, text, state);
    }
    free(copy);
    for (int v = 0; v < s->n; v++) {
        set_value(s, &s->value[v], state);
    }
}

/* -------------------------------------------------------------------------------------- runs */

/** The runs that are being made, guarded by the lock of the crew. */
struct flight {
    sweep *s;           /* the sweep */
    io_recording *file; /* of finished runs; NULL: none */
    progress bar;       /* of the steps of all runs */
    int64_t total;      /* steps to be made */
    int64_t next;       /* the next run to be made: value * replicas + replica */
    int status;         /* of the first run that failed */
};

/** Note a failure, which was reported, and end all runs. */
static void fail(sweep_crew *c, int status)
{
    struct flight *f = c->user;
    f->status = f->status == STATUS_OK ? status : f->status;
    c->stop = c->stop || f->status != STATUS_OK;
}

/** sweep_crew.take: place the boids of the next run, of one at a time: libraries that read INPUT
 *  may not serve several threads. */
static sweep_flock *next_run(sweep_crew *c)
{
    struct flight *f = c->user;
    sweep_flock *flock = NULL;
    const int64_t replicas = f->s->task->replicas, runs = f->s->n * replicas;
    while (f->next < runs && f->s->result[f->next].done) {
        f->next++;
    }
    if (f->next == runs || c->stop) {
        return NULL;
    }
    const int status = sweep_place(f->s, (int)(f->next / replicas), f->next % replicas, &flock);
    f->next++;
    if (status != STATUS_OK) {
        fail(c, status);
        sweep_flock_free(flock);
        flock = NULL;
    }
    return flock;
}

/** sweep_crew.give: keep the result of a run, or report its failure if it is the first. */
static void keep_run(sweep_crew *c, const sweep_answer *answer)
{
    struct flight *f = c->user;
    c->left--;
    if (answer->status == KITH_OK) {
        f->s->result[answer->run] = answer->result;
    }
    if (f->status != STATUS_OK && f->status != STATUS_INTERRUPTED) {
        return; /* one failure is reported, and the file may be what failed */
    }
    if (answer->status == KITH_OK) {
        fail(c, sweep_keep(f->s, answer->run, f->file));
    } else if (!c->stop) { /* else the run was stopped, and why is known */
        fail(c, answer->status == KITH_CANCELLED
                    ? STATUS_INTERRUPTED
                    : report_kith_text(answer->status, answer->about, answer->message));
    }
}

/** sweep_crew.watch: show the steps. @return true after a signal */
static bool show_steps(sweep_crew *c)
{
    struct flight *f = c->user;
    f->bar.items = c->steps + c->elsewhere;
    const bool interrupted = progress_watch(&f->bar, f->bar.items, f->total) != 0;
    fail(c, interrupted ? STATUS_INTERRUPTED : STATUS_OK);
    return interrupted;
}

/** Make all runs that are not done. @param r  the ranks; NULL: there is one
 *  @return exit status, reported but for STATUS_INTERRUPTED */
static int make_all(sweep *s, ranks *r, kith_ctx *ctx, io_recording *file)
{
    struct flight f = {.s = s, .file = file};
    sweep_crew crew = {.s = s,
                       .user = &f,
                       .take = next_run,
                       .give = keep_run,
                       .watch = show_steps,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .more = PTHREAD_COND_INITIALIZER,
                       .left = s->n * s->task->replicas - s->found};
    s->engine = report_format("%s", ranks_words(r, ctx).s);
    f.total = crew.left * (s->task->equilibrate + s->samples * s->every);
    f.bar = progress_start("sweeping", "steps", 0, s->task->shared.quiet);
    if (r) {
        const kith_status dealt = ranks_deal(r, sweep_deal, &crew);
        fail(&crew, f.status == STATUS_OK ? ranks_status(r, ctx, dealt, "--sweep") : f.status);
    } else if (sweep_crew_start(&crew, ctx, sweep_lanes(ctx, sweep_most_boids(s), crew.left),
                                true)) {
        sweep_crew_work(&crew);
        sweep_crew_end(&crew, true);
        crew.all = crew.n;
    } else {
        fail(&crew, report_no_memory("the runs"));
    }
    s->seconds = progress_end(&f.bar);
    s->steps = crew.steps + crew.elsewhere;
    s->lanes = crew.all;
    return f.status;
}

/** Start a flock of a value, note what its runs share, and drop it.
 *  @param[out] sum  checksum of its positions and velocities   @return exit status, reported */
static int try_value(sweep *s, kith_ctx *ctx, int v, int64_t replica, uint64_t *sum)
{
    sweep_flock *flock;
    int status = sweep_place(s, v, replica, &flock);
    s->placed = true;
    if (status == STATUS_OK) {
        flock->run.ctx = ctx;
        status = flock_open(&flock->task, &flock->run);
    }
    if (status == STATUS_OK) {
        const io_particles *p = &flock->run.in.particles;
        const int64_t bytes = 3 * p->n * (int64_t)p->precision;
        s->box = flock->run.box;
        s->precision = p->precision;
        s->dim = p->dim;
        s->value[v].boids = p->n;
        s->start = io_sum(p->pos, bytes);
        s->start ^= flock->run.species ? io_sum(flock->run.species, p->n) : 0;
        *sum = s->start ^ io_sum(p->velocity, bytes);
    }
    sweep_flock_free(flock);
    return status;
}

/** Refuse replicas that would all be one run: seeds change neither the start nor the steps.
 *  @return exit status, reported */
static int check_replicas(sweep *s, kith_ctx *ctx, int v, uint64_t first)
{
    const kith_flock_options *m = &s->value[v].stage.model;
    uint64_t second = 0;
    if (s->task->replicas == 1 || !s->task->input || m->noise > 0) {
        return STATUS_OK;
    }
    CLI_TRY(try_value(s, ctx, v, 1, &second));
    return first != second
               ? STATUS_OK
               : report_error(STATUS_INVALID, "leave --replicas out",
                              "--replicas: all are one run at %s = %s: they start from %s, and "
                              "there is no noise",
                              s->name, s->value[v].text, s->task->input);
}

/** Start a flock of each value, and drop it: a wrong value is refused before the first run.
 *  @return exit status, reported but for STATUS_INTERRUPTED */
static int try_values(sweep *s, kith_ctx *ctx)
{
    int status = STATUS_OK;
    for (int v = s->n - 1; v >= 0 && status == STATUS_OK; v--) { /* s->start is of the first */
        uint64_t sum = 0;
        status = try_value(s, ctx, v, 0, &sum);
        status = status == STATUS_OK ? check_replicas(s, ctx, v, sum) : status;
    }
    return status;
}

/** Make the runs, and write the curves of those that are done. */
static int fly(sweep *s, ranks *r, kith_ctx *ctx, io_recording **file)
{
    const int tried = try_values(s, ctx);
    if (tried != STATUS_OK) {
        return tried == STATUS_INTERRUPTED ? report_interrupted(NULL) : tried;
    }
    s->result = calloc((size_t)(s->n * s->task->replicas), sizeof *s->result);
    if (!s->result) {
        return report_no_memory("the runs");
    }
    CLI_TRY(sweep_load(s, file));
    const int made = make_all(s, r, ctx, *file);
    if (made != STATUS_OK && made != STATUS_INTERRUPTED) {
        return made;
    }
    CLI_TRY(sweep_make_curves(s));
    CLI_TRY(sweep_write(s));
    fflush(stdout);
    return made == STATUS_OK
               ? STATUS_OK
               : report_error(STATUS_INTERRUPTED,
                              *file ? "run the command again to continue" : NULL,
                              "interrupted: the runs of %d of %d values are done", s->rows, s->n);
}

int sweep_fly(const flock_task *task)
{
    io_lock *lock = NULL;
    io_recording *file = NULL;
    io_error error = {0};
    ranks *r = NULL;
    kith_ctx *ctx = NULL;
    if (task->restart) {
        CLI_TRY(report_lock(task->restart, IO_LOCK_BESIDE, &lock));
    }
    int status = ranks_open(&task->shared, progress_watch_interrupt, NULL, &ctx, &r);
    status = status == STATUS_OK ? fly(task->swept, r, ctx, &file) : status;
    const io_status closed = io_recording_close(file, &error);
    status = status == STATUS_OK ? report_io(closed, &error, true) : status;
    status = status == STATUS_OK ? sweep_order(task->swept) : status;
    ranks_close(r);
    kith_close(ctx);
    io_lock_release(lock);
    return status;
}

void sweep_free(sweep *s)
{
    if (s) {
        free(s->value);
        free(s->result);
        free(s->estimate);
        free(s->row);
        free(s->others.data);
        free(s);
    }
}
