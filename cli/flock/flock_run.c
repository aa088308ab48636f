/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The run of a flock: from look to look, at which it is measured, recorded or saved.
 */
#include "flock.h"

#include "common/progress.h"
#include "ranks/ranks.h"
#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The next step after `step` that is a multiple of every, or the last. */
static int64_t next_look(int64_t step, int64_t every, int64_t last)
{
    const int64_t next = every > 0 ? (step / every + 1) * every : last;
    return next < last ? next : last;
}

static bool is_look(int64_t step, int64_t every, int64_t last)
{
    return step == last || (every > 0 && step % every == 0);
}

/** The interval that was asked for; if none was (-1), the run's steps in `times` intervals. */
static int64_t interval(int64_t asked, int64_t steps, int64_t times)
{
    return asked >= 0 ? asked : steps > times ? steps / times : 1;
}

static int record(const flock_task *task, flock_run *run)
{
    io_error error = {0};
    io_particles frame = run->in.particles;
    frame.has_box = run->space.row[0][0] != 0;
    frame.box = run->space;
    frame.time = flock_time(task, run->step);
    frame.type = run->species;
    io_things things = {0};
    things.n = flock_things_now(task, run, things.item);
    CLI_TRY(report_io(io_recording_frame(run->record, &frame, &things, run->step, &error), &error,
                      true));
    run->frames++;
    run->last_frame = run->step;
    return STATUS_OK;
}

/** Add the current state to the film.
 *  @param every  steps between frames */
static int show(const flock_task *task, flock_run *run, int64_t every)
{
    char caption[128];
    kith_flock_thing things[KITH_MOST_THINGS];
    snprintf(caption, sizeof caption, "step %s", report_count(run->step).s);
    const int64_t n_things = flock_things_now(task, run, things);
    const film_frame frame = {.particles = &run->in.particles,
                              .box = &run->space,
                              .full_speed = task->start.model.max_speed,
                              .number = every > 0 ? (run->step + every - 1) / every : 0,
                              .step = run->step,
                              .caption = caption,
                              .things = things,
                              .n_things = n_things};
    return film_add(run->film, &frame);
}

/** Flush the recordings to disk, then write the restart file, which refers to them. */
static int save(const flock_task *task, flock_run *run)
{
    io_error error = {0};
    io_status status = IO_OK;
    if (run->record) {
        status = io_recording_sync(run->record, &run->record_mark, &error);
    }
    if (run->measures && status == IO_OK) {
        status = io_recording_sync(run->measures, &run->measures_mark, &error);
    }
    CLI_TRY(report_io(status, &error, true));
    CLI_TRY(flock_save(task, run));
    run->saved = run->step;
    return STATUS_OK;
}

/** Kinds of looks: what is done at some of the steps. */
enum { MEASURE, RECORD, SAVE, SHOW, LOOKS };

int flock_status(const flock_run *run, kith_status status, const char *about)
{
    return status == KITH_CANCELLED ? STATUS_INTERRUPTED
                                    : ranks_status(run->ranks, run->ctx, status, about);
}

/** Read the particles from the flock. */
static int read_state(flock_run *run)
{
    return flock_status(run, ranks_flock_read(run->ranks, run->flock, &run->in.particles), NULL);
}

/** Take the looks that are due at this step. */
static int look(const flock_task *task, flock_run *run, const int64_t every[LOOKS])
{
    const bool fresh = !run->resumed || run->step > run->first; /* else the earlier run did it */
    CLI_TRY(read_state(run));
    if (fresh && is_look(run->step, every[MEASURE], task->steps)) {
        CLI_TRY(flock_measure(task, run));
    }
    if (fresh && run->record && is_look(run->step, every[RECORD], task->steps)) {
        CLI_TRY(record(task, run));
    }
    if (run->film && is_look(run->step, every[SHOW], task->steps)) {
        CLI_TRY(show(task, run, every[SHOW]));
    }
    if (task->restart && is_look(run->step, every[SAVE], task->steps)) {
        CLI_TRY(save(task, run));
    }
    return STATUS_OK;
}

/** Begin the stages that begin at this step. Things that move keep their places. */
static int change(const flock_task *task, flock_run *run)
{
    const int64_t stage = flock_stage_at(task, run->step);
    while (run->stage < stage) {
        kith_flock_thing moved[KITH_MOST_THINGS];
        flock_stage next = task->stage[++run->stage];
        ranks_flock_read_things(run->ranks, run->flock, moved);
        for (int64_t t = 0; t < next.kept; t++) {
            memcpy(next.things[t].place, moved[t].place, sizeof moved[t].place);
        }
        const kith_flock_options model = flock_model_of(&next, run);
        CLI_TRY(flock_status(run, ranks_flock_change(run->ranks, run->flock, &model), NULL));
    }
    return STATUS_OK;
}

/** The earliest step after this one at which a look or a stage is due. */
static int64_t next_stop(const flock_task *task, const flock_run *run, const int64_t every[LOOKS])
{
    const bool wanted[LOOKS] = {true, run->record != NULL, task->restart != NULL,
                                run->film != NULL};
    int64_t next = task->steps;
    for (int k = 0; k < LOOKS; k++) {
        const int64_t at = next_look(run->step, every[k], task->steps);
        next = wanted[k] && at < next ? at : next;
    }
    if (run->stage + 1 < task->n_stages && task->stage[run->stage + 1].step < next) {
        next = task->stage[run->stage + 1].step;
    }
    return next;
}

kith_status flock_step(flock_run *run, int64_t steps)
{
    const double start = progress_clock();
    const kith_status status = ranks_flock_step(run->ranks, run->flock, steps);
    run->seconds += progress_clock() - start;
    run->step = ranks_flock_steps(run->ranks, run->flock);
    return status;
}

/** Step to the end of the run, and take the looks that are due. */
static int go(const flock_task *task, flock_run *run, progress *bar)
{
    const int64_t every[LOOKS] = {[MEASURE] = interval(task->measure_every, task->steps, 10),
                                  [RECORD] = interval(task->record_every, task->steps, 100),
                                  [SAVE] = interval(task->restart_every, task->steps, 10),
                                  [SHOW] = interval(task->record_every, task->steps, 600)};
    int status = look(task, run, every);
    while (status == STATUS_OK && run->step < task->steps && !run->left) {
        const int64_t steps = next_stop(task, run, every) - run->step;
        const kith_status stepped = run->view ? flock_view_advance(run, steps)
                                              : flock_step(run, steps);
        progress_end(bar);
        if (stepped == KITH_CANCELLED && task->restart) {
            CLI_TRY(read_state(run));
            CLI_TRY(save(task, run));
        }
        status = flock_status(run, stepped, NULL);
        if (status == STATUS_OK) {
            status = change(task, run);
        }
        if (status == STATUS_OK && !run->left) {
            status = look(task, run, every);
        }
    }
    run->interrupted = status == STATUS_INTERRUPTED; /* results so far are kept and shown */
    return run->interrupted ? STATUS_OK : status;
}

int flock_lock(flock_run *run, const char *path, io_lock_kind kind)
{
    io_lock *taken = NULL;
    CLI_TRY(report_lock(path, kind, &taken));
    if (taken) {
        run->locks[run->n_locks++] = taken;
    }
    return STATUS_OK;
}

/** Open a recording, to be continued from a mark. */
static int open_recording(flock_run *run, const char *path, const io_mark *from, io_recording **out)
{
    io_error error = {0};
    CLI_TRY(flock_lock(run, path, IO_LOCK_FILE));
    return report_io(io_recording_open(path, from, out, &error), &error, true);
}

static int open_files(const flock_task *task, flock_run *run)
{
    if (task->shared.output) {
        CLI_TRY(open_recording(run, task->shared.output, &run->record_mark, &run->record));
    }
    if (task->measures) {
        CLI_TRY(open_recording(run, task->measures, &run->measures_mark, &run->measures));
    }
    film_options wanted = task->film;
    wanted.threads = task->shared.threads;
    wanted.whole = task->restart != NULL;
    return wanted.path ? film_open(&wanted, run->first, &run->film) : STATUS_OK;
}

/** @param status  of the run until here: a failure was reported, and hides those of closing. */
static int close_files(flock_run *run, int status)
{
    io_error error = {0}, other = {0};
    const io_status record = io_recording_close(run->record, &error);
    const io_status measures = io_recording_close(run->measures, &other);
    CLI_TRY(status);
    CLI_TRY(report_io(record, &error, true));
    return report_io(measures, &other, true);
}

/** Check that the flock accepts the models of all stages, before the first step. */
static int try_stages(const flock_task *task, const flock_run *run)
{
    for (int64_t k = task->n_stages - 1; k >= run->stage && task->n_stages > 1; k--) {
        const kith_flock_options model = flock_model_of(&task->stage[k], run);
        CLI_TRY(flock_status(run, ranks_flock_change(run->ranks, run->flock, &model),
                             report_format("--at %lld", (long long)task->stage[k].step).s));
    }
    return STATUS_OK;
}

kith_status flock_launch(const flock_task *task, flock_run *run)
{
    const io_particles *p = &run->in.particles;
    const kith_points points = input_points(&run->in);
    const kith_points velocities = kith_points_packed(p->velocity, p->n, p->precision);
    run->stage = flock_stage_at(task, run->step);
    kith_flock_options model = flock_model_of(&task->stage[run->stage], run);
    model.first_step = run->step;
    return ranks_flock_open(run->ranks, run->ctx, &points, &velocities, &run->space, &model,
                            &run->flock);
}

int flock_open(const flock_task *task, flock_run *run)
{
    CLI_TRY(flock_status(run, flock_launch(task, run), task->input));
    return try_stages(task, run);
}

int flock_fly(const flock_task *task, flock_run *run)
{
    progress bar = progress_start("flying", "steps", 0, task->shared.quiet);
    CLI_TRY(ranks_open(&task->shared, progress_watch, &bar, &run->ctx, &run->ranks));
    int status = flock_open(task, run);
    if (status == STATUS_INTERRUPTED) { /* before the first step: there are no results to show */
        return report_interrupted(NULL);
    }
    CLI_TRY(status);
    status = open_files(task, run);
    if (status == STATUS_OK) {
        status = go(task, run, &bar);
    }
    progress_end(&bar);
    status = film_finish(run->film, status);
    if (status == STATUS_INTERRUPTED) { /* the film lacks frames of a run that may be complete */
        run->interrupted = true;
        status = STATUS_OK;
    }
    return close_files(run, status);
}
