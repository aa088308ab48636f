/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all formats of trajectories share: memory for a frame, which is kept from frame to frame;
 * the choice of species; opening a file, going to a frame, reading it, and the checks that every
 * frame must pass.
 */
#include "frames.h"
#include "elements.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------- memory for a frame */

void io__frame_free(io_frame *frame)
{
    io_particles_free(&frame->particles);
    free(frame->species);
    free(frame->force);
    free(frame->molecule);
    free(frame->weight);
    free(frame->bond);
    *frame = (io_frame){0};
}

/** Allocate the arrays of a frame beside those of its particles. */
static io_status alloc_own(const io_frames *frames, io_frame *frame, int64_t n, unsigned fields)
{
    const size_t room = (size_t)n + 1; /* never 0 */
    frame->species = malloc(room * sizeof *frame->species);
    if (fields & IO_FORCES) {
        frame->force = malloc(room * 3 * frame->particles.precision);
    }
    if (fields & IO_MOLECULES) {
        frame->molecule = malloc(room * sizeof *frame->molecule);
    }
    if (fields & IO_WEIGHTS) {
        frame->weight = malloc(room * sizeof *frame->weight);
    }
    if (!frame->species || (!frame->weight && fields & IO_WEIGHTS) ||
        (!frame->force && fields & IO_FORCES) || (!frame->molecule && fields & IO_MOLECULES)) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for %lld particles",
                             (long long)n);
    }
    return IO_OK;
}

io_status io__frame_alloc(io_frames *frames, io_frame *out, int64_t n, kith_precision native,
                          unsigned present)
{
    const unsigned fields = io__fields_wanted(frames->file) & present;
    const kith_precision given = frames->file->options->precision;
    io_particles *particles = &out->particles;
    frames->present = present;
    frames->native = native;
    if (n > out->room || fields != out->fields || !out->species ||
        particles->precision != (given ? given : native)) {
        io__frame_free(out);
        IO_TRY(io__particles_alloc(frames->file, particles, n, 3, native));
        IO_TRY(io__particles_add(frames->file, particles, fields & (IO_VELOCITIES | IO_IDS)));
        IO_TRY(alloc_own(frames, out, n, fields));
        out->fields = fields;
        out->room = n;
    }
    particles->n = n;
    particles->dim = 3;
    particles->box = io__box_open();
    particles->has_box = particles->has_time = out->has_step = false;
    out->n_bonds = 0;
    out->things.n = 0;
    return IO_OK;
}

io_status io__frame_adopt(const io_frames *frames, io_frame *out, io_particles particles,
                          unsigned present)
{
    io__frame_free(out);
    out->particles = particles;
    /* IO_FORCES - 1 is all bits below: the fields of io_particles, which are read already. */
    out->fields = io__fields_wanted(frames->file) & (present | (IO_FORCES - 1));
    return alloc_own(frames, out, particles.n, out->fields);
}

io_status io__frame_alloc_bonds(const io_frames *frames, io_frame *out, int64_t n)
{
    int32_t *bond = realloc(out->bond, ((size_t)n + 1) * 2 * sizeof *bond);
    if (!bond) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for %lld bonds", (long long)n);
    }
    out->bond = bond;
    out->n_bonds = n;
    return IO_OK;
}

io_status io__frame_unnamed(io_frames *frames, io_frame *out)
{
    int32_t number;
    IO_TRY(io__labels_number(frames->file, &frames->labels, (io_token){"", 0}, &number));
    for (int64_t p = 0; p < out->particles.n; p++) {
        out->species[p] = number;
    }
    return IO_OK;
}

/** Compact an array: move row p to row new_index[p] where that is >= 0. */
static void keep(void *array, size_t bytes, const int32_t *new_index, int64_t n)
{
    for (int64_t p = 0; p < n && array; p++) {
        if (new_index[p] >= 0) {
            memmove((char *)array + (size_t)new_index[p] * bytes, (char *)array + (size_t)p * bytes,
                    bytes);
        }
    }
}

/** Keep the bonds between particles that are kept, with their new indices. */
static void keep_bonds(io_frame *frame, const int32_t *new_index)
{
    int64_t n = 0;
    for (int64_t k = 0; k < frame->n_bonds; k++) {
        const int32_t i = new_index[frame->bond[2 * k]], j = new_index[frame->bond[2 * k + 1]];
        if (i < 0 || j < 0) {
            continue;
        }
        frame->bond[2 * n] = i;
        frame->bond[2 * n++ + 1] = j;
    }
    frame->n_bonds = n;
}

/** Remove the particles of species that the options do not name.
 *  @param check  return IO_INVALID if a species has no particle */
static io_status select_species(io_frames *frames, io_frame *frame, bool check)
{
    io_particles *particles = &frame->particles;
    const int64_t n = particles->n;
    io_species wanted;
    IO_TRY(io__species_parse(frames->file, &wanted));
    if (wanted.n == 0) {
        return IO_OK;
    }
    int32_t *new_index = malloc(((size_t)n + 1) * sizeof *new_index);
    if (!new_index) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory to choose species");
    }
    int32_t kept = 0;
    for (int64_t p = 0; p < n; p++) {
        const char *name = frames->labels.name[frame->species[p]];
        const int at = io__species_find(&wanted, (io_token){name, strlen(name)});
        new_index[p] = at >= 0 ? kept++ : -1;
        if (at >= 0) {
            wanted.item[at].n++;
        }
    }
    const size_t row = 3 * (size_t)particles->precision;
    keep(particles->pos, row, new_index, n);
    keep(particles->velocity, row, new_index, n);
    keep(particles->id, sizeof *particles->id, new_index, n);
    keep(frame->species, sizeof *frame->species, new_index, n);
    keep(frame->force, row, new_index, n);
    keep(frame->molecule, sizeof *frame->molecule, new_index, n);
    keep(frame->weight, sizeof *frame->weight, new_index, n);
    keep_bonds(frame, new_index);
    free(new_index);
    particles->n = kept;
    return check ? io__species_check(frames->file, &wanted) : IO_OK;
}

/* ---------------------------------------------------------------------------- frames of a file */

static const io_frames_format *find_format(io_format format)
{
    switch (format) {
    case IO_XYZ: return &io__frames_xyz;
    case IO_LAMMPS: return &io__frames_lammps;
    case IO_GSD: return &io__frames_gsd;
    case IO_HDF5: return &io__frames_hdf5;
    case IO_CHEMFILES: return &io__frames_chemfiles;
    default: return &io__frames_single;
    }
}

io_status io__frames_open(io_frames *frames, io_file *file, io_format format,
                          const io_trajectory_options *options)
{
    *frames = (io_frames){.format = find_format(format),
                          .file_format = format,
                          .file = file,
                          .options = options,
                          .count = -1};
    if (options->topology && format != IO_CHEMFILES) {
        return io__file_fail(file, IO_INVALID,
                             "names its atoms itself, as far as it does; a topology, here %s, is "
                             "for the binary formats that chemfiles reads",
                             options->topology);
    }
    IO_TRY(io__labels_open(file, &frames->labels));
    frames->state = calloc(1, frames->format->state + 1);
    if (!frames->state) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory to read frames");
    }
    io__get_failed = 0;
    return io__get_end(frames->file, frames->format->open(frames));
}

void io__frames_close(io_frames *frames)
{
    if (frames->state && frames->format->close) {
        frames->format->close(frames);
    }
    free(frames->state);
    io__labels_close(&frames->labels);
    *frames = (io_frames){0};
}

/** Find out whether the file has a frame `next`. */
static io_status peek(io_frames *frames, bool *found)
{
    if (frames->format->peek) {
        return frames->format->peek(frames, found);
    }
    *found = frames->next < frames->count;
    return IO_OK;
}

/** Check a box. An axis of length 0 becomes open; if all are, the frame has no box. */
static io_status check_box(io_frames *frames, io_frame *frame)
{
    kith_box *box = &frame->particles.box;
    int lengths = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double *row = box->row[axis];
        const double length = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        if (!isfinite(length) || !isfinite(box->origin[axis])) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "frame %lld has a box that is not finite: (%g, %g, %g) along "
                                 "axis %d",
                                 (long long)frame->index, row[0], row[1], row[2], axis);
        }
        if (length == 0) {
            box->periodic[axis] = 0;
        }
        lengths += length > 0;
    }
    if (lengths == 0) {
        frame->particles.has_box = false;
    }
    if (!frame->particles.has_box) {
        const int dim = frame->particles.dim;
        *box = io__box_open();
        box->dim = dim;
    }
    return IO_OK;
}

/** Return IO_MISSING if a frame lacks a needed field that io__particles_check does not check. */
static io_status check_fields(io_frames *frames, const io_frame *frame)
{
    static const struct {
        unsigned field;
        const char *name;
    } own[] = {{IO_FORCES, "forces"}, {IO_MOLECULES, "molecules"}, {IO_BONDS, "bonds"}};
    const unsigned lacking = frames->file->options->needed & ~frame->fields;
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        if (lacking & own[k].field) {
            return io__file_fail(frames->file, IO_MISSING, "has no %s in frame %lld (%s)",
                                 own[k].name, (long long)frame->index, frames->description);
        }
    }
    if ((lacking & IO_WEIGHTS) && frames->single) {
        return io__file_fail(frames->file, IO_MISSING,
                             "has no weights '%s': of %s the masses of snapshots, 'mass', alone "
                             "are read as weights; give others as a file or an array of their own",
                             frames->options->weights, frames->description);
    }
    if (lacking & IO_WEIGHTS) {
        return io__file_fail(
            frames->file, IO_MISSING, "has no '%s' in frame %lld (%s); kith info lists its fields",
            frames->options->weights, (long long)frame->index, frames->description);
    }
    return IO_OK;
}

static io_status check_weights(const io_frames *frames, const io_frame *frame)
{
    const int64_t n = frame->fields & IO_WEIGHTS ? frame->particles.n : 0; /* else none was read */
    for (int64_t p = 0; p < n && frame->weight; p++) {
        if (!isfinite(frame->weight[p])) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "frame %lld: '%s' of particle %lld is %g; expected finite numbers",
                                 (long long)frame->index, frames->options->weights, (long long)p,
                                 frame->weight[p]);
        }
    }
    return IO_OK;
}

/** Return IO_INVALID if species must be elements, and one in the frame is none. */
static io_status check_elements(const io_frames *frames, const io_frame *frame)
{
    bool used[IO_MOST_LABELS] = {false};
    char unknown[200] = "";
    if (frames->options->label != IO_LABEL_ELEMENT) {
        return IO_OK;
    }
    for (int64_t p = 0; p < frame->particles.n; p++) {
        used[frame->species[p]] = true;
    }
    for (int k = 0; k < frame->n_names; k++) {
        const char *name = frame->names[k];
        const size_t at = strlen(unknown);
        if (used[k] && !io__element_known(name) && strcmp(name, IO_VIRTUAL_SITE) != 0) {
            snprintf(unknown + at, sizeof unknown - at, "%s%.20s", at ? ", " : "",
                     *name ? name : "unnamed");
        }
    }
    if (unknown[0]) {
        return io__file_fail(frames->file, IO_INVALID,
                             "frame %lld has species that are no elements: %s (%s); --by name or "
                             "type takes them as they are called",
                             (long long)frame->index, unknown, frames->description);
    }
    return IO_OK;
}

/** Assert that a frame has the arrays that its fields name, and that indices in them are valid. */
static void assert_complete(const io_frames *frames, const io_frame *frame)
{
    const io_particles *particles = &frame->particles;
    const int64_t n = particles->n;
    assert(n >= 0 && (particles->dim == 2 || particles->dim == 3));
    assert(n == 0 || (particles->pos && frame->species));
    assert(!(frame->fields & IO_FORCES) || frame->force);
    assert(!(frame->fields & IO_MOLECULES) || frame->molecule);
    assert(!(frame->fields & IO_WEIGHTS) || frame->weight);
    assert(frame->n_bonds == 0 || frame->bond);
    for (int64_t p = 0; p < n; p++) {
        assert(frame->species[p] >= 0 && frame->species[p] < frames->labels.n);
    }
    for (int64_t k = 0; k < 2 * frame->n_bonds; k++) {
        assert(frame->bond[k] >= 0 && frame->bond[k] < n);
    }
    (void)frames, (void)particles, (void)n;
}

/** Read frame `next`, which exists, check it, and remove the species that are not chosen. Advances
 *  `next`. */
static io_status read_next(io_frames *frames, io_frame *out)
{
    io__get_failed = 0;
    IO_TRY(io__get_end(frames->file, frames->format->read(frames, out)));
    assert_complete(frames, out);
    out->index = frames->next++;
    out->names = frames->labels.name;
    out->n_names = frames->labels.n;
    memcpy(out->unit, frames->unit, sizeof out->unit);
    memcpy(out->system, frames->system, sizeof out->system);
    memcpy(out->guessed, frames->guessed, sizeof out->guessed);
    IO_TRY(check_box(frames, out));
    if (frames->options->boxes_only) {
        return IO_OK;
    }
    IO_TRY(check_fields(frames, out));
    IO_TRY(check_weights(frames, out));
    IO_TRY(check_elements(frames, out));
    IO_TRY(io__particles_check(frames->file, &out->particles, frames->description));
    if (!frames->format->selects) {
        IO_TRY(select_species(frames, out, !frames->started));
    }
    frames->started = true;
    return IO_OK;
}

io_status io__frames_read(io_frames *frames, int64_t index, io_frame *out, bool *found)
{
    assert(!frames->format->peek || frames->next <= index);
    if (!frames->format->peek) {
        frames->next = index;
    }
    for (;;) {
        IO_TRY(peek(frames, found));
        if (!*found) {
            return IO_OK;
        }
        if (frames->next == index) {
            return read_next(frames, out);
        }
        IO_TRY(frames->format->skip(frames));
        frames->next++;
    }
}

/** Move behind the last frame. */
static io_status pass_all(io_frames *frames)
{
    for (bool found;; frames->next++) {
        IO_TRY(peek(frames, &found));
        if (!found) {
            return IO_OK;
        }
        IO_TRY(frames->format->skip(frames));
    }
}

io_status io__frames_count(const io_frames *frames, int64_t *n)
{
    *n = frames->count;
    if (*n >= 0) {
        return IO_OK;
    }
    io_frames again;
    io_status status = io__frames_open(&again, frames->file, frames->file_format, frames->options);
    if (status == IO_OK) {
        status = pass_all(&again);
    }
    *n = again.next;
    io__frames_close(&again);
    return status;
}

/** Read frame options->frame, and set frame->particles.frames. */
static io_status read_one(io_frames *frames, io_frame *frame)
{
    const int64_t index = frames->file->options->frame;
    bool found;
    IO_TRY(io__frames_read(frames, index, frame, &found));
    if (!found) {
        return io__file_fail_frame(frames->file, "",
                                   frames->count < 0 ? frames->next : frames->count, index);
    }
    IO_TRY(peek(frames, &found)); /* fails where neither another frame nor the end follows */
    frame->particles.frames = frames->count >= 0 ? frames->count : found ? -1 : frames->next;
    return IO_OK;
}

/** Move the particles out of a frame. Its weights, if it has any, become their radii. */
static io_status take_particles(io_file *file, io_frame *frame, io_particles *out)
{
    *out = frame->particles;
    frame->particles = (io_particles){0};
    memcpy(out->unit, frame->unit, sizeof out->unit);
    IO_TRY(io__particles_add(file, out, frame->weight ? IO_RADII : 0));
    for (int64_t p = 0; p < out->n && out->radius; p++) {
        io_put_real(out->radius, p, out->precision, frame->weight[p]);
    }
    return IO_OK;
}

io_status io__frames_read_one(io_file *file, io_format format, io_particles *out)
{
    const io_read_options *given = file->options;
    /* Radii are read as weights are: by the name of a column. */
    io_trajectory_options options = {.read = *given, .weights = given->radii};
    options.read.radii = NULL;
    options.read.needed |= given->radii ? (unsigned)IO_WEIGHTS : 0;
    file->options = &options.read;
    io_frames frames;
    io_frame frame = {0};
    io_status status = io__frames_open(&frames, file, format, &options);
    if (status == IO_OK) {
        status = read_one(&frames, &frame);
    }
    io__frames_close(&frames);
    file->options = given;
    if (status == IO_OK) {
        status = take_particles(file, &frame, out);
    }
    io__frame_free(&frame);
    return status;
}

/** Append the fields of the last frame to a summary. @param n  its number of particles */
static void list_fields(const io_frames *frames, int64_t n, io_summary *out)
{
    static const struct {
        unsigned field;
        int width;
        const char *name;
    } known[] = {{IO_POSITIONS, 3, "positions"}, {IO_VELOCITIES, 3, "velocities"},
                 {IO_FORCES, 3, "forces"},       {IO_IDS, 1, "ids"},
                 {IO_MOLECULES, 1, "molecules"}, {IO_BONDS, 2, "bonds"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!(known[k].field & (frames->present | IO_POSITIONS))) {
            continue;
        }
        const int at = out->n_fields++;
        const bool real = known[k].width == 3;
        snprintf(out->fields[at].name, IO_NAME_LENGTH, "%s", known[k].name);
        snprintf(out->fields[at].type, IO_NAME_LENGTH, "%s",
                 !real                                                  ? "integer"
                 : frames->format->text || frames->native != KITH_FLOAT ? "double"
                                                                        : "float");
        if (known[k].field != IO_BONDS) {
            snprintf(out->fields[at].shape, IO_NAME_LENGTH, real ? "(%lld, 3)" : "(%lld,)",
                     (long long)n);
        }
    }
}

/** Fill a summary from frame 0, and count the frames. @param frame  zeroed; receives frame 0 */
static io_status inspect(io_frames *frames, io_frame *frame, io_summary *out)
{
    bool found;
    IO_TRY(io__frames_read(frames, 0, frame, &found));
    if (frames->format->describe) {
        frames->format->describe(frames, out);
    } else {
        list_fields(frames, frame->particles.n, out);
        if (frames->format->list_others) {
            frames->format->list_others(frames, frame->particles.n, out);
        }
    }
    out->precision = frames->format->text ? 0 : frames->native;
    snprintf(out->description, sizeof out->description, "%s", frames->description);
    const io_particles *particles = &frame->particles;
    for (int64_t p = 0; p < particles->n; p++) {
        if (frame->species[p] < IO_MAX_SPECIES) {
            out->species[frame->species[p]].n++;
        }
    }
    const int names = frame->n_names < IO_MAX_SPECIES ? frame->n_names : IO_MAX_SPECIES;
    for (int k = 0; k < names; k++) {
        memcpy(out->species[k].name, frame->names[k], IO_NAME_LENGTH);
    }
    const bool named = names > 1 || (names == 1 && frame->names[0][0]);
    out->n_species = named ? names : 0;
    out->n = particles->n;
    out->has_box = particles->has_box;
    out->box = found ? particles->box : io__box_open();
    memcpy(out->unit, frame->unit, sizeof out->unit);
    out->has_time = particles->has_time;
    out->time = particles->time;
    out->frames = frames->count;
    if (out->frames < 0) {
        IO_TRY(pass_all(frames));
        out->frames = frames->next;
    }
    return IO_OK;
}

io_status io__frames_inspect(io_file *file, io_format format, io_summary *out)
{
    static const io_trajectory_options options = {0};
    io_frames frames;
    io_frame frame = {0};
    io_status status = io__frames_open(&frames, file, format, &options);
    if (status == IO_OK) {
        status = inspect(&frames, &frame, out);
    }
    io__frames_close(&frames);
    io__frame_free(&frame);
    return status;
}
