/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing the format of a catalogue, and what the formats share.
 */
#include "catalogue_internal.h"

#include <stdio.h>
#include <strings.h>

/** The formats of catalogues: name, endings of paths, writer. */
static const struct {
    const char *name, *endings[2];
    io_catalogue_writer write;
} formats[] = {
    [IO_CATALOGUE_CSV] = {"csv", {".csv"}, io__catalogue_csv},
    [IO_CATALOGUE_ROCKSTAR] = {"rockstar", {".list", ".txt"}, io__catalogue_rockstar},
    [IO_CATALOGUE_GADGET4] = {"gadget4", {".hdf5", ".h5"}, io__catalogue_gadget4},
    [IO_CATALOGUE_SWIFT] = {"swift", {NULL}, io__catalogue_swift},
};

bool io_catalogue_format_find(const char *name, io_catalogue_format *out)
{
    for (int k = IO_CATALOGUE_CSV; k <= IO_CATALOGUE_SWIFT; k++) {
        if (strcasecmp(name, formats[k].name) == 0) {
            *out = (io_catalogue_format)k;
            return true;
        }
    }
    return false;
}

io_status io__catalogue_write(const char *path, io_catalogue_writer writer,
                              const io_catalogue *catalogue, io_error *error)
{
    io_output output;
    IO_TRY(io__output_open(&output, path, error));
    const locale_t before = io__locale_set_c();
    const io_status status = writer(&output, catalogue);
    io__locale_restore(before);
    return io__output_end(&output, status);
}

io_status io_write_catalogue(const char *path, io_catalogue_format format,
                             const io_catalogue *catalogue, io_error *error)
{
    *error = (io_error){0};
    for (int k = IO_CATALOGUE_CSV; k <= IO_CATALOGUE_SWIFT && format == IO_CATALOGUE_BY_NAME; k++) {
        for (int e = 0; e < 2 && formats[k].endings[e]; e++) {
            if (io__ends_with(path, formats[k].endings[e])) {
                format = (io_catalogue_format)k;
            }
        }
    }
    if (format == IO_CATALOGUE_BY_NAME) {
        return io__fail(error, path, IO_INVALID,
                        "its ending tells no format of catalogues; expected .csv, .list, .txt, "
                        ".hdf5 or .h5");
    }
    return io__catalogue_write(path, formats[format].write, catalogue, error);
}

io_status io_write_sorted(const char *path, const io_catalogue *catalogue, io_error *error)
{
    *error = (io_error){0};
    if (!io__ends_with(path, ".hdf5") && !io__ends_with(path, ".h5")) {
        return io__fail(error, path, IO_INVALID,
                        "its ending tells no format of sorted snapshots; expected .hdf5 or .h5");
    }
    return io__catalogue_write(path, io__sorted_snapshot, catalogue, error);
}

io_status io__catalogue_check_box(io_output *output, const io_catalogue *catalogue)
{
    const kith_box *box = catalogue->box;
    int periodic = 0;
    bool upright = true;
    for (int k = 0; k < box->dim; k++) {
        periodic += box->periodic[k] != 0;
        for (int axis = 0; axis < box->dim; axis++) {
            upright = upright && (axis == k || box->row[k][axis] == 0);
        }
    }
    if (periodic == 0 || (upright && periodic == box->dim)) {
        return IO_OK;
    }
    return io__output_fail(output, IO_INVALID,
                           "%s box has no place in this layout; expected one that is upright and "
                           "periodic along all axes, or along none. .csv and .list take any",
                           upright ? "a partly periodic" : "a skewed");
}

bool io__catalogue_lengths(const io_catalogue *catalogue, double out[3])
{
    const kith_box *box = catalogue->box;
    for (int k = 0; k < 3; k++) {
        out[k] = box->periodic[0] ? box->row[k < box->dim ? k : 0][k < box->dim ? k : 0] : 0;
    }
    return out[1] == out[0] && out[2] == out[0];
}
