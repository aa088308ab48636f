/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading ahead: a thread fills one frame while the caller works on the other.
 */
#ifndef KITH_IO_PREFETCH_H
#define KITH_IO_PREFETCH_H

#include "trajectory.h"

#include <pthread.h>
#include <stdatomic.h>

/** Fill the next frame; *found false: there is none. Called from one thread at a time. */
typedef io_status (*io_fill_fn)(void *user, io_frame *out, bool *found);

enum { IO_PREFETCH_SLOTS = 2 };

typedef struct io_prefetch {
    io_fill_fn fill;
    void *user;
    io_frame frame[IO_PREFETCH_SLOTS];
    struct {
        bool ready; /* filled, not yet given back */
        bool found;
        io_status status;
    } slot[IO_PREFETCH_SLOTS];
    int next;         /* the slot that the caller takes next */
    bool taken;       /* the caller has the one before */
    bool has_thread;  /* else the caller's thread fills */
    atomic_bool stop; /* fill should come to an end */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} io_prefetch;

/** Begin to read ahead. @return false when a thread is wanted and cannot be had. */
bool io__prefetch_start(io_prefetch *prefetch, io_fill_fn fill, void *user, bool thread);

/** Give the frame last taken back, and wait at most `milliseconds` for the next; *frame is NULL
 *  when there is none. @return false when it is not there yet. */
bool io__prefetch_take(io_prefetch *prefetch, int milliseconds, const io_frame **frame,
                       io_status *status);

/** Stop, wait for the thread, free the frames. */
void io__prefetch_end(io_prefetch *prefetch);

#endif
