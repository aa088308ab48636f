/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pool of threads. Its gate is one atomic integer that holds two numbers: free places of the
 * loop, and active workers. A loop is open while its gate has free places: a worker joins by taking
 * one, with a compare-and-swap, and the place that it took is its index. The gate is closed as soon
 * as all pieces are claimed; the caller then waits until no worker is active. Only the caller
 * changes the description of a loop, and only while the gate is closed and no worker is active.
 *
 * A worker or a caller that waits spins for SPIN_NS, then yields its core to any other thread that
 * can run, again and again for YIELD_NS, then sleeps. To wake a thread takes as long as the serial
 * work between most loops. A thread that yields on a busy machine gets its core back late, whereas
 * one that sleeps is woken at once; so after a late return it sleeps, and no thread yields for
 * BUSY_NS.
 *
 * A worker that is about to sleep first increments `sleepers`, and the caller first sets
 * `caller_sleeps`; each then tests the gate once more. A thread that changes the gate tests these
 * afterwards. All these accesses are sequentially consistent, so no wake-up is lost.
 */
#include "pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    CACHE_LINE = 64,             /* [bytes] */
    PAUSES = 32,                 /* spins between two readings of the clock */
    RANGES_EACH = 4,             /* ranges of kith__pool_for for each thread */
    SPIN_NS = 20 * 1000,         /* longest spinning: twice the time to suspend and wake a thread */
    YIELD_NS = 100 * 1000,       /* longest yielding after that */
    LATE_NS = 20 * 1000,         /* shortest yield that shows that another thread used the core */
    BUSY_NS = 100 * 1000 * 1000, /* time without yielding after that */
    IDLE_NS = 20 * 1000 * 1000   /* time between two calls of `stopped` by a sleeping caller */
};

/** One free place of the gate: their number is in its upper 32 bits. */
static const uint64_t one_place = (uint64_t)1 << 32;

/** The bits of the gate that hold the number of active workers. */
static const uint64_t active_mask = UINT32_MAX;

/** A pool of threads. */
struct kith__pool {
    int threads;        /**< most threads of a loop, the caller included */
    int started;        /**< workers that have been started */
    pthread_t *workers; /**< [threads - 1] the workers; the first `started` exist */
    /** Address of `this_thread` in the thread whose loop is running; NULL: none is. A second loop
     *  is done by its caller alone. */
    _Atomic(const char *) caller;
    _Atomic int64_t no_yield_before; /**< time before which threads that wait do not yield [ns] */
    bool (*stopped)(void *user);     /**< returns true when the remaining pieces are to be dropped;
                                      NULL: they never are */
    void *user;                      /**< argument of `stopped` */

    /* The loop that is running. The first three members are not atomic: opening the gate publishes
     * them to the workers that join afterwards. */
    kith__piece_fn *fn;                         /**< function that does a piece */
    void *state;                                /**< argument of fn */
    int64_t pieces;                             /**< number of pieces */
    _Alignas(CACHE_LINE) _Atomic int64_t next;  /**< first piece that no thread has claimed */
    _Alignas(CACHE_LINE) _Atomic uint64_t gate; /**< free places and active workers */

    _Alignas(CACHE_LINE) pthread_mutex_t lock; /**< guards the two condition variables */
    pthread_cond_t opened;                     /**< the gate was opened, or the pool closes */
    pthread_cond_t emptied;                    /**< no worker is active any more */
    atomic_int sleepers;                       /**< workers that wait for `opened` */
    atomic_bool caller_sleeps;                 /**< the caller waits for `emptied` */
    bool closing; /**< the pool is being closed: workers are to return; guarded by lock */

    /* Doubly linked list of all open pools, for fork(); guarded by all_lock. */
    struct kith__pool *previous;  /**< the pool before this one; NULL: this is the first */
    struct kith__pool *following; /**< the pool after this one; NULL: this is the last */
};

/* Its address identifies a thread. */
static _Thread_local char this_thread;

/* All open pools. A child of fork() has none of their workers. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kith__pool *all_pools;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/** Return the time of a monotonic clock [ns]. */
static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/** Execute some pause instructions, which tell the processor that this is a spinning loop. */
static void pause_briefly(void)
{
    for (int k = 0; k < PAUSES; k++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#else
        atomic_signal_fence(memory_order_seq_cst);
#endif
    }
}

/** Wait for a moment in a loop that tests a condition.
 *  @param since  time when the loop began [ns]
 *  @return false: the thread should sleep instead, as the loop has lasted too long, or other
 *          threads need the core */
static bool wait_a_moment(struct kith__pool *pool, int64_t since)
{
    const int64_t now = now_ns();
    if (now - since < SPIN_NS) {
        pause_briefly();
        return true;
    }
    if (now - since >= SPIN_NS + YIELD_NS ||
        now < atomic_load_explicit(&pool->no_yield_before, memory_order_relaxed)) {
        return false;
    }
    sched_yield();
    const int64_t after = now_ns();
    if (after - now < LATE_NS) {
        return true;
    }
    atomic_store_explicit(&pool->no_yield_before, after + BUSY_NS, memory_order_relaxed);
    return false;
}

/** Wait for the condition variable `emptied`, with the mutex locked, for at most IDLE_NS.
 *  @return 0 when the condition variable was signalled */
static int wait_while_idle(struct kith__pool *pool)
{
#ifdef __APPLE__ /* no clock can be chosen for a condition variable; a duration can be given */
    const struct timespec time = {0, IDLE_NS};
    return pthread_cond_timedwait_relative_np(&pool->emptied, &pool->lock, &time);
#else
    const int64_t until = now_ns() + IDLE_NS;
    const struct timespec time = {until / 1000000000, until % 1000000000};
    return pthread_cond_timedwait(&pool->emptied, &pool->lock, &time);
#endif
}

/** Initialise mutex, condition variables and counters of a pool without workers. */
static void reset(struct kith__pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
#ifndef __APPLE__ /* see wait_while_idle */
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->emptied, &monotonic);
    pthread_condattr_destroy(&monotonic);
    atomic_store(&pool->gate, 0);
    atomic_store(&pool->sleepers, 0);
    atomic_store(&pool->caller_sleeps, false);
    pool->started = 0;
}

/** Lock the list of pools, so that it is not being changed when the child copies it. */
static void before_fork(void)
{
    pthread_mutex_lock(&all_lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&all_lock);
}

/** Reset all pools to pools without workers: in the child process, only the thread that called
 *  fork() exists. Loops of other threads do not go on. */
static void after_fork_in_child(void)
{
    for (struct kith__pool *pool = all_pools; pool; pool = pool->following) {
        reset(pool);
        if (atomic_load(&pool->caller) != &this_thread) {
            atomic_store(&pool->caller, NULL);
        }
    }
    pthread_mutex_unlock(&all_lock);
}

/** Install the handlers of fork(), once for each process. */
static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

struct kith__pool *kith__pool_open(int threads)
{
    pthread_once(&fork_once, watch_forks);
    struct kith__pool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
    if (!pool) {
        return NULL;
    }
    *pool = (struct kith__pool){.threads = threads > 1 ? threads : 1};
    pool->workers = malloc((size_t)pool->threads * sizeof *pool->workers);
    if (!pool->workers) {
        free(pool);
        return NULL;
    }
    reset(pool);
    pthread_mutex_lock(&all_lock);
    pool->following = all_pools;
    if (all_pools) {
        all_pools->previous = pool;
    }
    all_pools = pool;
    pthread_mutex_unlock(&all_lock);
    return pool;
}

void kith__pool_close(struct kith__pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&all_lock);
    if (pool->previous) {
        pool->previous->following = pool->following;
    } else {
        all_pools = pool->following;
    }
    if (pool->following) {
        pool->following->previous = pool->previous;
    }
    pthread_mutex_unlock(&all_lock);

    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (int w = 0; w < pool->started; w++) {
        pthread_join(pool->workers[w], NULL);
    }
    pthread_cond_destroy(&pool->opened);
    pthread_cond_destroy(&pool->emptied);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

void kith__pool_watch(struct kith__pool *pool, bool (*stopped)(void *user), void *user)
{
    pool->stopped = stopped;
    pool->user = user;
}

/** Return true when the remaining pieces of the loop are to be dropped. Calls the function that
 *  kith__pool_watch was given. */
static bool is_stopped(const struct kith__pool *pool)
{
    return pool->stopped && pool->stopped(pool->user);
}

bool kith__pool_stopped(const struct kith__pool *pool)
{
    return pool && is_stopped(pool);
}

int kith__pool_threads(const struct kith__pool *pool)
{
    return pool ? pool->threads : 1;
}

/** Join the loop that is running, as a worker, by taking one of its free places. A place has the
 *  number of places that were free before it was taken, so that no two workers have one.
 *  @return the place, 1 or more, which is the worker's index; 0: none is free */
static int join_loop(struct kith__pool *pool)
{
    uint64_t gate = atomic_load(&pool->gate);
    while (gate >= one_place) {
        if (atomic_compare_exchange_weak(&pool->gate, &gate, gate - one_place + 1)) {
            return (int)(gate >> 32);
        }
    }
    return 0;
}

/** Leave the loop that is running, all of whose pieces are claimed or dropped, and close its gate:
 *  the free places are set to 0, as there is nothing left to do. The last active worker wakes the
 *  caller. */
static void leave_loop(struct kith__pool *pool)
{
    uint64_t gate = atomic_load(&pool->gate);
    while (!atomic_compare_exchange_weak(&pool->gate, &gate, (gate & active_mask) - 1)) {}
    assert((gate & active_mask) > 0);
    if ((gate & active_mask) == 1 && atomic_load(&pool->caller_sleeps)) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_signal(&pool->emptied);
        pthread_mutex_unlock(&pool->lock);
    }
}

/** Claim and process pieces until none is left, or the loop is to stop. Claims are relaxed: what a
 *  piece reads was published by the gate, and what it writes is published by leave_loop. */
static void do_pieces(struct kith__pool *pool, int worker)
{
    while (!is_stopped(pool)) {
        const int64_t piece = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (piece >= pool->pieces) {
            return;
        }
        pool->fn(pool->state, piece, worker);
    }
}

/** Wait for a loop, and join it. @return the worker's index in the loop; 0: the pool closes */
static int await_loop(struct kith__pool *pool)
{
    const int64_t since = now_ns();
    int place = join_loop(pool);
    while (place == 0 && wait_a_moment(pool, since)) {
        place = join_loop(pool);
    }
    if (place > 0) {
        return place;
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!pool->closing && (place = join_loop(pool)) == 0) {
        pthread_cond_wait(&pool->opened, &pool->lock);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
    return place;
}

/** Main function of a worker. */
static void *run_worker(void *argument)
{
    struct kith__pool *pool = argument;
    int place = 0;
    while ((place = await_loop(pool)) > 0) {
        assert(place < pool->threads);
        do_pieces(pool, place);
        leave_loop(pool);
    }
    return NULL;
}

/** Start workers until there are `wanted`, or no more can be started. Workers block all signals but
 *  those that a thread raises itself, by a fault or abort(), and SIGPROF, which profilers send:
 *  other signals to the process go to the caller's threads. */
static void start_workers(struct kith__pool *pool, int wanted)
{
    static const int not_blocked[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                      SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (unsigned k = 0; k < sizeof not_blocked / sizeof *not_blocked; k++) {
        sigdelset(&blocked, not_blocked[k]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (pool->started < wanted &&
           pthread_create(&pool->workers[pool->started], NULL, run_worker, pool) == 0) {
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/** Open the gate for `places` workers, and wake those that sleep. */
static void open_gate(struct kith__pool *pool, int places)
{
    atomic_store(&pool->gate, (uint64_t)places * one_place);
    const int sleepers = atomic_load(&pool->sleepers);
    if (sleepers == 0) {
        return;
    }
    /* once the lock is taken, workers that incremented `sleepers` are in pthread_cond_wait, or have
     * tested the gate since it was opened */
    pthread_mutex_lock(&pool->lock);
    pthread_mutex_unlock(&pool->lock);
    if (sleepers <= places) {
        pthread_cond_broadcast(&pool->opened);
    } else {
        for (int k = 0; k < places; k++) {
            pthread_cond_signal(&pool->opened);
        }
    }
}

/** Return true when no worker is active. */
static bool is_empty(struct kith__pool *pool)
{
    return (atomic_load(&pool->gate) & active_mask) == 0;
}

/** Close the gate, and wait until no worker is active. */
static void close_gate(struct kith__pool *pool)
{
    atomic_fetch_and(&pool->gate, active_mask);
    if (is_empty(pool)) {
        return;
    }
    const int64_t since = now_ns();
    while (wait_a_moment(pool, since)) {
        if (is_empty(pool)) {
            return;
        }
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->caller_sleeps, true);
    while (!is_empty(pool)) {
        if (wait_while_idle(pool) != 0) {
            pthread_mutex_unlock(&pool->lock);
            (void)is_stopped(
                pool); /* it may call the watch callback, the caller's code: not under the lock */
            pthread_mutex_lock(&pool->lock);
        }
    }
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->lock);
}

void kith__pool_run(struct kith__pool *pool, int threads, int64_t pieces, kith__piece_fn *fn,
                    void *state)
{
    int64_t wanted = pool && threads < pool->threads ? threads : kith__pool_threads(pool);
    wanted = pieces < wanted ? pieces : wanted;
    const char *caller = NULL;
    if (!pool || wanted <= 1 ||
        !atomic_compare_exchange_strong(&pool->caller, &caller, &this_thread)) {
        for (int64_t piece = 0; piece < pieces && !kith__pool_stopped(pool); piece++) {
            fn(state, piece, 0);
        }
        return;
    }
    pool->fn = fn;
    pool->state = state;
    pool->pieces = pieces;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    if (pool->started < wanted - 1) {
        start_workers(pool, (int)wanted - 1);
    }
    open_gate(pool, (int)wanted - 1);
    do_pieces(pool, 0);
    close_gate(pool);
    atomic_store(&pool->caller, NULL);
}

/** State of a loop over items that is cut into ranges: each range is a piece. */
struct ranges {
    kith__range_fn *fn; /**< function that does a range */
    void *state;        /**< argument of fn */
    int64_t n;          /**< number of items */
    int64_t grain;      /**< items of a range; the last may have fewer */
};

/** kith__piece_fn: process one range. */
static void do_range(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct ranges *ranges = state;
    const int64_t begin = piece * ranges->grain;
    const int64_t rest = ranges->n - begin;
    ranges->fn(ranges->state, begin, begin + (rest < ranges->grain ? rest : ranges->grain));
}

void kith__pool_chunks(struct kith__pool *pool, int threads, int64_t n, int64_t grain,
                       kith__range_fn *fn, void *state)
{
    assert(n >= 0 && grain > 0);
    struct ranges ranges = {fn, state, n, grain};
    kith__pool_run(pool, threads, n / grain + (n % grain > 0), do_range, &ranges);
}

void kith__pool_for(struct kith__pool *pool, int threads, int64_t n, int64_t grain,
                    kith__range_fn *fn, void *state)
{
    const int64_t ranges = threads > 1 ? (int64_t)threads * RANGES_EACH : 1;
    const int64_t share = n / ranges + (n % ranges > 0); /* items of one of `ranges` equal ranges */
    kith__pool_chunks(pool, threads, n, share > grain ? share : grain, fn, state);
}
