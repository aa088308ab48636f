/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the HDF5 files share: attributes, datasets of numbers, and keeping the HDF5 library from
 * printing.
 */
#ifndef KITH_IO_HDF5_H
#define KITH_IO_HDF5_H

#include "io_internal.h"

#include <hdf5.h>

/** Before calls of the library: have it print nothing in this thread, and clear errno. Opening a
 *  file does so too. */
void io__hdf5_enter(void);

/** Close a file, dataset, group, type, space or attribute. @return false when it could not be, also
 *  where it was never opened: < 0. */
bool io__close(hid_t id);

/** Open a file to read. @return -1 and the error on failure. */
io_status io__hdf5_open(io_file *file, hid_t *out);

/** True when every part of the path a/b/c is there. */
bool io__hdf5_exists(hid_t file, const char *path);

/** 'f', 'i' or 'u' for a type of numbers that the library can read safely; 0 for others. */
char io__hdf5_number(hid_t type);

/** Read at most `most` numbers of an attribute. @return how many; 0 when it is not there. */
int io__attribute_read(hid_t file, const char *object, const char *name, double *out, int most);

/** Read a box from an attribute of one or three lengths; 0 when it is not there. */
void io__hdf5_box(hid_t file, double out[3]);

enum { IO_HDF5_NAME = 256 };

/** A dataset of numbers: [n], [n][columns] or, where its rank is 3, [frames][n][columns]. */
typedef struct io_array {
    char name[IO_HDF5_NAME];
    hid_t id;
    int rank;
    int64_t frames, n, columns;
    char kind;                /* 'f', 'i' or 'u' */
    kith_precision precision; /* that holds its numbers */
} io_array;

/** Open a dataset of numbers and see that the file is large enough to hold it. On success close
 *  with io__array_close. @param most  numbers that a row may have; 0: any */
io_status io__array_open(io_file *file, hid_t where, const char *name, int64_t most, io_array *out);
void io__array_close(io_array *array);

/** Fail when the array is not of coordinates: [n][2 or 3], with or without frames. */
io_status io__array_check_coordinates(io_file *file, const io_array *array);

/** How far the reading of a file is, in numbers. */
typedef struct io_progress {
    int64_t done, all;
} io_progress;

/** Read all rows of a frame into the field; its columns, width, precision, scale and out count. */
io_status io__array_read(io_file *file, const io_array *array, int64_t frame, const io_field *field,
                         io_progress *progress);

/** Whether the file has groups PartType0 and so on, with coordinates, or is one of many that do. */
bool io__hdf5_is_snapshot(hid_t file);

/** Read what the file's header says of the snapshot. */
io_status io__hdf5_header(io_file *file, hid_t id, io_header *out);

/** Exponents of the scale factor and h that a dataset's numbers are to be multiplied with, where
 *  the dataset says them; unchanged otherwise. */
io_status io__hdf5_exponents(io_file *file, hid_t id, const char *dataset, double *a, double *h);

/** Units are h-free and velocities peculiar, as in SWIFT. */
bool io__hdf5_is_swift(hid_t file);

extern const io_snapshot_format io__hdf5_snapshot;

/** Where the coordinates of a file that is no snapshot are, in the order they are read. */
enum { IO_HDF5_ARRAYS = 32 };
typedef struct io_arrays {
    int n;
    io_array item[IO_HDF5_ARRAYS];
} io_arrays;

/** Open those datasets that the options or conventions name; none is no error. Close with
 *  io__arrays_close, also on failure. */
io_status io__arrays_open(io_file *file, hid_t id, io_arrays *out);
void io__arrays_close(io_arrays *arrays);

/** Read the frame that the options name of all arrays. */
io_status io__arrays_read(io_file *file, hid_t id, const io_arrays *arrays, io_particles *out);

/** The box that H5MD keeps beside an array of positions, of one frame or of all. */
void io__h5md_box(const io_array *array, int64_t frame, bool *has_box, kith_box *out);

/** Describe the coordinates and list all datasets. */
void io__hdf5_list(hid_t file, io_summary *out);

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

/** Write attributes: n numbers of a type, a real, a count, a text. @return false on failure. */
bool io__put_numbers(hid_t object, const char *name, hid_t type, const void *data, int64_t n);
bool io__put_number(hid_t object, const char *name, double value);
bool io__put_count(hid_t object, const char *name, int64_t value);
bool io__put_text(hid_t object, const char *name, const char *text);

/** Create a dataset that does not say when it was made: the same numbers give the same bytes.
 *  @param chunk  its chunks; NULL: it is in one piece */
hid_t io__create_dataset(hid_t where, const char *name, hid_t type, hid_t space,
                         const hsize_t *chunk);

/** Write a dataset [n] or, with more columns than one, [n][columns]. @return it, to be closed;
 *  < 0 on failure. */
hid_t io__put_array(hid_t where, const char *name, hid_t type, const void *data, int64_t n,
                    int columns);

/** What became of a step: done says what HDF5 says, the sink what the disk says. */
io_status io__hdf5_step(io_output *output, const io_sink *sink, bool done);

/** Write a whole file in output by one call of fill, which returns false on failure. */
io_status io__hdf5_file(io_output *output, bool (*fill)(hid_t file, const void *what),
                        const void *what);

#endif
