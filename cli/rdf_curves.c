/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From sums over blocks to g(r) and n(r) with their errors. Counts of unordered pairs are weighted
 * so that each ordered pair of a particle of one selection and one of the other is there once:
 *
 *     g(r) = sum counts / sum of what an ideal gas would count, over frames with their own boxes
 *     n(r) = sum counts up to r / sum of the particles they are around
 */
#include "rdf.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double rdf_weight(const rdf_classes *classes, const rdf_curve *c, int a, int b)
{
    const rdf_class *x = &classes->item[a], *y = &classes->item[b];
    if (c->a >= 0) {
        const bool is_it = (a == c->a && b == c->b) || (a == c->b && b == c->a);
        return is_it ? a == b ? 2 : 1 : 0;
    }
    return (x->first && y->second) + (y->first && x->second);
}

/** Whether each unordered pair is there from both ends. */
static bool is_symmetric(const rdf_classes *classes, const rdf_curve *c)
{
    bool same = true;
    for (int k = 0; k < classes->n; k++) {
        same = same && classes->item[k].first == classes->item[k].second;
    }
    return c->a < 0 ? same : c->a == c->b;
}

void rdf_sum_partials(const rdf_outcome *found, const rdf_curve *c, const double *values,
                      double *out)
{
    const rdf_classes *classes = &found->classes;
    const int64_t bins = found->layout.bins;
    memset(out, 0, (size_t)bins * sizeof *out);
    for (int a = 0; a < classes->n; a++) {
        for (int b = a; b < classes->n; b++) {
            const double w = rdf_weight(classes, c, a, b);
            const int64_t first = rdf_partial(classes, a, b) * bins;
            for (int64_t k = 0; k < bins && w > 0; k++) {
                out[k] += w * values[first + k];
            }
        }
    }
}

/** What one block has of a curve. */
static void sum_block(const rdf_outcome *found, const rdf_curve *c, const double *row,
                      double *counts, double *ideal, double *centres)
{
    const rdf_layout *l = &found->layout;
    const rdf_classes *classes = &found->classes;
    rdf_sum_partials(found, c, row + l->counts, counts);
    rdf_sum_partials(found, c, row + l->ideal, ideal);
    *centres = 0;
    for (int a = 0; a < classes->n; a++) {
        const bool is_centre = c->a >= 0 ? a == c->a : classes->item[a].first;
        *centres += is_centre ? row[l->centres + a] : 0;
    }
}

/** The highest bin, and the lowest between it and the next that is as high as half of it. */
static void find_peak(rdf_curve *c, int64_t bins)
{
    c->peak = c->low = -1;
    for (int64_t k = 0; k < bins; k++) {
        if (c->g[k] > 0 && (c->peak < 0 || c->g[k] > c->g[c->peak])) {
            c->peak = k;
        }
    }
    /* Beyond the peak g falls below 1, and rises above it again: the low is between. */
    bool below = false;
    for (int64_t k = c->peak + 1; c->peak >= 0 && k < bins; k++) {
        if (below && c->g[k] > 1) {
            return;
        }
        below = below || c->g[k] < 1;
        if (below && (c->low < 0 || c->g[k] < c->g[c->low])) {
            c->low = k;
        }
    }
    c->low = -1; /* it did not rise again within reach */
}

/** Make room for the arrays of all curves. */
static bool alloc_curves(const rdf_task *task, rdf_outcome *found)
{
    enum { ALWAYS = 5, FORCES = 5, WEIGHTS = 4 };
    const int64_t bins = found->layout.bins;
    const int64_t each = ALWAYS + (task->force ? FORCES : 0) + (task->weights ? WEIGHTS : 0);
    double *at = malloc((size_t)(found->n_curves * each * bins + 1) * sizeof *at);
    found->curve_room = at;
    for (int k = 0; k < found->n_curves && at; k++) {
        rdf_curve *c = &found->curve[k];
        double **const arrays[] = {&c->g, &c->g_error, &c->n, &c->n_error, &c->count};
        double **const of_forces[] = {&c->force, &c->force_error, &c->zero, &c->infinity,
                                      &c->weight};
        double **const of_weights[] = {&c->weighted, &c->weighted_error, &c->product,
                                       &c->product_error};
        at = rdf_carve(at, bins, arrays, ALWAYS);
        at = task->force ? rdf_carve(at, bins, of_forces, FORCES) : at;
        at = task->weights ? rdf_carve(at, bins, of_weights, WEIGHTS) : at;
    }
    return at != NULL;
}

/** Scratch of one curve: sums of each block, [blocks][bins], and of one bin, [blocks]. */
typedef struct sums {
    double *counts, *ideal, *running, *centres, *y, *x;
} sums;

/** @return false: no memory; else counts is to be freed */
static bool alloc_sums(sums *s, int64_t blocks, int64_t bins)
{
    double **const wide[] = {&s->counts, &s->ideal};
    double **const narrow[] = {&s->running, &s->centres, &s->y, &s->x};
    double *room = malloc((size_t)(blocks * (2 * bins + 4)) * sizeof *room);
    if (room) {
        rdf_carve(rdf_carve(room, blocks * bins, wide, 2), blocks, narrow, 4);
    }
    return room != NULL;
}

double *rdf_carve(double *room, int64_t each, double **const arrays[], int n)
{
    for (int k = 0; k < n; k++) {
        *arrays[k] = room + k * each;
    }
    return room + n * each;
}

double rdf_ratio(const double *y, const double *x, int64_t n)
{
    double all_y = 0, all_x = 0;
    for (int64_t b = 0; b < n; b++) {
        all_y += y[b];
        all_x += x[b];
    }
    return all_x > 0 ? all_y / all_x : (double)NAN;
}

static void fill_curve(rdf_outcome *found, rdf_curve *c, sums *s)
{
    const int64_t bins = found->layout.bins, blocks = found->blocks.n;
    const double times = is_symmetric(&found->classes, c) ? 2 : 1;
    for (int64_t b = 0; b < blocks; b++) {
        sum_block(found, c, found->blocks.row[b], s->counts + b * bins, s->ideal + b * bins,
                  &s->centres[b]);
        s->running[b] = 0;
    }
    for (int64_t k = 0; k < bins; k++) {
        c->count[k] = 0;
        for (int64_t b = 0; b < blocks; b++) {
            s->y[b] = s->counts[b * bins + k];
            s->x[b] = s->ideal[b * bins + k];
            s->running[b] += s->y[b];
            c->count[k] += s->y[b] / times;
        }
        c->g[k] = rdf_ratio(s->y, s->x, blocks);
        c->g_error[k] = rdf_ratio_error(s->y, s->x, blocks);
        c->n[k] = rdf_ratio(s->running, s->centres, blocks);
        c->n_error[k] = rdf_ratio_error(s->running, s->centres, blocks);
    }
    find_peak(c, bins);
}

/** The curves there will be: the whole, and with --partials those of each two classes. */
static bool list_curves(const rdf_task *task, rdf_outcome *found)
{
    const rdf_classes *classes = &found->classes;
    const int most = 1 + classes->n * (classes->n + 1) / 2;
    found->curve = calloc((size_t)most, sizeof *found->curve);
    rdf_curve *c = found->curve;
    if (!c) {
        return false;
    }
    if (!task->partials || classes->n > 1) {
        c->a = c->b = -1;
        const char *one = task->select ? task->select : "all";
        snprintf(c->name, sizeof c->name, task->with ? "%.60s-%.60s" : "%.60s", one, task->with);
        c++;
    }
    for (int a = 0; a < classes->n && task->partials; a++) {
        for (int b = a; b < classes->n; b++) {
            const rdf_class *x = &classes->item[a], *y = &classes->item[b];
            const bool turned = !(x->first && y->second);
            if (turned && !(y->first && x->second)) {
                continue;
            }
            c->a = turned ? b : a;
            c->b = turned ? a : b;
            snprintf(c->name, sizeof c->name, "%s-%s", classes->item[c->a].name,
                     classes->item[c->b].name);
            c++;
        }
    }
    found->n_curves = (int)(c - found->curve);
    return true;
}

int rdf_make_curves(const rdf_task *task, rdf_outcome *found)
{
    const int64_t bins = found->layout.bins;
    sums s = {0};
    bool fits = list_curves(task, found) && alloc_curves(task, found);
    for (int k = 0; k < found->n_curves && fits && task->force; k++) {
        fits = rdf_force_weights(found, &found->curve[k]);
    }
    rdf_blocks_fold(&found->blocks);
    fits = fits && alloc_sums(&s, found->blocks.n, bins);
    for (int k = 0; k < found->n_curves && fits; k++) {
        fill_curve(found, &found->curve[k], &s);
        fits = (!task->force || rdf_force_curve(task, found, &found->curve[k])) &&
               (!task->weights || rdf_weights_curve(found, &found->curve[k]));
    }
    free(s.counts);
    for (int64_t k = 0; k < found->layout.partials * bins; k++) {
        found->pairs += (int64_t)found->blocks.total[found->layout.counts + k];
    }
    return fits ? STATUS_OK : report_no_memory("curves");
}
