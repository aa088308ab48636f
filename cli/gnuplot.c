/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A figure's data and script, and the process that draws it.
 */
#include "gnuplot.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const gnuplot_colours[GNUPLOT_COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#7F7F7F"};

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

bool gnuplot_known(const char *path)
{
    return terminal_of(path) != NULL;
}

void gnuplot_quote(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        fputs(*text == '\'' ? "''" : (const char[]){*text, '\0'}, out);
    }
    fputc('\'', out);
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

/** The lines that say where to draw. */
static void put_target(FILE *out, const char *path, const char *data)
{
    fprintf(out, "set encoding utf8\nset terminal %s\ndata = ", terminal_of(path));
    gnuplot_quote(out, file_of(data));
    fputs("\nif (!exists('target')) target = ", out);
    gnuplot_quote(out, file_of(path));
    fputs("\nset output target\n"
          "set offsets 0,0,graph 0.05,0\nset tics scale 0.6 front\nset border linewidth 0.8\n"
          "set key top right noenhanced samplen 1.6 spacing 1.15\n",
          out);
}

/** One of the two files. */
struct text {
    const char *path;   /* of the file */
    const char *figure; /* of a script: what it draws; else NULL */
    const char *data;   /* and from what */
    const char *command;
    gnuplot_put put;
};

static int write_text(const struct text *t, const void *what)
{
    char *text = NULL;
    size_t size = 0;
    io_error error = {0};
    FILE *out = open_memstream(&text, &size);
    if (out) {
        fprintf(out, "# kith " KITH_VERSION "\n# command: %s\n", t->command);
    }
    if (out && t->figure) {
        fputs("# draw again with: gnuplot and the name of this file\n", out);
        put_target(out, t->figure, t->data);
    }
    if (out) {
        t->put(out, what);
    }
    int status = STATUS_OK;
    if (!out || fclose(out) != 0) {
        status = report_error(STATUS_NO_MEMORY, NULL, "no memory for a figure");
    } else if (io_write_bytes(t->path, text, (int64_t)size, &error) != IO_OK) {
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
static int draw(const char *path, const char *script)
{
    const char *name = file_of(path);
    char *folder = NULL, *part = NULL;
    int status = STATUS_OK;
    const bool fits = asprintf(&folder, "%.*s.", (int)(name - path), path) >= 0 &&
                      asprintf(&part, "%s.%d.part", path, (int)getpid()) >= 0;
    char *set_target = fits ? target_of(file_of(part)) : NULL;
    const int state = set_target ? run_gnuplot(folder, set_target, file_of(script)) : -1;
    if (state < 0 && errno == ENOENT) {
        status = report_error(
            STATUS_NO_BACKEND, "install it: apt-get install gnuplot-nox; then run it on the script",
            "--plot %s: gnuplot, which draws it, is not found; %s is written", path, script);
    } else if (state != 0 || rename(part, path) != 0) {
        status = report_error(STATUS_OUTPUT, NULL,
                              "--plot %s: gnuplot failed; `gnuplot %s` says why", path, script);
        (void)unlink(part ? part : "");
    }
    free(folder);
    free(part);
    free(set_target);
    return status;
}

int gnuplot_draw(const char *path, const char *command, gnuplot_put put_data,
                 gnuplot_put put_script, const void *what)
{
    char *script = beside(path, ".gp"), *data = beside(path, ".dat");
    int status = script && data
                     ? write_text(&(struct text){data, NULL, NULL, command, put_data}, what)
                     : report_error(STATUS_NO_MEMORY, NULL, "no memory for %s", path);
    if (status == STATUS_OK) {
        status = write_text(&(struct text){script, path, data, command, put_script}, what);
    }
    if (status == STATUS_OK) {
        status = draw(path, script);
    }
    free(script);
    free(data);
    return status;
}
