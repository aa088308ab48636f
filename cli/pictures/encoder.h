/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of a film on a pipe to ffmpeg. Nothing here prints: an error is returned as an
 * encoder_problem, which the main thread reports.
 */
#ifndef KITH_CLI_ENCODER_H
#define KITH_CLI_ENCODER_H

#include "io.h"

#include <stdbool.h>
#include <stdint.h>

/** An error of an encoder or of a PNG frame. */
typedef struct encoder_problem {
    int status;       /**< exit status of the command; STATUS_OK: no error */
    const char *hint; /**< advice to the user, printed with the message; may be NULL */
    char text[600];   /**< the message */
} encoder_problem;

/** Fill in an error. @param hint  as in encoder_problem; not copied. @return false */
bool encoder_fail(encoder_problem *problem, int status, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Fill in an error of an output file. @return false */
bool encoder_fail_io(encoder_problem *problem, const io_error *error);

/** A running ffmpeg and the film that it writes. */
typedef struct encoder encoder;

/** Return true when the path names a film that ffmpeg can make: it ends in .mp4, .webm or .gif. */
bool encoder_knows(const char *path);

/** Start ffmpeg. It writes to a temporary file next to path.
 *  @param width, height  size of each frame [pixels]
 *  @param rate           frames per second of the film
 *  @param[out] absent    ffmpeg is not installed
 *  @return the encoder, for encoder_close; NULL with a problem */
encoder *encoder_open(const char *path, int width, int height, double rate, bool *absent,
                      encoder_problem *problem);

/** Send a frame: [height][width] of 0xffRRGGBB. Waits while the pipe is full.
 *  @return false with a problem. */
bool encoder_send(encoder *e, const uint32_t *pixels, encoder_problem *problem);

/** End ffmpeg, rename the temporary file to the path, and free the encoder. Without a frame there
 *  is no film. NULL is fine. @return false with a problem; then no film is written */
bool encoder_close(encoder *e, encoder_problem *problem);

#endif
