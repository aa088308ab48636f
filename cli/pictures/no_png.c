/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled instead of png_compress.c in a build without libpng: each PNG frame is an error.
 */
#include "png_frames.h"
#include "common/report.h"

bool png_compress(const char *name, const uint32_t *pixels, int width, int height, bool drops,
                  io_memory_file *out, encoder_problem *problem)
{
    (void)pixels;
    (void)width;
    (void)height;
    (void)drops;
    (void)out;
    return encoder_fail(problem, STATUS_NO_BACKEND, "install libpng-dev and rebuild",
                        "%s: this build of kith has no libpng, which writes frames", name);
}
