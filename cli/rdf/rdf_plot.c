/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figure of `kith rdf`: g(r) and n(r), and beside them S(q). The data file holds up to three
 * tables, which the script calls index 0 (curves), 1 (S(q) by transform) and 2 (S(q) by direct
 * sum).
 */
#include "common/gnuplot.h"
#include "rdf.h"
#include "common/report.h"

#include <math.h>
#include <core/quote.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_POINTS = 800 }; /* points of the line of S(q) by transform */

/** What the figure shows. */
struct plot {
    const rdf_task *task;     /* the options */
    const rdf_outcome *found; /* the results */
    const double *q, *line;   /* [LINE_POINTS] abscissae [1/length], [factors][LINE_POINTS] S(q) by
                                 transform; NULL without S(q) */
};

static void put_number(FILE *out, double value)
{
    fprintf(out, isfinite(value) ? " %.7g" : " nan", value);
}

/** Print the head of a column: "g(O-H)", with a blank before. */
static void put_column(FILE *out, const char *function, const char *name)
{
    fprintf(out, " %s(", function);
    io_quote_put(out, IO_QUOTE_WORD, name);
    fputc(')', out);
}

/** Print q and the transform of each factor; then, if there are direct sums, q and each sum with
 *  its error. */
static void put_factors(FILE *out, const struct plot *plot)
{
    const rdf_structure *s = &plot->found->structure;
    fputs("\n\n\n# q", out);
    for (int f = 0; f < s->n; f++) {
        put_column(out, "S", s->factor[f].name);
    }
    for (int k = 0; k < LINE_POINTS; k++) {
        fprintf(out, "\n%.7g", plot->q[k]);
        for (int f = 0; f < s->n; f++) {
            put_number(out, plot->line[f * LINE_POINTS + k]);
        }
    }
    fputs(s->direct ? "\n\n\n# q" : "", out);
    for (int f = 0; f < s->n && s->direct; f++) {
        put_column(out, "S_sum", s->factor[f].name);
        fputs(" +-", out);
    }
    for (int64_t k = 0; k < s->bins && s->direct; k++) {
        fprintf(out, "\n%.7g", s->q[k]);
        for (int f = 0; f < s->n; f++) {
            put_number(out, s->factor[f].sum[k]);
            put_number(out, s->factor[f].sum_error[k]);
        }
    }
}

/** Print the data: tables with two empty lines between; r and g, +-, n of each curve, then S(q). */
static void put_data(FILE *out, const void *what)
{
    const struct plot *plot = what;
    const rdf_outcome *found = plot->found;
    fputs("# r", out);
    for (int c = 0; c < found->n_curves; c++) {
        put_column(out, "g", found->curve[c].name);
        fputs(" +-", out);
        put_column(out, "n", found->curve[c].name);
    }
    for (int c = 0; c < found->n_curves && found->curve[c].force; c++) {
        put_column(out, "g_force", found->curve[c].name);
        fputs(" +-", out);
    }
    for (int64_t k = 0; k < found->how.bins; k++) {
        fprintf(out, "\n%.7g", found->middle[k]);
        for (int c = 0; c < found->n_curves; c++) {
            put_number(out, found->curve[c].g[k]);
            put_number(out, found->curve[c].g_error[k]);
            put_number(out, found->curve[c].n[k]);
        }
        for (int c = 0; c < found->n_curves && found->curve[c].force; c++) {
            put_number(out, found->curve[c].force[k]);
            put_number(out, found->curve[c].force_error[k]);
        }
    }
    if (plot->line) {
        put_factors(out, plot);
    }
    fputc('\n', out);
}

/** Upper end of the axis of n: 2.5 times its value at the minimum after the first peak, the largest
 *  of all curves. n grows as r^3 beyond. 0: automatic. */
static double most_neighbours(const rdf_outcome *found)
{
    const double beyond = 2.5;
    double most = 0;
    for (int c = 0; c < found->n_curves; c++) {
        const rdf_curve *curve = &found->curve[c];
        if ((curve->a >= 0 || found->n_curves == 1) && curve->low >= 0) {
            most = fmax(most, beyond * curve->n[curve->low]);
        }
    }
    return most;
}

/** Upper end of the axis of g; 0: automatic. Peaks of bonds, far higher than all that is beyond
 *  two bond lengths, are cut off. */
static double most_g(const rdf_outcome *found)
{
    const double far = 2.2, times = 5, above = 1.25;
    double first = 0, most = 0, beyond = 0;
    for (int64_t k = 0; k < found->how.bins; k++) {
        double g = 0;
        for (int c = found->n_curves > 1; c < found->n_curves; c++) {
            g = fmax(g, found->curve[c].g[k]);
        }
        first = first > 0 || !(g > 1) ? first : found->edges[k + 1];
        most = fmax(most, g);
        beyond = first > 0 && found->edges[k] > far * first ? fmax(beyond, g) : beyond;
    }
    return beyond > 0 && most > times * beyond ? above * beyond : 0;
}

/** "r (Å)", "q (Å^{-1})"; no unit where it is not known. */
static void put_axis(FILE *out, const char *symbol, const rdf_outcome *found, const char *power)
{
    const char *known = strcmp(found->unit, "A") == 0       ? "Å"
                        : strcmp(found->unit, "sigma") == 0 ? "{/:Italic σ}"
                                                            : NULL;
    fprintf(out, "set xlabel \"{/:Italic %s}", symbol);
    if (known) {
        fprintf(out, " (%s%s)", known, power);
    } else if (*found->unit) {
        fputs(" (", out);
        io_quote_put(out, IO_QUOTE_GNUPLOT_LABEL, found->unit);
        fprintf(out, "%s)", power);
    }
    fputs("\"\n", out);
}

static void put_curve_title(FILE *out, const char *name)
{
    fputs("title \"", out);
    io_quote_put(out, IO_QUOTE_GNUPLOT_TEXT, name);
    fputc('"', out);
}

/** Plot g by counts as points if g by forces is the line; the columns by forces follow all
 *  columns by counts.
 *  @return column of g that is drawn as a line: the next one is its error */
static int put_counts(FILE *out, const rdf_outcome *found, int c, const char *colour)
{
    const int at = 2 + 3 * c;
    if (!found->curve[c].force) {
        return at;
    }
    fprintf(out,
            ", \\\n  data index 0 using 1:%d with points pointtype 6 pointsize 0.3 linecolor "
            "rgb '%s' notitle",
            at, colour);
    return 2 + 3 * found->n_curves + 2 * c;
}

/** Print the script of g(r) and n(r). */
static void put_pairs(FILE *out, const rdf_outcome *found)
{
    const double most = most_neighbours(found), top = most_g(found);
    put_axis(out, "r", found, "");
    fprintf(out,
            "set ylabel \"{/:Italic g}({/:Italic r})\"\n"
            "set y2label \"{/:Italic n}({/:Italic r}), dashed\"\n"
            "set xrange [%.7g:%.7g]\nset ytics nomirror\nset y2tics\n",
            found->edges[0], found->edges[found->how.bins]);
    fprintf(out, top > 0 ? "set yrange [0:%.3g] # bonds go beyond\n" : "set yrange [0:*]\n", top);
    fprintf(out, most > 0 ? "set y2range [0:%.4g]\n" : "set y2range [0:*]\n", most);
    fputs("plot 1 with lines linecolor rgb '#BBBBBB' linewidth 0.7 notitle", out);
    for (int c = 0, drawn = 0; c < found->n_curves; c++) {
        if (found->curve[c].a < 0 && found->n_curves > 1) {
            continue; /* the curve of all is a mean of the partials */
        }
        const char *colour = gnuplot_colours[drawn++ % GNUPLOT_COLOURS];
        const int at = put_counts(out, found, c, colour);
        if (found->blocks.n > 1) {
            fprintf(out,
                    ", \\\n  data index 0 using 1:($%d-$%d):($%d+$%d) with filledcurves "
                    "linecolor rgb '%s' fillstyle transparent solid 0.3 noborder notitle",
                    at, at + 1, at, at + 1, colour);
        }
        fprintf(out, ", \\\n  data index 0 using 1:%d with lines linecolor rgb '%s' linewidth 1.5 ",
                at, colour);
        if (found->n_curves > 1) {
            put_curve_title(out, found->curve[c].name);
        } else {
            fputs("notitle", out);
        }
        fprintf(out,
                ", \\\n  data index 0 using 1:%d axes x1y2 with lines linecolor rgb '%s' "
                "linewidth 1 dashtype (18,9) notitle",
                4 + 3 * c, colour);
    }
    fputs("\n\n", out);
}

/** Print the script of S(q). */
static void put_structure(FILE *out, const rdf_task *task, const rdf_outcome *found)
{
    const rdf_structure *s = &found->structure;
    const bool partials = s->n > 1 && task->partials;
    put_axis(out, "q", found, "^{–1}");
    fprintf(out,
            "set ylabel \"{/:Italic S}({/:Italic q})\"\nunset y2label\nunset y2tics\n"
            "set ytics mirror\nset errorbars 0\nset xrange [0:%.7g]\nset yrange [%s:*]\n",
            s->high[s->bins - 1], partials ? "*" : "0");
    fputs("plot 1 with lines linecolor rgb '#BBBBBB' linewidth 0.7 notitle", out);
    for (int f = 0; f < (partials ? s->n : 1); f++) {
        const char *colour = f ? gnuplot_colours[(f - 1) % GNUPLOT_COLOURS] : "#000000";
        fprintf(out, ", \\\n  data index 1 using 1:%d with lines linecolor rgb '%s' linewidth %s ",
                2 + f, colour, f ? "1.5" : "1");
        if (partials) {
            put_curve_title(out, f ? s->factor[f].name : "all");
        } else {
            fprintf(out, "title 'transform%s'", task->window == WINDOW_LORCH ? ", Lorch" : "");
        }
        if (s->direct) {
            fprintf(out,
                    ", \\\n  data index 2 using 1:%d:%d with yerrorbars linecolor rgb '%s' "
                    "pointtype 7 pointsize 0.6 linewidth 1 ",
                    2 + 2 * f, 3 + 2 * f, partials ? colour : gnuplot_colours[1]);
            fputs(partials ? "notitle" : "title 'sum over wave vectors'", out);
        }
    }
    fputs("\n\n", out);
}

static void put_figure(FILE *out, const void *what)
{
    const struct plot *plot = what;
    const rdf_outcome *found = plot->found;
    const bool both = found->structure.bins > 0;
    if (found->partial) {
        fprintf(out, "set title \"partial: %s\" noenhanced\n", found->partial_text);
    }
    fprintf(out, "set multiplot layout 1,%d margins 0.075,%s,0.165,0.96 spacing 0.15,0\n\n",
            both ? 2 : 1, both ? "0.985" : "0.92");
    put_pairs(out, found);
    if (both) {
        put_structure(out, plot->task, found);
    }
    fputs("unset multiplot\n", out);
}

int rdf_plot(const rdf_task *task, const rdf_outcome *found)
{
    const rdf_structure *s = &found->structure;
    struct plot plot = {.task = task, .found = found};
    double q[LINE_POINTS], *line = NULL;
    if (s->bins > 0) {
        /* Below 2 pi / R the transform has no information, and sums are drawn. */
        const double high = s->high[s->bins - 1];
        const double least = s->direct ? 2 * M_PI / found->edges[found->how.bins] : 0;
        const double low = least < high ? fmax(least, s->low[0]) : s->low[0];
        for (int k = 0; k < LINE_POINTS; k++) {
            q[k] = low + (high - low) * k / (LINE_POINTS - 1);
        }
        line = rdf_structure_line(task, found, LINE_POINTS, q);
        if (!line) {
            return report_no_memory(task->plot);
        }
        plot.q = q;
        plot.line = line;
    }
    const int status = gnuplot_draw(task->plot, put_data, put_figure, &plot, false);
    free(line);
    return status;
}
