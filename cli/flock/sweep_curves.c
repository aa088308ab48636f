/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the runs of a sweep to curves. With phi the order parameter, N boids, and means over all
 * samples of all replicas of a value:
 *
 *     order            <phi>
 *     susceptibility   N (<phi^2> - <phi>^2)
 *     binder           1 - <phi^4> / (3 <phi^2>^2)
 */
#include "sweep.h"

#include "common/report.h"

#include <math.h>
#include <stdlib.h>

const char *sweep_column_name(int column)
{
    static const char *const names[SWEEP_COLUMNS] = {
        [SWEEP_ORDER] = "order",
        [SWEEP_SUSCEPTIBILITY] = "susceptibility",
        [SWEEP_BINDER] = "binder",
        [SWEEP_TIME] = "correlation_time",
        [SWEEP_OTHERS + SWEEP_MILLING] = "milling",
        [SWEEP_OTHERS + SWEEP_NEIGHBOURS] = "neighbours",
        [SWEEP_OTHERS + SWEEP_FLOCKS] = "flocks",
        [SWEEP_OTHERS + SWEEP_LARGEST] = "largest",
        [SWEEP_OTHERS + SWEEP_LENGTH] = "correlation_length"};
    return names[column];
}

/** Add the sums of a block, `times` times: 1, or -1 to take it away. */
static void add(sweep_sums *to, const sweep_sums *block, int times)
{
    to->n += times * block->n;
    for (int k = 0; k < 3; k++) {
        to->sum[k] += times * block->sum[k];
    }
}

/** Compute order, susceptibility and Binder's cumulant of samples. */
static void compute(const sweep_sums *sums, int64_t boids, double out[SWEEP_BINDER + 1])
{
    const double n = (double)sums->n;
    const double first = sums->sum[0] / n, second = sums->sum[1] / n, fourth = sums->sum[2] / n;
    out[SWEEP_ORDER] = first;
    out[SWEEP_SUSCEPTIBILITY] = (double)boids * fmax(second - first * first, 0);
    out[SWEEP_BINDER] = 1 - fourth / (3 * second * second);
}

/** Mean of those of n numbers that are not NaN, and its standard error. */
static sweep_estimate mean_of(const double *x, int64_t n)
{
    int64_t m = 0;
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += isnan(x[k]) ? 0 : x[k];
        m += !isnan(x[k]);
    }
    const double mean = m > 0 ? sum / (double)m : NAN;
    for (int64_t k = 0; k < n; k++) {
        squares += isnan(x[k]) ? 0 : (x[k] - mean) * (x[k] - mean);
    }
    const double spread = m > 1 ? sqrt(squares / (double)(m - 1) / (double)m) : NAN;
    return (sweep_estimate){.value = mean, .error = NAN, .spread = spread};
}

/** Estimate what follows from the sums of powers.
 *  @param each  [replicas] scratch */
static void estimate_moments(const sweep_result *result, int64_t replicas, int64_t boids,
                             double *each, sweep_estimate out[SWEEP_COLUMNS])
{
    sweep_sums all = {0};
    double whole[SWEEP_BINDER + 1], without[SWEEP_BINDER + 1];
    for (int64_t r = 0; r < replicas; r++) {
        for (int b = 0; b < SWEEP_BLOCKS; b++) {
            add(&all, &result[r].block[b], 1);
        }
    }
    compute(&all, boids, whole);
    for (int q = 0; q <= SWEEP_BINDER; q++) {
        for (int64_t r = 0; r < replicas; r++) {
            sweep_sums own = {0};
            for (int b = 0; b < SWEEP_BLOCKS; b++) {
                add(&own, &result[r].block[b], 1);
            }
            compute(&own, boids, without);
            each[r] = without[q];
        }
        out[q] = mean_of(each, replicas);
        out[q].value = whole[q];
        /* The jackknife: the estimate without each block in turn. */
        const double units = (double)(replicas * SWEEP_BLOCKS);
        double sum = 0, squares = 0;
        for (int64_t r = 0; r < replicas; r++) {
            for (int b = 0; b < SWEEP_BLOCKS; b++) {
                sweep_sums rest = all;
                add(&rest, &result[r].block[b], -1);
                compute(&rest, boids, without);
                const double d = without[q] - whole[q];
                sum += d;
                squares += d * d;
            }
        }
        out[q].error = sqrt(fmax(squares - sum * sum / units, 0) * (units - 1) / units);
    }
}

int sweep_make_curves(sweep *s)
{
    const int64_t replicas = s->task->replicas;
    double *each = malloc((size_t)replicas * sizeof *each);
    s->estimate = calloc((size_t)s->n, sizeof *s->estimate);
    s->row = calloc((size_t)s->n, sizeof *s->row);
    if (!each || !s->estimate || !s->row) {
        free(each);
        return report_no_memory("the curves");
    }
    for (int v = 0; v < s->n; v++) {
        const sweep_result *result = s->result + v * replicas;
        bool done = true;
        for (int64_t r = 0; r < replicas; r++) {
            done = done && result[r].done;
        }
        if (!done) {
            continue;
        }
        sweep_estimate *out = s->estimate[s->rows];
        s->row[s->rows++] = v;
        estimate_moments(result, replicas, s->value[v].boids, each, out);
        for (int q = SWEEP_TIME; q < SWEEP_COLUMNS; q++) {
            for (int64_t r = 0; r < replicas; r++) {
                each[r] = q == SWEEP_TIME ? result[r].time : result[r].mean[q - SWEEP_OTHERS];
            }
            out[q] = mean_of(each, replicas);
        }
    }
    free(each);
    return STATUS_OK;
}
