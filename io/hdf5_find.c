/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where an HDF5 file keeps its coordinates: /PartType0/Coordinates and its sisters (Gadget, AREPO,
 * SWIFT), /Coordinates, /positions, or /particles/GROUP/position/value (H5MD).
 */
#include "io_hdf5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void io__quiet_begin(io_quiet *quiet)
{
    /* A damaged file may leave the library with ids that it cannot close; at exit it would
       complain, or crash. All that kith writes is closed before. */
    H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &quiet->print, &quiet->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void io__quiet_end(const io_quiet *quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet->print, quiet->data);
}

int io__attribute_read(hid_t file, const char *object, const char *name, double *out, int most)
{
    int n = 0;
    if (H5Lexists(file, object, H5P_DEFAULT) <= 0 ||
        H5Aexists_by_name(file, object, name, H5P_DEFAULT) <= 0)
        return 0;
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (count > 0 && count <= most && H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0)
        n = (int)count;
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return n;
}

io_status io__hdf5_box(io_file *file, hid_t id, bool *has_box, kith_box *out)
{
    double length[3];
    const int n = io__attribute_read(id, "Header", "BoxSize", length, 3);
    if (n != 1 && n != 3)
        return IO_OK;
    if (n == 1)
        length[1] = length[2] = length[0];
    for (int axis = 0; axis < 3; axis++)
        if (!isfinite(length[axis]) || length[axis] < 0)
            return io__file_fail(file, IO_FORMAT, "Header/BoxSize is %g; expected a length",
                                 length[axis]);
    if (length[0] == 0 || length[1] == 0 || length[2] == 0)
        return IO_OK; /* what Gadget writes for open space */
    *has_box = true;
    *out = io__box_periodic(length);
    return IO_OK;
}

static io_status check_type(io_file *file, io_array *array)
{
    const hid_t type = H5Dget_type(array->id);
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0)
        H5Tclose(type);
    if (kind != H5T_FLOAT && kind != H5T_INTEGER)
        return io__file_fail(file, IO_FORMAT, "dataset %s holds no numbers", array->name);
    if (size > 16) /* a quadruple; a damaged file may say gigabytes */
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has numbers of %zu bytes; expected at "
                             "most 16",
                             array->name, size);
    array->precision = kind == H5T_FLOAT && size <= 4 ? KITH_FLOAT : KITH_DOUBLE;
    return IO_OK;
}

static io_status check_shape(io_file *file, io_array *array)
{
    hsize_t shape[3] = {0};
    const hid_t space = H5Dget_space(array->id);
    array->rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    if (array->rank == 2 || array->rank == 3)
        H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0)
        H5Sclose(space);
    if (array->rank != 2 && array->rank != 3)
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has %d dimensions; expected shape "
                             "(n, 3), (n, 2) or (frames, n, 3)",
                             array->name, array->rank);
    const hsize_t frames = array->rank == 3 ? shape[0] : 1;
    const hsize_t n = shape[array->rank - 2];
    const hsize_t dim = shape[array->rank - 1];
    if (dim != 2 && dim != 3)
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has rows of %llu; expected 3 or 2 "
                             "coordinates",
                             array->name, (unsigned long long)dim);
    if (n > INT32_MAX || frames > INT64_MAX)
        return io__file_fail(file, IO_LIMIT,
                             "dataset %s holds %llu particles; at most %d can be "
                             "read",
                             array->name, (unsigned long long)n, INT32_MAX);
    array->dim = (int)dim;
    array->n = (int64_t)n;
    array->frames = (int64_t)frames;
    return IO_OK;
}

/** Bytes of one chunk in memory; 0 when the dataset has none. */
static double chunk_bytes(const io_array *array, hid_t plan)
{
    hsize_t chunk[3] = {0};
    if (H5Pget_layout(plan) != H5D_CHUNKED || H5Pget_chunk(plan, 3, chunk) != array->rank)
        return 0;
    double bytes = sizeof(double);
    for (int k = 0; k < array->rank; k++)
        bytes *= (double)chunk[k];
    return bytes;
}

/** See that the file is large enough to hold what it announces, however well compressed. */
static io_status check_storage(io_file *file, const io_array *array)
{
    const double most_ratio = 1032; /* no deflate stream grows by more */
    const double most = most_ratio * (double)file->size;
    const hid_t plan = H5Dget_create_plist(array->id);
    if (plan < 0)
        return io__file_fail(file, IO_FORMAT, "dataset %s is damaged", array->name);
    const bool elsewhere = H5Pget_layout(plan) == H5D_VIRTUAL || H5Pget_external_count(plan) > 0;
    const double chunk = chunk_bytes(array, plan);
    H5Pclose(plan);
    if (chunk > most && chunk > IO_BLOCK)
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s announces chunks of %.3g bytes, more "
                             "than a file of %lld bytes can fill",
                             array->name, chunk, (long long)file->size);
    if (!elsewhere && (double)(array->n * array->dim) > most)
        return io__file_fail(file, IO_TRUNCATED,
                             "dataset %s announces %lld particles, more than "
                             "%lld bytes can hold",
                             array->name, (long long)array->n, (long long)file->size);
    return IO_OK;
}

static io_status add_array(io_file *file, io_arrays *arrays, const char *name)
{
    if (arrays->n == IO_HDF5_TYPES)
        return io__file_fail(file, IO_LIMIT, "has more than %d datasets of coordinates",
                             IO_HDF5_TYPES);
    io_array *array = &arrays->item[arrays->n];
    snprintf(array->name, sizeof array->name, "%s", name);
    array->id = H5Dopen2(arrays->file, name, H5P_DEFAULT);
    if (array->id < 0)
        return io__file_fail(file, IO_FORMAT,
                             "has no readable dataset %s; `kith info` lists those "
                             "it has",
                             name);
    arrays->n++;
    IO_TRY(check_type(file, array));
    IO_TRY(check_shape(file, array));
    return check_storage(file, array);
}

/** True when every part of the path a/b/c is there. */
static bool exists(hid_t file, const char *path)
{
    char part[IO_HDF5_NAME];
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        if (H5Lexists(file, part, H5P_DEFAULT) <= 0)
            return false;
    }
    return H5Lexists(file, path, H5P_DEFAULT) > 0;
}

static io_status find_types(io_file *file, io_arrays *arrays, io_species *wanted)
{
    for (int type = 0; type < IO_HDF5_TYPES; type++) {
        char group[32], name[64];
        snprintf(group, sizeof group, "PartType%d", type);
        snprintf(name, sizeof name, "%s/Coordinates", group);
        const int at = io__species_find(wanted, (io_token){group, strlen(group)});
        if ((wanted->n > 0 && at < 0) || !exists(arrays->file, name))
            continue;
        IO_TRY(add_array(file, arrays, name));
        if (at >= 0)
            wanted->item[at].n = arrays->item[arrays->n - 1].n;
    }
    double files = 1;
    io__attribute_read(arrays->file, "Header", "NumFilesPerSnapshot", &files, 1);
    if (arrays->n > 0 && files > 1)
        return io__file_fail(file, IO_INVALID,
                             "is one of %g files of a snapshot; join them first, "
                             "or name its dataset %s to read this part alone",
                             files, arrays->item[0].name);
    return IO_OK;
}

static io_status find_groups(io_file *file, io_arrays *arrays)
{
    enum { MOST_GROUPS = 1000 };
    H5G_info_t facts = {0};
    if (!exists(arrays->file, "particles") ||
        H5Gget_info_by_name(arrays->file, "particles", &facts, H5P_DEFAULT) < 0)
        return IO_OK;
    for (hsize_t k = 0; k < facts.nlinks && k < MOST_GROUPS; k++) {
        char group[128] = "", name[IO_HDF5_NAME];
        if (H5Lget_name_by_idx(arrays->file, "particles", H5_INDEX_NAME, H5_ITER_INC, k, group,
                               sizeof group, H5P_DEFAULT) < 0)
            continue;
        snprintf(name, sizeof name, "particles/%s/position/value", group);
        if (exists(arrays->file, name))
            IO_TRY(add_array(file, arrays, name));
    }
    return IO_OK;
}

static io_status find_by_convention(io_file *file, io_arrays *arrays)
{
    static const char *const names[] = {"Coordinates", "positions"};
    io_species wanted;
    IO_TRY(io__species_parse(file, &wanted));
    IO_TRY(find_types(file, arrays, &wanted));
    IO_TRY(io__species_check(file, &wanted));
    for (size_t k = 0; k < sizeof names / sizeof *names && arrays->n == 0; k++)
        if (exists(arrays->file, names[k]))
            IO_TRY(add_array(file, arrays, names[k]));
    return arrays->n == 0 ? find_groups(file, arrays) : IO_OK;
}

io_status io__arrays_open(io_file *file, io_arrays *out)
{
    *out = (io_arrays){.file = io__source_open(file->path)};
    if (out->file < 0)
        return io__file_fail(file, IO_TRUNCATED,
                             "begins as an HDF5 file, but cannot be opened: "
                             "cut short or damaged");
    if (file->options->dataset)
        return add_array(file, out, file->options->dataset);
    return find_by_convention(file, out);
}

void io__arrays_close(io_arrays *arrays)
{
    for (int k = 0; k < arrays->n; k++)
        H5Dclose(arrays->item[k].id);
    if (arrays->file >= 0)
        H5Fclose(arrays->file);
    arrays->n = 0;
    arrays->file = -1;
}
