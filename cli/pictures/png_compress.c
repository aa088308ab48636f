/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PNG through libpng, compressed in memory. Error handling is libpng's: its error callback jumps
 * back to setjmp in png_compress.
 */
#include "png_frames.h"

#include "common/progress.h"
#include "common/report.h"

#include <png.h>

/** Write callback of libpng: append bytes to the io_memory_file. */
static void keep(png_structp png, png_bytep data, size_t n)
{
    if (!io_memory_file_add(png_get_io_ptr(png), data, n)) {
        png_error(png, "no memory");
    }
}

/** Flush callback of libpng: memory has nothing to flush. */
static void keep_all(png_structp png)
{
    (void)png;
}

/** Error callback of libpng: jump without a message, as the command prints its own. */
static void leave(png_structp png, png_const_charp why)
{
    (void)why;
    png_longjmp(png, 1);
}

/** Warning callback of libpng: ignore the warning. */
static void be_silent(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

/* Any libpng error is reported as one of memory: only the callback keep can fail here. */
bool png_compress(const char *name, const uint32_t *pixels, int width, int height, bool drops,
                  io_memory_file *out, encoder_problem *problem)
{
    enum { LEVEL = 3, BITS = 8 };
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, leave, be_silent);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool fine = info != NULL;
    volatile bool stopped = false; /* volatile: changed between setjmp and longjmp */
    if (fine && setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, out, keep, keep_all);
        png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, BITS, PNG_COLOR_TYPE_RGB,
                     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_set_compression_level(png, LEVEL);
        png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
        png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
        png_write_info(png, info);
        png_set_filler(png, 0, PNG_FILLER_AFTER); /* bytes of a pixel: blue, green, red, unused */
        png_set_bgr(png);
        for (int j = 0; j < height && !stopped; j++) {
            stopped = drops && progress_interrupted();
            png_write_row(png, (png_const_bytep)(pixels + (ptrdiff_t)j * width));
        }
        if (!stopped) {
            png_write_end(png, info);
        }
    } else {
        fine = encoder_fail(problem, STATUS_NO_MEMORY, NULL, "%s: no memory for a frame", name);
    }
    png_destroy_write_struct(&png, &info);
    return fine && !stopped;
}
