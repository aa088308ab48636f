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

enum { FLOCK_SPECIES = 8 }; /**< most species of the command's boids */

/** A stage: the model of the flock from a step on. Things are points, obstacles and predators. */
typedef struct flock_stage {
    int64_t step;             /**< first step of the stage */
    kith_flock_options model; /**< the model; its things are set by flock_model_of */
    kith_flock_thing things[KITH_MOST_THINGS]; /**< [model.n_things] at the start of the stage */
    kith_flock_thing given[KITH_MOST_THINGS];  /**< [model.n_things] as the options give them */
    /** [species of the boids][species that they heed], of which n_species are in use. */
    kith_flock_factors heed[FLOCK_SPECIES][FLOCK_SPECIES];
    /** [n_species][n_species] the ones in use, as model.factors; flock_lay_out sets it. */
    kith_flock_factors factors[FLOCK_SPECIES * FLOCK_SPECIES];
    bool named[FLOCK_SPECIES][FLOCK_SPECIES]; /**< --heed gave these; --heed-others leaves them */
    bool strength;  /**< --repulsion gave K; without, that of the preset or the default stays */
    int64_t heeded; /**< number of species that --heed names: the largest that it was given, + 1 */
    const char *flat; /**< option of a thing that was given two coordinates; NULL: none */
    int64_t kept;     /**< the first things are those of the stage before, and keep their places */
} flock_stage;

/** What was asked: the values of the options. */
typedef struct flock_task {
    options shared;
    film_options film;           /**< --record and --film-... */
    const char *input;           /**< path of the particles at the start; NULL: --boids */
    const char *preset;          /**< --preset: name of a set of options; NULL: none */
    bool preset_gaussian;        /**< the preset gave --gaussian */
    int64_t boids;               /**< --boids: number of random particles; 0: INPUT */
    int dim;                     /**< --dim of these particles */
    flock_stage start;           /**< the model at step 0 */
    int64_t steps;               /**< --steps; -1: not given */
    int64_t measure_every;       /**< steps between measures; 0: at the end alone; -1: by default */
    int64_t record_every;        /**< steps between frames; values as of measure_every */
    int64_t restart_every;       /**< steps between restart files; values as of measure_every */
    double flock_length;         /**< linking length of flocks [length]; 0: by default */
    double flock_velocity;       /**< linking length of velocities; 0: positions alone */
    int64_t flock_members;       /**< smaller groups are no flocks */
    double r_max;                /**< range of g(r) [length]; 0: by default */
    int64_t bins;                /**< bins of g(r); 0: no g(r) */
    const char *measures;        /**< --measures: file of measures; NULL: none */
    const char *restart;         /**< --restart: restart file; NULL: none */
    const char *plot;            /**< --plot: file of the figure; NULL: none */
    bool restart_change;         /**< options of a resumed run may differ from the restart file's */
    double time_before;          /**< time of the restart file - time by flock_time at its step */
    bool view;                   /**< --view: live view in a browser */
    bool endless;                /**< the run has no last step, and ends by Ctrl-C */
    const char *parameters_file; /**< --parameters; NULL: none */
    char *parameters;            /**< text of that file, from which options are borrowed */
    const char **change;         /**< [n_changes] values of --at */
    int64_t n_changes;           /**< number of --at */
    flock_stage *stage;          /**< [n_stages] in order of steps; the first is `start` */
    int64_t n_stages;            /**< number of stages */
    const char *sweep;           /**< --sweep: NAME=VALUES; NULL: one run */
    int64_t replicas;            /**< --replicas: runs of each value of a sweep */
    int64_t equilibrate, sample; /**< steps of a run of a sweep: before, and with samples */
    struct sweep *swept;         /**< the sweep (sweep.h); NULL: one run */
} flock_task;

/** What was measured at one step. */
typedef struct flock_sample {
    int64_t step;            /**< the step */
    kith_flock_measures all; /**< of all boids */
    int64_t flocks, largest; /**< number of flocks, and boids of the largest */
} flock_sample;

enum { FLOCK_LOCKS = 3 }; /**< of --restart, --output and --measures */

/** The state of a run. */
typedef struct flock_run {
    input in;            /**< the particles as they were last read from the flock */
    kith_box box;        /**< the box as it was given */
    kith_box space;      /**< the box with its walled axes open, for measures */
    kith_ctx *ctx;       /**< the library */
    struct ranks *ranks; /**< the ranks that step the flock; NULL: ctx alone */
    kith_flock *flock;   /**< the flock; NULL where ranks have it */
    int64_t stage;       /**< index of the current stage */
    kith_groups groups;  /**< flocks of the last sample */
    double *g;           /**< [bins] g(r) of the last sample; NULL: not asked for, or no density */
    int64_t peak;        /**< bin of the highest g among those of enough pairs; -1: none */
    double r_max;        /**< range of g(r) [length] */
    uint8_t *species;    /**< [particles] their species; NULL: the model has none */
    char species_name[FLOCK_SPECIES][IO_NAME_LENGTH]; /**< names in INPUT; "": none */
    io_lock *locks[FLOCK_LOCKS];                      /**< [n_locks] */
    int n_locks;                                      /**< number of locks that are held */
    io_recording *record;                             /**< --output; NULL: none */
    io_recording *measures;                           /**< --measures; NULL: none */
    film *film;                                       /**< --record; NULL: none */
    io_mark record_mark, measures_mark; /**< ends of what is safely on disk of these files */
    bool resumed;                       /**< the run continues from a restart file */
    int64_t saved;                      /**< step that the restart file holds; -1: it holds none */
    int64_t first, step;                /**< first step of the run; current step */
    flock_sample *samples;              /**< [n_samples] in order of steps */
    int64_t n_samples, room;            /**< number of samples, and for how many there is room */
    double seconds;                     /**< time of stepping [s] */
    struct flock_view *view;            /**< live view; NULL: none */
    bool left;                          /**< an endless run was ended */
    bool interrupted;                   /**< a signal ended the run before its last step */
    int64_t frames, last_frame; /**< frames recorded by this run, and the step of the last one */
} flock_run;

/** Set the factors of a stage that are in use, after its options have changed; ends the command if
 *  the options of species do not fit each other. */
void flock_lay_out(flock_stage *stage);

/** Set the model to its defaults: those of the library, and species that heed all. */
void flock_stage_init(flock_stage *stage);

/** The options of a stage, with the species of the particles of a run. */
kith_flock_options flock_model_of(const flock_stage *stage, const flock_run *run);

/** Name of preset k; NULL: there are not so many. */
const char *flock_preset_name(int k);

/** Make the task, which has one stage and no INPUT, that of a preset; its seed stays.
 *  @return false: no preset has this name */
bool flock_use_preset(flock_task *task, const char *name);

/** The things of the flock as they are now, to be drawn in the box: predators fly on beyond it, and
 *  all but walls act by their nearest images.
 *  @param[out] things  [KITH_MOST_THINGS]   @return their number */
int64_t flock_things_now(const flock_task *task, const flock_run *run, kith_flock_thing *things);

/** The stage of the step after `step`. */
int64_t flock_stage_at(const flock_task *task, int64_t step);

/** The time that has passed by a step. */
double flock_time(const flock_task *task, int64_t step);

/** Refuse options that would do nothing for the particles that were placed.
 *  @return exit status, reported */
int flock_check_input(const flock_task *task, const flock_run *run);

/** Refuse things with two coordinates in 3-D. @return exit status, reported */
int flock_check_flat(const flock_task *task, int dim);

/** Place the particles: from the restart file, from INPUT, or at random.
 *  @return exit status, reported */
int flock_start(flock_task *task, flock_run *run);

/** Step, measure and record to the end. @return exit status, reported */
int flock_fly(const flock_task *task, flock_run *run);

/** Lock a file against other runs, until the locks are released. @return exit status, reported */
int flock_lock(flock_run *run, const char *path, io_lock_kind kind);

/** Open the flock with the current particles. flock_status reports a failure. */
kith_status flock_launch(const flock_task *task, flock_run *run);

/** Open the flock, and check the models of all stages.
 *  @return exit status, reported, an interruption not */
int flock_open(const flock_task *task, flock_run *run);

/** Report a failed call on the flock, an interruption not. @param about  as report_kith
 *  @return exit status */
int flock_status(const flock_run *run, kith_status status, const char *about);

/** Make steps, and add to run->seconds. */
kith_status flock_step(flock_run *run, int64_t steps);

/** Return true when a step at the largest speed is at most half a side of the box, along each axis
 *  that is periodic or reflecting. */
bool flock_steps_fit(const kith_flock_options *model, const kith_box *box);

/** Serve the live view, and print its address. Viewers may change the task. @return an exit
 *  status, reported. */
int flock_view_open(flock_task *task, flock_run *run);

/** Make up to `steps` steps, at the speed that viewers set. Returns earlier after a reset or an
 *  interrupt. */
kith_status flock_view_advance(flock_run *run, int64_t steps);
void flock_view_close(flock_run *run);

/** Write the restart file. @return exit status, reported */
int flock_save(const flock_task *task, const flock_run *run);

/** Measure the flock, whose state was read to run->in; set run->groups. */
kith_status flock_take_sample(const flock_task *task, flock_run *run, flock_sample *out);

/** Measure the flock, whose state was read to run->in; store the sample and write it.
 *  @return exit status, reported */
int flock_measure(const flock_task *task, flock_run *run);

/** Report the step at which a run was interrupted, and what its files hold. @return exit status */
int flock_report_interrupted(const flock_task *task, const flock_run *run);

void flock_print_summary(const flock_task *task, const flock_run *run);
json_t *flock_summary_json(const flock_task *task, const flock_run *run);

/** Draw the measures over time through gnuplot. @return exit status, reported */
int flock_plot(const flock_task *task, const flock_run *run);

#endif
