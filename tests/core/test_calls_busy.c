/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One context used twice at once: the second call, from a callback of the first or from another
 * thread, returns KITH_BUSY with empty results, and the first one goes on undisturbed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "points.h"
#include "world.h"

/** Make every call while the context is in another. */
static void check_all_busy(world *w)
{
    for (int c = 0; c < n_calls; c++) {
        const kith_status status = calls[c].make(w, NO_FAULT);
        CHECK(status == KITH_BUSY, "%s: %s", calls[c].name, kith_status_name(status));
        CHECK(strstr(kith_message(NULL), "context"), "%s: %s", calls[c].name, kith_message(NULL));
    }
    CHECK(kith_set_stream(w->ctx, NULL) == KITH_BUSY, "the stream is changed during a call");
}

/** The calls without a status give what they always give. */
static void check_accessors(const world *w)
{
    CHECK(kith_message(w->ctx)[0] == '\0', "%s", kith_message(w->ctx));
    CHECK(kith_threads(w->ctx) == 2 && kith_backend(w->ctx)[0], "%s", kith_backend(w->ctx));
    CHECK(kith_flock_steps(w->flock) >= 0, "steps");
}

/** All results hold something. */
static void fill_results(world *w)
{
    for (int c = 0; c < n_calls; c++) {
        CHECK(calls[c].make(w, NO_FAULT) == KITH_OK, "%s: %s", calls[c].name, kith_message(w->ctx));
    }
}

struct callback {
    world *w;
    int calls;
};

static int visit(void *user, const kith_pairs *block, int64_t first)
{
    struct callback *c = user;
    (void)block;
    (void)first;
    c->calls++;
    check_all_busy(c->w);
    check_accessors(c->w);
    return 0;
}

static int watch(void *user, int64_t done, int64_t total)
{
    struct callback *c = user;
    (void)done;
    (void)total;
    if (c->w) {
        c->calls++;
        check_all_busy(c->w);
        check_accessors(c->w);
    }
    return 0;
}

static double *many_points(int64_t n, kith_points *points)
{
    static const double zero[3] = {0, 0, 0};
    static const double one[3] = {1, 1, 1};
    rng r = {7};
    double *xyz = points_uniform(&r, n, zero, one);
    *points = kith_points_packed(xyz, n, KITH_DOUBLE);
    return xyz;
}

static void check_callbacks(const char *backend)
{
    enum { MANY = 100000 };
    struct callback c = {0};
    world *w = world_open(backend, watch, &c);
    fill_results(w);
    kith_points few;
    double *xyz = many_points(500, &few);
    int64_t n = 0;
    CHECK(kith_pairs_count(w->ctx, &few, NULL, 0.2, NULL, &n, NULL) == KITH_OK, "%s",
          kith_message(w->ctx));
    struct callback visits = {.w = w};
    CHECK(kith_pairs_each(w->ctx, &few, NULL, 0.2, NULL, visit, &visits) == KITH_OK, "%s",
          kith_message(w->ctx));
    CHECK(visits.calls > 0, "no block");
    free(xyz);

    fill_results(w);
    kith_points many;
    xyz = many_points(MANY, &many);
    int64_t expected = 0;
    CHECK(kith_pairs_count(w->ctx, &many, NULL, 0.1, NULL, &expected, NULL) == KITH_OK, "%s",
          kith_message(w->ctx));
    c.w = w; /* from now on the watch makes calls */
    CHECK(kith_pairs_count(w->ctx, &many, NULL, 0.1, NULL, &n, NULL) == KITH_OK && n == expected,
          "%s: %lld pairs, expected %lld", kith_message(w->ctx), (long long)n, (long long)expected);
    CHECK(c.calls > 0, "the watch was not called");
    c.w = NULL;
    free(xyz);
    fill_results(w);
    world_close(w);
}

/** A thread that makes calls of a context that another thread uses as well. */
struct thread {
    kith_ctx *ctx;
    const kith_points *points;
    int64_t expected;
    _Atomic int *stop;
    _Atomic int *refused; /* calls of all threads that were refused */
    int done;
};

static void *work(void *user)
{
    enum { MOST_CALLS = 100000 };
    struct thread *t = user;
    while (!atomic_load(t->stop)) {
        int64_t n = 0;
        const kith_status status = kith_pairs_count(t->ctx, t->points, NULL, 0.1, NULL, &n, NULL);
        CHECK(status == KITH_OK ? n == t->expected : status == KITH_BUSY && n == 0,
              "%s: %lld pairs, expected %lld", kith_status_name(status), (long long)n,
              (long long)t->expected);
        t->done += status == KITH_OK;
        atomic_fetch_add(t->refused, status == KITH_BUSY);
        /* on a busy machine it takes a while until one thread runs during another's call */
        if (t->done >= 20 && (atomic_load(t->refused) > 0 || t->done >= MOST_CALLS)) {
            atomic_store(t->stop, 1);
        }
    }
    return NULL;
}

static void check_threads(const char *backend)
{
    enum { THREADS = 3 };
    kith_ctx *ctx = check_open(backend, 1);
    kith_points points;
    double *xyz = many_points(5000, &points);
    int64_t expected = 0;
    CHECK(kith_pairs_count(ctx, &points, NULL, 0.1, NULL, &expected, NULL) == KITH_OK, "%s",
          kith_message(ctx));
    _Atomic int stop = 0;
    _Atomic int refused = 0;
    struct thread thread[THREADS];
    pthread_t id[THREADS];
    for (int t = 0; t < THREADS; t++) {
        thread[t] = (struct thread){.ctx = ctx,
                                    .points = &points,
                                    .expected = expected,
                                    .stop = &stop,
                                    .refused = &refused};
        CHECK(pthread_create(&id[t], NULL, work, &thread[t]) == 0, "no thread");
    }
    int done = 0;
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_join(id[t], NULL) == 0, "join");
        done += thread[t].done;
    }
    CHECK(done >= 20 && refused > 0, "%d calls done, %d refused", done, refused);
    CHECK(strcmp(kith_status_name(KITH_BUSY), "KITH_BUSY") == 0, "the status has no name");
    free(xyz);
    kith_close(ctx);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    check_callbacks(backend);
    check_threads(backend);
    return check_done();
}
