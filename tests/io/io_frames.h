/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What tests of trajectories share.
 */
#ifndef KITH_TEST_IO_FRAMES_H
#define KITH_TEST_IO_FRAMES_H

#include "io_files.h"

#include <trajectories/trajectory.h>

/** Open a trajectory that must open; NULL and a failure counted when it does not. */
io_trajectory *frames_open(const char *path, const io_trajectory_options *options);

/** The next frame, which must be there unless at_end is set; NULL otherwise. */
const io_frame *frames_next(io_trajectory *t, bool at_end);

/** Open and read to the end. @return the first failure; IO_OK when there is none. */
io_status frames_all(const char *path, const io_trajectory_options *options, int64_t *frames,
                     io_error *error);

/** Reading to the end fails so, after this many frames, with these words. */
void frames_fail(const char *path, const io_trajectory_options *options, io_status wanted,
                 int64_t frames, const char *part);
void frames_fail_text(const char *text, const io_trajectory_options *options, io_status wanted,
                      int64_t frames, const char *part);

/** The name of a particle's species. */
const char *frames_species(const io_frame *frame, int64_t p);

/** Element k of an array in the precision of the frame's particles. */
double frames_real(const io_frame *frame, const void *reals, int64_t k);

/** A GSD file being made, with room for 64 chunks. */
typedef struct gsd_file {
    bytes names, index, data;
    bool packed; /* version 2: names one behind the other */
} gsd_file;

/** Add a chunk of n rows of m numbers of a GSD type (9: float). */
void gsd_add(gsd_file *g, int frame, const char *name, int type, uint64_t n, int m,
             const void *data);
/** Write the file; the chunks stay. @return its path. */
const char *gsd_save(const gsd_file *g, const char *name);
void gsd_free(gsd_file *g);

#endif
