/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The linker turns calls of io__file_read and so on into __wrap_io__file_read, defined here.
 */
#include "io_steps.h"

#include <trajectories/frames.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int_fast64_t count, fail_at = -1;
static const char *failed = "";

int64_t steps_count(void)
{
    return atomic_load(&count);
}

void steps_fail(int64_t k)
{
    atomic_store(&count, 0);
    atomic_store(&fail_at, k);
}

const char *steps_failed(void)
{
    return failed;
}

static bool fails(const char *name)
{
    if (atomic_fetch_add(&count, 1) != atomic_load(&fail_at))
        return false;
    failed = name;
    return true;
}

/* function, arguments with and without their types, what they belong to: a file or an output */
#define STEPS(X) \
    X(io__file_peek, (io_file * file, void *out, int64_t size, int64_t at), (file, out, size, at), \
      file) \
    X(io__file_read, (io_file * file, void *out, int64_t size, int64_t at), (file, out, size, at), \
      file) \
    X(io__file_watch, (io_file * file, int64_t done), (file, done), file) \
    X(io__frame_alloc, \
      (io_frames * frames, io_frame * out, int64_t n, kith_precision native, unsigned present), \
      (frames, out, n, native, present), frames->file) \
    X(io__frame_alloc_bonds, (const io_frames *frames, io_frame *out, int64_t n), \
      (frames, out, n), frames->file) \
    X(io__header_check, (io_file * file, const io_header *header), (file, header), file) \
    X(io__labels_number, (io_file * file, io_labels * labels, io_token name, int32_t * number), \
      (file, labels, name, number), file) \
    X(io__lines_next, (io_lines * lines, char **line), (lines, line), lines->file) \
    X(io__lines_number, (const io_lines *lines, io_token token, const char *what, double *out), \
      (lines, token, what, out), lines->file) \
    X(io__numbers_read, \
      (io_file * file, int64_t at, io_scalar type, int64_t n, void *out, int width, \
       kith_precision precision), \
      (file, at, type, n, out, width, precision), file) \
    X(io__output_flush, (io_output * output), (output), output) \
    X(io__output_patch, (io_output * output, int64_t at, const void *data, int64_t size), \
      (output, at, data, size), output) \
    X(io__output_sync, (io_output * output), (output), output) \
    X(io__output_write, (io_output * output, const void *data, int64_t size), \
      (output, data, size), output) \
    X(io__particles_add, (io_file * file, io_particles * out, unsigned fields), \
      (file, out, fields), file) \
    X(io__particles_alloc, \
      (io_file * file, io_particles * out, int64_t n, int dim, kith_precision native), \
      (file, out, n, dim, native), file) \
    X(io__particles_push, \
      (io_file * file, io_particles * out, int64_t * capacity, const double xyz[3]), \
      (file, out, capacity, xyz), file) \
    X(io__records_read, \
      (io_file * file, const io_records *records, const io_field *fields, int n), \
      (file, records, fields, n), file) \
    X(io__vectors_alloc, (io_file * file, io_vectors * out), (file, out), file)

#define WRAP(name, types, arguments, owner) \
    io_status __real_##name types; \
    io_status __wrap_##name types; \
    io_status __wrap_##name types \
    { \
        if (fails(#name)) \
            return io__fail((owner)->error, (owner)->path, IO_SYSTEM, STEPS_MESSAGE); \
        return __real_##name arguments; \
    }
STEPS(WRAP)

/* X(io__get, X(io__output_printf and X(io__output_reserve have other arguments and results. */

int64_t __real_io__get(int fd, void *data, int64_t size, int64_t at);
int64_t __wrap_io__get(int fd, void *data, int64_t size, int64_t at);
int64_t __wrap_io__get(int fd, void *data, int64_t size, int64_t at)
{
    if (!fails("io__get"))
        return __real_io__get(fd, data, size, at);
    errno = STEPS_ERROR;
    return -1;
}

io_status __real_io__output_printf(io_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
io_status __wrap_io__output_printf(io_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
io_status __wrap_io__output_printf(io_output *output, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (fails("io__output_printf"))
        return io__output_fail(output, IO_SYSTEM, STEPS_MESSAGE);
    return __real_io__output_printf(output, "%s", text);
}

char *__real_io__output_reserve(io_output *output, int64_t size);
char *__wrap_io__output_reserve(io_output *output, int64_t size);
char *__wrap_io__output_reserve(io_output *output, int64_t size)
{
    if (!fails("io__output_reserve"))
        return __real_io__output_reserve(output, size);
    io__output_fail(output, IO_SYSTEM, STEPS_MESSAGE);
    return NULL;
}
