/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The run of a flock: from look to look, at which it is measured, recorded or saved.
 */
#include "flock.h"

#include "engine.h"
#include "progress.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/** An interval that was asked for, or such that there are `times` of them. */
static int64_t interval(int64_t asked, int64_t steps, int64_t times)
{
    return asked >= 0 ? asked : steps > times ? steps / times : 1;
}

static double flock_length(const flock_task *task)
{
    const kith_flock_options *m = &task->model;
    return task->flock_length > 0                               ? task->flock_length
           : m->model == KITH_BOIDS && m->separation.radius > 0 ? m->separation.radius
                                                                : m->alignment.radius;
}

/** Count flocks: friends-of-friends of positions. */
static int count_flocks(const flock_task *task, flock_run *run, flock_sample *sample)
{
    const double length = flock_length(task);
    kith_fof_options how;
    kith_fof_options_init(&how);
    how.min_members = task->flock_members;
    const kith_points points = input_points(&run->in);
    if (!(length > 0)) {
        return STATUS_OK;
    }
    const kith_status status = kith_fof_find(run->ctx, &points, &run->space.box, length, &how,
                                             &run->groups);
    if (status != KITH_OK) {
        return report_kith(run->ctx, status, NULL);
    }
    sample->flocks = run->groups.n;
    sample->largest = run->groups.n > 0 ? run->groups.members[0] : 0;
    return STATUS_OK;
}

static int keep_sample(flock_run *run, const flock_sample *sample)
{
    if (run->n_samples == run->room) {
        const int64_t room = run->room ? 2 * run->room : 64;
        flock_sample *grown = realloc(run->samples, (size_t)room * sizeof *grown);
        if (!grown) {
            return report_error(STATUS_NO_MEMORY, NULL, "no memory for the measures");
        }
        run->samples = grown;
        run->room = room;
    }
    run->samples[run->n_samples++] = *sample;
    return STATUS_OK;
}

static int write_line(flock_run *run, json_t *value, const char *path)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    io_error error = {0};
    io_status status = IO_NO_MEMORY;
    if (text) {
        status = io_recording_text(run->measures, text, &error);
        status = status == IO_OK ? io_recording_text(run->measures, "\n", &error) : status;
    }
    free(text);
    json_decref(value);
    return status == IO_OK ? STATUS_OK
           : error.status  ? report_io(&error, true)
                           : report_error(STATUS_NO_MEMORY, NULL, "no memory to write %s", path);
}

static int measure(const flock_task *task, flock_run *run)
{
    flock_sample sample = {.step = run->step};
    const kith_status status = kith_flock_measure(run->flock, &sample.all);
    if (status != KITH_OK) {
        return report_kith(run->ctx, status, NULL);
    }
    int exit_status = count_flocks(task, run, &sample);
    if (exit_status == STATUS_OK) {
        exit_status = keep_sample(run, &sample);
    }
    if (exit_status == STATUS_OK && run->measures) {
        exit_status = write_line(run, flock_sample_json(&sample), task->measures);
    }
    if (exit_status == STATUS_OK && task->shared.json) {
        json_t *value = flock_sample_json(&sample);
        json_dumpf(value, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(value);
    } else if (exit_status == STATUS_OK && !task->shared.quiet) {
        flock_print_sample(&sample);
    }
    fflush(stdout);
    return exit_status;
}

static int record(const flock_task *task, flock_run *run)
{
    io_error error = {0};
    io_particles frame = run->in.particles;
    frame.has_box = run->space.box.row[0][0] != 0;
    frame.box = run->space.box;
    frame.time = (double)run->step * task->model.time_step;
    return io_recording_frame(run->record, &frame, run->step, &error) == IO_OK
               ? STATUS_OK
               : report_io(&error, true);
}

/** Show the flock as it is. @param every  steps between frames */
static int show(const flock_task *task, const flock_run *run, int64_t every)
{
    char caption[80];
    snprintf(caption, sizeof caption, "step %s", report_count(run->step).s);
    const film_frame frame = {.particles = &run->in.particles,
                              .box = &run->space.box,
                              .full_speed = task->model.max_speed,
                              .number = every > 0 ? (run->step + every - 1) / every : 0,
                              .caption = caption};
    return film_add(run->film, &frame);
}

/** Bring what was recorded to the disk, then the restart file that counts on it. */
static int save(const flock_task *task, flock_run *run)
{
    io_error error = {0};
    if ((run->record && io_recording_sync(run->record, &run->record_bytes, &error) != IO_OK) ||
        (run->measures &&
         io_recording_sync(run->measures, &run->measures_bytes, &error) != IO_OK)) {
        return report_io(&error, true);
    }
    return flock_save(task, run);
}

/** What is done on the way. */
enum { MEASURE, RECORD, SAVE, SHOW, LOOKS };

/** Do what is due at this step. */
static int look(const flock_task *task, flock_run *run, const int64_t every[LOOKS])
{
    int status = STATUS_OK;
    const bool fresh = !run->resumed || run->step > run->first; /* else it was done before */
    (void)kith_flock_read(run->flock, run->in.particles.pos, run->in.particles.velocity);
    if (is_look(run->step, every[MEASURE], task->steps) && fresh) {
        status = measure(task, run);
    }
    if (status == STATUS_OK && run->record && is_look(run->step, every[RECORD], task->steps) &&
        fresh) {
        status = record(task, run);
    }
    if (status == STATUS_OK && run->film && is_look(run->step, every[SHOW], task->steps)) {
        status = show(task, run, every[SHOW]);
    }
    if (status == STATUS_OK && task->restart && is_look(run->step, every[SAVE], task->steps)) {
        status = save(task, run);
    }
    return status;
}

/** Go to the last step, looking on the way. */
static int go(const flock_task *task, flock_run *run, progress *bar)
{
    const int64_t every[LOOKS] = {[MEASURE] = interval(task->measure_every, task->steps, 10),
                                  [RECORD] = interval(task->record_every, task->steps, 100),
                                  [SAVE] = interval(task->restart_every, task->steps, 10),
                                  [SHOW] = interval(task->record_every, task->steps, 600)};
    const bool wanted[LOOKS] = {true, run->record != NULL, task->restart != NULL,
                                run->film != NULL};
    int status = look(task, run, every);
    while (status == STATUS_OK && run->step < task->steps) {
        int64_t next = task->steps;
        for (int k = 0; k < LOOKS; k++) {
            const int64_t at = next_look(run->step, every[k], task->steps);
            next = wanted[k] && at < next ? at : next;
        }
        const double start = progress_clock();
        const kith_status stepped = kith_flock_step(run->flock, next - run->step);
        run->seconds += progress_clock() - start;
        run->step = kith_flock_steps(run->flock);
        if (stepped == KITH_CANCELLED && task->restart) {
            (void)kith_flock_read(run->flock, run->in.particles.pos, run->in.particles.velocity);
            status = save(task, run);
            progress_end(bar);
            return status != STATUS_OK
                       ? status
                       : report_error(STATUS_INTERRUPTED, "the same command goes on from there",
                                      "interrupted at step %lld; %s was written",
                                      (long long)run->step, task->restart);
        }
        progress_end(bar);
        status = stepped == KITH_OK ? look(task, run, every) : report_kith(run->ctx, stepped, NULL);
    }
    return status;
}

static int open_files(const flock_task *task, flock_run *run)
{
    io_error error = {0};
    const char *output = task->shared.output;
    if ((output && io_recording_open(output, run->record_bytes, &run->record, &error) != IO_OK) ||
        (task->measures &&
         io_recording_open(task->measures, run->measures_bytes, &run->measures, &error) != IO_OK)) {
        return report_io(&error, true);
    }
    film_options wanted = task->film;
    wanted.threads = task->shared.threads;
    return wanted.path ? film_open(&wanted, run->first, &run->film) : STATUS_OK;
}

/** @param status  of the run until here: a failure was reported, and hides those of closing. */
static int close_files(flock_run *run, int status)
{
    io_error error = {0}, other = {0};
    const bool fine = io_recording_close(run->record, &error) == IO_OK;
    const bool both = io_recording_close(run->measures, &other) == IO_OK;
    if (status != STATUS_OK || (fine && both)) {
        return status;
    }
    return report_io(fine ? &other : &error, true);
}

int flock_fly(const flock_task *task, flock_run *run)
{
    progress bar = progress_start("flying", "steps", 0, task->shared.quiet);
    int status = engine_open(&task->shared, &bar, &run->ctx);
    if (status != STATUS_OK) {
        return status;
    }
    const io_particles *p = &run->in.particles;
    const kith_points points = input_points(&run->in);
    const kith_points velocities = kith_points_packed(p->velocity, p->n, p->precision);
    const kith_status opened = kith_flock_open(run->ctx, &points, &velocities, &run->space.box,
                                               &task->model, &run->flock);
    if (opened != KITH_OK) {
        return report_kith(run->ctx, opened, task->input);
    }
    status = open_files(task, run);
    if (status == STATUS_OK) {
        status = go(task, run, &bar);
    }
    progress_end(&bar);
    return close_files(run, film_finish(run->film, status));
}
