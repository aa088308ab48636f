/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Films of particles: frames are drawn without a screen, beside the simulation, and piped to
 * ffmpeg, or written as PNG. For every verb that has frames to show.
 */
#ifndef KITH_CLI_FILM_H
#define KITH_CLI_FILM_H

#include "common/option_table.h"
#include "io.h"

typedef enum film_colour { FILM_HEADING, FILM_SPEED, FILM_DENSITY } film_colour;

typedef struct film_options {
    const char *path;  /**< --record: .mp4, .webm, .gif, a folder/ or NAME%06d.png; NULL: no film */
    int width, height; /**< size of a frame [pixels] */
    double rate;       /**< frames per second */
    double turn;       /**< rotation of a 3-D box [degrees/s] */
    double afterglow;  /**< time in which light fades to 1/e [s]; 0: at once */
    film_colour colour; /**< what colours mean */
    int threads;        /**< threads that draw, at most; 0: all cores */
    bool whole;         /**< after an interrupt, frames that were added are finished: a later run
                             continues behind them. Else they are given up */
} film_options;

/** The table of --record and --film-...; its base is a struct film_options, which
 *  film_options_init fills with defaults. */
extern const option_row film_option_rows[];

void film_options_init(film_options *o);

/** Content of a frame; borrowed during the call. */
typedef struct film_frame {
    const io_particles *particles; /**< positions, and velocities where colour wants them */
    const kith_box *box;           /**< the box; rows of 0: the view fits the first frame */
    const float *value;  /**< [n] colours from 0 to 1; NULL: as film_options.colour says */
    double full_speed;   /**< speed of the last colour; 0: twice the mean speed */
    int64_t number;      /**< number of the PNG of the frame */
    int64_t step;        /**< step of the run, which film_held returns */
    const char *caption; /**< text on the frame; NULL: none */
    const kith_flock_thing *things; /**< [n_things] obstacles and attractors to draw */
    int64_t n_things;               /**< number of them, up to KITH_MOST_THINGS */
} film_frame;

typedef struct film film;

/** The name of a file that the film of --record may write; to be freed.
 *  @param kind  0: the film or frame; 1: a frame where there is no ffmpeg. @param number  of the
 *  frame; the step that a film begins at
 *  @return NULL where the film has no file of this kind, or without memory. */
char *film_file(const char *path, int kind, int64_t number);

/** Begin a film. If ffmpeg is not installed, frames are written as PNG, and a note says where.
 *  SIGPIPE must be ignored.
 *  @param first  if above 0, the run continues from this step, and the film has it in its name, so
 *  that the film of the earlier run stays
 *  @return exit status, reported */
int film_open(const film_options *o, int64_t first, film **out);

/** Add a frame: copy it, and return while it is drawn. After an interrupt it is given up, see
 *  film_options.whole. @return exit status, reported, of this or an earlier frame */
int film_add(film *f, const film_frame *frame);

/** Finish it: the film gets its name, and holds what was added; after an interrupt, what was
 *  written, and ffmpeg has some seconds to end. NULL is fine.
 *  @param status  of the run until here
 *  @return status, or if that was STATUS_OK an exit status of the film's own: reported, except
 *          STATUS_INTERRUPTED, which means that frames were given up */
int film_finish(film *f, int status);

/** Return how many frames a film that is finished holds.
 *  @param[out] last_step  step of the last of them; 0: there is none */
int64_t film_held(const film *f, int64_t *last_step);

/** Path of the film or of its frames; NULL for NULL. */
const char *film_path(const film *f);

/** Free a film that is finished. NULL is fine. */
void film_free(film *f);

#endif
