/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figure of `kith rdf`, drawn by gnuplot as a process. Its script and data stay beside, so that
 * the figure can be changed and drawn again. Colours are those of Okabe and Ito, which most
 * colour-blind readers can tell apart.
 */
#include "gnuplot.h"
#include "rdf.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#7F7F7F"};
enum { COLOURS = sizeof colours / sizeof *colours };

/** The endings of figures, and what gnuplot makes them with. */
static const char *const terminals[][2] = {
    {".pdf", "pdfcairo enhanced color size 18cm,7.2cm font 'Sans,9'"},
    {".svg", "svg enhanced size 1080,432 font 'Sans,14' background 'white'"},
    {".png", "pngcairo enhanced size 2160,864 font 'Sans,13' fontscale 1.8 linewidth 2"}};

static const char *terminal_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int k = 0; k < 3 && dot; k++) {
        if (strcasecmp(dot, terminals[k][0]) == 0) {
            return terminals[k][1];
        }
    }
    return NULL;
}

bool rdf_plot_known(const char *path)
{
    return terminal_of(path) != NULL;
}

/** The path with another ending; to be freed. */
static char *beside(const char *path, const char *ending)
{
    char *out = NULL;
    const int stem = (int)(strrchr(path, '.') - path);
    return asprintf(&out, "%.*s%s", stem, path, ending) < 0 ? NULL : out;
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_number(FILE *out, double value)
{
    fprintf(out, isfinite(value) ? " %.7g" : " nan", value);
}

/** Two tables, two empty lines apart: r and each curve's g, +-, n; q and each factor's transform,
 *  +-, sum, +-. */
static void put_data(FILE *out, const rdf_task *task, const rdf_outcome *found)
{
    const rdf_structure *s = &found->structure;
    fprintf(out, "# kith " KITH_VERSION "\n# command: %s\n# r", task->command);
    for (int c = 0; c < found->n_curves; c++) {
        fprintf(out, " g(%s) +- n(%s)", found->curve[c].name, found->curve[c].name);
    }
    for (int c = 0; c < found->n_curves && task->force; c++) {
        fprintf(out, " g_force(%s) +-", found->curve[c].name);
    }
    for (int64_t k = 0; k < found->how.bins; k++) {
        fprintf(out, "\n%.7g", (found->edges[k] + found->edges[k + 1]) / 2);
        for (int c = 0; c < found->n_curves; c++) {
            put_number(out, found->curve[c].g[k]);
            put_number(out, found->curve[c].g_error[k]);
            put_number(out, found->curve[c].n[k]);
        }
        for (int c = 0; c < found->n_curves && task->force; c++) {
            put_number(out, found->curve[c].force[k]);
            put_number(out, found->curve[c].force_error[k]);
        }
    }
    fputs("\n\n\n# q", out);
    for (int f = 0; f < s->n; f++) {
        fprintf(out, " S(%s) +- S_sum(%s) +-", s->factor[f].name, s->factor[f].name);
    }
    for (int64_t k = 0; k < s->bins; k++) {
        fprintf(out, "\n%.7g", s->q[k]);
        for (int f = 0; f < s->n; f++) {
            put_number(out, s->factor[f].al[k]);
            put_number(out, s->factor[f].al_error[k]);
            put_number(out, s->factor[f].sum[k]);
            put_number(out, s->factor[f].sum_error[k]);
        }
    }
    fputc('\n', out);
}

/** n grows as r^3: its axis ends where neighbours are no longer told apart. */
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

/** Where the axis of g ends: bonds, whose peaks are higher by far than all that is farther apart
 *  than two of them, are cut. 0: by what is drawn. */
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
    const char *unit = strcmp(found->unit, "A") == 0       ? "Å"
                       : strcmp(found->unit, "sigma") == 0 ? "{/:Italic σ}"
                                                           : found->unit;
    char text[256];
    snprintf(text, sizeof text, *unit ? "{/:Italic %s} (%.200s%s)" : "{/:Italic %s}", symbol, unit,
             power);
    fputs("set xlabel ", out);
    gnuplot_quote(out, text);
    fputc('\n', out);
}

/** By counts as points, where forces make the line; its columns are behind all of the counts. */
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
            continue; /* the whole is a mean of the partials */
        }
        const char *colour = colours[drawn++ % COLOURS];
        const int at = put_counts(out, found, c, colour);
        if (found->blocks.n > 1) {
            fprintf(out,
                    ", \\\n  data index 0 using 1:($%d-$%d):($%d+$%d) with filledcurves "
                    "linecolor rgb '%s' fillstyle transparent solid 0.3 noborder notitle",
                    at, at + 1, at, at + 1, colour);
        }
        fprintf(out, ", \\\n  data index 0 using 1:%d with lines linecolor rgb '%s' linewidth 1.5 ",
                at, colour);
        fputs(found->n_curves > 1 ? "title " : "no", out);
        if (found->n_curves > 1) {
            gnuplot_quote(out, found->curve[c].name);
        } else {
            fputs("title", out);
        }
        fprintf(out,
                ", \\\n  data index 0 using 1:%d axes x1y2 with lines linecolor rgb '%s' "
                "linewidth 1 dashtype (18,9) notitle",
                4 + 3 * c, colour);
    }
    fputs("\n\n", out);
}

static void put_structure(FILE *out, const rdf_task *task, const rdf_outcome *found)
{
    const rdf_structure *s = &found->structure;
    const bool partials = s->n > 1 && task->partials;
    put_axis(out, "q", found, "^{–1}");
    fprintf(out,
            "set ylabel \"{/:Italic S}({/:Italic q})\"\nunset y2label\nunset y2tics\n"
            "set ytics mirror\nset xrange [0:%.7g]\nset yrange [%s:*]\n",
            s->high[s->bins - 1], partials ? "*" : "0");
    fputs("plot 1 with lines linecolor rgb '#BBBBBB' linewidth 0.7 notitle", out);
    for (int f = 0; f < (partials ? s->n : 1); f++) {
        const char *colour = f ? colours[(f - 1) % COLOURS] : "#000000";
        const int at = 2 + 4 * f;
        fprintf(out, ", \\\n  data index 1 using 1:%d with lines linecolor rgb '%s' linewidth %s ",
                at, colour, f ? "1.5" : "1");
        if (partials) {
            fputs("title ", out);
            gnuplot_quote(out, f ? s->factor[f].name : "all");
        } else {
            fprintf(out, "title 'transform%s'", task->window == WINDOW_LORCH ? ", Lorch" : "");
        }
        if (s->direct) {
            fprintf(out,
                    ", \\\n  data index 1 using 1:%d:%d with yerrorbars linecolor rgb '%s' "
                    "pointtype 6 pointsize 0.4 linewidth 0.8 ",
                    at + 2, at + 3, partials ? colour : colours[1]);
            fputs(partials ? "notitle" : "title 'sum over wave vectors'", out);
        }
    }
    fputs("\n\n", out);
}

static void put_script(FILE *out, const rdf_task *task, const rdf_outcome *found, const char *data)
{
    const bool both = found->structure.bins > 0;
    fprintf(out,
            "# kith " KITH_VERSION
            "\n# command: %s\n# draw again with: gnuplot and the name of this file\n",
            task->command);
    fprintf(out, "set encoding utf8\nset terminal %s\ndata = ", terminal_of(task->plot));
    gnuplot_quote(out, file_of(data));
    fputs("\nif (!exists('target')) target = ", out);
    gnuplot_quote(out, file_of(task->plot));
    fputs("\nset output target\n"
          "set offsets 0,0,graph 0.05,0\nset tics scale 0.6 front\nset border linewidth 0.8\n"
          "set key top right noenhanced samplen 1.6 spacing 1.15\n",
          out);
    if (found->partial) {
        fprintf(out, "set title \"partial: %s\" noenhanced\n", found->partial_text);
    }
    fprintf(out, "set multiplot layout 1,%d margins 0.075,%s,0.165,0.96 spacing 0.15,0\n\n",
            both ? 2 : 1, both ? "0.985" : "0.92");
    put_pairs(out, found);
    if (both) {
        put_structure(out, task, found);
    }
    fputs("unset multiplot\n", out);
}

/** Write what `put` puts out. */
static int write_text(const char *path, const rdf_task *task, const rdf_outcome *found,
                      const char *data)
{
    char *text = NULL;
    size_t size = 0;
    io_error error = {0};
    FILE *out = path ? open_memstream(&text, &size) : NULL;
    if (out && data) {
        put_script(out, task, found, data);
    } else if (out) {
        put_data(out, task, found);
    }
    int status = STATUS_OK;
    if (!out || fclose(out) != 0) {
        status = report_error(STATUS_NO_MEMORY, NULL, "no memory for %s", task->plot);
    } else if (io_write_bytes(path, text, (int64_t)size, &error) != IO_OK) {
        status = report_io(&error, true);
    }
    free(text);
    return status;
}

/** Run gnuplot in the figure's folder. @return its exit status; -1: errno says why not. */
static int run_gnuplot(const char *folder, const char *set_target, const char *script)
{
    char *arguments[] = {strdup("gnuplot"), strdup("-e"), strdup(set_target), strdup(script), NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int state = -1;
    int failed = arguments[0] && arguments[1] && arguments[2] && arguments[3] ? 0 : ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failed) {
        failed = posix_spawnp(&child, "gnuplot", &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    while (!failed && waitpid(child, &state, 0) < 0 && errno == EINTR) {}
    for (int k = 0; k < 4; k++) {
        free(arguments[k]);
    }
    errno = failed;
    return failed ? -1 : state;
}

/** What tells the script where to draw; to be freed. */
static char *target_of(const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fputs("target=", out);
    gnuplot_quote(out, name);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/** Draw into a file beside the figure, and rename it. */
static int draw(const rdf_task *task, const char *script)
{
    const char *name = file_of(task->plot);
    char *folder = NULL, *part = NULL;
    int status = STATUS_OK;
    const bool fits = asprintf(&folder, "%.*s.", (int)(name - task->plot), task->plot) >= 0 &&
                      asprintf(&part, "%s.%d.part", task->plot, (int)getpid()) >= 0;
    char *set_target = fits ? target_of(file_of(part)) : NULL;
    const int state = set_target ? run_gnuplot(folder, set_target, file_of(script)) : -1;
    if (state < 0 && errno == ENOENT) {
        status = report_error(
            STATUS_NO_BACKEND, "install it: apt-get install gnuplot-nox; then run it on the script",
            "--plot %s: gnuplot, which draws it, is not found; %s is written", task->plot, script);
    } else if (state != 0 || rename(part, task->plot) != 0) {
        status = report_error(STATUS_OUTPUT, NULL,
                              "--plot %s: gnuplot failed; `gnuplot %s` says why", task->plot,
                              script);
        (void)unlink(part ? part : "");
    }
    free(folder);
    free(part);
    free(set_target);
    return status;
}

int rdf_plot(const rdf_task *task, const rdf_outcome *found)
{
    char *script = beside(task->plot, ".gp"), *data = beside(task->plot, ".dat");
    int status = write_text(data, task, found, NULL);
    if (status == STATUS_OK) {
        status = write_text(script, task, found, data);
    }
    if (status == STATUS_OK) {
        status = draw(task, script);
    }
    free(script);
    free(data);
    return status;
}
