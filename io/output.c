/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files written beside their final name (path.XXXXXX.part), then flushed and renamed, so that a
 * name holds either what it held before or the whole new file. Devices and pipes are written
 * directly.
 */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** Create path.XXXXXX.part under a name that no file has, with the mode that the umask gives. */
static int create_part(io_output *output)
{
    enum { TRIES = 100 };
    const size_t room = strlen(output->path) + sizeof ".XXXXXX.part";
    output->part = malloc(room);
    if (!output->part)
        return -1;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 16;
    for (int k = 0; k < TRIES; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        snprintf(output->part, room, "%s.%06x.part", output->path, (unsigned)(state >> 40));
        const int fd = open(output->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/** Create path.part, or take the one that a killed process left. */
static int take_part(io_output *output)
{
    const size_t room = strlen(output->path) + sizeof ".part";
    output->part = malloc(room);
    if (!output->part)
        return -1;
    snprintf(output->part, room, "%s.part", output->path);
    return open(output->part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
}

static void close_all(io_output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    free(output->path);
    free(output->part);
    free(output->buffer);
    *output = (io_output){.fd = -1};
}

/** @param create  makes the part */
static io_status open_beside(io_output *output, const char *path, int (*create)(io_output *),
                             io_error *error)
{
    *output = (io_output){.fd = -1, .error = error};
    struct stat facts;
    const bool exists = stat(path, &facts) == 0;
    output->path = exists ? realpath(path, NULL) : strdup(path);
    output->buffer = malloc(IO_BLOCK);
    io_status status = IO_OK;
    if (!output->path || !output->buffer) {
        status = io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    } else if (exists && S_ISDIR(facts.st_mode)) {
        status = io__fail(error, path, IO_SYSTEM, "is a directory; expected a file to write");
    } else {
        const bool direct = exists && !S_ISREG(facts.st_mode);
        output->fd = direct ? open(path, O_WRONLY | O_CLOEXEC) : create(output);
        if (output->fd < 0)
            status = io__fail(error, path, errno == ENOMEM ? IO_NO_MEMORY : IO_SYSTEM,
                              "cannot create: %s", strerror(errno));
    }
    if (status != IO_OK)
        close_all(output);
    return status;
}

io_status io__output_open(io_output *output, const char *path, io_error *error)
{
    return open_beside(output, path, create_part, error);
}

io_status io__output_reopen(io_output *output, const char *path, io_error *error)
{
    return open_beside(output, path, take_part, error);
}

io_status io__output_stdout(io_output *output, io_error *error)
{
    static const char name[] = "standard output";
    *output = (io_output){.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), .error = error};
    output->path = strdup(name);
    output->buffer = malloc(IO_BLOCK);
    io_status status = IO_OK;
    if (output->fd < 0)
        status = io__fail(error, name, IO_SYSTEM, "%s", strerror(errno));
    else if (!output->path || !output->buffer)
        status = io__fail(error, name, IO_NO_MEMORY, "no memory to write with");
    if (status != IO_OK)
        close_all(output);
    return status;
}

io_status io__output_append(io_output *output, const char *path, int64_t keep, io_error *error)
{
    *output = (io_output){.fd = -1, .error = error};
    output->path = strdup(path);
    output->buffer = malloc(IO_BLOCK);
    struct stat facts = {0};
    io_status status = IO_OK;
    if (!output->path || !output->buffer)
        status = io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    else if ((output->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0 ||
             fstat(output->fd, &facts) < 0)
        status = io__fail(error, path, IO_SYSTEM, "cannot open to append: %s", strerror(errno));
    else if (facts.st_size < keep)
        status = io__fail(error, path, IO_TRUNCATED,
                          "holds %lld bytes; expected the %lld that were written before",
                          (long long)facts.st_size, (long long)keep);
    else if (S_ISREG(facts.st_mode) &&
             (ftruncate(output->fd, keep) < 0 || lseek(output->fd, keep, SEEK_SET) < 0))
        status = io__fail(error, path, IO_SYSTEM, "cannot go on behind byte %lld: %s",
                          (long long)keep, strerror(errno));
    output->written = keep;
    if (status != IO_OK)
        close_all(output);
    return status;
}

static io_status write_all(io_output *output, const char *data, int64_t size)
{
    for (int64_t done = 0; done < size;) {
        const ssize_t put = write(output->fd, data + done, (size_t)(size - done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return io__output_fail(output, IO_SYSTEM, "cannot write beyond byte %lld: %s",
                                   (long long)(output->written + done), strerror(errno));
        done += put;
    }
    output->written += size;
    return IO_OK;
}

io_status io__output_flush(io_output *output)
{
    const int64_t size = output->used;
    output->used = 0;
    return write_all(output, output->buffer, size);
}

io_status io__output_sync(io_output *output)
{
    IO_TRY(io__output_flush(output));
    if (fsync(output->fd) < 0 && errno != EINVAL && errno != EROFS) /* those: pipes, devices */
        return io__output_fail(output, IO_SYSTEM, "cannot flush to disk: %s", strerror(errno));
    return IO_OK;
}

char *io__output_reserve(io_output *output, int64_t size)
{
    if (output->used + size > IO_BLOCK && io__output_flush(output) != IO_OK)
        return NULL;
    char *room = output->buffer + output->used;
    output->used += size;
    return room;
}

io_status io__output_write(io_output *output, const void *data, int64_t size)
{
    if (size > IO_BLOCK) {
        IO_TRY(io__output_flush(output));
        return write_all(output, data, size);
    }
    char *room = io__output_reserve(output, size);
    if (!room)
        return output->error->status;
    memcpy(room, data, (size_t)size);
    return IO_OK;
}

io_status io__output_printf(io_output *output, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return io__output_fail(output, IO_NO_MEMORY, "no memory to write with");
    const io_status status = io__output_write(output, text, length);
    free(text);
    return status;
}

io_status io__output_patch(io_output *output, int64_t at, const void *data, int64_t size)
{
    IO_TRY(io__output_flush(output));
    const ssize_t put = pwrite(output->fd, data, (size_t)size, at);
    if (put < 0 && errno == ESPIPE)
        return io__output_fail(output, IO_INVALID,
                               "is a pipe or terminal, which cannot hold this "
                               "format; write text, or to a regular file");
    if (put != size)
        return io__output_fail(output, IO_SYSTEM, "cannot write its header: %s",
                               put < 0 ? strerror(errno) : "written in part");
    return IO_OK;
}

io_status io__output_commit(io_output *output)
{
    io_status status = io__output_flush(output);
    if (status == IO_OK && output->part && fsync(output->fd) < 0)
        status = io__output_fail(output, IO_SYSTEM, "cannot flush to disk: %s", strerror(errno));
    if (status == IO_OK && output->part && rename(output->part, output->path) < 0)
        status = io__output_fail(output, IO_SYSTEM, "cannot rename %s into place: %s", output->part,
                                 strerror(errno));
    if (status != IO_OK)
        io__output_abort(output);
    else
        close_all(output);
    return status;
}

void io__output_abort(io_output *output)
{
    if (output->part && output->fd >= 0)
        unlink(output->part);
    close_all(output);
}

io_status io__output_end(io_output *output, io_status status)
{
    if (status == IO_OK)
        return io__output_commit(output);
    io__output_abort(output);
    return status;
}

locale_t io__locale_enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void io__locale_leave(locale_t before)
{
    freelocale(uselocale(before));
}
