/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith debye: scattered intensity I(q), S(q), F(q) and G(r) of clusters and boxes. This file has
 * the options and the order of steps; debye.h defines the four curves.
 */
#include "debye.h"

#include "common/progress.h"
#include "common/report.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Parse --window, and note that it was given, as a cluster refuses it. */
static void read_window(void *at, const option_given *given)
{
    debye_task *task = at;
    task->window = option_word(given->state, "--window", given->arg, STRUCTURE_WINDOWS);
    task->has_window = true;
}

/** Store --elements, and refuse what is no list of names and elements. */
static void read_elements(void *at, const option_given *given)
{
    debye_task *task = at;
    debye_renaming renaming;
    task->elements = given->arg;
    for (const char *rest = given->arg; *rest || rest == given->arg;) {
        if (!debye_next_element(&rest, &renaming)) {
            option_error(given->state,
                         "--elements: got '%s', expected the species of the file and their "
                         "elements, 1=O,2=H",
                         given->arg);
        }
    }
}

/** Refuse options that contradict each other. */
static void check_task(void *at, struct argp_state *state)
{
    const debye_task *task = at;
    const double most_q = 1 << 20;
    option_refuse(state, task->q_max <= task->q_min, "--q-max is not above --q-min");
    option_refuse(state,
                  (task->q_max - task->q_min) / task->q_width > most_q ||
                      task->gr_max / task->gr_width > most_q,
                  "more than 2^20 rows");
    option_refuse(state, task->exact && task->r_width > 0,
                  "--r-width is the width of bins, and --exact has none");
    option_refuse(state, task->exact && (task->r_max > 0 || task->has_window),
                  "--r-max and --window are for a box, --exact for a cluster");
    option_refuse(state, task->gr && strcmp(task->gr, "-") == 0, "--gr needs the name of a file");
    table_check_options(state, &task->shared, task->format);
}

static const option_row debye_options[] = {
    {"radiation", 0, "NAME", "xray, by form factors, or neutron", 1,
     WORD_AT(debye_task, neutron, 0, "xray or neutron")},
    {"elements", 0, "1=O,2=H", "what the file's species are", 1, READ_BY(read_elements)},
    {"q-min", 0, "Q", "in 1/A; default 1, 30, 0.05", 2, NOT_NEGATIVE_AT(debye_task, q_min)},
    {"q-max", 0, "Q", NULL, 2, POSITIVE_AT(debye_task, q_max)},
    {"q-width", 0, "Q", NULL, 2, POSITIVE_AT(debye_task, q_width)},
    {"b-iso", 0, "B", "of the Debye-Waller factor, A^2; default 0", 3,
     NOT_NEGATIVE_AT(debye_task, b_iso)},
    {"exact", 0, NULL, "sum over pairs, not by a fine histogram", 4, FLAG_AT(debye_task, exact)},
    {"r-max", 0, "R", "of a box's pairs; of the histogram", 5, POSITIVE_AT(debye_task, r_max)},
    {"r-width", 0, "W", NULL, 5, POSITIVE_AT(debye_task, r_width)},
    {"window", 0, "NAME", "of a box's pairs: lorch or none", 6, READ_BY(read_window)},
    {"gr", 0, "FILE", "write G(r); none or lorch", 7, FILE_AT(debye_task, gr, FILE_WRITTEN)},
    {"gr-window", 0, "NAME", NULL, 7, WORD_AT(debye_task, gr_window, 0, STRUCTURE_WINDOWS)},
    {"gr-max", 0, "R", "its range and step; 20, 0.01", 8, POSITIVE_AT(debye_task, gr_max)},
    {"gr-width", 0, "W", NULL, 8, POSITIVE_AT(debye_task, gr_width)},
    {"q-damp", 0, "D", "damps G(r) by exp(-(r D)^2 / 2); 0", 9,
     NOT_NEGATIVE_AT(debye_task, q_damp)},
    {"format", 0, "F", "text, json, npy, xvg; lengths are A or nm", 40,
     WORD_AT(debye_task, format, TABLE_TEXT, "text, json, npy or xvg")},
    {"unit", 0, "U", NULL, 40, TEXT_AT(debye_task, unit), .expected = "A or nm"},
    {0}};

static const command_line debye_line = {
    .operand = "INPUT",
    .operand_at = offsetof(debye_task, input),
    .tables = {{.rows = output_options},
               {.rows = debye_options},
               {.rows = trajectory_options},
               {.rows = space_options},
               {.rows = engine_options},
               {.rows = report_options}},
    .check = check_task,
    .help = "What X-rays or neutrons see of a cluster or a box: I(q), S(q), F(q), G(r)."
            "\vExample:\n"
            "  printf '2\\n\\nO 0 0 0\\nO 0 0 1.21\\n' > oxygen.xyz\n"
            "  kith debye oxygen.xyz --exact -o iq.txt --gr gr.txt"};

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

/** Fill in the values of q: from q_min in steps of q_width, below q_max. The factor 1 - 1e-12 keeps
 *  a rounded quotient from adding q_max itself. @return exit status, reported */
static int choose_q(const debye_task *task, debye_outcome *found)
{
    found->n_q = (int64_t)ceil((task->q_max - task->q_min) / task->q_width * (1 - 1e-12));
    found->q = malloc((size_t)found->n_q * sizeof *found->q);
    for (int64_t k = 0; k < found->n_q && found->q; k++) {
        found->q[k] = task->q_min + (double)k * task->q_width;
    }
    return found->q ? STATUS_OK : report_no_memory("q");
}

/** Do all steps of the verb. @return exit status, reported */
static int run(const debye_task *task, debye_outcome *found)
{
    CLI_TRY(choose_q(task, found));
    CLI_TRY(debye_run(task, found));
    CLI_TRY(debye_make(task, found));
    const double start = progress_clock();
    found->write_seconds = (double)
        NAN; /* unknown while a JSON output is written, which contains all times; null there */
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
    command_line_parse(&debye_line, argc, argv, &task);

    progress_catch_signals();
    debye_outcome found = {0};
    const int status = run(&task, &found);
    free_outcome(&found);
    return status;
}
