/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GSD, the format of HOOMD: read frame by frame, and written frame by frame.
 *
 * A chunk is a named array of n rows of m numbers that belongs to one frame. A file has a header, a
 * list of names of chunks, and an index with an entry for each chunk, sorted by frame:
 * https://gsd.readthedocs.io/en/stable/file-layer.html (versions 1 and 2 are read, 2.0 is written).
 * The schema "hoomd" defines the chunks; files of other schemas are refused. If a frame lacks a
 * chunk, that of frame 0 is used; if frame 0 lacks it, too, a default value:
 * https://gsd.readthedocs.io/en/stable/schema-hoomd.html
 *
 * Written are step, dimensions, box, N, position and velocity, and the obstacles and attractors of
 * a flock as rows of the chunk "log/things" (things.h; a row of kind -1: there are none). What does
 * not change is written with frame 0 alone. The index has room for more entries; when it is full, a
 * larger one with the old entries is written behind the frames, and the header then points to it.
 * The file can be read at any moment: the chunks of a frame are written first, then their entries.
 */
#include "gsd.h"
#include "frames.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --------------------------------------------------------------------- header, names and index */

/** The header of a file, as it is stored. */
typedef struct gsd_header {
    uint64_t magic;          /* signature of the format */
    uint64_t index;          /* offset of the index [byte] */
    uint64_t entries;        /* entries that the index has room for */
    uint64_t names;          /* offset of the list of names [byte] */
    uint64_t name_blocks;    /* size of the list of names [64 bytes] */
    uint32_t schema_version; /* version of the schema: major << 16 | minor */
    uint32_t version;        /* version of the format: major << 16 | minor */
    char application[64];    /* name of the program that wrote the file */
    char schema[64];         /* name of the schema: "hoomd" */
    char reserved[80];       /* not used */
} gsd_header;

/** An entry of the index, as it is stored: a chunk of n rows of m numbers. */
typedef struct gsd_entry {
    uint64_t frame;   /* frame that the chunk belongs to */
    uint64_t n;       /* number of rows */
    int64_t location; /* offset of the chunk [byte]; 0: the entry is not used */
    uint32_t m;       /* numbers in a row */
    uint16_t id;      /* index of the name of the chunk */
    uint8_t type;     /* type of the numbers, 1 to 11 */
    uint8_t flags;    /* not used */
} gsd_entry;

/** Chunks that are read: indices of names_of_chunks. */
enum {
    CHUNK_STEP,
    CHUNK_DIMENSIONS,
    CHUNK_BOX,
    CHUNK_COUNT,
    CHUNK_TYPES,
    CHUNK_TYPEID,
    CHUNK_POSITION,
    CHUNK_VELOCITY,
    CHUNK_BONDS,
    CHUNK_GROUP,
    CHUNK_MASS,
    CHUNK_CHARGE,
    CHUNK_DIAMETER,
    CHUNK_THINGS,
    CHUNK_KINDS
};

_Static_assert(sizeof(gsd_header) == 256 && sizeof(gsd_entry) == 32, "as they are in the file");

static const char *const names_of_chunks[CHUNK_KINDS] = {"configuration/step",
                                                         "configuration/dimensions",
                                                         "configuration/box",
                                                         "particles/N",
                                                         "particles/types",
                                                         "particles/typeid",
                                                         "particles/position",
                                                         "particles/velocity",
                                                         "bonds/N",
                                                         "bonds/group",
                                                         "particles/mass",
                                                         "particles/charge",
                                                         "particles/diameter",
                                                         "log/things"};

enum { NO_THING = -1 }; /* kind of the row that stands for no things */

enum { FEW = 6 }; /* most numbers of a small chunk: a box has 6 */

/** The numbers of a small chunk that was read, kept because most frames use that of frame 0. */
typedef struct few_numbers {
    const gsd_entry *entry; /* the chunk; NULL: none was read */
    double number[FEW];     /* its numbers */
} few_numbers;

/** State of the reader. */
typedef struct gsd_index {
    gsd_entry *entry;             /* entries of the index [entries], sorted by frame */
    int64_t entries;              /* number of entries that are used */
    int id[CHUNK_KINDS];          /* id of each chunk in the file; -1: no frame has it */
    bool named;                   /* typed, number and types are set */
    const gsd_entry *typed;       /* chunk of the names of types; NULL: the default, one type "A" */
    int32_t *number;              /* species of each type [types] */
    int64_t types;                /* number of types */
    few_numbers few[CHUNK_KINDS]; /* of each chunk of few numbers, those that were read last */
} gsd_index;

/** Read a block of n items of `size` bytes. @param what  name of the block, for messages
 *  @return the block, to be freed; NULL on failure, with *status set */
static void *read_block(io_file *file, const char *what, uint64_t at, uint64_t n, uint64_t size,
                        io_status *status)
{
    const uint64_t bytes = (uint64_t)file->size;
    if (at > bytes || n > (bytes - at) / size) {
        *status = io__file_fail(
            file, IO_TRUNCATED,
            "has %lld bytes; its %s of %llu times %llu bytes at %llu ends later",
            (long long)file->size, what, (unsigned long long)n, (unsigned long long)size,
            (unsigned long long)at);
        return NULL;
    }
    void *block = malloc((size_t)(n * size) + 1);
    *status = block ? io__file_read(file, block, (int64_t)(n * size), (int64_t)at)
                    : io__file_fail(file, IO_NO_MEMORY, "no memory for its %s", what);
    if (*status == IO_OK) {
        return block;
    }
    free(block);
    return NULL;
}

/** Find the ids of the chunks in the list of names.
 *  @param packed  names follow each other, as from version 2 on; else each has a block */
static void find_names(gsd_index *state, const char *names, size_t size, bool packed)
{
    enum { BLOCK = 64 };
    for (int chunk = 0; chunk < CHUNK_KINDS; chunk++) {
        state->id[chunk] = -1;
    }
    size_t at = 0;
    for (int id = 0; at < size && names[at] && id <= UINT16_MAX; id++) {
        const size_t length = strnlen(names + at, packed ? size - at : BLOCK);
        for (int chunk = 0; chunk < CHUNK_KINDS; chunk++) {
            if (strlen(names_of_chunks[chunk]) == length &&
                memcmp(names_of_chunks[chunk], names + at, length) == 0) {
                state->id[chunk] = id;
            }
        }
        at += packed ? length + 1 : BLOCK;
    }
}

/** Set ids and entries of the state, and frames->count. IO_FORMAT: the index is not sorted. */
static io_status read_index(io_frames *frames, const gsd_header *header)
{
    gsd_index *state = frames->state;
    io_status status;
    void *names = read_block(frames->file, "list of names", header->names, header->name_blocks, 64,
                             &status);
    if (!names) {
        return status;
    }
    find_names(state, names, (size_t)header->name_blocks * 64, header->version >> 16 >= 2);
    free(names);
    state->entry = read_block(frames->file, "index", header->index, header->entries,
                              sizeof(gsd_entry), &status);
    if (!state->entry) {
        return status;
    }
    while (state->entries < (int64_t)header->entries &&
           state->entry[state->entries].location != 0) {
        state->entries++;
    }
    for (int64_t k = 0; k < state->entries; k++) {
        if (state->entry[k].frame > INT32_MAX ||
            (k > 0 && state->entry[k].frame < state->entry[k - 1].frame)) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "has a damaged index: entry %lld is of frame %llu", (long long)k,
                                 (unsigned long long)state->entry[k].frame);
        }
    }
    frames->count = state->entries ? (int64_t)state->entry[state->entries - 1].frame + 1 : 0;
    return IO_OK;
}

/** The `open` of io_frames_format: read the header, and from it names and index. */
static io_status open_frames(io_frames *frames)
{
    io_file *file = frames->file;
    gsd_header header;
    IO_TRY(io__file_read(file, &header, sizeof header, 0));
    const unsigned major = header.version >> 16, minor = header.version & 0xffff;
    char schema[sizeof header.schema];
    io__copy_name(schema, sizeof schema, header.schema, strnlen(header.schema, sizeof schema - 1));
    if (major > 2) {
        return io__file_fail(file, IO_FORMAT, "is a GSD file of version %u.%u; expected 1 or 2",
                             major, minor);
    }
    if (strcmp(schema, "hoomd") != 0) {
        return io__file_fail(file, IO_FORMAT, "is a GSD file of schema '%s'; expected 'hoomd'",
                             schema);
    }
    snprintf(frames->description, sizeof frames->description, "GSD %u.%u, schema hoomd %u.%u",
             major, minor, header.schema_version >> 16, header.schema_version & 0xffff);
    return read_index(frames, &header);
}

/** Find a chunk of a frame by binary search; NULL: the frame has none. */
static const gsd_entry *find_in_frame(const gsd_index *gsd, uint64_t frame, int chunk)
{
    int64_t low = 0, high = gsd->entries; /* the frame's first entry is in [low, high] */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (gsd->entry[middle].frame < frame) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < gsd->entries && gsd->entry[low].frame == frame; low++) {
        if (gsd->entry[low].id == gsd->id[chunk]) {
            return &gsd->entry[low];
        }
    }
    return NULL;
}

/** Find a chunk of frame `next`, or of frame 0 if that has none; NULL: neither has one. */
static const gsd_entry *find_chunk(const io_frames *frames, int chunk)
{
    const gsd_entry *entry = find_in_frame(frames->state, (uint64_t)frames->next, chunk);
    return entry ? entry : find_in_frame(frames->state, 0, chunk);
}

/** Check that a chunk has the shape (n, m) and lies in the file.
 *  @param[out] type  type of its numbers */
static io_status check_chunk(io_frames *frames, const gsd_entry *entry, int chunk, uint64_t n,
                             uint32_t m, io_scalar *type)
{
    static const io_scalar types[] = {{0}, /* by gsd_entry.type, which begins at 1; 11 is char */
                                      {'u', 1, false},
                                      {'u', 2, false},
                                      {'u', 4, false},
                                      {'u', 8, false},
                                      {'i', 1, false},
                                      {'i', 2, false},
                                      {'i', 4, false},
                                      {'i', 8, false},
                                      {'f', 4, false},
                                      {'f', 8, false},
                                      {'u', 1, false}};
    const uint64_t size = (uint64_t)frames->file->size;
    if (entry->type == 0 || entry->type >= sizeof types / sizeof *types || entry->n != n ||
        m == 0 || entry->m != m) {
        return io__file_fail(frames->file, IO_FORMAT,
                             "frame %lld: %s has shape (%llu, %u) and type %d; expected (%llu, %u)",
                             (long long)frames->next, names_of_chunks[chunk],
                             (unsigned long long)entry->n, entry->m, entry->type,
                             (unsigned long long)n, m);
    }
    *type = types[entry->type];
    const uint64_t at = (uint64_t)entry->location, row = (uint64_t)m * (uint64_t)type->size;
    if (at > size || n > (size - at) / row) {
        return io__file_fail(frames->file, IO_TRUNCATED, "ends within %s of frame %lld",
                             names_of_chunks[chunk], (long long)frames->next);
    }
    return IO_OK;
}

/* -------------------------------------------------------------------------------- frames, read */

static void close_frames(io_frames *frames)
{
    gsd_index *state = frames->state;
    free(state->entry);
    free(state->number);
}

/** Read m numbers, at most FEW, from a chunk of one row or one column. Numbers
 *  that were read last from this chunk are used again.
 *  @param[out] found  false: neither frame `next` nor frame 0 has the chunk */
static io_status read_numbers(io_frames *frames, int chunk, int m, double *out, bool *found)
{
    few_numbers *last = &((gsd_index *)frames->state)->few[chunk];
    const gsd_entry *entry = find_chunk(frames, chunk);
    io_scalar type = {0};
    *found = entry != NULL;
    if (!entry) {
        return IO_OK;
    }
    assert(m <= FEW);
    if (entry != last->entry) {
        const bool row = entry->n == 1;
        last->entry = NULL;
        IO_TRY(
            check_chunk(frames, entry, chunk, row ? 1 : (uint64_t)m, row ? (uint32_t)m : 1, &type));
        IO_TRY(
            io__numbers_read(frames->file, entry->location, type, m, last->number, 1, KITH_DOUBLE));
        last->entry = entry;
    }
    memcpy(out, last->number, (size_t)m * sizeof *out);
    return IO_OK;
}

/** Read the number of particles or bonds of frame `next`, or else of frame 0. */
static io_status read_count(io_frames *frames, int chunk, int64_t *n)
{
    double count = 0;
    bool found;
    IO_TRY(read_numbers(frames, chunk, 1, &count, &found));
    if (!(count >= 0 && count <= INT32_MAX)) {
        return io__file_fail(frames->file, IO_LIMIT,
                             "frame %lld: %s is %.0f; at most %d can be read",
                             (long long)frames->next, names_of_chunks[chunk], count, INT32_MAX);
    }
    *n = (int64_t)count;
    return IO_OK;
}

/** Find the chunk with m numbers for each of n particles or bonds, in frame `next`, or in frame 0
 *  if that has as many. @param[out] entry  NULL: there is none */
static io_status find_rows(io_frames *frames, int chunk, int64_t n, uint32_t m,
                           const gsd_entry **entry, io_scalar *type)
{
    const int64_t next = frames->next;
    int64_t first = n;
    *entry = find_in_frame(frames->state, (uint64_t)next, chunk);
    if (!*entry && next > 0) {
        frames->next = 0; /* for read_count, restored below */
        const io_status status = read_count(
            frames, chunk == CHUNK_GROUP ? CHUNK_BONDS : CHUNK_COUNT, &first);
        frames->next = next;
        *entry = first == n ? find_in_frame(frames->state, 0, chunk) : NULL;
        IO_TRY(status);
    }
    if (!*entry) {
        return IO_OK;
    }
    return check_chunk(frames, *entry, chunk, (uint64_t)n, m, type);
}

/** Read a chunk [n][3] of reals into a field; zeros if there is none. */
static io_status read_vectors(io_frames *frames, int chunk, unsigned field, io_frame *out)
{
    io_particles *particles = &out->particles;
    const gsd_entry *entry;
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

/** Read a chunk of 4-byte integers. */
static io_status read_words(io_frames *frames, const gsd_entry *entry, int chunk, io_scalar type,
                            int32_t *out)
{
    if (type.size != 4 || type.kind == 'f') {
        return io__file_fail(frames->file, IO_FORMAT, "frame %lld: %s has type %c%d; expected u4",
                             (long long)frames->next, names_of_chunks[chunk], type.kind, type.size);
    }
    return io__file_read(frames->file, out, (int64_t)entry->n * entry->m * 4, entry->location);
}

/** Set the species of each type from a chunk of names, which have a fixed width.
 *  @param entry  NULL: the default, one type "A" */
static io_status number_types(io_frames *frames, const gsd_entry *entry)
{
    gsd_index *state = frames->state;
    const uint64_t types = entry ? entry->n : 1;
    const size_t width = entry ? entry->m : 1;
    io_scalar type = {0};
    if (entry) {
        IO_TRY(check_chunk(frames, entry, CHUNK_TYPES, entry->n, entry->m, &type));
        if (type.size != 1 || types > IO_MOST_LABELS) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "has %llu types of particles, with names in letters of %d bytes; "
                                 "expected at most %d types, and letters of 1 byte",
                                 (unsigned long long)types, type.size, IO_MOST_LABELS);
        }
    }
    free(state->number);
    state->number = malloc((size_t)(types + 1) * sizeof *state->number);
    if (!state->number) {
        return io__file_fail(frames->file, IO_NO_MEMORY, "no memory for names of types");
    }
    io_status status = IO_OK;
    char *names = entry ? read_block(frames->file, "names of types", (uint64_t)entry->location,
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

/** Set the species of the particles; without a chunk of type ids, all are of type 0. */
static io_status read_species(io_frames *frames, io_frame *out)
{
    gsd_index *state = frames->state;
    const int64_t n = out->particles.n;
    const gsd_entry *types = find_chunk(frames, CHUNK_TYPES), *entry;
    io_scalar type = {0};
    if (!state->named || types != state->typed) {
        IO_TRY(number_types(frames, types));
    }
    IO_TRY(find_rows(frames, CHUNK_TYPEID, n, 1, &entry, &type));
    if (entry) {
        IO_TRY(read_words(frames, entry, CHUNK_TYPEID, type, out->species));
    }
    for (int64_t p = 0; p < n; p++) {
        const int64_t id = entry ? out->species[p] : 0;
        if (id < 0 || id >= state->types) {
            return io__file_fail(
                frames->file, IO_FORMAT,
                "frame %lld: particle %lld is of type %lld; the file has %lld types, "
                "numbered from 0",
                (long long)frames->next, (long long)p, (long long)id, (long long)state->types);
        }
        out->species[p] = state->number[id];
    }
    return IO_OK;
}

/** Read the bonds, if they are wanted. IO_FORMAT: a bond names a particle that does not exist. */
static io_status read_bonds(io_frames *frames, io_frame *out)
{
    int64_t n = 0;
    const gsd_entry *entry;
    io_scalar type = {0};
    if (!(out->fields & IO_BONDS)) {
        return IO_OK;
    }
    IO_TRY(read_count(frames, CHUNK_BONDS, &n));
    IO_TRY(find_rows(frames, CHUNK_GROUP, n, 2, &entry, &type));
    if (!entry) {
        return IO_OK;
    }
    IO_TRY(io__frame_alloc_bonds(frames, out, n));
    IO_TRY(read_words(frames, entry, CHUNK_GROUP, type, out->bond));
    for (int64_t k = 0; k < 2 * n; k++) {
        if (out->bond[k] < 0 || out->bond[k] >= out->particles.n) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "frame %lld: a bond names particle %lld, but there are %lld "
                                 "particles, numbered from 0",
                                 (long long)frames->next, (long long)out->bond[k],
                                 (long long)out->particles.n);
        }
    }
    return IO_OK;
}

/** The chunk that options->weights names; -1: GSD has none of that name. */
static int weights_chunk(const io_frames *frames)
{
    const char *wanted = frames->options->weights;
    for (int chunk = CHUNK_MASS; wanted && chunk <= CHUNK_DIAMETER; chunk++) {
        if (strcmp(names_of_chunks[chunk] + strlen("particles/"), wanted) == 0) {
            return chunk;
        }
    }
    return -1;
}

/** Read the weights, if they are wanted. @param chunk  of weights_chunk */
static io_status read_weights(io_frames *frames, int chunk, io_frame *out)
{
    const gsd_entry *entry;
    io_scalar type = {0};
    if (!out->weight || chunk < 0) {
        return IO_OK;
    }
    IO_TRY(find_rows(frames, chunk, out->particles.n, 1, &entry, &type));
    if (!entry) {
        return io__file_fail(frames->file, IO_MISSING,
                             "frame %lld: has no %s of its own, and frame 0 has another number of "
                             "particles",
                             (long long)frames->next, names_of_chunks[chunk]);
    }
    return io__numbers_read(frames->file, entry->location, type, out->particles.n, out->weight, 1,
                            KITH_DOUBLE);
}

/** Read the obstacles and attractors of a flock; their places are relative to the middle of the
 *  box, as positions are. */
static io_status read_things(io_frames *frames, io_things *out)
{
    const gsd_entry *entry = find_chunk(frames, CHUNK_THINGS);
    double number[KITH_MOST_THINGS][IO_THING_NUMBERS];
    io_scalar type = {0};
    if (!entry) {
        return IO_OK;
    }
    /* A chunk of more things fails in check_chunk, because its n differs. */
    const uint64_t n = entry->n < KITH_MOST_THINGS ? entry->n : KITH_MOST_THINGS;
    IO_TRY(check_chunk(frames, entry, CHUNK_THINGS, n, IO_THING_NUMBERS, &type));
    IO_TRY(io__numbers_read(frames->file, entry->location, type, (int64_t)n * IO_THING_NUMBERS,
                            number, 1, KITH_DOUBLE));
    for (uint64_t k = 0; k < n && number[0][0] != NO_THING; k++) {
        if (!io__thing_add(out, number[k])) {
            return io__file_fail(frames->file, IO_FORMAT,
                                 "frame %lld: row %llu of log/things is no obstacle or attractor",
                                 (long long)frames->next, (unsigned long long)k);
        }
    }
    return IO_OK;
}

/** Read the box (Lx, Ly, Lz, xy, xz, yz). It is centred on the origin; tilts are fractions of Ly
 *  and Lz. */
static io_status read_box(io_frames *frames, io_frame *out)
{
    io_particles *particles = &out->particles;
    double l[6], dimensions = 3;
    bool found;
    IO_TRY(read_numbers(frames, CHUNK_DIMENSIONS, 1, &dimensions, &found));
    IO_TRY(read_numbers(frames, CHUNK_BOX, 6, l, &particles->has_box));
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

/** The `read` of io_frames_format: any frame can be read, as the index is in memory. */
static io_status read_frame(io_frames *frames, io_frame *out)
{
    int64_t n = 0;
    double step = 0;
    bool found;
    const gsd_entry *position;
    io_scalar type = {0};
    if (frames->options->boxes_only) {
        IO_TRY(io__frame_alloc(frames, out, 0, KITH_FLOAT, 0));
        return read_box(frames, out);
    }
    IO_TRY(read_count(frames, CHUNK_COUNT, &n));
    IO_TRY(find_rows(frames, CHUNK_POSITION, n, 3, &position, &type));
    if (n > 0 && !position) {
        return io__file_fail(frames->file, IO_FORMAT,
                             "frame %lld: %lld particles, but no positions",
                             (long long)frames->next, (long long)n);
    }
    const bool wide = type.size == 8;
    const int weights = weights_chunk(frames);
    IO_TRY(io__frame_alloc(frames, out, n, wide ? KITH_DOUBLE : KITH_FLOAT,
                           (find_chunk(frames, CHUNK_VELOCITY) ? IO_VELOCITIES : 0u) |
                               (find_chunk(frames, CHUNK_GROUP) ? IO_BONDS : 0u) |
                               (weights >= 0 && find_chunk(frames, weights) ? IO_WEIGHTS : 0u)));
    IO_TRY(read_numbers(frames, CHUNK_STEP, 1, &step, &found));
    if (!(fabs(step) < 0x1p53)) {
        return io__file_fail(frames->file, IO_FORMAT,
                             "frame %lld: configuration/step is %g; expected less than 2^53",
                             (long long)frames->next, step);
    }
    out->has_step = true;
    out->step = (int64_t)step;
    IO_TRY(read_vectors(frames, CHUNK_POSITION, IO_POSITIONS, out));
    if (out->particles.velocity) {
        IO_TRY(read_vectors(frames, CHUNK_VELOCITY, IO_VELOCITIES, out));
    }
    IO_TRY(read_weights(frames, weights, out));
    IO_TRY(read_box(frames, out));
    IO_TRY(read_things(frames, &out->things));
    IO_TRY(read_species(frames, out));
    return read_bonds(frames, out);
}

const io_frames_format io__frames_gsd = {
    .state = sizeof(gsd_index), .open = open_frames, .read = read_frame, .close = close_frames};

/* ----------------------------------------------------------------------------- frames, written */

enum {
    GSD_FLOAT = 9, /* this and the next four: values of gsd_entry.type */
    GSD_DOUBLE = 10,
    GSD_U8 = 1,
    GSD_U32 = 3,
    GSD_U64 = 4,
    FIRST_ROOM = 128, /* entries of the first index */
    NAMES = 3         /* size of the list of names [64 bytes] */
};

/* The chunks that are written. Entries of a frame are sorted by id, the index in this array. */
static const int written_chunks[] = {CHUNK_STEP,   CHUNK_DIMENSIONS, CHUNK_BOX,
                                     CHUNK_COUNT,  CHUNK_POSITION,   CHUNK_VELOCITY,
                                     CHUNK_THINGS, CHUNK_TYPES,      CHUNK_TYPEID};
enum { WRITTEN = sizeof written_chunks / sizeof *written_chunks, ENTRY = sizeof(gsd_entry) };

/** The entries of one frame, before they are written to the index. */
typedef struct batch {
    gsd_entry entry[WRITTEN]; /* the entries, sorted by id */
    int n;                    /* number of entries */
} batch;

/** Offset of the byte that is written next, those in the buffer counted. */
static int64_t end_of(const io_output *output)
{
    return output->written + output->used;
}

/** Make the header of a file whose index is at gsd->index. */
static gsd_header header_of(const io_gsd_writer *gsd)
{
    enum { HOOMD_1_4 = 1 << 16 | 4, GSD_2_0 = 2 << 16 };
    return (gsd_header){.magic = 0x65DF65DF65DF65DF,
                        .index = (uint64_t)gsd->index,
                        .entries = (uint64_t)gsd->room,
                        .names = sizeof(gsd_header),
                        .name_blocks = NAMES,
                        .schema_version = HOOMD_1_4,
                        .version = GSD_2_0,
                        .application = "kith",
                        .schema = "hoomd"};
}

/** List the names of the chunks that are written. */
static void list_names(char names[NAMES * 64])
{
    size_t at = 0;
    memset(names, 0, NAMES * 64);
    for (int k = 0; k < WRITTEN; k++) {
        const size_t length = strlen(names_of_chunks[written_chunks[k]]) + 1;
        assert(at + length <= NAMES * 64);
        memcpy(names + at, names_of_chunks[written_chunks[k]], length);
        at += length;
    }
}

io_status io__gsd_begin(io_output *output, io_gsd_writer *gsd)
{
    char names[NAMES * 64];
    list_names(names);
    const gsd_entry none[FIRST_ROOM] = {{0}};
    *gsd = (io_gsd_writer){.index = (int64_t)(sizeof(gsd_header) + sizeof names),
                           .room = FIRST_ROOM};
    const gsd_header header = header_of(gsd);
    IO_TRY(io__output_write(output, &header, sizeof header));
    IO_TRY(io__output_write(output, names, sizeof names));
    IO_TRY(io__output_write(output, none, sizeof none));
    return io__output_flush(output);
}

/** Read the index into an array of twice its size; the second half is zeros, unused entries.
 *  @return the array, to be freed; NULL on failure, with *status set */
static gsd_entry *load_index(io_output *output, const io_gsd_writer *gsd, io_status *status)
{
    const size_t bytes = (size_t)gsd->room * ENTRY;
    gsd_entry *entry = calloc(2, bytes);
    *status = IO_OK;
    if (!entry) {
        *status = io__output_fail(output, IO_NO_MEMORY, "no memory for its index");
    } else if (io__get(output->fd, entry, (int64_t)bytes, gsd->index) != (int64_t)bytes) {
        *status = io__output_fail(output, IO_TRUNCATED, "ends within its index");
        free(entry);
        entry = NULL;
    }
    return entry;
}

io_status io__gsd_resume(io_output *output, const io_mark *mark, io_gsd_writer *gsd)
{
    *gsd = (io_gsd_writer){.index = mark->index,
                           .room = mark->room,
                           .frame_begin = mark->tail_at,
                           .frame_end = mark->tail_at + mark->tail_bytes};
    if (mark->room < FIRST_ROOM || mark->room > mark->bytes / ENTRY) {
        return io__output_fail(output, IO_FORMAT, "is not the GSD file that was written before");
    }
    io_status status;
    gsd_entry *entry = load_index(output, gsd, &status);
    if (!entry) {
        return status;
    }
    /* Entries of chunks behind the mark, which were truncated, are not kept. */
    while (gsd->used < gsd->room && entry[gsd->used].location > 0 &&
           entry[gsd->used].location < mark->bytes) {
        const gsd_entry *e = &entry[gsd->used++];
        gsd->things |= e->frame == 0 && e->id < WRITTEN && written_chunks[e->id] == CHUNK_THINGS;
    }
    gsd->frame = gsd->used > 0 ? entry[gsd->used - 1].frame + 1 : 0;
    memset(entry + gsd->used, 0, (size_t)(gsd->room - gsd->used) * ENTRY);
    const gsd_header header = header_of(gsd);
    char names[NAMES * 64]; /* a file of an earlier version lacks the last one */
    list_names(names);
    status = io__output_patch(output, gsd->index, entry, gsd->room * ENTRY);
    free(entry);
    IO_TRY(status);
    status = io__output_patch(output, (int64_t)sizeof header, names, sizeof names);
    return status == IO_OK ? io__output_patch(output, 0, &header, sizeof header) : status;
}

/** Add to a batch the entry of a chunk of n rows of m numbers, which the caller writes next.
 *  @param type  GSD_FLOAT, ... */
static void note_chunk(const io_output *output, const io_gsd_writer *gsd, batch *frame, int chunk,
                       int type, uint64_t n, uint32_t m)
{
    int id = 0;
    while (written_chunks[id] != chunk) {
        id++;
    }
    assert(frame->n < WRITTEN);
    frame->entry[frame->n++] = (gsd_entry){.frame = gsd->frame,
                                           .n = n,
                                           .location = end_of(output),
                                           .m = m,
                                           .id = (uint16_t)id,
                                           .type = (uint8_t)type};
}

/** Append vectors, relative to `middle`, as floats. */
static io_status put_vectors(io_output *output, const io_particles *particles, const void *vectors,
                             const double middle[3])
{
    for (int64_t p = 0; p < particles->n; p++) {
        float row[3];
        for (int k = 0; k < 3; k++) {
            row[k] = (float)(io_real(vectors, 3 * p + k, particles->precision) - middle[k]);
        }
        IO_TRY(io__output_write(output, row, sizeof row));
    }
    return IO_OK;
}

/** Append the chunks that frame 0 alone has: dimensions, box and number of particles. */
static io_status put_first(io_output *output, const io_gsd_writer *gsd,
                           const io_particles *particles, batch *frame)
{
    const double(*row)[3] = particles->box.row;
    const bool flat = particles->dim == 2;
    const uint8_t dimensions = flat ? 2 : 3;
    const uint32_t n = (uint32_t)particles->n;
    const float box[6] = {(float)row[0][0],
                          (float)row[1][1],
                          flat ? 0 : (float)row[2][2],
                          (float)(row[1][0] / row[1][1]),
                          flat ? 0 : (float)(row[2][0] / row[2][2]),
                          flat ? 0 : (float)(row[2][1] / row[2][2])};
    note_chunk(output, gsd, frame, CHUNK_DIMENSIONS, GSD_U8, 1, 1);
    IO_TRY(io__output_write(output, &dimensions, sizeof dimensions));
    note_chunk(output, gsd, frame, CHUNK_BOX, GSD_FLOAT, 6, 1);
    IO_TRY(io__output_write(output, box, sizeof box));
    note_chunk(output, gsd, frame, CHUNK_COUNT, GSD_U32, 1, 1);
    return io__output_write(output, &n, sizeof n);
}

/** Append the things, relative to `middle`; a frame without any replaces those of frame 0. */
static io_status put_things(io_output *output, io_gsd_writer *gsd, const io_things *things,
                            const double middle[3], batch *frame)
{
    double number[IO_THING_NUMBERS] = {NO_THING};
    if (things->n == 0 && !gsd->things) {
        return IO_OK;
    }
    gsd->things |= gsd->frame == 0;
    note_chunk(output, gsd, frame, CHUNK_THINGS, GSD_DOUBLE,
               things->n > 0 ? (uint64_t)things->n : 1, IO_THING_NUMBERS);
    for (int64_t k = 0; k < things->n; k++) {
        io_thing_numbers(&things->item[k], number);
        for (int axis = 0; axis < 3; axis++) {
            number[1 + axis] -= middle[axis];
        }
        IO_TRY(io__output_write(output, number, sizeof number));
    }
    return things->n > 0 ? IO_OK : io__output_write(output, number, sizeof number);
}

/** Append the names of the species, "A", "B" and so on, and the species of each particle. */
static io_status put_species(io_output *output, const io_gsd_writer *gsd,
                             const io_particles *particles, batch *frame)
{
    char names[256];
    int most = 0;
    for (int64_t p = 0; p < particles->n; p++) {
        most = particles->type[p] > most ? particles->type[p] : most;
    }
    for (int k = 0; k <= most; k++) {
        names[k] = io__species_letter((uint8_t)k);
    }
    note_chunk(output, gsd, frame, CHUNK_TYPES, GSD_U8, (uint64_t)most + 1, 1);
    IO_TRY(io__output_write(output, names, most + 1));
    note_chunk(output, gsd, frame, CHUNK_TYPEID, GSD_U32, (uint64_t)particles->n, 1);
    for (int64_t p = 0; p < particles->n; p++) {
        const uint32_t id = particles->type[p];
        IO_TRY(io__output_write(output, &id, sizeof id));
    }
    return IO_OK;
}

/** Return IO_INVALID if the format cannot hold the box: its rows must be a lower triangle. */
static io_status check_box(io_output *output, const io_particles *particles)
{
    const double(*row)[3] = particles->box.row;
    bool fits = particles->has_box;
    for (int k = 0; k < particles->dim && fits; k++) {
        fits = row[k][k] > 0;
        for (int m = k + 1; m < particles->dim; m++) {
            fits = fits && row[k][m] == 0;
        }
    }
    return fits
               ? IO_OK
               : io__output_fail(output, IO_INVALID,
                                 "GSD needs a box with rows (lx, 0, 0), (xy, ly, 0), (xz, yz, lz); "
                                 "give one, or write .xyz");
}

/** Write the entries of a frame to the index. A full index is first moved behind the frames, with
 *  twice the room. */
static io_status put_entries(io_output *output, io_gsd_writer *gsd, const batch *frame)
{
    IO_TRY(io__output_flush(output));
    if (gsd->used + frame->n > gsd->room) {
        io_status status;
        gsd_entry *entry = load_index(output, gsd, &status);
        if (!entry) {
            return status;
        }
        gsd->index = end_of(output);
        gsd->room *= 2;
        status = io__output_write(output, entry, gsd->room * ENTRY);
        free(entry);
        const gsd_header header = header_of(gsd);
        IO_TRY(status);
        IO_TRY(io__output_patch(output, 0, &header, sizeof header));
    }
    IO_TRY(io__output_patch(output, gsd->index + gsd->used * ENTRY, frame->entry,
                            (int64_t)frame->n * ENTRY));
    gsd->used += frame->n;
    assert(gsd->used <= gsd->room);
    gsd->frame++;
    return IO_OK;
}

io_status io__gsd_frame(io_output *output, io_gsd_writer *gsd, const io_particles *particles,
                        const io_things *things, int64_t step)
{
    static const double nowhere[3]; /* zeros: velocities are not relative to the middle */
    const uint64_t at = (uint64_t)step;
    const uint64_t n = (uint64_t)particles->n;
    batch frame = {.n = 0};
    double middle[3] = {0, 0, 0};
    IO_TRY(check_box(output, particles));
    const int64_t begin = end_of(output);
    for (int k = 0; k < particles->dim; k++) {
        middle[k] = particles->box.origin[k];
        for (int row = 0; row < particles->dim; row++) {
            middle[k] += particles->box.row[row][k] / 2;
        }
    }
    note_chunk(output, gsd, &frame, CHUNK_STEP, GSD_U64, 1, 1);
    IO_TRY(io__output_write(output, &at, sizeof at));
    if (gsd->frame == 0) {
        IO_TRY(put_first(output, gsd, particles, &frame));
    }
    note_chunk(output, gsd, &frame, CHUNK_POSITION, GSD_FLOAT, n, 3);
    IO_TRY(put_vectors(output, particles, particles->pos, middle));
    if (particles->velocity) {
        note_chunk(output, gsd, &frame, CHUNK_VELOCITY, GSD_FLOAT, n, 3);
        IO_TRY(put_vectors(output, particles, particles->velocity, nowhere));
    }
    IO_TRY(put_things(output, gsd, things, middle, &frame));
    if (gsd->frame == 0 && particles->type) {
        IO_TRY(put_species(output, gsd, particles, &frame));
    }
    gsd->frame_begin = begin;
    gsd->frame_end = end_of(output);
    return put_entries(output, gsd, &frame);
}
