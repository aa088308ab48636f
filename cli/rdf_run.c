/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The frames of a trajectory, one by one: its box, its particles, their pairs.
 */
#include "engine.h"
#include "rdf.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** The run, and its progress: of the frames where their number is known, else of the bytes read. */
struct work {
    const rdf_task *task;
    rdf_outcome *found;
    progress bar;
    int64_t bytes, size;
};

static int watch_reading(void *user, int64_t done, int64_t total)
{
    struct work *w = user;
    const int64_t of = w->found->from.wanted;
    w->bytes = done;
    w->size = total;
    return of > 0 ? progress_watch(&w->bar, w->found->frames, of)
                  : progress_watch(&w->bar, done, total);
}

static int watch_counting(void *user, int64_t done, int64_t total)
{
    struct work *w = user;
    const int64_t of = w->found->from.wanted;
    const double frames = (double)w->found->frames + (double)done / (double)total;
    return of > 0 && total > 0 ? progress_watch(&w->bar, (int64_t)(1e3 * frames), 1000 * of)
                               : progress_watch(&w->bar, w->bytes, w->size);
}

int64_t rdf_partial(const rdf_classes *classes, int a, int b)
{
    const kith_histogram shape = {.n_species = classes->n};
    return kith_histogram_partial(&shape, a, b);
}

/** g(r) needs a density. */
static int check_periodic(const rdf_task *task, const io_frame *frame, const kith_box *box)
{
    static const char *const hint = "give it with --box LX,LY,LZ";
    const long long index = frame->index;
    if (!frame->particles.has_box && !task->shared.box_numbers) {
        return report_error(STATUS_INVALID, hint,
                            "%s: frame %lld has no box, whose density g(r) needs", task->input,
                            index);
    }
    for (int k = 0; k < box->dim; k++) {
        if (!box->periodic[k]) {
            return report_error(STATUS_INVALID, hint,
                                "%s: frame %lld: the box is open along %c; g(r) needs the density "
                                "of one that is periodic",
                                task->input, index, "xyz"[k]);
        }
    }
    return STATUS_OK;
}

static int check_reach(const rdf_task *task, const rdf_outcome *found, const io_frame *frame,
                       const kith_box *box)
{
    const double half = box_half_height(box), last = found->edges[found->how.bins];
    const bool asked = task->r_max > 0 || task->edges;
    /* Where the first box chose r_max, all images within it count in boxes that are smaller. */
    if (asked && !task->minimum_image && last > half * (1 + 1e-6)) {
        return report_error(STATUS_INVALID,
                            "--minimum-image goes to the box's corner, with the exact factor",
                            "%s: frame %lld: r_max is %s, beyond half the box, %s", task->input,
                            (long long)frame->index, report_real(last).s, report_real(half).s);
    }
    return STATUS_OK;
}

/** Rows that would fill most of the memory are refused before, not met halfway. */
static int check_memory(const rdf_task *task, const rdf_outcome *found)
{
    const double share = 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double rows = (double)rdf_blocks_most(task->blocks);
    const double frames = found->from.wanted > 0 ? (double)found->from.wanted : rows;
    const double bytes = fmin(rows, frames) * (double)found->layout.width * sizeof(double);
    if (bytes > share) {
        return report_error(STATUS_NO_MEMORY, "fewer --bins or --blocks need less",
                            "%s: %lld histograms of %lld bins in %lld blocks are %s", task->input,
                            (long long)found->layout.partials, (long long)found->layout.bins,
                            (long long)task->blocks, report_bytes((int64_t)bytes).s);
    }
    return STATUS_OK;
}

/** Lay out the rows of the blocks. */
static int prepare(const rdf_task *task, rdf_outcome *found)
{
    rdf_layout *l = &found->layout;
    const int64_t n = found->classes.n;
    l->bins = found->how.bins;
    l->partials = n * (n + 1) / 2;
    l->frames = 0;
    l->volume = 1;
    l->centres = 2;
    l->counts = l->centres + n;
    l->ideal = l->counts + l->partials * l->bins;
    l->force = l->ideal + l->partials * l->bins;
    l->products = l->force + (task->force ? l->partials * (l->bins + 2) : 0);
    l->strewn = l->products + (task->weights ? l->partials * l->bins : 0);
    l->vectors = l->strewn + (task->weights ? l->partials * l->bins : 0);
    l->q_sum = l->vectors + found->structure.bins;
    l->direct = l->q_sum + found->structure.bins;
    if (task->force) {
        kith_box whole = {.dim = found->space.box.dim};
        found->shells = malloc((size_t)l->bins * sizeof *found->shells);
        if (!found->shells ||
            kith_shell_volumes(&whole, 0, l->bins, found->edges, found->shells) != KITH_OK) {
            return report_no_memory("shells");
        }
    }
    l->width = l->direct + (found->structure.direct ? l->partials * found->structure.bins : 0);
    CLI_TRY(check_memory(task, found));
    return rdf_blocks_start(&found->blocks, l->width, task->blocks)
               ? STATUS_OK
               : report_error(STATUS_NO_MEMORY, NULL, "no memory for %lld histograms of %lld bins",
                              (long long)l->partials, (long long)l->bins);
}

/** The first frame says what all are held to. */
static int begin(const rdf_task *task, rdf_outcome *found, const io_frame *frame)
{
    CLI_TRY(rdf_check_selection(task, frame));
    if (found->classes.n == 0) {
        return report_error(STATUS_INVALID, NULL, "%s: frame %lld has no particles to count",
                            task->input, (long long)frame->index);
    }
    found->particles = frame->particles.n;
    found->precision = frame->particles.precision;
    found->first_index = frame->index;
    CLI_TRY(rdf_choose_bins(task, found));
    CLI_TRY(rdf_weights_load(task, frame, found));
    /* A figure has S(q) beside g(r) where it can. */
    if (task->sq || (task->plot && rdf_structure_can(task, found))) {
        CLI_TRY(rdf_structure_begin(task, found));
    }
    return prepare(task, found);
}

static void add_histogram(const rdf_layout *l, const kith_histogram *h, double volume, double *row)
{
    row[l->frames] += 1;
    row[l->volume] += volume;
    for (int32_t a = 0; a < h->n_species; a++) {
        row[l->centres + a] += (double)h->centres[a];
    }
    for (int64_t k = 0; k < l->partials * l->bins; k++) {
        row[l->counts + k] += (double)h->counts[k];
        row[l->ideal + k] += h->ideal[k];
    }
}

static int add_frame(const rdf_task *task, rdf_outcome *found, const kith_box *box,
                     const rdf_part *part, const kith_histogram *h)
{
    const double volume = box_volume(box);
    double *row = rdf_blocks_row(&found->blocks);
    if (!row || (task->force && !rdf_force_add(task, found, h, row))) {
        return report_no_memory("blocks");
    }
    found->least_volume = found->frames ? fmin(found->least_volume, volume) : volume;
    found->most_volume = fmax(found->most_volume, volume);
    add_histogram(&found->layout, h, volume, row);
    if (task->weights) {
        rdf_weights_add(found, part, h, row);
    }
    if (found->structure.direct) {
        rdf_structure_add(found, box, part, row);
    }
    found->frames++;
    return STATUS_OK;
}

/** Count a frame's pairs and add them to a block. */
static int count(const rdf_task *task, rdf_outcome *found, const kith_box *box,
                 const rdf_part *part)
{
    kith_rdf_options how = found->how;
    how.n_species = found->classes.n;
    how.species = part->species;
    how.molecules = task->without_molecules ? part->molecule : NULL;
    how.bond_offsets = task->without_bonds ? part->bond_offsets : NULL;
    how.bonds = task->without_bonds ? part->bonds : NULL;
    how.forces = part->forces;
    how.weights = task->weights ? part->weight : NULL;
    kith_histogram h = {0};
    const double start = progress_clock();
    const kith_status counted = kith_rdf_count(found->ctx, &part->points, box, &how, &h);
    found->count_seconds += progress_clock() - start;
    int status = engine_status(found->ctx, counted, task->input);
    if (status == STATUS_OK && found->structure.direct) {
        status = rdf_structure_sum(task, found, box, part);
    }
    if (status == STATUS_OK) {
        status = add_frame(task, found, box, part, &h);
    }
    kith_histogram_free(&h);
    return status;
}

static int check_frame(const rdf_task *task, const rdf_outcome *found, const io_frame *frame,
                       int n_classes)
{
    const long long index = frame->index;
    if (frame->particles.n != found->particles) {
        return report_error(STATUS_FORMAT, "--frames chooses some",
                            "%s: frame %lld has %lld particles, but frame %lld has %lld",
                            task->input, index, (long long)frame->particles.n,
                            (long long)found->first_index, (long long)found->particles);
    }
    if (found->frames > 0 && found->classes.n != n_classes) {
        return report_error(STATUS_FORMAT, "--select chooses species",
                            "%s: frame %lld has particles of '%s', which frame %lld has not",
                            task->input, index, found->classes.item[n_classes].name,
                            (long long)found->first_index);
    }
    return STATUS_OK;
}

static int take_frame(void *user, const io_frame *frame)
{
    struct work *w = user;
    const rdf_task *task = w->task;
    rdf_outcome *found = w->found;
    const bool first = found->frames == 0;
    const int n_classes = found->classes.n;
    space here;
    CLI_TRY(space_choose(&task->shared, task->input, &frame->particles, &here));
    CLI_TRY(rdf_classify(task, frame, &found->classes));
    CLI_TRY(check_periodic(task, frame, &here.box));
    if (first) {
        found->space = here;
        CLI_TRY(begin(task, found, frame));
    }
    CLI_TRY(check_reach(task, found, frame, &here.box));
    CLI_TRY(check_frame(task, found, frame, n_classes));
    if (task->force) {
        CLI_TRY(rdf_force_check(task, frame));
    }
    if (task->weights) {
        CLI_TRY(rdf_weights_check(task, found, frame));
    }
    rdf_part part = {0};
    int status = rdf_pick(task, found, frame, &part);
    if (status == STATUS_OK) {
        status = count(task, found, &here.box, &part);
    }
    for (int64_t p = 0; first && status == STATUS_OK && p < part.points.n; p++) {
        found->classes.item[part.species[p]].members++;
    }
    rdf_part_free(&part);
    CLI_TRY(status);
    found->last_index = frame->index;
    found->last_step = frame->has_step ? frame->step : frame->index;
    w->bar.items += frame->particles.n;
    return STATUS_OK;
}

/** Go on with what there is when Ctrl-C came after some frames. */
static int finish(const rdf_task *task, rdf_outcome *found, int status)
{
    if (status != STATUS_INTERRUPTED) {
        return status;
    }
    if (found->frames == 0) {
        return report_interrupted(task->shared.output);
    }
    found->partial = true;
    const int64_t of = found->from.wanted;
    snprintf(found->partial_text, sizeof found->partial_text,
             of > 0 ? "interrupted after %lld of %lld frames" : "interrupted after %lld frames",
             (long long)found->frames, (long long)of);
    return STATUS_OK;
}

int rdf_run(const rdf_task *task, rdf_outcome *found)
{
    struct work w = {.task = task,
                     .found = found,
                     .bar = progress_start("counting", "particles", 0, task->shared.quiet)};
    io_trajectory_options how = input_how(&task->shared);
    how.read.needed = (task->without_molecules ? (unsigned)IO_MOLECULES : 0) |
                      (task->without_bonds ? (unsigned)IO_BONDS : 0) |
                      (task->force ? (unsigned)IO_FORCES : 0);
    if (task->weights && !rdf_weights_are_file(task->weights)) {
        how.weights = task->weights;
        how.read.needed |= (unsigned)IO_WEIGHTS;
    }
    how.read.watch = watch_reading;
    how.read.user = &w;
    CLI_TRY(engine_open(&task->shared, watch_counting, &w, &found->ctx));
    const int status = input_each_frame(task->input, &how, take_frame, &w, &found->from);
    found->unit = task->unit ? task->unit : strstr(found->from.description, "chemfiles") ? "A" : "";
    progress_end(&w.bar);
    return finish(task, found, status);
}
