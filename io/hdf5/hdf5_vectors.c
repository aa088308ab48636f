/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vectors from a dataset of two dimensions: the one that the options name, else the only one in the
 * root group of the file.
 */
#include "io_hdf5.h"

#include <stdio.h>

/** Find out whether a link leads to a dataset of numbers in two dimensions.
 *  @return IO_FORMAT if the object cannot be opened; a link that leads nowhere is no error */
static io_status is_matrix(io_file *file, hid_t id, const char *name, bool *out)
{
    const htri_t exists = H5Oexists_by_name(id, name, H5P_DEFAULT);
    const hid_t object = exists > 0 ? H5Oopen(id, name, H5P_DEFAULT) : -1;
    bool read = exists == 0 || object >= 0;
    *out = false;
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) {
        const hid_t space = H5Dget_space(object), type = H5Dget_type(object);
        read = space >= 0 && type >= 0;
        *out = read && H5Sget_simple_extent_ndims(space) == 2 && io__hdf5_number(type) != 0;
        io__close(type);
        io__close(space);
    }
    io__close(object);
    return read ? IO_OK : io__file_fail(file, IO_FORMAT, "%s is damaged; choose a dataset", name);
}

/** Find the only dataset of two dimensions in the root group. */
static io_status find_matrix(io_file *file, hid_t id, char out[IO_HDF5_NAME])
{
    enum { MOST_LINKS = 1000 };
    H5G_info_t facts = {0};
    int found = 0;
    if (H5Gget_info(id, &facts) < 0) {
        return io__file_fail(file, IO_FORMAT, "is damaged");
    }
    for (hsize_t k = 0; k < facts.nlinks && k < MOST_LINKS; k++) {
        char name[IO_HDF5_NAME] = "";
        bool is_found = false;
        if (H5Lget_name_by_idx(id, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name,
                               H5P_DEFAULT) < 0) {
            return io__file_fail(file, IO_FORMAT, "is damaged");
        }
        IO_TRY(is_matrix(file, id, name, &is_found));
        if (is_found) {
            snprintf(out, IO_HDF5_NAME, "%s", name);
            found++;
        }
    }
    if (found != 1) {
        return io__file_fail(file, IO_INVALID,
                             "has %d datasets of two dimensions at its top; expected one: choose a "
                             "dataset (`kith info` lists them)",
                             found);
    }
    return IO_OK;
}

/** Read all rows of a dataset. @param bytes  read unsigned bytes alone, without conversion */
static io_status read_array(io_file *file, const io_array *array, bool bytes, io_vectors *out)
{
    const hid_t type = H5Dget_type(array->id);
    const io_scalar scalar = {array->kind, type >= 0 ? (int)H5Tget_size(type) : 0, false};
    io__close(type);
    if (array->rank != 2) {
        return io__file_fail(file, IO_FORMAT, "dataset %s has %d dimensions; expected 2",
                             array->name, array->rank);
    }
    if (bytes && !(scalar.kind == 'u' && scalar.size == 1)) {
        return io__file_fail(file, IO_FORMAT, "dataset %s is no array of unsigned bytes",
                             array->name);
    }
    out->n = array->n;
    out->dim = array->columns;
    out->size = bytes ? 1 : io__vectors_size(file, scalar);
    snprintf(out->description, sizeof out->description, "HDF5, dataset %.200s", array->name);
    IO_TRY(io__vectors_alloc(file, out));
    if (bytes &&
        H5Dread(array->id, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->values) < 0) {
        return io__file_fail(file, IO_TRUNCATED, "dataset %s cannot be read", array->name);
    }
    io_progress progress = {0, out->n * out->dim};
    const io_field field = {.columns = (int)out->dim,
                            .out = out->values,
                            .width = (int)out->dim,
                            .precision = (kith_precision)out->size,
                            .scale = 1};
    return bytes ? IO_OK : io__array_read(file, array, 0, &field, &progress);
}

io_status io__hdf5_vectors(io_file *file, bool bytes, io_vectors *out)
{
    io_array array = {.id = -1};
    hid_t id = -1;
    char name[IO_HDF5_NAME] = "";
    io__get_failed = 0;
    io_status status = io__hdf5_open(file, &id);
    if (status == IO_OK && file->options->dataset) {
        snprintf(name, sizeof name, "%s", file->options->dataset);
    } else if (status == IO_OK) {
        status = find_matrix(file, id, name);
    }
    if (status == IO_OK) {
        status = io__array_open(file, id, name, 0, &array);
    }
    if (status == IO_OK) {
        status = read_array(file, &array, bytes, out);
    }
    io__array_close(&array);
    io__close(id);
    return io__get_end(file, status);
}
