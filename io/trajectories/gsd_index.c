/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GSD files: a header, a list of names, and an index of named chunks that is sorted by frame.
 * https://gsd.readthedocs.io/en/stable/file-layer.html
 */
#include "gsd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(io_gsd_header) == 256 && sizeof(io_gsd_entry) == 32,
               "as they are in the file");

const char *const io__gsd_names[IO_GSD_CHUNKS] = {
    "configuration/step", "configuration/dimensions", "configuration/box",
    "particles/N",        "particles/types",          "particles/typeid",
    "particles/position", "particles/velocity",       "bonds/N",
    "bonds/group",        "particles/mass",           "particles/charge",
    "particles/diameter"};

void *io__gsd_block(io_file *file, const char *what, uint64_t at, uint64_t n, uint64_t size,
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

/** Number the chunks that are wanted: names lie packed, or before version 2 in blocks. */
static void find_names(io_gsd *state, const char *names, size_t size, bool packed)
{
    enum { BLOCK = 64 };
    for (int chunk = 0; chunk < IO_GSD_CHUNKS; chunk++) {
        state->id[chunk] = -1;
    }
    size_t at = 0;
    for (int id = 0; at < size && names[at] && id <= UINT16_MAX; id++) {
        const size_t length = strnlen(names + at, packed ? size - at : BLOCK);
        for (int chunk = 0; chunk < IO_GSD_CHUNKS; chunk++) {
            if (strlen(io__gsd_names[chunk]) == length &&
                memcmp(io__gsd_names[chunk], names + at, length) == 0) {
                state->id[chunk] = id;
            }
        }
        at += packed ? length + 1 : BLOCK;
    }
}

static io_status read_index(io_frames *frames, const io_gsd_header *header)
{
    io_gsd *state = frames->state;
    io_status status;
    void *names = io__gsd_block(frames->file, "list of names", header->names, header->name_blocks,
                                64, &status);
    if (!names) {
        return status;
    }
    find_names(state, names, (size_t)header->name_blocks * 64, header->version >> 16 >= 2);
    free(names);
    state->entry = io__gsd_block(frames->file, "index", header->index, header->entries,
                                 sizeof(io_gsd_entry), &status);
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

io_status io__gsd_open(io_frames *frames)
{
    io_file *file = frames->file;
    io_gsd_header header;
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

const io_gsd_entry *io__gsd_find_in(const io_gsd *gsd, uint64_t frame, int chunk)
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

const io_gsd_entry *io__gsd_find(const io_frames *frames, int chunk)
{
    const io_gsd_entry *entry = io__gsd_find_in(frames->state, (uint64_t)frames->next, chunk);
    return entry ? entry : io__gsd_find_in(frames->state, 0, chunk);
}

io_status io__gsd_check(io_frames *frames, const io_gsd_entry *entry, int chunk, uint64_t n,
                        uint32_t m, io_scalar *type)
{
    static const io_scalar types[] = {{0},
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
                             (long long)frames->next, io__gsd_names[chunk],
                             (unsigned long long)entry->n, entry->m, entry->type,
                             (unsigned long long)n, m);
    }
    *type = types[entry->type];
    const uint64_t at = (uint64_t)entry->location, row = (uint64_t)m * (uint64_t)type->size;
    if (at > size || n > (size - at) / row) {
        return io__file_fail(frames->file, IO_TRUNCATED, "ends within %s of frame %lld",
                             io__gsd_names[chunk], (long long)frames->next);
    }
    return IO_OK;
}
