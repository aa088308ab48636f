/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_read and io_inspect: find the format, check that the options apply to it, and call its reader.
 * Writing a file of given bytes.
 */
#include "trajectories/frames.h"

#include <stdlib.h>

/** The reader of a format. */
typedef struct io_reader {
    const char *name; /* name of the format */
    /* Read particles; NULL: the format is read as a trajectory alone. */
    io_status (*read)(io_file *file, io_particles *out);
    /* Fill a summary; NULL: the format is read as a trajectory alone. */
    io_status (*inspect)(io_file *file, io_summary *out);
    bool dataset; /* options->dataset applies to the format */
    bool columns; /* options->columns applies to the format */
    bool species; /* options->species applies to the format */
    bool frames;  /* options->frame applies to the format */
    bool parts;   /* options->parts applies to the format */
    bool radii;   /* options->radii applies to the format */
} io_reader;

/* The readers, by format. Flags: dataset, columns, species, frames, parts, radii. */
static const io_reader readers[] = {
    [IO_UNKNOWN] = {.name = "unknown"},
    [IO_NPY] = {"NumPy", io__npy_read, io__npy_inspect, 0, 0, 0, 1, 1, 0},
    [IO_HDF5] = {"HDF5", io__hdf5_read, io__hdf5_inspect, 1, 0, 1, 1, 1, 1},
    [IO_TIPSY] = {"tipsy", io__tipsy_read, io__tipsy_inspect, 0, 0, 1, 0, 1, 0},
    [IO_TEXT] = {"text", io__text_read, io__text_inspect, 0, 1, 0, 0, 0, 1},
    [IO_XYZ] = {"XYZ", NULL, NULL, 0, 0, 1, 1, 0, 1},
    [IO_GADGET] = {"Gadget", io__gadget_read, io__gadget_inspect, 0, 0, 1, 0, 1, 1},
    [IO_LAMMPS] = {"LAMMPS", NULL, NULL, 0, 0, 1, 1, 0, 1},
    [IO_GSD] = {"GSD", NULL, NULL, 0, 0, 1, 1, 0, 1},
    [IO_CHEMFILES] = {"chemfiles", NULL, NULL, 0, 0, 1, 1, 0, 0},
};

const char *io_format_name(io_format format)
{
    return format >= IO_UNKNOWN && format <= IO_CHEMFILES ? readers[format].name : "unknown";
}

io_status io__check_options(io_file *file, io_format format)
{
    const io_reader *reader = &readers[format];
    const io_read_options *options = file->options;
    const char *refused = options->dataset && !reader->dataset ? "dataset"
                          : options->columns && !reader->columns && !options->columns_if_text
                              ? "columns"
                          : options->species && !reader->species ? "species"
                          : options->frame && !reader->frames    ? "frame"
                          : options->parts && !reader->parts     ? "parts"
                                                                 : NULL;
    if (refused) {
        return io__file_fail(file, IO_INVALID, "is a %s file, where a choice of %s means nothing",
                             reader->name, refused);
    }
    if (options->radii && !reader->radii) {
        return io__file_fail(file, IO_INVALID,
                             "is a %s file, of which no radii are read by name; expected them in a "
                             "file of their own",
                             reader->name);
    }
    if (options->frame < 0) {
        return io__file_fail(file, IO_INVALID, "frame %lld; expected 0 or more",
                             (long long)options->frame);
    }
    if (options->parts < 0 ||
        (options->parts > 0 && (options->part < 0 || options->part >= options->parts))) {
        return io__file_fail(
            file, IO_INVALID, "part %lld of %lld; expected one from 0 on, below %lld",
            (long long)options->part, (long long)options->parts, (long long)options->parts);
    }
    if (options->precision != 0 && options->precision != KITH_FLOAT &&
        options->precision != KITH_DOUBLE) {
        return io__file_fail(file, IO_INVALID, "precision %d; expected KITH_FLOAT or KITH_DOUBLE",
                             (int)options->precision);
    }
    return IO_OK;
}

io_status io__read_as(io_file *file, io_format format, io_particles *out)
{
    const io_reader *reader = &readers[format];
    io__get_failed = 0;
    return io__get_end(file, reader->read ? reader->read(file, out)
                                          : io__frames_read_one(file, format, out));
}

/** Fill a summary from a file of this format. */
static io_status inspect_as(io_file *file, io_format format, io_summary *out)
{
    const io_reader *reader = &readers[format];
    io__get_failed = 0;
    return io__get_end(file, reader->inspect ? reader->inspect(file, out)
                                             : io__frames_inspect(file, format, out));
}

/** Open the file that a path stands for, and detect its format.
 *  @param[out] found  path of the file, to be freed after it is closed, on failure, too */
static io_status open_input(const char *path, const io_read_options *options, char **found,
                            io_file *file, io_format *format, io_error *error)
{
    IO_TRY(io__set_resolve(path, found, error));
    IO_TRY(io__file_open(file, *found, options, error));
    return io__detect(file, format);
}

io_status io_read(const char *path, const io_read_options *options, io_particles *out,
                  io_error *error)
{
    error = io__error_begin(error);
    *out = (io_particles){0};
    io_file file = {.fd = -1};
    io_format format = IO_UNKNOWN;
    char *found = NULL;
    io_status status = open_input(path, options, &found, &file, &format, error);
    if (status == IO_OK) {
        status = io__check_options(&file, format);
    }
    if (status == IO_OK) {
        status = io__read_as(&file, format, out);
    }
    if (status == IO_OK) {
        status = io__particles_check(&file, out, readers[format].name);
    }
    if (status == IO_OK) {
        status = io__file_watch(&file, file.size);
    }
    if (status != IO_OK) {
        io_particles_free(out);
    }
    out->all = !options || options->parts == 0 ? out->n : out->all;
    out->bytes = out->bytes || status != IO_OK ? out->bytes : file.size;
    io__file_close(&file);
    free(found);
    return status;
}

io_status io_reads_parts(const char *path, const io_read_options *options, bool *out,
                         io_error *error)
{
    error = io__error_begin(error);
    io_file file = {.fd = -1};
    io_format format = IO_UNKNOWN;
    char *found = NULL;
    io_status status = open_input(path, options, &found, &file, &format, error);
    *out = status == IO_OK && readers[format].parts;
    io__file_close(&file);
    free(found);
    return status;
}

io_status io_inspect(const char *path, io_summary *out, io_error *error)
{
    error = io__error_begin(error);
    *out = (io_summary){.files = 1, .frames = 1, .box = io__box_open()};
    io_file file = {.fd = -1};
    char *found = NULL;
    io_status status = open_input(path, NULL, &found, &file, &out->format, error);
    out->bytes = file.size;
    if (status == IO_OK) {
        status = inspect_as(&file, out->format, out);
    }
    io__file_close(&file);
    free(found);
    return status;
}

/** Write bytes to an output and commit it. @param status  result of opening the output */
static io_status write_and_commit(io_output *output, io_status status, const void *data,
                                  int64_t size)
{
    IO_TRY(status);
    return io__output_end(output, io__output_write(output, data, size));
}

io_status io_write_bytes(const char *path, const void *data, int64_t size, io_error *error)
{
    io_output output;
    return write_and_commit(&output, io__output_open(&output, path, error), data, size);
}

io_status io_rewrite_bytes(const char *path, const void *data, int64_t size, io_error *error)
{
    io_output output;
    return write_and_commit(&output, io__output_reopen(&output, path, error), data, size);
}
