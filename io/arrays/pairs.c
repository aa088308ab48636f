/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of pairs and rows of nearest neighbours, written block by block: as text, as a NumPy
 * structured array, and through HDF5 (hdf5/hdf5_write.c).
 *
 * Text has one line for each pair; a path that ends in .csv gets commas and no comments. Numbers
 * have as many digits as are needed to read back equal bits. The header of a NumPy array has room
 * to spare, so that the number of pairs can be filled in at the end.
 */
#include "core/io_internal.h"

#include "pool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------- text */

/** Write the names of the columns, in comments of text after lines about the command. */
static io_status begin_text(io_pairs_writer *writer)
{
    static const char *const parts[][3] = {{"dx", "dy", "dz"}, {"Sa", "Sb", "Sc"}};
    io_output *output = &writer->output;
    const io_pairs_layout *layout = &writer->layout;
    const char *space = writer->csv ? "," : " ";
    if (!writer->csv) {
        char command[1024], cutoff[1024];
        const char *given = layout->command ? layout->command : "";
        io__copy_name(command, sizeof command, given, strlen(given));
        const locale_t before = io__locale_set_c();
        if (layout->cutoffs) {
            io__copy_name(cutoff, sizeof cutoff, layout->cutoffs, strlen(layout->cutoffs));
        } else {
            (void)snprintf(cutoff, sizeof cutoff, "%.17g", layout->cutoff);
        }
        const io_status status = io__output_printf(
            output, "# kith " KITH_VERSION "\n# command: %s\n# cutoff: %s\n# particles: %lld\n",
            command, cutoff, (long long)layout->n_particles);
        io__locale_restore(before);
        IO_TRY(status);
        if (layout->radii) {
            char radii[1024];
            io__copy_name(radii, sizeof radii, layout->radii, strlen(layout->radii));
            IO_TRY(io__output_printf(output, "# radii: %s\n", radii));
        }
        if (layout->k > 0) {
            IO_TRY(io__output_printf(output, "# k: %lld\n", (long long)layout->k));
        }
        IO_TRY(io__output_write(output, "#", 1));
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

/** Print an integer, faster than sprintf. @return where the next character goes */
static char *put_integer(char *out, int32_t value)
{
    char digits[12];
    int n = 0;
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value; /* INT32_MIN, too */
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

/** Print element `at` of a column. @return where the next character goes */
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
        return io__number_put(out, (double)value, 9);
    }
    double value;
    memcpy(&value, data, sizeof value);
    return io__number_put(out, value, 17);
}

_Static_assert(IO_LINE > 9 * (IO_NUMBER + 1), "a line has at most 9 numbers: those of all extras");

/** Format the line of a pair. @param user  io_pairs_writer */
static char *put_line(const void *user, int64_t pair, char *out)
{
    const io_pairs_writer *writer = user;
    const char space = writer->csv ? ',' : ' ';
    for (int k = 0; k < writer->n_columns; k++) {
        const io_column *column = &writer->columns[k];
        for (int c = 0; c < column->count; c++) {
            out = put_element(out, column, pair * column->count + c);
            *out++ = space;
        }
    }
    out[-1] = '\n';
    return out;
}

static io_status write_text(io_pairs_writer *writer, const io_column *columns, int64_t n)
{
    assert(columns == writer->columns);
    (void)columns;
    return io__output_lines(&writer->output, n, put_line, writer);
}

static const io_pairs_format pairs_text = {.begin = begin_text, .write = write_text};

/* -------------------------------------------------------------------------------- NumPy arrays */

/** A text that a function returns by value. */
typedef struct printed_shape {
    char s[32]; /* the text */
} printed_shape;

/** Return the shape of a column's field in a record, as in Python, after ", "; "" for a number. */
static printed_shape field_shape(const io_column *column)
{
    printed_shape shape = {""};
    if (column->k > 0) {
        snprintf(shape.s, sizeof shape.s, column->count == 3 ? ", (%lld, 3)" : ", (%lld,)",
                 (long long)column->k);
    } else if (column->count == 3) {
        snprintf(shape.s, sizeof shape.s, ", (3,)");
    }
    return shape;
}

/** Make the header of a structured array of writer->n records. */
static void make_header(const io_pairs_writer *writer, char header[IO_NPY_HEADER])
{
    char type[IO_NPY_HEADER], shape[24];
    int used = snprintf(type, sizeof type, "[");
    for (int k = 0; k < writer->n_columns; k++) {
        const io_column *column = &writer->columns[k];
        used += snprintf(type + used, sizeof type - (size_t)used, "%s('%s', '%c%c%d'%s)",
                         k ? ", " : "", column->name, io__npy_order(), column->kind, column->size,
                         field_shape(column).s);
    }
    snprintf(type + used, sizeof type - (size_t)used, "]");
    snprintf(shape, sizeof shape, "(%lld,)", (long long)writer->n);
    io__npy_header(header, type, shape);
}

/** Size of a record of the structured array [byte]. */
static int64_t record_bytes(const io_column *columns, int n)
{
    int64_t record = 0;
    for (int k = 0; k < n; k++) {
        record += io__column_bytes(&columns[k]);
    }
    return record;
}

static io_status begin_npy(io_pairs_writer *writer)
{
    if (record_bytes(writer->columns, writer->n_columns) > INT32_MAX) {
        return io__output_fail(&writer->output, IO_INVALID,
                               "NumPy has no records of more than 2^31 bytes, but %lld neighbours "
                               "need more; write HDF5 or text",
                               (long long)writer->layout.k);
    }
    char header[IO_NPY_HEADER];
    make_header(writer, header);
    return io__output_write(&writer->output, header, sizeof header);
}

/** Copy n packed elements of `size` bytes to addresses `stride` bytes apart. */
static void spread(char *out, int64_t stride, const char *data, int64_t size, int64_t n)
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

/** Write records that are too large for the buffer. */
static io_status write_large(io_pairs_writer *writer, const io_column *columns, int64_t n)
{
    for (int64_t p = 0; p < n; p++) {
        for (int k = 0; k < writer->n_columns; k++) {
            const int64_t size = io__column_bytes(&columns[k]);
            IO_TRY(io__output_write(&writer->output, columns[k].data + p * size, size));
        }
    }
    return IO_OK;
}

/** Write records, interleaving the columns block by block in the buffer. */
static io_status write_npy(io_pairs_writer *writer, const io_column *columns, int64_t n)
{
    enum { BLOCK = 1 << 18 }; /* bytes packed at once, which stay in cache for all columns */
    const int64_t record = record_bytes(columns, writer->n_columns);
    const int64_t most = BLOCK / record;
    if (most == 0) {
        return write_large(writer, columns, n);
    }
    for (int64_t done = 0; done < n; done += most) {
        const int64_t now = n - done < most ? n - done : most;
        char *out = io__output_reserve(&writer->output, now * record);
        if (!out) {
            return writer->output.error->status;
        }
        for (int k = 0; k < writer->n_columns; k++) {
            const int64_t size = io__column_bytes(&columns[k]);
            spread(out, record, columns[k].data + done * size, size, now);
            out += size;
        }
    }
    return IO_OK;
}

/** Overwrite the header, now that the number of records is known. */
static io_status end_npy(io_pairs_writer *writer)
{
    char header[IO_NPY_HEADER];
    make_header(writer, header);
    return io__output_patch(&writer->output, 0, header, sizeof header);
}

static const io_pairs_format pairs_npy = {.begin = begin_npy, .write = write_npy, .end = end_npy};

/* -------------------------------------------------------------------------------- every format */

/** Copy the columns that a layout has. @return their number */
static int choose_columns(const io_pairs_layout *layout, const io_column all[IO_PAIR_COLUMNS],
                          io_column out[IO_PAIR_COLUMNS])
{
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

/** List the columns of a list of pairs. @return the number of columns */
static int list_columns(const io_pairs_layout *layout, const kith_pairs *p,
                        io_column out[IO_PAIR_COLUMNS])
{
    const int real = (int)layout->precision;
    const io_column all[IO_PAIR_COLUMNS] = {
        {"i", (const char *)p->i, 'i', 4, 1, 0},          {"j", (const char *)p->j, 'i', 4, 1, 0},
        {"distance", p->distances, 'f', real, 1, 0},      {"vector", p->vectors, 'f', real, 3, 0},
        {"shift", (const char *)p->shifts, 'i', 4, 3, 0},
    };
    return choose_columns(layout, all, out);
}

/** List the columns of rows of nearest neighbours. @return the number of columns */
static int list_row_columns(const io_pairs_layout *layout, const kith_nearest *rows,
                            io_column out[IO_PAIR_COLUMNS])
{
    const int real = (int)layout->precision;
    const int64_t k = layout->k;
    const io_column all[IO_PAIR_COLUMNS] = {
        {"count", (const char *)rows->counts, 'i', 4, 1, 0},
        {"j", (const char *)rows->j, 'i', 4, 1, k},
        {"distance", rows->distances, 'f', real, 1, k},
        {"vector", rows->vectors, 'f', real, 3, k},
        {"shift", (const char *)rows->shifts, 'i', 4, 3, k},
    };
    return choose_columns(layout, all, out);
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
    case IO_NPY: return &pairs_npy;
    case IO_HDF5: return &io__pairs_hdf5;
    case IO_TEXT: return &pairs_text;
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
    writer->in_rows = layout->k > 0 && writer->format != &pairs_text;
    writer->n_columns = writer->in_rows
                            ? list_row_columns(layout, &(kith_nearest){0}, writer->columns)
                            : list_columns(layout, &(kith_pairs){0}, writer->columns);
    io_status status = strcmp(path, "-") == 0 && writer->format == &pairs_text
                           ? io__output_stdout(&writer->output, error)
                           : io__output_open(&writer->output, path, error);
    writer->output.threads = layout->threads > 0 ? layout->threads : kith__default_threads();
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

/** Append n pairs, or n rows of neighbours, from writer->columns. */
static io_status write_block(io_pairs_writer *writer, int64_t n)
{
    for (int k = 0; k < writer->n_columns && n > 0; k++) {
        if (!writer->columns[k].data) {
            return io__output_fail(&writer->output, IO_INVALID, "a block of pairs lacks its %s",
                                   writer->columns[k].name);
        }
    }
    const io_status status = writer->format->write(writer, writer->columns, n);
    writer->n += status == IO_OK ? n : 0;
    writer->failed = writer->failed || status != IO_OK;
    return status;
}

io_status io_pairs_write(io_pairs_writer *writer, const kith_pairs *pairs, io_error *error)
{
    assert(!writer->in_rows);
    writer->output.error = io__error_begin(error);
    const int listed = list_columns(&writer->layout, pairs, writer->columns);
    assert(listed == writer->n_columns);
    (void)listed;
    return write_block(writer, pairs->n);
}

/** Return the neighbours from entry `at` of the arrays on, without their counts. */
static kith_nearest entries_from(const kith_nearest *nearest, int64_t at, kith_precision precision)
{
    char *distances = nearest->distances, *vectors = nearest->vectors;
    return (kith_nearest){
        .j = nearest->j + at,
        .distances = distances ? distances + at * (int)precision : NULL,
        .vectors = vectors ? vectors + 3 * at * (int)precision : NULL,
        .shifts = nearest->shifts ? nearest->shifts + 3 * at : NULL,
    };
}

/** Write the neighbours of particle i as pairs (i, j). */
static io_status write_row(io_pairs_writer *writer, const kith_nearest *nearest, int64_t i,
                           io_error *error)
{
    enum { PIECE = 256 }; /* pairs written at once */
    int32_t same_i[PIECE];
    for (int p = 0; p < PIECE && p < nearest->counts[i]; p++) {
        same_i[p] = (int32_t)i;
    }
    for (int64_t p = 0; p < nearest->counts[i]; p += PIECE) {
        if (writer->layout.stop && writer->layout.stop()) {
            return io__fail(error, writer->output.path, IO_CANCELLED, "writing was stopped");
        }
        const kith_nearest from = entries_from(nearest, i * nearest->k + p,
                                               writer->layout.precision);
        const int64_t rest = nearest->counts[i] - p;
        const kith_pairs pairs = {.n = rest < PIECE ? rest : PIECE,
                                  .i = same_i,
                                  .j = from.j,
                                  .distances = from.distances,
                                  .vectors = from.vectors,
                                  .shifts = from.shifts};
        IO_TRY(io_pairs_write(writer, &pairs, error));
    }
    return IO_OK;
}

io_status io_nearest_write(io_pairs_writer *writer, const kith_nearest *nearest, int64_t first,
                           int64_t n, io_error *error)
{
    assert(writer->layout.k == nearest->k && first >= 0 && first + n <= nearest->rows);
    if (!writer->in_rows) {
        for (int64_t i = first; i < first + n; i++) {
            IO_TRY(write_row(writer, nearest, i, error));
        }
        return IO_OK;
    }
    writer->output.error = io__error_begin(error);
    kith_nearest rows = entries_from(nearest, first * nearest->k, writer->layout.precision);
    rows.counts = nearest->counts + first;
    const int listed = list_row_columns(&writer->layout, &rows, writer->columns);
    assert(listed == writer->n_columns);
    (void)listed;
    return write_block(writer, n);
}

/** Free the state of the format. */
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
