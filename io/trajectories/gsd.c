/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of GSD, the format of HOOMD. A chunk that a frame lacks is that of frame 0, and else has a
 * default. https://gsd.readthedocs.io/en/stable/schema-hoomd.html
 */
#include "gsd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void close_frames(io_frames *frames)
{
    io_gsd *state = frames->state;
    free(state->entry);
    free(state->number);
}

/** Read m numbers of a chunk of one row or one column. *found is false when there is none. */
static io_status read_numbers(io_frames *frames, int chunk, int m, double *out, bool *found)
{
    const io_gsd_entry *entry = io__gsd_find(frames, chunk);
    io_scalar type = {0};
    *found = entry != NULL;
    if (!entry) {
        return IO_OK;
    }
    const bool row = entry->n == 1;
    IO_TRY(
        io__gsd_check(frames, entry, chunk, row ? 1 : (uint64_t)m, row ? (uint32_t)m : 1, &type));
    return io__numbers_read(frames->file, entry->location, type, m, out, 1, KITH_DOUBLE);
}

/** Number of particles or bonds in frame `next`, or in frame 0. */
static io_status read_count(io_frames *frames, int chunk, int64_t *n)
{
    double count = 0;
    bool found;
    IO_TRY(read_numbers(frames, chunk, 1, &count, &found));
    if (!(count >= 0 && count <= INT32_MAX)) {
        return io__file_fail(frames->file, IO_LIMIT,
                             "frame %lld: %s is %.0f; at most %d can be read",
                             (long long)frames->next, io__gsd_names[chunk], count, INT32_MAX);
    }
    *n = (int64_t)count;
    return IO_OK;
}

/** Find the chunk with m numbers for each of n particles or bonds; that of frame 0 only when it has
 *  as many. NULL when there is none. */
static io_status find_rows(io_frames *frames, int chunk, int64_t n, uint32_t m,
                           const io_gsd_entry **entry, io_scalar *type)
{
    const int64_t next = frames->next;
    int64_t first = n;
    *entry = io__gsd_find_in(frames->state, (uint64_t)next, chunk);
    if (!*entry && next > 0) {
        frames->next = 0;
        const io_status status = read_count(
            frames, chunk == IO_GSD_GROUP ? IO_GSD_BONDS : IO_GSD_COUNT, &first);
        frames->next = next;
        *entry = first == n ? io__gsd_find_in(frames->state, 0, chunk) : NULL;
        IO_TRY(status);
    }
    if (!*entry) {
        return IO_OK;
    }
    return io__gsd_check(frames, *entry, chunk, (uint64_t)n, m, type);
}

/** Read [n][3] reals; zeros when there are none. */
static io_status read_vectors(io_frames *frames, int chunk, unsigned field, io_frame *out)
{
    io_particles *particles = &out->particles;
    const io_gsd_entry *entry;
    io_scalar type = {0};
    IO_TRY(find_rows(frames, chunk, particles->n, 3, &entry, &type));
    if (!entry) {
        memset(io__particles_row(particles, field, 0), 0,
               (size_t)particles->n * 3 * particles->precision);
        return IO_OK;
    }
    const io_records records = {entry->location, (int64_t)3 * type.size, particles->n};
    const io_field columns = io__particles_field(particles, field, 0, 0, type);
    return io__records_read(frames->file, &records, &columns, 1);
}

/** Read a chunk of whole numbers of 4 bytes. */
static io_status read_words(io_frames *frames, const io_gsd_entry *entry, int chunk, io_scalar type,
                            int32_t *out)
{
    if (type.size != 4 || type.kind == 'f') {
        return io__file_fail(frames->file, IO_FORMAT, "frame %lld: %s has type %c%d; expected u4",
                             (long long)frames->next, io__gsd_names[chunk], type.kind, type.size);
    }
    return io__file_read(frames->file, out, (int64_t)entry->n * entry->m * 4, entry->location);
}

/** Give the types of a chunk, names of a fixed width, their species. */
static io_status number_types(io_frames *frames, const io_gsd_entry *entry)
{
    io_gsd *state = frames->state;
    const uint64_t types = entry ? entry->n : 1;
    const size_t width = entry ? entry->m : 1;
    io_scalar type = {0};
    if (entry) {
        IO_TRY(io__gsd_check(frames, entry, IO_GSD_TYPES, entry->n, entry->m, &type));
        if (type.size != 1 || types > IO_MOST_LABELS) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "has %llu types of particles of %d-byte letters",
                                 (unsigned long long)types, type.size);
        }
    }
    free(state->number);
    state->number = malloc((size_t)(types + 1) * sizeof *state->number);
    if (!state->number) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for names of types");
    }
    io_status status = IO_OK;
    char *names = entry ? io__gsd_block(frames->file, "names of types", (uint64_t)entry->location,
                                        types, width, &status)
                        : NULL;
    for (uint64_t k = 0; k < types && status == IO_OK; k++) {
        const char *name = names ? names + k * width : "A";
        status = io__labels_number(frames->file, &frames->labels,
                                   (io_token){name, strnlen(name, width)}, &state->number[k]);
    }
    free(names);
    state->named = true;
    state->typed = entry;
    state->types = (int64_t)types;
    return status;
}

static io_status read_species(io_frames *frames, io_frame *out)
{
    io_gsd *state = frames->state;
    const int64_t n = out->particles.n;
    const io_gsd_entry *types = io__gsd_find(frames, IO_GSD_TYPES), *entry;
    io_scalar type = {0};
    if (!state->named || types != state->typed) {
        IO_TRY(number_types(frames, types));
    }
    IO_TRY(find_rows(frames, IO_GSD_TYPEID, n, 1, &entry, &type));
    if (entry) {
        IO_TRY(read_words(frames, entry, IO_GSD_TYPEID, type, out->species));
    }
    for (int64_t p = 0; p < n; p++) {
        const int64_t id = entry ? out->species[p] : 0;
        if (id < 0 || id >= state->types) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "frame %lld: particle %lld is of type %lld, but there are %lld",
                                 (long long)frames->next, (long long)p, (long long)id,
                                 (long long)state->types);
        }
        out->species[p] = state->number[id];
    }
    return IO_OK;
}

static io_status read_bonds(io_frames *frames, io_frame *out)
{
    int64_t n = 0;
    const io_gsd_entry *entry;
    io_scalar type = {0};
    if (!(out->fields & IO_BONDS)) {
        return IO_OK;
    }
    IO_TRY(read_count(frames, IO_GSD_BONDS, &n));
    IO_TRY(find_rows(frames, IO_GSD_GROUP, n, 2, &entry, &type));
    if (!entry) {
        return IO_OK;
    }
    IO_TRY(io__frame_alloc_bonds(frames, out, n));
    IO_TRY(read_words(frames, entry, IO_GSD_GROUP, type, out->bond));
    for (int64_t k = 0; k < 2 * n; k++) {
        if (out->bond[k] < 0 || out->bond[k] >= out->particles.n) {
            return io__file_fail(frames->file, IO_FORMAT, "frame %lld: a bond of particle %lld",
                                 (long long)frames->next, (long long)out->bond[k]);
        }
    }
    return IO_OK;
}

/** The chunk of the weights; -1: GSD has none of that name. */
static int weights_chunk(const io_frames *frames)
{
    const char *wanted = frames->options->weights;
    for (int chunk = IO_GSD_MASS; wanted && chunk <= IO_GSD_DIAMETER; chunk++) {
        if (strcmp(io__gsd_names[chunk] + strlen("particles/"), wanted) == 0) {
            return chunk;
        }
    }
    return -1;
}

static io_status read_weights(io_frames *frames, int chunk, io_frame *out)
{
    const io_gsd_entry *entry;
    io_scalar type = {0};
    if (!out->weight) {
        return IO_OK;
    }
    IO_TRY(find_rows(frames, chunk, out->particles.n, 1, &entry, &type));
    if (!entry) {
        return io__file_fail(frames->file, IO_MISSING, "frame %lld: %s is of other particles",
                             (long long)frames->next, io__gsd_names[chunk]);
    }
    return io__numbers_read(frames->file, entry->location, type, out->particles.n, out->weight, 1,
                            KITH_DOUBLE);
}

/** The box is centred: (Lx, Ly, Lz, xy, xz, yz), tilts as fractions of Ly and Lz. */
static io_status read_box(io_frames *frames, io_frame *out)
{
    io_particles *particles = &out->particles;
    double l[6], dimensions = 3;
    bool found;
    IO_TRY(read_numbers(frames, IO_GSD_DIMENSIONS, 1, &dimensions, &found));
    IO_TRY(read_numbers(frames, IO_GSD_BOX, 6, l, &particles->has_box));
    particles->dim = particles->box.dim = dimensions == 2 ? 2 : 3;
    if (!particles->has_box) {
        return IO_OK;
    }
    particles->box = (kith_box){
        .row = {{l[0]}, {l[3] * l[1], l[1]}, {l[4] * l[2], l[5] * l[2], l[2]}},
        .periodic = {1, 1, 1},
        .dim = particles->dim};
    for (int axis = 0; axis < particles->dim; axis++) {
        for (int row = 0; row < particles->dim; row++) {
            particles->box.origin[axis] -= particles->box.row[row][axis] / 2;
        }
    }
    return IO_OK;
}

static io_status read_frame(io_frames *frames, io_frame *out)
{
    int64_t n = 0;
    double step = 0;
    bool found;
    const io_gsd_entry *position;
    io_scalar type = {0};
    if (frames->options->boxes_only) {
        IO_TRY(io__frame_alloc(frames, out, 0, KITH_FLOAT, 0));
        return read_box(frames, out);
    }
    IO_TRY(read_count(frames, IO_GSD_COUNT, &n));
    IO_TRY(find_rows(frames, IO_GSD_POSITION, n, 3, &position, &type));
    if (n > 0 && !position) {
        return io__file_fail(frames->file, IO_FORMAT,
                             "frame %lld: %lld particles, but no positions",
                             (long long)frames->next, (long long)n);
    }
    const bool wide = type.size == 8;
    const int weights = weights_chunk(frames);
    IO_TRY(io__frame_alloc(frames, out, n, wide ? KITH_DOUBLE : KITH_FLOAT,
                           (io__gsd_find(frames, IO_GSD_VELOCITY) ? IO_VELOCITIES : 0u) |
                               (io__gsd_find(frames, IO_GSD_GROUP) ? IO_BONDS : 0u) |
                               (weights >= 0 && io__gsd_find(frames, weights) ? IO_WEIGHTS : 0u)));
    IO_TRY(read_numbers(frames, IO_GSD_STEP, 1, &step, &found));
    out->has_step = true;
    out->step = fabs(step) < 0x1p53 ? (int64_t)step : 0;
    IO_TRY(read_vectors(frames, IO_GSD_POSITION, IO_POSITIONS, out));
    if (out->particles.velocity) {
        IO_TRY(read_vectors(frames, IO_GSD_VELOCITY, IO_VELOCITIES, out));
    }
    IO_TRY(read_weights(frames, weights, out));
    IO_TRY(read_box(frames, out));
    IO_TRY(read_species(frames, out));
    return read_bonds(frames, out);
}

const io_frames_format io__frames_gsd = {
    .state = sizeof(io_gsd), .open = io__gsd_open, .read = read_frame, .close = close_frames};
