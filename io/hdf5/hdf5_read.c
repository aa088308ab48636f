/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Particles from HDF5 files. A file with groups PartType0, PartType1, ... is a snapshot
 * (hdf5_snapshot.c). Of any other file the coordinates alone are read: the dataset that was named,
 * else /Coordinates, /positions, or /particles/GROUP/position/value (H5MD).
 */
#include "io_hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------- where coordinates are */

/** Open a dataset of coordinates, and append it to the list. */
static io_status add_array(io_file *file, hid_t id, io_arrays *arrays, const char *name)
{
    if (arrays->n == IO_HDF5_ARRAYS) {
        return io__file_fail(file, IO_LIMIT, "has more than %d datasets of coordinates",
                             IO_HDF5_ARRAYS);
    }
    io_array *array = &arrays->item[arrays->n];
    IO_TRY(io__array_open(file, id, name, 3, array));
    arrays->n++;
    return io__array_check_coordinates(file, array);
}

/** Append the positions of all groups of H5MD: /particles/GROUP/position/value. */
static io_status find_groups(io_file *file, hid_t id, io_arrays *arrays)
{
    enum { MOST_GROUPS = 1000 };
    H5G_info_t facts = {0};
    bool found;
    IO_TRY(io__hdf5_find(file, id, "particles", &found));
    if (!found) {
        return IO_OK;
    }
    const hid_t particles = H5Oopen(id, "particles", H5P_DEFAULT);
    const bool is_group = particles < 0 || H5Iget_type(particles) == H5I_GROUP;
    const bool read = !is_group || H5Gget_info(particles, &facts) >= 0;
    io__close(particles);
    if (!read) {
        return io__file_fail(file, IO_FORMAT,
                             "group particles cannot be opened: damaged, or a "
                             "link that leads nowhere");
    }
    if (facts.nlinks > MOST_GROUPS) {
        return io__file_fail(file, IO_LIMIT, "has %llu groups in particles; at most %d can be read",
                             (unsigned long long)facts.nlinks, MOST_GROUPS);
    }
    for (hsize_t k = 0; k < facts.nlinks; k++) {
        char group[IO_HDF5_NAME - sizeof "particles//position/value"] = "", name[IO_HDF5_NAME];
        const ssize_t length = H5Lget_name_by_idx(id, "particles", H5_INDEX_NAME, H5_ITER_INC, k,
                                                  group, sizeof group, H5P_DEFAULT);
        if (length < 0 || length >= (ssize_t)sizeof group) {
            return io__file_fail(file, IO_FORMAT, "link %llu of particles cannot be read: %s",
                                 (unsigned long long)k, length < 0 ? "damaged" : "name too long");
        }
        snprintf(name, sizeof name, "particles/%s/position/value", group);
        IO_TRY(io__hdf5_find(file, id, name, &found));
        if (found) {
            IO_TRY(add_array(file, id, arrays, name));
        }
    }
    return IO_OK;
}

io_status io__arrays_open(io_file *file, hid_t id, io_arrays *out)
{
    static const char *const names[] = {"Coordinates", "positions"};
    *out = (io_arrays){0};
    if (file->options->dataset) {
        return add_array(file, id, out, file->options->dataset);
    }
    io_species wanted;
    IO_TRY(io__species_parse(file, &wanted));
    /* Fails if the options name a species: files of this kind have none. */
    IO_TRY(io__species_check(file, &wanted));
    for (size_t k = 0; k < sizeof names / sizeof *names && out->n == 0; k++) {
        bool found;
        IO_TRY(io__hdf5_find(file, id, names[k], &found));
        if (found) {
            IO_TRY(add_array(file, id, out, names[k]));
        }
    }
    return out->n == 0 ? find_groups(file, id, out) : IO_OK;
}

void io__arrays_close(io_arrays *arrays)
{
    for (int k = 0; k < arrays->n; k++) {
        io__array_close(&arrays->item[k]);
    }
    arrays->n = 0;
}

/* --------------------------------------------------------------------------- coordinates, read */

/** Check that there are arrays, that all have the frame of the options, and that it was stored at
 *  one step or time in all of them. */
static io_status check_arrays(io_file *file, const io_arrays *arrays)
{
    if (arrays->n == 0) {
        return io__file_fail(file, IO_INVALID,
                             "has no PartType*/Coordinates, Coordinates, "
                             "positions or particles/*/position/value; choose a dataset (`kith "
                             "info` lists them)");
    }
    const io_array *first = &arrays->item[0];
    for (int k = 0; k < arrays->n; k++) {
        const io_array *array = &arrays->item[k];
        if (array->columns != first->columns) {
            return io__file_fail(file, IO_FORMAT, "has %d coordinates in %s but %d in %s",
                                 (int)first->columns, first->name, (int)array->columns,
                                 array->name);
        }
        if (file->options->frame >= array->frames) {
            char where[IO_HDF5_NAME + 8];
            (void)snprintf(where, sizeof where, " in %s", array->name);
            return io__file_fail_frame(file, where, array->frames, file->options->frame);
        }
        if (k > 0) {
            IO_TRY(io__h5md_check_clocks(file, first, array, file->options->frame));
        }
    }
    return IO_OK;
}

/** Read the box from the attribute BoxSize. */
static io_status read_box(io_file *file, hid_t id, bool *has_box, kith_box *out)
{
    io_header header = {.files = 1};
    IO_TRY(io__hdf5_box(file, id, header.box));
    IO_TRY(io__header_check(file, &header));
    *out = io__header_box(&header, has_box);
    return IO_OK;
}

/** Read radii that are an element of the group of H5MD of an array of positions.
 *  @param to  receives `count` radii, those of the array from `skip` on */
static io_status read_h5md_radii(io_file *file, const io_array *array, int64_t skip, int64_t count,
                                 const io_field *to)
{
    bool found = false;
    double *radii = malloc(((size_t)count + 1) * sizeof *radii);
    if (!radii) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the radii of %lld particles",
                             (long long)count);
    }
    io_status status = io__h5md_column(file, array, file->options->radii, file->options->frame,
                                       skip, count, H5T_NATIVE_DOUBLE, radii, &found);
    if (status == IO_OK && !found) {
        status = io__file_fail(file, IO_MISSING, "has no radii '%.60s' beside %s",
                               file->options->radii, array->name);
    }
    for (int64_t k = 0; k < count && status == IO_OK; k++) {
        io_put_real(to->out, k, to->precision, radii[k]);
    }
    free(radii);
    return status;
}

/** Read the radii of an array of coordinates: those of its group of H5MD, else a dataset in the
 *  group of the coordinates, else the dataset of this path.
 *  @param to  receives `count` radii, those of the array from `skip` on */
static io_status read_radii(io_file *file, hid_t id, const io_array *array, int64_t skip,
                            int64_t count, const io_field *to, io_progress *progress)
{
    const char *name = file->options->radii;
    const char *slash = strrchr(array->name, '/');
    char group[IO_HDF5_NAME], beside[2 * IO_HDF5_NAME];
    io_array radii;
    bool found = false;
    io__h5md_group(array, group);
    if (group[0]) {
        return read_h5md_radii(file, array, skip, count, to);
    }
    const int length = snprintf(beside, sizeof beside, "%.*s%s",
                                slash ? (int)(slash + 1 - array->name) : 0, array->name, name);
    if (*name != '/' && length < (int)sizeof beside) {
        IO_TRY(io__hdf5_find(file, id, beside, &found));
    }
    IO_TRY(io__array_open(file, id, found ? beside : name, 3, &radii));
    io_status status = io__array_check_rows(file, &radii, array->n, 1);
    if (status == IO_OK) {
        status = io__array_read_rows(file, &radii, 0, skip, count, to, progress);
    }
    io__array_close(&radii);
    return status;
}

io_status io__arrays_read(io_file *file, hid_t id, const io_arrays *arrays, io_particles *out)
{
    IO_TRY(check_arrays(file, arrays));
    const int dim = (int)arrays->item[0].columns;
    int64_t n = 0, frames = INT64_MAX;
    kith_precision native = KITH_FLOAT;
    for (int k = 0; k < arrays->n; k++) {
        frames = arrays->item[k].frames < frames ? arrays->item[k].frames : frames;
        n += arrays->item[k].n;
        native = arrays->item[k].precision == KITH_DOUBLE ? KITH_DOUBLE : native;
    }
    IO_TRY(io__particles_alloc(file, out, n, dim, native));
    out->frames = frames;
    IO_TRY(read_box(file, id, &out->has_box, &out->box));
    if (!out->has_box) {
        IO_TRY(
            io__h5md_box(file, &arrays->item[0], file->options->frame, &out->has_box, &out->box));
    }
    out->box.dim = out->dim;
    const bool radii = file->options->radii != NULL;
    IO_TRY(io__particles_add(file, out, radii ? IO_RADII : 0));
    io_progress progress = {0, (radii ? 4 : 3) * out->n};
    int64_t row = 0;
    for (int k = 0; k < arrays->n; row += arrays->item[k++].n) {
        int64_t count = arrays->item[k].n, skip;
        const int64_t to = io__particles_cut(out, row, &count, &skip);
        const io_field field = io__particles_field(out, IO_POSITIONS, to, 0, (io_scalar){0});
        IO_TRY(io__array_read_rows(file, &arrays->item[k], file->options->frame, skip, count,
                                   &field, &progress));
        if (radii) {
            const io_field lengths = io__particles_field(out, IO_RADII, to, 0, (io_scalar){0});
            IO_TRY(read_radii(file, id, &arrays->item[k], skip, count, &lengths, &progress));
        }
    }
    return io__h5md_unit(file, arrays, out->unit);
}

/** Open a file and find out whether it is a snapshot; if it is none, open its coordinates. */
static io_status open_file(io_file *file, hid_t *id, bool *is_snapshot, io_arrays *arrays)
{
    *arrays = (io_arrays){0};
    IO_TRY(io__hdf5_open(file, id));
    if (!file->options->dataset) {
        IO_TRY(io__hdf5_is_snapshot(file, *id, is_snapshot));
    }
    return *is_snapshot ? IO_OK : io__arrays_open(file, *id, arrays);
}

/** Describe a file that is no snapshot. */
static io_status summarise(io_file *file, hid_t id, const io_arrays *arrays, io_summary *out)
{
    snprintf(out->description, sizeof out->description, "HDF5%s%.200s",
             arrays->n > 0 ? ", coordinates in " : ", no coordinates found",
             arrays->n > 0 ? arrays->item[0].name : "");
    for (int k = 0; k < arrays->n; k++) {
        const io_array *array = &arrays->item[k];
        out->n += array->n;
        out->frames = array->frames;
        if (out->precision != KITH_DOUBLE) {
            out->precision = array->precision;
        }
    }
    int n;
    IO_TRY(io__attribute_read(file, id, "Header", "Time", &out->time, 1, &n));
    out->has_time = n > 0;
    io__hdf5_list(id, out);
    IO_TRY(io__h5md_unit(file, arrays, out->unit));
    IO_TRY(read_box(file, id, &out->has_box, &out->box));
    if (!out->has_box && arrays->n > 0) {
        IO_TRY(io__h5md_box(file, &arrays->item[0], 0, &out->has_box, &out->box));
    }
    return IO_OK;
}

/** Read the particles of a file or, if `out` is NULL, describe it. */
static io_status visit(io_file *file, io_particles *out, io_summary *summary)
{
    io_arrays arrays;
    hid_t id = -1;
    bool is_snapshot = false;
    io_status status = open_file(file, &id, &is_snapshot, &arrays);
    if (status == IO_OK && !is_snapshot) {
        status = out ? io__arrays_read(file, id, &arrays, out)
                     : summarise(file, id, &arrays, summary);
    }
    io__arrays_close(&arrays);
    io__close(id);
    if (status == IO_OK && is_snapshot) {
        status = out ? io__snapshot_read(file, &io__hdf5_snapshot, out)
                     : io__snapshot_inspect(file, &io__hdf5_snapshot, summary);
    }
    return status;
}

io_status io__hdf5_read(io_file *file, io_particles *out)
{
    return visit(file, out, NULL);
}

io_status io__hdf5_inspect(io_file *file, io_summary *out)
{
    return visit(file, NULL, out);
}
