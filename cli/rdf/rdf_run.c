/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Goes through the frames of a trajectory: checks the box of each, picks its particles, and counts
 * their pairs, small frames in lanes.
 */
#include "common/box.h"
#include "common/engine.h"
#include "common/lanes.h"
#include "common/length_unit.h"
#include "common/passes.h"
#include "rdf.h"
#include "common/report.h"

#include <core/quote.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** The run, and its progress: of the frames where their number is known, else of the bytes read. */
struct work {
    const rdf_task *task; /**< the options */
    rdf_outcome *found;   /**< the results */
    rdf_batch batch;      /**< the frames that the only lane counts by one call, on a GPU */
    progress bar;         /**< the progress bar */
    int64_t bytes, size;  /**< bytes read so far, and size of the file [byte] */
};

/** The watch function of reading. @param done, total  bytes */
static int watch_reading(void *user, int64_t done, int64_t total)
{
    struct work *w = user;
    const int64_t of = w->found->from.wanted;
    w->bytes = done;
    w->size = total;
    return of > 0 ? progress_watch(&w->bar, w->found->frames, of)
                  : progress_watch(&w->bar, done, total);
}

/** The watch function of counting one frame: progress in thousandths of a frame.
 *  @param done, total  work of this frame */
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

/** Fail if the box is not periodic: g(r) needs a density. @return exit status, reported */
static int check_periodic(const rdf_task *task, const io_frame *frame, const kith_box *box)
{
    static const char *const hint = "give it with --box LX,LY,LZ";
    const long long index = frame->index;
    if (!frame->particles.has_box && !task->shared.box_numbers) {
        return report_error(STATUS_INVALID, hint,
                            "%s: frame %lld has no box; g(r) needs its density", task->input,
                            index);
    }
    for (int k = 0; k < box->dim; k++) {
        if (!box->periodic[k]) {
            return report_error(STATUS_INVALID, hint,
                                "%s: frame %lld: the box is open along %c; g(r) needs the density "
                                "of a periodic box",
                                task->input, index, "xyz"[k]);
        }
    }
    return STATUS_OK;
}

/** Fail if r_max is beyond half the smallest height of the box, where shells are not whole, unless
 *  --minimum-image is given. @return exit status, reported */
static int check_reach(const rdf_task *task, const rdf_outcome *found, const io_frame *frame,
                       const kith_box *box)
{
    const double half = box_half_height(box), last = found->edges[found->how.bins];
    if (!task->minimum_image && last > half * (1 + 1e-6)) { /* 1e-6: r_max may be rounded */
        return report_error(
            STATUS_INVALID,
            "--minimum-image counts to the corner of the box, with the exact volumes "
            "of the shells inside it",
            "%s: frame %lld: r_max is %s, beyond half the box, %s", task->input,
            (long long)frame->index, report_real(last).s, report_real(half).s);
    }
    return STATUS_OK;
}

/** Refuse blocks that need more than half of the memory, before any frame is counted. */
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

/** Lay out the rows of the blocks, and allocate them. By forces, compute the volumes of whole
 *  shells, as of open space. @return exit status, reported */
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
    l->direct_all = l->direct + (found->structure.direct ? l->partials * found->structure.bins : 0);
    l->width = l->direct_all + (found->structure.direct ? found->structure.bins : 0);
    CLI_TRY(check_memory(task, found));
    return rdf_blocks_start(&found->blocks, l->width, task->blocks)
               ? STATUS_OK
               : report_error(STATUS_NO_MEMORY, NULL, "no memory for %lld histograms of %lld bins",
                              (long long)l->partials, (long long)l->bins);
}

/** Return the number of particles of a frame, of all ranks. */
static int64_t particles_of(const rdf_outcome *found, const io_frame *frame)
{
    return found->parts > 1 ? frame->particles.all : frame->particles.n;
}

/** From the first frame, set what the others are compared with, choose the bins, and make room for
 *  the sums. @return exit status, reported */
static int begin(const rdf_task *task, rdf_outcome *found, const io_frame *frame)
{
    CLI_TRY(rdf_check_selection(task, frame));
    if (found->classes.n == 0) {
        return report_error(STATUS_INVALID, NULL, "%s: frame %lld has no particles to count",
                            task->input, (long long)frame->index);
    }
    found->particles = particles_of(found, frame);
    found->precision = frame->particles.precision;
    input_warn_guessed(task->input, frame);
    CLI_TRY(length_unit_check(task->input, frame, task->unit));
    memcpy(found->file_unit, frame->unit, sizeof found->file_unit);
    found->first_index = frame->index;
    if (!found->extent.known) {
        rdf_extent_add(&found->space.box, &found->extent);
    }
    CLI_TRY(rdf_choose_bins(task, found));
    CLI_TRY(rdf_weights_load(task, frame, found));
    CLI_TRY(rdf_find_inside(task, frame, found));
    /* A figure shows S(q) next to g(r) if the bins allow it. */
    if (task->sq || (task->plot && rdf_structure_can(task, found))) {
        CLI_TRY(rdf_structure_begin(task, found));
    }
    return prepare(task, found);
}

/** Fail if a frame has another number of particles, or species that the first frame lacks.
 *  @param n_classes  number of classes before this frame was classified */
static int check_frame(const rdf_task *task, const rdf_outcome *found, const io_frame *frame,
                       int n_classes)
{
    const long long index = frame->index;
    if (particles_of(found, frame) != found->particles) {
        return report_error(STATUS_FORMAT, "choose the frames with --frames",
                            "%s: frame %lld has %lld particles, but frame %lld has %lld",
                            task->input, index, (long long)particles_of(found, frame),
                            (long long)found->first_index, (long long)found->particles);
    }
    if (found->frames > 0 && found->classes.n != n_classes) {
        return report_error(STATUS_FORMAT, "--select chooses species",
                            "%s: frame %lld has particles of '%s', which frame %lld lacks",
                            task->input, index, found->classes.item[n_classes].name,
                            (long long)found->first_index);
    }
    return STATUS_OK;
}

/** Check a frame, and pick its particles that are counted. @return exit status, reported */
static int prepare_frame(void *user, const io_frame *frame, bool copy, void *record)
{
    const struct work *w = user;
    const rdf_task *task = w->task;
    rdf_outcome *found = w->found;
    rdf_frame *f = record;
    const int n_classes = found->classes.n;
    space here;
    CLI_TRY(space_choose(&task->shared, task->input, &frame->particles, &here));
    CLI_TRY(space_check_volume(&here, task->input));
    CLI_TRY(rdf_classify(task, frame, &found->classes));
    CLI_TRY(check_periodic(task, frame, &here.box));
    if (found->frames == 0) {
        found->space = here;
        CLI_TRY(begin(task, found, frame));
    }
    CLI_TRY(length_unit_same(task->input, frame, found->file_unit));
    CLI_TRY(check_reach(task, found, frame, &here.box));
    CLI_TRY(check_frame(task, found, frame, n_classes));
    CLI_TRY(rdf_structure_check(task, found, &here.box));
    if (task->force) {
        CLI_TRY(rdf_force_check(task, frame));
        f->kinetic = rdf_temperature_of(frame);
    }
    if (task->weights) {
        CLI_TRY(rdf_weights_check(task, found, frame));
    }
    f->index = frame->index;
    f->step = frame->has_step ? frame->step : frame->index;
    f->particles = particles_of(found, frame);
    f->box = here.box;
    f->n_classes = found->classes.n;
    return rdf_pick(task, found, frame, copy, &f->part);
}

/* Functions of lanes_calls (common/lanes.h): `user` is the run, a record is an rdf_frame. */

static bool count_frame(void *user, kith_ctx *ctx, void *record)
{
    const struct work *w = user;
    return rdf_frame_count(w->task, w->found, ctx, record);
}

static int64_t frames_together(const void *user, int64_t frame)
{
    const struct work *w = user;
    return rdf_batch_frames(w->task, w->found, frame);
}

static bool count_together(void *user, kith_ctx *ctx, int64_t first, void *const *records,
                           int64_t n)
{
    struct work *w = user;
    rdf_frame *frames[LANES_MOST_TOGETHER];
    for (int64_t k = 0; k < n; k++) {
        frames[k] = records[k];
    }
    return rdf_batch_count(w->task, w->found, ctx, first, frames, n, &w->batch);
}

static bool count_dealt(void *user, kith_ctx *ctx, void *const *records, int64_t n)
{
    const struct work *w = user;
    rdf_frame **frames = malloc((size_t)n * sizeof *frames);
    for (int64_t k = 0; k < n && frames; k++) {
        frames[k] = records[k];
    }
    const bool counted = frames && rdf_frames_count(w->task, w->found, ctx, frames, n);
    if (!frames) {
        ((rdf_frame *)records[0])->counted = KITH_NO_MEMORY;
    }
    free(frames);
    return counted;
}

static int report_frame(void *user, void *record)
{
    const struct work *w = user;
    return rdf_frame_report(w->task, w->found, record);
}

static int add_frame(void *user, void *record)
{
    struct work *w = user;
    rdf_outcome *found = w->found;
    const rdf_frame *f = record;
    CLI_TRY(rdf_frame_add(found, f));
    w->bar.items += f->particles;
    for (int64_t p = 0; p < f->part.points.n && found->frames == 1 && found->parts == 1; p++) {
        found->classes.item[f->part.species[p]].members++;
    }
    for (int type = 0; type < IO_MOST_TYPES && found->parts > 1; type++) {
        if (found->n_of_type[type] > 0 && found->class_of_type[type] >= 0) {
            found->classes.item[found->class_of_type[type]].members += found->n_of_type[type];
        }
    }
    return STATUS_OK;
}

static void free_frame(void *record)
{
    rdf_frame_free(record);
}

/** Memory that counting a frame takes, beside its particles [byte]. */
static int64_t memory_of_frame(const void *user)
{
    enum { ARRAYS = 4 }; /* a row, a histogram, sums, counters: each as long as a row at most */
    const struct work *w = user;
    return ARRAYS * w->found->layout.width * (int64_t)sizeof(double);
}

/** Count all frames. With lanes frames are counted concurrently, and while others are read: the
 *  time in which at least one lane counted is shared between pairs and sums in proportion; the rest
 *  is time of waiting for frames. */
static int count_frames(struct work *w, const io_trajectory_options *how)
{
    static const lanes_calls calls = {.bytes = sizeof(rdf_frame),
                                      .prepare = prepare_frame,
                                      .count = count_frame,
                                      .together = frames_together,
                                      .count_together = count_together,
                                      .count_dealt = count_dealt,
                                      .report = report_frame,
                                      .add = add_frame,
                                      .memory = memory_of_frame,
                                      .free = free_frame};
    rdf_outcome *found = w->found;
    rdf_frame alone = {0};
    lanes_counting counting = {.calls = &calls,
                               .user = w,
                               .ctx = found->ctx,
                               .from = &found->from,
                               .alone = &alone,
                               .ranks = ranks_number(found->ranks)};
    double busy;
    const int status = lanes_count(&counting, w->task->input, how, w->task->shared.quiet, &w->bar,
                                   &busy);
    if (busy >= 0) {
        const double all = found->count_seconds + found->sum_seconds;
        found->count_seconds *= all > 0 ? busy / all : 0;
        found->sum_seconds *= all > 0 ? busy / all : 0;
    }
    rdf_batch_free(&w->batch);
    return status;
}

/* ---------------------------------------------------------------- a snapshot, read by all ranks */

/** Return true when each rank is to read its share of the file if it has one frame: rank 0 then
 *  needs nothing of the particles of other ranks but their types. */
static bool may_share(const rdf_task *task)
{
    const bool plain = !task->force && !task->without_molecules && !task->without_bonds &&
                       !task->sq && !task->plot;
    return plain && !task->shared.frames && !task->shared.topology &&
           ranks_read_shares(&task->shared, task->input);
}

/** Number the species of a frame by the particles of all ranks: in the order in which their first
 *  particles are in the file, as one process does.
 *  @param frame         the share of rank 0; its species are numbered anew
 *  @param[out] names    their names
 *  @param[out] number   number of the species of each type; [0] where particles have no types
 *  @return exit status, reported */
static int number_species(const rdf_task *task, rdf_outcome *found, io_frame *frame,
                          char names[IO_MOST_TYPES][IO_NAME_LENGTH], int number[IO_MOST_TYPES])
{
    const input in = {.path = task->input, .particles = frame->particles, .parts = found->parts};
    pass fields = {.kind = PASS_FIELDS};
    CLI_TRY(ranks_pass(&in, &fields));
    memcpy(found->n_of_type, fields.n_of_type, sizeof found->n_of_type);
    if (!frame->particles.type) { /* all are of the species that the frame has */
        found->n_of_type[0] = frame->particles.all;
        number[0] = 0;
        return STATUS_OK;
    }
    int n = 0;
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        number[type] = 0;
        for (int other = 0; other < IO_MOST_TYPES && fields.n_of_type[type] > 0; other++) {
            number[type] += fields.n_of_type[other] > 0 &&
                            fields.first_of_type[other] < fields.first_of_type[type];
        }
        if (fields.n_of_type[type] > 0) {
            io_type_species((uint8_t)type, names[number[type]]);
            n++;
        }
    }
    for (int64_t p = 0; p < frame->particles.n; p++) {
        frame->species[p] = number[frame->particles.type[p]];
    }
    frame->names = names;
    frame->n_names = n;
    return STATUS_OK;
}

/** Count the frame of which each rank has read its share. @param share  that of rank 0 */
static int count_share(struct work *w, const io_frame *share)
{
    rdf_outcome *found = w->found;
    io_frame frame = *share;
    rdf_frame record = {0};
    char names[IO_MOST_TYPES][IO_NAME_LENGTH];
    int number[IO_MOST_TYPES];
    CLI_TRY(number_species(w->task, found, &frame, names, number));
    int status = prepare_frame(w, &frame, false, &record);
    for (int type = 0; type < IO_MOST_TYPES && status == STATUS_OK; type++) {
        const bool some = found->n_of_type[type] > 0;
        found->class_of_type[type] = some ? found->classes.of_name[number[type]] : -1;
    }
    if (status == STATUS_OK) {
        (void)count_frame(w, found->ctx, &record);
        status = report_frame(w, &record);
    }
    status = status == STATUS_OK ? add_frame(w, &record) : status;
    rdf_frame_free(&record);
    return status;
}

/** Read the only frame of a trajectory, each rank its share, and count it.
 *  @param t  open for the share of rank 0 */
static int read_share(struct work *w, io_trajectory *t)
{
    const rdf_task *task = w->task;
    rdf_outcome *found = w->found;
    const io_particles none = {0};
    const io_frame *frame = NULL;
    io_error error = {0};
    options others = task->shared;
    others.read.fields = IO_TYPES |
                         (task->weights && !task->weights_file ? (unsigned)IO_MASSES : 0);
    found->parts = ranks_processes();
    found->from.wanted = 1;
    io_quote(found->from.description, sizeof found->from.description, IO_QUOTE_SHOWN,
             io_trajectory_description(t));
    w->bar = progress_start("counting", "particles", 0, task->shared.quiet);
    int status = ranks_share_begin(&others, task->input, 0);
    if (status == STATUS_OK) {
        (void)io_trajectory_next(t, &frame, &error);
        status = ranks_share_end(task->input, 0, frame ? &frame->particles : &none, &error);
        found->from.seconds = progress_clock() - w->bar.start;
    }
    status = status == STATUS_OK ? count_share(w, frame) : status;
    progress_end(&w->bar);
    return status;
}

/** Count a file of one frame, of which each rank reads its share.
 *  @param[out] done  false: it is another file, and nothing was done */
static int count_shares(struct work *w, const io_trajectory_options *how, bool *done)
{
    io_trajectory_options part = *how;
    io_trajectory *t = NULL;
    io_error error = {0};
    *done = false;
    if (!may_share(w->task)) {
        return STATUS_OK;
    }
    part.read.parts = ranks_processes();
    CLI_TRY(report_io(io_trajectory_open(w->task->input, &part, &t, &error), &error, false));
    *done = io_trajectory_in_parts(t);
    const int status = *done ? read_share(w, t) : STATUS_OK;
    io_trajectory_close(t);
    return status;
}

/** After Ctrl-C, continue with the frames counted so far, if any. */
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

/** An input_frame_fn: extend found->extent by the box of a frame, if it is periodic. */
static int take_box(void *user, const io_frame *frame)
{
    const struct work *w = user;
    const rdf_task *task = w->task;
    space here;
    CLI_TRY(space_choose(&task->shared, task->input, &frame->particles, &here));
    bool periodic = frame->particles.has_box;
    for (int k = 0; k < here.box.dim; k++) {
        periodic = periodic && here.box.periodic[k];
    }
    if (periodic) { /* else the frame is refused when it is counted */
        CLI_TRY(space_check_volume(&here, task->input));
        rdf_extent_add(&here.box, &w->found->extent);
    }
    return STATUS_OK;
}

/** Read the boxes of all frames if a default range of r or q depends on them. */
static int survey(const io_trajectory_options *how, struct work *w)
{
    const rdf_task *task = w->task;
    const bool has_r = task->r_max > 0 || task->edges;
    /* S(q) needs the boxes even where the range of q is given: a --q-min below their smallest q is
     * warned of */
    const bool without_q = !task->sq && !task->plot;
    io_trajectory_options boxes = *how;
    boxes.boxes_only = true;
    return task->shared.box_numbers || (has_r && without_q)
               ? STATUS_OK
               : input_survey(task->input, &boxes, task->shared.quiet, take_box, w);
}

int rdf_run(const rdf_task *task, rdf_outcome *found)
{
    struct work w = {.task = task, .found = found};
    found->unit = task->unit ? task->unit : found->file_unit;
    io_trajectory_options how = input_how(&task->shared);
    how.read.fields |= IO_MOLECULES | IO_BONDS;
    how.read.needed = (task->without_molecules ? (unsigned)IO_MOLECULES : 0) |
                      (task->without_bonds ? (unsigned)IO_BONDS : 0) |
                      (task->force ? (unsigned)IO_FORCES : 0);
    if (task->weights && !task->weights_file) {
        how.weights = task->weights;
        how.read.needed |= (unsigned)IO_WEIGHTS;
    }
    if (task->force && !task->weights) { /* velocities and masses give a temperature */
        how.weights = "mass";
        how.read.fields |= IO_VELOCITIES | IO_WEIGHTS;
    }
    how.read.watch = watch_reading;
    how.read.user = &w;
    CLI_TRY(ranks_open(&task->shared, watch_counting, &w, &found->ctx, &found->ranks));
    bool done;
    const int shared = count_shares(&w, &how, &done);
    if (done || shared != STATUS_OK) {
        return finish(task, found, shared);
    }
    const int surveyed = survey(&how, &w);
    if (surveyed != STATUS_OK) {
        return surveyed == STATUS_INTERRUPTED ? report_interrupted(task->shared.output) : surveyed;
    }
    return finish(task, found, count_frames(&w, &how));
}
