/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading NumPy .npy arrays, format versions 1 to 3. A file has a signature, the length of the
 * header, the header as a Python dictionary, and the numbers. It may hold coordinates (n, 3),
 * (n, 2), (frames, n, 3) or (frames, n, 2), columns (n,) and vectors (n, m), of floats of 4 or 8
 * bytes and integers, in either byte order. Refused are structured types, and arrays of frames or
 * of packed bytes in column (Fortran) order.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#include "core/io_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADER = 1 << 20, MOST_DIMS = 8 }; /* limits: size of a header [byte]; dimensions */

/** The header of an array. */
typedef struct npy_header {
    char type[IO_NAME_LENGTH]; /* value of 'descr', truncated */
    bool structured;           /* the type is no plain number */
    bool fortran;              /* the order of the elements is that of Fortran: columns */
    int dims;                  /* number of dimensions */
    int64_t shape[MOST_DIMS];  /* shape [dims] */
    int64_t data;              /* offset of the first number [byte] */
} npy_header;

/** Return IO_FORMAT: the header at `at` is not as expected. */
static io_status malformed(io_file *file, const char *at, const char *expected)
{
    return io__file_fail(file, IO_FORMAT, "has a NumPy header with '%.20s' where %s was expected",
                         at, expected);
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/** Find the end of the value of a key, which may hold strings and nested brackets; NULL: no end. */
static const char *skip_value(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
        if (depth == 0 && (*at == ',' || *at == '}')) {
            return at;
        }
        if (*at == '\'' || *at == '"') {
            at = strchr(at + 1, *at);
            if (!at) {
                return NULL;
            }
        } else if (strchr("([{", *at)) {
            depth++;
        } else if (strchr(")]}", *at)) {
            depth--;
        }
    }
    return NULL;
}

/** Parse a tuple of integers, "(1000, 3)". Python 2 wrote a letter L behind them. */
static io_status parse_shape(io_file *file, const char *at, npy_header *out)
{
    if (*at != '(') {
        return malformed(file, at, "a shape like (1000, 3)");
    }
    for (at = skip_space(at + 1); *at != ')'; at = skip_space(at)) {
        if (out->dims == MOST_DIMS) {
            return io__file_fail(file, IO_FORMAT, "has a shape of more than %d dimensions",
                                 MOST_DIMS);
        }
        if (!isdigit((unsigned char)*at)) {
            return malformed(file, at, "a size of the shape");
        }
        int64_t size = 0;
        for (; isdigit((unsigned char)*at); at++) {
            if (__builtin_mul_overflow(size, 10, &size) ||
                __builtin_add_overflow(size, *at - '0', &size)) {
                return io__file_fail(file, IO_LIMIT, "has a shape beyond 2^63");
            }
        }
        out->shape[out->dims++] = size;
        at = skip_space(at + (*at == 'L'));
        if (*at != ',' && *at != ')') {
            return malformed(file, at, "',' or ')'");
        }
        at += *at == ',';
    }
    return IO_OK;
}

/** Parse an item of the dictionary. @param value  [length] text of the value; more text follows */
static io_status parse_item(io_file *file, io_token key, const char *value, size_t length,
                            npy_header *out)
{
    if (io__token_is(key, "descr")) {
        const bool quoted = length > 1 && (*value == '\'' || *value == '"');
        out->structured = !quoted;
        io__copy_name(out->type, sizeof out->type, value + quoted, length - (quoted ? 2 : 0));
    } else if (io__token_is(key, "fortran_order")) {
        out->fortran = strncmp(value, "True", 4) == 0;
        if (!out->fortran && strncmp(value, "False", 5) != 0) {
            return malformed(file, value, "True or False");
        }
    } else if (io__token_is(key, "shape")) {
        out->dims = 0;
        return parse_shape(file, value, out);
    }
    return IO_OK;
}

/** Parse the header, a Python dictionary with the keys descr, fortran_order and shape. */
static io_status parse_dictionary(io_file *file, const char *at, npy_header *out)
{
    out->dims = -1; /* no shape so far */
    at = skip_space(at);
    if (*at != '{') {
        return malformed(file, at, "'{'");
    }
    for (at = skip_space(at + 1); *at != '}'; at = skip_space(at + (*at == ','))) {
        const char *quote = *at == '\'' || *at == '"' ? strchr(at + 1, *at) : NULL;
        const char *colon = quote ? skip_space(quote + 1) : NULL;
        if (!colon || *colon != ':' || quote == at + 1) {
            return malformed(file, at, "a key");
        }
        const io_token key = {at + 1, (size_t)(quote - at - 1)};
        const char *value = skip_space(colon + 1);
        at = skip_value(value);
        if (!at) {
            return malformed(file, value, "a value with an end");
        }
        size_t length = (size_t)(at - value);
        while (length > 0 && isspace((unsigned char)value[length - 1])) {
            length--;
        }
        IO_TRY(parse_item(file, key, value, length, out));
    }
    if (out->dims < 0 || out->type[0] == 0) {
        return io__file_fail(file, IO_FORMAT, "has a NumPy header without 'descr' or 'shape'");
    }
    return IO_OK;
}

/** Read the header. Its length is a little-endian integer at byte 8, of 2 bytes in version 1, else
 *  of 4 bytes. */
static io_status read_header(io_file *file, npy_header *out)
{
    unsigned char head[12];
    *out = (npy_header){0};
    IO_TRY(io__file_read(file, head, 10, 0));
    const int version = head[6];
    if (version < 1 || version > 3) {
        return io__file_fail(file, IO_FORMAT, "is a NumPy file of version %d; expected 1 to 3",
                             version);
    }
    if (version > 1) {
        IO_TRY(io__file_read(file, head, 12, 0));
    }
    int64_t length = head[8] | head[9] << 8;
    if (version > 1) {
        length |= (int64_t)head[10] << 16 | (int64_t)head[11] << 24;
    }
    const int64_t begin = version > 1 ? 12 : 10;
    out->data = begin + length;
    if (out->data > file->size) {
        return io__file_fail(file, IO_TRUNCATED, "ends at byte %lld, inside its NumPy header",
                             (long long)file->size);
    }
    if (length > MOST_HEADER) {
        return io__file_fail(file, IO_LIMIT,
                             "has a NumPy header of %lld bytes; at most %d are "
                             "read",
                             (long long)length, MOST_HEADER);
    }
    char *text = malloc((size_t)length + 1);
    if (!text) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the NumPy header");
    }
    io_status status = io__file_read(file, text, length, begin);
    text[status == IO_OK ? length : 0] = 0;
    if (status == IO_OK) {
        status = parse_dictionary(file, text, out);
    }
    free(text);
    return status;
}

/** Parse a type: byte order, kind and size, "<f4". @return false if it is not one that is read */
static bool parse_type(const char *text, io_scalar *out)
{
    if (!strchr("<>=|", text[0]) || !text[0] || !strchr("fiu", text[1]) || !text[1]) {
        return false;
    }
    *out = (io_scalar){text[1], text[2] - '0',
                       (text[0] == '<' || text[0] == '>') && text[0] != io__npy_order()};
    const bool known = out->size == 1 || out->size == 2 || out->size == 4 || out->size == 8;
    return known && text[3] == 0 && !(out->kind == 'f' && out->size < 4);
}

/** Print the shape of an array: "(1000, 3)". @param[out] out  [room] */
static void shape_text(const npy_header *header, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "(");
    for (int k = 0; k < header->dims && used < room; k++) {
        used += (size_t)snprintf(out + used, room - used, "%s%lld", k ? ", " : "",
                                 (long long)header->shape[k]);
    }
    if (used < room) {
        snprintf(out + used, room - used, header->dims == 1 ? ",)" : ")");
    }
}

/** Return IO_FORMAT if an array does not hold coordinates. @param[out] type  type of its numbers */
static io_status check_array(io_file *file, const npy_header *header, io_scalar *type)
{
    char shape[128];
    shape_text(header, shape, sizeof shape);
    if (header->structured || !parse_type(header->type, type)) {
        return io__file_fail(file, IO_FORMAT,
                             "holds elements of type %s; expected '<f4', '<f8' "
                             "or integers",
                             header->type);
    }
    if (header->dims == 2 && (header->shape[0] == 3 || header->shape[0] == 2) &&
        header->shape[1] > 3) {
        return io__file_fail(file, IO_FORMAT,
                             "has shape %s; expected (n, 3) or (n, 2): save its "
                             "transpose",
                             shape);
    }
    const int64_t columns = header->dims > 0 ? header->shape[header->dims - 1] : 0;
    if ((header->dims != 2 && header->dims != 3) || (columns != 3 && columns != 2)) {
        return io__file_fail(
            file, IO_FORMAT,
            "has shape %s; expected (n, 3), (n, 2), (frames, n, 3) or (frames, n, 2)", shape);
    }
    if (header->dims == 3 && header->fortran) {
        return io__file_fail(file, IO_FORMAT,
                             "has shape %s in column order; expected row order: save "
                             "numpy.ascontiguousarray of it",
                             shape);
    }
    return IO_OK;
}

static int64_t count_frames(const npy_header *header)
{
    return header->dims == 3 ? header->shape[0] : 1;
}

/** Return IO_TRUNCATED, IO_FORMAT or IO_LIMIT if the file has not the size of its coordinates. */
static io_status check_size(io_file *file, const npy_header *header, io_scalar type)
{
    const int64_t n = header->shape[header->dims - 2], columns = header->shape[header->dims - 1];
    const int64_t frames = count_frames(header);
    int64_t expected = n;
    if (n > INT32_MAX) {
        return io__file_fail(file, IO_LIMIT, "holds %lld particles; at most %d can be read",
                             (long long)n, INT32_MAX);
    }
    if (__builtin_mul_overflow(n * columns * type.size, frames, &expected) ||
        __builtin_add_overflow(expected, header->data, &expected)) {
        return io__file_fail(file, IO_LIMIT, "has a shape beyond 2^63");
    }
    if (file->size != expected) {
        return io__file_fail(file, file->size < expected ? IO_TRUNCATED : IO_FORMAT,
                             "has %lld bytes; expected %lld for its %lld particles",
                             (long long)file->size, (long long)expected, (long long)n);
    }
    return IO_OK;
}

io_status io__npy_read(io_file *file, io_particles *out)
{
    npy_header header;
    io_scalar type = {0};
    IO_TRY(read_header(file, &header));
    IO_TRY(check_array(file, &header, &type));
    IO_TRY(check_size(file, &header, type));
    const int64_t n = header.shape[header.dims - 2], frame = file->options->frame;
    const int dim = (int)header.shape[header.dims - 1];
    if (frame >= count_frames(&header)) {
        return io__file_fail_frame(file, "", count_frames(&header), frame);
    }
    const bool is_float = type.kind == 'f' && type.size == 4;
    IO_TRY(io__particles_alloc(file, out, n, dim, is_float ? KITH_FLOAT : KITH_DOUBLE));
    out->frames = count_frames(&header);
    io_field field = io__particles_field(out, IO_POSITIONS, 0, 0, type);
    if (!header.fortran) {
        const int64_t row = (int64_t)dim * type.size;
        const io_records rows = {header.data + (frame * n + out->first) * row, row, out->n};
        return io__records_read(file, &rows, &field, 1);
    }
    field.columns = 1; /* column order: all x, then all y, then all z */
    for (int axis = 0; axis < dim; axis++) {
        const io_records column = {header.data + (axis * n + out->first) * type.size, type.size,
                                   out->n};
        IO_TRY(io__records_read(file, &column, &field, 1));
        field.out = (char *)field.out + out->precision;
    }
    return IO_OK;
}

io_status io__npy_column(io_file *file, int64_t all, int64_t first, int64_t n, bool integers,
                         void *out)
{
    npy_header header;
    io_scalar type = {0};
    IO_TRY(read_header(file, &header));
    char shape[128];
    shape_text(&header, shape, sizeof shape);
    const bool fits = header.dims == 1 && header.shape[0] == all;
    if (!fits || header.structured || !parse_type(header.type, &type) ||
        (integers && type.kind == 'f')) {
        return io__file_fail(
            file, IO_INVALID,
            "has shape %s of type %s; expected %snumbers, one for each of the %lld "
            "particles",
            shape, header.type, integers ? "whole " : "", (long long)all);
    }
    const int64_t expected = header.data + all * type.size;
    if (file->size != expected) {
        return io__file_fail(file, file->size < expected ? IO_TRUNCATED : IO_FORMAT,
                             "has %lld bytes; expected %lld", (long long)file->size,
                             (long long)expected);
    }
    return io__numbers_read(file, header.data + first * type.size, type, n, out, 1,
                            integers ? 0 : KITH_DOUBLE);
}

io_status io__npy_inspect(io_file *file, io_summary *out)
{
    npy_header header;
    io_scalar type = {0};
    IO_TRY(read_header(file, &header));
    const bool many = header.dims == 3 && header.shape[2] <= 3 && !header.fortran;
    if (!header.structured && parse_type(header.type, &type) &&
        (many || (header.dims == 2 && header.shape[1] <= 3))) {
        IO_TRY(check_size(file, &header, type));
    }
    if (type.kind) {
        out->precision = type.kind == 'f' && type.size == 4 ? KITH_FLOAT : KITH_DOUBLE;
    }
    out->n = many ? header.shape[1] : header.dims > 0 ? header.shape[0] : 1;
    out->frames = many ? header.shape[0] : 1;
    out->n_fields = 1;
    snprintf(out->fields[0].name, IO_NAME_LENGTH, "array");
    snprintf(out->fields[0].type, IO_NAME_LENGTH, "%s", header.type);
    shape_text(&header, out->fields[0].shape, IO_NAME_LENGTH);
    snprintf(out->description, sizeof out->description, "NumPy array, %s, %s order",
             header.structured ? "structured" : header.type, header.fortran ? "column" : "row");
    return IO_OK;
}

/** Check type, shape and size of an array of vectors. @param bytes  unsigned bytes are expected */
static io_status check_vectors(io_file *file, const npy_header *header, bool bytes, io_scalar *type)
{
    char shape[128];
    int64_t numbers, expected;
    shape_text(header, shape, sizeof shape);
    if (header->structured || !parse_type(header->type, type) ||
        (bytes && !(type->kind == 'u' && type->size == 1))) {
        return io__file_fail(file, IO_FORMAT, "holds elements of type %s; expected %s",
                             header->type,
                             bytes ? "'|u1': spins packed to bytes" : "'<f4', '<f8' or integers");
    }
    if (header->dims != 2) {
        return io__file_fail(file, IO_FORMAT, "has shape %s; expected (vectors, numbers)", shape);
    }
    if (__builtin_mul_overflow(header->shape[0], header->shape[1], &numbers) ||
        __builtin_mul_overflow(numbers, (int64_t)type->size, &expected) ||
        __builtin_add_overflow(expected, header->data, &expected)) {
        return io__file_fail(file, IO_LIMIT, "has a shape beyond 2^63");
    }
    if (file->size != expected) {
        return io__file_fail(file, file->size < expected ? IO_TRUNCATED : IO_FORMAT,
                             "has %lld bytes; expected %lld for its shape %s",
                             (long long)file->size, (long long)expected, shape);
    }
    return IO_OK;
}

io_status io__npy_vectors(io_file *file, bool bytes, io_vectors *out)
{
    npy_header header;
    io_scalar type = {0};
    IO_TRY(read_header(file, &header));
    IO_TRY(check_vectors(file, &header, bytes, &type));
    out->n = header.shape[0];
    out->dim = header.shape[1];
    out->size = bytes ? 1 : io__vectors_size(file, type);
    snprintf(out->description, sizeof out->description, "NumPy array, %s, %s order", header.type,
             header.fortran ? "column" : "row");
    if (bytes && header.fortran) {
        return io__file_fail(file, IO_FORMAT, "has bytes in column order; expected row order");
    }
    IO_TRY(io__vectors_alloc(file, out));
    if (bytes) {
        const int64_t size = out->n * out->dim;
        for (int64_t at = 0; at < size; at += IO_BLOCK) {
            IO_TRY(io__file_read(file, (char *)out->values + at,
                                 size - at < IO_BLOCK ? size - at : IO_BLOCK, header.data + at));
        }
        return IO_OK;
    }
    const kith_precision precision = (kith_precision)out->size;
    if (!header.fortran) {
        return io__numbers_read(file, header.data, type, out->n * out->dim, out->values, 1,
                                precision);
    }
    for (int64_t k = 0; k < out->dim && out->dim <= INT32_MAX; k++) {
        IO_TRY(io__numbers_read(file, header.data + k * out->n * type.size, type, out->n,
                                (char *)out->values + k * out->size, (int)out->dim, precision));
    }
    return IO_OK;
}
