/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith view` was asked and what it shows: passed from step to step.
 */
#ifndef KITH_CLI_VIEW_H
#define KITH_CLI_VIEW_H

#include <pool.h>
#include "film/film.h"
#include "trajectories/trajectory.h"
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

/** Masses and species of a frame, and the colours that show them. */
typedef struct view_kinds {
    double mass[2];  /**< smallest mass above 0, and largest mass; 0: no masses are known */
    int used;        /**< number of species that have particles */
    int64_t *count;  /**< particles of each species [io_frame.n_names] */
    uint16_t *shade; /**< colour of each particle [n], as web_scene.shades */
} view_kinds;

/** What is shown. */
typedef struct view_run {
    io_trajectory *trajectory; /**< the file */
    char from[32];             /**< frames that it was opened for, a text that it refers to */
    int64_t frame, frames;     /**< index of the frame that is shown; number of frames */
    double step;               /**< step of the frame; NAN: the file has none */
    int64_t next;              /**< index of the frame that the trajectory returns next */
    bool weighed;              /**< masses are weights of the frames, not a field of a snapshot */
    const io_frame *shot;      /**< the frame that is shown, borrowed from the trajectory; NULL: it
                                    could not be read */
    const io_particles *now;   /**< particles of the frame; NULL as shot */
    view_kinds kinds;          /**< masses and species of the frame */
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

/** Find the range of masses and count the species of the frame. @return as view_go_to */
int view_survey(view_run *run);

/** Colours that the frame has: bits 1 << web_colour. */
unsigned view_colours(const view_run *run);

/** Set the colours of particles for WEB_MASS, on a logarithmic map of the range of masses, or for
 *  WEB_SPECIES. */
void view_shade(view_run *run);

/** Mass of a particle; the frame has masses. */
double view_mass(const view_run *run, int64_t p);

/** What the colours mean, for the page: {range: [least, most], unit} of masses; {species: [{name,
 *  colour, n}], others} of the species with the most particles; null for other colours. */
json_t *view_legend_json(const view_run *run);

/** The largest groups, for the page. */
json_t *view_groups_json(const view_run *run);

/** g(r) of the frame, for the page; NULL: the frame has no density. */
json_t *view_plot_json(view_run *run);

/** Make a film of the frames; the first one is read already. @return exit status, reported */
int view_record(const view_task *task, view_run *run);

void view_end(view_run *run);

#endif
