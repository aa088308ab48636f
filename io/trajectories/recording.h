/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that grow while a simulation runs: trajectories in GSD or extended XYZ, and lines of text.
 * A file is written in place. A frame or line that was written survives if the process is killed. A
 * run that continues from an earlier point truncates the file there.
 */
#ifndef KITH_IO_RECORDING_H
#define KITH_IO_RECORDING_H

#include "io.h"
#include "things.h"

/** A file that frames or lines are appended to. */
typedef struct io_recording io_recording;

/** A point of a recording from which another run can continue. Zeros: its beginning. */
typedef struct io_mark {
    int64_t bytes;      /**< Size of the file at this point [byte]. */
    int64_t index;      /**< Offset of the index of a GSD file [byte]. */
    int64_t room;       /**< Entries that the index of a GSD file has room for. */
    int64_t tail_at;    /**< Offset of the tail: the end of the last frame or line [byte]. */
    int64_t tail_bytes; /**< Size of the tail, at most IO_TAIL [byte]. */
    uint64_t tail_sum;  /**< io_sum of the tail, by which another file is recognised. */
} io_mark;

enum { IO_TAIL = 4096 }; /* most bytes of the tail of a mark */

/** Checksum of `size` bytes: FNV-1a over words of 8 bytes, then over the remaining bytes. */
uint64_t io_sum(const void *data, int64_t size);

/** Open a recording. A path that ends in .gsd is a GSD file, any other one text.
 *  @param from      point to continue from; what follows it is truncated
 *  @param[out] out  io_recording_close it
 *  @return IO_FORMAT if the file does not hold the tail of the mark; the file is not changed
 *  then */
io_status io_recording_open(const char *path, const io_mark *from, io_recording **out,
                            io_error *error);

/** Append a frame: positions, velocities if the particles have them, box and step; in extended XYZ
 *  also the time. Things are stored in the chunk log/things of GSD, in the keys kith_thing0, ... of
 *  the comment of extended XYZ. GSD stores positions as floats; all frames must have one box and
 *  one number of particles, and the rows of the box must be (lx, 0, 0), (xy, ly, 0), (xz, yz, lz).
 *  @param things  obstacles and attractors at this step; NULL: none */
io_status io_recording_frame(io_recording *recording, const io_particles *particles,
                             const io_things *things, int64_t step, io_error *error);

/** Append a line of text. */
io_status io_recording_line(io_recording *recording, const char *text, io_error *error);

/** Flush the recording to disk. @param[out] mark  point to continue from */
io_status io_recording_sync(io_recording *recording, io_mark *mark, io_error *error);

/** Truncate all open text recordings behind their last complete frame or line. Async-signal-safe.
 *  The program must end afterwards. */
void io_cut_recordings(void);

/** Flush the recording to disk, close and free it. NULL is allowed. */
io_status io_recording_close(io_recording *recording, io_error *error);

#endif
