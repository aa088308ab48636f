/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of `kith rdf`: what its columns are and what its header says.
 */
#include "rdf.h"
#include "common/report.h"

#include <core/memory_file.h>
#include <core/quote.h>
#include <stdio.h>
#include <stdlib.h>

static void note_bins(FILE *out, const rdf_task *task, const rdf_outcome *found)
{
    const int64_t bins = found->how.bins;
    fprintf(out, "bins: %lld from %s to %s%s\n", (long long)bins, report_real(found->edges[0]).s,
            report_real(found->edges[bins]).s,
            task->edges       ? ", edges from a file"
            : task->log       ? ", of equal ratio"
            : found->narrower ? ", the last narrower"
                              : "");
    fprintf(out, "r: the middle of a bin; n: to its end%s\n",
            task->minimum_image ? "; nearest images alone, shells cut by the box" : "");
}

/** Lines that the headers of all outputs have; to be freed. @return NULL: no memory */
static char *common_notes(const rdf_task *task, const rdf_outcome *found)
{
    io_memory_file notes = {0};
    FILE *out = table_open_notes(&notes, task->input, found->from.description);
    if (!out) {
        return NULL;
    }
    fprintf(out, "frames: %lld, from %lld to %lld\nparticles: %lld", (long long)found->frames,
            (long long)found->first_index, (long long)found->last_index,
            (long long)found->particles);
    for (int k = 0; k < found->classes.n; k++) {
        const rdf_class *c = &found->classes.item[k];
        fputs(k ? ", " : "; ", out);
        io_quote_put(out, IO_QUOTE_SHOWN, c->name);
        fprintf(out, " %lld", (long long)c->members);
    }
    fprintf(out, "\nvolume: mean %.9g, least %.9g, most %.9g\n",
            found->blocks.total[found->layout.volume] / (double)found->frames, found->least_volume,
            found->most_volume);
    note_bins(out, task, found);
    if (found->inside) {
        fprintf(out, "%s: %s\n", found->inside, rdf_inside_text(found));
    }
    if (task->force) {
        fprintf(out, "g_force: by forces at kT = %s\n", report_real(task->kT).s);
    }
    if (task->weights) {
        fputs("g_w: of pairs weighted by w_i w_j, w: ", out);
        io_quote_put(out, IO_QUOTE_SHOWN, task->weights);
        fputs("; ww: mean of w_i w_j\n", out);
    }
    if (found->blocks.n > 1) {
        fprintf(out, "+-: one standard error, from %lld blocks of frames\n",
                (long long)found->blocks.n);
    } else {
        fputs("+-: nan: one frame, or --blocks 1, has no error bars\n", out);
    }
    return io_memory_file_close(&notes, out) ? notes.data : NULL;
}

/** Add the columns of curve k: g, n, their errors and counts; g by forces; g by weights. The
 *  first curve has short names. */
static void add_curve(const rdf_outcome *found, int k, table *t)
{
    const rdf_curve *c = &found->curve[k];
    const struct {
        table_role role;
        const char *name;
        const double *value; /* NULL: not wanted */
    } columns[] = {{TABLE_Y, "g", c->g},
                   {TABLE_ERROR, "g_error", c->g_error},
                   {TABLE_Y, "n", c->n},
                   {TABLE_ERROR, "n_error", c->n_error},
                   {TABLE_DETAIL, "count", c->count},
                   {TABLE_Y, "g_force", c->force},
                   {TABLE_ERROR, "g_force_error", c->force_error},
                   {TABLE_DETAIL, "g_zero", c->zero},
                   {TABLE_DETAIL, "g_infinity", c->infinity},
                   {TABLE_DETAIL, "weight", c->weight},
                   {TABLE_Y, "g_w", c->weighted},
                   {TABLE_ERROR, "g_w_error", c->weighted_error},
                   {TABLE_Y, "ww", c->product},
                   {TABLE_ERROR, "ww_error", c->product_error}};
    for (size_t what = 0; what < sizeof columns / sizeof *columns; what++) {
        char label[3 * IO_NAME_LENGTH] = "+-", field[3 * IO_NAME_LENGTH];
        snprintf(field, sizeof field, k ? "%s_%s" : "%s", columns[what].name, c->name);
        if (columns[what].role != TABLE_ERROR) {
            snprintf(label, sizeof label, "%s(%s)", columns[what].name,
                     found->n_curves > 1 || c->a >= 0 ? c->name : "r");
        }
        if (columns[what].value) {
            (columns[what].value == c->count ? table_add_whole : table_add)(
                t, columns[what].role, label, field, columns[what].value);
        }
    }
}

int rdf_write(const rdf_task *task, const rdf_outcome *found)
{
    table t = {.title = "Pair distribution",
               .x_title = "r",
               .y_title = "g(r), n(r)",
               .unit = found->unit,
               .power = 1,
               .notes = common_notes(task, found),
               .partial = found->partial ? found->partial_text : NULL,
               .step = found->last_step,
               .rows = found->how.bins};
    table_add(&t, TABLE_DETAIL, "r_low", "r_low", found->edges);
    table_add(&t, TABLE_DETAIL, "r_high", "r_high", found->edges + 1);
    table_add(&t, TABLE_X, "r", "r", found->middle);
    for (int k = 0; k < found->n_curves; k++) {
        add_curve(found, k, &t);
    }
    return table_write(task->shared.output, task->format, &t, rdf_json(task, found));
}

/** Add the columns of a factor: Faber-Ziman (A) and Ashcroft-Langreth (S) partials by transform,
 *  and the latter by direct sum. */
static void add_factor(const rdf_outcome *found, const rdf_factor *f, table *t)
{
    const bool all = f->a < 0, direct = found->structure.direct;
    const struct {
        const char *label, *field;
        const double *value, *error;
        bool there;
    } kinds[] = {{"A", "A", f->fz, f->fz_error, !all},
                 {"S", "S", f->al, f->al_error, true},
                 {"S_sum", "S_sum", f->sum, f->sum_error, direct}};
    for (int k = 0; k < 3; k++) {
        char label[3 * IO_NAME_LENGTH], field[3 * IO_NAME_LENGTH], error[3 * IO_NAME_LENGTH];
        snprintf(label, sizeof label, "%s(%s)", kinds[k].label, all ? "q" : f->name);
        snprintf(field, sizeof field, all ? "%s" : "%s_%s", kinds[k].field, f->name);
        snprintf(error, sizeof error, all ? "%s_error" : "%s_error_%s", kinds[k].field, f->name);
        if (kinds[k].there) {
            table_add(t, TABLE_Y, label, field, kinds[k].value);
            table_add(t, TABLE_ERROR, "+-", error, kinds[k].error);
        }
    }
}

/** The common lines, and definitions of S and A. */
static char *structure_notes(const rdf_task *task, const rdf_outcome *found)
{
    io_memory_file notes = {0};
    char *common = common_notes(task, found);
    FILE *out = common ? io_memory_file_open(&notes) : NULL;
    if (out) {
        const rdf_structure *s = &found->structure;
        fprintf(out, "%sS: by transform of g(r) to r = %s, window %s", common,
                report_real(found->edges[found->how.bins]).s,
                task->window == WINDOW_LORCH ? "of Lorch" : "none");
        if (s->direct) {
            fprintf(out,
                    "; S_sum: by sum over %lld vectors q of each frame's box at most, nan where "
                    "there is none; its +-: nan where fewer than two blocks have one",
                    (long long)s->most_waves);
        }
        fputs(s->n > 1 ? "\npartials: A are Faber-Ziman, S and S_sum Ashcroft-Langreth\n" : "\n",
              out);
    }
    free(common);
    return io_memory_file_close(&notes, out) ? notes.data : NULL;
}

int rdf_structure_write(const rdf_task *task, const rdf_outcome *found)
{
    const rdf_structure *s = &found->structure;
    table t = {.title = "Structure factor",
               .x_title = "q",
               .y_title = "S(q)",
               .unit = found->unit,
               .power = -1,
               .notes = structure_notes(task, found),
               .partial = found->partial ? found->partial_text : NULL,
               .step = found->last_step,
               .rows = s->bins};
    table_add(&t, TABLE_DETAIL, "q_low", "q_low", s->low);
    table_add(&t, TABLE_DETAIL, "q_high", "q_high", s->high);
    table_add_whole(&t, TABLE_DETAIL, "vectors", "vectors", s->vectors);
    table_add(&t, TABLE_X, "q", "q", s->q);
    for (int k = 0; k < s->n; k++) {
        add_factor(found, &s->factor[k], &t);
    }
    return table_write(task->sq, TABLE_BY_NAME, &t, rdf_json(task, found));
}
