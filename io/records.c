/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays of coordinates: memory for them, and records of any number type brought into [n][3].
 */
#include "io_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

kith_box io__box_open(void)
{
    return (kith_box){.dim = 3};
}

kith_box io__box_periodic(const double length[3])
{
    kith_box box = {.periodic = {1, 1, 1}, .dim = 3};
    for (int axis = 0; axis < 3; axis++)
        box.row[axis][axis] = length[axis];
    return box;
}

static void *alloc_positions(int64_t n, kith_precision precision)
{
    const size_t bytes = (size_t)n * 3 * precision;
    return aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
}

static io_status check_count(io_file *file, int64_t n)
{
    if (n > INT32_MAX)
        return io__file_fail(file, IO_LIMIT, "holds %lld particles; at most %d can be read",
                             (long long)n, INT32_MAX);
    return IO_OK;
}

io_status io__particles_alloc(io_file *file, io_particles *out, int64_t n, int dim,
                              kith_precision native)
{
    IO_TRY(check_count(file, n));
    out->precision = file->options->precision ? file->options->precision : native;
    out->n = n;
    out->dim = dim;
    out->box = io__box_open();
    out->box.dim = dim;
    out->pos = alloc_positions(n, out->precision);
    if (!out->pos)
        return io__file_fail(file, IO_NO_MEMORY, "no memory for %lld particles", (long long)n);
    if (dim == 2)
        memset(out->pos, 0, (size_t)n * 3 * out->precision);
    return IO_OK;
}

static io_status grow(io_file *file, io_particles *out, int64_t *capacity)
{
    const int64_t first = 1 << 12;
    const int64_t more = *capacity ? 2 * *capacity : first;
    IO_TRY(check_count(file, out->n + 1));
    void *pos = alloc_positions(more, out->precision);
    if (!pos)
        return io__file_fail(file, IO_NO_MEMORY, "no memory for %lld particles", (long long)more);
    if (out->n > 0)
        memcpy(pos, out->pos, (size_t)out->n * 3 * out->precision);
    free(out->pos);
    out->pos = pos;
    *capacity = more;
    return IO_OK;
}

io_status io__particles_push(io_file *file, io_particles *out, int64_t *capacity,
                             const double xyz[3])
{
    if (out->n == *capacity)
        IO_TRY(grow(file, out, capacity));
    for (int axis = 0; axis < 3; axis++) {
        const int64_t at = 3 * out->n + axis;
        if (out->precision == KITH_FLOAT)
            ((float *)out->pos)[at] = (float)xyz[axis];
        else
            ((double *)out->pos)[at] = xyz[axis];
    }
    out->n++;
    return IO_OK;
}

static uint8_t swap8(uint8_t bits)
{
    return bits;
}
#define swap16 __builtin_bswap16
#define swap32 __builtin_bswap32
#define swap64 __builtin_bswap64

/* Bring n numbers of one type, `stride` bytes apart, to every third element of out. */
#define CONVERT(name, type, bits, real) \
    static void name(const char *data, int64_t stride, int64_t n, bool swapped, real *out) \
    { \
        for (int64_t k = 0; k < n; k++) { \
            uint##bits##_t raw; \
            type value; \
            memcpy(&raw, data + k * stride, sizeof raw); \
            raw = swapped ? swap##bits(raw) : raw; \
            memcpy(&value, &raw, sizeof value); \
            out[3 * k] = (real)value; \
        } \
    }
#define CONVERT_BOTH(name, type, bits) \
    CONVERT(name##_float, type, bits, float) \
    CONVERT(name##_double, type, bits, double)

CONVERT_BOTH(from_f4, float, 32)
CONVERT_BOTH(from_f8, double, 64)
CONVERT_BOTH(from_i1, int8_t, 8)
CONVERT_BOTH(from_i2, int16_t, 16)
CONVERT_BOTH(from_i4, int32_t, 32)
CONVERT_BOTH(from_i8, int64_t, 64)
CONVERT_BOTH(from_u1, uint8_t, 8)
CONVERT_BOTH(from_u2, uint16_t, 16)
CONVERT_BOTH(from_u4, uint32_t, 32)
CONVERT_BOTH(from_u8, uint64_t, 64)

typedef struct converter {
    char kind;
    int size;
    void (*to_float)(const char *, int64_t, int64_t, bool, float *);
    void (*to_double)(const char *, int64_t, int64_t, bool, double *);
} converter;

static const converter converters[] = {
    {'f', 4, from_f4_float, from_f4_double}, {'f', 8, from_f8_float, from_f8_double},
    {'i', 1, from_i1_float, from_i1_double}, {'i', 2, from_i2_float, from_i2_double},
    {'i', 4, from_i4_float, from_i4_double}, {'i', 8, from_i8_float, from_i8_double},
    {'u', 1, from_u1_float, from_u1_double}, {'u', 2, from_u2_float, from_u2_double},
    {'u', 4, from_u4_float, from_u4_double}, {'u', 8, from_u8_float, from_u8_double},
};

static const converter *find_converter(io_scalar type)
{
    for (size_t k = 0; k < sizeof converters / sizeof *converters; k++)
        if (converters[k].kind == type.kind && converters[k].size == type.size)
            return &converters[k];
    return NULL;
}

io_status io__records_read(io_file *file, const io_records *records, io_particles *out,
                           int64_t first, int axis)
{
    const int64_t in_cache = 1 << 20; /* bytes kept between the copy and the conversion */
    const converter *convert = find_converter(records->type);
    if (!convert)
        return io__file_fail(file, IO_FORMAT,
                             "holds numbers of type %c%d; expected floats or "
                             "integers of 1 to 8 bytes",
                             records->type.kind, records->type.size);
    const int64_t record = (int64_t)records->columns *
                           records->type.size; /* bytes wanted of each */
    const int64_t most = in_cache / records->stride;
    const int64_t block = records->n < most ? records->n : most;
    char *buffer = malloc((size_t)(block * records->stride + 1));
    if (!buffer)
        return io__file_fail(file, IO_NO_MEMORY, "no memory to read with");
    io_status status = IO_OK;
    for (int64_t done = 0; done < records->n && status == IO_OK; done += block) {
        const int64_t n = records->n - done < block ? records->n - done : block;
        status = io__file_read(file, buffer, (n - 1) * records->stride + record,
                               records->offset + done * records->stride);
        for (int k = 0; k < records->columns && status == IO_OK; k++) {
            const char *data = buffer + (int64_t)k * records->type.size;
            const int64_t at = 3 * (first + done) + axis + k;
            if (out->precision == KITH_FLOAT)
                convert->to_float(data, records->stride, n, records->type.swapped,
                                  (float *)out->pos + at);
            else
                convert->to_double(data, records->stride, n, records->type.swapped,
                                   (double *)out->pos + at);
        }
    }
    free(buffer);
    return status;
}
