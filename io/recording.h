/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that grow while a simulation runs: trajectories in extended XYZ, lines of text. What was
 * written stays, also when the process is killed; a run that goes on from an earlier point cuts off
 * what came after it.
 */
#ifndef KITH_IO_RECORDING_H
#define KITH_IO_RECORDING_H

#include "io.h"

typedef struct io_recording io_recording;

/** Open. @param keep  bytes of an earlier recording to go on behind; 0: begin anew. */
io_status io_recording_open(const char *path, int64_t keep, io_recording **out, io_error *error);

/** Append a frame of extended XYZ: positions, velocities where there are any, box, time, step. */
io_status io_recording_frame(io_recording *recording, const io_particles *particles, int64_t step,
                             io_error *error);

/** Append text. */
io_status io_recording_text(io_recording *recording, const char *text, io_error *error);

/** Bring all to the disk. @param[out] bytes  what io_recording_open is to keep, to go on here. */
io_status io_recording_sync(io_recording *recording, int64_t *bytes, io_error *error);

/** Bring all to the disk and free it. NULL is fine. */
io_status io_recording_close(io_recording *recording, io_error *error);

#endif
