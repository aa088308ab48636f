/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith bench: becomes the benchmark's program, which is installed beside the command.
 */
#include "common/files.h"
#include "common/options.h"
#include "common/report.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_QUICK = 0x200, KEY_ONLY, KEY_NO_PEERS, KEY_PYTHON, MOST_WORDS = 32, PATH_BYTES = 4096 };

/** The program's command line: words[0], and options to be freed; NULL at the end. */
typedef struct bench_task {
    char *words[MOST_WORDS];
    int n;
    const char *python, *output; /* NULL: not given */
} bench_task;

static const struct argp_option bench_options[] = {
    {"only", KEY_ONLY, "LIST", 0, "some of pairs,fof,rdf,flock,overlap,gpu; default: all", 1},
    {"threads", 't', "LIST", 0, "numbers of threads, such as 1,2; default: 1 and all cores", 1},
    {"points", 'n', "N", 0, "in the standard cases; default 1M", 1},
    {"quick", KEY_QUICK, NULL, 0,
     "few points, and peers that need no compiler: shows that it works", 1},
    {"no-peers", KEY_NO_PEERS, NULL, 0, "kith alone", 2},
    {"python", KEY_PYTHON, "FILE", 0, "a Python that has the peers; default: one is made", 2},
    {"output", 'o', "FILE", 0, "results as JSON; default: DATE-MACHINE.json", 3},
    {0}};

/** Hand an option on. @param value  "=" and what it is; "" without */
static void add(bench_task *task, struct argp_state *state, const char *option, const char *value)
{
    if (task->n + 1 >= MOST_WORDS) {
        options_error(state, "%s: too many options", option);
    }
    if (asprintf(&task->words[task->n++], "%s%s%s", option, *value ? "=" : "", value) < 0) {
        exit(report_no_memory("the options"));
    }
}

static void check_files(const bench_task *task)
{
    const file_use files[] = {{"--python", task->python, FILE_READ},
                              {"--output", task->output, FILE_WRITTEN}};
    files_check(files, sizeof files / sizeof *files);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    bench_task *task = state->input;
    char number[24];
    switch (key) {
    case KEY_ONLY: add(task, state, "--only", arg); return 0;
    case 't': add(task, state, "--threads", arg); return 0;
    case 'n':
        snprintf(number, sizeof number, "%lld",
                 (long long)options_whole(state, "--points", arg, 1));
        add(task, state, "--points", number);
        return 0;
    case KEY_QUICK: add(task, state, "--quick", ""); return 0;
    case KEY_NO_PEERS: add(task, state, "--no-peers", ""); return 0;
    case KEY_PYTHON:
        task->python = arg;
        add(task, state, "--python", arg);
        return 0;
    case 'o':
        task->output = arg;
        add(task, state, "--output", arg);
        return 0;
    case ARGP_KEY_END: check_files(task); return 0;
    case ARGP_KEY_ARG: options_error(state, "too many arguments: '%s'", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = bench_options,
    .parser = parse_option,
    .doc = "Reproduce the figures of the README on this machine: each answer is verified, then "
           "timed, median of five, beside other programs in the same run: vesin, "
           "matscipy-neighbours, scipy, kdcount, pyfof, Corrfunc, freud and MDAnalysis, installed "
           "from PyPI (into a folder of their own; those that cannot be are named). On a GPU too, "
           "where kith has CUDA and there is one. Takes some thirty minutes, on a machine that "
           "should do nothing else; wants python3."
           "\vExample:\n"
           "  kith bench --threads 1,2\n"
           "  kith bench --quick --only pairs,flock"};

/** Where the program may be, seen from the command: installed, or built. */
static const char *const places[] = {KITH_BENCH_INSTALLED, "../bench/kith-bench"};

int verb_bench(int argc, char **argv)
{
    static char name[] = "kith-bench";
    bench_task task = {.words = {name}, .n = 1};
    char path[PATH_BYTES + 128], self[PATH_BYTES];
    options_parse(&arguments, argc, argv, &task);
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *const slash = strrchr(self, '/');
    for (size_t p = 0; slash && p < sizeof places / sizeof places[0]; p++) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - self), self, places[p]);
        execv(path, task.words);
    }
    for (int w = 1; w < task.n; w++) {
        free(task.words[w]);
    }
    return report_error(STATUS_INPUT, "it is built and installed with KITH_TESTS=ON",
                        "the benchmark's program %s is not beside %s", name, self);
}
