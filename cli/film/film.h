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
    const char *path; /**< --record: .mp4, .webm, .gif, a folder/ or NAME%06d.png; NULL: no film */
    int width, height;
    double rate;      /**< frames a second */
    double turn;      /**< of a 3-D box [degrees a second] */
    double afterglow; /**< light is down to 1/e after this [s]; 0: there is none */
    film_colour colour;
    int threads; /**< at most; 0: all cores */
} film_options;

/** The table of --record and --film-...; its base is a struct film_options, which
 *  film_options_init fills with defaults. */
extern const option_row film_option_rows[];

void film_options_init(film_options *o);

/** What one frame shows; borrowed during the call. */
typedef struct film_frame {
    const io_particles *particles; /**< positions, and velocities where colour wants them */
    const kith_box *box;           /**< rows of 0: the view holds the first frame's particles */
    const float *value;            /**< [n] from 0 to 1, the colours; NULL: as the options say */
    double full_speed;             /**< the brightest colour of speed; 0: twice their mean */
    int64_t number;                /**< of the frame's PNG */
    const char *caption;           /**< NULL: none */
} film_frame;

typedef struct film film;

/** The name of a file that the film of --record may write; to be freed.
 *  @param kind  0: the film or frame; 1: a frame where there is no ffmpeg. @param number  of the
 *  frame; the step that a film begins at
 *  @return NULL where the film has no file of this kind, or without memory. */
char *film_file(const char *path, int kind, int64_t number);

/** Begin a film. Without ffmpeg a note says where frames go instead. Call with SIGPIPE ignored.
 *  @param first  > 0: a run goes on from this step: the film is named after it, so that the earlier
 *  one stays
 *  @return exit status, reported */
int film_open(const film_options *o, int64_t first, film **out);

/** Add a frame: copies it, and returns while it is drawn. @return exit status, reported: also
 *  of an earlier frame. */
int film_add(film *f, const film_frame *frame);

/** Finish it: the film gets its name, and holds what was added. NULL is fine. @param status  of the
 *  run until here. @return status, or if that was STATUS_OK an exit status of the film's own,
 *  reported. */
int film_finish(film *f, int status);

/** The name of what is made; NULL of NULL. */
const char *film_path(const film *f);

/** Free a film that is finished. NULL is fine. */
void film_free(film *f);

#endif
