/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures, drawn by gnuplot as a process.
 */
#ifndef KITH_CLI_GNUPLOT_H
#define KITH_CLI_GNUPLOT_H

#include <memo.h>

/** Colours of Okabe and Ito, which most colour-blind readers can tell apart. */
enum { GNUPLOT_COLOURS = 7 };
extern const char *const gnuplot_colours[GNUPLOT_COLOURS];

/** Print text between single quotes, as gnuplot takes it. */
void gnuplot_quote(FILE *out, const char *text);

/** Does the name end in .pdf, .svg or .png? */
bool gnuplot_known(const char *path);

/** Print a part of a figure's files. @param what  handed through */
typedef void (*gnuplot_put)(FILE *out, const void *what);

/** Draw a figure. Its script and data stay beside, with the endings .gp and .dat, so that it can be
 *  changed and drawn again.
 *  @param command  the command line, for their headers
 *  @param data     prints the data file
 *  @param script   prints the script behind the lines that say where to draw; the name of the data
 *                  file is its variable `data`
 *  @return an exit status, reported */
int gnuplot_draw(const char *path, const char *command, gnuplot_put data, gnuplot_put script,
                 const void *what);

/** Run gnuplot on a script and take what it prints. It does not say when a disk is full, and so
 *  writes no file itself; the script's variable `target` is where its figure goes.
 *  @param folder  where it runs
 *  @param script  a file there; "-": `input`, a file that is open
 *  @param out  zeroed; to be freed
 *  @return 0 or an errno; ECHILD when gnuplot itself failed */
int gnuplot_print(const char *folder, const char *script, int input, io_memo *out);

#endif
