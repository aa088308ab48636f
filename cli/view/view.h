/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `kith view`: its options (view_task), and what it shows (view_run), passed from step to step.
 */
#ifndef KITH_CLI_VIEW_H
#define KITH_CLI_VIEW_H

#include <pool.h>
#include "film/film.h"
#include "trajectories/trajectory.h"
#include "common/space.h"
#include "viewer.h"

/** The values of the options. */
typedef struct view_task {
    options shared;     /**< options that verbs share */
    const char *file;   /**< path of the particles or trajectory */
    const char *labels; /**< --labels: file of the group of each particle; NULL: none */
    double link;        /**< --link: linking length of groups to find [length]; 0: find none */
    int64_t members;    /**< --members: groups with fewer particles are dropped */
    film_options film;  /**< options of --record; turn is NAN if not given */
} view_task;

/** Masses and species of a frame, and the colours that show them. */
typedef struct view_kinds {
    double mass[2];  /**< smallest mass above 0, and largest mass; both 0: no masses are known */
    int used;        /**< number of species that have particles */
    int64_t *count;  /**< particles of each species [io_frame.n_names] */
    uint16_t *shade; /**< colour of each particle [n], as web_scene.shades */
} view_kinds;

/** The frame that is shown, and the state of the live view. */
typedef struct view_run {
    io_trajectory *trajectory; /**< the file, opened at some frame; NULL: closed */
    char from[32];             /**< frames for which the trajectory was opened, "12:", which it
                                    borrows */
    int64_t frame, frames;     /**< index of the frame that is shown; number of frames */
    double step;               /**< step of the frame; NAN: the file has none */
    int64_t next;              /**< index of the frame that the trajectory returns next */
    bool weighed;              /**< masses are read as io_frame.weight, not io_particles.mass */
    const io_frame *shot;      /**< the frame that is shown, borrowed from the trajectory; NULL: it
                                    could not be read */
    const io_particles *now;   /**< particles of the frame; NULL: there are none to show */
    view_kinds kinds;          /**< masses and species of the frame */
    space space;               /**< the box of the frame */
    kith_ctx *ctx;             /**< the library */
    struct kith__pool *pool;   /**< threads that make messages */
    kith_groups groups;        /**< groups of the frame; labels NULL: none were found or read */
    int32_t *labels;           /**< labels read from a file, to which groups.labels then points */
    kith_halos halos;          /**< measures of the groups */
    viewer_tags tags;          /**< colours of the groups */
    int64_t inspected;         /**< index in choice.index of the selected particle; -1: none */
    int64_t particles;         /**< number of particles of the frame shown last */
    kith_box shown;            /**< the box; open axes are closed around the particles */
    web_server *server;        /**< the live view */
    web_choice choice;         /**< particles that are sent */
    web_colour colour;         /**< meaning of the colours */
    uint32_t epoch;    /**< web_scene.epoch: increased when the number of particles changes */
    bool again;        /**< the points must be sent again */
    char message[512]; /**< error shown on the page; "": none */
} view_run;

/** Count the frames of the file, and set run->frames and run->weighed.
 *  @return exit status, reported */
int view_start(const view_task *task, view_run *run);

/** Read a frame to be shown, with its box, masses, species and groups. On failure run->message has
 *  the error, but stays "" for one of the box; run->now is NULL if the frame could not be read, is
 *  not finite, or has no box that it needs.
 *  @return exit status; only an error of the box is reported */
int view_go_to(const view_task *task, view_run *run, int64_t frame);

/** Report that view_go_to failed, if it did not report it itself. @return status */
int view_report(const view_task *task, const view_run *run, int status);

/** Find or read the groups of the frame, measure them, and choose their colours.
 *  @return exit status, not reported; run->message has the error */
int view_group(const view_task *task, view_run *run);

/** Find the range of masses and count the species of the frame.
 *  @return exit status, not reported; run->message has the error */
int view_survey(view_run *run);

/** Return the meanings of colours that can be chosen for the frame: bits 1 << web_colour. */
unsigned view_colours(const view_run *run);

/** Set the colours of particles for WEB_MASS, on a logarithmic map of the range of masses, or for
 *  WEB_SPECIES. */
void view_shade(view_run *run);

/** Return the mass of particle p. The frame must have masses. */
double view_mass(const view_run *run, int64_t p);

/** Return the legend of the colours for the page: {range: [least, most], unit} of masses; {species:
 *  [{name, colour, n}], others} of the species with the most particles; null for other colours. */
json_t *view_legend_json(const view_run *run);

/** Return the number of groups and the measures of the largest ones, for the page. */
json_t *view_groups_json(const view_run *run);

/** Compute g(r) of the frame, for the page. NULL: it has fewer than two particles, or its box is
 *  not periodic along all axes, so that it has no mean density. */
json_t *view_plot_json(view_run *run);

/** Make a film of the frames; the first one is read already. @return exit status, reported */
int view_record(const view_task *task, view_run *run);

/** Close the server and the file, and free the run. */
void view_end(view_run *run);

#endif
