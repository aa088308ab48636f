/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The outputs of `kith debye`: tables, the summary that is printed, and the summary in JSON.
 */
#include "debye.h"
#include "common/engine.h"
#include "common/report.h"

#include <core/memory_file.h>
#include <stdio.h>

/** Describe the method by which pairs were summed. */
static const char *how_of(const debye_task *task, const debye_outcome *found)
{
    return task->exact   ? "exact sums over pairs"
           : found->open ? "a histogram of all distances"
                         : "a transform of the pair distributions";
}

/** Describe the unit of lengths, and where it comes from: the file, --unit, or the default. */
static printed unit_of(const debye_task *task, const debye_outcome *found)
{
    return *found->unit && !task->unit
               ? report_format("%.60s, as the file says", report_text(found->unit).s)
               : report_format("taken as %s%s", task->unit ? task->unit : "A",
                               task->unit ? "" : "; the file does not say (--unit)");
}

/** Return the notes at the head of a table, "key: value" a line; to be freed by table_write. NULL
 *  without memory. */
static char *notes_of(const debye_task *task, const debye_outcome *found)
{
    io_memory_file notes = {0};
    FILE *out = table_open_notes(&notes, task->input, found->from.description);
    if (!out) {
        return NULL;
    }
    fprintf(out, "frames: %lld\nparticles: %lld", (long long)found->frames,
            (long long)found->particles);
    for (int a = 0; a < found->n_elements; a++) {
        fprintf(out, "%s%s %.9g", a ? ", " : "; ", report_text(found->element[a]).s,
                found->members[a]);
    }
    fprintf(out, "\nlengths: %s\nradiation: %s\nI: of all particles, by %s", unit_of(task, found).s,
            task->neutron ? "neutrons, lengths in fm (Rauch & Waschkowski 2003)"
                          : "X-rays, form factors of Waasmaier & Kirfel 1995",
            how_of(task, found));
    if (!task->exact) {
        fprintf(out, ", %lld bins to r = %s", (long long)found->histogram.bins,
                report_real(found->histogram.edges[found->histogram.bins]).s);
    }
    if (!found->open) {
        fprintf(out, ", window %s", task->window == WINDOW_LORCH ? "of Lorch" : "none");
    }
    fprintf(out, "; B = %s A^2\nS: (I/N - <f^2>) / <f>^2 + 1; F: q (S - 1)\n",
            report_real(task->b_iso).s);
    return io_memory_file_close(&notes, out) ? notes.data : NULL;
}

int debye_write(const debye_task *task, const debye_outcome *found)
{
    if (task->shared.output) {
        table t = {.title = "Scattered intensity",
                   .x_title = "q",
                   .y_title = "I(q), S(q), F(q)",
                   .unit = "A",
                   .power = -1,
                   .notes = notes_of(task, found),
                   .rows = found->n_q};
        table_add(&t, TABLE_X, "q", "q", found->q);
        table_add(&t, TABLE_Y, "I(q)", "I", found->intensity);
        table_add(&t, TABLE_Y, "S(q)", "S", found->s);
        table_add(&t, TABLE_Y, "F(q)", "F", found->f);
        CLI_TRY(table_write(task->shared.output, task->format, &t, debye_json(task, found)));
    }
    if (task->gr) {
        table t = {.title = "Reduced pair distribution function",
                   .x_title = "r",
                   .y_title = "G(r)",
                   .unit = "A",
                   .power = 1,
                   .notes = notes_of(task, found),
                   .rows = found->n_r};
        table_add(&t, TABLE_X, "r", "r", found->r);
        table_add(&t, TABLE_Y, "G(r)", "G", found->g);
        CLI_TRY(table_write(task->gr, TABLE_BY_NAME, &t, debye_json(task, found)));
    }
    return STATUS_OK;
}

/** Return the index of the largest of n values; the first one of equals. */
static int64_t highest(const double *values, int64_t n)
{
    int64_t top = 0;
    for (int64_t k = 0; k < n; k++) {
        top = values[k] > values[top] ? k : top;
    }
    return top;
}

void debye_print(const debye_task *task, const debye_outcome *found)
{
    const int64_t top = highest(found->s, found->n_q);
    report_title(task->input);
    report_line("frames", "%s, %s\n", report_count(found->frames).s, found->from.description);
    report_line("particles", "%s", report_count(found->particles).s);
    for (int a = 0; a < found->n_elements; a++) {
        printf("%s %s %.6g", a ? "," : ";", report_text(found->element[a]).s, found->members[a]);
    }
    putchar('\n');
    if (found->open) {
        report_line("box", "none: a cluster in open space\n");
    } else {
        space_print(&found->space);
    }
    report_line("lengths", "%s\n", unit_of(task, found).s);
    report_line("q", "%s from %s to %s 1/A, %s\n", report_count(found->n_q).s,
                report_real(found->q[0]).s, report_real(found->q[found->n_q - 1]).s,
                task->neutron ? "neutrons" : "X-rays");
    report_line("S(q)", "highest %s at %.4g 1/A, by %s\n",
                report_bold(report_format("%.4g", found->s[top]).s).s, found->q[top],
                how_of(task, found));
    if (found->n_r > 0) {
        const int64_t peak = highest(found->g, found->n_r);
        report_line("G(r)", "highest %s at %.4g A\n",
                    report_bold(report_format("%.4g", found->g[peak]).s).s, found->r[peak]);
        report_output("", task->gr);
    }
    report_line("time", "waited %s for frames, counted pairs %s\n",
                report_seconds(found->from.seconds).s, report_seconds(found->count_seconds).s);
    report_line("", "transforms %s", report_seconds(found->sum_seconds).s);
    if (task->shared.output || task->gr) {
        printf(", wrote %s", report_seconds(found->write_seconds).s);
    }
    putchar('\n');
    report_line("engine", "%s; %s of memory at most\n", engine_words(found->ctx).s,
                report_bytes(report_peak_memory()).s);
    report_output("output", task->shared.output);
}

json_t *debye_json(const debye_task *task, const debye_outcome *found)
{
    const int64_t top = highest(found->s, found->n_q);
    json_t *elements = json_object();
    for (int a = 0; a < found->n_elements; a++) {
        report_json_set(elements, found->element[a], json_real(found->members[a]));
    }
    json_t *outputs = json_pack("{s:o, s:o}", "table", report_json_text(task->shared.output), "gr",
                                report_json_text(task->gr));
    json_t *q = json_pack("{s:I, s:f, s:f}", "n", (json_int_t)found->n_q, "min", found->q[0], "max",
                          found->q[found->n_q - 1]);
    json_t *seconds = json_pack("{s:f, s:f, s:f, s:o}", "wait", found->from.seconds, "pairs",
                                found->count_seconds, "transforms", found->sum_seconds, "write",
                                report_json_real(found->write_seconds));
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:I, s:I, s:o, s:b, s:o, s:s, s:s, s:I, s:o,"
        " s:{s:f, s:o}, s:f, s:f, s:s, s:i, s:o, s:I, s:o}",
        "kith", kith_version(), "verb", "debye", "command", report_json_text(option_command()),
        "input", report_json_text(task->input), "format", found->from.description, "frames",
        (json_int_t)found->frames, "particles", (json_int_t)found->particles, "elements", elements,
        "open", found->open, "box", found->open ? json_null() : space_json(&found->space),
        "radiation", task->neutron ? "neutron" : "xray", "method", how_of(task, found), "bins",
        (json_int_t)found->histogram.bins, "q", q, "highest", "q", found->q[top], "S",
        report_json_real(found->s[top]), "b_iso", task->b_iso, "angstrom_per_unit", found->angstrom,
        "backend", kith_backend(found->ctx), "threads", kith_threads(found->ctx), "seconds",
        seconds, "peak_bytes", (json_int_t)report_peak_memory(), "outputs", outputs);
}
