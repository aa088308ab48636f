/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every call that takes long returns KITH_CANCELLED within 0.3 s after the watch callback began to
 * ask for it, whatever the call is doing then: another thread asks at a random moment, and the time
 * to the return is measured. Calls with many images are also watched to their end.
 *
 * A busy machine makes everything slower. A second thread measures by how much: it does a fixed
 * piece of work over and over and compares the time that passed with the processor's time that it
 * got; the limit grows by that ratio. Slow memory is not seen by that, so a moment that took too
 * long is tried again after longer and longer pauses, and fails when all trials take too long.
 *
 * KITH_TEST_DEEP=1 takes 50 moments of each call and ten times as many particles; otherwise a few.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cancel_case.h"
#include "check.h"
#include "points.h"

static const double limit = 0.3;     /* seconds */
static const double gap_limit = 0.1; /* processor's time between calls of watch [s] */

/** A call, and the thread that asks it to stop. */
typedef struct trial {
    double moment; /* when to ask, from the start of the call [s]; below 0: never */
    double start, asked;
    double slowness; /* time that passed / processor time, of a thread meanwhile */
    atomic_bool stop, over;
} trial;

static double clock_of(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int watch(void *user, int64_t done, int64_t total)
{
    const trial *t = user;
    CHECK(done >= 0 && done <= total, "progress is %lld of %lld", (long long)done,
          (long long)total);
    return atomic_load(&t->stop);
}

static void sleep_for(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/** Ask at the moment; then measure how slow the machine is until the call is over. */
static void *ask(void *user)
{
    trial *t = user;
    enum { SPINS = 200000 };
    while (!atomic_load(&t->over) && clock_of(CLOCK_MONOTONIC) < t->start + t->moment) {
        sleep_for(0.002);
    }
    t->asked = clock_of(CLOCK_MONOTONIC);
    atomic_store(&t->stop, true);
    const double cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
    while (!atomic_load(&t->over)) {
        for (volatile int spin = 0; spin < SPINS; spin++) {}
    }
    const double used = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
    const double passed = clock_of(CLOCK_MONOTONIC) - t->asked;
    t->slowness = used > 0 && passed > used ? passed / used : 1;
    return NULL;
}

/** Run the call and ask it to stop at a moment. @return how long it took to end
 *  after that [s]. */
static double run(const cancel_case *c, const char *backend, const cancel_sets *sets, trial *t,
                  kith_status *status)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.watch = watch;
    options.user = t;
    kith_ctx *ctx = NULL;
    pthread_t thread;
    if (!CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL))) {
        *status = KITH_NO_BACKEND;
        return 0;
    }
    t->start = clock_of(CLOCK_MONOTONIC);
    CHECK(pthread_create(&thread, NULL, ask, t) == 0, "no thread");
    *status = c->run(ctx, sets);
    const double end = clock_of(CLOCK_MONOTONIC);
    atomic_store(&t->over, true);
    pthread_join(thread, NULL);
    CHECK(*status == KITH_OK || *status == KITH_CANCELLED || *status == KITH_UNSUPPORTED, "%s: %s",
          c->name, kith_message(ctx));
    CHECK(*status != KITH_CANCELLED || *kith_message(ctx), "%s: no message", c->name);
    kith_close(ctx);
    return end - t->asked;
}

static double factor(void)
{
#if defined(KITH_THREAD_SANITIZER)
    return 30;
#elif defined(__SANITIZE_ADDRESS__)
    return 6;
#else
    return 1;
#endif
}

/** A call that is watched to its end. */
typedef struct gaps {
    double last, longest; /* processor's time of the thread: at the last watch, between two [s] */
} gaps;

static int watch_gap(void *user, int64_t done, int64_t total)
{
    gaps *g = user;
    (void)done;
    (void)total;
    const double now = clock_of(CLOCK_THREAD_CPUTIME_ID);
    g->longest = now - g->last > g->longest ? now - g->last : g->longest;
    g->last = now;
    return 0;
}

/** Check that a call with one thread calls the watch callback often enough from beginning to end.
 *  A busy machine does not matter to the processor's time of the thread. */
static void check_gaps(const cancel_case *c, const char *backend, const cancel_sets *sets)
{
    gaps g = {0};
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = 1;
    options.watch = watch_gap;
    options.user = &g;
    kith_ctx *ctx = NULL;
    if (!CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL))) {
        return;
    }
    g.last = clock_of(CLOCK_THREAD_CPUTIME_ID);
    const kith_status status = c->run(ctx, sets);
    CHECK(status == KITH_OK || status == KITH_UNSUPPORTED, "%s: %s", c->name, kith_message(ctx));
    (void)watch_gap(&g, 0, 0);
    CHECK(g.longest < gap_limit * factor(),
          "%s: %.3f s without a call of watch, expected %.3f s at most", c->name, g.longest,
          gap_limit * factor());
    if (getenv("KITH_TEST_VERBOSE")) {
        printf("%-40s %.3f s without a call of watch at most\n", c->name, g.longest);
    }
    kith_close(ctx);
}

static void check_call(const cancel_case *c, const char *backend, const cancel_sets *sets, rng *r,
                       int moments, double longest)
{
    enum { TRIALS = 7 };
    double span = longest, worst = 0, slow = 0;
    for (int m = 0; m < moments; m++) {
        const double moment = m == 0 ? longest : rng_uniform(r, 0, span);
        double late = 0, most = 0;
        for (int again = 0; again < TRIALS && late >= most; again++) {
            sleep_for(again * again * 0.2);
            trial t = {.moment = moment};
            kith_status status;
            late = run(c, backend, sets, &t, &status);
            most = limit * factor() * t.slowness;
            if (status != KITH_CANCELLED) { /* it ended by itself: moments lie within it */
                span = t.asked - t.start > 0 && t.asked - t.start < span ? t.asked - t.start : span;
                late = 0;
            }
        }
        slow = late > worst ? most / limit : slow;
        worst = late > worst ? late : worst;
        CHECK(late < most, "%s: cancelled at %.3f s, ended %.3f s later, expected %.3f s at most",
              c->name, moment, late, most);
    }
    if (getenv("KITH_TEST_VERBOSE")) {
        printf("%-40s span %.3f s, ended %.3f s later at most, machine %.1f times slower\n",
               c->name, span, worst, slow);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 0));
    const char *deep = getenv("KITH_TEST_DEEP");
    const char *only = getenv("KITH_TEST_ONLY");
    const bool is_deep = deep && strcmp(deep, "1") == 0;
    const int brief = check_brief();
    int n;
    const cancel_case *all = cancel_cases(&n);
    cancel_sets *sets = cancel_sets_make(is_deep     ? 10000000
                                         : brief > 1 ? 200000
                                                     : 1000000,
                                         30000, 50);
    const char *seed = getenv("KITH_TEST_SEED");
    rng r = {seed ? strtoull(seed, NULL, 10) : 77};
    const cancel_case first = {"first call of the process", cancel_count_most_images};
    check_call(&first, backend, sets, &r, 1, 1); /* a GPU's driver loads kernels at first use */
    for (int k = 0; k < n; k++) {
        if (!only || strstr(all[k].name, only)) {
            check_call(&all[k], backend, sets, &r, is_deep ? 50 : brief ? 1 : 3, is_deep ? 2 : 0.2);
            /* a GPU takes a pass for every 32 neighbours: minutes here */
            if (strncmp(all[k].name, "nearest of many images", 22) == 0 &&
                strncmp(backend, "cpu", 3) == 0) {
                check_gaps(&all[k], backend, sets);
            }
        }
    }
    cancel_sets_free(sets);
    return check_done();
}
