/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames appended to a GSD file of version 2.0. What does not change is written with frame 0 alone:
 * readers take from there what a frame lacks. The index has room for more entries; where that ends,
 * a larger one is written behind the frames, and the header then points to it. At any moment the
 * file is whole: chunks come first, then their entries, then the header.
 */
#include "gsd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GSD_FLOAT = 9, GSD_U8 = 1, GSD_U32 = 3, GSD_U64 = 4, FIRST_ROOM = 128, NAMES = 2 };

/* Entries of a frame are sorted by id: these, in this order. */
static const int chunks[] = {IO_GSD_STEP,  IO_GSD_DIMENSIONS, IO_GSD_BOX,
                             IO_GSD_COUNT, IO_GSD_POSITION,   IO_GSD_VELOCITY};
enum { CHUNKS = sizeof chunks / sizeof *chunks, ENTRY = sizeof(io_gsd_entry) };

/** Entries of one frame, on their way to the index. */
typedef struct batch {
    io_gsd_entry entry[CHUNKS];
    int n;
} batch;

static int64_t end_of(const io_output *output)
{
    return output->written + output->used;
}

static io_gsd_header header_of(const io_gsd_writer *gsd)
{
    enum { HOOMD_1_4 = 1 << 16 | 4, GSD_2_0 = 2 << 16 };
    return (io_gsd_header){.magic = 0x65DF65DF65DF65DF,
                           .index = (uint64_t)gsd->index,
                           .entries = (uint64_t)gsd->room,
                           .names = sizeof(io_gsd_header),
                           .name_blocks = NAMES,
                           .schema_version = HOOMD_1_4,
                           .version = GSD_2_0,
                           .application = "kith",
                           .schema = "hoomd"};
}

io_status io__gsd_begin(io_output *output, io_gsd_writer *gsd)
{
    char names[NAMES * 64] = {0};
    size_t at = 0;
    for (int k = 0; k < CHUNKS; k++) {
        const size_t length = strlen(io__gsd_names[chunks[k]]) + 1;
        memcpy(names + at, io__gsd_names[chunks[k]], length);
        at += length;
    }
    const io_gsd_entry none[FIRST_ROOM] = {{0}};
    *gsd = (io_gsd_writer){.index = (int64_t)(sizeof(io_gsd_header) + sizeof names),
                           .room = FIRST_ROOM};
    const io_gsd_header header = header_of(gsd);
    IO_TRY(io__output_write(output, &header, sizeof header));
    IO_TRY(io__output_write(output, names, sizeof names));
    IO_TRY(io__output_write(output, none, sizeof none));
    return io__output_flush(output);
}

/** Read the index. @return it, to be freed, with room for as many again; NULL when *status says why
 *  not. */
static io_gsd_entry *read_index(io_output *output, const io_gsd_writer *gsd, io_status *status)
{
    const size_t bytes = (size_t)gsd->room * ENTRY;
    io_gsd_entry *entry = calloc(2, bytes);
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
    io_gsd_entry *entry = read_index(output, gsd, &status);
    if (!entry) {
        return status;
    }
    while (gsd->used < gsd->room && entry[gsd->used].location > 0 &&
           entry[gsd->used].location < mark->bytes) {
        gsd->used++;
    }
    gsd->frame = gsd->used > 0 ? entry[gsd->used - 1].frame + 1 : 0;
    memset(entry + gsd->used, 0, (size_t)(gsd->room - gsd->used) * ENTRY);
    const io_gsd_header header = header_of(gsd);
    status = io__output_patch(output, gsd->index, entry, gsd->room * ENTRY);
    free(entry);
    return status == IO_OK ? io__output_patch(output, 0, &header, sizeof header) : status;
}

/** Note that a chunk of n rows of m numbers comes next. */
static void note_chunk(const io_output *output, const io_gsd_writer *gsd, batch *frame, int chunk,
                       int type, uint64_t n, uint32_t m)
{
    int id = 0;
    while (chunks[id] != chunk) {
        id++;
    }
    frame->entry[frame->n++] = (io_gsd_entry){.frame = gsd->frame,
                                              .n = n,
                                              .location = end_of(output),
                                              .m = m,
                                              .id = (uint16_t)id,
                                              .type = (uint8_t)type};
}

/** Append vectors less `middle`, as floats. */
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

/** What frame 0 has beside the others. */
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
    note_chunk(output, gsd, frame, IO_GSD_DIMENSIONS, GSD_U8, 1, 1);
    IO_TRY(io__output_write(output, &dimensions, sizeof dimensions));
    note_chunk(output, gsd, frame, IO_GSD_BOX, GSD_FLOAT, 6, 1);
    IO_TRY(io__output_write(output, box, sizeof box));
    note_chunk(output, gsd, frame, IO_GSD_COUNT, GSD_U32, 1, 1);
    return io__output_write(output, &n, sizeof n);
}

/** See that the box is one that the format can say: upright, or with rows as HOOMD's. */
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

/** Add the frame's entries to the index, after moving it where it has no room. */
static io_status put_entries(io_output *output, io_gsd_writer *gsd, const batch *frame)
{
    IO_TRY(io__output_flush(output));
    if (gsd->used + frame->n > gsd->room) {
        io_status status;
        io_gsd_entry *entry = read_index(output, gsd, &status);
        if (!entry) {
            return status;
        }
        gsd->index = end_of(output);
        gsd->room *= 2;
        status = io__output_write(output, entry, gsd->room * ENTRY);
        free(entry);
        const io_gsd_header header = header_of(gsd);
        IO_TRY(status);
        IO_TRY(io__output_patch(output, 0, &header, sizeof header));
    }
    IO_TRY(io__output_patch(output, gsd->index + gsd->used * ENTRY, frame->entry,
                            (int64_t)frame->n * ENTRY));
    gsd->used += frame->n;
    gsd->frame++;
    return IO_OK;
}

io_status io__gsd_frame(io_output *output, io_gsd_writer *gsd, const io_particles *particles,
                        int64_t step)
{
    static const double nowhere[3];
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
    note_chunk(output, gsd, &frame, IO_GSD_STEP, GSD_U64, 1, 1);
    IO_TRY(io__output_write(output, &at, sizeof at));
    if (gsd->frame == 0) {
        IO_TRY(put_first(output, gsd, particles, &frame));
    }
    note_chunk(output, gsd, &frame, IO_GSD_POSITION, GSD_FLOAT, n, 3);
    IO_TRY(put_vectors(output, particles, particles->pos, middle));
    if (particles->velocity) {
        note_chunk(output, gsd, &frame, IO_GSD_VELOCITY, GSD_FLOAT, n, 3);
        IO_TRY(put_vectors(output, particles, particles->velocity, nowhere));
    }
    gsd->frame_begin = begin;
    gsd->frame_end = end_of(output);
    return put_entries(output, gsd, &frame);
}
