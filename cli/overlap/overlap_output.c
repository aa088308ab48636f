/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The outputs of `kith overlap`: summary, JSON, table, figure.
 */
#include "common/engine.h"
#include "common/gnuplot.h"
#include "overlap.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Names of the measures in the order of kith_overlap_measure. */
static const char *const measures[] = {"cosine", "product", "distance"};

/** Return the name of the type of the vectors' elements. */
static const char *type_name(const overlap_outcome *found)
{
    return found->counts.spins ? "spins" : report_precision((kith_precision)found->replicas.type);
}

void overlap_print(const overlap_task *task, const overlap_outcome *found)
{
    const kith_overlaps *o = &found->counts;
    report_title(task->input);
    report_line("replicas", "%s of %s %s; %s; read %s in %s\n",
                report_bold(report_count(found->replicas.n).s).s,
                report_count(found->replicas.dim).s, type_name(found),
                report_text(found->vectors.description).s, report_bytes(found->vectors.bytes).s,
                report_seconds(found->read_seconds).s);
    report_line("overlap", "%s%s; %s bins from %s to %s\n", measures[task->how.measure],
                task->how.subtract_mean ? " of fluctuations, the mean subtracted" : "",
                report_count(o->bins).s, report_real(o->edges[0]).s,
                report_real(o->edges[o->bins]).s);
    if (found->peak >= 0) {
        report_line("P(q)", "mean %s, deviation %.4g, by bins; highest %.4g at %.4g\n",
                    report_bold(report_format("%.4g", found->mean).s).s, found->deviation,
                    found->density[found->peak], found->q[found->peak]);
    } else {
        report_line("P(q)", "no pair is between these ends\n");
    }
    if (found->inside < o->pairs && found->peak >= 0) {
        report_line("outside", "%s of %s pairs\n", report_count(o->pairs - found->inside).s,
                    report_count(o->pairs).s);
    }
    engine_print_count(engine_words(found->ctx).s, o->pairs, found->count_seconds);
    report_line("memory", "%s at most\n", report_bytes(report_peak_memory()).s);
    report_output("matrix", task->matrix);
    report_output("figure", task->plot);
    report_output("output", task->shared.output);
}

json_t *overlap_json(const overlap_task *task, const overlap_outcome *found)
{
    const kith_overlaps *o = &found->counts;
    json_t *replicas = json_pack("{s:I, s:I, s:s, s:o}", "n", (json_int_t)found->replicas.n, "dim",
                                 (json_int_t)found->replicas.dim, "type", type_name(found),
                                 "format", report_json_text(found->vectors.description));
    json_t *bins = json_pack("{s:I, s:f, s:f}", "n", (json_int_t)o->bins, "low", o->edges[0],
                             "high", o->edges[o->bins]);
    json_t *peak = json_null();
    if (found->peak >= 0) {
        peak = json_pack("{s:f, s:f}", "q", found->q[found->peak], "P",
                         found->density[found->peak]);
    }
    json_t *seconds = json_pack("{s:f, s:f, s:f}", "read", found->read_seconds, "count",
                                found->count_seconds, "matrix", found->matrix_seconds);
    json_t *outputs = json_pack("{s:o, s:o, s:o}", "table", report_json_text(task->shared.output),
                                "matrix", report_json_text(task->matrix), "plot",
                                report_json_text(task->plot));
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:s, s:b, s:o, s:I, s:I, s:o, s:o, s:o, s:s, s:i,"
        " s:o, s:I, s:o}",
        "kith", kith_version(), "verb", "overlap", "command", report_json_text(option_command()),
        "input", report_json_text(task->input), "replicas", replicas, "measure",
        measures[task->how.measure], "subtract_mean", task->how.subtract_mean, "bins", bins,
        "pairs", (json_int_t)o->pairs, "outside", (json_int_t)(o->pairs - found->inside), "mean",
        report_json_real(found->mean), "deviation", report_json_real(found->deviation), "highest",
        peak, "backend", kith_backend(found->ctx), "threads", kith_threads(found->ctx), "seconds",
        seconds, "peak_bytes", (json_int_t)report_peak_memory(), "outputs", outputs);
}

/** Return the lines of the header of the table, freed by table_write. NULL without memory. */
static char *make_notes(const overlap_task *task, const overlap_outcome *found)
{
    char *notes = NULL;
    const kith_overlaps *o = &found->counts;
    const int n = asprintf(
        &notes,
        "input: %s, %s\nreplicas: %lld of %lld %s\noverlap: %s%s\nbins: %lld from %s to %s\n"
        "pairs: %lld, outside the bins %lld\nq: the middle of a bin; P: pairs / all / width\n",
        report_text(task->input).s, report_text(found->vectors.description).s,
        (long long)found->replicas.n, (long long)found->replicas.dim, type_name(found),
        measures[task->how.measure],
        task->how.subtract_mean ? ", the mean over replicas subtracted" : "", (long long)o->bins,
        report_real(o->edges[0]).s, report_real(o->edges[o->bins]).s, (long long)o->pairs,
        (long long)(o->pairs - found->inside));
    return n < 0 ? NULL : notes;
}

int overlap_write(const overlap_task *task, const overlap_outcome *found)
{
    table t = {.title = "Overlap distribution",
               .x_title = "q",
               .y_title = "P(q)",
               .unit = "",
               .power = 1,
               .notes = make_notes(task, found),
               .rows = found->counts.bins};
    table_add(&t, TABLE_DETAIL, "q_low", "q_low", found->counts.edges);
    table_add(&t, TABLE_DETAIL, "q_high", "q_high", found->counts.edges + 1);
    table_add(&t, TABLE_X, "q", "q", found->q);
    table_add(&t, TABLE_Y, "P(q)", "P", found->density);
    table_add_whole(&t, TABLE_ERROR, "count", "count", found->count);
    return table_write(task->shared.output, task->format, &t, overlap_json(task, found));
}

/** What the figure shows. */
struct plot {
    const overlap_task *task;     /**< options */
    const overlap_outcome *found; /**< results */
};

/** Write the data of the figure, for gnuplot_draw. */
static void put_data(FILE *out, const void *what)
{
    const overlap_outcome *found = ((const struct plot *)what)->found;
    fputs("# q_low q_high P(q)\n", out);
    for (int64_t k = 0; k < found->counts.bins; k++) {
        fprintf(out, "%.7g %.7g %.7g\n", found->counts.edges[k], found->counts.edges[k + 1],
                found->density[k]);
    }
}

/** Write gnuplot's commands, for gnuplot_draw. For cosines of vectors of d > 2 elements the figure
 *  also shows the density for random directions, Gamma(d / 2) / (Gamma((d - 1) / 2) sqrt(pi))
 *  (1 - q^2)^((d - 3) / 2), whose logarithm does not overflow. */
static void put_figure(FILE *out, const void *what)
{
    static const char *const axes[] = {"overlap {/:Italic q}", "scalar product {/:Italic q}",
                                       "distance {/:Italic q}"};
    const struct plot *plot = what;
    const overlap_outcome *found = plot->found;
    const kith_overlaps *o = &found->counts;
    const double d = (double)found->replicas.dim;
    fprintf(out, "set xlabel \"%s\"\nset ylabel \"{/:Italic P}({/:Italic q})\"\n",
            axes[plot->task->how.measure]);
    fprintf(out, "set xrange [%.7g:%.7g]\nset yrange [0:*]\nset samples 1001\n", o->edges[0],
            o->edges[o->bins]);
    fprintf(out,
            "plot data using (($1+$2)/2):3:($2-$1) with boxes fillstyle transparent solid 0.35 "
            "linecolor rgb '%s' linewidth 0.8 title '%lld replicas'",
            gnuplot_colours[0], (long long)found->replicas.n);
    if (plot->task->how.measure == KITH_COSINE && d > 2) {
        const double log_factor = lgamma(d / 2) - lgamma((d - 1) / 2) - log(acos(-1)) / 2;
        fprintf(out,
                ", \\\n  abs(x) < 1 ? exp(%.12g + %.9g * log(1 - x * x)) : 0 with lines "
                "linecolor rgb '#7F7F7F' linewidth 1 title 'random directions'",
                log_factor, (d - 3) / 2);
    }
    fputc('\n', out);
}

int overlap_plot(const overlap_task *task, const overlap_outcome *found)
{
    const struct plot plot = {task, found};
    return gnuplot_draw(task->plot, put_data, put_figure, &plot, false);
}
