/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith overlap: the distribution P(q) of the overlaps of replicas. A replica is a vector, one row
 * of the file; an overlap q is the cosine, scalar product or distance of two of them. P(q) is a
 * histogram over all pairs, O(replicas^2 dimension).
 */
#include "overlap.h"

#include "common/gnuplot.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Parse --range LOW,HIGH. Errors end the command. */
static void read_range(void *at, const option_given *given)
{
    kith_overlap_options *how = at;
    double range[2];
    if (parse_reals(given->arg, 2, range) != 2) {
        option_error(given->state, "--range: got '%s', expected LOW,HIGH", given->arg);
    }
    if (!(range[0] < range[1]) || !isfinite(range[0]) || !isfinite(range[1])) {
        option_invalid("--range", given->arg, "two rising, finite numbers");
    }
    how->low = range[0];
    how->high = range[1];
}

/** Refuse options that contradict each other. */
static void check_task(void *at, struct argp_state *state)
{
    const overlap_task *task = at;
    const bool packed = task->packed > 0;
    option_refuse(state, packed && task->spins, "--packed are spins, too: leave out --spins");
    option_refuse(state, packed && task->how.subtract_mean,
                  "--subtract-mean does not apply to packed spins");
    option_refuse(state, packed && task->shared.read.precision,
                  "--precision does not apply to packed spins");
    option_refuse(state, task->matrix && strcmp(task->matrix, "-") == 0,
                  "--matrix needs the name of a file");
    table_check_options(state, &task->shared, task->format);
}

static const option_row overlap_options[] = {
    {"measure", 0, "NAME", "cosine (default), product or distance", 1,
     WORD_AT(overlap_task, how.measure, 0, "cosine, product or distance")},
    {"subtract-mean", 0, NULL, "take the mean over replicas from each", 2,
     FLAG_AT(overlap_task, how.subtract_mean)},
    {"bins", 0, "N", "their number; default 200", 3, FROM_ONE_AT(overlap_task, how.bins)},
    {"range", 0, "LOW,HIGH", "their ends; default: all that can be", 3,
     READ_AT(overlap_task, how, read_range)},
    {"spins", 0, NULL, "numbers are spins: 1 is up, 0 or -1 down", 4, FLAG_AT(overlap_task, spins)},
    {"packed", 0, "D", "bytes hold D spins, as numpy.packbits does", 4,
     FROM_ONE_AT(overlap_task, packed)},
    {"matrix", 0, "FILE.npy", "all overlaps too, one row a replica", 40,
     FILE_AT(overlap_task, matrix, FILE_WRITTEN)},
    {"plot", 0, "FILE", "figure by gnuplot: .pdf, .svg, .png", 40,
     READ_AT(overlap_task, plot, gnuplot_read_path), PATH_AT(overlap_task, plot, FILE_FIGURE)},
    {"format", 0, "NAME", "of the output: text, json, npy, xvg", 40,
     WORD_AT(overlap_task, format, TABLE_TEXT, "text, json, npy or xvg")},
    {0}};

static const command_line overlap_line = {
    .operand = "REPLICAS",
    .operand_at = offsetof(overlap_task, input),
    .tables = {{.rows = output_options},
               {.rows = overlap_options},
               {.rows = vectors_options},
               {.rows = engine_options},
               {.rows = report_options}},
    .check = check_task,
    .help = "Histogram P(q) of the overlaps of replicas: vectors of one length, a row each."
            "\vExample:\n"
            "  kith make uniform 10k --seed 1 -o cube.npy\n"
            "  kith overlap cube.npy --subtract-mean --bins 100 -o pq.txt"};

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
    command_line_parse(&overlap_line, argc, argv, &task);

    progress_catch_signals();
    overlap_outcome found = {0};
    const int status = run(&task, &found);
    kith_overlaps_free(&found.counts);
    kith_close(found.ctx);
    io_vectors_free(&found.vectors);
    free(found.q);
    return status;
}
