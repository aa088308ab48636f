/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures, drawn by gnuplot as a process.
 */
#ifndef KITH_CLI_GNUPLOT_H
#define KITH_CLI_GNUPLOT_H

#include "option_table.h"

#include <core/memory_file.h>

/** Colours of Okabe and Ito, which most colour-blind readers can tell apart. */
enum { GNUPLOT_COLOURS = 7 };
extern const char *const gnuplot_colours[GNUPLOT_COLOURS];

/** Read --plot FILE into a const char *; ends the command when it does not end in .pdf, .svg or
 *  .png. */
void gnuplot_read_path(void *at, const option_given *given);

/** The name of a file beside a figure, with another ending: ".gp", ".dat". To be freed; NULL
 *  without memory. */
char *gnuplot_beside(const char *path, const char *ending);

/** Print a part of a figure's files. @param what  handed through */
typedef void (*gnuplot_put)(FILE *out, const void *what);

/** Draw a figure. Its script and data stay beside, with the endings .gp and .dat, so that it can be
 *  changed and drawn again.
 *  @param data     prints the data file
 *  @param script   prints the script behind the lines that say where to draw; the name of the data
 *                  file is its variable `data`
 *  @param again    a run that was killed is gone on with: as of report_written
 *  @return an exit status, reported */
int gnuplot_draw(const char *path, gnuplot_put data, gnuplot_put script, const void *what,
                 bool again);

#endif
