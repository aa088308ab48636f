/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One run of a sweep. The order parameter is sampled all the time; flocks, and how far fluctuations
 * of the headings are correlated, are looked at some times in a run.
 *
 * Correlation length (Cavagna et al. 2010, PNAS 107, 11865): with u = v / |v| and du = u - <u> at
 * each look, the distance at which the mean of du_i . du_j, over the pairs of all looks, first
 * falls to 0. Bins of distance are joined until each has enough pairs to tell.
 */
#include "sweep.h"

#include "common/box.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BINS = 100,   /* of distances, up to half the box */
    ENOUGH = 1000 /* pairs of a bin, after some are joined */
};

/** What a run gathers until its end. */
typedef struct gathered {
    double *series;        /* [samples] the order parameter */
    double products[BINS]; /* sums of du_i . du_j by distance, over the looks */
    int64_t pairs[BINS];   /* their numbers */
    double width;          /* of a bin [length]; 0: correlations are not measured */
} gathered;

/** Integrated correlation time of a series, in samples: 1/2 + the sum of its correlations up to the
 *  first distance in time that is five times that sum (Sokal 1997). NaN: it does not vary. */
static double correlation_time(const double *x, int64_t n)
{
    static const double window = 5, rounding = 1e-24; /* of what lies between 0 and 1, squared */
    double mean = 0, variance = 0, time = 0.5;
    for (int64_t k = 0; k < n; k++) {
        mean += x[k] / (double)n;
    }
    for (int64_t k = 0; k < n; k++) {
        variance += (x[k] - mean) * (x[k] - mean) / (double)n;
    }
    if (!(variance > rounding)) {
        return NAN;
    }
    for (int64_t t = 1; t < n && (double)t < window * time; t++) {
        double sum = 0;
        for (int64_t k = 0; k + t < n; k++) {
            sum += (x[k] - mean) * (x[k + t] - mean);
        }
        time += sum / (double)(n - t) / variance;
    }
    return time;
}

/** Set du of one coordinate, as weights of the particles. */
static void fluctuations(const io_particles *p, int axis, double *du)
{
    double mean = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double v[3];
        for (int k = 0; k < 3; k++) {
            v[k] = io_real(p->velocity, 3 * i + k, p->precision);
        }
        const double speed = box_vector_length(v);
        du[i] = speed > 0 ? v[axis] / speed : 0;
        mean += du[i] / (double)p->n;
    }
    for (int64_t i = 0; i < p->n; i++) {
        du[i] -= mean;
    }
}

/** Return the correlation length; NaN: correlations do not fall to 0, or are not measured. */
static double length_of(const gathered *g)
{
    double r = NAN, c = NAN; /* of the bin before */
    for (int k = 0, first = 0; k < BINS; first = ++k) {
        int64_t pairs = g->pairs[k];
        double products = g->products[k], sum = (double)g->pairs[k] * (k + 0.5) * g->width;
        while (pairs < ENOUGH && k + 1 < BINS) {
            k++;
            pairs += g->pairs[k];
            products += g->products[k];
            sum += (double)g->pairs[k] * (k + 0.5) * g->width;
        }
        if (pairs < ENOUGH && first > 0) {
            break; /* the rest of the pairs */
        }
        const double middle = sum / (double)pairs, mean = products / (double)pairs;
        if (mean <= 0) {
            return c > 0 ? r + (middle - r) * c / (c - mean) : NAN;
        }
        r = middle;
        c = mean;
    }
    return NAN;
}

/** Add the correlations of the state that was read to run->in. */
static kith_status add_correlations(flock_run *run, gathered *g)
{
    const io_particles *p = &run->in.particles;
    kith_rdf_options how;
    kith_rdf_options_init(&how);
    how.bins = BINS;
    how.r_max = box_half_height(&run->space);
    if (p->n > SWEEP_MOST_BOIDS || !(how.r_max > 0) || !isfinite(how.r_max)) {
        return KITH_OK;
    }
    g->width = how.r_max / BINS;
    double *du = malloc((size_t)(p->n + 1) * sizeof *du);
    kith_status status = du ? KITH_OK : KITH_NO_MEMORY;
    how.weights = du;
    for (int k = 0; k < p->dim && status == KITH_OK; k++) {
        const kith_points points = input_points(&run->in);
        kith_histogram histogram = {0};
        fluctuations(p, k, du);
        status = kith_rdf_count(run->ctx, &points, &run->space, &how, &histogram);
        for (int64_t b = 0; b < BINS && status == KITH_OK; b++) {
            g->products[b] += histogram.sums[b];
            g->pairs[b] += k == 0 ? histogram.counts[b] : 0;
        }
        kith_histogram_free(&histogram);
    }
    free(du);
    return status;
}

/** Look at flocks and correlations, and add to the sums of the run. */
static kith_status look(const flock_task *task, flock_run *run, sweep_result *out, gathered *g)
{
    flock_sample sample;
    (void)kith_flock_read(run->flock, run->in.particles.pos, run->in.particles.velocity);
    kith_status status = flock_take_sample(task, run, &sample);
    status = status == KITH_OK ? add_correlations(run, g) : status;
    if (status == KITH_OK) {
        out->mean[SWEEP_FLOCKS] += (double)sample.flocks;
        out->mean[SWEEP_LARGEST] += (double)sample.largest / (double)run->in.particles.n;
    }
    return status;
}

/** Take sample m of the run. */
static kith_status take(const sweep *s, const flock_task *task, flock_run *run, int64_t m,
                        sweep_result *out, gathered *g)
{
    kith_flock_measures now;
    const kith_status status = kith_flock_measure(run->flock, &now);
    if (status != KITH_OK) {
        return status;
    }
    sweep_sums *block = &out->block[m * SWEEP_BLOCKS / s->samples];
    const double phi = now.polarisation, square = phi * phi;
    g->series[m] = phi;
    block->n++;
    block->sum[0] += phi;
    block->sum[1] += square;
    block->sum[2] += square * square;
    out->mean[SWEEP_MILLING] += now.milling;
    out->mean[SWEEP_NEIGHBOURS] += now.neighbours;
    const bool looks = (m + 1) * SWEEP_LOOKS / s->samples > m * SWEEP_LOOKS / s->samples;
    return looks ? look(task, run, out, g) : KITH_OK;
}

/** Make some steps, and tell their number. */
static kith_status advance(flock_run *run, int64_t steps, sweep_progress told, void *user)
{
    enum { MOST = 100 }; /* at a time */
    kith_status status = KITH_OK;
    for (int64_t left = steps; left > 0 && status == KITH_OK; left -= MOST) {
        const int64_t now = left < MOST ? left : MOST;
        status = flock_step(run, now);
        status = status == KITH_OK && told(user, now) ? KITH_CANCELLED : status;
    }
    return status;
}

/** Equilibrate and sample a flock that is open. */
static kith_status sample_all(const sweep *s, const flock_task *task, flock_run *run,
                              sweep_progress told, void *user, sweep_result *out, gathered *g)
{
    kith_status status = advance(run, task->equilibrate, told, user);
    for (int64_t m = 0; m < s->samples && status == KITH_OK; m++) {
        status = advance(run, s->every, told, user);
        status = status == KITH_OK ? take(s, task, run, m, out, g) : status;
    }
    out->time = (double)s->every * correlation_time(g->series, s->samples);
    out->mean[SWEEP_MILLING] /= (double)s->samples;
    out->mean[SWEEP_NEIGHBOURS] /= (double)s->samples;
    out->mean[SWEEP_FLOCKS] /= SWEEP_LOOKS;
    out->mean[SWEEP_LARGEST] /= SWEEP_LOOKS;
    out->mean[SWEEP_LENGTH] = length_of(g);
    return status;
}

int sweep_place(const sweep *s, int value, int64_t replica, sweep_flock **out)
{
    sweep_flock *flock = *out = calloc(1, sizeof *flock);
    if (!flock) {
        return report_no_memory("a run");
    }
    flock->number = value * s->task->replicas + replica;
    snprintf(flock->about, sizeof flock->about, "--sweep, %s = %s", s->name, s->value[value].text);
    flock->stage = s->value[value].stage;
    flock->stage.model.seed += (uint64_t)replica;
    flock->task = *s->task;
    flock->task.start = flock->stage;
    flock->task.stage = &flock->stage;
    flock->task.n_stages = 1;
    flock->task.boids = s->value[value].boids;
    flock->task.restart = NULL;
    flock->task.shared.quiet = s->task->shared.quiet || s->placed;
    flock->run.saved = -1;
    return flock_start(&flock->task, &flock->run);
}

void sweep_flock_free(sweep_flock *flock)
{
    if (flock) {
        kith_groups_free(&flock->run.groups);
        kith_flock_close(flock->run.flock);
        input_free(&flock->run.in);
        free(flock->run.species);
        free(flock);
    }
}

void sweep_run(const sweep *s, sweep_flock *flock, kith_ctx *ctx, sweep_progress told, void *user,
               sweep_answer *out)
{
    gathered g = {.series = malloc((size_t)s->samples * sizeof *g.series)};
    memset(out, 0, sizeof *out);
    out->run = flock->number;
    memcpy(out->about, flock->about, sizeof out->about);
    flock->run.ctx = ctx;
    out->status = g.series ? flock_launch(&flock->task, &flock->run) : KITH_NO_MEMORY;
    const char *why = g.series ? NULL : "no memory for the samples";
    if (out->status == KITH_OK) {
        out->status = sample_all(s, &flock->task, &flock->run, told, user, &out->result, &g);
    }
    out->result.done = out->status == KITH_OK;
    if (out->status != KITH_OK) {
        snprintf(out->message, sizeof out->message, "%.500s", why ? why : kith_message(ctx));
    }
    free(g.series);
}
