/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions on HDF5 files that the readers and writers share: opening files, attributes, datasets
 * of numbers, and snapshots. The HDF5 library is kept from printing, and from reading a damaged
 * file beyond its end.
 */
#ifndef KITH_IO_HDF5_H
#define KITH_IO_HDF5_H

#include "core/io_internal.h"

#include "core/foreign.h"

#include <hdf5.h>

/* Functions of the library that read or write a file are marked, so that a handler of signals can
   tell a crash within them from one of kith (core/foreign.h). The preprocessor does not expand a
   macro within itself, so that the inner name is the function. */
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
#define H5Dget_chunk_storage_size(...) IO_FOREIGN(H5Dget_chunk_storage_size(__VA_ARGS__))
#define H5Dread_chunk(...) IO_FOREIGN(H5Dread_chunk(__VA_ARGS__))
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

/** Prepare calls of the library that work on a file: turn its messages off in this thread, clear
 *  errno, and note the file for a handler of crashes. Opening a file does this, too. */
void io__hdf5_enter(const char *path);

/** Close a file, dataset, group, type, space or attribute.
 *  @return false if that fails, or if id is < 0: not open */
bool io__close(hid_t id);

/** Open a file to read. @param[out] out  the file, to be closed by io__close; < 0 on failure */
io_status io__hdf5_open(io_file *file, hid_t *out);

/** Find out whether every link of the path a/b/c exists. The last link may lead nowhere.
 *  @return IO_FORMAT if the links of a group on the path cannot be read */
io_status io__hdf5_find(io_file *file, hid_t where, const char *path, bool *found);

/** Record the external raw files of a dataset (linked.h), which HDF5 opens without the driver.
 *  @param plan  the dataset's creation property list
 *  @return false without memory */
bool io__hdf5_external(hid_t dataset, hid_t plan);

/** The kind of a type: 'f' floating point, 'i' signed, 'u' unsigned; 0: no number, or one that the
 *  library does not read safely. */
char io__hdf5_number(hid_t type);

/** Open an attribute of an object.
 *  @param object       a link, a path, or ".": where itself
 *  @param[out] absent  the attribute does not exist
 *  @return the attribute; < 0 if it does not exist or cannot be opened */
hid_t io__attribute_open(hid_t where, const char *object, const char *name, bool *absent);

/** Read the numbers of an attribute.
 *  @param most      largest number of numbers that is allowed
 *  @param[out] out  [most]
 *  @param[out] n    number of numbers; 0: the attribute does not exist or is empty
 *  @return IO_FORMAT if it is not an attribute of 0 to `most` numbers */
io_status io__attribute_read(io_file *file, hid_t id, const char *object, const char *name,
                             double *out, int most, int *n);

/** Read the lengths of the box from the attribute BoxSize of Header or Parameters, which has one or
 *  three numbers. @param[out] out  lengths; 0: the file has none */
io_status io__hdf5_box(io_file *file, hid_t id, double out[3]);

enum { IO_HDF5_NAME = 256 }; /* size of a buffer for the path of a dataset [byte] */

/** A dataset of numbers: [n], [n][columns] or, where its rank is 3, [frames][n][columns]. */
typedef struct io_array {
    char name[IO_HDF5_NAME];  /* path of the dataset */
    hid_t id;                 /* the dataset; -1: closed */
    int rank;                 /* number of dimensions: 1 to 3 */
    int64_t frames;           /* number of frames; 1 if rank < 3 */
    int64_t n;                /* number of rows in each frame */
    int64_t columns;          /* numbers in each row; 1 if rank is 1 */
    char kind;                /* 'f' floating point, 'i' signed, 'u' unsigned */
    kith_precision precision; /* float for floats of at most 4 bytes, else double */
} io_array;

/** Open a dataset of numbers, and check that the file is large enough to hold it.
 *  @param most      largest number of columns; 0: no limit
 *  @param[out] out  io__array_close it, after success only */
io_status io__array_open(io_file *file, hid_t where, const char *name, int64_t most, io_array *out);
void io__array_close(io_array *array);

/** Return IO_FORMAT if the array has not the shape of coordinates: [n][2 or 3], with or without
 *  frames. */
io_status io__array_check_coordinates(io_file *file, const io_array *array);

/** Return IO_FORMAT or IO_TRUNCATED if the array has not one row of `columns` numbers for each of n
 *  particles. */
io_status io__array_check_rows(io_file *file, const io_array *array, int64_t n, int64_t columns);

/** How reading rows by several threads ended. */
typedef enum io_chunks_result {
    IO_CHUNKS_READ,   /* the rows have been read */
    IO_CHUNKS_LEFT,   /* the library has to read them */
    IO_CHUNKS_DAMAGED /* they must not be read */
} io_chunks_result;

/** Prepare to read a dataset whose chunks are compressed by deflate, in several threads.
 *  @param array  must be open until io__chunks_close
 *  @return NULL: it is another dataset, or there is no memory: the library has to read it */
struct io_chunks *io__chunks_open(io_file *file, const io_array *array);

/** Free what io__chunks_open returned; NULL is fine. */
void io__chunks_close(struct io_chunks *chunks);

/** Return how many rows to read at once: a multiple of the rows of a chunk.
 *  @param rows     about how many, at least
 *  @param columns  numbers that are read of each row */
int64_t io__chunks_rows(const struct io_chunks *chunks, int64_t rows, int64_t columns);

/** Read rows [first, first + n) of a frame.
 *  @param columns   numbers that are read of each row
 *  @param type      native type of out, to which numbers are converted
 *  @param stride    distance between rows of out [byte]
 *  @param[out] out  [n] rows of `stride` bytes, whose first `columns` numbers are set; on failure
 *                   it may hold anything there */
io_chunks_result io__chunks_read(struct io_chunks *chunks, int64_t frame, int64_t first, int64_t n,
                                 int64_t columns, hid_t type, size_t stride, void *out);

/** Progress of reading a file. */
typedef struct io_progress {
    int64_t done; /* numbers read so far */
    int64_t all;  /* numbers to be read in all */
} io_progress;

/** Read all rows of a frame into an array.
 *  @param field  columns, width, precision, scale and out are used */
io_status io__array_read(io_file *file, const io_array *array, int64_t frame, const io_field *field,
                         io_progress *progress);

/** Read `count` rows of a frame from row `first` on into an array.
 *  @param field  columns, width, precision, scale and out are used; out is for row `first` */
io_status io__array_read_rows(io_file *file, const io_array *array, int64_t frame, int64_t first,
                              int64_t count, const io_field *field, io_progress *progress);

/** Find out whether a file is a snapshot: it has groups PartType0, PartType1, ... with coordinates,
 *  or is one of many files of a snapshot. */
io_status io__hdf5_is_snapshot(io_file *file, hid_t id, bool *out);

/** Read the header of a snapshot: counts, masses, box, time, cosmology and units. */
io_status io__hdf5_header(io_file *file, hid_t id, io_header *out);

/** Read the exponents of the scale factor a and of h by which the numbers of a dataset are to be
 *  multiplied, from its attributes. Exponents that the dataset does not have keep their values. */
io_status io__hdf5_exponents(io_file *file, hid_t id, const char *dataset, double *a, double *h);

/** Find out whether a snapshot is of SWIFT: units have no h, and velocities are peculiar. */
io_status io__hdf5_is_swift(io_file *file, hid_t id, bool *out);

extern const io_snapshot_format io__hdf5_snapshot;

enum { IO_HDF5_ARRAYS = 32 }; /* most datasets of coordinates of a file */

/** The datasets of coordinates of a file that is no snapshot, in the order in which they are
 *  read. */
typedef struct io_arrays {
    int n;                         /* number of datasets */
    io_array item[IO_HDF5_ARRAYS]; /* the datasets, open */
} io_arrays;

/** Open the datasets of coordinates, by the options or by convention. A file without any is no
 *  error.
 *  @param[out] out  io__arrays_close it, also on failure */
io_status io__arrays_open(io_file *file, hid_t id, io_arrays *out);
void io__arrays_close(io_arrays *arrays);

/** Read frame options->frame of all arrays, one array behind the other. */
io_status io__arrays_read(io_file *file, hid_t id, const io_arrays *arrays, io_particles *out);

/** Get the group of H5MD that an array belongs to: "particles/all"; "": the file is not H5MD. */
void io__h5md_group(const io_array *array, char out[IO_HDF5_NAME]);

/** Read one number for each of some particles of an array of positions, stored in its group of
 *  H5MD once or for each frame. Numbers with steps or times of their own are taken at the step, or
 *  else the time, of the frame of positions; IO_FORMAT if there are none.
 *  @param name        "species"
 *  @param first       first particle of the array
 *  @param rows        number of particles
 *  @param type        native type of out; numbers that it cannot hold are refused
 *  @param[out] out    [rows]
 *  @param[out] found  false: the group has no numbers of this name
 *  @return IO_FORMAT, IO_TRUNCATED or IO_NO_MEMORY if they exist, but cannot be read */
io_status io__h5md_column(io_file *file, const io_array *array, const char *name, int64_t frame,
                          int64_t first, int64_t rows, hid_t type, void *out, bool *found);

/** Read the step and the time of a frame from the group of H5MD of an array of positions.
 *  @return IO_FORMAT, IO_TRUNCATED or IO_NO_MEMORY if they exist, but cannot be read */
io_status io__h5md_step(io_file *file, const io_array *array, int64_t frame, bool *has_step,
                        int64_t *out);
io_status io__h5md_time(io_file *file, const io_array *array, int64_t frame, bool *has_time,
                        double *out);

/** Return IO_FORMAT if a frame of two arrays of positions was stored at different steps or, where
 *  not both have steps, at different times. */
io_status io__h5md_check_clocks(io_file *file, const io_array *a, const io_array *b, int64_t frame);

/** Read the box that H5MD stores beside an array of positions, once or for each frame, by step or
 *  time as io__h5md_column.
 *  @param[out] has_box  unchanged, as *out, if there is none */
io_status io__h5md_box(io_file *file, const io_array *array, int64_t frame, bool *has_box,
                       kith_box *out);

/** Read the unit of length from the attributes of the arrays and, in H5MD, of their groups and
 *  boxes.
 *  @param[in,out] unit  unchanged if there is none
 *  @return IO_FORMAT if two units differ */
io_status io__h5md_unit(io_file *file, const io_arrays *arrays, char unit[IO_NAME_LENGTH]);

/** List all datasets of a file in a summary, with type and shape. */
void io__hdf5_list(hid_t file, io_summary *out);

/** The file that the HDF5 library writes, and its first error. */
typedef struct io_sink {
    int fd;    /* descriptor of the file */
    int error; /* errno of the first error; 0: none. Nothing is written while it is not 0 */
} io_sink;

/** Create an HDF5 file in owner->fd.
 *  @param path   for messages
 *  @param owner  must exist until the file is closed
 *  @return the file; < 0 on failure */
hid_t io__sink_create(const char *path, io_sink *owner);

/** Open an HDF5 file to read. @return the file; < 0 on failure */
hid_t io__source_open(const char *path);

/* Write an attribute: n numbers of a type (a scalar if n is 1), a double, a 64-bit integer, a text.
   @return false on failure */
bool io__put_numbers(hid_t object, const char *name, hid_t type, const void *data, int64_t n);
bool io__put_number(hid_t object, const char *name, double value);
bool io__put_count(hid_t object, const char *name, int64_t value);
bool io__put_text(hid_t object, const char *name, const char *text);

/* Write an attribute that is an array of one element, as SWIFT does. @return false on failure */
bool io__put_one(hid_t object, const char *name, double value);
bool io__put_one_count(hid_t object, const char *name, int64_t value);

/** Create a dataset without times of creation, so that equal numbers give equal bytes.
 *  @param chunk  shape of a chunk; NULL: contiguous storage */
hid_t io__create_dataset(hid_t where, const char *name, hid_t type, hid_t space,
                         const hsize_t *chunk);

/** Write a dataset of shape [n] or, if columns > 1, [n][columns].
 *  @return the dataset, to be closed; < 0 on failure */
hid_t io__put_array(hid_t where, const char *name, hid_t type, const void *data, int64_t n,
                    int columns);

/** Set rows [first, first + n) of a dataset.
 *  @param[out] rows  [n][columns], in memory for n rows of three numbers of 8 bytes
 *  @return false on failure */
typedef bool io__fill_fn(void *user, int64_t first, int64_t n, void *rows);

/** Write a dataset as io__put_array does, in blocks of IO_BLOCK_ROWS rows, which need not all be in
 *  memory. The file has the bytes that it has from io__put_array.
 *  @param type  of 8 bytes or less   @param fill  called with ascending `first`
 *  @return false on failure */
bool io__put_blocks(hid_t where, const char *name, hid_t type, int64_t n, int columns,
                    io__fill_fn *fill, void *user);

/** Turn the result of calls of the library into a status.
 *  @param sink  its error, if there is one, is reported
 *  @param done  the calls succeeded */
io_status io__hdf5_step(io_output *output, const io_sink *sink, bool done);

/** Write an HDF5 file to a regular output, and close it.
 *  @param fill  writes the contents; returns false on failure
 *  @param what  second argument of fill */
io_status io__hdf5_file(io_output *output, bool (*fill)(hid_t file, const void *what),
                        const void *what);

#endif
