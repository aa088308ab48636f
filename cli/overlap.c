/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith overlap: the distribution P(q) of the overlaps of replicas.
 */
#include "overlap.h"

#include "gnuplot.h"
#include "parse.h"
#include "progress.h"
#include "report.h"
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

const char *overlap_measure_name(kith_overlap_measure measure)
{
    static const char *const names[] = {"cosine", "product", "distance"};
    return names[measure];
}

static kith_overlap_measure parse_measure(const char *arg, struct argp_state *state)
{
    for (int m = KITH_COSINE; m <= KITH_DISTANCE; m++) {
        if (strcmp(arg, overlap_measure_name((kith_overlap_measure)m)) == 0) {
            return (kith_overlap_measure)m;
        }
    }
    argp_error(state, "--measure: got '%s', expected cosine, product or distance", arg);
    return KITH_COSINE;
}

static void parse_range(overlap_task *task, const char *arg, struct argp_state *state)
{
    double range[2];
    if (parse_reals(arg, 2, range) != 2) {
        argp_error(state, "--range: got '%s', expected LOW,HIGH", arg);
    }
    if (!(range[0] < range[1]) || !isfinite(range[0]) || !isfinite(range[1])) {
        options_invalid("--range", arg, "two rising, finite numbers");
    }
    task->how.low = range[0];
    task->how.high = range[1];
}

static void check_task(const overlap_task *task, struct argp_state *state)
{
    const options *o = &task->shared;
    if (!task->input) {
        argp_error(state, "no REPLICAS given");
    }
    if (task->spins && task->packed > 0) {
        argp_error(state, "one of --spins and --packed");
    }
    if (task->packed > 0 && task->how.subtract_mean) {
        argp_error(state, "--subtract-mean: what is left of packed spins are none");
    }
    if (task->packed > 0 && o->read.precision) {
        argp_error(state, "--precision means nothing for packed spins");
    }
    if (task->format == TABLE_LAMMPS) {
        argp_error(state, "--format: lammps is for g(r)");
    }
    table_check_options(state, o, task->format);
    if (task->matrix && strcmp(task->matrix, "-") == 0) {
        argp_error(state, "--matrix needs the name of a file");
    }
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
    case KEY_MEASURE: task->how.measure = parse_measure(arg, state); return 0;
    case KEY_MEAN: task->how.subtract_mean = 1; return 0;
    case KEY_BINS: task->how.bins = options_whole(state, "--bins", arg, 1); return 0;
    case KEY_RANGE: parse_range(task, arg, state); return 0;
    case KEY_SPINS: task->spins = true; return 0;
    case KEY_PACKED: task->packed = options_whole(state, "--packed", arg, 1); return 0;
    case KEY_MATRIX: task->matrix = arg; return 0;
    case KEY_PLOT:
        if (!gnuplot_known(arg)) {
            options_invalid("--plot", arg, "a name that ends in .pdf, .svg or .png");
        }
        task->plot = arg;
        return 0;
    case KEY_FORMAT:
        if (!table_format_find(arg, &task->format)) {
            argp_error(state, "--format: got '%s', expected text, json, npy or xvg", arg);
        }
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

static int report(const overlap_task *task, const overlap_outcome *found)
{
    const options *o = &task->shared;
    if (o->json) {
        return report_json(overlap_json(task, found));
    }
    if (!o->quiet && !options_to_stdout(o)) {
        overlap_print(task, found);
    }
    return STATUS_OK;
}

int verb_overlap(int argc, char **argv)
{
    overlap_task task = {0};
    options_init(&task.shared);
    kith_overlap_options_init(&task.how);
    task.command = options_command(argv);
    options_parse(&arguments, argc, argv, &task);

    progress_catch_signals();
    overlap_outcome found = {0};
    int status = overlap_run(&task, &found);
    if (status == STATUS_OK && task.shared.output) {
        status = overlap_write(&task, &found);
    }
    if (status == STATUS_OK && task.plot) {
        status = overlap_plot(&task, &found);
    }
    if (status == STATUS_OK) {
        status = report(&task, &found);
    }
    kith_overlaps_free(&found.counts);
    kith_close(found.ctx);
    io_vectors_free(&found.vectors);
    free(found.low);
    free(task.command);
    return status;
}
