/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith overlap: the distribution P(q) of the overlaps of replicas.
 */
#include "overlap.h"

#include "common/files.h"
#include "common/gnuplot.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MEASURE = 0x200,
    KEY_MEAN,
    KEY_BINS,
    KEY_RANGE,
    KEY_SPINS,
    KEY_PACKED,
    KEY_MATRIX,
    KEY_PLOT,
    KEY_FORMAT
};

static const struct argp_option overlap_options[] = {
    {"measure", KEY_MEASURE, "NAME", 0, "cosine (default), product or distance", 1},
    {"subtract-mean", KEY_MEAN, 0, 0, "take the mean over replicas from each", 2},
    {"bins", KEY_BINS, "N", 0, "their number; default 200", 3},
    {"range", KEY_RANGE, "LOW,HIGH", 0, "their ends; default: all that can be", 3},
    {"spins", KEY_SPINS, 0, 0, "numbers are spins: 1 is up, 0 or -1 down", 4},
    {"packed", KEY_PACKED, "D", 0, "bytes hold D spins, as numpy.packbits does", 4},
    {"matrix", KEY_MATRIX, "FILE.npy", 0, "all overlaps too, one row a replica", 40},
    {"plot", KEY_PLOT, "FILE", 0, "figure by gnuplot: .pdf, .svg, .png", 40},
    {"format", KEY_FORMAT, "NAME", 0, "of the output: text, json, npy, xvg", 40},
    {0}};

static void parse_range(overlap_task *task, const char *arg, struct argp_state *state)
{
    double range[2];
    if (parse_reals(arg, 2, range) != 2) {
        options_error(state, "--range: got '%s', expected LOW,HIGH", arg);
    }
    if (!(range[0] < range[1]) || !isfinite(range[0]) || !isfinite(range[1])) {
        options_invalid("--range", arg, "two rising, finite numbers");
    }
    task->how.low = range[0];
    task->how.high = range[1];
}

static void check_task(const overlap_task *task, struct argp_state *state)
{
    const bool packed = task->packed > 0;
    options_refuse(state, !task->input, "no REPLICAS given");
    options_refuse(state, packed && task->spins, "one of --spins and --packed");
    options_refuse(state, packed && task->how.subtract_mean,
                   "--subtract-mean: what is left of packed spins are none");
    options_refuse(state, packed && task->shared.read.precision,
                   "--precision means nothing for packed spins");
    options_refuse(state, task->matrix && strcmp(task->matrix, "-") == 0,
                   "--matrix needs the name of a file");
    table_check_options(state, &task->shared, task->format);
    const file_use files[] = {{"REPLICAS", task->input, FILE_READ},
                              {"--output", task->shared.output, FILE_WRITTEN},
                              {"--matrix", task->matrix, FILE_WRITTEN},
                              {"--plot", task->plot, FILE_FIGURE}};
    files_check(files, sizeof files / sizeof *files);
}

static const struct argp_child children[] = {{&options_vectors, 0, NULL, 0},
                                             {&options_engine, 0, NULL, 0},
                                             {&options_result, 0, NULL, 0},
                                             {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    overlap_task *task = state->input;
    switch (key) {
    case ARGP_KEY_INIT: options_parse_init(state, children, &task->shared); return 0;
    case KEY_MEASURE:
        task->how.measure = options_word(state, "--measure", arg, "cosine, product or distance");
        return 0;
    case KEY_MEAN: task->how.subtract_mean = 1; return 0;
    case KEY_BINS: task->how.bins = options_whole(state, "--bins", arg, 1); return 0;
    case KEY_RANGE: parse_range(task, arg, state); return 0;
    case KEY_SPINS: task->spins = true; return 0;
    case KEY_PACKED: task->packed = options_whole(state, "--packed", arg, 1); return 0;
    case KEY_MATRIX: task->matrix = arg; return 0;
    case KEY_PLOT: task->plot = gnuplot_option(arg); return 0;
    case KEY_FORMAT:
        task->format = table_parse_format(state, arg, "text, json, npy or xvg");
        return 0;
    case ARGP_KEY_ARG: options_operand(state, "REPLICAS", arg, &task->input); return 0;
    case ARGP_KEY_END: check_task(task, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = overlap_options,
    .parser = parse_option,
    .args_doc = "REPLICAS",
    .doc = "Histogram P(q) of the overlaps of replicas: vectors of one length, a row each."
           "\vExample:\n"
           "  kith make uniform 10k --seed 1 -o cube.npy\n"
           "  kith overlap cube.npy --subtract-mean --bins 100 -o pq.txt",
    .children = children};

static int run(const overlap_task *task, overlap_outcome *found)
{
    CLI_TRY(overlap_run(task, found));
    if (task->shared.output) {
        CLI_TRY(overlap_write(task, found));
    }
    if (task->plot) {
        CLI_TRY(overlap_plot(task, found));
    }
    if (task->shared.json) {
        return report_json(overlap_json(task, found));
    }
    if (options_summary(&task->shared)) {
        overlap_print(task, found);
    }
    return STATUS_OK;
}

int verb_overlap(int argc, char **argv)
{
    overlap_task task = {0};
    kith_overlap_options_init(&task.how);
    options_parse(&arguments, argc, argv, &task);

    progress_catch_signals();
    overlap_outcome found = {0};
    const int status = run(&task, &found);
    kith_overlaps_free(&found.counts);
    kith_close(found.ctx);
    io_vectors_free(&found.vectors);
    free(found.q);
    return status;
}
