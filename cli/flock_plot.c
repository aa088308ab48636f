/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures of a flock over time, drawn by gnuplot.
 */
#include "flock.h"

#include "gnuplot.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/** The terminal of gnuplot for a name's ending; NULL for others. */
static const char *terminal_of(const char *path)
{
    static const char *const known[][2] = {{".png", "pngcairo size 900,600"},
                                           {".svg", "svg size 900,600"},
                                           {".pdf", "pdfcairo size 18cm,12cm"}};
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < sizeof known / sizeof *known; k++) {
        if (strcasecmp(dot, known[k][0]) == 0) {
            return known[k][1];
        }
    }
    return NULL;
}

static void put_script(FILE *to, const char *terminal, const flock_run *run)
{
    fprintf(to, "set terminal %s\nset output target\n", terminal);
    fputs("set xlabel 'step'\nset ylabel 'order'\nset yrange [0:1]\nset y2label 'neighbours, "
          "dashed'\n"
          "set ytics nomirror\nset y2tics\nset key outside top center horizontal\n$data << END\n",
          to);
    for (int64_t k = 0; k < run->n_samples; k++) {
        const flock_sample *s = &run->samples[k];
        fprintf(to, "%lld %.9g %.9g %.9g\n", (long long)s->step, s->all.polarisation,
                s->all.milling, s->all.neighbours);
    }
    fprintf(to,
            "END\nplot $data using 1:2 with lines lw 2 lc rgb '%s' title 'polarisation', "
            "'' using 1:3 with lines lw 2 lc rgb '%s' title 'milling', "
            "'' using 1:4 axes x1y2 with lines lw 2 dt 2 lc rgb '%s' title 'neighbours'\n",
            gnuplot_colours[0], gnuplot_colours[1], gnuplot_colours[6]);
}

bool flock_plot_named(const char *path)
{
    return terminal_of(path) != NULL;
}

/** A file in memory that holds the script, to be read from its beginning. NULL with an errno. */
static FILE *make_script(const flock_task *task, const flock_run *run)
{
    const int id = memfd_create("gnuplot", MFD_CLOEXEC);
    FILE *script = id >= 0 ? fdopen(id, "w") : NULL;
    if (!script) {
        return NULL;
    }
    put_script(script, terminal_of(task->plot), run);
    if (fflush(script) != 0 || lseek(id, 0, SEEK_SET) != 0) {
        fclose(script);
        return NULL;
    }
    return script;
}

int flock_plot(const flock_task *task, const flock_run *run)
{
    io_error error = {0};
    io_memo figure = {0};
    FILE *script = make_script(task, run);
    const int failed = script ? gnuplot_print(".", "-", fileno(script), &figure) : errno;
    int status = STATUS_OK;
    if (failed == ENOENT || failed == ECHILD) {
        status = report_error(STATUS_OUTPUT, "install gnuplot, or leave out --plot",
                              "%s: gnuplot did not draw it", task->plot);
    } else if (failed) {
        status = report_error(failed == ENOMEM ? STATUS_NO_MEMORY : STATUS_OUTPUT, NULL, "%s: %s",
                              task->plot, strerror(failed));
    } else if (io_write_bytes(task->plot, figure.data, (int64_t)figure.n, &error) != IO_OK) {
        status = report_io(&error, true);
    }
    if (script) {
        fclose(script);
    }
    free(figure.data);
    return status;
}
