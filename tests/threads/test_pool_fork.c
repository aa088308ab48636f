/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A child process made by fork() uses its parent's pool: with the workers asleep, with the workers
 * spinning, with a pool that was never used, while another thread of the parent runs a loop, and
 * from inside a piece of a loop.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "pool.h"

enum { PIECES = 64, SECONDS = 10 };

static void add(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct timespec work = {0, 20000};
    nanosleep(&work, NULL);
    atomic_fetch_add((_Atomic int64_t *)state, piece);
}

static bool sums(struct kith__pool *pool)
{
    _Atomic int64_t sum = 0;
    kith__pool_run(pool, 4, PIECES, add, &sum);
    return sum == PIECES * (PIECES - 1) / 2;
}

/** A loop whose pieces wait until a worker has joined it. */
typedef struct shared {
    int wait_ms; /* longest wait */
    atomic_bool has_worker;
} shared;

static void await_worker(void *state, int64_t piece, int worker)
{
    shared *loop = state;
    const struct timespec moment = {0, 1000000};
    (void)piece;
    if (worker > 0) {
        atomic_store(&loop->has_worker, true);
    }
    for (int k = 0; k < loop->wait_ms && !atomic_load(&loop->has_worker); k++) {
        nanosleep(&moment, NULL);
    }
}

static bool has_workers(struct kith__pool *pool, int wait_ms)
{
    shared loop = {.wait_ms = wait_ms};
    kith__pool_run(pool, 2, 2, await_worker, &loop);
    return atomic_load(&loop.has_worker);
}

/** Fork, and let the child use the pool and close it. An alarm ends a child that hangs. */
static void check_child(struct kith__pool *pool, const char *when)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        const bool right = sums(pool) && sums(pool) && has_workers(pool, 1000 * SECONDS / 4);
        kith__pool_close(pool);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: the child's status is %#x", when,
          (unsigned)status);
    CHECK(sums(pool), "%s: the parent's loop", when);
}

static void *run_loops(void *pool)
{
    for (int k = 0; k < 50; k++) {
        CHECK(sums(pool), "the loop of the other thread");
    }
    return NULL;
}

/** A loop that another thread holds at its first piece. */
typedef struct held {
    struct kith__pool *pool;
    atomic_bool begun, released;
} held;

static void hold(void *state, int64_t piece, int worker)
{
    held *loop = state;
    const struct timespec moment = {0, 100000};
    (void)piece;
    (void)worker;
    atomic_store(&loop->begun, true);
    while (!atomic_load(&loop->released)) {
        nanosleep(&moment, NULL);
    }
}

static void *run_held(void *loop)
{
    kith__pool_run(((held *)loop)->pool, 2, 2, hold, loop);
    return NULL;
}

/** Fork within a loop of another thread. */
static void check_held(struct kith__pool *pool)
{
    held loop = {.pool = pool};
    pthread_t other;
    CHECK(pthread_create(&other, NULL, run_held, &loop) == 0, "no thread");
    while (!atomic_load(&loop.begun)) {
        sched_yield();
    }
    check_child(pool, "another thread is within a loop");
    atomic_store(&loop.released, true);
    pthread_join(other, NULL);
}

/** Piece of a loop: the thread that runs the loop forks. In its child the pool still belongs to
 *  this loop, so that a loop within is done by the thread alone. */
static void fork_within(void *state, int64_t piece, int worker)
{
    struct kith__pool *pool = state;
    if (worker > 0 || piece > 0) {
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        _exit(sums(pool) && !has_workers(pool, 20) ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0,
          "within a piece: the child's status is %#x", (unsigned)status);
}

int main(void)
{
    if (check_gcc_tsan()) {
        return check_skip("gcc's thread sanitizer refuses threads of a child (use clang's)");
    }
    struct kith__pool *pool = kith__pool_open(4);
    check_child(pool, "before the first loop");
    CHECK(sums(pool), "a loop");
    check_child(pool, "workers spin");
    const struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
    check_child(pool, "workers sleep");
    pthread_t other;
    CHECK(pthread_create(&other, NULL, run_loops, pool) == 0, "no thread");
    for (int k = 0; k < 5; k++) {
        check_child(pool, "another thread runs a loop");
    }
    pthread_join(other, NULL);
    check_held(pool);
    kith__pool_run(pool, 2, 2, fork_within, pool);
    kith__pool_close(pool);
    return check_done();
}
