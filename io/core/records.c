/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading records: numbers of any type and byte order are converted and stored in the arrays of
 * particles. The file is read in blocks that fit the cache. Records that have the form of the array
 * (is_array) are read into it, without a conversion.
 */
#include "io_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/** Swap the bytes of a number of one byte: nothing, so that CONVERT serves all sizes. */
static uint8_t swap8(uint8_t bits)
{
    return bits;
}
#define swap16 __builtin_bswap16
#define swap32 __builtin_bswap32
#define swap64 __builtin_bswap64

/* Define a function that converts n numbers of a type, `stride` bytes apart from `data` on, into
   every width-th element of out. `bits` is the size of the type, `wanted` the type of out, and
   `swapped` says that the byte order is not that of this machine. */
#define CONVERT(name, type, bits, wanted) \
    static void name(const char *data, int64_t stride, int64_t n, bool swapped, int width, \
                     wanted *out) \
    { \
        for (int64_t k = 0; k < n; k++) { \
            uint##bits##_t raw; \
            type value; \
            memcpy(&raw, data + k * stride, sizeof raw); \
            raw = swapped ? swap##bits(raw) : raw; \
            memcpy(&value, &raw, sizeof value); \
            out[width * k] = (wanted)value; \
        } \
    }
/* Conversions of a type to float and double; of an integer type also to int64_t. */
#define CONVERT_REAL(name, type, bits) \
    CONVERT(name##_float, type, bits, float) \
    CONVERT(name##_double, type, bits, double)
#define CONVERT_INTEGER(name, type, bits) \
    CONVERT_REAL(name, type, bits) \
    CONVERT(name##_id, type, bits, int64_t)

CONVERT_REAL(from_f4, float, 32)
CONVERT_REAL(from_f8, double, 64)
CONVERT_INTEGER(from_i1, int8_t, 8)
CONVERT_INTEGER(from_i2, int16_t, 16)
CONVERT_INTEGER(from_i4, int32_t, 32)
CONVERT_INTEGER(from_i8, int64_t, 64)
CONVERT_INTEGER(from_u1, uint8_t, 8)
CONVERT_INTEGER(from_u2, uint16_t, 16)
CONVERT_INTEGER(from_u4, uint32_t, 32)
CONVERT_INTEGER(from_u8, uint64_t, 64)

/** Conversions of one type of numbers. */
typedef struct converter {
    char kind; /* 'f' floating point, 'i' signed, 'u' unsigned */
    int size;  /* size of a number [byte] */
    /* Functions that CONVERT defines, to float, double and int64_t. Their arguments are data,
       stride, n, swapped, width, out. to_id is NULL for reals. */
    void (*to_float)(const char *, int64_t, int64_t, bool, int, float *);
    void (*to_double)(const char *, int64_t, int64_t, bool, int, double *);
    void (*to_id)(const char *, int64_t, int64_t, bool, int, int64_t *);
} converter;

/* Fields to_float, to_double and to_id of a converter. */
#define REAL(name) name##_float, name##_double, NULL
#define INTEGER(name) name##_float, name##_double, name##_id
static const converter converters[] = {
    {'f', 4, REAL(from_f4)},    {'f', 8, REAL(from_f8)},    {'i', 1, INTEGER(from_i1)},
    {'i', 2, INTEGER(from_i2)}, {'i', 4, INTEGER(from_i4)}, {'i', 8, INTEGER(from_i8)},
    {'u', 1, INTEGER(from_u1)}, {'u', 2, INTEGER(from_u2)}, {'u', 4, INTEGER(from_u4)},
    {'u', 8, INTEGER(from_u8)},
};

/** Return the converter of a type of numbers; NULL: there is none. */
static const converter *find_converter(io_scalar type)
{
    for (size_t k = 0; k < sizeof converters / sizeof *converters; k++) {
        if (converters[k].kind == type.kind && converters[k].size == type.size) {
            return &converters[k];
        }
    }
    return NULL;
}

void io__reals_scale(void *reals, int64_t n, kith_precision precision, double scale)
{
    for (int64_t k = 0; k < n && precision == KITH_FLOAT && scale != 1; k++) {
        ((float *)reals)[k] = (float)(((float *)reals)[k] * scale);
    }
    for (int64_t k = 0; k < n && precision == KITH_DOUBLE && scale != 1; k++) {
        ((double *)reals)[k] *= scale;
    }
}

/** Convert one field of n records into its array, from row `first` on.
 *  @param data    the first of the records
 *  @param stride  distance from one record to the next [byte] */
static void convert_field(const io_field *field, const char *data, int64_t stride, int64_t first,
                          int64_t n)
{
    const converter *convert = find_converter(field->type);
    const bool swapped = field->type.swapped;
    const int width = field->width;
    for (int k = 0; k < field->columns; k++) {
        const char *from = data + field->at + (int64_t)k * field->type.size;
        const int64_t at = width * first + k;
        if (field->precision == 0) {
            convert->to_id(from, stride, n, swapped, width, (int64_t *)field->out + at);
        } else if (field->precision == KITH_FLOAT) {
            convert->to_float(from, stride, n, swapped, width, (float *)field->out + at);
        } else {
            convert->to_double(from, stride, n, swapped, width, (double *)field->out + at);
        }
    }
    if (field->scale != 1) {
        io__reals_scale((char *)field->out + (size_t)(width * first) * field->precision, width * n,
                        field->precision, field->scale);
    }
}

/** Check that the numbers of n fields can be converted. @return IO_OK, IO_FORMAT */
static io_status check_fields(io_file *file, const io_field *fields, int n)
{
    for (int k = 0; k < n; k++) {
        const converter *convert = find_converter(fields[k].type);
        if (!convert || (fields[k].precision == 0 && !convert->to_id)) {
            return io__file_fail(file, IO_FORMAT, "holds numbers of type %c%d; expected %s",
                                 fields[k].type.kind, fields[k].type.size,
                                 convert ? "whole numbers" : "floats or integers of 1 to 8 bytes");
        }
    }
    return IO_OK;
}

/** Return true when the records are adjacent rows of the array, bit by bit. */
static bool is_array(const io_records *records, const io_field *field)
{
    const io_scalar *type = &field->type;
    return field->at == 0 && field->columns == field->width && !type->swapped &&
           field->scale == 1 && field->precision != 0 && type->kind == 'f' &&
           type->size == (int)field->precision &&
           records->stride == (int64_t)field->columns * type->size;
}

/** Read records that have the form of the array into it.
 *  @param block  most records between two calls of the watch function */
static io_status read_array(io_file *file, const io_records *records, const io_field *field,
                            int64_t block)
{
    for (int64_t done = 0; done < records->n; done += block) {
        const int64_t n = records->n - done < block ? records->n - done : block;
        const int64_t at = done * records->stride;
        IO_TRY(io__file_read(file, (char *)field->out + at, n * records->stride,
                             records->offset + at));
    }
    return IO_OK;
}

io_status io__records_read(io_file *file, const io_records *records, const io_field *fields,
                           int n_fields)
{
    /* size of a block, which stays in cache until converted; a record must not be longer */
    const int64_t in_cache = 1 << 20;
    IO_TRY(check_fields(file, fields, n_fields));
    assert(records->n >= 0 && records->stride > 0 && records->offset >= 0);
    int64_t record = 0; /* bytes of a record up to the end of the last field */
    for (int k = 0; k < n_fields; k++) {
        const int64_t end = fields[k].at + (int64_t)fields[k].columns * fields[k].type.size;
        record = end > record ? end : record;
        assert(fields[k].out && fields[k].at >= 0 && end <= records->stride);
        assert(fields[k].columns >= 1 && fields[k].columns <= fields[k].width);
    }
    const int64_t fit = in_cache / records->stride, most = fit > 0 ? fit : 1;
    const int64_t block = records->n < most ? records->n : most;
    if (n_fields == 1 && is_array(records, fields)) {
        return read_array(file, records, fields, block);
    }
    char *buffer = malloc((size_t)(block * records->stride + 1)); /* never 0 bytes */
    if (!buffer) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory to read with");
    }
    io_status status = IO_OK;
    for (int64_t done = 0; done < records->n && status == IO_OK; done += block) {
        const int64_t n = records->n - done < block ? records->n - done : block;
        /* the file may end behind the last field of its last record */
        status = io__file_read(file, buffer, (n - 1) * records->stride + record,
                               records->offset + done * records->stride);
        for (int k = 0; k < n_fields && status == IO_OK; k++) {
            convert_field(&fields[k], buffer, records->stride, done, n);
        }
    }
    free(buffer);
    return status;
}

io_status io__numbers_read(io_file *file, int64_t at, io_scalar type, int64_t n, void *out,
                           int width, kith_precision precision)
{
    const io_records records = {at, type.size, n};
    const io_field field = {
        .columns = 1, .type = type, .out = out, .width = width, .precision = precision, .scale = 1};
    return io__records_read(file, &records, &field, 1);
}

uint32_t io__get32(const char *at, bool swapped)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return swapped ? __builtin_bswap32(value) : value;
}

double io__get_double(const char *at, bool swapped)
{
    uint64_t bits;
    double value;
    memcpy(&bits, at, sizeof bits);
    bits = swapped ? __builtin_bswap64(bits) : bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}
