/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is measured of a flock on its way: its order, the flocks it has come apart into, and g(r).
 */
#include "flock.h"

#include "common/engine.h"
#include "ranks/ranks.h"
#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Return the largest radius of the rules: boids within it see each other. */
static double largest_radius(const flock_task *task)
{
    const kith_flock_options *m = &task->start.model;
    const double boids = m->model == KITH_BOIDS ? fmax(m->separation.radius, m->cohesion.radius)
                                                : 0;
    return fmax(boids, fmax(m->alignment.radius, m->repulsion.radius));
}

/** Return the length within which two boids are of one flock. */
static double flock_length(const flock_task *task)
{
    return task->flock_length > 0 ? task->flock_length : largest_radius(task);
}

/** Count flocks: friends of friends of positions, or of positions and velocities. */
static kith_status count_flocks(const flock_task *task, flock_run *run, flock_sample *sample)
{
    const double length = flock_length(task);
    kith_fof_options how;
    kith_fof_options_init(&how);
    how.min_members = task->flock_members;
    how.velocities = task->flock_velocity > 0 ? run->in.particles.velocity : NULL;
    how.velocity_length = task->flock_velocity;
    const kith_points points = input_points(&run->in);
    if (!(length > 0)) {
        return KITH_OK;
    }
    const kith_status status = kith_fof_find(run->ctx, &points, &run->space, length, &how,
                                             &run->groups);
    if (status == KITH_OK) {
        sample->flocks = run->groups.n;
        sample->largest = run->groups.n > 0 ? run->groups.members[0] : 0;
    }
    return status;
}

kith_status flock_take_sample(const flock_task *task, flock_run *run, flock_sample *out)
{
    *out = (flock_sample){.step = run->step};
    const kith_status status = ranks_flock_measure(run->ranks, run->flock, &out->all);
    return status == KITH_OK ? count_flocks(task, run, out) : status;
}

/** Return the bin of the highest g among those with enough pairs to tell; -1: there is none. */
static int64_t highest_bin(const kith_histogram *histogram, const double *g)
{
    enum { ENOUGH = 100 }; /* pairs: a tenth of g at random */
    int64_t peak = -1;
    for (int64_t k = 0; k < histogram->bins; k++) {
        if (histogram->counts[k] >= ENOUGH && (peak < 0 || g[k] > g[peak])) {
            peak = k;
        }
    }
    return peak;
}

/** Count pairs by distance, up to --r-max, or the largest radius at the start. run->g is NULL where
 *  there is no g(r): without bins, without a range, in a space without volume. */
static int count_pairs(const flock_task *task, flock_run *run)
{
    kith_rdf_options how;
    kith_rdf_options_init(&how);
    how.bins = task->bins;
    how.r_max = task->r_max > 0 ? task->r_max : largest_radius(task);
    free(run->g);
    run->g = NULL;
    run->r_max = how.r_max;
    if (how.bins == 0 || !(how.r_max > 0)) {
        return STATUS_OK;
    }
    const kith_points points = input_points(&run->in);
    kith_histogram histogram = {0};
    int status = engine_status(
        run->ctx, kith_rdf_count(run->ctx, &points, &run->space, &how, &histogram), "g(r)");
    if (status == STATUS_OK && histogram.ideal[0] > 0) {
        run->g = malloc((size_t)how.bins * sizeof *run->g);
        if (run->g) {
            kith_rdf_g(&histogram, 0, 0, run->g);
            run->peak = highest_bin(&histogram, run->g);
        } else {
            status = report_no_memory("g(r)");
        }
    }
    kith_histogram_free(&histogram);
    return status;
}

static int keep_sample(flock_run *run, const flock_sample *sample)
{
    if (run->n_samples == run->room) {
        const int64_t room = run->room ? 2 * run->room : 64;
        flock_sample *grown = realloc(run->samples, (size_t)room * sizeof *grown);
        if (!grown) {
            return report_no_memory("the measures");
        }
        run->samples = grown;
        run->room = room;
    }
    run->samples[run->n_samples++] = *sample;
    return STATUS_OK;
}

static void print_sample(const flock_task *task, const flock_run *run, const flock_sample *sample)
{
    printf("step %lld: polarisation %.4f, milling %.4f, speed %.4g, %.4g neighbours, ",
           (long long)sample->step, sample->all.polarisation, sample->all.milling,
           sample->all.mean_speed, sample->all.neighbours);
    printf("%s flock%s", report_count(sample->flocks).s, sample->flocks == 1 ? "" : "s");
    if (sample->flocks > 0) {
        printf(", largest %s", report_count(sample->largest).s);
    }
    if (run->g && run->peak >= 0) {
        printf(", g %.4g at %.4g", run->g[run->peak],
               ((double)run->peak + 0.5) * run->r_max / (double)task->bins);
    }
    putchar('\n');
}

static json_t *sample_json(const flock_task *task, const flock_run *run, const flock_sample *s)
{
    enum { MOST_FLOCKS = 100 };
    json_t *members = json_array();
    json_t *g = run->g ? report_json_reals(run->g, task->bins) : json_null();
    for (int64_t k = 0; k < s->flocks && k < MOST_FLOCKS; k++) {
        json_array_append_new(members, json_integer(run->groups.members[k]));
    }
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o}", "step", (json_int_t)s->step,
        "time", report_json_real(flock_time(task, s->step)), "polarisation",
        report_json_real(s->all.polarisation), "milling", report_json_real(s->all.milling),
        "mean_speed", report_json_real(s->all.mean_speed), "neighbours",
        report_json_real(s->all.neighbours), "flocks", (json_int_t)s->flocks, "largest",
        (json_int_t)s->largest, "members", members, "r_max", report_json_real(run->r_max), "g", g);
}

static int write_line(const flock_task *task, flock_run *run, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    io_error error = {0};
    const int status = text && report_json_whole()
                           ? report_io(io_recording_line(run->measures, text, &error), &error, true)
                           : report_no_memory(task->measures);
    free(text);
    return status;
}

int flock_measure(const flock_task *task, flock_run *run)
{
    flock_sample sample;
    const kith_status measured = flock_take_sample(task, run, &sample);
    const char *about = measured == KITH_INVALID ? "--flock-length" : NULL;
    CLI_TRY(flock_status(run, measured, about));
    CLI_TRY(count_pairs(task, run));
    CLI_TRY(keep_sample(run, &sample));
    json_t *value = sample_json(task, run, &sample);
    int status = run->measures ? write_line(task, run, value) : STATUS_OK;
    if (status == STATUS_OK && task->shared.json) {
        status = report_json_line(json_incref(value));
    } else if (status == STATUS_OK && !task->shared.quiet) {
        print_sample(task, run, &sample);
    }
    json_decref(value);
    fflush(stdout);
    return status;
}
