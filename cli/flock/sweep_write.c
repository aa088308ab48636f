/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a sweep ends with: the table, the figure and the summary.
 */
#include "sweep.h"

#include "common/gnuplot.h"
#include "common/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Numbers of a column of the table. */
typedef enum sweep_part { VALUE, ERROR, SPREAD, PARTS } sweep_part;

static const char *const endings[PARTS] = {"", "_error", "_spread"};

/** Return true when a column has this part: only what follows from the sums of samples has errors
 *  by blocks. */
static bool has_part(int column, sweep_part part)
{
    return part != ERROR || column <= SWEEP_BINDER;
}

static double part_of(const sweep_estimate *estimate, sweep_part part)
{
    return part == VALUE ? estimate->value : part == ERROR ? estimate->error : estimate->spread;
}

/** The lines above the table; to be freed. NULL: no memory. */
static char *notes_of(const sweep *s)
{
    const flock_task *task = s->task;
    io_memory_file notes = {0};
    FILE *out = table_open_notes(
        &notes, task->input ? task->input : "--boids",
        report_format("%lld replicas of each %s", (long long)task->replicas, s->name).s);
    if (!out) {
        return NULL;
    }
    fprintf(out,
            "each: %lld steps, then %lld samples, one every %lld steps, in %d blocks; seeds from "
            "%llu on\n"
            "order: mean polarisation; susceptibility: N times its variance; binder: "
            "1 - <p^4> / 3 <p^2>^2\n"
            "correlation_time: integrated, in steps; correlation_length: where correlations of "
            "headings fall to 0\n"
            "error: standard error by blocks of all replicas; spread: by the means of replicas\n",
            (long long)task->equilibrate, (long long)s->samples, (long long)s->every, SWEEP_BLOCKS,
            (unsigned long long)task->start.model.seed);
    return io_memory_file_close(&notes, out) ? notes.data : NULL;
}

static int write_table(const sweep *s)
{
    const int columns = 1 + PARTS * SWEEP_COLUMNS;
    double *room = malloc((size_t)(columns * s->rows + 1) * sizeof *room);
    if (!room) {
        return report_no_memory("the table");
    }
    table t = {.title = "Sweep of a flock",
               .x_title = s->name,
               .y_title = "order",
               .unit = "",
               .power = 1,
               .notes = notes_of(s),
               .rows = s->rows};
    double *at = room;
    for (int k = 0; k < s->rows; k++) {
        at[k] = s->value[s->row[k]].number;
    }
    table_add(&t, TABLE_X, s->name, s->name, at);
    for (int c = 0; c < SWEEP_COLUMNS; c++) {
        for (sweep_part p = VALUE; p < PARTS; p++) {
            const printed name = report_format("%s%s", sweep_column_name(c), endings[p]);
            if (has_part(c, p)) {
                at += s->rows;
                for (int k = 0; k < s->rows; k++) {
                    at[k] = part_of(&s->estimate[k][c], p);
                }
                table_add(&t, p == VALUE ? TABLE_Y : TABLE_ERROR, name.s, name.s, at);
            }
        }
    }
    const int status = table_write(s->task->shared.output, TABLE_BY_NAME, &t, sweep_json(s));
    free(room);
    return status;
}

/* ------------------------------------------------------------------------------------ figure */

/** The error bar of a number in the figure: the larger one of its two errors. */
static double bar_of(const sweep_estimate *e)
{
    const double bar = fmax(e->error, e->spread); /* fmax passes over NaN */
    return isnan(bar) ? 0 : bar;
}

static void put_data(FILE *out, const void *what)
{
    const sweep *s = what;
    fprintf(out, "# %s", s->name);
    for (int c = 0; c < SWEEP_COLUMNS; c++) {
        fprintf(out, " %s +-", sweep_column_name(c));
    }
    for (int k = 0; k < s->rows; k++) {
        fprintf(out, "\n%s", s->value[s->row[k]].text);
        for (int c = 0; c < SWEEP_COLUMNS; c++) {
            const sweep_estimate *e = &s->estimate[k][c];
            if (isnan(e->value)) {
                fputs(" nan nan", out);
            } else {
                fprintf(out, " %.9g %.9g", e->value, bar_of(e));
            }
        }
    }
    fputc('\n', out);
}

static void put_figure(FILE *out, const void *what)
{
    static const struct {
        int column;
        const char *title;
    } panels[] = {{SWEEP_ORDER, "order parameter"},
                  {SWEEP_SUSCEPTIBILITY, "susceptibility"},
                  {SWEEP_BINDER, "Binder cumulant"},
                  {SWEEP_TIME, "steps correlated"}};
    const sweep *s = what;
    fprintf(out, "set multiplot layout 2,2\nset xlabel '%s'\nunset key\n", s->name);
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++) {
        const int at = 2 + 2 * panels[k].column;
        fprintf(out,
                "set ylabel '%s'\n%splot data using 1:%d:%d with yerrorlines lw 2 pt 7 ps 0.6 "
                "lc rgb '%s'\n",
                panels[k].title,
                panels[k].column == SWEEP_ORDER ? "set yrange [0:1]\n" : "set yrange [*:*]\n", at,
                at + 1, gnuplot_colours[k]);
    }
    fputs("unset multiplot\n", out);
}

/* ----------------------------------------------------------------------------------- summary */

/** A number and its error bar: "0.912 +- 0.004". */
static printed with_bar(const sweep_estimate *e)
{
    const bool known = !isnan(e->error) || !isnan(e->spread);
    return isnan(e->value) ? report_format("-")
           : known         ? report_format("%.4g +- %.2g", e->value, bar_of(e))
                           : report_format("%.4g", e->value);
}

static void print_summary(const sweep *s)
{
    const flock_task *task = s->task;
    report_title(task->input ? task->input : "kith flock");
    report_line("sweep", "%s: %d value%s, %lld replica%s of each\n", s->name, s->n,
                s->n == 1 ? "" : "s", (long long)task->replicas, task->replicas == 1 ? "" : "s");
    report_line("run", "%s steps, then %s with a sample every %lld\n",
                report_count(task->equilibrate).s, report_count(task->sample).s,
                (long long)s->every);
    if (s->found > 0) {
        report_line("found", "%s runs in %s\n", report_count(s->found).s,
                    report_text(task->restart).s);
    }
    report_line("steps", "%s in %s, %d at one time, by %s\n", report_count(s->steps).s,
                report_seconds(s->seconds).s, s->lanes, s->engine.s);
    printf("\n%12s  %-18s %-18s %-18s %s\n", s->name, "order", "susceptibility", "Binder cumulant",
           "correlation time");
    for (int k = 0; k < s->rows; k++) {
        const sweep_estimate *e = s->estimate[k];
        printf("%12s  %-18s %-18s %-18s %s\n", s->value[s->row[k]].text,
               with_bar(&e[SWEEP_ORDER]).s, with_bar(&e[SWEEP_SUSCEPTIBILITY]).s,
               with_bar(&e[SWEEP_BINDER]).s, with_bar(&e[SWEEP_TIME]).s);
    }
    if (s->rows > 0) {
        report_output("table", task->shared.output);
        report_output("figure", task->plot);
    }
}

json_t *sweep_json(const sweep *s)
{
    const flock_task *task = s->task;
    json_t *rows = json_array();
    for (int k = 0; k < s->rows; k++) {
        json_t *row = json_pack("{s:f}", s->name, s->value[s->row[k]].number);
        for (int c = 0; c < SWEEP_COLUMNS; c++) {
            for (sweep_part p = VALUE; p < PARTS; p++) {
                const printed name = report_format("%s%s", sweep_column_name(c), endings[p]);
                if (has_part(c, p)) {
                    json_object_set_new(row, name.s,
                                        report_json_real(part_of(&s->estimate[k][c], p)));
                }
            }
        }
        json_array_append_new(rows, row);
    }
    return json_pack("{s:s, s:s, s:o, s:s, s:i, s:I, s:I, s:I, s:I, s:o, s:I, s:o, s:I, s:i, s:o}",
                     "kith", kith_version(), "verb", "flock", "command",
                     report_json_text(option_command()), "sweep", s->name, "values", s->n,
                     "replicas", (json_int_t)task->replicas, "equilibrate",
                     (json_int_t)task->equilibrate, "samples", (json_int_t)s->samples,
                     "measure_every", (json_int_t)s->every, "box", space_box_json(&s->box), "steps",
                     (json_int_t)s->steps, "seconds", report_json_real(s->seconds), "found",
                     (json_int_t)s->found, "lanes", s->lanes, "rows", rows);
}

int sweep_write(const sweep *s)
{
    const flock_task *task = s->task;
    if (task->shared.output && s->rows > 0) {
        CLI_TRY(write_table(s));
    }
    if (task->plot && s->rows > 0) {
        CLI_TRY(gnuplot_draw(task->plot, put_data, put_figure, s, task->restart != NULL));
    }
    if (task->shared.json) {
        return report_json(sweep_json(s));
    }
    if (options_summary(&task->shared)) {
        print_summary(s);
    }
    return STATUS_OK;
}
