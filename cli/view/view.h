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

typedef struct view_task {
    options shared;
    const char *file;
    const char *labels; /**< file of the group of each particle; NULL: none */
    double link;        /**< linking length of groups to be found; 0: none */
    int64_t members;    /**< smaller groups are none */
    film_options film;  /**< its turn NAN: not chosen */
} view_task;

typedef struct view_run {
    io_trajectory *trajectory;   /**< of files with several frames */
    int64_t frame, frames, next; /**< shown; in all; that the trajectory gives next */
    input in;                    /**< of files with one frame */
    const io_particles *now;     /**< what is shown, borrowed from one of them */
    space space;
    kith_ctx *ctx;
    struct kith__pool *pool; /**< threads that make messages */
    kith_groups groups;
    int32_t *labels; /**< read from a file, and then what groups.labels points to */
    kith_halos halos;
    kith_box shown; /**< with open axes closed around the particles */
    web_server *server;
    web_choice choice;
    web_colour colour;
    uint32_t epoch;
    bool again; /**< the points are to be sent once more */
    char message[512];
} view_run;

/** Find out how many frames there are. @return an exit status, reported. */
int view_start(const view_task *task, view_run *run);

/** Go to a frame. On failure the one before stays if it can, and run->message says what is wrong.
 *  @return an exit status, not reported. */
int view_go_to(const view_task *task, view_run *run, int64_t frame);

/** Find or read the groups of the frame, and measure them. @return as view_go_to. */
int view_group(const view_task *task, view_run *run);

/** Groups for the page: the largest of them. */
json_t *view_groups_json(const view_run *run);

/** g(r) of the frame for the page; NULL where there is none. */
json_t *view_plot_json(view_run *run);

/** Make a film of the frames, the first of which is there. @return an exit status, reported. */
int view_record(const view_task *task, view_run *run);

void view_end(view_run *run);

#endif
