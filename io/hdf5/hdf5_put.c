/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing HDF5: attributes, datasets in one call, and turning the result of a step into a status.
 */
#include "io_hdf5.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Write an attribute, and close its space. @return false on failure. */
static bool put_attribute(hid_t object, const char *name, hid_t type, const void *data, hid_t space)
{
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
    io__close(attribute);
    H5Sclose(space);
    return done;
}

bool io__put_numbers(hid_t object, const char *name, hid_t type, const void *data, int64_t n)
{
    const hsize_t shape = (hsize_t)n;
    return put_attribute(object, name, type, data,
                         n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &shape, NULL));
}

bool io__put_one(hid_t object, const char *name, double value)
{
    const hsize_t shape = 1;
    return put_attribute(object, name, H5T_NATIVE_DOUBLE, &value,
                         H5Screate_simple(1, &shape, NULL));
}

bool io__put_one_count(hid_t object, const char *name, int64_t value)
{
    const hsize_t shape = 1;
    return put_attribute(object, name, H5T_NATIVE_INT64, &value, H5Screate_simple(1, &shape, NULL));
}

bool io__put_number(hid_t object, const char *name, double value)
{
    return io__put_numbers(object, name, H5T_NATIVE_DOUBLE, &value, 1);
}

bool io__put_count(hid_t object, const char *name, int64_t value)
{
    return io__put_numbers(object, name, H5T_NATIVE_INT64, &value, 1);
}

bool io__put_text(hid_t object, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool done = H5Tset_size(type, strlen(text) + 1) >= 0 &&
                      io__put_numbers(object, name, type, text, 1);
    H5Tclose(type);
    return done;
}

hid_t io__create_dataset(hid_t where, const char *name, hid_t type, hid_t space,
                         const hsize_t *chunk)
{
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(plan, false);
    if (chunk) {
        H5Pset_chunk(plan, H5Sget_simple_extent_ndims(space), chunk);
    }
    const hid_t dataset = H5Dcreate2(where, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Pclose(plan);
    return dataset;
}

hid_t io__put_array(hid_t where, const char *name, hid_t type, const void *data, int64_t n,
                    int columns)
{
    const hsize_t shape[2] = {(hsize_t)n, (hsize_t)columns};
    const hid_t space = H5Screate_simple(columns == 1 ? 1 : 2, shape, NULL);
    hid_t dataset = io__create_dataset(where, name, type, space, NULL);
    H5Sclose(space);
    if (dataset >= 0 && n > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        H5Dclose(dataset);
        dataset = -1;
    }
    return dataset;
}

/** Write rows [first, first + n) of a dataset. */
static bool put_block(hid_t dataset, hid_t type, const void *rows, int64_t first, int64_t n,
                      int columns)
{
    const int rank = columns == 1 ? 1 : 2;
    const hsize_t begin[2] = {(hsize_t)first, 0}, shape[2] = {(hsize_t)n, (hsize_t)columns};
    const hid_t to = H5Dget_space(dataset), from = H5Screate_simple(rank, shape, NULL);
    const bool done = to >= 0 && from >= 0 &&
                      H5Sselect_hyperslab(to, H5S_SELECT_SET, begin, NULL, shape, NULL) >= 0 &&
                      H5Dwrite(dataset, type, from, to, H5P_DEFAULT, rows) >= 0;
    io__close(from);
    io__close(to);
    return done;
}

bool io__put_blocks(hid_t where, const char *name, hid_t type, int64_t n, int columns,
                    io__fill_fn *fill, void *user)
{
    const hsize_t shape[2] = {(hsize_t)n, (hsize_t)columns};
    const hid_t space = H5Screate_simple(columns == 1 ? 1 : 2, shape, NULL);
    const hid_t dataset = io__create_dataset(where, name, type, space, NULL);
    const int64_t most = n < IO_BLOCK_ROWS ? n : IO_BLOCK_ROWS;
    void *rows = malloc((size_t)most * 3 * sizeof(int64_t) + 1);
    bool done = dataset >= 0 && rows;
    for (int64_t first = 0; first < n && done; first += IO_BLOCK_ROWS) {
        const int64_t count = n - first < IO_BLOCK_ROWS ? n - first : IO_BLOCK_ROWS;
        done = fill(user, first, count, rows) &&
               put_block(dataset, type, rows, first, count, columns);
    }
    free(rows);
    io__close(dataset);
    io__close(space);
    return done;
}

io_status io__hdf5_step(io_output *output, const io_sink *sink, bool done)
{
    if (sink->error == ECANCELED) {
        return io__output_fail(output, IO_CANCELLED, "writing was stopped");
    }
    if (sink->error) {
        return io__output_fail(output, IO_SYSTEM, "cannot write: %s", strerror(sink->error));
    }
    if (!done && errno == ENOMEM) {
        return io__output_fail(output, IO_NO_MEMORY, "no memory to write with");
    }
    if (!done) {
        return io__output_fail(output, IO_SYSTEM, "cannot write: the HDF5 library failed");
    }
    return IO_OK;
}

io_status io__hdf5_file(io_output *output, bool (*fill)(hid_t file, const void *what),
                        const void *what)
{
    if (!output->part.path) {
        return io__output_fail(output, IO_INVALID, "HDF5 needs a regular file");
    }
    io_sink sink = {.fd = output->fd};
    const hid_t file = io__sink_create(output->path, &sink);
    const bool done = file >= 0 && fill(file, what);
    io__close(file);
    return io__hdf5_step(output, &sink, done);
}
