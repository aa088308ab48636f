/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From sums over blocks to g(r) and n(r) with their errors. Counts of unordered pairs are weighted
 * so that each ordered pair of a particle of one selection and one of the other is there once:
 *
 *     g(r) = sum counts / sum of what an ideal gas would count, over frames with their own boxes
 *     n(r) = sum counts up to r / sum of the particles they are around
 */
#include "rdf.h"
#include "common/report.h"

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

/** Return true when rdf_weight is 2 for the pairs of a curve: both selections are equal, so that
 *  each unordered pair is counted from both of its particles. */
static bool is_symmetric(const rdf_classes *classes, const rdf_curve *c)
{
    bool same = true;
    for (int k = 0; k < classes->n; k++) {
        same = same && classes->item[k].first == classes->item[k].second;
    }
    return c->a < 0 ? same : c->a == c->b;
}

double *rdf_sum_blocks(const rdf_outcome *found, const rdf_curve *c, int64_t at)
{
    const rdf_classes *classes = &found->classes;
    const int64_t bins = found->layout.bins;
    double *sums = calloc((size_t)(found->blocks.n * bins), sizeof *sums);
    for (int64_t block = 0; block < found->blocks.n && sums; block++) {
        for (int a = 0; a < classes->n; a++) {
            for (int b = a; b < classes->n; b++) {
                const double w = rdf_weight(classes, c, a, b);
                const double *from = found->blocks.row[block] + at +
                                     rdf_partial(classes, a, b) * bins;
                for (int64_t k = 0; k < bins && w > 0; k++) {
                    sums[block * bins + k] += w * from[k];
                }
            }
        }
    }
    return sums;
}

void rdf_divide(const rdf_outcome *found, const double *y, const double *x, double *value,
                double *error)
{
    const int64_t bins = found->layout.bins;
    for (int64_t k = 0; k < bins; k++) {
        value[k] = rdf_ratio(y + k, x + k, found->blocks.n, bins, &error[k]);
    }
}

/** Particles around which a curve counts, summed over the frames of a block. */
static double sum_centres(const rdf_outcome *found, const rdf_curve *c, const double *row)
{
    const rdf_classes *classes = &found->classes;
    double sum = 0;
    for (int a = 0; a < classes->n; a++) {
        const bool is_centre = c->a >= 0 ? a == c->a : classes->item[a].first;
        sum += is_centre ? row[found->layout.centres + a] : 0;
    }
    return sum;
}

/** Find the highest bin, and the lowest bin between it and the next one that is half as high. */
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
    c->low = -1; /* g does not rise again up to r_max */
}

/** Allocate the arrays of all curves. */
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

double *rdf_carve(double *room, int64_t each, double **const arrays[], int n)
{
    for (int k = 0; k < n; k++) {
        *arrays[k] = room + k * each;
    }
    return room + n * each;
}

/** Compute g and n of a curve with their errors. @return false: no memory */
static bool fill_curve(const rdf_outcome *found, rdf_curve *c)
{
    const int64_t bins = found->layout.bins;
    const double times = is_symmetric(&found->classes, c) ? 2 : 1;
    double *y = rdf_sum_blocks(found, c, found->layout.counts);
    double *x = rdf_sum_blocks(found, c, found->layout.ideal);
    const bool fits = y && x;
    if (fits) {
        rdf_divide(found, y, x, c->g, c->g_error);
        find_peak(c, bins);
        memset(c->count, 0, (size_t)bins * sizeof *c->count);
        for (int64_t b = 0; b < found->blocks.n; b++) {
            const double centres = sum_centres(found, c, found->blocks.row[b]);
            double running = 0;
            for (int64_t k = b * bins; k < (b + 1) * bins; k++) {
                c->count[k - b * bins] += y[k] / times;
                running += y[k];
                y[k] = running;
                x[k] = centres;
            }
        }
        rdf_divide(found, y, x, c->n, c->n_error);
    }
    free(y);
    free(x);
    return fits;
}

/** List the curves: that of the selections, and with --partials one for each two classes.
 *  @return false: no memory */
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
    bool fits = list_curves(task, found) && alloc_curves(task, found);
    for (int k = 0; k < found->n_curves && fits && task->force; k++) {
        fits = rdf_force_weights(found, &found->curve[k]);
    }
    rdf_blocks_fold(&found->blocks);
    for (int k = 0; k < found->n_curves && fits; k++) {
        fits = fill_curve(found, &found->curve[k]) &&
               (!task->force || rdf_force_curve(task, found, &found->curve[k])) &&
               (!task->weights || rdf_weights_curve(found, &found->curve[k]));
    }
    for (int64_t k = 0; k < found->layout.partials * found->layout.bins; k++) {
        found->pairs += (int64_t)found->blocks.total[found->layout.counts + k];
    }
    return fits ? STATUS_OK : report_no_memory("curves");
}
