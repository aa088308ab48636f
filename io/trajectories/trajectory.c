/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_trajectory: a file, the frames chosen from it, and the thread that reads ahead. The thread
 * alone calls the readers, which have an error of their own. Progress, and the request to stop, are
 * passed through atomics, so that the caller's watch is called in the caller's thread.
 *
 * There is a ring of slots with a frame each: two, or more where frames are small. The thread fills
 * them in turn, and waits while all are filled or used by the caller, who takes them in turn. The
 * thread owns a slot until `ready` is set, the caller until it is cleared; both happen under the
 * lock. A thread that waits is woken when half of the ring is free, not for each slot: a wake-up
 * takes longer than reading a small frame. While the caller wakes, the thread fills more slots, so
 * that a long ring lets the caller take several frames each time.
 */
#include "trajectory.h"

#include "frames.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    WATCH_EVERY = 50,       /* milliseconds */
    SLOTS = 32,             /* most slots of a ring */
    SOME_SLOTS = 8,         /* slots of a ring of frames with up to SMALL particles */
    SMALL = 20000,          /* most particles of a small frame */
    TINY = 5000,            /* most particles of the frames of a ring of SLOTS */
    SIGNAL_STACK = 1 << 15, /* size of the stack of signal handlers [byte] */
};

struct io_trajectory {
    char *path;                    /* path of the file that is read */
    io_trajectory_options options; /* options; read.watch is watch_readers */
    kith_watch_fn watch;           /* the caller's watch; may be NULL */
    void *user;                    /* first argument of watch */
    io_file file;                  /* the file */
    io_error error;                /* error of the readers */
    io_frames frames;              /* the reader of its format */
    int64_t begin, end, step;      /* the chosen frames: begin, begin + step, ... before end */
    int64_t index;                 /* index of the frame to be read next */
    int64_t given;                 /* number of frames returned to the caller */
    atomic_llong done;             /* bytes of the file read so far */
    struct {
        io_frame frame;   /* the frame */
        bool ready;       /* the slot is filled and not yet given back */
        bool found;       /* there is a frame; else the trajectory ends here */
        io_status status; /* result of reading the frame */
    } slot[SLOTS];
    int slots;            /* number of slots in use: 2, SOME_SLOTS or SLOTS; 0 until the first frame
                               has been read */
    int next;             /* index of the slot that the caller takes next */
    bool taken;           /* the caller uses the slot before `next` */
    bool threaded;        /* a thread reads ahead; else the calling thread reads into slot 0 */
    atomic_bool stop;     /* the thread must end */
    pthread_t thread;     /* the thread that reads ahead, if threaded */
    pthread_mutex_t lock; /* protects ready, and the hand-over of slots */
    pthread_cond_t changed; /* signalled when ready or stop changes */
};

/** Parse "a:b:step". Elements of `part` whose text is empty or missing are not changed. Numbers are
 *  reduced to INT64_MAX - 1, because INT64_MAX means that no end is given, and a + 1 must not
 *  overflow.
 *  @return the number of parts; 0: malformed */
static int parse_parts(const char *text, int64_t part[3])
{
    for (int n = 0; n < 3; n++) {
        char *end = NULL;
        const long long value = strtoll(text, &end, 10);
        if (end > text) {
            part[n] = value < INT64_MAX ? value : INT64_MAX - 1;
        } else if (*text != ':' && (*text || n == 0)) {
            return 0;
        }
        if (!*end) {
            return end == text && n == 0 ? 0 : n + 1;
        }
        if (*end != ':') {
            return 0;
        }
        text = end + 1;
    }
    return 0;
}

/** Convert a negative index, which counts from the end of n frames. */
static int64_t from_end(int64_t at, int64_t n)
{
    return at >= 0 ? at : at + n > 0 ? at + n : 0;
}

/** Parse options.frames: set begin, end, step and index. Counts the frames of the file if a number
 *  is negative. */
static io_status choose_frames(io_trajectory *t)
{
    int64_t part[3] = {0, INT64_MAX, 1};
    const char *text = t->options.frames;
    const int parts = text ? parse_parts(text, part) : 2;
    if (parts == 0 || part[2] < 1) {
        return io__file_fail(&t->file, IO_INVALID,
                             "frames '%s'; expected a number, or begin:end or begin:end:step as in "
                             "Python, with a step of 1 or more",
                             text);
    }
    int64_t n = t->frames.count;
    if (part[0] < 0 || part[1] < 0) {
        IO_TRY(io__frames_count(&t->frames, &n));
    }
    if (parts == 1 && part[0] < 0 && part[0] < -n) {
        part[0] = INT64_MAX - 1; /* the file has no frame of this index */
    }
    t->index = t->begin = from_end(part[0], n);
    t->end = parts == 1 ? t->begin + 1 : from_end(part[1], n);
    t->step = part[2];
    return IO_OK;
}

/** The watch function of the readers, called in their thread. */
static int watch_readers(void *user, int64_t done, int64_t total)
{
    io_trajectory *t = user;
    atomic_store(&t->done, done);
    if (t->threaded) {
        return atomic_load(&t->stop);
    }
    return t->watch ? t->watch(t->user, done, total) : 0;
}

/** Read the next chosen frame, and advance t->index. @param[out] found  false: there is none */
static io_status fill(io_trajectory *t, io_frame *out, bool *found)
{
    *found = false;
    if (t->index >= t->end) {
        return IO_OK;
    }
    IO_TRY(io__frames_read(&t->frames, t->index, out, found));
    t->index = t->index < t->end - t->step ? t->index + t->step : t->end;
    return IO_OK;
}

/** Return the number of slots of a ring of frames with n particles. */
static int slots_for(int64_t n)
{
    return n <= TINY ? SLOTS : n <= SMALL ? SOME_SLOTS : 2;
}

/** The thread that reads ahead: fill the slots in turn. */
static void *read_ahead(void *user)
{
    io_trajectory *t = user;
    bool more = true;
    char room[SIGNAL_STACK]; /* stack for signal handlers, used if that of the thread overflows */
    stack_t before;
    (void)sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, &before);
    for (int at = 0; more; at = (at + 1) % t->slots) {
        pthread_mutex_lock(&t->lock);
        while (t->slot[at].ready && !atomic_load(&t->stop)) {
            pthread_cond_wait(&t->changed, &t->lock);
        }
        pthread_mutex_unlock(&t->lock);
        if (atomic_load(&t->stop)) {
            break;
        }
        bool found = false;
        const io_status status = fill(t, &t->slot[at].frame, &found);
        more = status == IO_OK && found;
        pthread_mutex_lock(&t->lock);
        if (t->slots == 0) { /* the first frame */
            t->slots = slots_for(t->slot[at].frame.particles.n);
        }
        t->slot[at].found = found;
        t->slot[at].status = status;
        t->slot[at].ready = true;
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->lock);
    }
    (void)sigaltstack(&before, NULL); /* room is gone before the thread ends */
    return NULL;
}

/** Initialise the lock and the condition, whose clock is the monotonic one of deadline(). */
static void make_lock(io_trajectory *t)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&t->lock, NULL);
}

/** Open the file, choose the frames, and start the thread that reads ahead. */
static io_status open_file(io_trajectory *t, const char *path)
{
    io_format format = IO_UNKNOWN;
    IO_TRY(io__set_resolve(path, &t->path, &t->error));
    IO_TRY(io__file_open(&t->file, t->path, &t->options.read, &t->error));
    IO_TRY(io__detect(&t->file, &format));
    IO_TRY(io__check_options(&t->file, format));
    IO_TRY(io__frames_open(&t->frames, &t->file, format, &t->options));
    IO_TRY(choose_frames(t));
    t->threaded = !t->frames.format->calling_thread;
    if (!t->threaded || pthread_create(&t->thread, NULL, read_ahead, t) == 0) {
        return IO_OK;
    }
    t->threaded = false;
    return io__file_fail(&t->file, IO_SYSTEM, "no thread could be had to read with");
}

io_status io_trajectory_open(const char *path, const io_trajectory_options *options,
                             io_trajectory **out, io_error *error)
{
    io_trajectory *t = calloc(1, sizeof *t);
    *out = NULL;
    error = io__error_begin(error);
    if (!t) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to read a trajectory");
    }
    t->file.fd = -1;
    t->options = options ? *options : (io_trajectory_options){0};
    t->watch = t->options.read.watch;
    t->user = t->options.read.user;
    t->options.read.watch = watch_readers;
    t->options.read.user = t;
    t->options.read.frame = 0;
    t->options.read.radii = NULL;
    make_lock(t);
    const io_status status = open_file(t, path);
    if (status == IO_OK) {
        *out = t;
    } else {
        *error = t->error;
        io_trajectory_close(t);
    }
    return status;
}

/** Return the time on the monotonic clock that is this long from now. */
static struct timespec deadline(int milliseconds)
{
    const long second = 1000000000;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += milliseconds * (second / 1000);
    time.tv_sec += time.tv_nsec / second;
    time.tv_nsec %= second;
    return time;
}

/** Return the slot before `next` to the thread that reads ahead, and wait at most WATCH_EVERY
 *  milliseconds until slot `next` is filled. @return true when it is filled */
static bool wait_for_next(io_trajectory *t)
{
    const struct timespec end = deadline(WATCH_EVERY);
    pthread_mutex_lock(&t->lock);
    if (t->taken) {
        t->slot[(t->next + t->slots - 1) % t->slots].ready = false;
        t->taken = false;
        if (t->next % (t->slots / 2) == 0) { /* it was the last slot of a half */
            pthread_cond_broadcast(&t->changed);
        }
    }
    while (!t->slot[t->next].ready) {
        if (pthread_cond_timedwait(&t->changed, &t->lock, &end) == ETIMEDOUT) {
            break;
        }
    }
    const bool ready = t->slot[t->next].ready;
    pthread_mutex_unlock(&t->lock);
    return ready;
}

/** Take the next frame. @param[out] frame  unchanged if there is none
 *  @return false if the thread has not read it yet */
static bool take(io_trajectory *t, const io_frame **frame, io_status *status)
{
    const int at = t->next;
    if (!t->threaded) {
        t->slot[at].status = fill(t, &t->slot[at].frame, &t->slot[at].found);
    } else if (!wait_for_next(t)) {
        return false;
    }
    *status = t->slot[at].status;
    if (*status != IO_OK || !t->slot[at].found) {
        return true; /* the thread has ended; later calls find this slot again */
    }
    *frame = &t->slot[at].frame;
    if (t->threaded) {
        t->next = (at + 1) % t->slots;
        t->taken = true;
    }
    return true;
}

/** Return IO_INVALID if the trajectory has ended and options.frames chose no frame of it. */
static io_status check_any(io_trajectory *t, io_error *error)
{
    if (t->given > 0 || !t->options.frames) {
        return IO_OK;
    }
    const int64_t n = t->frames.count < 0 ? t->frames.next : t->frames.count;
    const bool any = t->frames.count > 0 || n > 0 || t->begin >= t->end; /* none was looked for */
    char missing[64] = "";
    if (!any) {
        return io__fail(error, t->path, IO_INVALID, IO_NO_FRAMES);
    }
    if (t->begin >= t->end) {
        return io__fail(error, t->path, IO_INVALID,
                        "frames '%s' chooses none: it ends where it begins, or before",
                        t->options.frames);
    }
    if (t->begin >= n) {
        snprintf(missing, sizeof missing, ": there is no frame %lld",
                 strtoll(t->options.frames, NULL, 10));
    }
    return io__fail(error, t->path, IO_INVALID,
                    "has %lld frame%s, counted from 0%s; frames '%s' chooses none", (long long)n,
                    n == 1 ? "" : "s", missing, t->options.frames);
}

io_status io_trajectory_next(io_trajectory *trajectory, const io_frame **frame, io_error *error)
{
    io_trajectory *t = trajectory;
    error = io__error_begin(error);
    io_status status = IO_OK;
    *frame = NULL;
    for (bool taken = false; !taken;) {
        const int64_t done = atomic_load(&t->done);
        if (t->watch && t->watch(t->user, done, t->file.size) != 0) {
            return io__fail(error, t->path, IO_CANCELLED, "reading was stopped");
        }
        taken = take(t, frame, &status);
    }
    if (status != IO_OK) {
        *error = t->error;
    } else if (*frame) {
        t->given++;
    } else {
        status = check_any(t, error);
    }
    return status;
}

int64_t io_trajectory_frames(const io_trajectory *trajectory)
{
    const io_trajectory *t = trajectory;
    const int64_t n = t->frames.count, end = n < 0 || t->end < n ? t->end : n;
    if (end == INT64_MAX || (n < 0 && t->options.frames)) {
        return -1;
    }
    return t->begin < end ? (end - t->begin - 1) / t->step + 1 : 0;
}

bool io_trajectory_in_parts(const io_trajectory *t)
{
    return t->options.read.parts > 0 && t->frames.single && t->frames.count == 1;
}

const char *io_trajectory_description(const io_trajectory *trajectory)
{
    return trajectory->frames.description;
}

void io_trajectory_close(io_trajectory *trajectory)
{
    io_trajectory *t = trajectory;
    if (!t) {
        return;
    }
    atomic_store(&t->stop, true);
    if (t->threaded) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->thread, NULL);
    }
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    for (int k = 0; k < SLOTS; k++) {
        io__frame_free(&t->slot[k].frame);
    }
    io__frames_close(&t->frames);
    io__file_close(&t->file);
    free(t->path);
    free(t);
}
