/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coordinates from HDF5 files, read in slabs of whole chunks; the HDF5 library converts the type.
 */
#include "io_hdf5.h"

#include <stdio.h>
#include <string.h>

/** Rows to read at once: about a block, a whole number of the dataset's chunks. */
static hsize_t slab_rows(const io_array *array)
{
    hsize_t rows = IO_BLOCK / (3 * sizeof(double));
    hsize_t chunk[3] = {0};
    const hid_t plan = H5Dget_create_plist(array->id);
    if (plan >= 0 && H5Pget_layout(plan) == H5D_CHUNKED &&
        H5Pget_chunk(plan, array->rank, chunk) == array->rank && chunk[array->rank - 2] > 0) {
        const hsize_t height = chunk[array->rank - 2];
        rows = (rows / height + 1) * height;
    }
    if (plan >= 0)
        H5Pclose(plan);
    return rows;
}

/** Read rows [at, at + n) of the array to out[n][3]. */
static bool read_slab(const io_array *array, hsize_t frame, hsize_t at, hsize_t n,
                      kith_precision precision, void *out)
{
    const hid_t type = precision == KITH_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    const hsize_t dim = (hsize_t)array->dim;
    const hsize_t shape[2] = {n, 3}, none[2] = {0, 0}, wanted[2] = {n, dim};
    const hsize_t begin[3] = {frame, at, 0}, count[3] = {1, n, dim};
    const int skip = 3 - array->rank; /* a dataset of rank 2 has no frames */
    const hid_t from = H5Dget_space(array->id);
    const hid_t to = H5Screate_simple(2, shape, NULL);
    const bool done = from >= 0 && to >= 0 &&
                      H5Sselect_hyperslab(from, H5S_SELECT_SET, begin + skip, NULL, count + skip,
                                          NULL) >= 0 &&
                      H5Sselect_hyperslab(to, H5S_SELECT_SET, none, NULL, wanted, NULL) >= 0 &&
                      H5Dread(array->id, type, to, from, H5P_DEFAULT, out) >= 0;
    if (to >= 0)
        H5Sclose(to);
    if (from >= 0)
        H5Sclose(from);
    return done;
}

/** Read one array into out->pos from particle `first` on. */
static io_status read_array(io_file *file, const io_array *array, io_particles *out, int64_t first)
{
    const int64_t rows = (int64_t)slab_rows(array);
    for (int64_t at = 0; at < array->n; at += rows) {
        const int64_t n = array->n - at < rows ? array->n - at : rows;
        char *pos = (char *)out->pos + (size_t)(first + at) * 3 * out->precision;
        if (!read_slab(array, (hsize_t)file->options->frame, (hsize_t)at, (hsize_t)n,
                       out->precision, pos))
            return io__file_fail(file, IO_TRUNCATED,
                                 "rows %lld to %lld of dataset %s cannot be "
                                 "read: cut short, damaged, or packed by a filter that is not "
                                 "installed",
                                 (long long)at, (long long)(at + n - 1), array->name);
        const double part = (double)(first + at + n) / (double)out->n;
        IO_TRY(io__file_watch(file, (int64_t)(part * (double)file->size)));
    }
    return IO_OK;
}

static io_status read_arrays(io_file *file, const io_arrays *arrays, io_particles *out)
{
    int64_t n = 0;
    kith_precision native = KITH_FLOAT;
    if (arrays->n == 0)
        return io__file_fail(file, IO_INVALID,
                             "has no PartType*/Coordinates, Coordinates, "
                             "positions or particles/*/position/value; choose a dataset (`kith "
                             "info` lists them)");
    for (int k = 0; k < arrays->n; k++) {
        const io_array *array = &arrays->item[k];
        n += array->n;
        native = array->precision == KITH_DOUBLE ? KITH_DOUBLE : native;
        if (array->dim != arrays->item[0].dim)
            return io__file_fail(file, IO_FORMAT, "has %d coordinates in %s but %d in %s",
                                 arrays->item[0].dim, arrays->item[0].name, array->dim,
                                 array->name);
        if (file->options->frame >= array->frames)
            return io__file_fail(file, IO_INVALID,
                                 "has %lld frames in %s, counted from 0; frame "
                                 "%lld was asked for",
                                 (long long)array->frames, array->name,
                                 (long long)file->options->frame);
    }
    IO_TRY(io__particles_alloc(file, out, n, arrays->item[0].dim, native));
    IO_TRY(io__hdf5_box(file, arrays->file, &out->has_box, &out->box));
    out->box.dim = out->dim;
    int64_t first = 0;
    for (int k = 0; k < arrays->n; first += arrays->item[k++].n)
        IO_TRY(read_array(file, &arrays->item[k], out, first));
    return IO_OK;
}

io_status io__hdf5_read(io_file *file, io_particles *out)
{
    io_quiet quiet;
    io_arrays arrays;
    io__quiet_begin(&quiet);
    io_status status = io__arrays_open(file, &arrays);
    if (status == IO_OK)
        status = read_arrays(file, &arrays, out);
    io__arrays_close(&arrays);
    io__quiet_end(&quiet);
    return status;
}

static void describe_type(hid_t dataset, char *out)
{
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const unsigned bits = type >= 0 ? (unsigned)(8 * H5Tget_size(type)) : 0;
    const bool is_unsigned = kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
    if (kind == H5T_FLOAT)
        snprintf(out, IO_NAME_LENGTH, "float%u", bits);
    else if (kind == H5T_INTEGER)
        snprintf(out, IO_NAME_LENGTH, "%sint%u", is_unsigned ? "u" : "", bits);
    else
        snprintf(out, IO_NAME_LENGTH, kind == H5T_STRING ? "string" : "other");
    if (type >= 0)
        H5Tclose(type);
}

static void describe_shape(hid_t dataset, char *out)
{
    hsize_t shape[H5S_MAX_RANK] = {0};
    const hid_t space = H5Dget_space(dataset);
    const int rank = space >= 0 ? H5Sget_simple_extent_dims(space, shape, NULL) : 0;
    size_t used = (size_t)snprintf(out, IO_NAME_LENGTH, "(");
    for (int k = 0; k < rank && used < IO_NAME_LENGTH; k++)
        used += (size_t)snprintf(out + used, IO_NAME_LENGTH - used, "%s%llu", k ? ", " : "",
                                 (unsigned long long)shape[k]);
    if (used < IO_NAME_LENGTH)
        snprintf(out + used, IO_NAME_LENGTH - used, rank == 1 ? ",)" : ")");
    if (space >= 0)
        H5Sclose(space);
}

typedef struct visit {
    io_summary *out;
    int objects; /* seen so far: links may go round in circles */
} visit;

/** List the datasets of a group and of the groups in it. */
static void list_group(visit *seen, hid_t group, const char *path, int depth)
{
    enum { MOST_OBJECTS = 10000, MOST_DEPTH = 8 };
    H5G_info_t facts = {0};
    if (depth == MOST_DEPTH || H5Gget_info(group, &facts) < 0)
        return;
    for (hsize_t k = 0; k < facts.nlinks && seen->objects < MOST_OBJECTS; k++) {
        char name[128] = "", full[IO_HDF5_NAME];
        seen->objects++;
        if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name,
                               H5P_DEFAULT) < 0)
            continue;
        const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
        if (object < 0)
            continue;
        snprintf(full, sizeof full, "%.100s/%.120s", path, name);
        io_summary *out = seen->out;
        if (H5Iget_type(object) == H5I_GROUP) {
            list_group(seen, object, full, depth + 1);
        } else if (H5Iget_type(object) == H5I_DATASET && out->n_fields < IO_MAX_SPECIES) {
            const int field = out->n_fields++;
            io__copy_name(out->fields[field].name, IO_NAME_LENGTH, full, strlen(full));
            describe_type(object, out->fields[field].type);
            describe_shape(object, out->fields[field].shape);
        }
        H5Oclose(object);
    }
}

static io_status summarise(io_file *file, const io_arrays *arrays, io_summary *out)
{
    visit seen = {out, 0};
    snprintf(out->description, sizeof out->description, "HDF5%s%.200s",
             arrays->n > 0 ? ", coordinates in " : ", no coordinates found",
             arrays->n > 0 ? arrays->item[0].name : "");
    for (int k = 0; k < arrays->n; k++) {
        const io_array *array = &arrays->item[k];
        io__copy_name(out->species[k].name, IO_NAME_LENGTH, array->name, strcspn(array->name, "/"));
        out->species[k].n = array->n;
        out->n += array->n;
        out->frames = array->frames;
        if (out->precision != KITH_DOUBLE)
            out->precision = array->precision;
    }
    if (arrays->n > 0 && strncmp(arrays->item[0].name, "PartType", 8) == 0)
        out->n_species = arrays->n;
    out->has_time = io__attribute_read(arrays->file, "Header", "Time", &out->time, 1) == 1;
    list_group(&seen, arrays->file, "", 0);
    return io__hdf5_box(file, arrays->file, &out->has_box, &out->box);
}

io_status io__hdf5_inspect(io_file *file, io_summary *out)
{
    io_quiet quiet;
    io_arrays arrays;
    io__quiet_begin(&quiet);
    io_status status = io__arrays_open(file, &arrays);
    if (status == IO_OK)
        status = summarise(file, &arrays, out);
    io__arrays_close(&arrays);
    io__quiet_end(&quiet);
    return status;
}
