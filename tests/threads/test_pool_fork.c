/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A child process made by fork() uses its parent's pool: with the workers asleep, with the workers
 * spinning, with a pool that was never used, and while another thread of the parent runs a loop.
 */
#include <pthread.h>
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

/** Fork, and let the child use the pool and close it. An alarm ends a child that hangs. */
static void check_child(struct kith__pool *pool, const char *when)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        const bool right = sums(pool) && sums(pool);
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
    kith__pool_close(pool);
    return check_done();
}
