/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith bench: checks the options, then replaces this process, by execv, by the benchmark's program
 * kith-bench (bench/), which is installed beside the command.
 */
#include "common/options.h"
#include "common/report.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_WORDS = 32,  /* of the program's command line, with the NULL at its end */
    PATH_BYTES = 4096 /* of the path of the command, longer ones are cut */
};

/** The options, as a command line of the program. */
typedef struct bench_task {
    char *words[MOST_WORDS];     /**< [n] arguments, then NULL; all but words[0] are to be freed */
    int n;                       /**< number of words */
    const char *python, *output; /**< --python and --output, whose files the command checks; NULL:
                                      not given */
} bench_task;

/** Append an option to the program's command line. @param value  its value; NULL: it has none */
static void add(bench_task *task, const option_given *given, const char *value)
{
    const char *name = given->row->name;
    if (task->n + 1 >= MOST_WORDS) {
        option_error(given->state, "--%s: too many options", name);
    }
    if (asprintf(&task->words[task->n++], "--%s%s%s", name, value && *value ? "=" : "",
                 value ? value : "") < 0) {
        exit(report_no_memory("the options"));
    }
}

/** Append an option, with or without a value, as it was given. */
static void add_text(void *at, const option_given *given)
{
    add(at, given, given->arg);
}

/** Append --points, with a number like 1M written in digits. */
static void add_points(void *at, const option_given *given)
{
    char number[24];
    snprintf(number, sizeof number, "%lld",
             (long long)option_whole(given->state, "--points", given->arg, 1));
    add(at, given, number);
}

/** Append --python. */
static void add_python(void *at, const option_given *given)
{
    ((bench_task *)at)->python = given->arg;
    add(at, given, given->arg);
}

/** Append --output. */
static void add_output(void *at, const option_given *given)
{
    ((bench_task *)at)->output = given->arg;
    add(at, given, given->arg);
}

static const option_row bench_options[] = {
    {"only", 0, "LIST",
     "some of pairs, lists, fof, rdf, nearest, batch, flock, overlap, gpu, with commas; default: "
     "all",
     1, READ_BY(add_text)},
    {"threads", 't', "LIST", "numbers of threads, like 1,2; default: 1 and all cores", 1,
     READ_BY(add_text)},
    {"points", 'n', "N", "in the standard cases; default 1M", 1, READ_BY(add_points)},
    {"quick", 0, NULL, "few points, and peers that need no compiler: shows that it works", 1,
     READ_BY(add_text)},
    {"no-peers", 0, NULL, "kith alone", 2, READ_BY(add_text)},
    {"python", 0, "FILE", "a Python that has the peers; default: one is made", 2,
     READ_BY(add_python), PATH_AT(bench_task, python, FILE_READ)},
    {"output", 'o', "FILE", "results as JSON; default: DATE-MACHINE.json", 3, READ_BY(add_output),
     PATH_AT(bench_task, output, FILE_WRITTEN)},
    {0}};

static const command_line bench_line = {
    .tables = {{.rows = bench_options}},
    .help = "Reproduce the figures of the README on this machine: each answer is verified, then "
            "timed, median of five, beside other programs in one run: vesin, "
            "matscipy-neighbours, scipy, kdcount, pyfof, Corrfunc, freud, MDAnalysis, pyvicsek "
            "and atooms-active, installed from PyPI (into a folder of their own; those that cannot "
            "be are named); hfof and SiSyPHE where they are installed (--python). On a GPU too, "
            "where kith has CUDA and there is one. Takes some forty minutes, on a machine that "
            "should do nothing else; wants python3."
            "\vExample:\n"
            "  kith bench --threads 1,2\n"
            "  kith bench --quick --only pairs,flock"};

/** Paths of the program relative to the folder of the command: installed, or in a build. */
static const char *const places[] = {KITH_BENCH_INSTALLED, "../bench/kith-bench"};

int verb_bench(int argc, char **argv)
{
    static char name[] = "kith-bench";
    bench_task task = {.words = {name}, .n = 1};
    char path[PATH_BYTES + 128], self[PATH_BYTES];
    command_line_parse(&bench_line, argc, argv, &task);
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
