/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GSD files that grow frame by frame.
 */
#ifndef KITH_IO_GSD_H
#define KITH_IO_GSD_H

#include "core/io_internal.h"
#include "recording.h"

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
