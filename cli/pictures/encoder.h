/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of a film on a pipe to ffmpeg. Nothing here prints: what went wrong is told, for the
 * thread that reports.
 */
#ifndef KITH_CLI_ENCODER_H
#define KITH_CLI_ENCODER_H

#include "io.h"

#include <stdbool.h>
#include <stdint.h>

/** What went wrong. */
typedef struct encoder_problem {
    int status;       /**< exit status; STATUS_OK: nothing */
    const char *hint; /**< may be NULL */
    char text[600];
} encoder_problem;

/** Say what went wrong. @return false */
bool encoder_fail(encoder_problem *problem, int status, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Say what went wrong with a file that was written. @return false */
bool encoder_fail_io(encoder_problem *problem, const io_error *error);

typedef struct encoder encoder;

/** Can ffmpeg make a film of this name: does it end in .mp4, .webm or .gif? */
bool encoder_knows(const char *path);

/** Start ffmpeg. It writes to a file beside path. @param[out] absent  there is no ffmpeg.
 *  @return NULL with a problem. */
encoder *encoder_open(const char *path, int width, int height, double rate, bool *absent,
                      encoder_problem *problem);

/** Send a frame: [height][width] of 0xffRRGGBB. @return false with a problem. */
bool encoder_send(encoder *e, const uint32_t *pixels, encoder_problem *problem);

/** End ffmpeg, give the film its name and free it; without a frame there is no film. NULL is fine.
 *  @return false with a problem; then it gets no name. */
bool encoder_close(encoder *e, encoder_problem *problem);

#endif
