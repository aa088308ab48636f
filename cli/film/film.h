/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Films of particles: frames are drawn in a thread of their own, without a screen, and piped to
 * ffmpeg, or written as PNG. For every verb that has frames to show. Calls: film_open, film_add for
 * each frame, film_finish, film_held, film_free.
 */
#ifndef KITH_CLI_FILM_H
#define KITH_CLI_FILM_H

#include "common/option_table.h"
#include "io.h"

/** Meaning of the colours of particles: direction of motion, speed, or density of the picture. */
typedef enum film_colour { FILM_HEADING, FILM_SPEED, FILM_DENSITY } film_colour;

/** Options of --record. */
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

/** Fill in the defaults. */
void film_options_init(film_options *o);

/** End the command where there are options of a film, and no film. */
void film_check_options(const film_options *o, struct argp_state *state);

/** Content of a frame; borrowed during the call of film_add. */
typedef struct film_frame {
    const io_particles *particles; /**< positions, and velocities for FILM_HEADING, FILM_SPEED */
    const kith_box *box;           /**< the box; rows of 0: the view fits the first frame */
    const float *value;  /**< [n] colours from 0 to 1; NULL: as film_options.colour says */
    double full_speed;   /**< speed of the palette's last colour; 0: twice the mean speed */
    int64_t number;      /**< number of the frame in the name of its PNG */
    int64_t step;        /**< step of the run, which film_held returns */
    const char *caption; /**< text on the frame; NULL: none */
    const kith_flock_thing *things; /**< [n_things] obstacles and attractors to draw */
    int64_t n_things;               /**< number of things, up to KITH_MOST_THINGS */
} film_frame;

/** A film being made. */
typedef struct film film;

/** Return the name of a file that the film of --record may write, to be freed.
 *  @param path    as film_options.path
 *  @param kind    0: the film, or a frame of a sequence of PNG; 1: a frame of a film if ffmpeg is
 *                 not installed
 *  @param number  number of the frame; for a film, the step at which it begins
 *  @return NULL where the film has no file of this kind, or without memory. */
char *film_file(const char *path, int kind, int64_t number);

/** Begin a film. If ffmpeg is not installed, frames are written as PNG, and a note says where.
 *  SIGPIPE must be ignored.
 *  @param first     if above 0, the run continues from this step, and the film has it in its name,
 *                   so that the film of the earlier run stays
 *  @param[out] out  the film; NULL on failure
 *  @return exit status, reported */
int film_open(const film_options *o, int64_t first, film **out);

/** Add a frame: wait until the frame before is drawn, copy this one, and return while it is drawn.
 *  After an interrupt it is given up, see film_options.whole.
 *  @return exit status, reported, of this or an earlier frame */
int film_add(film *f, const film_frame *frame);

/** Finish a film: draw the last frame, end the thread and ffmpeg, and rename the film to its path.
 *  It holds all frames that were added; after an interrupt, those that were written, and ffmpeg is
 *  given some seconds to end. NULL is fine.
 *  @param status  of the run until here
 *  @return status, or if that was STATUS_OK an exit status of the film's own: reported, except
 *          STATUS_INTERRUPTED, which means that frames were given up */
int film_finish(film *f, int status);

/** Return how many frames a film that is finished holds.
 *  @param[out] last_step  step of the last of them; 0: there is none */
int64_t film_held(const film *f, int64_t *last_step);

/** Return the path of the film or of its frames; NULL for NULL. */
const char *film_path(const film *f);

/** Free a film that is finished. NULL is fine. */
void film_free(film *f);

#endif
