/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A matrix as a NumPy array, row by row, so that it need not fit in memory.
 */
#include "core/io_internal.h"

#include <stdlib.h>

struct io_matrix {
    io_output output;
    int64_t columns;
    kith_precision precision;
};

io_status io_matrix_open(const char *path, int64_t rows, int64_t columns, kith_precision precision,
                         io_matrix **out, io_error *error)
{
    *out = NULL;
    io_matrix *matrix = malloc(sizeof *matrix);
    if (!matrix) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    }
    *matrix = (io_matrix){.columns = columns, .precision = precision};
    io_status status = io__output_open(&matrix->output, path, error);
    if (status == IO_OK) {
        status = io__npy_begin(&matrix->output, 'f', (int)precision, rows, columns);
    }
    if (status == IO_OK) {
        *out = matrix;
    } else {
        io_matrix_abort(matrix);
    }
    return status;
}

io_status io_matrix_write(io_matrix *matrix, const double *values, int64_t rows, io_error *error)
{
    matrix->output.error = error;
    const int64_t n = rows * matrix->columns;
    if (matrix->precision == KITH_DOUBLE) {
        return io__output_write(&matrix->output, values, n * (int64_t)sizeof *values);
    }
    for (int64_t k = 0; k < n; k++) {
        const float value = (float)values[k];
        IO_TRY(io__output_write(&matrix->output, &value, sizeof value));
    }
    return IO_OK;
}

io_status io_matrix_commit(io_matrix *matrix, io_error *error)
{
    matrix->output.error = error;
    const io_status status = io__output_commit(&matrix->output);
    free(matrix);
    return status;
}

void io_matrix_abort(io_matrix *matrix)
{
    if (matrix) {
        io__output_abort(&matrix->output);
        free(matrix);
    }
}
