/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith debye: scattered intensity I(q), S(q), F(q) and G(r) of clusters and boxes.
 */
#include "debye.h"

#include "common/files.h"
#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_RADIATION = 0x200,
    KEY_EXACT,
    KEY_Q_MIN,
    KEY_Q_MAX,
    KEY_Q_WIDTH,
    KEY_B_ISO,
    KEY_ELEMENTS,
    KEY_R_MAX,
    KEY_R_WIDTH,
    KEY_WINDOW,
    KEY_GR,
    KEY_GR_WINDOW,
    KEY_GR_MAX,
    KEY_GR_WIDTH,
    KEY_Q_DAMP,
    KEY_FORMAT,
    KEY_UNIT
};

/* Options that go together share a line of the help. */
enum { LINE = OPTION_DOC | OPTION_NO_USAGE };

static const struct argp_option debye_options[] = {
    {"radiation", KEY_RADIATION, "NAME", 0, "xray, by form factors, or neutron", 1},
    {"elements", KEY_ELEMENTS, "1=O,2=H", 0, "what the file's species are", 1},
    {"q-min", KEY_Q_MIN, "Q", OPTION_HIDDEN, 0, 2},
    {"q-max", KEY_Q_MAX, "Q", OPTION_HIDDEN, 0, 2},
    {"q-width", KEY_Q_WIDTH, "W", OPTION_HIDDEN, 0, 2},
    {"--q-{min,max,width}=Q", 0, 0, LINE, "in 1/A; default 1, 30, 0.05", 2},
    {"b-iso", KEY_B_ISO, "B", 0, "of the Debye-Waller factor, A^2; default 0", 3},
    {"exact", KEY_EXACT, 0, 0, "sum over pairs, not by a fine histogram", 4},
    {"r-max", KEY_R_MAX, "R", OPTION_HIDDEN, 0, 5},
    {"r-width", KEY_R_WIDTH, "W", OPTION_HIDDEN, 0, 5},
    {"--r-max=R, --r-width=W", 0, 0, LINE, "of a box's pairs; of the histogram", 5},
    {"window", KEY_WINDOW, "NAME", 0, "of a box's pairs: lorch or none", 6},
    {"gr", KEY_GR, "FILE", OPTION_HIDDEN, 0, 7},
    {"gr-window", KEY_GR_WINDOW, "NAME", OPTION_HIDDEN, 0, 7},
    {"--gr=FILE, --gr-window=NAME", 0, 0, LINE, "write G(r); none or lorch", 7},
    {"gr-max", KEY_GR_MAX, "R", OPTION_HIDDEN, 0, 8},
    {"gr-width", KEY_GR_WIDTH, "W", OPTION_HIDDEN, 0, 8},
    {"--gr-max=R, --gr-width=W", 0, 0, LINE, "its range and step; 20, 0.01", 8},
    {"q-damp", KEY_Q_DAMP, "D", 0, "damps G(r) by exp(-(r D)^2 / 2); 0", 9},
    {"format", KEY_FORMAT, "NAME", OPTION_HIDDEN, 0, 40},
    {"unit", KEY_UNIT, "NAME", OPTION_HIDDEN, 0, 40},
    {"--format=F, --unit=U", 0, 0, LINE, "text, json, npy, xvg; lengths are A or nm", 40},
    {0}};

static void check_task(const debye_task *task, struct argp_state *state)
{
    const double most_q = 1 << 20;
    options_refuse(state, !task->input, "no INPUT given");
    options_refuse(state, task->q_max <= task->q_min, "--q-max is not above --q-min");
    options_refuse(state,
                   (task->q_max - task->q_min) / task->q_width > most_q ||
                       task->gr_max / task->gr_width > most_q,
                   "more than 2^20 rows");
    options_refuse(state, task->exact && task->r_width > 0,
                   "--r-width is of the histogram, which --exact does without");
    options_refuse(state, task->exact && (task->r_max > 0 || task->has_window),
                   "--r-max and --window are for a box, --exact for a cluster");
    options_refuse(state, task->gr && strcmp(task->gr, "-") == 0, "--gr needs the name of a file");
    table_check_options(state, &task->shared, task->format);
    const file_use files[] = {{"INPUT", task->input, FILE_READ},
                              {"--topology", task->shared.topology, FILE_READ},
                              {"--output", task->shared.output, FILE_WRITTEN},
                              {"--gr", task->gr, FILE_WRITTEN}};
    files_check(files, sizeof files / sizeof *files);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    debye_task *task = state->input;
    switch (key) {
    case ARGP_KEY_INIT: options_parse_init(state, options_of_frames, &task->shared); return 0;
    case KEY_RADIATION:
        task->neutron = options_word(state, "--radiation", arg, "xray or neutron");
        return 0;
    case KEY_FORMAT:
        task->format = table_parse_format(state, arg, "text, json, npy or xvg");
        return 0;
    case KEY_UNIT:
        (void)options_word(state, "--unit", arg, "A or nm");
        task->unit = arg;
        return 0;
    case KEY_EXACT: task->exact = true; return 0;
    case KEY_ELEMENTS: task->elements = arg; return 0;
    case KEY_Q_MIN: task->q_min = options_from_zero(state, "--q-min", arg); return 0;
    case KEY_Q_MAX: task->q_max = options_positive(state, "--q-max", arg); return 0;
    case KEY_Q_WIDTH: task->q_width = options_positive(state, "--q-width", arg); return 0;
    case KEY_B_ISO: task->b_iso = options_from_zero(state, "--b-iso", arg); return 0;
    case KEY_R_MAX: task->r_max = options_positive(state, "--r-max", arg); return 0;
    case KEY_R_WIDTH: task->r_width = options_positive(state, "--r-width", arg); return 0;
    case KEY_WINDOW:
        task->window = options_word(state, "--window", arg, STRUCTURE_WINDOWS);
        task->has_window = true;
        return 0;
    case KEY_GR: task->gr = arg; return 0;
    case KEY_GR_WINDOW:
        task->gr_window = options_word(state, "--gr-window", arg, STRUCTURE_WINDOWS);
        return 0;
    case KEY_GR_MAX: task->gr_max = options_positive(state, "--gr-max", arg); return 0;
    case KEY_GR_WIDTH: task->gr_width = options_positive(state, "--gr-width", arg); return 0;
    case KEY_Q_DAMP: task->q_damp = options_from_zero(state, "--q-damp", arg); return 0;
    case ARGP_KEY_ARG: options_operand(state, "INPUT", arg, &task->input); return 0;
    case ARGP_KEY_END: check_task(task, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = debye_options,
    .parser = parse_option,
    .args_doc = "INPUT",
    .doc = "What X-rays or neutrons see of a cluster or a box: I(q), S(q), F(q), G(r)."
           "\vExample:\n"
           "  printf '2\\n\\nO 0 0 0\\nO 0 0 1.21\\n' > oxygen.xyz\n"
           "  kith debye oxygen.xyz --exact -o iq.txt --gr gr.txt",
    .children = options_of_frames};

static void free_outcome(debye_outcome *found)
{
    kith_histogram_free(&found->histogram);
    free(found->edges);
    free(found->q);
    free(found->pairs);
    free(found->intensity);
    free(found->r);
    kith_close(found->ctx);
}

/** The q asked for. */
static int choose_q(const debye_task *task, debye_outcome *found)
{
    found->n_q = (int64_t)ceil((task->q_max - task->q_min) / task->q_width * (1 - 1e-12));
    found->q = malloc((size_t)found->n_q * sizeof *found->q);
    for (int64_t k = 0; k < found->n_q && found->q; k++) {
        found->q[k] = task->q_min + (double)k * task->q_width;
    }
    return found->q ? STATUS_OK : report_no_memory("q");
}

static int run(const debye_task *task, debye_outcome *found)
{
    CLI_TRY(choose_q(task, found));
    CLI_TRY(debye_run(task, found));
    CLI_TRY(debye_make(task, found));
    const double start = progress_clock();
    found->write_seconds = (double)NAN; /* unknown to a JSON output, which tells the other times */
    CLI_TRY(debye_write(task, found));
    found->write_seconds = progress_clock() - start;
    if (task->shared.json) {
        return report_json(debye_json(task, found));
    }
    if (options_summary(&task->shared)) {
        debye_print(task, found);
    }
    return STATUS_OK;
}

int verb_debye(int argc, char **argv)
{
    debye_task task = {.q_min = 1,
                       .q_max = 30,
                       .q_width = 0.05,
                       .window = WINDOW_LORCH,
                       .gr_window = WINDOW_NONE,
                       .gr_max = 20,
                       .gr_width = 0.01};
    options_parse(&arguments, argc, argv, &task);

    progress_catch_signals();
    debye_outcome found = {0};
    const int status = run(&task, &found);
    free_outcome(&found);
    return status;
}
