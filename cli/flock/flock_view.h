/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The live view of a flock: what its parts share.
 */
#ifndef KITH_CLI_FLOCK_VIEW_H
#define KITH_CLI_FLOCK_VIEW_H

#include "flock.h"
#include "view/viewer.h"

#include <pthread.h>

enum { VIEW_ROWS = 512, VIEW_COLUMNS = 7 };

/** Work for viewers that may take a share of the time alone. */
typedef struct view_share {
    double share; /**< of all time */
    double cost;  /**< of the last time [s] */
    double next;  /**< not before, by the clock */
} view_share;

/** Points on their way from the flock to viewers: taken at a step, handed over when they are there,
 *  and made a message of by a thread of its own, while the flock goes on. */
typedef struct view_points {
    web_server *server;
    web_choice choice;
    int64_t chosen;          /**< of the choice, by the flock; -1: not yet */
    bool taken;              /**< the flock's glance waits to be handed over */
    bool beside;             /**< the thread has cores for itself: the flock is on a GPU */
    web_scene scene;         /**< what was taken; the thread's while it is busy, as is the frame */
    struct kith__pool *pool; /**< threads that make messages; opened with the first */
    kith_box frame;          /**< the box that is shown */
    double most_speed;
    int32_t *labels; /**< [chosen] of the groups found at step labelled */
    int64_t labelled;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool runs, busy, ends; /**< the thread: is there, has something to do, is to end */
    bool failed;           /**< there was no room for the message */
    size_t bytes;          /**< of the last message */
} view_points;

typedef struct flock_view {
    flock_task *task;
    web_server *server;
    view_points points;
    web_colour colour;
    uint32_t epoch;
    bool paused, announced;    /**< announced: viewers know the state */
    int64_t ahead;             /**< steps to go although paused */
    double limit;              /**< steps a second; 0: none */
    double due;                /**< the next step is, by the clock */
    double step_seconds;       /**< of the last ones, each */
    view_share glance, sample; /**< work for viewers */
    double taking;             /**< what taking the last points took [s] */
    int64_t shown, sampled;    /**< the step whose points, measures were sent last; -1: none */
    double last_shown, last_sample, last_state; /**< by the clock */
    int64_t rate_step;
    double rate; /**< steps a second, of late */
    float curve[VIEW_ROWS][VIEW_COLUMNS];
    int rows, skip, skipped; /**< of samples, one in skip is kept */
    char message[256];       /**< what viewers are told */
    bool reset;              /**< a reset was asked for */
    uint64_t seed;           /**< the seed that the reset starts from */
} flock_view;

/** Start the thread. @return success */
bool flock_points_open(view_points *points, web_server *server);

/** Take those that viewers want as they are. @return whether there is something to hand over */
bool flock_points_take(flock_view *view, flock_run *run);

/** Hand over what was taken. Waits until it has come from the flock, and for the message too where
 *  the thread takes its cores from it. */
void flock_points_hand_over(view_points *points, flock_run *run);

/** How far the last message has come. */
typedef enum view_progress { VIEW_IDLE, VIEW_FAILED, VIEW_TAKEN, VIEW_BUSY } view_progress;
view_progress flock_points_progress(view_points *points);

/** Wait for the thread and forget the flock, which is about to be closed. */
void flock_points_forget(view_points *points);
void flock_points_close(view_points *points);

/** The stage that holds now. */
flock_stage *flock_view_stage(const flock_view *view, const flock_run *run);

/** The rules as sliders. */
json_t *flock_view_rules(const flock_view *view, const flock_run *run);

/** Set rules: an object of names and numbers. What is wrong is said in view->message. */
void flock_view_set_rules(flock_view *view, flock_run *run, json_t *wanted);

#endif
