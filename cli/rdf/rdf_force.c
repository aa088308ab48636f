/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `kith rdf --estimator force`: g(r) from the forces on the particles. A row of the blocks has,
 * for each partial, density times g from zero in each bin, density times what that is at r_max, and
 * the density of pairs; in sums over frames these give g as the counts do.
 *
 * Integrated from zero and from infinity, g differs by a number X of mean 0; any g_0 - w X has the
 * right mean. The best w is cov(g_0, X) / var(X) in each bin, from all grains of frames (Coles,
 * Mangaud, Frenkel & Rotenberg, J. Chem. Phys. 154, 191101, 2021). X is not g_0(r_max) - 1, which
 * is not 0 where g has not come to 1, but what g_0 has more than counts have in its mean over all
 * of space up to r_max: that mean is nearly free of noise.
 */
#include "common/parse.h"
#include "rdf.h"
#include "common/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_BLOCKS = 5 }; /* errors of fewer blocks are too uncertain to be compared */

bool rdf_parse_temperature(const char *text, double *kT)
{
    static const struct {
        const char *name;
        double boltzmann; /**< per kelvin; CODATA 2018 */
    } units[] = {{"eV", 8.617333262e-5}, {"kcal", 1.987204259e-3}, {"kJ", 8.314462618e-3}};
    const char *unit = parse_leading(text, kT);
    double factor = unit && *unit == '\0' ? 1 : 0;
    for (size_t k = 0; k < sizeof units / sizeof *units && unit && *unit == ','; k++) {
        factor = strcmp(unit + 1, units[k].name) == 0 ? units[k].boltzmann : factor;
    }
    *kT *= factor;
    return *kT > 0 && isfinite(*kT);
}

int rdf_force_check(const rdf_task *task, const io_frame *frame)
{
    const int64_t n = 3 * frame->particles.n;
    for (int64_t k = 0; k < n; k++) {
        if (io_real(frame->force, k, frame->particles.precision) != 0) {
            return STATUS_OK;
        }
    }
    return report_error(STATUS_INVALID, "--estimator histogram needs none",
                        "%s: frame %lld: all forces are 0", task->input, (long long)frame->index);
}

/** Offset in a row of the bins + 2 numbers of a partial: density times g from zero in each bin, at
 *  r_max, and the density of pairs. */
static int64_t place(const rdf_layout *l, int64_t partial)
{
    return l->force + partial * (l->bins + 2);
}

bool rdf_force_add(const rdf_task *task, const rdf_outcome *found, const kith_histogram *h,
                   double *row)
{
    const rdf_layout *l = &found->layout;
    double *zero = malloc((size_t)l->bins * 2 * sizeof *zero);
    for (int a = 0; a < h->n_species && zero; a++) {
        for (int b = a; b < h->n_species; b++) {
            const int64_t partial = kith_histogram_partial(h, a, b);
            const double density = h->density[partial];
            double *to = row + place(l, partial);
            if (!(density > 0)) {
                continue; /* one particle makes no pair */
            }
            kith_rdf_force(h, a, b, task->kT, zero, zero + l->bins);
            for (int64_t k = 0; k < l->bins; k++) {
                to[k] += density * zero[k];
            }
            /* g from zero at r_max; the two g differ by one number in all bins. */
            to[l->bins] += density * (1 + zero[0] - zero[l->bins]);
            to[l->bins + 1] += density;
        }
    }
    free(zero);
    return zero != NULL;
}

/** Sum over the partials of a curve, from each row of the blocks: the numbers of a partial, and
 *  behind them X times density. @return [bins + 3][blocks], to be freed; NULL: no memory */
static double *sum_rows(const rdf_outcome *found, const rdf_curve *c)
{
    const rdf_layout *l = &found->layout;
    const int64_t n = found->blocks.n;
    double *sums = calloc((size_t)((l->bins + 3) * n), sizeof *sums);
    for (int64_t block = 0; block < n && sums; block++) {
        const double *row = found->blocks.row[block];
        double *out = sums + block, volume = 0, mean = 0, counts = 0;
        for (int a = 0; a < found->classes.n; a++) {
            for (int b = a; b < found->classes.n; b++) {
                const double w = rdf_weight(&found->classes, c, a, b);
                const int64_t partial = rdf_partial(&found->classes, a, b);
                const double *from = row + place(l, partial);
                for (int64_t k = 0; k < l->bins + 2 && w > 0; k++) {
                    out[k * n] += w * from[k];
                    counts += k < l->bins ? w * row[l->counts + partial * l->bins + k] : 0;
                }
            }
        }
        for (int64_t k = 0; k < l->bins; k++) {
            volume += found->shells[k];
            mean += found->shells[k] * out[k * n];
        }
        out[(l->bins + 2) * n] = (mean - counts) / volume;
    }
    return sums;
}

/** Return the sum of n numbers. */
static double total(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += x[k];
    }
    return sum;
}

/** The weights w if there are fewer than two grains: as if the pushes of all pairs were
 *  independent, with variance 1 / r^(2 dim - 2). */
static void guess_weights(const rdf_outcome *found, rdf_curve *c)
{
    const rdf_layout *l = &found->layout;
    const int64_t bins = l->bins;
    double all = 0;
    for (int64_t k = 0; k < bins; k++) {
        double own = 0;
        for (int64_t partial = 0; partial < l->partials; partial++) {
            own += found->blocks.row[0][l->counts + partial * bins + k];
        }
        own /= pow(found->middle[k], 2 * found->space.box.dim - 2);
        c->weight[k] = all + own / 2;
        all += own;
    }
    for (int64_t k = 0; k < bins; k++) {
        c->weight[k] = all > 0 ? c->weight[k] / all : 0.5;
    }
}

bool rdf_force_weights(const rdf_outcome *found, rdf_curve *c)
{
    const int64_t bins = found->layout.bins, n = found->blocks.n;
    double *sums = sum_rows(found, c), squares = 0;
    if (!sums) {
        return false;
    }
    const double *density = sums + (bins + 1) * n, *excess = density + n;
    const double all = total(density, n), mean = total(excess, n) / all;
    for (int64_t b = 0; b < n; b++) {
        const double beside = excess[b] - mean * density[b];
        squares += beside * beside;
    }
    const bool known = n > 1 && squares > 0;
    for (int64_t k = 0; k < bins && known; k++) {
        const double *zero = sums + k * n, g = total(zero, n) / all;
        double product = 0;
        for (int64_t b = 0; b < n; b++) {
            product += (zero[b] - g * density[b]) * (excess[b] - mean * density[b]);
        }
        c->weight[k] = product / squares;
    }
    if (!known) {
        guess_weights(found, c);
    }
    free(sums);
    return true;
}

/** Median over bins of the variance by counts / the variance by forces, by insertion sort.
 *  @param scratch  [bins] */
static double median_gain(const rdf_curve *c, int64_t bins, double *scratch)
{
    int64_t n = 0;
    for (int64_t k = 0; k < bins; k++) {
        const double ratio = c->g_error[k] / c->force_error[k];
        if (c->g[k] > 0 && ratio > 0 && isfinite(ratio)) {
            int64_t at = n++;
            for (; at > 0 && scratch[at - 1] > ratio * ratio; at--) {
                scratch[at] = scratch[at - 1];
            }
            scratch[at] = ratio * ratio;
        }
    }
    return n > 0 ? scratch[n / 2] : (double)NAN;
}

/** Set the kT of a curve at which the mean of g_zero over space, proportional to 1 / kT, equals
 *  that of counts.
 *  @param sums  of sum_rows   @param y  [2][blocks] scratch */
static void fit_temperature(const rdf_task *task, const rdf_outcome *found, const double *sums,
                            double *y, rdf_curve *c)
{
    const int64_t bins = found->layout.bins, n = found->blocks.n;
    const double *excess = sums + (bins + 2) * n, volume = total(found->shells, bins);
    double *x = y + n;
    for (int64_t b = 0; b < n; b++) {
        y[b] = 0;
        for (int64_t k = 0; k < bins; k++) {
            y[b] += found->shells[k] * sums[k * n + b] / volume;
        }
        x[b] = y[b] - excess[b];
    }
    c->kT = task->kT * rdf_ratio(y, x, n, 1, &c->kT_error);
    c->kT_error *= task->kT;
}

/** Compute g by forces and its errors from the sums of blocks. Errors are multiplied by
 *  sqrt((m - 1) / (m - 2)), m grains, because the weights are estimated from these grains, too.
 *  @param sums  of sum_rows   @param y  [2][blocks] scratch */
static void fill(const rdf_task *task, const rdf_outcome *found, const double *sums, double *y,
                 rdf_curve *c)
{
    const int64_t bins = found->layout.bins, n = found->blocks.n;
    const double *at_end = sums + bins * n, *density = at_end + n, *excess = density + n;
    const double end = total(at_end, n), all = total(density, n), over = total(excess, n);
    const double grains = (double)found->blocks.grains; /* the weights are estimated from them */
    const double taken = grains > 2 ? sqrt((grains - 1) / (grains - 2)) : (double)NAN;
    fit_temperature(task, found, sums, y, c);
    for (int64_t k = 0; k < bins; k++) {
        const double *zero = sums + k * n, sum = total(zero, n);
        for (int64_t b = 0; b < n; b++) {
            y[b] = zero[b] - c->weight[k] * excess[b];
        }
        c->zero[k] = sum / all;
        c->infinity[k] = 1 + (sum - end) / all;
        c->force[k] = c->zero[k] - c->weight[k] * over / all;
        (void)rdf_ratio(y, density, n, 1, &c->force_error[k]);
        c->force_error[k] *= taken;
    }
}

bool rdf_force_curve(const rdf_task *task, const rdf_outcome *found, rdf_curve *c)
{
    const int64_t bins = found->layout.bins, n = found->blocks.n;
    double *sums = sum_rows(found, c);
    double *scratch = malloc((size_t)(2 * n + bins + 1) * sizeof *scratch);
    const bool fits = sums && scratch;
    if (fits) {
        fill(task, found, sums, scratch, c);
        c->gain = n < LEAST_BLOCKS ? (double)NAN : median_gain(c, bins, scratch);
    }
    free(scratch);
    free(sums);
    return fits;
}
