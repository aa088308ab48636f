/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the HDF5 files share: attributes, datasets of numbers, and keeping the HDF5 library from
 * printing.
 */
#ifndef KITH_IO_HDF5_H
#define KITH_IO_HDF5_H

#include "core/io_internal.h"

#include "core/foreign.h"

#include <hdf5.h>

/* The functions that work on a file: a crash within is told from one of kith. */
#define H5Acreate2(...) IO_FOREIGN(H5Acreate2(__VA_ARGS__))
#define H5Aexists_by_name(...) IO_FOREIGN(H5Aexists_by_name(__VA_ARGS__))
#define H5Aopen_by_name(...) IO_FOREIGN(H5Aopen_by_name(__VA_ARGS__))
#define H5Aread(...) IO_FOREIGN(H5Aread(__VA_ARGS__))
#define H5Awrite(...) IO_FOREIGN(H5Awrite(__VA_ARGS__))
#define H5Dclose(...) IO_FOREIGN(H5Dclose(__VA_ARGS__))
#define H5Dcreate2(...) IO_FOREIGN(H5Dcreate2(__VA_ARGS__))
#define H5Dget_create_plist(...) IO_FOREIGN(H5Dget_create_plist(__VA_ARGS__))
#define H5Dget_space(...) IO_FOREIGN(H5Dget_space(__VA_ARGS__))
#define H5Dget_type(...) IO_FOREIGN(H5Dget_type(__VA_ARGS__))
#define H5Dopen2(...) IO_FOREIGN(H5Dopen2(__VA_ARGS__))
#define H5Dread(...) IO_FOREIGN(H5Dread(__VA_ARGS__))
#define H5Dset_extent(...) IO_FOREIGN(H5Dset_extent(__VA_ARGS__))
#define H5Dwrite(...) IO_FOREIGN(H5Dwrite(__VA_ARGS__))
#define H5Fclose(...) IO_FOREIGN(H5Fclose(__VA_ARGS__))
#define H5Fcreate(...) IO_FOREIGN(H5Fcreate(__VA_ARGS__))
#define H5Fopen(...) IO_FOREIGN(H5Fopen(__VA_ARGS__))
#define H5Gcreate2(...) IO_FOREIGN(H5Gcreate2(__VA_ARGS__))
#define H5Gget_info(...) IO_FOREIGN(H5Gget_info(__VA_ARGS__))
#define H5Gget_info_by_name(...) IO_FOREIGN(H5Gget_info_by_name(__VA_ARGS__))
#define H5Idec_ref(...) IO_FOREIGN(H5Idec_ref(__VA_ARGS__))
#define H5Lexists(...) IO_FOREIGN(H5Lexists(__VA_ARGS__))
#define H5Lget_name_by_idx(...) IO_FOREIGN(H5Lget_name_by_idx(__VA_ARGS__))
#define H5Oclose(...) IO_FOREIGN(H5Oclose(__VA_ARGS__))
#define H5Oexists_by_name(...) IO_FOREIGN(H5Oexists_by_name(__VA_ARGS__))
#define H5Oopen(...) IO_FOREIGN(H5Oopen(__VA_ARGS__))

/** Before calls of the library that work on a file: have it print nothing in this thread, clear
 *  errno, and note the file. Opening a file does so too. */
void io__hdf5_enter(const char *path);

/** Close a file, dataset, group, type, space or attribute. @return false when it could not be, also
 *  where it was never opened: < 0. */
bool io__close(hid_t id);

/** Open a file to read. @return -1 and the error on failure. */
io_status io__hdf5_open(io_file *file, hid_t *out);

/** True when every part of the path a/b/c is there. */
bool io__hdf5_exists(hid_t file, const char *path);

/** Record the external raw files of a dataset (linked.h), which HDF5 opens without the driver.
 *  @param plan  the dataset's creation property list
 *  @return false without memory */
bool io__hdf5_external(hid_t dataset, hid_t plan);

/** 'f', 'i' or 'u' for a type of numbers that the library can read safely; 0 for others. */
char io__hdf5_number(hid_t type);

/** Open an attribute of an object: a link, a path or ".". @return < 0 when it cannot be opened or,
 *  with *absent, is not there */
hid_t io__attribute_open(hid_t where, const char *object, const char *name, bool *absent);

/** Read at most `most` numbers of an attribute. @param[out] n  how many; 0: it is not there, or
 *  holds none. @return IO_FORMAT with its name when it cannot be read as such numbers */
io_status io__attribute_read(io_file *file, hid_t id, const char *object, const char *name,
                             double *out, int most, int *n);

/** Read a box from an attribute of one or three lengths; 0 when it is not there. */
io_status io__hdf5_box(io_file *file, hid_t id, double out[3]);

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
io_status io__hdf5_is_snapshot(io_file *file, hid_t id, bool *out);

/** Read what the file's header says of the snapshot. */
io_status io__hdf5_header(io_file *file, hid_t id, io_header *out);

/** Exponents of the scale factor and h that a dataset's numbers are to be multiplied with, where
 *  the dataset says them; unchanged otherwise. */
io_status io__hdf5_exponents(io_file *file, hid_t id, const char *dataset, double *a, double *h);

/** Units are h-free and velocities peculiar, as in SWIFT. */
io_status io__hdf5_is_swift(io_file *file, hid_t id, bool *out);

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
io_status io__h5md_box(io_file *file, const io_array *array, int64_t frame, bool *has_box,
                       kith_box *out);

/** The unit that the arrays and, in H5MD, what is beside them say of lengths; unchanged where none
 *  does. @return IO_FORMAT where they differ */
io_status io__h5md_unit(io_file *file, const io_arrays *arrays, char unit[IO_NAME_LENGTH]);

/** Describe the coordinates and list all datasets. */
void io__hdf5_list(hid_t file, io_summary *out);

/** Where an HDF5 file is written, and what went wrong there first: an errno; 0: nothing yet. Set
 *  error to give the file up: nothing more is written. */
typedef struct io_sink {
    int fd;
    int error;
} io_sink;

/** Create an HDF5 file in owner->fd; owner must outlive it. @param path  for messages
 *  @return the file; < 0 on failure. */
hid_t io__sink_create(const char *path, io_sink *owner);

/** Open an HDF5 file to read. @return the file; < 0 on failure. */
hid_t io__source_open(const char *path);

/** Write attributes: n numbers of a type, a real, a count, a text. @return false on failure. */
bool io__put_numbers(hid_t object, const char *name, hid_t type, const void *data, int64_t n);
bool io__put_number(hid_t object, const char *name, double value);
bool io__put_count(hid_t object, const char *name, int64_t value);
bool io__put_text(hid_t object, const char *name, const char *text);

/** Write an attribute that is an array of one element, as SWIFT writes its numbers. @return false
 *  on failure. */
bool io__put_one(hid_t object, const char *name, double value);
bool io__put_one_count(hid_t object, const char *name, int64_t value);

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
