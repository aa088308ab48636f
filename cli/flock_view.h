/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The live view of a flock: what its parts share.
 */
#ifndef KITH_CLI_FLOCK_VIEW_H
#define KITH_CLI_FLOCK_VIEW_H

#include "flock.h"
#include "viewer.h"

enum { VIEW_ROWS = 512, VIEW_COLUMNS = 7 };

/** Work for viewers that may take a share of the time alone. */
typedef struct view_share {
    double share; /**< of all time */
    double cost;  /**< of the last time [s] */
    double next;  /**< not before, by the clock */
} view_share;

typedef struct flock_view {
    flock_task *task;
    web_server *server;
    web_choice choice;
    kith_box frame; /**< the box that is shown */
    web_colour colour;
    uint32_t epoch;
    bool paused, announced;    /**< announced: viewers know the state */
    int64_t ahead;             /**< steps to go although paused */
    double limit;              /**< steps a second; 0: none */
    double due;                /**< the next step is, by the clock */
    double step_seconds;       /**< of the last ones, each */
    view_share points, sample; /**< work for viewers */
    int64_t shown, sampled;    /**< the step whose points, measures were sent last; -1: none */
    double last_shown, last_sample, last_state; /**< by the clock */
    int64_t rate_step;
    double rate; /**< steps a second, of late */
    float curve[VIEW_ROWS][VIEW_COLUMNS];
    int rows, skip, skipped; /**< of samples, one in skip is kept */
    char message[256];       /**< what viewers are told */
    bool reset;              /**< a reset was asked for, */
    uint64_t seed;           /**< with this seed */
} flock_view;

/** The stage that holds now. */
flock_stage *flock_view_stage(const flock_view *view, const flock_run *run);

/** The rules as sliders. */
json_t *flock_view_rules(const flock_view *view, const flock_run *run);

/** Set rules: an object of names and numbers. What is wrong is said in view->message. */
void flock_view_set_rules(flock_view *view, flock_run *run, json_t *wanted);

#endif
