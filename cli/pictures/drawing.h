/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drawing with cairo: colours, text, axes, and writing a PNG.
 */
#ifndef KITH_CLI_DRAWING_H
#define KITH_CLI_DRAWING_H

#include "common/report.h"

#include <cairo.h>

/** Which part of a text is at its point: the left end, the middle, the right end. */
typedef enum anchor { ANCHOR_LEFT, ANCHOR_MIDDLE, ANCHOR_RIGHT } anchor;

/** A rectangle of the picture [pixels]. */
typedef struct frame {
    double x, y, width, height;
} frame;

/** A logarithmic axis along one side of a frame. */
typedef struct log_axis {
    double from, to;      /**< range of numbers, > 0 */
    double begin, length; /**< place of the side [pixels]; length < 0: the axis points up */
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

/** Place of a number on an axis [pixels]. */
double draw_along(const log_axis *axis, double value);

/** Draw a bar of a round length with its length above it.
 *  @param x, y    left end and lower edge [pixels]
 *  @param size    factor for text and lines; 1: usual
 *  @param scale   pixels per unit of length
 *  @param wanted  approximate length [length]   @param unit  text behind the number */
void draw_scale_bar(cairo_t *cr, double x, double y, double size, anchor side, double scale,
                    double wanted, const char *unit);

/** Write a PNG whole or not at all. @return exit status, reported */
int draw_save(cairo_surface_t *surface, const char *path);

#endif
