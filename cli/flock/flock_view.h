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

/** Work for viewers that may take a fraction of the time alone. */
typedef struct view_share {
    double share; /**< the fraction of time */
    double cost;  /**< time that the work took last [s] */
    double next;  /**< when it may be done again [s] */
} view_share;

/** Points on their way from the flock to viewers: a glance is taken at a step, read when it is
 *  complete, and encoded as a message by a thread of its own while the flock is stepped on. */
typedef struct view_points {
    web_server *server;      /**< the live view */
    web_choice choice;       /**< particles that are sent */
    int64_t chosen;          /**< number of them, by the flock; -1: not chosen yet */
    bool taken;              /**< a glance was taken and not read yet */
    bool beside;             /**< the thread has cores of its own, as the flock is on a GPU */
    web_scene scene;         /**< the points; owned by the thread while it is busy */
    struct kith__pool *pool; /**< threads that encode messages; opened for the first one */
    kith_box frame;          /**< the box that is shown; owned as the scene is */
    double range[2];         /**< speeds of the first and the last colour; 0, 0: not known yet */
    int32_t *labels;         /**< [chosen] groups of the particles at step `labelled` */
    viewer_tags tags;        /**< their colours */
    int64_t inspected;       /**< index among the chosen of the selected particle; -1: none */
    int64_t labelled;        /**< step of the labels */
    pthread_t thread;        /**< encodes messages */
    pthread_mutex_t lock;    /**< of the fields below */
    pthread_cond_t news;     /**< signalled when one of them changes */
    bool runs;               /**< the thread was started */
    bool busy;               /**< it has a scene to encode */
    bool ends;               /**< it must end */
    bool failed;             /**< memory for the last message was exhausted */
    size_t bytes;            /**< size of the last message */
} view_points;

typedef struct flock_view {
    flock_task *task;          /**< the options, which viewers may change */
    web_server *server;        /**< the server */
    view_points points;        /**< points on their way to viewers */
    web_colour colour;         /**< meaning of the colours */
    uint32_t epoch;            /**< web_scene.epoch */
    int64_t inspected;         /**< index among the points of the selected particle; -1: none */
    bool paused;               /**< no steps are made, except `ahead` */
    bool announced;            /**< viewers were sent the current state */
    int64_t ahead;             /**< steps to make although the run is paused */
    double limit;              /**< steps per second at most; 0: no limit */
    double due;                /**< when the next step may be made, by progress_clock [s] */
    double step_seconds;       /**< time of a step, mean of the last ones [s] */
    view_share glance, sample; /**< shares of time for points, and for measures */
    double taking;             /**< time that taking the last glance took [s] */
    int64_t shown, sampled;    /**< steps whose points, and measures, were sent last; -1: none */
    double last_shown;         /**< when points were sent last [s] */
    double last_sample;        /**< when measures were sent last [s] */
    double last_state;         /**< when the state was sent last [s] */
    int64_t rate_step;         /**< the step then */
    double rate;               /**< steps per second since the state before */
    float curve[VIEW_ROWS][VIEW_COLUMNS]; /**< [rows] samples for the curves of the page */
    int rows, skip, skipped; /**< one sample in `skip` is stored; samples skipped since the last */
    char message[256];       /**< message shown on the page for a while; "": none */
    char held[256];          /**< why the run cannot go on, shown until it does; "": it can */
    char changed[48];        /**< rule that a viewer changed last, as the page names it; "": none */
    bool steered;            /**< a viewer has changed rules or things */
    json_t *things;          /**< the things that viewers were sent last; NULL: none yet */
    bool reset;              /**< a reset was asked for */
    uint64_t seed;           /**< the seed that the reset starts from */
} flock_view;

/** Start the thread. @return success */
bool flock_points_open(view_points *points, web_server *server);

/** Begin a copy of the points that viewers ask for (kith/glance.h). @return true when a copy has
 *  begun */
bool flock_points_take(flock_view *view, flock_run *run);

/** Give the glance to the thread. Waits until it is complete; if the thread has no cores of its
 *  own, also until the message is encoded. */
void flock_points_hand_over(view_points *points, flock_run *run);

/** State of the last message. */
typedef enum view_progress { VIEW_IDLE, VIEW_FAILED, VIEW_TAKEN, VIEW_BUSY } view_progress;
view_progress flock_points_progress(view_points *points);

/** Wait for the thread and drop the glance: the flock is about to be closed. */
void flock_points_forget(view_points *points);
void flock_points_close(view_points *points);

/** The current stage. */
flock_stage *flock_view_stage(const flock_view *view, const flock_run *run);

/** The rules, as values and ranges of sliders. */
json_t *flock_view_rules(const flock_view *view, const flock_run *run);

/** Set rules. @param wanted  an object of names and numbers. Errors go to view->message. */
void flock_view_set_rules(flock_view *view, flock_run *run, json_t *wanted);

/** Make the flock follow another model. @param next  becomes the current stage
 *  @return false: it is refused, and view->message says why */
bool flock_view_change(flock_view *view, flock_run *run, flock_stage *next);

/** Send viewers the things of the current step, where they are not those sent last. */
void flock_view_send_things(flock_view *view, const flock_run *run);

/** Add, move or remove a thing. @param wanted  the command of the page, see docs/view.md. Errors go
 *  to view->message. */
void flock_view_set_thing(flock_view *view, flock_run *run, const json_t *wanted);

#endif
