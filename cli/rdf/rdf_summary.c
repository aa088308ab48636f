/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary of `kith rdf`, as text or as JSON.
 */
#include "common/engine.h"
#include "rdf.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>

/** A value and its error, with the digits that the error leaves significant. */
static printed with_error(double value, double error)
{
    if (!isfinite(error) || !(error > 1e-9 * fabs(value))) {
        return report_format("%.3f", value);
    }
    const int most = 1 - (int)floor(log10(error)), digits = most < 0 ? 0 : most > 9 ? 9 : most;
    return report_format("%.*f +- %.*f", digits, value, digits, error);
}

/** A length with its unit. */
static printed length(const rdf_outcome *found, double value)
{
    return report_format("%.4g%s%.20s", value, *found->unit ? " " : "", report_text(found->unit).s);
}

static void print_frames(const rdf_outcome *found)
{
    const style *look = report_style();
    report_line("frames", "%s", report_bold(report_count(found->frames).s).s);
    if (found->from.wanted > 0 && found->partial) {
        printf(" of %s", report_count(found->from.wanted).s);
    }
    printf(", %s\n", found->from.description);
    if (found->partial) {
        report_line("", "%spartial: %s%s\n", look->bold, found->partial_text, look->end);
    }
    report_line("particles", "%s, %s", report_count(found->particles).s,
                report_precision(found->precision));
    for (int k = 0; k < found->classes.n; k++) {
        const rdf_class *c = &found->classes.item[k];
        if (found->classes.n > 1 || c->members < found->particles) {
            printf("; %s %s", report_text(c->name).s, report_count(c->members).s);
        }
    }
    putchar('\n');
}

static void print_box(const rdf_outcome *found)
{
    space_print(&found->space);
    if (found->most_volume > found->least_volume) {
        report_line("", "volume from %.5g to %.5g: each frame with its own\n", found->least_volume,
                    found->most_volume);
    }
}

/** By forces: g where the counts have it highest, the ratio of variances, and the temperature from
 *  forces. */
static void print_force(const rdf_outcome *found, const rdf_curve *c)
{
    if (!c->force) {
        return;
    }
    report_line("by forces", "%s there",
                report_bold(with_error(c->force[c->peak], c->force_error[c->peak]).s).s);
    if (isfinite(c->gain)) {
        printf("; variance %.3g times less than by counts (median of bins)", c->gain);
    }
    putchar('\n');
    report_line("", "kT = %s fits counts best%s\n", with_error(c->kT, c->kT_error).s,
                found->distrusted ? ": it is not the temperature given" : "");
    double kT = 0, error = 0;
    rdf_temperature_kinetic(&found->kinetic, &kT, &error);
    if (isfinite(kT)) {
        report_line("", "kT = %s by velocities\n", with_error(kT, error).s);
    }
}

/** Print where a curve is highest, and the number of neighbours up to the minimum after it. */
static void print_curve(const rdf_outcome *found, const rdf_curve *c)
{
    char name[16];
    snprintf(name, sizeof name, found->n_curves > 1 || c->a >= 0 ? "%.11s" : "g(r)",
             report_text(c->name).s);
    if (c->peak < 0) {
        report_line(name, "no pairs within r_max\n");
        return;
    }
    report_line(name, "highest %s at %s",
                report_bold(with_error(c->g[c->peak], c->g_error[c->peak]).s).s,
                length(found, found->middle[c->peak]).s);
    if (c->low >= 0) {
        printf(", then %s at %s\n", with_error(c->g[c->low], c->g_error[c->low]).s,
               length(found, found->middle[c->low]).s);
        report_line("", "neighbours up to there: n = %s",
                    with_error(c->n[c->low], c->n_error[c->low]).s);
    }
    putchar('\n');
    print_force(found, c);
}

/** The bin where S(q) of all particles is highest, by direct sum if there is one. A transform may
 *  be below 0, or NaN: neither is the highest. */
static int64_t highest(const rdf_structure *s, const double **value, const double **error)
{
    int64_t top = 0;
    *value = s->direct ? s->factor[0].sum : s->factor[0].fz;
    *error = s->direct ? s->factor[0].sum_error : s->factor[0].fz_error;
    for (int64_t k = 0; k < s->bins; k++) {
        const bool higher = isnan((*value)[top]) || (*value)[k] > (*value)[top];
        top = higher && (*value)[k] > 0 ? k : top;
    }
    return top;
}

static void print_structure(const rdf_task *task, const rdf_outcome *found)
{
    const rdf_structure *s = &found->structure;
    const double *value, *error;
    const int64_t top = highest(s, &value, &error);
    report_line("S(q)", "highest %s at %.4g, %s at %.4g, by %s\n",
                report_bold(with_error(value[top], error[top]).s).s, s->q[top],
                with_error(value[0], error[0]).s, s->q[0],
                s->direct ? "sum over the box's q" : "transform");
    if (s->slope_points > 0) {
        report_line("slope", "S ~ q^-d with d = %s, from %lld points\n",
                    report_bold(with_error(s->slope, s->slope_error).s).s,
                    (long long)s->slope_points);
    }
    report_output("", task->sq);
}

void rdf_print(const rdf_task *task, const rdf_outcome *found)
{
    enum { SHOWN = 12 };
    report_title(task->input);
    print_frames(found);
    print_box(found);
    report_line("bins", "%s from %s to %s%s%s\n", report_count(found->how.bins).s,
                report_real(found->edges[0]).s, length(found, found->edges[found->how.bins]).s,
                task->log         ? ", of equal ratio"
                : task->edges     ? ", edges from a file"
                : found->narrower ? ", the last narrower"
                                  : "",
                task->minimum_image ? "; nearest images alone" : "");
    if (found->inside) {
        report_line(found->inside, "%s\n", rdf_inside_text(found));
    }
    for (int k = 0; k < found->n_curves && k < SHOWN; k++) {
        print_curve(found, &found->curve[k]);
    }
    if (task->sq) {
        print_structure(task, found);
    }
    if (found->blocks.n > 1) {
        report_line("+-", "one standard error, from %lld blocks of frames\n",
                    (long long)found->blocks.n);
    }
    engine_print_count(ranks_words(found->ranks, found->ctx).s, found->pairs, found->count_seconds);
    report_line("time", "waited %s for frames", report_seconds(found->from.seconds).s);
    if (found->structure.direct) {
        printf(", summed S(q) %s", report_seconds(found->sum_seconds).s);
    }
    if (task->shared.output || task->sq || task->plot) {
        printf(", wrote %s", report_seconds(found->write_seconds).s);
    }
    putchar('\n');
    report_line("memory", "%s at most\n", report_bytes(report_peak_memory()).s);
    report_output("figure", task->plot);
    report_output("output", task->shared.output);
}

static json_t *curve_json(const rdf_outcome *found, const rdf_curve *c)
{
    json_t *value = json_pack("{s:o}", "name", report_json_text(c->name));
    json_t *peak = json_null(), *low = json_null();
    if (c->peak >= 0) {
        peak = json_pack("{s:f, s:f, s:o}", "r", found->middle[c->peak], "g", c->g[c->peak],
                         "error", report_json_real(c->g_error[c->peak]));
    }
    if (c->low >= 0) {
        low = json_pack("{s:f, s:f, s:o, s:f, s:o}", "r", found->middle[c->low], "g", c->g[c->low],
                        "error", report_json_real(c->g_error[c->low]), "n", c->n[c->low], "n_error",
                        report_json_real(c->n_error[c->low]));
    }
    json_object_set_new(value, "highest", peak);
    json_object_set_new(value, "then_lowest", low);
    if (c->force && c->peak >= 0) {
        json_object_set_new(value, "force",
                            json_pack("{s:o, s:o, s:o, s:o, s:o}", "g",
                                      report_json_real(c->force[c->peak]), "error",
                                      report_json_real(c->force_error[c->peak]), "variance_ratio",
                                      report_json_real(c->gain), "kT", report_json_real(c->kT),
                                      "kT_error", report_json_real(c->kT_error)));
    }
    return value;
}

/** Return S(q) of the summary as JSON; null without --sq. */
static json_t *structure_json(const rdf_task *task, const rdf_outcome *found)
{
    const rdf_structure *s = &found->structure;
    if (!task->sq) {
        return json_null();
    }
    const double *value, *error;
    const int64_t top = highest(s, &value, &error);
    json_t *slope = json_null();
    if (s->slope_points > 0) {
        slope = json_pack("{s:f, s:f, s:I}", "d", s->slope, "error", s->slope_error, "points",
                          (json_int_t)s->slope_points);
    }
    return json_pack("{s:o, s:I, s:f, s:f, s:I, s:s, s:{s:f, s:o, s:o}, s:o}", "output",
                     report_json_text(task->sq), "bins", (json_int_t)s->bins, "q_min", s->q_min,
                     "q_max", s->high[s->bins - 1], "vectors", (json_int_t)s->most_waves, "window",
                     task->window == WINDOW_LORCH ? "lorch" : "none", "highest", "q", s->q[top],
                     "S", report_json_real(value[top]), "error", report_json_real(error[top]),
                     "slope", slope);
}

json_t *rdf_json(const rdf_task *task, const rdf_outcome *found)
{
    const rdf_layout *l = &found->layout;
    json_t *curves = json_array(), *species = json_object();
    for (int k = 0; k < found->n_curves; k++) {
        json_array_append_new(curves, curve_json(found, &found->curve[k]));
    }
    for (int k = 0; k < found->classes.n; k++) {
        const rdf_class *c = &found->classes.item[k];
        report_json_set(species, c->name, json_integer((json_int_t)c->members));
    }
    json_t *volume = json_pack("{s:f, s:f, s:f}", "mean",
                               found->blocks.total[l->volume] / (double)found->frames, "least",
                               found->least_volume, "most", found->most_volume);
    json_t *bins = json_pack("{s:I, s:f, s:f}", "n", (json_int_t)found->how.bins, "r_min",
                             found->edges[0], "r_max", found->edges[found->how.bins]);
    json_t *seconds = json_pack("{s:f, s:f, s:f, s:o}", "wait", found->from.seconds, "count",
                                found->count_seconds, "sum", found->sum_seconds, "write",
                                report_json_real(found->write_seconds));
    json_t *frames = json_pack("{s:I, s:I, s:I, s:I}", "n", (json_int_t)found->frames, "first",
                               (json_int_t)found->first_index, "last",
                               (json_int_t)found->last_index, "blocks",
                               (json_int_t)found->blocks.n);
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:o, s:b, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:b, s:o,"
        " s:o, s:I, s:s, s:i, s:i, s:o, s:i, s:I, s:{s:o, s:o, s:o}}",
        "kith", kith_version(), "verb", "rdf", "command", report_json_text(option_command()),
        "input", report_json_text(task->input), "format", found->from.description, "unit",
        report_json_text(found->unit), "partial", found->partial, "frames", frames, "particles",
        (json_int_t)found->particles, "species", species, "counted_within",
        report_json_text(found->inside), "box", space_json(&found->space), "volume", volume, "bins",
        bins, "minimum_image", task->minimum_image, "curves", curves, "structure",
        structure_json(task, found), "pairs", (json_int_t)found->pairs, "backend",
        ranks_backend(found->ranks, found->ctx), "threads", kith_threads(found->ctx), "ranks",
        ranks_number(found->ranks), "seconds", seconds, "parts", found->parts, "peak_bytes",
        (json_int_t)report_peak_memory(), "outputs", "table", report_json_text(task->shared.output),
        "structure", report_json_text(task->sq), "plot", report_json_text(task->plot));
}
