/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NumPy .npy arrays, written: the header; a matrix, row by row, so that it need not fit in memory;
 * a table as a structured array of doubles and 64-bit integers. The header of a table has as many
 * bytes as its names need: beyond 2^16 bytes, it is one of version 2.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#include "core/io_internal.h"
#include "core/memory_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- the header */

char io__npy_order(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
}

void io__npy_header(char out[IO_NPY_HEADER], const char *type, const char *shape)
{
    static const char magic[8] = "\x93NUMPY\1"; /* signature and version 1.0 */
    enum { LENGTH = IO_NPY_HEADER - 10 };       /* bytes of the dictionary and its padding */
    memset(out, ' ', IO_NPY_HEADER);
    memcpy(out, magic, sizeof magic);
    out[8] = (char)(LENGTH & 0xff);
    out[9] = (char)(LENGTH >> 8);
    const int used = snprintf(out + 10, LENGTH,
                              "{'descr': %s, 'fortran_order': False, 'shape': %s, }", type, shape);
    out[10 + used] = ' '; /* instead of the 0 of snprintf */
    out[IO_NPY_HEADER - 1] = '\n';
}

io_status io__npy_begin(io_output *output, char kind, int size, int64_t rows, int64_t columns)
{
    char header[IO_NPY_HEADER], type[8], shape[64];
    snprintf(type, sizeof type, "'%c%c%d'", io__npy_order(), kind, size);
    snprintf(shape, sizeof shape, columns ? "(%lld, %lld)" : "(%lld,)", (long long)rows,
             (long long)columns);
    io__npy_header(header, type, shape);
    return io__output_write(output, header, sizeof header);
}

/* ------------------------------------------------------------------------------------ matrices */

struct io_matrix {
    io_output output;         /* the file */
    int64_t columns;          /* numbers in a row */
    kith_precision precision; /* type of the numbers in the file */
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

/* -------------------------------------------------------------------------------------- tables */

/** Write the name of a column; characters other than letters and digits become "_". */
static void put_name(FILE *text, const char *name)
{
    for (; *name; name++) {
        (void)fputc(isalnum((unsigned char)*name) ? *name : '_', text);
    }
}

/** Make the dictionary of the header. @return false if memory is exhausted */
static bool make_dictionary(const io_table_column *columns, int n, int64_t rows,
                            io_memory_file *out)
{
    FILE *text = io_memory_file_open(out);
    if (!text) {
        return false;
    }
    fputs("{'descr': [", text);
    for (int k = 0; k < n; k++) {
        fputs(k ? ", ('" : "('", text);
        put_name(text, columns[k].name);
        fprintf(text, "', '%c%c8')", io__npy_order(), columns[k].whole ? 'i' : 'f');
    }
    fprintf(text, "], 'fortran_order': False, 'shape': (%lld,), }", (long long)rows);
    return io_memory_file_close(out, text);
}

/** Write a header with this dictionary, padded so that the numbers begin at a multiple of 64 bytes.
 *  @param length  size of the dictionary [byte] */
static io_status put_long_header(io_output *output, const char *dictionary, size_t length)
{
    /* Bytes before the dictionary in version 1 and 2, alignment, largest length in version 1. */
    enum { SHORT = 10, LONG = 12, ALIGN = 64, MOST_SHORT = 65535 };
    const bool wide = length + ALIGN > MOST_SHORT;
    const size_t before = wide ? LONG : SHORT;
    const size_t size = (before + length + ALIGN) / ALIGN * ALIGN - before;
    char head[LONG + 1] = "\x93NUMPY";
    head[6] = wide ? 2 : 1;
    for (int k = 0; k < 4; k++) {
        head[8 + k] = (char)(size >> 8 * k & 0xff);
    }
    IO_TRY(io__output_write(output, head, (int64_t)before));
    IO_TRY(io__output_write(output, dictionary, (int64_t)length));
    for (size_t k = length; k < size; k++) {
        IO_TRY(io__output_write(output, k + 1 < size ? " " : "\n", 1));
    }
    return IO_OK;
}

/** Write the records of a table: 8 bytes for each column. */
static io_status put_rows(io_output *output, const io_table_column *columns, int n, int64_t rows)
{
    for (int64_t row = 0; row < rows; row++) {
        for (int k = 0; k < n; k++) {
            const double real = columns[k].value[row];
            const int64_t whole = columns[k].whole ? (int64_t)real : 0;
            IO_TRY(io__output_write(output, columns[k].whole ? (const void *)&whole : &real, 8));
        }
    }
    return IO_OK;
}

io_status io_write_table(const char *path, const io_table_column *columns, int n, int64_t rows,
                         io_error *error)
{
    io_output output;
    io_memory_file dictionary = {0};
    if (!make_dictionary(columns, n, rows, &dictionary)) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    }
    io_status status = io__output_open(&output, path, error);
    if (status == IO_OK) {
        status = put_long_header(&output, dictionary.data, dictionary.n);
        if (status == IO_OK) {
            status = put_rows(&output, columns, n, rows);
        }
        status = io__output_end(&output, status);
    }
    free(dictionary.data);
    return status;
}
