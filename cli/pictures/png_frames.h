/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of a film as PNG files.
 */
#ifndef KITH_CLI_PNG_FRAMES_H
#define KITH_CLI_PNG_FRAMES_H

#include "encoder.h"

#include <core/memory_file.h>

/** Return true when the path names a sequence of frames: "folder/", an existing folder, or a name
 *  ending in .png that contains one number, %d or %06d. */
bool png_frames_named(const char *path);

/** Return the name of frame `number`, to be freed: the path with its conversion replaced, or a name
 *  of the form 000007.png in the folder. NULL without memory.
 *  @param path  a path for which png_frames_named returns true */
char *png_frames_name(const char *path, int64_t number);

/** Make the folder of frames unless it exists, but not the folders above it.
 *  @return false with errno. */
bool png_frames_make_folder(const char *path);

/** Write a frame whole or not at all; makes the folder. @param path  as in png_frames_named
 *  @param pixels  [height][width] of 0xffRRGGBB
 *  @param drops  the frame is given up when the run is interrupted (progress_interrupted)
 *  @return true: the frame is written; false: with a problem, or given up, without one */
bool png_frames_write(const char *path, int64_t number, const uint32_t *pixels, int width,
                      int height, bool drops, encoder_problem *problem);

/** Compress a picture to a PNG file in memory.
 *  @param name      name of the frame in the message of a problem
 *  @param pixels    [height][width] of 0xffRRGGBB
 *  @param drops     as in png_frames_write
 *  @param[out] out  bytes of the file are appended; the caller frees out->data in any case
 *  @return true: it is compressed; false: with a problem, or given up, without one */
bool png_compress(const char *name, const uint32_t *pixels, int width, int height, bool drops,
                  io_memory_file *out, encoder_problem *problem);

#endif
