/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GSD files that grow frame by frame: the writer of gsd.c, which defines chunk, entry and index.
 */
#ifndef KITH_IO_GSD_H
#define KITH_IO_GSD_H

#include "core/io_internal.h"
#include "recording.h"

/** State of a GSD file that frames are appended to. */
typedef struct io_gsd_writer {
    int64_t index;       /* offset of the index [byte] */
    int64_t room;        /* entries that the index has room for */
    int64_t used;        /* entries of the index that are used */
    uint64_t frame;      /* number of the frame to be written next */
    int64_t frame_begin; /* offset of the chunks of the last frame [byte] */
    bool things;         /* frame 0 has obstacles or attractors, which later frames must replace */
    int64_t frame_end;   /* offset of the end of the chunks of the last frame [byte]; the bytes from
                            frame_begin to frame_end do not change any more */
} io_gsd_writer;

/** Write header, names and an empty index. */
io_status io__gsd_begin(io_output *output, io_gsd_writer *gsd);

/** Continue a file from a mark; the output was opened to append there. IO_FORMAT: the file is
 *  another one. */
io_status io__gsd_resume(io_output *output, const io_mark *mark, io_gsd_writer *gsd);

/** Append a frame: box, positions and, if the particles have them, velocities, as floats; things as
 *  doubles; in the first frame their types, if they have any, as species. The number of particles,
 *  the box and the dimension must be those of the first frame. */
io_status io__gsd_frame(io_output *output, io_gsd_writer *gsd, const io_particles *particles,
                        const io_things *things, int64_t step);

#endif
