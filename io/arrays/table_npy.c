/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A table as a NumPy structured array of doubles and 64-bit integers. Its header has as many bytes
 * as the names need: beyond 2^16 it is one of version 2.
 */
#include "core/io_internal.h"
#include "core/memo.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static void put_name(FILE *text, const char *name)
{
    for (; *name; name++) {
        (void)fputc(isalnum((unsigned char)*name) ? *name : '_', text);
    }
}

/** The dictionary of the header. @return false: no memory. */
static bool make_dictionary(const io_table_column *columns, int n, int64_t rows, io_memo *out)
{
    FILE *text = io_memo_open(out);
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
    return io_memo_close(out, text);
}

static io_status put_header(io_output *output, const char *dictionary, size_t length)
{
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
    io_memo dictionary = {0};
    if (!make_dictionary(columns, n, rows, &dictionary)) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    }
    io_status status = io__output_open(&output, path, error);
    if (status == IO_OK) {
        status = put_header(&output, dictionary.data, dictionary.n);
        if (status == IO_OK) {
            status = put_rows(&output, columns, n, rows);
        }
        status = io__output_end(&output, status);
    }
    free(dictionary.data);
    return status;
}
