/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sweep: one flock flown again and again, over values of one option and over seeds, and what its
 * order parameter, the polarisation, does meanwhile.
 *
 *     sweep.c          the values, and the runs of one process
 *     sweep_crew.c     threads that make runs, some at one time
 *     sweep_ranks.c    runs dealt to several ranks
 *     sweep_run.c      one run: equilibrate, then sample
 *     sweep_saved.c    the file of finished runs, from which a sweep that was killed goes on
 *     sweep_curves.c   from runs to curves with errors
 *     sweep_write.c    the table, the figure and the summary
 *
 * A run depends on its value and its seed alone, so that tables have equal bytes for any number of
 * threads and ranks, and when a sweep was interrupted.
 */
#ifndef KITH_CLI_SWEEP_H
#define KITH_CLI_SWEEP_H

#include "flock.h"

#include "common/report.h"
#include <core/memory_file.h>

enum {
    SWEEP_BLOCKS = 10,       /**< blocks of consecutive samples of a run */
    SWEEP_LOOKS = 20,        /**< times in a run at which flocks and correlations are measured */
    SWEEP_MOST_BOIDS = 20000 /**< boids up to which the correlation length is measured: its pairs
                                  reach through half the box */
};

/** Sums over samples of the order parameter. */
typedef struct sweep_sums {
    int64_t n;     /**< number of samples */
    double sum[3]; /**< sums of its first, second and fourth powers */
} sweep_sums;

/** Means over a run, beside those of the order parameter. */
typedef enum sweep_mean {
    SWEEP_MILLING,    /**< over the samples */
    SWEEP_NEIGHBOURS, /**< over the samples */
    SWEEP_FLOCKS,     /**< number of flocks, over the looks */
    SWEEP_LARGEST,    /**< boids of the largest flock / all boids, over the looks */
    SWEEP_LENGTH,     /**< correlation length, of all looks; NaN: none was found, or measured */
    SWEEP_MEANS
} sweep_mean;

/** What a run gave. */
typedef struct sweep_result {
    bool done;                      /**< the run has ended, and the fields below are set */
    sweep_sums block[SWEEP_BLOCKS]; /**< the samples */
    double time; /**< integrated correlation time of the order parameter [steps]; NaN: it did not
                      vary */
    double mean[SWEEP_MEANS]; /**< the other quantities */
} sweep_result;

/** How a run ended. */
typedef struct sweep_answer {
    int64_t run;         /**< number of the run */
    kith_status status;  /**< KITH_CANCELLED: it was stopped */
    char about[96];      /**< what failed: "--sweep, noise = 0.3" */
    char message[512];   /**< why it failed */
    sweep_result result; /**< what it gave; set with KITH_OK */
} sweep_answer;

/** A value of the option. */
typedef struct sweep_value {
    char text[32];     /**< the value as the option takes it */
    double number;     /**< the value */
    flock_stage stage; /**< the model with it */
    int64_t boids;     /**< --boids with it */
} sweep_value;

/** Columns of the table, behind the value. */
enum {
    SWEEP_ORDER,
    SWEEP_SUSCEPTIBILITY,
    SWEEP_BINDER,
    SWEEP_TIME,
    SWEEP_OTHERS,
    SWEEP_COLUMNS = SWEEP_OTHERS + SWEEP_MEANS /**< the others are the means of sweep_mean */
};

/** A quantity at one value. */
typedef struct sweep_estimate {
    double value;
    double error;  /**< standard error: a jackknife over the blocks of all replicas. NaN: none */
    double spread; /**< standard error of the mean of replicas; NaN where there is one */
} sweep_estimate;

/** A sweep. */
typedef struct sweep {
    const flock_task *task;   /**< what was asked */
    char name[32];            /**< the option that varies, without dashes */
    int n;                    /**< number of values */
    sweep_value *value;       /**< [n] in the order they were given */
    int64_t samples, every;   /**< samples of a run; steps between two */
    kith_box box;             /**< the box */
    kith_precision precision; /**< of the boids */
    int dim;                  /**< of the box */
    bool placed;              /**< boids were placed before: notes on INPUT are not repeated */
    uint64_t start;       /**< checksum of the positions that the first value's runs start from */
    sweep_result *result; /**< [n][task->replicas] */
    sweep_estimate (*estimate)[SWEEP_COLUMNS]; /**< [rows] the curves */
    int *row;                                  /**< [rows] the value of each */
    int rows;                                  /**< values whose runs are all done */
    int64_t found;                             /**< runs that --restart held already */
    io_memory_file others; /**< lines of --restart of runs that are not of this sweep */
    int64_t last;          /**< number of the run of its last line; INT64_MAX: not of this sweep */
    bool shuffled;         /**< its lines are not in the order of the runs */
    double seconds;        /**< time of the runs of this command [s] */
    int64_t steps;         /**< steps that they made */
    int lanes;             /**< runs at one time */
    printed engine;        /**< backend and threads */
} sweep;

/** Make the values of --sweep, or refuse its options where there is none; ends the command where
 *  they are wrong. */
void sweep_check(flock_task *task, struct argp_state *state);

/** Do the sweep of a task. @return exit status, reported */
int sweep_fly(const flock_task *task);

void sweep_free(sweep *s);

/** Called with the steps that a run has just made. @return nonzero: stop the run */
typedef int (*sweep_progress)(void *user, int64_t steps);

/** The flock of one run, and the task that it is flown by. */
typedef struct sweep_flock {
    struct sweep_flock *next; /**< in a list of its holder */
    int64_t number;           /**< of the run: its value * replicas + its replica */
    char about[96];           /**< for errors: "--sweep, noise = 0.3" */
    flock_stage stage;        /**< the model, with the seed of the replica */
    flock_task task;          /**< points to the stage: the struct must not be copied */
    flock_run run;            /**< the state of the run */
} sweep_flock;

/** Place the boids of a run. @param[out] out  sweep_flock_free it, also on failure; NULL: no memory
 *  @return exit status, reported */
int sweep_place(const sweep *s, int value, int64_t replica, sweep_flock **out);
void sweep_flock_free(sweep_flock *flock);

/** Open the flock of a run, equilibrate and sample it.
 *  @param s  its `samples` and `every` are read */
void sweep_run(const sweep *s, sweep_flock *flock, kith_ctx *ctx, sweep_progress told, void *user,
               sweep_answer *out);

/** Open the file of finished runs, and take those of this sweep from it.
 *  @param[out] file  NULL without --restart   @return exit status, reported */
int sweep_load(sweep *s, io_recording **file);

/** Append a finished run to the file, if there is one, and bring it to the disk.
 *  @return exit status, reported */
int sweep_keep(sweep *s, int64_t run, io_recording *file);

/** Put the lines of the file of finished runs, which is closed, in the order of the runs; runs of
 *  other values, or of more replicas, come last. @return exit status, reported */
int sweep_order(const sweep *s);

/** Compute the curves of the values whose runs are all done. @return exit status, reported */
int sweep_make_curves(sweep *s);

/** Return the name of a column: "order". */
const char *sweep_column_name(int column);

/** Write -o and --plot, and print the summary. @return exit status, reported */
int sweep_write(const sweep *s);

/** The curves, for -o FILE.json and --json. */
json_t *sweep_json(const sweep *s);

#endif
