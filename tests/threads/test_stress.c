/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many contexts with many threads each, at one time: random questions of random sizes, cancelled at
 * random moments, contexts closed and opened again. Every answer that was not cancelled is the one
 * of a context with one thread. A second, or a minute with KITH_TEST_DEEP.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <kith/overlap.h>

#include "check.h"
#include "points.h"

enum { CONTEXTS = 8, THREADS = 8, QUESTIONS = 4, SIZES = 5, MOST = 40000, BINS = 20 };

static const int64_t sizes[SIZES] = {10, 1000, 9000, 20000, MOST};
static const double cutoff = 0.03;

/** What all callers share. */
struct stress {
    const char *backend;
    double deadline; /**< [s] */
    double *xyz;     /**< [MOST][3] */
    int64_t answer[QUESTIONS][SIZES];
    atomic_llong asked, cancelled;
};

/** A caller, with one context at a time. */
struct caller {
    struct stress *stress;
    rng r;
    int64_t left; /**< calls of the watch callback until it cancels; below 0: never */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int watch(void *user, int64_t done, int64_t total)
{
    struct caller *caller = user;
    (void)done;
    (void)total;
    return caller->left >= 0 && caller->left-- == 0;
}

static kith_ctx *open_context(const char *backend, int threads, struct caller *caller)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = threads;
    options.watch = caller ? watch : NULL;
    options.user = caller;
    kith_ctx *ctx = NULL;
    CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL));
    return ctx;
}

/** Ask a question, and reduce its answer to one number. */
static kith_status ask(kith_ctx *ctx, const struct stress *stress, int question, int64_t n,
                       int64_t *answer)
{
    const kith_points points = kith_points_packed(stress->xyz, n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_status status = KITH_OK;
    *answer = 0;
    if (question == 0) {
        kith_pairs pairs = {0};
        status = kith_pairs_find(ctx, &points, &box, cutoff, NULL, &pairs);
        for (int64_t p = 0; p < pairs.n; p++) {
            *answer += (p % 7 + 1) * ((int64_t)pairs.i[p] * 3 + pairs.j[p]);
        }
        kith_pairs_free(&pairs);
    } else if (question == 1) {
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 2;
        kith_groups groups = {0};
        status = kith_fof_find(ctx, &points, &box, 0.5 * cutoff, &options, &groups);
        for (int64_t p = 0; status == KITH_OK && p < n; p++) {
            *answer += (p % 5 + 1) * groups.labels[p];
        }
        kith_groups_free(&groups);
    } else if (question == 2) {
        kith_rdf_options options;
        kith_rdf_options_init(&options);
        options.bins = BINS;
        options.r_max = cutoff;
        kith_histogram histogram = {0};
        status = kith_rdf_count(ctx, &points, &box, &options, &histogram);
        for (int k = 0; status == KITH_OK && k < BINS; k++) {
            *answer += (k + 1) * histogram.counts[k];
        }
        kith_histogram_free(&histogram);
    } else {
        const kith_replicas replicas = {.type = KITH_DOUBLE,
                                        .values = stress->xyz,
                                        .n = n < 2000 ? n : 2000,
                                        .dim = 3,
                                        .stride = 3};
        kith_overlap_options options;
        kith_overlap_options_init(&options);
        options.bins = BINS;
        kith_overlaps overlaps = {0};
        status = kith_overlap_count(ctx, &replicas, &options, &overlaps);
        for (int k = 0; status == KITH_OK && k < BINS; k++) {
            *answer += (k + 1) * overlaps.counts[k];
        }
        kith_overlaps_free(&overlaps);
    }
    return status;
}

static void *call(void *argument)
{
    struct caller *caller = argument;
    struct stress *stress = caller->stress;
    kith_ctx *ctx = open_context(stress->backend, THREADS, caller);
    while (now() < stress->deadline) {
        const int question = (int)rng_uniform(&caller->r, 0, QUESTIONS);
        const int size = (int)rng_uniform(&caller->r, 0, SIZES);
        const bool cancels = rng_uniform(&caller->r, 0, 1) < 0.3;
        caller->left = cancels ? (int64_t)rng_uniform(&caller->r, 0, 6) : -1;
        int64_t answer;
        const kith_status status = ask(ctx, stress, question, sizes[size], &answer);
        CHECK(status == KITH_OK || (status == KITH_CANCELLED && cancels), "question %d of %lld: %s",
              question, (long long)sizes[size], kith_message(ctx));
        CHECK(status != KITH_OK || answer == stress->answer[question][size],
              "question %d of %lld: %lld, with one thread %lld", question, (long long)sizes[size],
              (long long)answer, (long long)stress->answer[question][size]);
        atomic_fetch_add(&stress->asked, 1);
        atomic_fetch_add(&stress->cancelled, status == KITH_CANCELLED);
        if (rng_uniform(&caller->r, 0, 1) < 0.1) {
            kith_close(ctx);
            ctx = open_context(stress->backend, THREADS, caller);
        }
    }
    kith_close(ctx);
    return NULL;
}

int main(int argc, char **argv)
{
    struct stress stress = {.backend = check_backend(argc, argv)};
    kith_ctx *one = check_open(stress.backend, 1);
    stress.xyz = check_malloc(3 * MOST * sizeof *stress.xyz);
    rng r = {11};
    for (int k = 0; k < 3 * MOST; k++) {
        stress.xyz[k] = rng_uniform(&r, 0, 1);
    }
    for (int question = 0; question < QUESTIONS; question++) {
        for (int size = 0; size < SIZES; size++) {
            CHECK(ask(one, &stress, question, sizes[size], &stress.answer[question][size]) ==
                      KITH_OK,
                  "%s", kith_message(one));
        }
    }
    kith_close(one);
    stress.deadline = now() + (getenv("KITH_TEST_DEEP") ? 60 : 1);
    pthread_t thread[CONTEXTS];
    struct caller caller[CONTEXTS];
    for (int c = 0; c < CONTEXTS; c++) {
        caller[c] = (struct caller){&stress, {(unsigned)c + 1}, -1};
        CHECK(pthread_create(&thread[c], NULL, call, &caller[c]) == 0, "no thread");
    }
    for (int c = 0; c < CONTEXTS; c++) {
        pthread_join(thread[c], NULL);
    }
    CHECK(stress.asked > 0 && stress.cancelled > 0, "%lld questions, %lld cancelled",
          (long long)stress.asked, (long long)stress.cancelled);
    free(stress.xyz);
    return check_done();
}
