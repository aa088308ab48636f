/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Input files: blocks of bytes for binary formats, lines for text. They are read by pread, not
 * mapped by mmap, because a file that shrinks while it is read must give an error, not SIGBUS.
 */
#include "io_internal.h"

#include "pool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

io_status io__file_open(io_file *file, const char *path, const io_read_options *options,
                        io_error *error)
{
    static const io_read_options defaults;
    *file = (io_file){
        .path = path, .fd = -1, .error = error, .options = options ? options : &defaults};
    file->fd = open(path,
                    O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for a pipe's writer */
    struct stat facts;
    if (file->fd < 0 && strcmp(path, "-") == 0) {
        return io__file_fail(file, IO_SYSTEM,
                             "is no file here, and standard input is not read: save it to a file "
                             "first");
    }
    if (file->fd < 0 || fstat(file->fd, &facts) < 0) {
        return io__file_fail(file, IO_SYSTEM, "cannot open: %s", strerror(errno));
    }
    if (S_ISDIR(facts.st_mode)) {
        return io__file_fail(file, IO_SYSTEM, "is a directory; expected a file of particles");
    }
    if (!S_ISREG(facts.st_mode)) {
        return io__file_fail(file, IO_SYSTEM,
                             "is a pipe or device; kith reads regular files: "
                             "save it to a file first");
    }
    file->size = facts.st_size;
    return IO_OK;
}

struct kith__pool *io__file_pool(io_file *file)
{
    const int threads = file->options->threads;
    if (!file->pool) {
        file->pool = kith__pool_open(threads > 0 ? threads : kith__default_threads());
    }
    return file->pool;
}

void io__file_close(io_file *file)
{
    kith__pool_close(file->pool);
    file->pool = NULL;
    if (file->fd >= 0) {
        close(file->fd);
    }
    file->fd = -1;
}

io_status io__file_watch(io_file *file, int64_t done)
{
    const double interval = 0.05; /* seconds between two calls of watch */
    if (!file->options->watch) {
        return IO_OK;
    }
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const double now = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
    const int64_t total = file->total ? file->total : file->size;
    done += file->before;
    if (done != total && now - file->watched < interval) {
        return IO_OK;
    }
    file->watched = now;
    if (file->options->watch(file->options->user, done, total) != 0) {
        return io__file_fail(file, IO_CANCELLED, "reading was stopped");
    }
    return IO_OK;
}

io_status io__file_peek(io_file *file, void *buffer, int64_t size, int64_t offset)
{
    assert(file->fd >= 0 && size >= 0 && offset >= 0);
    const int64_t got = io__get(file->fd, buffer, size, offset);
    if (got < 0) {
        return io__file_fail(file, IO_SYSTEM, "cannot read: %s", strerror(errno));
    }
    if (got < size) {
        return io__file_fail(file, IO_TRUNCATED, "ends at byte %lld; expected data up to byte %lld",
                             (long long)(offset + got), (long long)(offset + size));
    }
    return IO_OK;
}

io_status io__get_end(io_file *file, io_status status)
{
    const int failed = io__get_failed;
    io__get_failed = 0;
    return failed ? io__file_fail(file, IO_SYSTEM, "cannot read: %s", strerror(failed)) : status;
}

io_status io__file_read(io_file *file, void *buffer, int64_t size, int64_t offset)
{
    IO_TRY(io__file_peek(file, buffer, size, offset));
    return io__file_watch(file, offset + size);
}

io_status io__lines_open(io_lines *lines, io_file *file)
{
    *lines = (io_lines){.file = file, .room = file->size < IO_BLOCK ? file->size : IO_BLOCK};
    lines->buffer = malloc((size_t)lines->room + 1);
    lines->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!lines->buffer || !lines->locale) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory to read lines");
    }
    char mark[3]; /* byte order mark of UTF-8 */
    if (file->size >= 3) {
        IO_TRY(io__file_read(file, mark, 3, 0));
        if (memcmp(mark, "\xef\xbb\xbf", 3) == 0) {
            lines->offset = 3;
        }
    }
    return IO_OK;
}

void io__lines_close(io_lines *lines)
{
    free(lines->buffer);
    if (lines->locale) {
        freelocale(lines->locale);
    }
    *lines = (io_lines){0};
}

io_status io__lines_refill(io_lines *lines)
{
    const int64_t kept = lines->end - lines->begin;
    memmove(lines->buffer, lines->buffer + lines->begin, (size_t)kept);
    const int64_t left = lines->file->size - lines->offset;
    const int64_t size = left < lines->room - kept ? left : lines->room - kept;
    IO_TRY(io__file_read(lines->file, lines->buffer + kept, size, lines->offset));
    lines->begin = 0;
    lines->end = kept + size;
    lines->offset += size;
    assert(lines->end <= lines->room && lines->offset <= lines->file->size);
    return IO_OK;
}

io_status io__lines_next(io_lines *lines, char **line)
{
    *line = lines->line;
    if (lines->again) {
        lines->again = false;
        return IO_OK;
    }
    assert(lines->begin >= 0 && lines->begin <= lines->end && lines->end <= lines->room);
    char *stop = memchr(lines->buffer + lines->begin, '\n', (size_t)(lines->end - lines->begin));
    if (!stop && lines->offset < lines->file->size) {
        const int64_t searched = lines->end - lines->begin;
        IO_TRY(io__lines_refill(lines));
        stop = memchr(lines->buffer + searched, '\n', (size_t)(lines->end - searched));
    }
    lines->number++;
    if (!stop && lines->offset < lines->file->size) {
        return io__lines_fail(lines, IO_FORMAT, "longer than %d MiB; expected a table of numbers",
                              IO_BLOCK >> 20);
    }
    *line = lines->line = NULL;
    if (!stop && lines->begin == lines->end) {
        return IO_OK;
    }
    if (!stop) {
        stop = lines->buffer + lines->end; /* the buffer has one byte more than is read */
    }
    *line = lines->line = lines->buffer + lines->begin;
    lines->begin = stop - lines->buffer + (stop < lines->buffer + lines->end);
    *stop = 0;
    if (stop > lines->line && stop[-1] == '\r') {
        stop[-1] = 0;
    }
    return IO_OK;
}

void io__lines_back(io_lines *lines)
{
    lines->again = true;
}

io_status io__lines_fail(const io_lines *lines, io_status status, const char *format, ...)
{
    char text[sizeof lines->file->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return io__file_fail(lines->file, status, "line %lld: %s", (long long)lines->number, text);
}
