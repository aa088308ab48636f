/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Read the particle file that the options describe, with a progress bar.
 */
#ifndef KITH_CLI_INPUT_H
#define KITH_CLI_INPUT_H

#include "options.h"
#include "report.h"
#include "trajectories/trajectory.h"

#include <jansson.h>

/** Particles that were read from a file. */
typedef struct input {
    const char *path;       /**< path of the file; borrowed */
    io_particles particles; /**< what the file holds */
    int64_t frame;          /**< number of the frame that was read, from 0 */
    int parts;              /**< ranks that have read a share each; 1: `particles` are all */
    double seconds;         /**< time that reading took [s] */
} input;

/** Read the particles of a file. Zero the input first; input_free frees it. Of a file of many
 *  frames, where frame 0 is read because no other was chosen, a note tells so, but not beside JSON.
 *  @return exit status, reported */
int input_read(const options *o, const char *path, input *in);

/** Tell that frame 0 of many was read because no other was chosen, but not beside JSON. */
void input_note_frames(const options *o, const input *in);

/** Read the particles of a file as input_read does, but return a failure instead of reporting it,
 *  and print no note. */
io_status input_try(const options *o, const char *path, input *in, io_error *error);

/** Free the particles. */
void input_free(input *in);

/** A file that is read frame by frame. */
typedef struct input_frames {
    char description[128]; /**< format in words: "extended XYZ" */
    int64_t wanted;        /**< number of frames to read; -1: not known before the end */
    double seconds;        /**< time in which the command waited for a frame and counted none [s] */
} input_frames;

/** Return the options of the trajectory reader that follow from the command line. */
io_trajectory_options input_how(const options *o);

/** Warn when elements were guessed from the names of atoms. To be called with the first frame
 *  only. */
void input_warn_guessed(const char *path, const io_frame *frame);

/** What a verb does with a frame. @return exit status, reported; the next frame is read after
 *  STATUS_OK alone */
typedef int (*input_frame_fn)(void *user, const io_frame *frame);

/** Pass each frame to `take`, until the last one or Ctrl-C. A file without frames is an error.
 *  @return exit status, reported but for STATUS_INTERRUPTED */
int input_each_frame(const char *path, const io_trajectory_options *how, input_frame_fn take,
                     void *user, input_frames *from);

/** Pass each frame to `take` once, before input_each_frame reads the file again: for what must be
 *  known of all frames at the start, for example the smallest box. Does nothing if the file has one
 *  frame.
 *  @return exit status, reported but for STATUS_INTERRUPTED */
int input_survey(const char *path, const io_trajectory_options *how, bool quiet,
                 input_frame_fn take, void *user);

/** Return the positions as points of the library; the arrays are borrowed from `in`. */
kith_points input_points(const input *in);

/** For a JSON summary: path, number of particles, precision, size, and the time to read. */
json_t *input_json(const input *in);

/** For a summary: number of particles, precision, size and time to read, without the path. */
printed input_words(const input *in);

#endif
