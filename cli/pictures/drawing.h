/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drawing with cairo: colours, text, axes, and writing a PNG.
 */
#ifndef KITH_CLI_DRAWING_H
#define KITH_CLI_DRAWING_H

#include "common/report.h"

#include <cairo.h>

/** Which part of a text, or of a bar, is at the given point: the left end, the middle, the right
 *  end. Half the value is that part as a fraction of the width, so the order is fixed. */
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

/** Fill the page with the background colour; select the colour of text; select the fainter colour
 *  of axes and captions. */
void draw_background(cairo_t *cr, double width, double height);
void draw_ink(cairo_t *cr);
void draw_faint(cairo_t *cr);

/** Write text in the system's sans serif.
 *  @param x, y  point of the anchor on the base line [pixels]
 *  @param size  size of the font [pixels] */
void draw_text(cairo_t *cr, double x, double y, double size, anchor side, const char *text);
void draw_text_bold(cairo_t *cr, double x, double y, double size, anchor side, const char *text);

/** Write 10 to a power with the exponent raised, or plainly 1 or 10; arguments as for draw_text. */
void draw_power(cairo_t *cr, double x, double y, double size, anchor side, int power);

/** Place of a number on an axis [pixels]. */
double draw_along(const log_axis *axis, double value);

/** Draw a bar of a round length (1, 2 or 5 times a power of 10) with its length above it, on a dark
 *  translucent rectangle.
 *  @param x, y    point of the bar that `side` names [pixels]
 *  @param size    factor for text and lines; 1: text of 17 pixels
 *  @param scale   pixels per unit of length
 *  @param wanted  upper bound of the length; the bar has the largest round length up to it
 *  @param unit    text behind the number */
void draw_scale_bar(cairo_t *cr, double x, double y, double size, anchor side, double scale,
                    double wanted, const char *unit);

/** Write a surface as a PNG file, whole or not at all: the file at path is replaced at the end.
 *  Ctrl-C ends it early. @return the exit status, after the error, if any, is reported */
int draw_save(cairo_surface_t *surface, const char *path);

#endif
