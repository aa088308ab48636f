/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vectors of one length, of the formats that have a place for them.
 */
#include "core/io_internal.h"

#include <stdlib.h>

int io__vectors_size(const io_file *file, io_scalar type)
{
    const bool narrow = type.size <= (type.kind == 'f' ? 4 : 2);
    return file->options->precision ? (int)file->options->precision
           : narrow                 ? KITH_FLOAT
                                    : KITH_DOUBLE;
}

io_status io__vectors_alloc(io_file *file, io_vectors *out)
{
    int64_t numbers, bytes;
    if (__builtin_mul_overflow(out->n, out->dim, &numbers) ||
        __builtin_mul_overflow(numbers, (int64_t)out->size, &bytes)) {
        return io__file_fail(file, IO_LIMIT, "has a shape beyond 2^63");
    }
    out->values = malloc((size_t)bytes + 1);
    if (!out->values) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for %lld vectors of %lld numbers",
                             (long long)out->n, (long long)out->dim);
    }
    return IO_OK;
}

static io_status read_as(io_file *file, io_format format, bool bytes, io_vectors *out)
{
    const io_read_options *options = file->options;
    if (options->dataset && format != IO_HDF5) {
        return io__file_fail(file, IO_INVALID,
                             "is a %s file, where a choice of dataset means nothing",
                             io_format_name(format));
    }
    if (bytes && format == IO_TEXT) {
        return io__file_fail(file, IO_INVALID,
                             "is text; packed spins are read from NumPy arrays or HDF5 datasets of "
                             "unsigned bytes");
    }
    switch (format) {
    case IO_NPY: return io__npy_vectors(file, bytes, out);
    case IO_HDF5: return io__hdf5_vectors(file, bytes, out);
    case IO_TEXT: return io__text_vectors(file, out);
    default:
        return io__file_fail(file, IO_FORMAT,
                             "is a %s file, which holds no vectors; expected NumPy, HDF5 or text",
                             io_format_name(format));
    }
}

io_status io_read_vectors(const char *path, const io_read_options *options, bool bytes,
                          io_vectors *out, io_error *error)
{
    error = io__error_begin(error);
    *out = (io_vectors){0};
    io_file file = {.fd = -1};
    io_format format = IO_UNKNOWN;
    io_status status = io__file_open(&file, path, options, error);
    if (status == IO_OK) {
        status = io__detect(&file, &format);
    }
    if (status == IO_OK) {
        status = read_as(&file, format, bytes, out);
    }
    if (status == IO_OK) {
        status = io__file_watch(&file, file.size);
    }
    if (status == IO_OK && (out->n > INT32_MAX || out->dim > INT32_MAX)) {
        status = io__file_fail(&file, IO_LIMIT, "holds %lld vectors of %lld numbers; at most %d",
                               (long long)out->n, (long long)out->dim, INT32_MAX);
    }
    if (status != IO_OK) {
        io_vectors_free(out);
    }
    out->bytes = status == IO_OK ? file.size : 0;
    io__file_close(&file);
    return status;
}

void io_vectors_free(io_vectors *vectors)
{
    free(vectors->values);
    *vectors = (io_vectors){0};
}
