/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pool of threads: every piece is done once, by one worker index at a time, also when loops are
 * nested, come from several threads at once, or follow each other after any pause.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "points.h"
#include "pool.h"

enum { MOST_PIECES = 3000, MOST_THREADS = 8 };

/** A loop that notes how often each piece was done, and which workers were active. */
struct loop {
    int64_t pieces;
    int threads;
    atomic_int times[MOST_PIECES];
    atomic_int active[MOST_THREADS];
    atomic_int clashes; /**< pieces done under an index that another thread held */
    struct kith__pool *inner;
};

static void sleep_us(long us)
{
    const struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

static void note(void *state, int64_t piece, int worker)
{
    struct loop *loop = state;
    if (worker < 0 || worker >= loop->threads || atomic_fetch_add(&loop->active[worker], 1) != 0) {
        atomic_fetch_add(&loop->clashes, 1);
        return;
    }
    atomic_fetch_add(&loop->times[piece], 1);
    if (loop->inner && piece % 7 == 0) {
        struct loop *nested = calloc(1, sizeof *nested);
        *nested = (struct loop){.pieces = 5, .threads = 2};
        kith__pool_run(loop->inner, 2, nested->pieces, note, nested);
        for (int p = 0; p < 5; p++) {
            atomic_fetch_add(&loop->clashes, nested->times[p] != 1);
        }
        free(nested);
    }
    atomic_fetch_sub(&loop->active[worker], 1);
}

static void check_loop(struct kith__pool *pool, int threads, int64_t pieces, bool nested)
{
    struct loop *loop = calloc(1, sizeof *loop);
    loop->pieces = pieces;
    loop->threads = threads;
    loop->inner = nested ? pool : NULL;
    kith__pool_run(pool, threads, pieces, note, loop);
    for (int64_t p = 0; p < MOST_PIECES; p++) {
        const int expected = p < pieces ? 1 : 0;
        CHECK(loop->times[p] == expected, "%d threads, %lld pieces: piece %lld was done %d times",
              threads, (long long)pieces, (long long)p, loop->times[p]);
    }
    CHECK(loop->clashes == 0, "%d pieces had a worker index that was taken", loop->clashes);
    free(loop);
}

static void check_loops(void)
{
    rng r = {1};
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        struct kith__pool *pool = kith__pool_open(threads);
        CHECK(kith__pool_threads(pool) == threads, "%d", kith__pool_threads(pool));
        const int64_t pieces[] = {0, 1, 2, threads, 100, MOST_PIECES};
        for (int k = 0; k < 6; k++) {
            check_loop(pool, threads, pieces[k], false);
            check_loop(pool, threads, pieces[k], true);
        }
        for (int k = 0; k < 200; k++) { /* pauses around the time at which workers fall asleep */
            check_loop(pool, 1 + k % threads, (int64_t)rng_uniform(&r, 0, 40), k % 3 == 0);
            if (k % 2) {
                sleep_us((long)rng_uniform(&r, 0, 60));
            }
        }
        kith__pool_close(pool);
    }
    check_loop(NULL, 4, 20, false);
    kith__pool_close(NULL);
    kith__pool_close(kith__pool_open(4)); /* never used */
}

/** Several threads of a caller that share one pool. */
static void *call_often(void *argument)
{
    for (int k = 0; k < 200; k++) {
        check_loop(argument, 4, k % 50, k % 2);
    }
    return NULL;
}

static void check_callers(void)
{
    struct kith__pool *pool = kith__pool_open(4);
    pthread_t caller[3];
    for (int k = 0; k < 3; k++) {
        CHECK(pthread_create(&caller[k], NULL, call_often, pool) == 0, "no thread");
    }
    for (int k = 0; k < 3; k++) {
        pthread_join(caller[k], NULL);
    }
    kith__pool_close(pool);
}

/** A loop over items that must be cut into ranges without a gap. */
struct items {
    int64_t n, grain;
    atomic_int times[MOST_PIECES];
    atomic_int short_ranges;
};

static void note_range(void *state, int64_t begin, int64_t end)
{
    struct items *items = state;
    atomic_fetch_add(&items->short_ranges, end - begin < items->grain && end < items->n);
    for (int64_t k = begin; k < end; k++) {
        atomic_fetch_add(&items->times[k], 1);
    }
}

static void check_ranges(void)
{
    struct kith__pool *pool = kith__pool_open(3);
    for (int64_t n = 0; n < 200; n += 1 + n / 10) {
        for (int64_t grain = 1; grain < 64; grain *= 3) {
            struct items *items = calloc(1, sizeof *items);
            items->n = n;
            items->grain = grain;
            kith__pool_for(pool, 3, n, grain, note_range, items);
            kith__pool_chunks(pool, 3, n, grain, note_range, items);
            for (int64_t k = 0; k < MOST_PIECES; k++) {
                CHECK(items->times[k] == (k < n ? 2 : 0), "item %lld of %lld: %d times",
                      (long long)k, (long long)n, items->times[k]);
            }
            CHECK(items->short_ranges == 0, "a range below the grain of %lld", (long long)grain);
            free(items);
        }
    }
    kith__pool_close(pool);
    const int64_t huge = INT64_MAX - 1;
    CHECK(kith__piece_begin(huge, 3, 3) == huge, "the last piece ends at n");
    CHECK(kith__piece_begin(10, 4, 1) == 3 && kith__piece_begin(10, 4, 2) == 6, "10 items in 4");
}

/** A loop of many pieces that sets its stop flag in piece 1000. */
struct stopped {
    atomic_bool stop;
    atomic_llong done;
};

static void stop_at(void *state, int64_t piece, int worker)
{
    struct stopped *loop = state;
    (void)worker;
    atomic_fetch_add(&loop->done, 1);
    if (piece == 1000) {
        atomic_store(&loop->stop, true);
    }
}

static bool is_stopped(void *loop)
{
    return atomic_load(&((struct stopped *)loop)->stop);
}

static void check_stop(void)
{
    const int64_t pieces = 1 << 24; /* a tenth of a second, were they not dropped */
    for (int threads = 1; threads <= 4; threads++) {
        struct kith__pool *pool = kith__pool_open(threads);
        struct stopped loop = {.stop = false};
        kith__pool_watch(pool, is_stopped, &loop);
        kith__pool_run(pool, threads, pieces, stop_at, &loop);
        CHECK(loop.done > 1000 && loop.done < pieces, "%d threads: %lld pieces before the stop",
              threads, (long long)loop.done);
        CHECK(kith__pool_stopped(pool), "the pool is not stopped");
        loop.stop = false;
        CHECK(!kith__pool_stopped(pool) && !kith__pool_stopped(NULL), "the pool is stopped");
        check_loop(pool, threads, 100, false);
        kith__pool_close(pool);
    }
}

int main(void)
{
    check_stop();
    check_loops();
    check_callers();
    check_ranges();
    return check_done();
}
