/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith rdf: pair distributions g(r) and coordination numbers n(r) of a trajectory.
 */
#include "rdf.h"

#include "common/files.h"
#include "common/gnuplot.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_R_MAX = 0x200,
    KEY_R_MIN,
    KEY_BINS,
    KEY_WIDTH,
    KEY_LOG,
    KEY_EDGES,
    KEY_MINIMUM_IMAGE,
    KEY_SELECT,
    KEY_WITH,
    KEY_PARTIALS,
    KEY_WEIGHTS,
    KEY_WITHOUT_MOLECULES,
    KEY_WITHOUT_BONDS,
    KEY_BLOCKS,
    KEY_ESTIMATOR,
    KEY_TEMPERATURE,
    KEY_TRUST,
    KEY_FORMAT,
    KEY_UNIT,
    KEY_PLOT,
    KEY_SQ,
    KEY_Q_MIN,
    KEY_Q_MAX,
    KEY_Q_WIDTH,
    KEY_Q_VECTORS,
    KEY_WINDOW,
    KEY_SLOPE
};

/* Options that go together share a line of the help. */
enum { LINE = OPTION_DOC | OPTION_NO_USAGE };

static const struct argp_option rdf_options[] = {
    {"r-min", KEY_R_MIN, "R", OPTION_HIDDEN, 0, 1},
    {"r-max", KEY_R_MAX, "R", OPTION_HIDDEN, 0, 1},
    {"--r-min=R, --r-max=R", 0, 0, LINE, "range; default: 0 to half the box", 1},
    {"bins", KEY_BINS, "N", OPTION_HIDDEN, 0, 2},
    {"width", KEY_WIDTH, "W", OPTION_HIDDEN, 0, 2},
    {"--bins=N, --width=W", 0, 0, LINE, "their number or width; default 200", 2},
    {"log", KEY_LOG, 0, OPTION_HIDDEN, 0, 3},
    {"edges", KEY_EDGES, "FILE", OPTION_HIDDEN, 0, 3},
    {"--log, --edges=FILE", 0, 0, LINE, "bins of equal ratio; edges from a file", 3},
    {"minimum-image", KEY_MINIMUM_IMAGE, 0, OPTION_HIDDEN, 0, 4},
    {"blocks", KEY_BLOCKS, "N", OPTION_HIDDEN, 0, 4},
    {"--minimum-image, --blocks=N", 0, 0, LINE, "to the box's corner; for error bars, 10", 4},
    {"select", KEY_SELECT, "A", OPTION_HIDDEN, 0, 5},
    {"with", KEY_WITH, "B", OPTION_HIDDEN, 0, 5},
    {"--select=A, --with=B,C", 0, 0, LINE, "species around which, and of which", 5},
    {"partials", KEY_PARTIALS, 0, OPTION_HIDDEN, 0, 6},
    {"weights", KEY_WEIGHTS, "W", OPTION_HIDDEN, 0, 6},
    {"--partials, --weights=W", 0, 0, LINE, "each species with each; mass, column, FILE.npy", 6},
    {"exclude-molecules", KEY_WITHOUT_MOLECULES, 0, OPTION_HIDDEN, 0, 7},
    {"exclude-bonds", KEY_WITHOUT_BONDS, 0, OPTION_HIDDEN, 0, 7},
    {"--exclude-{molecules,bonds}", 0, 0, LINE, "no pairs in one molecule, bonded", 7},
    {"estimator", KEY_ESTIMATOR, "NAME", OPTION_HIDDEN, 0, 8},
    {"temperature", KEY_TEMPERATURE, "T", OPTION_HIDDEN, 0, 8},
    {"--estimator=E, --temperature=T", 0, 0, LINE, "force, with kT or as 300,kcal", 8},
    {"trust-temperature", KEY_TRUST, 0, 0, "also where forces or velocities tell another", 8},
    {"sq", KEY_SQ, "FILE", OPTION_HIDDEN, 0, 9},
    {"slope", KEY_SLOPE, "Q1,Q2", OPTION_HIDDEN, 0, 9},
    {"--sq=FILE, --slope=Q1,Q2", 0, 0, LINE, "S(q), by transform and sum; its power", 9},
    {"q-min", KEY_Q_MIN, "Q", OPTION_HIDDEN, 0, 9},
    {"q-max", KEY_Q_MAX, "Q", OPTION_HIDDEN, 0, 9},
    {"q-width", KEY_Q_WIDTH, "W", OPTION_HIDDEN, 0, 9},
    {"--q-{min,max,width}=Q", 0, 0, LINE, "range and bins; default: by box and density", 9},
    {"q-vectors", KEY_Q_VECTORS, "N", OPTION_HIDDEN, 0, 9},
    {"window", KEY_WINDOW, "NAME", OPTION_HIDDEN, 0, 9},
    {"--window=W, --q-vectors=N", 0, 0, LINE, "lorch or none; for the sum, a bin: 100", 9},
    {"plot", KEY_PLOT, "FILE", 0, "figure by gnuplot: .pdf, .svg, .png", 40},
    {"format", KEY_FORMAT, "NAME", OPTION_HIDDEN, 0, 40},
    {"unit", KEY_UNIT, "NAME", OPTION_HIDDEN, 0, 40},
    {"--format=F, --unit=U", 0, 0, LINE, "text, json, npy, xvg, lammps; A, nm, sigma", 40},
    {0}};

static void parse_slope(rdf_task *task, const char *arg, struct argp_state *state)
{
    if (parse_reals(arg, 2, task->slope) != 2) {
        options_error(state, "--slope: got '%s', expected Q1,Q2", arg);
    }
    if (!(task->slope[0] > 0 && task->slope[1] > task->slope[0] && isfinite(task->slope[1]))) {
        options_invalid("--slope", arg, "two rising numbers above 0");
    }
}

static void check_files(const rdf_task *task)
{
    const bool weighted = task->weights && rdf_weights_are_file(task->weights);
    const file_use files[] = {{"INPUT", task->input, FILE_READ},
                              {"--topology", task->shared.topology, FILE_READ},
                              {"--edges", task->edges, FILE_READ},
                              {"--weights", weighted ? task->weights : NULL, FILE_READ},
                              {"--output", task->shared.output, FILE_WRITTEN},
                              {"--sq", task->sq, FILE_WRITTEN},
                              {"--plot", task->plot, FILE_FIGURE}};
    files_check(files, sizeof files / sizeof *files);
}

static void check_task(const rdf_task *task, struct argp_state *state)
{
    const bool has_q = task->q_min > 0 || task->q_max > 0 || task->q_width > 0 ||
                       task->slope[1] > 0 || task->q_vectors >= 0;
    options_refuse(state, !task->input, "no INPUT given");
    options_refuse(state, (task->bins > 0) + (task->width > 0) + (task->edges != NULL) > 1,
                   "one of --bins, --width and --edges");
    options_refuse(state, task->edges && (task->log || task->r_min > 0 || task->r_max > 0),
                   "--edges says the range: leave out --log, --r-min and --r-max");
    options_refuse(state, task->log && task->width > 0,
                   "--log has bins of equal ratio: --bins says how many, not --width");
    options_refuse(state, task->log && !(task->r_min > 0),
                   "--log begins above 0: it needs --r-min");
    options_refuse(state, task->r_max > 0 && task->r_max <= task->r_min,
                   "--r-max is not above --r-min");
    options_refuse(state, task->force && !(task->kT > 0),
                   "--estimator force needs --temperature: k_B T in units of force times "
                   "length, or kelvin as 300,kcal (or eV, kJ)");
    options_refuse(state, task->trust && !task->force,
                   "--trust-temperature is for --estimator force");
    options_refuse(state, task->force && task->minimum_image,
                   "--estimator force takes whole shells: leave out --minimum-image");
    options_refuse(state, task->with && !task->select,
                   "--with names the second species: --select the first");
    options_refuse(state, has_q && !task->sq, "what is asked of S(q) needs --sq FILE");
    options_refuse(state, task->q_max > 0 && task->q_max <= task->q_min,
                   "--q-max is not above --q-min");
    options_refuse(state, task->sq && strcmp(task->sq, "-") == 0, "--sq needs the name of a file");
    table_check_options(state, &task->shared, task->format);
    check_files(task);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    rdf_task *task = state->input;
    switch (key) {
    case ARGP_KEY_INIT: options_parse_init(state, options_of_frames, &task->shared); return 0;
    case KEY_R_MIN: task->r_min = options_from_zero(state, "--r-min", arg); return 0;
    case KEY_R_MAX: task->r_max = options_positive(state, "--r-max", arg); return 0;
    case KEY_BINS: task->bins = options_whole(state, "--bins", arg, 1); return 0;
    case KEY_WIDTH: task->width = options_positive(state, "--width", arg); return 0;
    case KEY_LOG: task->log = true; return 0;
    case KEY_EDGES: task->edges = arg; return 0;
    case KEY_MINIMUM_IMAGE: task->minimum_image = true; return 0;
    case KEY_SELECT: task->select = arg; return 0;
    case KEY_WITH: task->with = arg; return 0;
    case KEY_PARTIALS: task->partials = true; return 0;
    case KEY_WEIGHTS:
        options_refuse(state, !*arg, "--weights needs the name of a column or a file");
        task->weights = arg;
        return 0;
    case KEY_WITHOUT_MOLECULES: task->without_molecules = true; return 0;
    case KEY_WITHOUT_BONDS: task->without_bonds = true; return 0;
    case KEY_BLOCKS:
        task->blocks = options_whole_to(state, "--blocks", arg, 1, 10000, "1 to 10000");
        return 0;
    case KEY_ESTIMATOR:
        task->force = options_word(state, "--estimator", arg, "histogram or force");
        return 0;
    case KEY_TEMPERATURE:
        if (!rdf_parse_temperature(arg, &task->kT)) {
            options_invalid("--temperature", arg, "a number above 0, or one with ,eV ,kcal or ,kJ");
        }
        task->temperature = arg;
        return 0;
    case KEY_TRUST: task->trust = true; return 0;
    case KEY_FORMAT:
        task->format = table_parse_format(state, arg, "text, json, npy, xvg or lammps");
        return 0;
    case KEY_UNIT: task->unit = arg; return 0;
    case KEY_PLOT: task->plot = gnuplot_option(arg); return 0;
    case KEY_SQ: task->sq = arg; return 0;
    case KEY_Q_MIN: task->q_min = options_positive(state, "--q-min", arg); return 0;
    case KEY_Q_MAX: task->q_max = options_positive(state, "--q-max", arg); return 0;
    case KEY_Q_WIDTH: task->q_width = options_positive(state, "--q-width", arg); return 0;
    case KEY_Q_VECTORS:
        task->q_vectors = options_whole_to(state, "--q-vectors", arg, 0, 100000, "0 to 100000");
        return 0;
    case KEY_WINDOW:
        task->window = options_word(state, "--window", arg, STRUCTURE_WINDOWS);
        return 0;
    case KEY_SLOPE: parse_slope(task, arg, state); return 0;
    case ARGP_KEY_ARG: options_operand(state, "INPUT", arg, &task->input); return 0;
    case ARGP_KEY_END: check_task(task, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = rdf_options,
    .parser = parse_option,
    .args_doc = "INPUT",
    .doc = "Average g(r), n(r) and S(q) over the frames of a trajectory."
           "\vExample:\n"
           "  kith make uniform 100k --seed 1 -o gas.npy\n"
           "  kith rdf gas.npy --box 1 --r-max 0.1 -o gr.txt",
    .children = options_of_frames};

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
    found->write_seconds = (double)NAN; /* unknown to a JSON output, which tells the other times */
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
    kith_close(found->ctx);
}

int verb_rdf(int argc, char **argv)
{
    rdf_task task = {.q_vectors = -1};
    options_parse(&arguments, argc, argv, &task);
    task.bins = task.bins > 0 ? task.bins : 200;
    task.blocks = task.blocks > 0 ? task.blocks : 10;
    task.q_vectors = task.q_vectors >= 0 ? task.q_vectors : 100;

    progress_catch_signals();
    rdf_outcome found = {0};
    const int status = run(&task, &found);
    free_outcome(&found);
    return status;
}
