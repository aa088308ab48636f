/* SPDX-License-Identifier: BSD-3-Clause
 *
 * S(q) of `kith rdf`: the sums of each frame, and what follows from the blocks. docs/rdf.md defines
 * the Faber-Ziman partials A_ab(q) and the Ashcroft-Langreth partials S_ab(q).
 */
#include "common/engine.h"
#include "rdf.h"
#include "common/report.h"

#include <kith/waves.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Most bins of q; largest |h|, |k| or |l| of a vector q, a limit of kith_waves_sum. */
enum { MOST_Q_BINS = 1 << 16, MOST_WAVES = 1 << 14 };

/** Return true when S(q) is not defined because --select and --with overlap, but differ, without
 *  --partials. */
static bool has_overlap(const rdf_task *task, const rdf_classes *classes)
{
    bool both = false;
    for (int k = 0; k < classes->n; k++) {
        both = both || (classes->item[k].first && classes->item[k].second);
    }
    return both && !task->partials && task->with && classes->n > 1;
}

bool rdf_structure_can(const rdf_task *task, const rdf_outcome *found)
{
    return !(found->edges[0] > 0) && !has_overlap(task, &found->classes);
}

int rdf_structure_begin(const rdf_task *task, rdf_outcome *found)
{
    enum { USUAL_BINS = 200, USUAL_WAVES = 4 }; /* q up to 4 waves per mean spacing */
    const rdf_extent *extent = &found->extent;
    rdf_structure *s = &found->structure;
    const double least = extent->least_q;
    const double spacing = pow(extent->most_volume / (double)found->particles,
                               1.0 / found->space.box.dim);
    const double q_max = task->q_max > 0 ? task->q_max : 2 * M_PI * USUAL_WAVES / spacing;
    s->q_min = task->q_min > 0 ? task->q_min
                               : least * (1 - 1e-9); /* so that rounding does not exclude it */
    s->width = task->q_width > 0 ? task->q_width : fmax(least, (q_max - s->q_min) / USUAL_BINS);
    const double bins = ceil((q_max - s->q_min) / s->width * (1 - 1e-9));
    if (!(bins >= 1 && bins <= MOST_Q_BINS)) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: %.15g bins from q = %.6g to %.6g, expected 1 to %d", task->input,
                            bins, s->q_min, q_max, MOST_Q_BINS);
    }
    if (task->q_min > 0 && task->q_min < least * (1 - 1e-9)) {
        (void)report_error(STATUS_OK, "below it S(q) shows the shape of the box",
                           "%s: warning: --q-min is %s, below the smallest q of the box, %.6g",
                           task->input, report_real(task->q_min).s, least);
    }
    if (found->edges[0] > 0) {
        return report_error(STATUS_INVALID, "leave out --r-min and --log",
                            "%s: S(q) needs bins of r from 0, not from %s", task->input,
                            report_real(found->edges[0]).s);
    }
    if (has_overlap(task, &found->classes)) {
        return report_error(STATUS_INVALID, NULL,
                            "%s: S(q) of --select %s --with %s, which overlap, needs --partials",
                            task->input, task->select, task->with);
    }
    s->bins = (int64_t)bins;
    s->direct = task->sq && task->q_vectors > 0;
    return STATUS_OK;
}

int rdf_structure_check(const rdf_task *task, const rdf_outcome *found, const kith_box *box)
{
    const rdf_structure *s = &found->structure;
    const double q_max = s->q_min + (double)s->bins * s->width;
    for (int k = 0; k < box->dim && s->direct; k++) {
        const double *r = box->row[k];
        const double most = q_max * sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / (2 * M_PI);
        if (!(most < MOST_WAVES)) {
            return report_error(STATUS_LIMIT, "--q-vectors 0 leaves the sum out",
                                "%s: --q-max %.6g: %.6g waves across the box, more than %d",
                                task->input, q_max, most, MOST_WAVES);
        }
    }
    return STATUS_OK;
}

/** Choose the vectors q of the box of a frame. A different box has other vectors in each bin, so
 *  each frame has its own, up to --q-vectors in a bin. @return false: no memory */
static bool choose_waves(const rdf_task *task, const rdf_outcome *found, rdf_frame *f)
{
    const rdf_structure *s = &found->structure;
    rdf_sums *sums = &f->sums;
    if (sums->value && memcmp(sums->rows, f->box.row, sizeof sums->rows) == 0) {
        return true;
    }
    rdf_sums_free(sums);
    if (!waves_choose(&f->box, s->q_min, s->width, s->bins, task->q_vectors, &sums->waves)) {
        return false;
    }
    const size_t numbers = 2 * (size_t)sums->waves.n * (size_t)f->n_classes;
    sums->value = malloc((numbers + 1) * sizeof *sums->value);
    memcpy(sums->rows, f->box.row, sizeof sums->rows);
    return sums->value != NULL;
}

/** Add the products of the sums to the row of a frame. */
static void add_products(const rdf_outcome *found, rdf_frame *f)
{
    const rdf_structure *s = &found->structure;
    const rdf_layout *l = &found->layout;
    const kith_histogram shape = {.n_species = f->n_classes};
    const int classes = f->n_classes;
    double members[RDF_MOST_CLASSES] = {0};
    for (int64_t p = 0; p < f->part.points.n; p++) {
        members[f->part.species[p]]++;
    }
    for (int64_t v = 0; v < f->sums.waves.n; v++) {
        const double q = waves_length(&f->sums.waves, &f->box, v);
        const int64_t bin = waves_bin(q, s->q_min, s->width);
        f->row[l->vectors + bin] += 1;
        f->row[l->q_sum + bin] += q;
        const double *sum = f->sums.value + 2 * v * classes;
        double all[2] = {0};
        for (int32_t a = 0; a < classes; a++) {
            all[0] += sum[2 * a];
            all[1] += sum[2 * a + 1];
            for (int32_t b = a; b < classes; b++) {
                const double norm = sqrt(members[a] * members[b]);
                const double product = sum[2 * a] * sum[2 * b] + sum[2 * a + 1] * sum[2 * b + 1];
                f->row[l->direct + kith_histogram_partial(&shape, a, b) * s->bins + bin] +=
                    norm > 0 ? product / norm : 0;
            }
        }
        const double n = (double)f->part.points.n;
        f->row[l->direct_all + bin] += n > 0 ? (all[0] * all[0] + all[1] * all[1]) / n : 0;
    }
}

kith_status rdf_structure_sum(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx,
                              rdf_frame *f)
{
    if (!choose_waves(task, found, f)) {
        return KITH_NO_MEMORY;
    }
    kith_waves all;
    kith_waves_init(&all);
    all.n = f->sums.waves.n;
    all.hkl = (const int32_t *)f->sums.waves.hkl;
    all.species = f->part.species;
    all.n_species = f->n_classes;
    const kith_status status = kith_waves_sum(ctx, &f->part.points, &f->box, &all, f->sums.value);
    if (status == KITH_OK) {
        add_products(found, f);
    }
    return status;
}

void rdf_sums_free(rdf_sums *sums)
{
    waves_free(&sums->waves);
    free(sums->value);
    sums->value = NULL;
}

/** Compute the number fractions of the classes. @param[out] x  [classes] */
static void fractions(const rdf_outcome *found, double *x)
{
    double all = 0;
    const double *centres = found->blocks.total + found->layout.centres;
    for (int a = 0; a < found->classes.n; a++) {
        all += centres[a];
    }
    for (int a = 0; a < found->classes.n; a++) {
        x[a] = centres[a] / all;
    }
}

/** Compute the Faber-Ziman partials of a row of the blocks.
 *  @param q         [n] where
 *  @param[out] fz   [partials][n]
 *  @param weights   [bins] scratch */
static void transform(const rdf_task *task, const rdf_outcome *found, const double *row, int64_t n,
                      const double *q, double *fz, double *weights)
{
    const rdf_layout *l = &found->layout;
    const double *total = found->blocks.total;
    double density = 0;
    for (int a = 0; a < found->classes.n; a++) {
        density += total[l->centres + a] / total[l->volume];
    }
    for (int64_t at = 0; at < n; at++) {
        structure_weights(found->space.box.dim, q[at], l->bins, found->edges, task->window,
                          weights);
        for (int64_t p = 0; p < l->partials; p++) {
            const double *counts = row + l->counts + p * l->bins;
            const double *ideal = row + l->ideal + p * l->bins;
            double sum = 0;
            for (int64_t k = 0; k < l->bins; k++) {
                sum += ideal[k] > 0 ? weights[k] * (counts[k] / ideal[k] - 1) : 0;
            }
            fz[p * n + at] = 1 + density * sum;
        }
    }
}

/** Return the value of factor f at q number `at` of n, by the transform.
 *  @param x         [classes] number fractions
 *  @param fz        [partials][n] Faber-Ziman partials
 *  @param langreth  of two classes, return the Ashcroft-Langreth partial instead */
static double by_transform(const rdf_outcome *found, const rdf_factor *f, const double *x,
                           const double *fz, int64_t n, int64_t at, bool langreth)
{
    const rdf_classes *c = &found->classes;
    if (f->a >= 0) {
        const double value = fz[rdf_partial(c, f->a, f->b) * n + at];
        return langreth ? (f->a == f->b) + sqrt(x[f->a] * x[f->b]) * (value - 1) : value;
    }
    double sum = 1;
    for (int a = 0; a < c->n; a++) {
        for (int b = a; b < c->n; b++) {
            sum += (a == b ? 1 : 2) * x[a] * x[b] * (fz[rdf_partial(c, a, b) * n + at] - 1);
        }
    }
    return sum;
}

/** Return the value of factor f in bin `at` of q, by the direct sums of a row, not yet divided by
 *  the number of vectors. */
static double by_sum(const rdf_outcome *found, const rdf_factor *f, const double *row, int64_t at)
{
    const rdf_layout *l = &found->layout;
    const int64_t partial = f->a >= 0 ? rdf_partial(&found->classes, f->a, f->b) : 0;
    return f->a >= 0 ? row[l->direct + partial * found->structure.bins + at]
                     : row[l->direct_all + at];
}

/** Scratch of the transforms: Faber-Ziman partials of each block, and in the last row of all
 *  frames; ratios at one q. */
typedef struct scratch {
    double *fz, *y, *x, *weights; /**< [blocks + 1][partials][q bins] Faber-Ziman partials; [blocks]
                                       numerators and [blocks] denominators of rdf_ratio; [bins]
                                       scratch of transform() */
} scratch;

/** Fill the arrays of a factor in all bins of q. */
static void fill_factor(const rdf_outcome *found, rdf_factor *f, const double *fraction,
                        const scratch *t)
{
    const rdf_layout *l = &found->layout;
    const rdf_blocks *blocks = &found->blocks;
    const int64_t n = blocks->n, bins = found->structure.bins, size = l->partials * bins;
    for (int64_t at = 0; at < bins; at++) {
        for (int64_t b = 0; b < n; b++) {
            t->x[b] = blocks->row[b][l->frames];
            t->y[b] = t->x[b] * by_transform(found, f, fraction, t->fz + b * size, bins, at, false);
        }
        f->fz[at] = by_transform(found, f, fraction, t->fz + n * size, bins, at, false);
        f->al[at] = by_transform(found, f, fraction, t->fz + n * size, bins, at, true);
        (void)rdf_ratio(t->y, t->x, n, 1, &f->fz_error[at]);
        f->al_error[at] = f->fz_error[at] * (f->a >= 0 ? sqrt(fraction[f->a] * fraction[f->b]) : 1);
        const int64_t direct = found->structure.direct ? n : 0;
        for (int64_t b = 0; b < direct; b++) {
            t->x[b] = blocks->row[b][l->vectors + at];
            t->y[b] = by_sum(found, f, blocks->row[b], at);
        }
        f->sum[at] = rdf_ratio(t->y, t->x, direct, 1, &f->sum_error[at]);
    }
}

/** List the factors: all particles, and each two classes if there are several; allocate their
 *  arrays. @return false: no memory */
static bool list_factors(rdf_outcome *found)
{
    rdf_structure *s = &found->structure;
    const rdf_classes *c = &found->classes;
    s->factor = calloc((size_t)found->layout.partials + 1, sizeof *s->factor);
    if (!s->factor) {
        return false;
    }
    s->factor[0] = (rdf_factor){.name = "all", .a = -1, .b = -1};
    s->n = 1;
    for (int a = 0; a < c->n && c->n > 1; a++) {
        for (int b = a; b < c->n; b++) {
            rdf_factor *f = &s->factor[s->n++];
            f->a = a;
            f->b = b;
            snprintf(f->name, sizeof f->name, "%s-%s", c->item[a].name, c->item[b].name);
        }
    }
    double **const own[] = {&s->low, &s->high, &s->q, &s->vectors};
    s->room = malloc((size_t)((4 + 6 * s->n) * s->bins) * sizeof *s->room);
    double *at = s->room ? rdf_carve(s->room, s->bins, own, 4) : NULL;
    for (int k = 0; k < s->n && at; k++) {
        rdf_factor *f = &s->factor[k];
        double **const arrays[] = {&f->fz,       &f->fz_error, &f->al,
                                   &f->al_error, &f->sum,      &f->sum_error};
        at = rdf_carve(at, s->bins, arrays, 6);
    }
    return at != NULL;
}

/** Set the bins of q, the mean q in each, and the number of vectors. */
static void fill_q(rdf_outcome *found)
{
    rdf_structure *s = &found->structure;
    const double *total = found->blocks.total;
    for (int64_t k = 0; k < s->bins; k++) {
        const double n = total[found->layout.vectors + k];
        s->low[k] = s->q_min + (double)k * s->width;
        s->high[k] = s->q_min + (double)(k + 1) * s->width;
        s->q[k] = n > 0 ? total[found->layout.q_sum + k] / n : (s->low[k] + s->high[k]) / 2;
        s->vectors[k] = n;
    }
}

/** Fit a power law to S(q) of all particles. @return exit status, reported */
static int fit_slope(const rdf_task *task, rdf_outcome *found)
{
    rdf_structure *s = &found->structure;
    const rdf_factor *f = &s->factor[0];
    s->slope_points = structure_slope(s->bins, s->q, s->direct ? f->sum : f->fz, task->slope[0],
                                      task->slope[1], &s->slope, &s->slope_error);
    if (s->slope_points < 3) {
        return report_error(STATUS_INVALID, "--q-width gives more",
                            "%s: --slope %s,%s: %lld points of S(q) there, expected 3 or more",
                            task->input, report_real(task->slope[0]).s,
                            report_real(task->slope[1]).s, (long long)s->slope_points);
    }
    return STATUS_OK;
}

int rdf_structure_make(const rdf_task *task, rdf_outcome *found)
{
    rdf_structure *s = &found->structure;
    const int64_t n = found->blocks.n, size = found->layout.partials * s->bins;
    double fraction[RDF_MOST_CLASSES];
    scratch t = {
        .fz = malloc((size_t)((n + 1) * size + 2 * n + found->layout.bins) * sizeof(double))};
    int status = STATUS_OK;
    if (t.fz && list_factors(found)) {
        t.y = t.fz + (n + 1) * size;
        t.x = t.y + n;
        t.weights = t.x + n;
        fill_q(found);
        fractions(found, fraction);
        for (int64_t b = 0; b <= n; b++) {
            transform(task, found, b < n ? found->blocks.row[b] : found->blocks.total, s->bins,
                      s->q, t.fz + b * size, t.weights);
        }
        for (int k = 0; k < s->n; k++) {
            fill_factor(found, &s->factor[k], fraction, &t);
        }
        status = task->slope[1] > 0 ? fit_slope(task, found) : STATUS_OK;
    } else {
        status = report_no_memory("S(q)");
    }
    free(t.fz);
    return status;
}

double *rdf_structure_line(const rdf_task *task, const rdf_outcome *found, int64_t n,
                           const double *q)
{
    const rdf_structure *s = &found->structure;
    double fraction[RDF_MOST_CLASSES];
    const int64_t lines = s->n * n, partials = found->layout.partials * n;
    double *line = malloc((size_t)(lines + partials + found->layout.bins) * sizeof *line);
    if (line) {
        double *fz = line + lines;
        fractions(found, fraction);
        transform(task, found, found->blocks.total, n, q, fz, fz + partials);
        for (int64_t k = 0; k < lines; k++) {
            line[k] = by_transform(found, &s->factor[k / n], fraction, fz, n, k % n, true);
        }
    }
    return line;
}

void rdf_structure_free(rdf_structure *s)
{
    free(s->factor);
    free(s->room);
}
