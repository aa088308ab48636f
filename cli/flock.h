/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith flock` was asked and how its run goes: passed from step to step.
 */
#ifndef KITH_CLI_FLOCK_H
#define KITH_CLI_FLOCK_H

#include "film.h"
#include "input.h"
#include "options.h"
#include "recording.h"
#include "space.h"

typedef struct flock_task {
    options shared;
    film_options film;
    const char *input; /**< NULL: --boids */
    int64_t boids;     /**< 0 without */
    int dim;           /**< of --boids */
    kith_flock_options model;
    kith_flock_thing things[KITH_MOST_THINGS];
    int64_t steps;                                      /**< -1 until given */
    int64_t measure_every, record_every, restart_every; /**< 0: at the end alone; -1: by default */
    double flock_length; /**< linking length of flocks; 0: by default */
    int64_t flock_members;
    const char *measures, *restart, *plot; /**< files */
    char *parameters;                      /**< text of --parameters, which options borrow from */
} flock_task;

/** What was measured at one step. */
typedef struct flock_sample {
    int64_t step;
    kith_flock_measures all;
    int64_t flocks, largest;
} flock_sample;

typedef struct flock_run {
    input in; /**< the particles: at the start, then at each look */
    space space;
    kith_ctx *ctx;
    kith_flock *flock;
    kith_groups groups;
    io_recording *record, *measures;
    film *film;
    int64_t record_bytes, measures_bytes; /**< written and safe */
    bool resumed;
    int64_t first, step; /**< the run's first step, and where it stands */
    flock_sample *samples;
    int64_t n_samples, room;
    double seconds; /**< of stepping */
} flock_run;

/** Put the particles in place: from the restart file, INPUT or the seed. @return an exit status,
 *  reported. */
int flock_start(flock_task *task, flock_run *run);

/** Fly, measure and record to the end. @return an exit status, reported. */
int flock_fly(const flock_task *task, flock_run *run);

/** Write the restart file. @return an exit status, reported. */
int flock_save(const flock_task *task, const flock_run *run);

/** Take particles, step and lengths of files from the restart file, if there is one. @return an
 *  exit status, reported. */
int flock_load(flock_task *task, flock_run *run);

void flock_print_sample(const flock_sample *sample);
json_t *flock_sample_json(const flock_sample *sample);
void flock_print_summary(const flock_task *task, const flock_run *run);
json_t *flock_summary_json(const flock_task *task, const flock_run *run);

/** Can a picture of this name be drawn? Its ending is .png, .svg or .pdf. */
bool flock_plot_named(const char *path);

/** Draw the measures over time through gnuplot. @return an exit status, reported. */
int flock_plot(const flock_task *task, const flock_run *run);

#endif
