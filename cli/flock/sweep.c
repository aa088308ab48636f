/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith flock --sweep: the values, and the runs. Small flocks are flown side by side, a thread each;
 * a large flock has all threads, and so has one on a GPU.
 */
#include "sweep.h"

#include "flock_options.h"

#include "common/engine.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/table.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MOST_VALUES = 10000,
    MOST_SIDE_BY_SIDE = 20000, /* boids of a flock that one thread flies: a larger one occupies
                                  several threads */
    EVERY = 10                 /* steps between samples, by default */
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
    for (double k = 0; k <= steps && s->n <= MOST_VALUES; k++) {
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

/** A thread that makes runs. */
struct lane {
    struct flight *all; /* what it shares with the others */
    kith_ctx *ctx;      /* its context */
    pthread_t thread;   /* the thread; of the first lane none: the calling thread */
};

/** The runs that are being made. */
struct flight {
    sweep *s;             /* the sweep */
    io_recording *file;   /* of finished runs; NULL: none */
    progress bar;         /* of the steps of all runs */
    int64_t steps, total; /* steps made, and to be made */
    int64_t next;         /* the next run to be made: value * replicas + replica */
    int status;           /* of the first run that failed */
    pthread_mutex_t lock; /* guards all above, and the reports of errors */
    int n;                /* number of lanes */
    struct lane *lane;    /* [n] the lanes */
};

/** sweep_progress: count the steps. */
static int count_steps(void *user, int64_t steps)
{
    struct flight *f = user;
    pthread_mutex_lock(&f->lock);
    f->steps += steps;
    f->bar.items = f->steps;
    const int stop = progress_watch(&f->bar, f->steps, f->total) || f->status != STATUS_OK;
    pthread_mutex_unlock(&f->lock);
    return stop;
}

/** Make runs until there are no more. */
static void *make_runs(void *user)
{
    struct lane *lane = user;
    struct flight *f = lane->all;
    sweep *s = f->s;
    const int64_t replicas = s->task->replicas, runs = s->n * replicas;
    pthread_mutex_lock(&f->lock);
    while (f->status == STATUS_OK) {
        while (f->next < runs && s->result[f->next].done) {
            f->next++;
        }
        if (f->next == runs) {
            break;
        }
        const int64_t run = f->next++;
        const int value = (int)(run / replicas);
        sweep_result result;
        pthread_mutex_unlock(&f->lock);
        const int status = sweep_run(s, lane->ctx, value, run % replicas, count_steps, f, &result);
        pthread_mutex_lock(&f->lock);
        if (status == STATUS_OK) {
            s->result[run] = result;
        }
        const int kept = status == STATUS_OK ? sweep_keep(s, value, run % replicas, f->file)
                                             : status;
        f->status = f->status == STATUS_OK ? kept : f->status;
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/** Open the contexts of the lanes; the first one is `ctx`. Fewer serve where there is no memory. */
static void open_lanes(struct flight *f, kith_ctx *ctx, int wanted)
{
    f->lane[0] = (struct lane){.all = f, .ctx = ctx};
    f->n = 1;
    while (f->n < wanted) {
        struct lane *lane = &f->lane[f->n];
        lane->all = f;
        if (!engine_open_lane(ctx, &lane->ctx)) {
            break;
        }
        if (pthread_create(&lane->thread, NULL, make_runs, lane) != 0) {
            kith_close(lane->ctx);
            break;
        }
        f->n++;
    }
}

/** Return how many runs are made at one time. */
static int lanes_for(const sweep *s, int threads, bool cpu)
{
    int64_t most = 0;
    for (int v = 0; v < s->n; v++) {
        most = s->value[v].boids > most ? s->value[v].boids : most;
    }
    const int64_t left = s->n * s->task->replicas - s->found;
    const bool small = cpu && most <= MOST_SIDE_BY_SIDE;
    return !small || left < 1 ? 1 : left < threads ? (int)left : threads;
}

/** Make all runs that are not done. @return exit status, reported but for STATUS_INTERRUPTED */
static int make_all(sweep *s, io_recording *file)
{
    struct flight f = {.s = s, .file = file, .lock = PTHREAD_MUTEX_INITIALIZER};
    options o = s->task->shared;
    kith_ctx *ctx = NULL;
    CLI_TRY(engine_open(&o, progress_watch_interrupt, NULL, &ctx));
    s->engine = engine_words(ctx);
    s->lanes = lanes_for(s, kith_threads(ctx), strncmp(kith_backend(ctx), "cpu", 3) == 0);
    if (s->lanes > 1) {
        kith_close(ctx);
        o.threads = 1;
        CLI_TRY(engine_open(&o, progress_watch_interrupt, NULL, &ctx));
    }
    f.lane = calloc((size_t)s->lanes, sizeof *f.lane);
    f.total = (s->n * s->task->replicas - s->found) *
              (s->task->equilibrate + s->samples * s->every);
    f.bar = progress_start("sweeping", "steps", 0, s->task->shared.quiet);
    if (f.lane) {
        open_lanes(&f, ctx, s->lanes);
        (void)make_runs(&f.lane[0]);
        for (int k = 1; k < f.n; k++) {
            pthread_join(f.lane[k].thread, NULL);
            kith_close(f.lane[k].ctx);
        }
        s->lanes = f.n;
    } else {
        f.status = report_no_memory("the runs");
    }
    s->seconds = progress_end(&f.bar);
    s->steps = f.steps;
    free(f.lane);
    kith_close(ctx);
    return f.status;
}

/** Start a flock of a value, note what its runs share, and drop it.
 *  @param[out] sum  checksum of its positions and velocities   @return exit status, reported */
static int try_value(sweep *s, kith_ctx *ctx, int v, int64_t replica, uint64_t *sum)
{
    sweep_flock flock;
    const int status = sweep_open(s, ctx, v, replica, &flock);
    if (status == STATUS_OK) {
        const io_particles *p = &flock.run.in.particles;
        const int64_t bytes = 3 * p->n * (int64_t)p->precision;
        s->box = flock.run.box;
        s->precision = p->precision;
        s->dim = p->dim;
        s->value[v].boids = p->n;
        s->start = io_sum(p->pos, bytes);
        *sum = s->start ^ io_sum(p->velocity, bytes);
    }
    sweep_close(&flock);
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
 *  @return exit status, reported */
static int try_values(sweep *s)
{
    options o = s->task->shared;
    kith_ctx *ctx = NULL;
    o.threads = 1;
    CLI_TRY(engine_open(&o, progress_watch_interrupt, NULL, &ctx));
    int status = STATUS_OK;
    for (int v = s->n - 1; v >= 0 && status == STATUS_OK; v--) { /* s->start is of the first */
        uint64_t sum = 0;
        status = try_value(s, ctx, v, 0, &sum);
        status = status == STATUS_OK ? check_replicas(s, ctx, v, sum) : status;
    }
    kith_close(ctx);
    return status;
}

/** Make the runs, and write the curves of those that are done. */
static int fly(sweep *s, io_recording **file)
{
    CLI_TRY(try_values(s));
    s->result = calloc((size_t)(s->n * s->task->replicas), sizeof *s->result);
    if (!s->result) {
        return report_no_memory("the runs");
    }
    CLI_TRY(sweep_load(s, file));
    const int made = make_all(s, *file);
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
    if (task->restart) {
        CLI_TRY(report_lock(task->restart, IO_LOCK_BESIDE, &lock));
    }
    int status = fly(task->swept, &file);
    const io_status closed = io_recording_close(file, &error);
    status = status == STATUS_OK ? report_io(closed, &error, true) : status;
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
        free(s);
    }
}
