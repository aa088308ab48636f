/* SPDX-License-Identifier: BSD-3-Clause
 *
 * System calls on open files, made complete: a short read or write is continued, EINTR is retried.
 * All files are read and written through these functions.
 */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are written or flushed between two tests of the stop function. */
static const int64_t part = (int64_t)4 << 20;

_Thread_local int io__get_failed;

/* Function that io_stop_writes has set for this thread; NULL: writes are completed. */
static _Thread_local bool (*stop_function)(void);

void io_stop_writes(bool (*stop)(void))
{
    stop_function = stop;
}

bool io__writes_stopped(void)
{
    return stop_function && stop_function();
}

int64_t io__get(int fd, void *data, int64_t size, int64_t at)
{
    int64_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fd, (char *)data + done, (size_t)(size - done),
                                  (off_t)(at + done));
        if (got < 0 && errno != EINTR) {
            io__get_failed = errno;
            return -1;
        }
        if (got == 0) {
            break;
        }
        done += got > 0 ? got : 0; /* less than 0: EINTR */
    }
    return done;
}

int io__put(int fd, const void *data, int64_t size, int64_t at)
{
    for (int64_t done = 0; done < size;) {
        const char *from = (const char *)data + done;
        const int64_t rest = size - done;
        const size_t left = (size_t)(stop_function && rest > part ? part : rest);
        if (io__writes_stopped()) {
            return ECANCELED;
        }
        const ssize_t put = at < 0 ? write(fd, from, left)
                                   : pwrite(fd, from, left, (off_t)(at + done));
        if (put < 0 && errno != EINTR) {
            return errno;
        }
        done += put > 0 ? put : 0;
    }
    return 0;
}

int io__sync_parts(int fd)
{
    struct stat facts;
    if (!stop_function || fstat(fd, &facts) < 0 || !S_ISREG(facts.st_mode)) {
        return 0;
    }
    for (int64_t at = 0; at < facts.st_size; at += part) {
        if (io__writes_stopped()) {
            return ECANCELED;
        }
#ifdef __linux__
        /* A failure of the disk is told once, and so not again by fsync. */
        if (sync_file_range(fd, at, part,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                SYNC_FILE_RANGE_WAIT_AFTER) < 0 &&
            (errno == EIO || errno == ENOSPC || errno == EDQUOT)) {
            return errno;
        }
#endif
    }
    return 0;
}

void io__write_behind(int fd, int64_t at, int64_t size)
{
#ifdef __linux__
    /* An error, as of a pipe, is not reported here: fsync reports that of a file. */
    (void)sync_file_range(fd, at, size, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd, (void)at, (void)size;
#endif
}

int io__sync(int fd)
{
    while (fsync(fd) < 0) {
        if (errno != EINTR) {
            return errno == EINVAL || errno == EROFS ? 0 : errno; /* 0: a pipe or device */
        }
    }
    return 0;
}

int io__close_fd(int fd)
{
    /* Linux closes the descriptor also where it returns EINTR: it must not be closed twice. */
    return close(fd) < 0 && errno != EINTR ? errno : 0;
}
