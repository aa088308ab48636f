/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith flock` was asked and how its run goes: passed from step to step.
 */
#ifndef KITH_CLI_FLOCK_H
#define KITH_CLI_FLOCK_H

#include "film/film.h"
#include "common/input.h"
#include "common/options.h"
#include "trajectories/recording.h"
#include "common/space.h"

/** How the flock moves from a step on. */
typedef struct flock_stage {
    int64_t step;
    kith_flock_options model; /**< things: see flock_model_of */
    kith_flock_thing things[KITH_MOST_THINGS];
    kith_flock_thing given[KITH_MOST_THINGS]; /**< the things as the options gave them */
    int64_t kept; /**< of the things those of the stage before: they stand where they went */
} flock_stage;

typedef struct flock_task {
    options shared;
    film_options film;
    const char *input; /**< NULL: --boids */
    int64_t boids;     /**< 0 without */
    int dim;           /**< of --boids */
    flock_stage start;
    int64_t steps;                                      /**< -1 until given */
    int64_t measure_every, record_every, restart_every; /**< 0: at the end alone; -1: by default */
    double flock_length;   /**< linking length of flocks; 0: by default */
    double flock_velocity; /**< that of velocities; 0: they do not matter */
    int64_t flock_members;
    double r_max;                          /**< of g(r); 0: by default */
    int64_t bins;                          /**< 0: no g(r) */
    const char *measures, *restart, *plot; /**< files */
    bool restart_change; /**< a resumed run may have other options than the restart file */
    double time_before;  /**< the restart file's time less that of these options at its step */
    bool view;           /**< in a browser */
    bool endless;        /**< until Ctrl-C */
    const char *parameters_file; /**< --parameters; NULL: none */
    char *parameters;            /**< its text, which options borrow from */
    const char **change;         /**< [n_changes] texts of --at */
    int64_t n_changes;
    flock_stage *stage; /**< [n_stages] by step; the first is `start` */
    int64_t n_stages;
} flock_task;

/** What was measured at one step. */
typedef struct flock_sample {
    int64_t step;
    kith_flock_measures all;
    int64_t flocks, largest;
} flock_sample;

enum { FLOCK_LOCKS = 3 }; /**< of --restart, --output and --measures */

typedef struct flock_run {
    input in;       /**< the particles: at the start, then at each look */
    kith_box box;   /**< as it was given */
    kith_box space; /**< axes with walls are open */
    kith_ctx *ctx;
    kith_flock *flock;
    int64_t stage;      /**< which holds now */
    kith_groups groups; /**< of the last sample, as g */
    double *g;          /**< [bins]; NULL: none is wanted, or there is no density */
    double r_max;
    io_lock *locks[FLOCK_LOCKS];
    int n_locks;
    io_recording *record, *measures;
    film *film;
    io_mark record_mark, measures_mark; /**< written and safe */
    bool resumed;
    int64_t saved;       /**< the step that the restart file holds; -1: it holds none */
    int64_t first, step; /**< the run's first step, and where it stands */
    flock_sample *samples;
    int64_t n_samples, room;
    double seconds;          /**< of stepping */
    struct flock_view *view; /**< NULL: none */
    bool left;               /**< an endless run was ended */
    bool interrupted;        /**< by a signal, before the last step */
    int64_t frames, shown;   /**< frames that were recorded, and added to the film, by this run */
    int64_t last_frame, last_shown; /**< and the step of the last of each */
} flock_run;

/** The options of a stage. */
kith_flock_options flock_model_of(const flock_stage *stage);

/** The stage that a step after `step` belongs to. */
int64_t flock_stage_at(const flock_task *task, int64_t step);

/** The time that has passed by a step. */
double flock_time(const flock_task *task, int64_t step);

/** Put the particles in place: from the restart file, INPUT or the seed.
 *  @return exit status, reported */
int flock_start(flock_task *task, flock_run *run);

/** Fly, measure and record to the end. @return exit status, reported */
int flock_fly(const flock_task *task, flock_run *run);

/** Keep other runs from a file, until the locks are released. @return exit status, reported */
int flock_lock(flock_run *run, const char *path, io_lock_kind kind);

/** Open the context's flock with the particles as they are. @return exit status, reported */
int flock_open(const flock_task *task, flock_run *run);

/** Go some steps, timed. */
kith_status flock_step(flock_run *run, int64_t steps);

/** Do steps cross no more than half the box? */
bool flock_steps_fit(const kith_flock_options *model, const kith_box *box);

/** Serve the live view, and print its address. The task is steered from there. @return an exit
 *  status, reported. */
int flock_view_open(flock_task *task, flock_run *run);

/** Go up to so many steps, as viewers wish. Comes back earlier after a reset, or an interrupt. */
kith_status flock_view_advance(flock_run *run, int64_t steps);
void flock_view_close(flock_run *run);

/** Write the restart file. @return exit status, reported */
int flock_save(const flock_task *task, const flock_run *run);

/** Take a sample of the flock, whose state was read; run->groups are its flocks then. */
kith_status flock_take_sample(const flock_task *task, flock_run *run, flock_sample *out);

/** Measure the flock, whose state was read: keep the sample, write it.
 *  @return exit status, reported */
int flock_measure(const flock_task *task, flock_run *run);

/** Say how far an interrupted run came, and what its files hold. @return the exit status */
int flock_report_interrupted(const flock_task *task, const flock_run *run);

void flock_print_summary(const flock_task *task, const flock_run *run);
json_t *flock_summary_json(const flock_task *task, const flock_run *run);

/** Draw the measures over time through gnuplot. @return exit status, reported */
int flock_plot(const flock_task *task, const flock_run *run);

#endif
