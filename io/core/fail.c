/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of errors. They hold names and fields of files, which may be hostile: control
 * characters, which a terminal would execute, are escaped.
 */
#include "io_internal.h"
#include "quote.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

io_status io__fail(io_error *error, const char *path, io_status status, const char *format, ...)
{
    enum { SHOWN = 300 }; /* bytes of a long path, so that the sentence still fits */
    const size_t length = strlen(path);
    const char *tail = length > SHOWN ? path + length - SHOWN : path;
    char text[sizeof error->text];
    const int used = snprintf(text, sizeof text, "%s%s: ", length > SHOWN ? "..." : "", tail);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    io_quote(error->text, sizeof error->text, IO_QUOTE_SHOWN, text);
    error->status = status;
    return status;
}

io_status io__file_fail_frame(io_file *file, const char *where, int64_t n, int64_t asked)
{
    if (n == 0) {
        return io__file_fail(file, IO_INVALID, IO_NO_FRAMES);
    }
    return io__file_fail(file, IO_INVALID,
                         "has %lld frame%s%s, counted from 0; frame %lld was asked for",
                         (long long)n, n == 1 ? "" : "s", where, (long long)asked);
}

io_error *io__error_begin(io_error *error)
{
    static _Thread_local io_error unwanted;
    error = error ? error : &unwanted;
    *error = (io_error){0};
    return error;
}

bool io__ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

void io__copy_name(char *out, size_t room, const char *text, size_t length)
{
    const size_t n = length < room - 1 ? length : room - 1;
    memcpy(out, text, n);
    out[n] = 0;
    for (; *out; out++) {
        if ((unsigned char)*out < 0x20 || *out == 0x7f) {
            *out = '?';
        }
    }
}
