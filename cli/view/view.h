/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith view` was asked and what it shows: passed from step to step.
 */
#ifndef KITH_CLI_VIEW_H
#define KITH_CLI_VIEW_H

#include <pool.h>
#include "film/film.h"
#include "common/input.h"
#include "common/space.h"
#include "viewer.h"

/** What was asked: the values of the options. */
typedef struct view_task {
    options shared;
    const char *file;   /**< path of the particles or trajectory */
    const char *labels; /**< --labels: file of the group of each particle; NULL: none */
    double link;        /**< --link: linking length of groups to find [length]; 0: find none */
    int64_t members;    /**< --members: smaller groups are dropped */
    film_options film;  /**< options of --record; turn is NAN if not given */
} view_task;

/** What is shown. */
typedef struct view_run {
    io_trajectory *trajectory; /**< of a file with several frames; else NULL */
    int64_t frame, frames;     /**< index of the frame that is shown; number of frames */
    double step;               /**< step of the frame; NAN: the file has none */
    int64_t next;              /**< index of the frame that the trajectory returns next */
    input in;                  /**< particles of a file with one frame */
    const io_particles *now;   /**< particles that are shown, borrowed from one of these */
    space space;               /**< the box of the frame */
    kith_ctx *ctx;             /**< the library */
    struct kith__pool *pool;   /**< threads that make messages */
    kith_groups groups;        /**< groups of the frame */
    int32_t *labels;           /**< labels read from a file, to which groups.labels then points */
    kith_halos halos;          /**< measures of the groups */
    viewer_tags tags;          /**< their colours */
    int64_t inspected;         /**< index, among those sent, of the selected particle; -1: none */
    int64_t particles;         /**< number of particles of the frame before */
    kith_box shown;            /**< the box; open axes are closed around the particles */
    web_server *server;        /**< the live view */
    web_choice choice;         /**< particles that are sent */
    web_colour colour;         /**< what colours mean */
    uint32_t epoch;    /**< web_scene.epoch: a new number where particles are not those of before */
    bool again;        /**< the points must be sent again */
    char message[512]; /**< error shown on the page; "": none */
} view_run;

/** Count the frames of the file. @return exit status, reported */
int view_start(const view_task *task, view_run *run);

/** Read a frame to be shown. On failure the current frame stays if possible, and run->message has
 *  the error.
 *  @return exit status, not reported. */
int view_go_to(const view_task *task, view_run *run, int64_t frame);

/** Find or read the groups of the frame, and measure them. @return as view_go_to. */
int view_group(const view_task *task, view_run *run);

/** The largest groups, for the page. */
json_t *view_groups_json(const view_run *run);

/** g(r) of the frame, for the page; NULL: the frame has no density. */
json_t *view_plot_json(view_run *run);

/** Make a film of the frames; the first one is read already. @return exit status, reported */
int view_record(const view_task *task, view_run *run);

void view_end(view_run *run);

#endif
