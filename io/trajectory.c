/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_trajectory: a file, the frames chosen of it, and the thread that reads ahead. The thread has
 * the readers to itself, with an error of its own; what it knows of progress and what it is told of
 * stopping goes through atomics, so that the caller's watch is called by the caller's thread.
 */
#include "trajectory.h"

#include "frames.h"
#include "prefetch.h"

#include <stdlib.h>

enum { WATCH_EVERY = 50 }; /* milliseconds */

struct io_trajectory {
    char *path;
    io_trajectory_options options; /* its read.watch and read.user are the trajectory's own */
    kith_watch_fn watch;           /* the caller's */
    void *user;
    io_file file;
    io_error error; /* of the readers */
    io_frames frames;
    int64_t begin, end, step; /* chosen are begin, begin + step, ... before end */
    int64_t index;            /* the frame to be read next */
    int64_t given;            /* frames handed out */
    bool reading;             /* prefetch was started */
    bool threaded;            /* the readers are in its thread */
    atomic_llong done;        /* bytes of the file dealt with */
    io_prefetch prefetch;
};

/** Parse "a:b:step"; what is left out keeps its value. @return the parts found; 0: malformed. */
static int parse_parts(const char *text, int64_t part[3])
{
    for (int n = 0; n < 3; n++) {
        char *end = NULL;
        const long long value = strtoll(text, &end, 10);
        if (end > text)
            part[n] = value < INT64_MAX ? value : INT64_MAX - 1;
        else if (*text != ':' && (*text || n == 0))
            return 0;
        if (!*end)
            return end == text && n == 0 ? 0 : n + 1;
        if (*end != ':')
            return 0;
        text = end + 1;
    }
    return 0;
}

/** Count from the end what is negative. */
static int64_t from_end(int64_t at, int64_t n)
{
    return at >= 0 ? at : at + n > 0 ? at + n : 0;
}

static io_status choose_frames(io_trajectory *t)
{
    int64_t part[3] = {0, INT64_MAX, 1};
    const char *text = t->options.frames;
    const int parts = text ? parse_parts(text, part) : 2;
    if (parts == 0 || part[2] < 1)
        return io__file_fail(&t->file, IO_INVALID,
                             "frames '%s'; expected a number, or begin:end or begin:end:step as in "
                             "Python, with a step of 1 or more",
                             text);
    int64_t n = t->frames.count;
    if (part[0] < 0 || part[1] < 0)
        IO_TRY(io__frames_count(&t->frames, &n));
    if (parts == 1 && part[0] < 0 && part[0] < -n)
        part[0] = INT64_MAX - 1; /* there is no such frame */
    t->index = t->begin = from_end(part[0], n);
    t->end = parts == 1 ? t->begin + 1 : from_end(part[1], n);
    t->step = part[2];
    return IO_OK;
}

/** Called by the readers, in their thread. */
static int watch_readers(void *user, int64_t done, int64_t total)
{
    io_trajectory *t = user;
    atomic_store(&t->done, done);
    if (t->threaded)
        return atomic_load(&t->prefetch.stop);
    return t->watch ? t->watch(t->user, done, total) : 0;
}

/** Read the frame that is next in the range. */
static io_status fill(void *user, io_frame *out, bool *found)
{
    io_trajectory *t = user;
    *found = false;
    if (t->index >= t->end)
        return IO_OK;
    IO_TRY(io__frames_read(&t->frames, t->index, out, found));
    t->index = t->index < t->end - t->step ? t->index + t->step : t->end;
    return IO_OK;
}

static io_status open_file(io_trajectory *t, const char *path)
{
    io_format format = IO_UNKNOWN;
    IO_TRY(io__set_resolve(path, &t->path, &t->error));
    IO_TRY(io__file_open(&t->file, t->path, &t->options.read, &t->error));
    IO_TRY(io__detect(&t->file, &format));
    IO_TRY(io__check_options(&t->file, format));
    IO_TRY(io__frames_open(&t->frames, &t->file, format, &t->options));
    IO_TRY(choose_frames(t));
    t->reading = true;
    t->threaded = !t->frames.format->calling_thread;
    if (!io__prefetch_start(&t->prefetch, fill, t, t->threaded))
        return io__file_fail(&t->file, IO_SYSTEM, "no thread could be had to read with");
    return IO_OK;
}

io_status io_trajectory_open(const char *path, const io_trajectory_options *options,
                             io_trajectory **out, io_error *error)
{
    io_trajectory *t = calloc(1, sizeof *t);
    *out = NULL;
    error = io__error_begin(error);
    if (!t)
        return io__fail(error, path, IO_NO_MEMORY, "no memory to read a trajectory");
    t->file.fd = -1;
    t->options = options ? *options : (io_trajectory_options){0};
    t->watch = t->options.read.watch;
    t->user = t->options.read.user;
    t->options.read.watch = watch_readers;
    t->options.read.user = t;
    t->options.read.frame = 0;
    const io_status status = open_file(t, path);
    if (status == IO_OK) {
        *out = t;
    } else {
        *error = t->error;
        io_trajectory_close(t);
    }
    return status;
}

static io_status check_any(io_trajectory *t, io_error *error)
{
    if (t->given > 0 || !t->options.frames)
        return IO_OK;
    const int64_t n = t->frames.count < 0 ? t->frames.next : t->frames.count;
    return io__fail(error, t->path, IO_INVALID,
                    "has %lld frames, counted from 0; frames '%s' chooses none", (long long)n,
                    t->options.frames);
}

io_status io_trajectory_next(io_trajectory *trajectory, const io_frame **frame, io_error *error)
{
    io_trajectory *t = trajectory;
    error = io__error_begin(error);
    io_status status = IO_OK;
    *frame = NULL;
    for (bool taken = false; !taken;) {
        const int64_t done = atomic_load(&t->done);
        if (t->watch && t->watch(t->user, done, t->file.size) != 0)
            return io__fail(error, t->path, IO_CANCELLED, "reading was stopped");
        taken = io__prefetch_take(&t->prefetch, WATCH_EVERY, frame, &status);
    }
    if (status != IO_OK)
        *error = t->error;
    else if (*frame)
        t->given++;
    else
        status = check_any(t, error);
    return status;
}

int64_t io_trajectory_frames(const io_trajectory *trajectory)
{
    const io_trajectory *t = trajectory;
    const int64_t n = t->frames.count, end = n < 0 || t->end < n ? t->end : n;
    if (end == INT64_MAX || (n < 0 && t->options.frames))
        return -1;
    return t->begin < end ? (end - t->begin - 1) / t->step + 1 : 0;
}

const char *io_trajectory_description(const io_trajectory *trajectory)
{
    return trajectory->frames.description;
}

void io_trajectory_close(io_trajectory *trajectory)
{
    if (!trajectory)
        return;
    if (trajectory->reading)
        io__prefetch_end(&trajectory->prefetch);
    io__frames_close(&trajectory->frames);
    io__file_close(&trajectory->file);
    free(trajectory->path);
    free(trajectory);
}
