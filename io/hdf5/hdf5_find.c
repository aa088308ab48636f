/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where an HDF5 file that is no snapshot keeps its coordinates: the dataset that was named,
 * /Coordinates, /positions, or /particles/GROUP/position/value (H5MD).
 */
#include "io_hdf5.h"

#include <stdio.h>

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

static io_status find_groups(io_file *file, hid_t id, io_arrays *arrays)
{
    enum { MOST_GROUPS = 1000 };
    H5G_info_t facts = {0};
    if (!io__hdf5_exists(id, "particles") ||
        H5Gget_info_by_name(id, "particles", &facts, H5P_DEFAULT) < 0) {
        return IO_OK;
    }
    for (hsize_t k = 0; k < facts.nlinks && k < MOST_GROUPS; k++) {
        char group[128] = "", name[IO_HDF5_NAME];
        if (H5Lget_name_by_idx(id, "particles", H5_INDEX_NAME, H5_ITER_INC, k, group, sizeof group,
                               H5P_DEFAULT) < 0) {
            continue;
        }
        snprintf(name, sizeof name, "particles/%s/position/value", group);
        if (io__hdf5_exists(id, name)) {
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
    IO_TRY(io__species_check(file, &wanted)); /* such files have none */
    for (size_t k = 0; k < sizeof names / sizeof *names && out->n == 0; k++) {
        if (io__hdf5_exists(id, names[k])) {
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
