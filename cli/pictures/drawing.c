/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Elements that the pictures share: colours, text, an axis, a scale bar, and the PNG file.
 */
#include "drawing.h"

#include "common/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void draw_background(cairo_t *cr, double width, double height)
{
    cairo_set_source_rgb(cr, 0.047, 0.043, 0.067);
    cairo_rectangle(cr, 0, 0, width, height);
    cairo_fill(cr);
}

void draw_ink(cairo_t *cr)
{
    cairo_set_source_rgb(cr, 0.93, 0.92, 0.95);
}

void draw_faint(cairo_t *cr)
{
    cairo_set_source_rgb(cr, 0.60, 0.59, 0.66);
}

/** Select the font, and move to the left end of the text, of which the part `side` is at x. */
static void begin_text(cairo_t *cr, double x, double y, double size, anchor side, const char *text,
                       cairo_font_weight_t weight)
{
    cairo_text_extents_t extents;
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight);
    cairo_set_font_size(cr, size);
    cairo_text_extents(cr, text, &extents);
    cairo_move_to(cr, x - (double)side / 2 * extents.x_advance, y);
}

void draw_text(cairo_t *cr, double x, double y, double size, anchor side, const char *text)
{
    begin_text(cr, x, y, size, side, text, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_show_text(cr, text);
}

void draw_text_bold(cairo_t *cr, double x, double y, double size, anchor side, const char *text)
{
    begin_text(cr, x, y, size, side, text, CAIRO_FONT_WEIGHT_BOLD);
    cairo_show_text(cr, text);
}

void draw_power(cairo_t *cr, double x, double y, double size, anchor side, int power)
{
    char exponent[16], both[24];
    snprintf(exponent, sizeof exponent, "%d", power);
    snprintf(both, sizeof both, "10%s", exponent);
    if (power == 0 || power == 1) {
        draw_text(cr, x, y, size, side, power ? "10" : "1");
        return;
    }
    begin_text(cr, x, y, size, side, both, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_show_text(cr, "10");
    cairo_set_font_size(cr, 0.7 * size);
    cairo_rel_move_to(cr, 0, -0.42 * size);
    cairo_show_text(cr, exponent);
}

double draw_along(const log_axis *axis, double value)
{
    return axis->begin + axis->length * log(value / axis->from) / log(axis->to / axis->from);
}

void draw_scale_bar(cairo_t *cr, double x, double y, double size, anchor side, double scale,
                    double wanted, const char *unit)
{
    const double decade = pow(10, floor(log10(wanted))), digit = wanted / decade;
    const double length = decade * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1), pixels = length * scale;
    const double left = x - (double)side / 2 * pixels;
    char text[IO_NAME_LENGTH + 80];
    snprintf(text, sizeof text, "%s%s",
             (length >= 1000 ? report_count((int64_t)length) : report_real(length)).s, unit);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.55);
    cairo_rectangle(cr, left - 12 * size, y - 36 * size, fmax(pixels, 80 * size) + 24 * size,
                    52 * size);
    cairo_fill(cr);
    draw_ink(cr);
    cairo_set_line_width(cr, 3 * size);
    cairo_move_to(cr, left, y);
    cairo_line_to(cr, left + pixels, y);
    cairo_stroke(cr);
    draw_text(cr, left + pixels / 2, y - 12 * size, 17 * size, ANCHOR_MIDDLE, text);
}

/** Callback of cairo: append bytes of the PNG to an io_memory_file. An error ends the drawing. */
static cairo_status_t keep(void *memo, const unsigned char *data, unsigned n)
{
    if (progress_interrupted()) {
        return CAIRO_STATUS_WRITE_ERROR;
    }
    return io_memory_file_add(memo, data, n) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
}

int draw_save(cairo_surface_t *surface, const char *path)
{
    io_memory_file png = {0};
    const cairo_status_t drawn = progress_interrupted()
                                     ? CAIRO_STATUS_WRITE_ERROR
                                     : cairo_surface_write_to_png_stream(surface, keep, &png);
    if (drawn != CAIRO_STATUS_SUCCESS && progress_interrupted()) {
        free(png.data);
        return report_interrupted(path);
    }
    return report_written(path, &png, drawn == CAIRO_STATUS_SUCCESS, false);
}
