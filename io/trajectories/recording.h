/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that grow while a simulation runs: trajectories in GSD or extended XYZ, lines of text. What
 * was written stays, also when the process is killed; a run that goes on from an earlier point cuts
 * off what came after it.
 */
#ifndef KITH_IO_RECORDING_H
#define KITH_IO_RECORDING_H

#include "io.h"

typedef struct io_recording io_recording;

/** A point of a recording that another run can go on from. Zero: its beginning. */
typedef struct io_mark {
    int64_t bytes;
    int64_t index, room;         /**< of GSD: where its index is, and how long */
    int64_t tail_at, tail_bytes; /**< the last bytes of the last frame or lines, IO_TAIL at most */
    uint64_t tail_sum;           /**< io_sum of them: tells the file from another */
} io_mark;

enum { IO_TAIL = 4096 };

/** Checksum of bytes: FNV-1a over words of 8 bytes, then single ones. */
uint64_t io_sum(const void *data, int64_t size);

/** Open; a name that ends in .gsd begins a GSD file. @param from  what comes after is cut off
 *  @return IO_FORMAT where the file does not hold the tail of the mark: it is not changed then */
io_status io_recording_open(const char *path, const io_mark *from, io_recording **out,
                            io_error *error);

/** Append a frame: positions, velocities where there are any, box, step; in extended XYZ the time,
 *  too. Frames of GSD are all of one box and number, in float, and need a box with rows as HOOMD's.
 */
io_status io_recording_frame(io_recording *recording, const io_particles *particles, int64_t step,
                             io_error *error);

/** Append a line of text. */
io_status io_recording_line(io_recording *recording, const char *text, io_error *error);

/** Bring all to the disk. @param[out] mark  to go on from here */
io_status io_recording_sync(io_recording *recording, io_mark *mark, io_error *error);

/** Cut text files under way behind their last whole frame or line. Safe in a handler of signals;
 *  the program must end then. */
void io_cut_recordings(void);

/** Flush to disk, close and free it. NULL is fine. */
io_status io_recording_close(io_recording *recording, io_error *error);

#endif
