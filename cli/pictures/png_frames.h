/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of a film as PNG files.
 */
#ifndef KITH_CLI_PNG_FRAMES_H
#define KITH_CLI_PNG_FRAMES_H

#include "encoder.h"

#include <core/memory_file.h>

/** Is this the name of frames: "folder/", a folder that is there, or one of .png with one number in
 *  it, such as %d or %06d? */
bool png_frames_named(const char *path);

/** The name of a frame; to be freed. NULL without memory. */
char *png_frames_name(const char *path, int64_t number);

/** Make the folder of frames, if it is not there. @return false with errno. */
bool png_frames_make_folder(const char *path);

/** Write a frame whole or not at all; makes the folder. @param path  such a name
 *  @param pixels  [height][width] of 0xffRRGGBB. @return false with a problem. */
bool png_frames_write(const char *path, int64_t number, const uint32_t *pixels, int width,
                      int height, encoder_problem *problem);

/** Compress a picture. @param name  for the problem. @param out  to be freed.
 *  @return false with a problem. */
bool png_compress(const char *name, const uint32_t *pixels, int width, int height,
                  io_memory_file *out, encoder_problem *problem);

#endif
