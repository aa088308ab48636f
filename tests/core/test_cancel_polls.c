/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every call ends well wherever it is cancelled: what a loop left undone is not used as an index.
 *
 * The library tests for cancellation by reading the clock. This program has a clock of its own,
 * which counts the readings of the thread that makes the call, and asks the call to stop at reading
 * k, for k = 2, 3, 4 and so on until the call is not cancelled any more. With one thread that is
 * every place at which a call can end early. With several threads the places vary.
 *
 * New memory holds garbage (M_PERTURB), so that a sum over numbers that were never written is wild.
 * The address sanitizer finds what is written out of place.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cancel_case.h"
#include "check.h"

/* Readings of the clock by this thread; below 0: they are not counted. */
static _Thread_local int64_t readings = -1;
static int64_t stop_at; /* the reading that asks the call to stop */

/** The clock that the library reads: real, and a year later from stop_at on. */
int clock_gettime(clockid_t which, struct timespec *time)
{
    enum { YEAR = 31557600 };
    const int failed = (int)syscall(SYS_clock_gettime, which, time);
    if (readings >= 0 && ++readings >= stop_at) {
        time->tv_sec += YEAR;
    }
    return failed;
}

static int watch(void *user, int64_t done, int64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return readings >= stop_at;
}

/** Make the call, which is to stop at reading k. @return whether it was cancelled. */
static bool is_cancelled(const cancel_case *c, const char *backend, int threads,
                         const cancel_sets *sets, int64_t k)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = threads;
    options.watch = watch;
    kith_ctx *ctx = NULL;
    if (!CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL))) {
        return false;
    }
    stop_at = k;
    readings = 0;
    const kith_status status = c->run(ctx, sets);
    readings = -1;
    CHECK(status == KITH_OK || status == KITH_CANCELLED, "%s, stopped at reading %lld: %s", c->name,
          (long long)k, kith_message(ctx));
    kith_close(ctx);
    return status == KITH_CANCELLED;
}

/** Stop a call at every reading; at fewer of them once it has taken `most` seconds. */
static void check_call(const cancel_case *c, const char *backend, int threads,
                       const cancel_sets *sets, double most)
{
    enum { FEWER = 4 };
    struct timespec start, now;
    int64_t k = 2, runs = 0; /* the first reading begins the call */
    double passed = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    while (passed < 2 * most && is_cancelled(c, backend, threads, sets, k)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        passed = (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
        k += passed < most ? 1 : 1 + k / FEWER;
        runs++;
    }
    CHECK(runs > 0, "%s: was not cancelled", c->name);
    if (getenv("KITH_TEST_VERBOSE")) {
        printf("%-40s %d threads, %lld runs to reading %lld\n", c->name, threads, (long long)runs,
               (long long)k);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    enum { GARBAGE = 0x5a, N = 40000, DENSE = 1000, FEW = 5, THREADS = 8 };
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 0));
    (void)mallopt(M_PERTURB, GARBAGE);
    const char *only = getenv("KITH_TEST_ONLY");
    int n;
    const cancel_case *all = cancel_cases(&n);
    cancel_sets *sets = cancel_sets_make(N, DENSE, FEW);
    for (int k = 0; k < n; k++) {
        if (!only || strstr(all[k].name, only)) {
            check_call(&all[k], backend, 1, sets, check_deep() ? 60 : 0.2);
            check_call(&all[k], backend, THREADS, sets, check_deep() ? 60 : 0.1);
        }
    }
    cancel_sets_free(sets);
    return check_done();
}
