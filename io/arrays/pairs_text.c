/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A list of pairs as text, one line each; a path ending in .csv gets commas and no comments.
 * Numbers are written so that they read back as the same bits.
 */
#include "core/io_internal.h"

#include <stdio.h>
#include <string.h>

static io_status begin(io_pairs_writer *writer)
{
    static const char *const parts[][3] = {{"dx", "dy", "dz"}, {"Sa", "Sb", "Sc"}};
    io_output *output = &writer->output;
    const io_pairs_layout *layout = &writer->layout;
    const char *space = writer->csv ? "," : " ";
    if (!writer->csv) {
        char command[1024];
        const char *given = layout->command ? layout->command : "";
        io__copy_name(command, sizeof command, given, strlen(given));
        const locale_t before = io__locale_enter();
        const io_status status = io__output_printf(
            output, "# kith " KITH_VERSION "\n# command: %s\n# cutoff: %.17g\n# particles: %lld\n#",
            command, layout->cutoff, (long long)layout->n_particles);
        io__locale_leave(before);
        IO_TRY(status);
    }
    for (int k = 0; k < writer->n_columns; k++) {
        const io_column *column = &writer->columns[k];
        const char *first = k == 0 && writer->csv ? "" : space;
        const char *const *names = parts[column->kind == 'i'];
        if (column->count == 1) {
            IO_TRY(io__output_printf(output, "%s%s", first, column->name));
        } else {
            IO_TRY(io__output_printf(output, "%s%s%s%s%s%s", first, names[0], space, names[1],
                                     space, names[2]));
        }
    }
    return io__output_write(output, "\n", 1);
}

static char *put_integer(char *out, int32_t value)
{
    char digits[12];
    int n = 0;
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    if (value < 0) {
        *out++ = '-';
    }
    do {
        digits[n++] = (char)('0' + rest % 10);
    } while (rest /= 10);
    while (n > 0) {
        *out++ = digits[--n];
    }
    return out;
}

static char *put_element(char *out, const io_column *column, int64_t at)
{
    const char *data = column->data + at * column->size;
    if (column->kind == 'i') {
        int32_t value;
        memcpy(&value, data, sizeof value);
        return put_integer(out, value);
    }
    if (column->size == 4) {
        float value;
        memcpy(&value, data, sizeof value);
        return out + sprintf(out, "%.9g", (double)value);
    }
    double value;
    memcpy(&value, data, sizeof value);
    return out + sprintf(out, "%.17g", value);
}

static io_status write_lines(io_pairs_writer *writer, const io_column *columns, int64_t n)
{
    enum { LONGEST = 9 * 32 }; /* bytes of a line: nine numbers of at most 25 */
    const char space = writer->csv ? ',' : ' ';
    for (int64_t p = 0; p < n; p++) {
        char line[LONGEST];
        char *at = line;
        for (int k = 0; k < writer->n_columns; k++) {
            for (int c = 0; c < columns[k].count; c++) {
                at = put_element(at, &columns[k], p * columns[k].count + c);
                *at++ = space;
            }
        }
        at[-1] = '\n';
        IO_TRY(io__output_write(&writer->output, line, at - line));
    }
    return IO_OK;
}

static io_status write_block(io_pairs_writer *writer, const io_column *columns, int64_t n)
{
    const locale_t before = io__locale_enter();
    const io_status status = write_lines(writer, columns, n);
    io__locale_leave(before);
    return status;
}

const io_pairs_format io__pairs_text = {.begin = begin, .write = write_block};
