/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The frames of `kith debye`: elements, and distances of pairs.
 *
 * A cluster's distances are counted in a box twice as wide, of which the nearest images are the
 * particles themselves: the engine then takes all pairs at full speed.
 */
#include "debye.h"
#include "engine.h"
#include "progress.h"
#include "report.h"

#include <kith_debye.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 1 << 20, LEAST_BINS = 10000, MOST_COUNTERS = 1 << 24 };

/* Bins of the histogram are so narrow that q r changes by this at most in one. */
static const double phase_in_bin = 0.005;

/** The element that --elements says a species is. */
static void rename_species(const debye_task *task, const char *name, char out[IO_NAME_LENGTH])
{
    const size_t length = strlen(name);
    snprintf(out, IO_NAME_LENGTH, "%s", name);
    for (const char *at = task->elements; at && *at;) {
        const size_t word = strcspn(at, ",");
        if (word > length + 1 && memcmp(at, name, length) == 0 && at[length] == '=') {
            snprintf(out, IO_NAME_LENGTH, "%.*s", (int)(word - length - 1), at + length + 1);
        }
        at += word + (at[word] == ',');
    }
}

static int add_element(const debye_task *task, debye_outcome *found, const char *name)
{
    if (found->n_elements == DEBYE_MOST_ELEMENTS) {
        return report_error(STATUS_LIMIT, NULL, "%s: more than %d elements", task->input,
                            DEBYE_MOST_ELEMENTS);
    }
    if (!scatterer_find(name, task->neutron, &found->scatterer[found->n_elements])) {
        return report_error(STATUS_INVALID, "--elements 1=O,2=H says what species are",
                            "%s: no %s is known of '%s'", task->input,
                            task->neutron ? "neutron scattering length" : "X-ray form factor",
                            name);
    }
    snprintf(found->element[found->n_elements++], IO_NAME_LENGTH, "%s", name);
    return STATUS_OK;
}

/** The element of each particle. Elements are those of the first frame. */
static int find_elements(const debye_task *task, debye_outcome *found, const io_frame *frame,
                         int32_t *element)
{
    int *of_name = malloc(((size_t)frame->n_names + 1) * sizeof *of_name);
    if (!of_name) {
        return report_no_memory("elements");
    }
    int status = STATUS_OK;
    for (int k = 0; k < frame->n_names && status == STATUS_OK; k++) {
        char name[IO_NAME_LENGTH];
        rename_species(task, frame->names[k], name);
        int at = 0;
        while (at < found->n_elements && strcmp(found->element[at], name) != 0) {
            at++;
        }
        of_name[k] = at;
        if (at == found->n_elements && found->frames > 0) {
            status = report_error(STATUS_FORMAT, NULL,
                                  "%s: frame %lld has particles of '%s', which the first has not",
                                  task->input, (long long)frame->index, name);
        } else if (at == found->n_elements) {
            status = add_element(task, found, name);
        }
    }
    for (int64_t p = 0; p < frame->particles.n && status == STATUS_OK; p++) {
        element[p] = of_name[frame->species[p]];
        found->members[element[p]]++;
    }
    free(of_name);
    return status;
}

/** A cube twice as wide as the cluster. @return the cluster's diagonal. */
static double enclose(const io_particles *p, kith_box *out)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t k = 0; k < 3 * p->n; k++) {
        const double x = io_real(p->pos, k, p->precision);
        low[k % 3] = fmin(low[k % 3], x);
        high[k % 3] = fmax(high[k % 3], x);
    }
    double widest = 0, diagonal = 0;
    for (int k = 0; k < 3 && p->n > 0; k++) {
        widest = fmax(widest, high[k] - low[k]);
        diagonal += (high[k] - low[k]) * (high[k] - low[k]);
    }
    const double side = widest > 0 ? 2.001 * widest : 1;
    *out = kith_box_periodic(side, side, side);
    for (int k = 0; k < 3 && p->n > 0; k++) {
        out->origin[k] = (low[k] + high[k]) / 2 - side / 2;
    }
    return sqrt(diagonal);
}

/** Bins by the first frame. */
static int choose_bins(const debye_task *task, const debye_outcome *found, double reach,
                       kith_rdf_options *how)
{
    const double usual = phase_in_bin / (task->q_max * task->unit);
    const double width = task->r_width > 0 ? task->r_width : usual;
    const int partials = found->n_elements * (found->n_elements + 1) / 2;
    const double most = fmin(MOST_BINS, floor((double)MOST_COUNTERS / partials));
    double bins = fmax(ceil(reach / width), 1);
    if (task->r_width > 0 && bins > most) {
        return report_error(STATUS_LIMIT, NULL, "%s: %.15g bins of %s, more than %.15g",
                            task->input, bins, report_real(width).s, most);
    }
    bins = task->r_width > 0 ? bins : fmin(fmax(bins, LEAST_BINS), most);
    how->bins = (int64_t)bins;
    how->r_max = task->r_width > 0 ? bins * width : reach;
    return STATUS_OK;
}

/** Whether particles are in a box or a cluster in open space, and how far pairs reach. */
static int choose_space(const debye_task *task, debye_outcome *found, const io_frame *frame,
                        kith_box *box, double *reach)
{
    space here;
    CLI_TRY(space_choose(&task->shared, task->input, &frame->particles, &here));
    const int periodic = here.box.periodic[0] + here.box.periodic[1] + here.box.periodic[2];
    if (here.box.dim != 3 || periodic % 3 != 0) {
        return report_error(STATUS_INVALID, "--periodic none makes it a cluster",
                            "%s: frame %lld is neither periodic along x, y and z nor open",
                            task->input, (long long)frame->index);
    }
    if (found->frames == 0) {
        found->space = here;
        found->open = periodic == 0;
    }
    if (found->open != (periodic == 0)) {
        return report_error(STATUS_FORMAT, NULL, "%s: frame %lld %s a box, unlike the first",
                            task->input, (long long)frame->index, periodic ? "has" : "has not");
    }
    if (found->open) {
        *reach = enclose(&frame->particles, box);
        return STATUS_OK;
    }
    *box = here.box;
    const double half = box_half_height(box);
    *reach = task->r_max > 0 ? task->r_max : half;
    if (task->r_max > half * (1 + 1e-6)) {
        return report_error(
            STATUS_INVALID, NULL, "%s: frame %lld: r_max is %s, beyond half the box, %s",
            task->input, (long long)frame->index, report_real(task->r_max).s, report_real(half).s);
    }
    found->volume += box_volume(box);
    return STATUS_OK;
}

/** Exactly, by a sum over pairs. */
static int sum_pairs(const debye_task *task, debye_outcome *found, const kith_points *points,
                     const int32_t *element)
{
    const int64_t n = found->n_elements * (found->n_elements + 1) / 2 * found->n_q;
    kith_debye_options o;
    kith_debye_options_init(&o);
    o.q_min = task->q_min * task->unit;
    o.q_width = task->q_width * task->unit;
    o.n_q = found->n_q;
    o.species = element;
    o.n_species = found->n_elements;
    if (!found->pairs) {
        found->pairs = calloc((size_t)n, sizeof *found->pairs);
    }
    double *sums = malloc((size_t)n * sizeof *sums);
    const int status = sums && found->pairs
                           ? engine_status(found->ctx, kith_debye_sum(found->ctx, points, &o, sums),
                                           task->input)
                           : report_no_memory("sums");
    for (int64_t k = 0; k < n && status == STATUS_OK; k++) {
        found->pairs[k] += sums[k];
    }
    free(sums);
    return status;
}

static int count_pairs(const debye_task *task, debye_outcome *found, const kith_points *points,
                       const kith_box *box, double reach, const int32_t *element)
{
    const double room = 1.2; /* for later frames of a cluster that moves */
    kith_rdf_options how;
    kith_rdf_options_init(&how);
    how.n_species = found->n_elements;
    how.species = element;
    how.minimum_image = found->open;
    if (found->frames == 0) {
        const bool moves = found->open && task->shared.frames == NULL;
        CLI_TRY(choose_bins(task, found, fmax(reach, 1e-3) * (moves ? room : 1 + 1e-6), &how));
    } else {
        how.bins = found->histogram.bins;
        how.r_max = found->histogram.edges[how.bins];
    }
    if (found->open && reach > how.r_max) {
        return report_error(STATUS_LIMIT, "--frames takes some",
                            "%s: a cluster has grown from %s to %s in diameter", task->input,
                            report_real(how.r_max / room).s, report_real(reach).s);
    }
    return engine_status(
        found->ctx, kith_rdf_count(found->ctx, points, box, &how, &found->histogram), task->input);
}

static int check_frame(const debye_task *task, const debye_outcome *found, const io_frame *frame)
{
    const int64_t n = frame->particles.n;
    if (n == 0) {
        return report_error(STATUS_INVALID, NULL, "%s: frame %lld has no particles", task->input,
                            (long long)frame->index);
    }
    if (found->frames > 0 && n != found->particles) {
        return report_error(STATUS_FORMAT, "--frames chooses some",
                            "%s: frame %lld has %lld particles, but the first has %lld",
                            task->input, (long long)frame->index, (long long)n,
                            (long long)found->particles);
    }
    if (task->exact && !found->open) {
        return report_error(STATUS_INVALID, "--periodic none makes it a cluster",
                            "%s: --exact sums over the pairs of a cluster, and this is a box",
                            task->input);
    }
    return STATUS_OK;
}

struct work {
    const debye_task *task;
    debye_outcome *found;
    progress *bar;
};

static int take_frame(void *user, const io_frame *frame)
{
    const struct work *w = user;
    const debye_task *task = w->task;
    debye_outcome *found = w->found;
    const io_particles *p = &frame->particles;
    kith_box box;
    double reach = 0;
    CLI_TRY(choose_space(task, found, frame, &box, &reach));
    CLI_TRY(check_frame(task, found, frame));
    int32_t *element = malloc((size_t)p->n * sizeof *element);
    int status = element ? find_elements(task, found, frame, element)
                         : report_no_memory("elements");
    if (status == STATUS_OK) {
        const kith_points points = kith_points_packed(p->pos, p->n, p->precision);
        const double start = progress_clock();
        status = task->exact ? sum_pairs(task, found, &points, element)
                             : count_pairs(task, found, &points, &box, reach, element);
        found->count_seconds += progress_clock() - start;
    }
    free(element);
    found->particles = p->n;
    found->frames++;
    w->bar->items += p->n;
    return status;
}

int debye_run(const debye_task *task, debye_outcome *found)
{
    progress bar = progress_start("counting", "particles", 0, task->shared.quiet);
    const io_trajectory_options how = input_how(&task->shared);
    struct work work = {.task = task, .found = found, .bar = &bar};
    CLI_TRY(engine_open(&task->shared, progress_watch, &bar, &found->ctx));
    const int status = input_each_frame(task->input, &how, take_frame, &work, &found->from);
    progress_end(&bar);
    if (status != STATUS_OK) {
        return status == STATUS_INTERRUPTED ? report_interrupted(task->shared.output) : status;
    }
    for (int a = 0; a < found->n_elements; a++) {
        found->members[a] /= (double)found->frames;
    }
    found->volume /= (double)found->frames;
    return STATUS_OK;
}
