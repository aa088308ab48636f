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

/** The name of a frame; to be freed. NULL without memory. */
char *png_frames_name(const char *path, int64_t number);

/** Make the folder of frames, if it is not there. @return false with errno. */
bool png_frames_make_folder(const char *path);

/** Write a frame whole or not at all; makes the folder. @param path  as in png_frames_named
 *  @param pixels  [height][width] of 0xffRRGGBB. @return false with a problem. */
bool png_frames_write(const char *path, int64_t number, const uint32_t *pixels, int width,
                      int height, encoder_problem *problem);

/** Compress a picture. @param name  for the problem. @param out  to be freed.
 *  @return false with a problem. */
bool png_compress(const char *name, const uint32_t *pixels, int width, int height,
                  io_memory_file *out, encoder_problem *problem);

#endif
