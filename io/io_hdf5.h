/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the HDF5 files share: finding coordinates, and keeping the HDF5 library from printing.
 */
#ifndef KITH_IO_HDF5_H
#define KITH_IO_HDF5_H

#include "io_internal.h"

#include <hdf5.h>

/** The library's error printing, switched off between io__quiet_begin and io__quiet_end. */
typedef struct io_quiet {
    H5E_auto2_t print;
    void *data;
} io_quiet;

void io__quiet_begin(io_quiet *quiet);
void io__quiet_end(const io_quiet *quiet);

enum { IO_HDF5_TYPES = 32, IO_HDF5_NAME = 256 };

/** A dataset of coordinates: [n][dim], or [frames][n][dim] when rank is 3. */
typedef struct io_array {
    char name[IO_HDF5_NAME];
    hid_t id;
    int rank, dim;
    int64_t frames, n;
    kith_precision precision;
} io_array;

/** Where the coordinates of a file are, in the order they are read. */
typedef struct io_arrays {
    hid_t file;
    int n;
    io_array item[IO_HDF5_TYPES];
} io_arrays;

/** Open the file and those of its datasets that the options or conventions name; none is no error
 *  when nothing was asked for. Close with io__arrays_close, also on failure. */
io_status io__arrays_open(io_file *file, io_arrays *out);
void io__arrays_close(io_arrays *arrays);

/** Read at most `most` numbers of an attribute. @return how many; 0 when it is not there. */
int io__attribute_read(hid_t file, const char *object, const char *name, double *out, int most);

/** The box that /Header/BoxSize tells. */
io_status io__hdf5_box(io_file *file, hid_t id, bool *has_box, kith_box *out);

/** Where an HDF5 file is written, and what went wrong there first: an errno; 0: nothing yet. Set
 *  error to give the file up: nothing more is written. */
typedef struct io_sink {
    int fd;
    int error;
} io_sink;

/** Create an HDF5 file in owner->fd; owner must outlive it. @return the file; < 0 on failure. */
hid_t io__sink_create(io_sink *owner);

/** Open an HDF5 file to read. @return the file; < 0 on failure. */
hid_t io__source_open(const char *path);

#endif
