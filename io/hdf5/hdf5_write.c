/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing HDF5: lists of pairs, and rows of nearest neighbours, as extendible datasets, one for
 * each column; particles in the layout of Gadget.
 */
#include "io_hdf5.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 15 }; /* pairs of a chunk: one of vectors fits the library's cache of 1 MiB */

/** State of a writer of pairs. */
typedef struct list_file {
    io_sink sink;                   /* the file that the library writes */
    hid_t file;                     /* the HDF5 file; -1: closed */
    hid_t dataset[IO_PAIR_COLUMNS]; /* dataset of each column; -1: closed */
} list_file;

static hid_t element_type(const io_column *column)
{
    if (column->kind == 'i') {
        return H5T_NATIVE_INT32;
    }
    return column->size == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

/** Fill in the shape of n rows of a column. @return its rank */
static int column_shape(const io_column *column, hsize_t n, hsize_t out[3])
{
    int rank = 0;
    out[rank++] = n;
    if (column->k > 0) {
        out[rank++] = (hsize_t)column->k;
    }
    if (column->count > 1) {
        out[rank++] = (hsize_t)column->count;
    }
    return rank;
}

/** Create the dataset of a column, without rows, and with chunks of about CHUNK pairs. */
static hid_t create_column(hid_t file, const io_column *column)
{
    hsize_t none[3], most[3], chunk[3];
    const int rank = column_shape(column, 0, none);
    column_shape(column, H5S_UNLIMITED, most);
    column_shape(column, CHUNK, chunk);
    if (column->k > 0) {
        chunk[1] = column->k < CHUNK ? chunk[1] : CHUNK;
        chunk[0] = CHUNK / chunk[1];
    }
    const hid_t space = H5Screate_simple(rank, none, most);
    const hid_t dataset = io__create_dataset(file, column->name, element_type(column), space,
                                             chunk);
    H5Sclose(space);
    return dataset;
}

/** Create the HDF5 file with its datasets and attributes. */
static io_status create_list(io_pairs_writer *writer, list_file *list)
{
    io_output *output = &writer->output;
    if (!output->part.path) {
        return io__output_fail(output, IO_INVALID, "HDF5 needs a regular file");
    }
    list->sink.fd = output->fd;
    list->file = io__sink_create(output->path, &list->sink);
    IO_TRY(io__hdf5_step(output, &list->sink, list->file >= 0));
    for (int k = 0; k < writer->n_columns; k++) {
        list->dataset[k] = create_column(list->file, &writer->columns[k]);
        IO_TRY(io__hdf5_step(output, &list->sink, list->dataset[k] >= 0));
    }
    const io_pairs_layout *layout = &writer->layout;
    const char *given = layout->command ? layout->command : "";
    const char *words = layout->radii ? layout->radii : "";
    const char *table = layout->cutoffs ? layout->cutoffs : "";
    char command[4096], radii[1024], cutoffs[1024];
    io__copy_name(command, sizeof command, given, strlen(given));
    io__copy_name(radii, sizeof radii, words, strlen(words));
    io__copy_name(cutoffs, sizeof cutoffs, table, strlen(table));
    const bool done = io__put_text(list->file, "command", command) &&
                      io__put_text(list->file, "kith_version", KITH_VERSION) &&
                      (layout->cutoffs ? io__put_text(list->file, "cutoffs", cutoffs)
                                       : io__put_number(list->file, "cutoff", layout->cutoff)) &&
                      (!layout->radii || io__put_text(list->file, "radii", radii)) &&
                      io__put_count(list->file, "n_particles", layout->n_particles) &&
                      (layout->k == 0 || io__put_count(list->file, "k", layout->k));
    return io__hdf5_step(output, &list->sink, done);
}

/* The functions of io_pairs_format (core/io_internal.h): begin, write_block, end, drop. */

static io_status begin(io_pairs_writer *writer)
{
    list_file *list = calloc(1, sizeof *list);
    if (!list) {
        return io__output_fail(&writer->output, IO_NO_MEMORY, "no memory to write with");
    }
    list->file = -1;
    for (int k = 0; k < IO_PAIR_COLUMNS; k++) {
        list->dataset[k] = -1;
    }
    writer->private = list;
    return create_list(writer, list);
}

/** Lengthen a dataset to first + n rows and write the last n. */
static bool append(hid_t dataset, const io_column *column, hsize_t first, hsize_t n)
{
    hsize_t shape[3], count[3];
    const hsize_t begin_at[3] = {first};
    const int rank = column_shape(column, first + n, shape);
    column_shape(column, n, count);
    if (H5Dset_extent(dataset, shape) < 0) {
        return false;
    }
    const hid_t to = H5Dget_space(dataset);
    const hid_t from = H5Screate_simple(rank, count, NULL);
    const bool done = H5Sselect_hyperslab(to, H5S_SELECT_SET, begin_at, NULL, count, NULL) >= 0 &&
                      H5Dwrite(dataset, element_type(column), from, to, H5P_DEFAULT,
                               column->data) >= 0;
    H5Sclose(from);
    H5Sclose(to);
    return done;
}

static io_status write_block(io_pairs_writer *writer, const io_column *columns, int64_t n)
{
    const list_file *list = writer->private;
    bool done = true;
    io__hdf5_enter(writer->output.path);
    for (int k = 0; k < writer->n_columns && n > 0 && done; k++) {
        done = append(list->dataset[k], &columns[k], (hsize_t)writer->n, (hsize_t)n);
    }
    return io__hdf5_step(&writer->output, &list->sink, done);
}

/** Close what is open of a list. */
static void close_list(const char *path, list_file *list)
{
    io__hdf5_enter(path);
    for (int k = 0; k < IO_PAIR_COLUMNS; k++) {
        io__close(list->dataset[k]);
        list->dataset[k] = -1;
    }
    io__close(list->file);
    list->file = -1;
}

static io_status end(io_pairs_writer *writer)
{
    list_file *list = writer->private;
    close_list(writer->output.path, list);
    return io__hdf5_step(&writer->output, &list->sink, true);
}

static void drop(io_pairs_writer *writer)
{
    list_file *list = writer->private;
    if (!list) {
        return;
    }
    /* After an error the driver writes no raw data: the file is discarded, and closes quickly. */
    list->sink.error = list->sink.error ? list->sink.error : ECANCELED;
    close_list(writer->output.path, list);
    free(list);
    writer->private = NULL;
}

const io_pairs_format io__pairs_hdf5 = {begin, write_block, end, drop};

/** Return true when the rows of a box are along the axes, it is periodic along all axes, and its
 *  origin is 0. */
static bool is_simple(const kith_box *box)
{
    for (int axis = 0; axis < 3; axis++) {
        if (!box->periodic[axis] || box->origin[axis] != 0) {
            return false;
        }
        for (int other = 0; other < 3; other++) {
            if (other != axis && box->row[axis][other] != 0) {
                return false;
            }
        }
    }
    return true;
}

/** Write /Header as Gadget does, with the box if it is simple. @return false on failure */
static bool put_header(hid_t file, const io_particles *particles)
{
    const double nothing[6] = {0};
    const uint32_t counts[6] = {0, (uint32_t)particles->n};
    const int32_t one = 1;
    const kith_box *box = &particles->box;
    const double length[3] = {box->row[0][0], box->row[1][1], box->row[2][2]};
    const bool has_box = particles->has_box && is_simple(box);
    const bool cube = length[0] == length[1] && length[1] == length[2];
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = io__put_numbers(header, "NumPart_ThisFile", H5T_NATIVE_UINT32, counts, 6) &&
                      io__put_numbers(header, "NumPart_Total", H5T_NATIVE_UINT32, counts, 6) &&
                      io__put_numbers(header, "MassTable", H5T_NATIVE_DOUBLE, nothing, 6) &&
                      io__put_numbers(header, "Time", H5T_NATIVE_DOUBLE, nothing, 1) &&
                      io__put_numbers(header, "NumFilesPerSnapshot", H5T_NATIVE_INT32, &one, 1) &&
                      io__put_numbers(header, "BoxSize", H5T_NATIVE_DOUBLE,
                                      has_box ? length : nothing, has_box && !cube ? 3 : 1);
    io__close(header);
    return done;
}

/** Write a dataset of the first `dim` numbers of each row. @param values  [n][3] */
static bool put_rows(hid_t group, const char *name, const io_particles *particles,
                     const void *values)
{
    const hid_t type = particles->precision == KITH_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    const hsize_t n = (hsize_t)particles->n, dim = particles->dim == 2 ? 2 : 3;
    const hsize_t memory[2] = {n, 3}, shape[2] = {n, dim}, none[2] = {0, 0};
    const hid_t from = H5Screate_simple(2, memory, NULL);
    const hid_t to = H5Screate_simple(2, shape, NULL);
    const hid_t dataset = io__create_dataset(group, name, type, to, NULL);
    bool done = dataset >= 0;
    if (done && n > 0) {
        done = H5Sselect_hyperslab(from, H5S_SELECT_SET, none, NULL, shape, NULL) >= 0 &&
               H5Dwrite(dataset, type, from, to, H5P_DEFAULT, values) >= 0;
    }
    io__close(dataset);
    H5Sclose(to);
    H5Sclose(from);
    return done;
}

/** Write particles as type 1, dark matter. @param what  io_particles @return false on failure */
static bool put_particles(hid_t file, const void *what)
{
    const io_particles *particles = what;
    if (!put_header(file, particles)) {
        return false;
    }
    const hid_t group = H5Gcreate2(file, "PartType1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = put_rows(group, "Coordinates", particles, particles->pos) &&
                      (!particles->velocity ||
                       put_rows(group, "Velocities", particles, particles->velocity));
    io__close(group);
    return done;
}

io_status io__hdf5_write(io_output *output, const io_particles *particles)
{
    return io__hdf5_file(output, put_particles, particles);
}
