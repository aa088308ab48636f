/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures by gnuplot: writes the data and the script, runs gnuplot as a child process, reads the
 * figure from a pipe, and writes it atomically.
 */
#include "gnuplot.h"

#include "options.h"
#include "progress.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <core/quote.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const gnuplot_colours[GNUPLOT_COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#7F7F7F"};

/** Endings of figures, and the terminals of gnuplot that make them. */
static const char *const terminals[][2] = {
    {".pdf", "pdfcairo enhanced color size 18cm,7.2cm font 'Sans,9'"},
    {".svg", "svg enhanced size 1080,432 font 'Sans,14' background 'white'"},
    {".png", "pngcairo enhanced size 2160,864 font 'Sans,13' fontscale 1.8 linewidth 2"}};

/** Return the terminal for the ending of a path; NULL: the ending is not known. */
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

void gnuplot_read_path(void *at, const option_given *given)
{
    if (!terminal_of(given->arg)) {
        option_invalid("--plot", given->arg, "a name that ends in .pdf, .svg or .png");
    }
    *(const char **)at = given->arg;
}

char *gnuplot_beside(const char *path, const char *ending)
{
    char *out = NULL;
    const int stem = (int)(strrchr(path, '.') - path);
    return asprintf(&out, "%.*s%s", stem, path, ending) < 0 ? NULL : out;
}

/** Return the last name of a path. */
static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** Print the name of a file in the working directory. The "./" keeps gnuplot from running what
 *  stands behind a leading < or |, and from taking a leading - for an option. */
static void put_name(FILE *out, const char *path)
{
    fputs("\"./", out);
    io_quote_put(out, IO_QUOTE_GNUPLOT_FILE, file_of(path));
    fputc('"', out);
}

/** Print the lines that set terminal and output. */
static void put_target(FILE *out, const char *path, const char *data)
{
    fprintf(out, "set encoding utf8\nset terminal %s\ndata = ", terminal_of(path));
    put_name(out, data);
    fputs("\nif (!exists('target')) target = ", out);
    put_name(out, path);
    fputs("\nset output target\n"
          "set offsets 0,0,graph 0.05,0\nset tics scale 0.6 front\nset border linewidth 0.8\n"
          "set key top right noenhanced samplen 1.6 spacing 1.15\n",
          out);
}

/** Write the data or the script.
 *  @param figure  path of the figure, for a script; NULL: the file is the data
 *  @param data    path of the data, for a script
 *  @param put     prints the contents, given `what`
 *  @param again   as for gnuplot_draw
 *  @return exit status, reported */
static int write_text(const char *path, const char *figure, const char *data, gnuplot_put put,
                      const void *what, bool again)
{
    io_memory_file text = {0};
    FILE *out = io_memory_file_open(&text);
    if (out) {
        fprintf(out, "# kith " KITH_VERSION "\n# command: %s\n", option_command());
    }
    if (out && figure) {
        fputs("# draw again with: gnuplot and the name of this file\n", out);
        put_target(out, figure, data);
    }
    if (out) {
        put(out, what);
    }
    return report_written(path, &text, io_memory_file_close(&text, out), again);
}

/** Start gnuplot on a script in its folder, without the user's settings (-d): older builds run a
 *  .gnuplot of the working directory. @return 0 or an errno. */
static int start(const char *folder, const char *script, int output, pid_t *child)
{
    const char *const words[] = {"gnuplot", "-d", "-e", "target='/dev/stdout'", script, NULL};
    char *own[sizeof words / sizeof *words]; /* posix_spawnp takes pointers that are not const */
    memcpy(own, words, sizeof own);
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) {
        return failed;
    }
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    failed = posix_spawnp(child, own[0], &actions, NULL, own, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/** Read all of a pipe. A signal that progress_catch_signals handles ends the child, if it arrives
 *  meanwhile. @return 0 or an errno */
static int keep_all(int from, pid_t child, io_memory_file *out)
{
    enum { TURN = 50 }; /* time between tests for an interrupt [ms] */
    const bool before = progress_interrupted();
    char block[4096];
    ssize_t got = 1;
    while (got > 0) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        const int polled = poll(&ready, 1, TURN);
        if (!before && progress_interrupted()) {
            kill(child, SIGKILL);
        }
        got = polled > 0 ? read(from, block, sizeof block) : 1;
        if (polled > 0 && got > 0) {
            (void)io_memory_file_add(out, block, (size_t)got);
        } else if (got < 0 && errno == EINTR) {
            got = 1;
        }
    }
    return got < 0 ? errno : 0;
}

/** Run gnuplot on a script and read the figure that it prints. gnuplot does not report a full disk,
 *  and therefore writes no file itself; the variable `target` of the script is where its figure
 *  goes.
 *  @return 0 or an errno; ECHILD if gnuplot failed */
static int print_figure(const char *folder, const char *script, io_memory_file *out)
{
    int ends[2], state = -1;
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return errno;
    }
    int failed = start(folder, script, ends[1], &child);
    close(ends[1]);
    if (!failed) {
        failed = keep_all(ends[0], child, out);
    }
    close(ends[0]);
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR) {}
    return failed                                         ? failed
           : out->lost                                    ? ENOMEM
           : WIFSIGNALED(state) && progress_interrupted() ? EINTR
           : state != 0 || out->n == 0                    ? ECHILD
                                                          : 0;
}

/** Draw with the script that was written. Its folder, in which gnuplot runs, is the path without
 *  the last name and a ".": "." or "figures/.". @return exit status, reported */
static int draw(const char *path, const char *script, bool again)
{
    char *folder = NULL, *name = NULL;
    io_memory_file figure = {0};
    const bool fits = asprintf(&folder, "%.*s.", (int)(file_of(path) - path), path) >= 0 &&
                      /* gnuplot would read the name -x.gp as an option, so prepend "./" */
                      asprintf(&name, "./%s", file_of(script)) >= 0;
    const int failed = fits ? print_figure(folder, name, &figure) : ENOMEM;
    free(folder);
    free(name);
    if (!failed || failed == ENOMEM) {
        return report_written(path, &figure, !failed, again);
    }
    free(figure.data);
    if (failed == EINTR) {
        return report_interrupted(path);
    }
    return failed == ENOENT
               ? report_error(
                     STATUS_NO_BACKEND,
                     "install gnuplot: apt-get install gnuplot-nox; then run it on the script",
                     "--plot %s: gnuplot, which draws it, is not found; %s is written", path,
                     script)
               : report_error(STATUS_OUTPUT, NULL,
                              "--plot %s: gnuplot failed; `gnuplot %s` says why", path, script);
}

int gnuplot_draw(const char *path, gnuplot_put put_data, gnuplot_put put_script, const void *what,
                 bool again)
{
    char *script = gnuplot_beside(path, ".gp"), *data = gnuplot_beside(path, ".dat");
    int status = script && data ? write_text(data, NULL, NULL, put_data, what, again)
                                : report_no_memory(path);
    if (status == STATUS_OK) {
        status = write_text(script, path, data, put_script, what, again);
    }
    if (status == STATUS_OK) {
        status = draw(path, script, again);
    }
    free(script);
    free(data);
    return status;
}
