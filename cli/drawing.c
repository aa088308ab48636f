/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Colours, text, and the way into a file.
 */
#include "drawing.h"

#include "io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double left_of(cairo_t *cr, double x, anchor side, const char *text)
{
    cairo_text_extents_t size;
    cairo_text_extents(cr, text, &size);
    return x - (double)side / 2 * size.x_advance;
}

static void put_text(cairo_t *cr, double x, double y, double size, anchor side, const char *text,
                     cairo_font_weight_t weight)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight);
    cairo_set_font_size(cr, size);
    cairo_move_to(cr, left_of(cr, x, side, text), y);
    cairo_show_text(cr, text);
}

void draw_text(cairo_t *cr, double x, double y, double size, anchor side, const char *text)
{
    put_text(cr, x, y, size, side, text, CAIRO_FONT_WEIGHT_NORMAL);
}

void draw_text_bold(cairo_t *cr, double x, double y, double size, anchor side, const char *text)
{
    put_text(cr, x, y, size, side, text, CAIRO_FONT_WEIGHT_BOLD);
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
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
    cairo_move_to(cr, left_of(cr, x, side, both), y);
    cairo_show_text(cr, "10");
    cairo_set_font_size(cr, 0.7 * size);
    cairo_rel_move_to(cr, 0, -0.42 * size);
    cairo_show_text(cr, exponent);
}

uint32_t draw_colour(double t)
{
    /* Lightness rises evenly from 0 to 98 of CIELAB, hue from blue over red to yellow. */
    static const unsigned char stops[][3] = {{0, 0, 4},       {20, 14, 54},   {59, 15, 112},
                                             {100, 26, 128},  {140, 41, 129}, {183, 55, 121},
                                             {222, 73, 104},  {247, 112, 92}, {254, 159, 109},
                                             {254, 207, 146}, {252, 253, 191}};
    enum { LAST = sizeof stops / sizeof *stops - 1 };
    const double at = fmin(fmax(t, 0), 1) * LAST;
    const int low = at < LAST ? (int)at : LAST - 1;
    uint32_t colour = 0xff;
    for (int k = 0; k < 3; k++) {
        const double mixed = stops[low][k] + (at - low) * (stops[low + 1][k] - stops[low][k]);
        colour = colour << 8 | (uint32_t)(mixed + 0.5);
    }
    return colour;
}

double draw_along(const log_axis *axis, double value)
{
    return axis->begin + axis->length * log(value / axis->from) / log(axis->to / axis->from);
}

/** A file in memory. */
typedef struct memory {
    unsigned char *data;
    size_t n, room;
} memory;

static cairo_status_t keep(void *closure, const unsigned char *data, unsigned n)
{
    memory *m = closure;
    if (m->n + n > m->room) {
        const size_t room = 2 * m->room + n;
        unsigned char *grown = realloc(m->data, room);
        if (!grown) {
            return CAIRO_STATUS_NO_MEMORY;
        }
        m->data = grown;
        m->room = room;
    }
    memcpy(m->data + m->n, data, n);
    m->n += n;
    return CAIRO_STATUS_SUCCESS;
}

int draw_save(cairo_surface_t *surface, const char *path)
{
    memory png = {0};
    io_error error = {0};
    int status = STATUS_OK;
    const cairo_status_t drawn = cairo_surface_write_to_png_stream(surface, keep, &png);
    if (drawn != CAIRO_STATUS_SUCCESS) {
        status = report_error(STATUS_NO_MEMORY, NULL, "%s: %s", path,
                              cairo_status_to_string(drawn));
    } else if (io_write_bytes(path, png.data, (int64_t)png.n, &error) != IO_OK) {
        status = report_io(&error, true);
    }
    free(png.data);
    return status;
}
