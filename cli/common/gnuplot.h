/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures, drawn by running gnuplot.
 */
#ifndef KITH_CLI_GNUPLOT_H
#define KITH_CLI_GNUPLOT_H

#include "option_table.h"

#include <core/memory_file.h>

/** The palette of Okabe and Ito (https://jfly.uni-koeln.de/color), "#rrggbb", which most
 *  colour-blind readers can tell apart. */
enum { GNUPLOT_COLOURS = 7 };
extern const char *const gnuplot_colours[GNUPLOT_COLOURS];

/** Read --plot FILE into a const char *; ends the command when it does not end in .pdf, .svg or
 *  .png. */
void gnuplot_read_path(void *at, const option_given *given);

/** Return the name of a file beside a figure, with another ending: ".gp", ".dat". To be freed; NULL
 *  without memory. @param path  of the figure; it has an ending (gnuplot_read_path) */
char *gnuplot_beside(const char *path, const char *ending);

/** A function that prints a file of a figure. @param what  as given to gnuplot_draw */
typedef void (*gnuplot_put)(FILE *out, const void *what);

/** Draw a figure. Its script and data are kept under its name with the endings .gp and .dat, so
 *  that the figure can be changed and drawn again.
 *  @param data     prints the data file
 *  @param script   prints the script, after the lines that set terminal and output; the variable
 *                  `data` of the script is the name of the data file
 *  @param again    a run continues after a kill: parts that it left are replaced (report_written)
 *  @return exit status, reported */
int gnuplot_draw(const char *path, gnuplot_put data, gnuplot_put script, const void *what,
                 bool again);

#endif
