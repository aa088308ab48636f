/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith rdf: pair distributions g(r) and coordination numbers n(r) of a trajectory.
 */
#include "rdf.h"

#include "common/gnuplot.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that read the argument of an option (option_row.read). */

static void read_slope(void *at, const option_given *given)
{
    double *q = at;
    if (parse_reals(given->arg, 2, q) != 2) {
        option_error(given->state, "--slope: got '%s', expected Q1,Q2", given->arg);
    }
    if (!(q[0] > 0 && q[1] > q[0] && isfinite(q[1]))) {
        option_invalid("--slope", given->arg, "two rising numbers above 0");
    }
}

/** Read --weights: a text with "." or "/" is the path of a file, any other the name of a column. */
static void read_weights(void *at, const option_given *given)
{
    rdf_task *task = at;
    option_refuse(given->state, !*given->arg, "--weights needs the name of a column or a file");
    task->weights = given->arg;
    task->weights_file = strpbrk(given->arg, "./") ? given->arg : NULL;
}

static void read_temperature(void *at, const option_given *given)
{
    rdf_task *task = at;
    if (!rdf_parse_temperature(given->arg, &task->kT)) {
        option_invalid("--temperature", given->arg,
                       "a number above 0, or one with ,eV ,kcal or ,kJ");
    }
    task->temperature = given->arg;
}

static const option_row rdf_options[] = {
    {"r-min", 0, "R", "range; default: 0 to half the box", 1, NOT_NEGATIVE_AT(rdf_task, r_min)},
    {"r-max", 0, "R", NULL, 1, POSITIVE_AT(rdf_task, r_max)},
    {"bins", 0, "N", "their number or width; default 200", 2, FROM_ONE_AT(rdf_task, bins)},
    {"width", 0, "W", NULL, 2, POSITIVE_AT(rdf_task, width)},
    {"log", 0, NULL, "bins of equal ratio; edges from a file", 3, FLAG_AT(rdf_task, log)},
    {"edges", 0, "FILE", NULL, 3, FILE_AT(rdf_task, edges, FILE_READ)},
    {"minimum-image", 0, NULL, "to the box's corner; for error bars, 10", 4,
     FLAG_AT(rdf_task, minimum_image)},
    {"blocks", 0, "N", NULL, 4, WHOLE_AT(rdf_task, blocks, 1, 10000, "1 to 10000")},
    {"select", 0, "A", "species around which, and of which", 5, TEXT_AT(rdf_task, select)},
    {"with", 0, "B,C", NULL, 5, TEXT_AT(rdf_task, with)},
    {"partials", 0, NULL, "each species with each; mass, column, FILE.npy", 6,
     FLAG_AT(rdf_task, partials)},
    {"weights", 0, "W", NULL, 6, READ_BY(read_weights), PATH_AT(rdf_task, weights_file, FILE_READ)},
    {"exclude-molecules", 0, NULL, "no pairs in one molecule, bonded", 7,
     FLAG_AT(rdf_task, without_molecules)},
    {"exclude-bonds", 0, NULL, NULL, 7, FLAG_AT(rdf_task, without_bonds)},
    {"estimator", 0, "E", "force, with kT or as 300,kcal", 8,
     WORD_AT(rdf_task, force, 0, "histogram or force")},
    {"temperature", 0, "T", NULL, 8, READ_BY(read_temperature)},
    {"trust-temperature", 0, NULL, "also where forces or velocities tell another", 8,
     FLAG_AT(rdf_task, trust)},
    {"sq", 0, "FILE", "S(q), by transform and sum; its power", 9,
     FILE_AT(rdf_task, sq, FILE_WRITTEN)},
    {"slope", 0, "Q1,Q2", NULL, 9, READ_AT(rdf_task, slope, read_slope)},
    {"q-min", 0, "Q", "range and bins; default: by box and density", 9,
     POSITIVE_AT(rdf_task, q_min)},
    {"q-max", 0, "Q", NULL, 9, POSITIVE_AT(rdf_task, q_max)},
    {"q-width", 0, "Q", NULL, 9, POSITIVE_AT(rdf_task, q_width)},
    {"window", 0, "W", "lorch or none; for the sum, a bin: 100", 9,
     WORD_AT(rdf_task, window, 0, STRUCTURE_WINDOWS)},
    {"q-vectors", 0, "N", NULL, 9, WHOLE_AT(rdf_task, q_vectors, 0, 100000, "0 to 100000")},
    {"plot", 0, "FILE", "figure by gnuplot: .pdf, .svg, .png", 40,
     READ_AT(rdf_task, plot, gnuplot_read_path), PATH_AT(rdf_task, plot, FILE_FIGURE)},
    {"format", 0, "F", "text, json, npy, xvg, lammps; A, nm, sigma", 40,
     WORD_AT(rdf_task, format, TABLE_TEXT, "text, json, npy, xvg or lammps")},
    {"unit", 0, "U", NULL, 40, TEXT_AT(rdf_task, unit)},
    {0}};

/** End the command if options contradict each other. */
static void check_task(void *at, struct argp_state *state)
{
    const rdf_task *task = at;
    const bool has_q = task->q_min > 0 || task->q_max > 0 || task->q_width > 0 ||
                       task->slope[1] > 0 || task->q_vectors >= 0;
    option_refuse(state, (task->bins > 0) + (task->width > 0) + (task->edges != NULL) > 1,
                  "--bins, --width and --edges each give the bins: leave two out");
    option_refuse(state, task->edges && (task->log || task->r_min > 0 || task->r_max > 0),
                  "--edges gives the range: leave out --log, --r-min and --r-max");
    option_refuse(state, task->log && task->width > 0,
                  "--log makes bins of equal ratio: give --bins in place of --width");
    option_refuse(state, task->log && !(task->r_min > 0), "--log needs --r-min above 0");
    option_refuse(state, task->r_max > 0 && task->r_max <= task->r_min,
                  "--r-max is not above --r-min");
    option_refuse(state, task->force && !(task->kT > 0),
                  "--estimator force needs --temperature: k_B T in units of force times "
                  "length, or kelvin as 300,kcal (or eV, kJ)");
    option_refuse(state, task->trust && !task->force,
                  "--trust-temperature is for --estimator force");
    option_refuse(state, task->temperature && !task->force,
                  "--temperature is for --estimator force");
    option_refuse(state, task->force && task->minimum_image,
                  "--estimator force counts whole shells: leave out --minimum-image");
    option_refuse(state, task->with && !task->select,
                  "--with gives the second species: it needs --select for the first");
    option_refuse(state, has_q && !task->sq,
                  "--q-min, --q-max, --q-width, --q-vectors and --slope need --sq FILE");
    option_refuse(state,
                  option_is_set(option_find(rdf_options, "window")) && !task->sq && !task->plot,
                  "--window is of S(q): it needs --sq FILE or --plot FILE");
    option_refuse(state, task->q_max > 0 && task->q_max <= task->q_min,
                  "--q-max is not above --q-min");
    option_refuse(state, task->sq && strcmp(task->sq, "-") == 0, "--sq needs the name of a file");
    table_check_options(state, &task->shared, task->format);
}

static const command_line rdf_line = {
    .operand = "INPUT",
    .operand_at = offsetof(rdf_task, input),
    .tables = {{.rows = output_options},
               {.rows = rdf_options},
               {.rows = trajectory_options},
               {.rows = space_options},
               {.rows = engine_options},
               {.rows = report_options}},
    .check = check_task,
    .help = "Average g(r), n(r) and S(q) over the frames of a trajectory."
            "\vExample:\n"
            "  kith make uniform 100k --seed 1 -o gas.npy\n"
            "  kith rdf gas.npy --box 1 --r-max 0.1 -o gr.txt"};

/** Print the summary, and report a run that was stopped. @return exit status */
static int report(const rdf_task *task, const rdf_outcome *found)
{
    if (task->shared.json) {
        CLI_TRY(report_json(rdf_json(task, found)));
    } else if (options_summary(&task->shared)) {
        rdf_print(task, found);
    }
    if (!found->partial) {
        return STATUS_OK;
    }
    const char *output = task->shared.output ? task->shared.output : task->sq;
    return report_error(STATUS_INTERRUPTED, NULL, "%s%s%s", found->partial_text,
                        output ? "; marked so in " : "", output ? output : "");
}

/** Write the outputs. @return exit status, reported */
static int write_outputs(const rdf_task *task, rdf_outcome *found)
{
    const double start = progress_clock();
    found->write_seconds = (double)
        NAN; /* not known yet when a JSON output is written, which has the other times */
    if (task->shared.output) {
        CLI_TRY(rdf_write(task, found));
    }
    if (task->sq) {
        CLI_TRY(rdf_structure_write(task, found));
    }
    if (task->plot) {
        CLI_TRY(rdf_plot(task, found));
    }
    found->write_seconds = progress_clock() - start;
    return STATUS_OK;
}

static int run(const rdf_task *task, rdf_outcome *found)
{
    CLI_TRY(rdf_run(task, found));
    CLI_TRY(rdf_make_curves(task, found));
    if (task->force) {
        CLI_TRY(rdf_temperature_judge(task, found));
    }
    if (found->structure.bins > 0) {
        CLI_TRY(rdf_structure_make(task, found));
    }
    CLI_TRY(write_outputs(task, found));
    return report(task, found);
}

static void free_outcome(rdf_outcome *found)
{
    free(found->curve_room);
    free(found->curve);
    rdf_structure_free(&found->structure);
    rdf_blocks_free(&found->blocks);
    free(found->classes.of_name);
    free(found->edges);
    free(found->middle);
    free(found->weights);
    free(found->shells);
    ranks_close(found->ranks);
    kith_close(found->ctx);
}

int verb_rdf(int argc, char **argv)
{
    rdf_task task = {.q_vectors = -1};
    command_line_parse(&rdf_line, argc, argv, &task);
    task.bins = task.bins > 0 ? task.bins : 200;
    task.blocks = task.blocks > 0 ? task.blocks : 10;
    task.q_vectors = task.q_vectors >= 0 ? task.q_vectors : 100;

    progress_catch_signals();
    rdf_outcome found = {.parts = 1};
    const int status = run(&task, &found);
    free_outcome(&found);
    return status;
}
