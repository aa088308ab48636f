/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures of a flock over time, drawn by gnuplot.
 */
#include "flock.h"

#include "gnuplot.h"

static void put_data(FILE *out, const void *what)
{
    const flock_run *run = what;
    fputs("# step polarisation milling neighbours\n", out);
    for (int64_t k = 0; k < run->n_samples; k++) {
        const flock_sample *s = &run->samples[k];
        fprintf(out, "%lld %.9g %.9g %.9g\n", (long long)s->step, s->all.polarisation,
                s->all.milling, s->all.neighbours);
    }
}

static void put_figure(FILE *out, const void *what)
{
    (void)what;
    fprintf(out,
            "set xlabel 'step'\nset ylabel 'order'\nset yrange [0:1]\n"
            "set y2label 'neighbours, dashed'\nset ytics nomirror\nset y2tics\n"
            "set key outside top center horizontal\n"
            "plot data using 1:2 with lines lw 2 lc rgb '%s' title 'polarisation', "
            "'' using 1:3 with lines lw 2 lc rgb '%s' title 'milling', "
            "'' using 1:4 axes x1y2 with lines lw 2 dt 2 lc rgb '%s' title 'neighbours'\n",
            gnuplot_colours[0], gnuplot_colours[1], gnuplot_colours[6]);
}

int flock_plot(const flock_task *task, const flock_run *run)
{
    return gnuplot_draw(task->plot, put_data, put_figure, run, task->restart != NULL);
}
