/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is in a GSD file, and where.
 */
#ifndef KITH_IO_GSD_H
#define KITH_IO_GSD_H

#include "frames.h"
#include "recording.h"

/** How a file begins. */
typedef struct io_gsd_header {
    uint64_t magic, index, entries, names, name_blocks;
    uint32_t schema_version, version;
    char application[64], schema[64], reserved[80];
} io_gsd_header;

/** A chunk: n rows of m numbers. */
typedef struct io_gsd_entry {
    uint64_t frame, n;
    int64_t location;
    uint32_t m;
    uint16_t id;
    uint8_t type, flags;
} io_gsd_entry;

enum {
    IO_GSD_STEP,
    IO_GSD_DIMENSIONS,
    IO_GSD_BOX,
    IO_GSD_COUNT,
    IO_GSD_TYPES,
    IO_GSD_TYPEID,
    IO_GSD_POSITION,
    IO_GSD_VELOCITY,
    IO_GSD_BONDS,
    IO_GSD_GROUP,
    IO_GSD_MASS,
    IO_GSD_CHARGE,
    IO_GSD_DIAMETER,
    IO_GSD_CHUNKS
};

extern const char *const io__gsd_names[IO_GSD_CHUNKS];

typedef struct io_gsd {
    io_gsd_entry *entry; /* sorted by frame */
    int64_t entries;
    int id[IO_GSD_CHUNKS];     /* -1: no frame has it */
    bool named;                /* the three below are known */
    const io_gsd_entry *typed; /* the chunk with the names of types; NULL: the default */
    int32_t *number;           /* of each type, the species */
    int64_t types;
} io_gsd;

/** Open a file: read its index. */
io_status io__gsd_open(io_frames *frames);

/** A frame's chunk; NULL when it has none. */
const io_gsd_entry *io__gsd_find_in(const io_gsd *gsd, uint64_t frame, int chunk);

/** The chunk of frame `next`, or of frame 0 when it has none; NULL when neither has. */
const io_gsd_entry *io__gsd_find(const io_frames *frames, int chunk);

/** Tell the type of a chunk's numbers, after seeing that it has this shape and lies in the file. */
io_status io__gsd_check(io_frames *frames, const io_gsd_entry *entry, int chunk, uint64_t n,
                        uint32_t m, io_scalar *type);

/** Read a block of the file after seeing that it lies in it. @return the block, to be freed; NULL
 *  when *status says why not. */
void *io__gsd_block(io_file *file, const char *what, uint64_t at, uint64_t n, uint64_t size,
                    io_status *status);

/** A file that grows frame by frame. */
typedef struct io_gsd_writer {
    int64_t index, room, used;      /* where the index is, its entries, those that are taken */
    uint64_t frame;                 /* to be written next */
    int64_t frame_begin, frame_end; /* bytes of the last frame, which do not change any more */
} io_gsd_writer;

/** Begin an empty file. */
io_status io__gsd_begin(io_output *output, io_gsd_writer *gsd);

/** Go on behind what the file, opened to append there, held at the mark. */
io_status io__gsd_resume(io_output *output, const io_mark *mark, io_gsd_writer *gsd);

/** Append a frame: box, positions and, where there are any, velocities, all in float. The number of
 *  particles, the box and the dimension are those of the first frame. */
io_status io__gsd_frame(io_output *output, io_gsd_writer *gsd, const io_particles *particles,
                        int64_t step);

#endif
