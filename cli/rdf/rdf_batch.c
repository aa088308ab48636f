/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small frames of `kith rdf` that one call counts together, as a batch: for GPUs, which a small
 * frame does not occupy.
 *
 * A call adds up all its frames, so its frames must belong to one grain of the blocks
 * (rdf_blocks.h). The histogram of a grain is kept from call to call: the frames are then added in
 * the order in which calls for each frame would be added, and the sums have equal bits. The row of
 * the last frame of a call holds the sums of its grain so far; the rows of the frames before it do
 * not count.
 */
#include "common/box.h"
#include "common/engine.h"
#include "rdf.h"
#include "common/report.h"

#include <stdlib.h>
#include <string.h>

/** Return true when the sums of a batch are made by one sweep over all of its frames. */
static bool is_plain(const rdf_task *task, const rdf_outcome *found)
{
    return !task->without_molecules && !task->without_bonds && !task->force && !task->weights &&
           !task->minimum_image && !found->structure.direct;
}

int64_t rdf_batch_frames(const rdf_task *task, const rdf_outcome *found, int64_t frame)
{
    return is_plain(task, found) ? rdf_blocks_left(task->blocks, frame) : 0;
}

/** Return true when all frames have one precision, and one number of dimensions and of classes. */
static bool are_alike(rdf_frame *const *frames, int64_t n)
{
    bool alike = true;
    for (int64_t k = 1; k < n; k++) {
        alike = alike && frames[k]->part.points.precision == frames[0]->part.points.precision &&
                frames[k]->box.dim == frames[0]->box.dim &&
                frames[k]->n_classes == frames[0]->n_classes;
    }
    return alike;
}

/** Make the arrays of a batch large enough.
 *  @param row  size of the position of a particle [bytes]   @return false: no memory */
static bool grow(rdf_batch *batch, int64_t systems, int64_t particles, size_t row)
{
    const size_t bytes = (size_t)particles * row;
    if (systems > batch->most_systems) {
        free(batch->offsets);
        free(batch->boxes);
        batch->offsets = malloc((size_t)(systems + 1) * sizeof *batch->offsets);
        batch->boxes = malloc((size_t)systems * sizeof *batch->boxes);
        batch->most_systems = batch->offsets && batch->boxes ? systems : 0;
    }
    if (bytes > batch->bytes) {
        free(batch->xyz);
        batch->xyz = malloc(bytes);
        batch->bytes = batch->xyz ? bytes : 0;
    }
    if (particles > batch->most_particles) {
        free(batch->species);
        batch->species = malloc((size_t)particles * sizeof *batch->species);
        batch->most_particles = batch->species ? particles : 0;
    }
    return systems <= batch->most_systems && bytes <= batch->bytes &&
           particles <= batch->most_particles;
}

/** Count frames into the histogram of their grain. */
static kith_status count_together(const rdf_outcome *found, kith_ctx *ctx, rdf_frame *const *frames,
                                  int64_t n, rdf_batch *batch)
{
    kith_rdf_options how = found->how;
    const kith_precision precision = frames[0]->part.points.precision;
    const size_t row = 3 * (size_t)precision;
    kith_batch systems;
    int64_t particles = 0;
    how.n_species = frames[0]->n_classes;
    if (n == 1) {
        how.species = frames[0]->part.species;
        return kith_rdf_count(ctx, &frames[0]->part.points, &frames[0]->box, &how, &batch->sum);
    }
    for (int64_t k = 0; k < n; k++) {
        particles += frames[k]->part.points.n;
    }
    if (!grow(batch, n, particles + 1, row)) {
        return KITH_NO_MEMORY;
    }
    batch->offsets[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        const kith_points *points = &frames[k]->part.points;
        memcpy((char *)batch->xyz + (size_t)batch->offsets[k] * row, points->x,
               (size_t)points->n * row);
        memcpy(batch->species + batch->offsets[k], frames[k]->part.species,
               (size_t)points->n * sizeof *batch->species);
        batch->offsets[k + 1] = batch->offsets[k] + points->n;
        batch->boxes[k] = frames[k]->box;
    }
    kith_batch_init(&systems);
    systems.systems = n;
    systems.offsets = batch->offsets;
    systems.boxes = batch->boxes;
    how.batch = &systems;
    how.species = batch->species;
    const kith_points points = kith_points_packed(batch->xyz, particles, precision);
    return kith_rdf_count(ctx, &points, NULL, &how, &batch->sum);
}

/** Fill the row of a frame with the sums of its grain so far. @return false: no memory */
static bool fill_row(const rdf_outcome *found, const rdf_batch *batch, rdf_frame *f)
{
    if (!rdf_row_clear(found, f)) {
        return false;
    }
    rdf_row_fill(found, &batch->sum, batch->volume, f->row);
    f->row_of = RDF_ROW_OF_GRAIN;
    return true;
}

/** Count frames of one grain by one call, and set their rows. */
static kith_status count_call(const rdf_outcome *found, kith_ctx *ctx, rdf_frame *const *frames,
                              int64_t n, rdf_batch *batch)
{
    const double start = progress_clock();
    kith_status status = count_together(found, ctx, frames, n, batch);
    for (int64_t k = 0; k < n && status == KITH_OK; k++) {
        frames[k]->row_of = RDF_NO_ROW;
        frames[k]->count_seconds = 0;
        batch->volume += box_volume(&frames[k]->box);
    }
    rdf_frame *last = frames[n - 1];
    if (status == KITH_OK && !fill_row(found, batch, last)) {
        status = KITH_NO_MEMORY;
    }
    for (int64_t k = 0; k < n; k++) {
        frames[k]->ctx = ctx;
        frames[k]->counted = status;
    }
    last->count_seconds = progress_clock() - start;
    if (status != KITH_OK) {
        rdf_frames_blame(found, frames, n);
    }
    return status;
}

bool rdf_batch_count(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx, int64_t first,
                     rdf_frame *const *frames, int64_t n, rdf_batch *batch)
{
    /* The frame before was the last of its grain: begin the sums of a new grain. */
    if (first == 0 || rdf_blocks_left(task->blocks, first - 1) == 1) {
        kith_histogram_free(&batch->sum);
        batch->volume = 0;
    }
    kith_status status = KITH_OK;
    if (n > 1 && are_alike(frames, n)) {
        status = count_call(found, ctx, frames, n, batch);
        if (status == KITH_OK || status == KITH_CANCELLED) {
            return status == KITH_OK;
        }
    } /* else one by one: the failure that is reported is that of the first bad frame */
    for (int64_t k = 0; k < n; k++) {
        status = count_call(found, ctx, frames + k, 1, batch);
        if (status != KITH_OK) {
            return false;
        }
    }
    return true;
}

void rdf_batch_free(rdf_batch *batch)
{
    kith_histogram_free(&batch->sum);
    free(batch->xyz);
    free(batch->species);
    free(batch->offsets);
    free(batch->boxes);
    *batch = (rdf_batch){0};
}
