/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output files, written through a buffer. Regular files are replaced when the output is committed
 * (part.c), except by io__output_append, which writes them in place. Devices, pipes and files that
 * are already open (/dev/stdout, /dev/fd/3) are written directly.
 */
#include "io_internal.h"
#include "linked.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Initialise an output: path and buffer. */
static io_status begin(io_output *output, const char *path, io_error *error)
{
    *output = (io_output){.fd = -1, .error = error, .path = strdup(path)};
    output->buffer = malloc(IO_BLOCK);
    return output->path && output->buffer
               ? IO_OK
               : io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
}

/** Abort an output if opening it failed. @return status */
static io_status opened(io_output *output, io_status status)
{
    if (status != IO_OK) {
        io__output_abort(output);
    }
    return status;
}

/** Let an output write to a duplicate of an open descriptor: sets fd and base. Writes begin at its
 *  current offset, which is shared with all duplicates of the descriptor.
 *  @param number  the descriptor */
static io_status take_number(io_output *output, int number)
{
    output->fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (output->fd < 0) {
        return io__output_fail(output, IO_SYSTEM, "cannot write to it: %s", strerror(errno));
    }
    /* With O_APPEND, pwrite of Linux appends, whatever its offset. */
    const bool appends = fcntl(output->fd, F_GETFL) & O_APPEND;
    output->base = appends ? -1 : lseek(output->fd, 0, SEEK_CUR); /* lseek: -1 for a pipe */
    return IO_OK;
}

/** Open the target itself: sets fd and base. @param flags  those of open(2) */
static io_status open_direct(io_output *output, int flags)
{
    output->fd = open(output->target, flags | O_CLOEXEC, 0666);
    if (output->fd < 0) {
        return io__output_fail(output, IO_SYSTEM, "cannot be written: %s", strerror(errno));
    }
    output->base = lseek(output->fd, 0, SEEK_CUR); /* -1: a pipe */
    return IO_OK;
}

/** Open an output: a part beside the target; or the target itself, if it is no regular file.
 *  @param fixed  the part is TARGET.part (io__part_open) */
static io_status open_beside(io_output *output, const char *path, bool fixed, io_error *error)
{
    io_destination destination = {0};
    io_status status = begin(output, path, error);
    if (status == IO_OK) {
        status = io__destination_find(path, &destination, error);
    }
    output->target = destination.target;
    if (status == IO_OK) {
        status = destination.number >= 0 ? take_number(output, destination.number)
                 : destination.regular   ? io__part_open(output, destination.exists, fixed)
                                         : open_direct(output, O_WRONLY);
    }
    return opened(output, status);
}

io_status io__output_open(io_output *output, const char *path, io_error *error)
{
    return open_beside(output, path, false, error);
}

io_status io__output_reopen(io_output *output, const char *path, io_error *error)
{
    return open_beside(output, path, true, error);
}

io_status io__output_stdout(io_output *output, io_error *error)
{
    io_status status = begin(output, "standard output", error);
    if (status == IO_OK) {
        status = take_number(output, STDOUT_FILENO);
    }
    return opened(output, status);
}

/** Truncate output->fd behind a mark, the point up to which an earlier run wrote it, and seek to
 *  its end.
 *  @return IO_TRUNCATED if the file is shorter; IO_FORMAT if it does not hold the tail of the mark,
 *          its last bytes before that point: it is another file */
static io_status cut(io_output *output, const io_mark *from)
{
    const int64_t keep = from->bytes;
    char tail[IO_TAIL];
    struct stat facts;
    if (fstat(output->fd, &facts) < 0) {
        return io__output_fail(output, IO_SYSTEM, "cannot open to append: %s", strerror(errno));
    }
    if (facts.st_size < keep) {
        return io__output_fail(output, IO_TRUNCATED,
                               "holds %lld bytes; expected the %lld that were written before",
                               (long long)facts.st_size, (long long)keep);
    }
    if (from->tail_bytes > 0 &&
        (from->tail_bytes > IO_TAIL ||
         io__get(output->fd, tail, from->tail_bytes, from->tail_at) != from->tail_bytes ||
         io_sum(tail, from->tail_bytes) != from->tail_sum)) {
        return io__output_fail(output, IO_FORMAT,
                               "is not the file that the earlier run wrote: bytes %lld to %lld "
                               "differ; name that file, or remove the restart file to start anew",
                               (long long)from->tail_at,
                               (long long)(from->tail_at + from->tail_bytes));
    }
    if (S_ISREG(facts.st_mode) &&
        (ftruncate(output->fd, keep) < 0 || lseek(output->fd, keep, SEEK_SET) < 0)) {
        return io__output_fail(output, IO_SYSTEM, "cannot continue after byte %lld: %s",
                               (long long)keep, strerror(errno));
    }
    return IO_OK;
}

io_status io__output_append(io_output *output, const char *path, const io_mark *from,
                            io_error *error)
{
    io_destination destination = {0};
    io_status status = begin(output, path, error);
    if (status == IO_OK) {
        status = io__destination_find(path, &destination, error);
    }
    output->target = destination.target;
    if (status == IO_OK && destination.number >= 0) { /* written at its offset, without the mark */
        return opened(output, take_number(output, destination.number));
    }
    if (status == IO_OK) {
        status = open_direct(output, O_RDWR | O_CREAT);
    }
    if (status == IO_OK) {
        status = cut(output, from);
    }
    const int failed = status == IO_OK && !destination.exists ? io__folder_sync(output->target) : 0;
    if (failed) {
        status = io__output_fail(output, IO_SYSTEM, "its folder cannot be flushed to disk: %s",
                                 strerror(failed));
    }
    output->written = from->bytes;
    return opened(output, status);
}

io_status io__output_check_stop(io_output *output)
{
    return io__writes_stopped() ? io__output_fail(output, IO_CANCELLED, "writing was stopped")
                                : IO_OK;
}

/** Write bytes to the file, past the buffer. */
static io_status write_all(io_output *output, const char *data, int64_t size)
{
    const int failed = io__put(output->fd, data, size, -1);
    if (failed == ECANCELED) {
        return io__output_fail(output, IO_CANCELLED, "writing was stopped");
    }
    if (failed) {
        return io__output_fail(output, IO_SYSTEM, "cannot write beyond byte %lld: %s",
                               (long long)output->written, strerror(failed));
    }
    if (output->part.path) {
        io__write_behind(output->fd, output->written, size);
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
    int failed = io__sync_parts(output->fd);
    if (failed == ECANCELED) {
        return io__output_fail(output, IO_CANCELLED, "writing was stopped");
    }
    failed = failed ? failed : io__sync(output->fd);
    if (failed) {
        return io__output_fail(output, IO_SYSTEM, "cannot flush to disk: %s", strerror(failed));
    }
    return IO_OK;
}

char *io__output_reserve(io_output *output, int64_t size)
{
    assert(size >= 0 && size <= IO_BLOCK && output->used <= IO_BLOCK);
    if (output->used + size > IO_BLOCK && io__output_flush(output) != IO_OK) {
        return NULL;
    }
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
    if (!room) {
        return output->error->status;
    }
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
    if (length < 0) {
        return io__output_fail(output, IO_NO_MEMORY, "no memory to write with");
    }
    const io_status status = io__output_write(output, text, length);
    free(text);
    return status;
}

io_status io__output_patch(io_output *output, int64_t at, const void *data, int64_t size)
{
    IO_TRY(io__output_flush(output));
    if (output->base < 0) {
        return io__output_fail(
            output, IO_INVALID,
            "is a pipe, a terminal or a file opened to append, which cannot hold "
            "this format; write a text format, or write to a regular file");
    }
    const int failed = io__put(output->fd, data, size, output->base + at);
    if (failed == ECANCELED) {
        return io__output_fail(output, IO_CANCELLED, "writing was stopped");
    }
    if (failed) {
        return io__output_fail(output, IO_SYSTEM, "cannot overwrite bytes from byte %lld on: %s",
                               (long long)at, strerror(failed));
    }
    return IO_OK;
}

/** Close the file, if it is open.
 *  @param status  result of the calls before
 *  @return status; if it is IO_OK, the result of closing */
static io_status close_file(io_output *output, io_status status)
{
    const int failed = output->fd >= 0 ? io__close_fd(output->fd) : 0;
    output->fd = -1;
    if (failed && status == IO_OK) {
        return io__output_fail(output, IO_SYSTEM, "cannot be closed: %s", strerror(failed));
    }
    return status;
}

/** Rename the part to the target, unless the target is locked, or is a file that an HDF5
 *  input refers to (linked.h). */
static io_status rename_into_place(io_output *output)
{
    struct stat facts;
    if (stat(output->target, &facts) == 0) {
        IO_TRY(io__linked_check(&facts, output->path, output->error));
    }
    int lock = -1;
    IO_TRY(io__lock_share(output->path, output->target, &lock, output->error));
    const int refused = rename(output->part.path, output->target) < 0 ? errno : 0;
    if (lock >= 0) {
        close(lock);
    }
    if (refused) {
        return io__output_fail(output, IO_SYSTEM, "cannot rename %s into place: %s",
                               output->part.path, strerror(refused));
    }
    io__temporary_forget(&output->part);
    const int failed = io__folder_sync(output->target);
    if (failed) {
        return io__output_fail(output, IO_SYSTEM,
                               "is written, but its folder cannot be flushed to disk: %s",
                               strerror(failed));
    }
    return IO_OK;
}

io_status io__output_commit(io_output *output)
{
    io_status status = close_file(output, io__output_sync(output));
    if (status == IO_OK && output->part.path) {
        status = rename_into_place(output);
    }
    io__output_abort(output); /* removes a part that was not renamed, and frees */
    return status;
}

void io__output_abort(io_output *output)
{
    /* a status other than IO_OK, so that the message of the error that led here is kept */
    (void)close_file(output, IO_INVALID);
    io__part_drop(output);
    io__output_lines_end(output);
    free(output->path);
    free(output->target);
    free(output->buffer);
    *output = (io_output){.fd = -1};
}

io_status io__output_end(io_output *output, io_status status)
{
    if (status == IO_OK) {
        return io__output_commit(output);
    }
    io__output_abort(output);
    return status;
}

io_status io_lend(const char *path, io_output **out, io_error *error)
{
    error = io__error_begin(error);
    *out = malloc(sizeof **out);
    if (!*out) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    }
    io_destination destination;
    io_status status = io__destination_find(path, &destination, error);
    free(destination.target);
    if (status == IO_OK && !destination.regular) {
        status = io__fail(error, path, IO_INVALID, "is no regular file, which this format needs");
    }
    if (status == IO_OK) {
        status = io__output_open(*out, path, error);
    }
    if (status != IO_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

const char *io_lent_name(const io_output *output)
{
    return output->part.path;
}

io_status io_lent_commit(io_output *output, io_error *error)
{
    output->error = io__error_begin(error);
    const io_status status = io__output_commit(output);
    free(output);
    return status;
}

void io_lent_abort(io_output *output, bool keep)
{
    if (!output) {
        return;
    }
    if (keep) {
        io__temporary_forget(&output->part);
    }
    io__output_abort(output);
    free(output);
}

locale_t io__locale_set_c(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void io__locale_restore(locale_t before)
{
    freelocale(uselocale(before));
}
