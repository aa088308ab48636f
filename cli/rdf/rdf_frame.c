/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One frame of `kith rdf`: count its pairs and its sums over vectors q into a row of numbers, and
 * add that row to a block. Counting a frame reads what all frames share and writes to that frame
 * alone, so that several threads may count frames at one time.
 */
#include "common/box.h"
#include "common/engine.h"
#include "rdf.h"
#include "common/report.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rdf_row_clear(const rdf_outcome *found, rdf_frame *f)
{
    const size_t bytes = (size_t)found->layout.width * sizeof *f->row;
    f->row = f->row ? f->row : malloc(bytes);
    if (f->row) {
        memset(f->row, 0, bytes);
    }
    return f->row != NULL;
}

void rdf_row_fill(const rdf_outcome *found, const kith_histogram *h, double volume, double *row)
{
    const rdf_layout *l = &found->layout;
    row[l->frames] = (double)h->frames;
    row[l->volume] = volume;
    for (int32_t a = 0; a < h->n_species; a++) {
        row[l->centres + a] = (double)h->centres[a];
    }
    for (int64_t k = 0; k < l->partials * l->bins; k++) {
        row[l->counts + k] = (double)h->counts[k];
        row[l->ideal + k] = h->ideal[k];
    }
}

/** Add what was counted to the row of the frame.
 *  @param sums  sums of the weights; read with --weights alone   @return false: no memory */
static bool fill_row(const rdf_task *task, const rdf_outcome *found, const kith_histogram *h,
                     const ranks_weight_sums *sums, rdf_frame *f)
{
    rdf_row_fill(found, h, box_volume(&f->box), f->row);
    if (task->weights) {
        rdf_weights_add(found, sums, h, f->row);
    }
    return !task->force || rdf_force_add(task, found, h, f->row);
}

/** Return the options for the particles of a frame: their species, and no other arrays. */
static kith_rdf_options options_of(const rdf_outcome *found, const rdf_frame *f)
{
    kith_rdf_options how = found->how;
    how.n_species = f->n_classes;
    how.species = f->part.species;
    return how;
}

/** Count the pairs of a frame, and fill its row with what follows from them. */
static kith_status count_pairs(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx,
                               rdf_frame *f)
{
    kith_rdf_options how = options_of(found, f);
    how.molecules = task->without_molecules ? f->part.molecule : NULL;
    how.bond_offsets = task->without_bonds ? f->part.bond_offsets : NULL;
    how.bonds = task->without_bonds ? f->part.bonds : NULL;
    how.forces = f->part.forces;
    how.weights = task->weights ? f->part.weight : NULL;
    kith_histogram h = {0};
    ranks_weight_sums sums;
    kith_status status = ranks_rdf_count(found->ranks, ctx, &f->part.points, &f->box, &how,
                                         found->class_of_type, &h, &sums);
    if (status == KITH_OK && !fill_row(task, found, &h, &sums, f)) {
        status = KITH_NO_MEMORY;
    }
    kith_histogram_free(&h);
    return status;
}

/** Make the row of a frame, of zeros. @return KITH_OK, KITH_NO_MEMORY */
static kith_status begin_row(const rdf_outcome *found, kith_ctx *ctx, rdf_frame *f)
{
    f->ctx = ctx;
    f->row_of = RDF_ROW_OF_FRAME;
    return rdf_row_clear(found, f) ? KITH_OK : KITH_NO_MEMORY;
}

/** Count frames, each on one of the ranks. @param dealt  [n] scratch */
static kith_status count_dealt(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx,
                               rdf_frame *const *frame, int64_t n, ranks_frame *dealt)
{
    kith_rdf_options how = options_of(found, frame[0]);
    how.species = NULL;
    for (int64_t k = 0; k < n; k++) {
        const rdf_frame *f = frame[k];
        dealt[k] = (ranks_frame){
            .points = f->part.points, .species = f->part.species, .box = f->box};
    }
    kith_status status = ranks_frames_count(found->ranks, &how, dealt, n);
    for (int64_t k = 0; k < n && status == KITH_OK; k++) {
        status = begin_row(found, ctx, frame[k]);
        if (status == KITH_OK && !fill_row(task, found, &dealt[k].histogram, NULL, frame[k])) {
            status = KITH_NO_MEMORY;
        }
    }
    return status;
}

/** Return the first counted particle of a frame, by its index in the frame, of which a coordinate
 *  is not finite; -1: there is none. */
static int64_t first_not_finite(const rdf_part *part)
{
    const kith_points *points = &part->points;
    int64_t bad = 0;
    while (bad < 3 * points->n && isfinite(io_real(points->x, bad, points->precision))) {
        bad++;
    }
    if (bad == 3 * points->n) {
        return -1;
    }
    int64_t p = 0;
    while (part->place[p] != bad / 3) {
        p++;
    }
    return p;
}

void rdf_frames_blame(const rdf_outcome *found, rdf_frame *const *frame, int64_t n)
{
    int64_t bad_frame = n == 1 ? frame[0]->index : -1, bad_particle = -1;
    for (int64_t k = 0; k < n && bad_particle < 0 && found->parts <= 1; k++) {
        bad_particle = first_not_finite(&frame[k]->part);
        bad_frame = bad_particle >= 0 ? frame[k]->index : bad_frame;
    }
    for (int64_t k = 0; k < n; k++) {
        frame[k]->bad_frame = bad_frame;
        frame[k]->bad_particle = bad_particle;
    }
}

bool rdf_frames_count(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx,
                      rdf_frame *const *frame, int64_t n)
{
    const bool plain = !task->without_molecules && !task->without_bonds && !task->force &&
                       !task->weights;
    if (!plain) {
        bool fine = true;
        for (int64_t k = 0; k < n && fine; k++) {
            fine = rdf_frame_count(task, found, ctx, frame[k]);
        }
        return fine;
    }
    const double start = progress_clock();
    ranks_frame *dealt = malloc((size_t)n * sizeof *dealt);
    kith_status status = dealt ? count_dealt(task, found, ctx, frame, n, dealt) : KITH_NO_MEMORY;
    const double middle = progress_clock();
    for (int64_t k = 0; k < n; k++) {
        frame[k]->ctx = ctx;
        frame[k]->count_seconds = (middle - start) / (double)n;
        frame[k]->sum_seconds = 0;
        if (status == KITH_OK && found->structure.direct) {
            const double begin = progress_clock();
            status = rdf_structure_sum(task, found, ctx, frame[k]);
            frame[k]->sum_seconds = progress_clock() - begin;
        }
        frame[k]->counted = status;
    }
    if (status != KITH_OK) {
        rdf_frames_blame(found, frame, n);
    }
    free(dealt);
    return status == KITH_OK;
}

bool rdf_frame_count(const rdf_task *task, const rdf_outcome *found, kith_ctx *ctx, rdf_frame *f)
{
    const double start = progress_clock();
    f->counted = begin_row(found, ctx, f);
    if (f->counted != KITH_OK) {
        return false;
    }
    f->counted = count_pairs(task, found, ctx, f);
    const double middle = progress_clock();
    if (f->counted == KITH_OK && found->structure.direct) {
        f->counted = rdf_structure_sum(task, found, ctx, f);
    }
    f->count_seconds = middle - start;
    f->sum_seconds = progress_clock() - middle;
    if (f->counted != KITH_OK) {
        rdf_frames_blame(found, &f, 1);
    }
    return f->counted == KITH_OK;
}

int rdf_frame_report(const rdf_task *task, const rdf_outcome *found, const rdf_frame *f)
{
    if (f->counted == KITH_NO_MEMORY) { /* also of the command's own arrays: no other message */
        return report_no_memory("the sums of a frame");
    }
    if (f->counted == KITH_OK || f->counted == KITH_CANCELLED) {
        return f->counted == KITH_OK ? STATUS_OK : STATUS_INTERRUPTED;
    }
    if (f->counted == KITH_NOT_FINITE && f->bad_particle >= 0) {
        return report_error(STATUS_NOT_FINITE, NULL,
                            "%s: frame %lld: a coordinate of particle %lld (counted from 0) is not "
                            "finite",
                            task->input, (long long)f->bad_frame, (long long)f->bad_particle);
    }
    shown_text about;
    const int used = snprintf(about.s, sizeof about.s, "%s", task->input);
    if (f->bad_frame >= 0 && used > 0 && (size_t)used < sizeof about.s) {
        snprintf(about.s + used, sizeof about.s - (size_t)used, ": frame %lld",
                 (long long)f->bad_frame);
    }
    return ranks_status(found->ranks, f->ctx, f->counted, about.s);
}

int rdf_frame_add(rdf_outcome *found, const rdf_frame *f)
{
    double *row = rdf_blocks_row(&found->blocks);
    if (!row) {
        return report_no_memory("blocks");
    }
    const rdf_layout *l = &found->layout;
    for (int64_t k = 0; k < l->width && f->row_of == RDF_ROW_OF_FRAME; k++) {
        row[k] += f->row[k];
    }
    if (f->row_of == RDF_ROW_OF_GRAIN) {
        memcpy(row, f->row, (size_t)l->width * sizeof *row);
        assert((int64_t)row[l->frames] == found->blocks.last);
    }
    const double volume = box_volume(&f->box);
    found->least_volume = found->frames ? fmin(found->least_volume, volume) : volume;
    found->most_volume = fmax(found->most_volume, volume);
    found->structure.most_waves = f->sums.waves.n > found->structure.most_waves
                                      ? f->sums.waves.n
                                      : found->structure.most_waves;
    found->kinetic.frames += f->kinetic.frames;
    found->kinetic.sum += f->kinetic.sum;
    found->kinetic.squares += f->kinetic.squares;
    found->count_seconds += f->count_seconds;
    found->sum_seconds += f->sum_seconds;
    found->last_index = f->index;
    found->last_step = f->step;
    found->frames++;
    return STATUS_OK;
}

void rdf_frame_free(rdf_frame *f)
{
    rdf_part_free(&f->part);
    rdf_sums_free(&f->sums);
    free(f->row);
    *f = (rdf_frame){0};
}
