/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vectors of one length, from the formats that have a place for them; and a number for each
 * particle, from a file of its own.
 */
#include "core/io_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- vectors */

int io__vectors_size(const io_file *file, io_scalar type)
{
    /* A float holds integers of up to 24 bits: those of 1 and 2 bytes. */
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

/** Read vectors of a format. IO_INVALID: an option does not apply to it.
 *  @param bytes  the components are packed, eight spins of a bit in each byte, and copied as they
 *                are */
static io_status read_vectors(io_file *file, io_format format, bool bytes, io_vectors *out)
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
        status = read_vectors(&file, format, bytes, out);
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

/* ------------------------------------------------------------------------------------- numbers */

static io_status read_text_numbers(io_file *file, int64_t all, int64_t first, int64_t n,
                                   double *out)
{
    io_vectors vectors = {0};
    io_status status = io__text_vectors(file, &vectors);
    if (status == IO_OK && (vectors.dim != 1 || vectors.n != all)) {
        status = io__file_fail(file, IO_INVALID,
                               "has %lld lines of %lld numbers; expected a number for each of the "
                               "%lld particles",
                               (long long)vectors.n, (long long)vectors.dim, (long long)all);
    }
    if (status == IO_OK) {
        memcpy(out, (const double *)vectors.values + first, (size_t)n * sizeof *out);
    }
    io_vectors_free(&vectors);
    return status;
}

static io_status read_numbers(io_file *file, int64_t all, int64_t first, int64_t n, double *out)
{
    io_format format = IO_UNKNOWN;
    IO_TRY(io__detect(file, &format));
    if (format != IO_NPY && format != IO_TEXT) {
        return io__file_fail(file, IO_FORMAT, "is a %s file; expected a NumPy array or text",
                             io_format_name(format));
    }
    IO_TRY(format == IO_NPY ? io__npy_column(file, all, first, n, false, out)
                            : read_text_numbers(file, all, first, n, out));
    for (int64_t k = 0; k < n; k++) {
        if (!isfinite(out[k])) {
            return io__file_fail(file, IO_FORMAT, "number %lld is %g; expected finite numbers",
                                 (long long)(first + k), out[k]);
        }
    }
    return IO_OK;
}

io_status io_read_numbers(const char *path, int64_t all, int64_t first, int64_t n, double *out,
                          io_error *error)
{
    static const io_read_options options = {.precision = KITH_DOUBLE};
    error = io__error_begin(error);
    io_file file = {.fd = -1};
    io_status status = io__file_open(&file, path, &options, error);
    if (status == IO_OK) {
        status = read_numbers(&file, all, first, n, out);
    }
    io__file_close(&file);
    return status;
}
