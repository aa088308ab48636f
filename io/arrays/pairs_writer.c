/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of pairs, written block by block: what is the same for every format.
 */
#include "core/io_internal.h"

#include <stdlib.h>
#include <string.h>

/** The fields of a list, with their data when there are pairs. @return their number. */
static int list_columns(const io_pairs_layout *layout, const kith_pairs *pairs,
                        io_column out[IO_PAIR_COLUMNS])
{
    static const kith_pairs none;
    const kith_pairs *p = pairs ? pairs : &none;
    const int real = (int)layout->precision;
    const io_column all[IO_PAIR_COLUMNS] = {
        {"i", (const char *)p->i, 'i', 4, 1},          {"j", (const char *)p->j, 'i', 4, 1},
        {"distance", p->distances, 'f', real, 1},      {"vector", p->vectors, 'f', real, 3},
        {"shift", (const char *)p->shifts, 'i', 4, 3},
    };
    const bool wanted[IO_PAIR_COLUMNS] = {1, 1, layout->extras & KITH_DISTANCES,
                                          layout->extras & KITH_VECTORS,
                                          layout->extras & KITH_SHIFTS};
    int n = 0;
    for (int k = 0; k < IO_PAIR_COLUMNS; k++) {
        if (wanted[k]) {
            out[n++] = all[k];
        }
    }
    return n;
}

static io_format format_by_ending(const char *path)
{
    static const struct {
        const char *ending;
        io_format format;
    } known[] = {{".npy", IO_NPY},  {".h5", IO_HDF5},  {".hdf5", IO_HDF5}, {".hdf", IO_HDF5},
                 {".txt", IO_TEXT}, {".dat", IO_TEXT}, {".csv", IO_TEXT}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (io__ends_with(path, known[k].ending)) {
            return known[k].format;
        }
    }
    return IO_UNKNOWN;
}

static const io_pairs_format *find_format(io_format format)
{
    switch (format) {
    case IO_NPY: return &io__pairs_npy;
    case IO_HDF5: return &io__pairs_hdf5;
    case IO_TEXT: return &io__pairs_text;
    default: return NULL;
    }
}

static io_status check_layout(const char *path, const io_pairs_layout *layout, io_format format,
                              io_error *error)
{
    if (layout->precision != KITH_FLOAT && layout->precision != KITH_DOUBLE) {
        return io__fail(error, path, IO_INVALID,
                        "precision %d; expected KITH_FLOAT or "
                        "KITH_DOUBLE",
                        (int)layout->precision);
    }
    if (format == IO_UNKNOWN) {
        return io__fail(error, path, IO_INVALID,
                        "its ending tells no format; expected .npy, "
                        ".h5, .hdf5, .txt, .dat or .csv");
    }
    if (!find_format(format)) {
        return io__fail(error, path, IO_INVALID,
                        "pairs cannot be written as %s; expected NumPy, "
                        "HDF5 or text",
                        io_format_name(format));
    }
    return IO_OK;
}

io_status io_pairs_open(const char *path, const io_pairs_layout *layout, io_pairs_writer **out,
                        io_error *error)
{
    error = io__error_begin(error);
    *out = NULL;
    const io_format format = layout->format ? layout->format : format_by_ending(path);
    IO_TRY(check_layout(path, layout, format, error));
    io_pairs_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    }
    writer->format = find_format(format);
    writer->layout = *layout;
    writer->csv = io__ends_with(path, ".csv");
    writer->n_columns = list_columns(layout, NULL, writer->columns);
    io_status status = strcmp(path, "-") == 0 && writer->format == &io__pairs_text
                           ? io__output_stdout(&writer->output, error)
                           : io__output_open(&writer->output, path, error);
    if (status == IO_OK) {
        status = writer->format->begin(writer);
    }
    if (status != IO_OK) {
        io_pairs_abort(writer);
    } else {
        *out = writer;
    }
    return status;
}

io_status io_pairs_write(io_pairs_writer *writer, const kith_pairs *pairs, io_error *error)
{
    writer->output.error = io__error_begin(error);
    list_columns(&writer->layout, pairs, writer->columns);
    for (int k = 0; k < writer->n_columns && pairs->n > 0; k++) {
        if (!writer->columns[k].data) {
            return io__output_fail(&writer->output, IO_INVALID, "a block of pairs lacks its %s",
                                   writer->columns[k].name);
        }
    }
    const io_status status = writer->format->write(writer, writer->columns, pairs->n);
    writer->n += status == IO_OK ? pairs->n : 0;
    writer->failed = writer->failed || status != IO_OK;
    return status;
}

static void drop(io_pairs_writer *writer)
{
    if (writer->format->drop) {
        writer->format->drop(writer);
    }
}

io_status io_pairs_commit(io_pairs_writer *writer, io_error *error)
{
    writer->output.error = io__error_begin(error);
    io_status status = IO_OK;
    if (writer->failed) {
        status = io__output_fail(&writer->output, IO_INVALID, "an earlier block failed");
    } else if (writer->format->end) {
        status = writer->format->end(writer);
    }
    drop(writer);
    status = io__output_end(&writer->output, status);
    free(writer);
    return status;
}

void io_pairs_abort(io_pairs_writer *writer)
{
    if (!writer) {
        return;
    }
    drop(writer);
    io__output_abort(&writer->output);
    free(writer);
}
