/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A list of pairs as a NumPy structured array. The header has room to spare, so that the number of
 * pairs can be filled in at the end.
 */
#include "core/io_internal.h"

#include <stdio.h>
#include <string.h>

static void make_header(const io_pairs_writer *writer, char header[IO_NPY_HEADER])
{
    char type[IO_NPY_HEADER], shape[24];
    int used = snprintf(type, sizeof type, "[");
    for (int k = 0; k < writer->n_columns; k++) {
        const io_column *column = &writer->columns[k];
        used += snprintf(type + used, sizeof type - (size_t)used, "%s('%s', '%c%c%d'%s)",
                         k ? ", " : "", column->name, io__npy_order(), column->kind, column->size,
                         column->count == 3 ? ", (3,)" : "");
    }
    snprintf(type + used, sizeof type - (size_t)used, "]");
    snprintf(shape, sizeof shape, "(%lld,)", (long long)writer->n);
    io__npy_header(header, type, shape);
}

static io_status begin(io_pairs_writer *writer)
{
    char header[IO_NPY_HEADER];
    make_header(writer, header);
    return io__output_write(&writer->output, header, sizeof header);
}

/** Copy n elements of `size` bytes, packed, to places `stride` bytes apart. */
static void spread(char *out, int64_t stride, const char *data, int size, int64_t n)
{
    switch (size) {
    case 4:
        for (int64_t p = 0; p < n; p++) {
            memcpy(out + p * stride, data + 4 * p, 4);
        }
        break;
    case 8:
        for (int64_t p = 0; p < n; p++) {
            memcpy(out + p * stride, data + 8 * p, 8);
        }
        break;
    default:
        for (int64_t p = 0; p < n; p++) {
            memcpy(out + p * stride, data + size * p, (size_t)size);
        }
    }
}

static io_status write_records(io_pairs_writer *writer, const io_column *columns, int64_t n)
{
    enum { BLOCK = 1 << 18 }; /* bytes packed at once: in cache from the first field to the last */
    int record = columns[0].size;
    for (int k = 1; k < writer->n_columns; k++) {
        record += columns[k].size * columns[k].count;
    }
    const int64_t most = BLOCK / record;
    for (int64_t done = 0; done < n; done += most) {
        const int64_t now = n - done < most ? n - done : most;
        char *out = io__output_reserve(&writer->output, now * record);
        if (!out) {
            return writer->output.error->status;
        }
        for (int k = 0; k < writer->n_columns; k++) {
            const int size = columns[k].size * columns[k].count;
            spread(out, record, columns[k].data + done * size, size, now);
            out += size;
        }
    }
    return IO_OK;
}

static io_status end(io_pairs_writer *writer)
{
    char header[IO_NPY_HEADER];
    make_header(writer, header);
    return io__output_patch(&writer->output, 0, header, sizeof header);
}

const io_pairs_format io__pairs_npy = {.begin = begin, .write = write_records, .end = end};
