/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What pictures share: colours, text, axes, and the way into a file.
 */
#ifndef KITH_CLI_DRAWING_H
#define KITH_CLI_DRAWING_H

#include "common/report.h"

#include <cairo.h>

/** Where text stands by its point: left of it, in its middle, right of it. */
typedef enum anchor { ANCHOR_LEFT, ANCHOR_MIDDLE, ANCHOR_RIGHT } anchor;

/** A piece of the picture [pixels]. */
typedef struct frame {
    double x, y, width, height;
} frame;

/** A logarithmic axis along one side of a frame. */
typedef struct log_axis {
    double from, to;      /* > 0 */
    double begin, length; /* of the side [pixels]; length < 0 where it runs up */
} log_axis;

/** The colours of the page: background, text, and lines beside them. */
void draw_background(cairo_t *cr, double width, double height);
void draw_ink(cairo_t *cr);
void draw_faint(cairo_t *cr);

/** Write text. The font is the system's sans serif. */
void draw_text(cairo_t *cr, double x, double y, double size, anchor side, const char *text);
void draw_text_bold(cairo_t *cr, double x, double y, double size, anchor side, const char *text);

/** Write 10 to a power. */
void draw_power(cairo_t *cr, double x, double y, double size, anchor side, int power);

/** Where a number is along an axis. */
double draw_along(const log_axis *axis, double value);

/** Draw a bar of a round length with its length above it.
 *  @param x, y    its end on this side; its lower edge [pixels]
 *  @param size    of text and lines; 1: usual
 *  @param scale   pixels a unit of length
 *  @param wanted  about this long [length]. @param unit  text behind the number */
void draw_scale_bar(cairo_t *cr, double x, double y, double size, anchor side, double scale,
                    double wanted, const char *unit);

/** Write a PNG whole or not at all. @return exit status, reported */
int draw_save(cairo_surface_t *surface, const char *path);

#endif
