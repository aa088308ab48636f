/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading ahead with two frames. The thread fills them in turn, and waits while both are filled or
 * with the caller; the caller takes them in turn. A slot's contents are the thread's until `ready`
 * is set and the caller's until it is cleared, both under the lock.
 */
#include "prefetch.h"

#include "frames.h"

#include <errno.h>
#include <time.h>

static void *run(void *user)
{
    io_prefetch *p = user;
    bool more = true;
    for (int at = 0; more; at = (at + 1) % IO_PREFETCH_SLOTS) {
        pthread_mutex_lock(&p->lock);
        while (p->slot[at].ready && !atomic_load(&p->stop))
            pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        if (atomic_load(&p->stop))
            break;
        bool found = false;
        const io_status status = p->fill(p->user, &p->frame[at], &found);
        more = status == IO_OK && found;
        pthread_mutex_lock(&p->lock);
        p->slot[at].found = found;
        p->slot[at].status = status;
        p->slot[at].ready = true;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

bool io__prefetch_start(io_prefetch *prefetch, io_fill_fn fill, void *user, bool thread)
{
    *prefetch = (io_prefetch){.fill = fill, .user = user};
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&prefetch->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&prefetch->lock, NULL);
    prefetch->has_thread = thread && pthread_create(&prefetch->thread, NULL, run, prefetch) == 0;
    return prefetch->has_thread || !thread;
}

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

/** Give back the slot before the next, and wait until the next is ready. */
static bool wait_for_next(io_prefetch *p, int milliseconds)
{
    const struct timespec end = deadline(milliseconds);
    pthread_mutex_lock(&p->lock);
    if (p->taken) {
        p->slot[(p->next + IO_PREFETCH_SLOTS - 1) % IO_PREFETCH_SLOTS].ready = false;
        p->taken = false;
        pthread_cond_broadcast(&p->changed);
    }
    while (!p->slot[p->next].ready)
        if (pthread_cond_timedwait(&p->changed, &p->lock, &end) == ETIMEDOUT)
            break;
    const bool ready = p->slot[p->next].ready;
    pthread_mutex_unlock(&p->lock);
    return ready;
}

bool io__prefetch_take(io_prefetch *prefetch, int milliseconds, const io_frame **frame,
                       io_status *status)
{
    const int at = prefetch->next;
    *frame = NULL;
    *status = IO_OK;
    bool found = false;
    if (!prefetch->has_thread) {
        *status = prefetch->fill(prefetch->user, &prefetch->frame[at], &found);
    } else if (!wait_for_next(prefetch, milliseconds)) {
        return false;
    } else {
        *status = prefetch->slot[at].status;
        found = prefetch->slot[at].found;
    }
    if (*status != IO_OK || !found)
        return true; /* and the same again: the thread has ended, the slot stays ready */
    *frame = &prefetch->frame[at];
    if (prefetch->has_thread) {
        prefetch->next = (at + 1) % IO_PREFETCH_SLOTS;
        prefetch->taken = true;
    }
    return true;
}

void io__prefetch_end(io_prefetch *prefetch)
{
    atomic_store(&prefetch->stop, true);
    if (prefetch->has_thread) {
        pthread_mutex_lock(&prefetch->lock);
        pthread_cond_broadcast(&prefetch->changed);
        pthread_mutex_unlock(&prefetch->lock);
        pthread_join(prefetch->thread, NULL);
    }
    pthread_cond_destroy(&prefetch->changed);
    pthread_mutex_destroy(&prefetch->lock);
    for (int k = 0; k < IO_PREFETCH_SLOTS; k++)
        io__frame_free(&prefetch->frame[k]);
}
