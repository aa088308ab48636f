/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers of particles that lie in a file of their own.
 */
#include "core/io_internal.h"

#include <math.h>
#include <string.h>

static io_status read_text(io_file *file, int64_t n, double *out)
{
    io_vectors vectors = {0};
    io_status status = io__text_vectors(file, &vectors);
    if (status == IO_OK && (vectors.dim != 1 || vectors.n != n)) {
        status = io__file_fail(file, IO_INVALID,
                               "has %lld lines of %lld numbers; expected a number for each of the "
                               "%lld particles",
                               (long long)vectors.n, (long long)vectors.dim, (long long)n);
    }
    if (status == IO_OK) {
        memcpy(out, vectors.values, (size_t)n * sizeof *out);
    }
    io_vectors_free(&vectors);
    return status;
}

static io_status read_open(io_file *file, int64_t n, double *out)
{
    io_format format = IO_UNKNOWN;
    IO_TRY(io__detect(file, &format));
    if (format != IO_NPY && format != IO_TEXT) {
        return io__file_fail(file, IO_FORMAT, "is a %s file; expected a NumPy array or text",
                             io_format_name(format));
    }
    IO_TRY(format == IO_NPY ? io__npy_column(file, n, false, out) : read_text(file, n, out));
    for (int64_t k = 0; k < n; k++) {
        if (!isfinite(out[k])) {
            return io__file_fail(file, IO_FORMAT, "number %lld is %g; expected finite numbers",
                                 (long long)k, out[k]);
        }
    }
    return IO_OK;
}

io_status io_read_numbers(const char *path, int64_t n, double *out, io_error *error)
{
    static const io_read_options options = {.precision = KITH_DOUBLE};
    error = io__error_begin(error);
    io_file file;
    IO_TRY(io__file_open(&file, path, &options, error));
    const io_status status = read_open(&file, n, out);
    io__file_close(&file);
    return status;
}
