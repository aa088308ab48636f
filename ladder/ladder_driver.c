/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver of the ladders: difficult sets of points, a clock, and contexts.
 */
#include "ladder_driver.h"

#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool ladder_hard_sets(ladder_check check, void *user)
{
    enum { N = 2000 };
    double *const xyz = malloc((size_t)N * 3 * sizeof *xyz);
    if (!xyz) {
        return false;
    }
    sets_uniform(xyz, N, 1);
    bool ok = true;
    for (int k = 1; ok && k <= 5; k++) {
        ok = check(user, "uniform", xyz, N, 0.02 * k * k * k);
    }
    for (int64_t n = 0; ok && n < 4; n++) {
        ok = check(user, "few", xyz, n, 0.5);
    }
    const int64_t n = sets_lattice(xyz, N, 1);
    for (int m = 1; ok && m <= 3; m++) {
        ok = check(user, "lattice", xyz, n, m / 12.0);
    }
    sets_clustered(xyz, N, 2);
    ok = ok && check(user, "clustered", xyz, N, 0.02);
    for (int64_t p = N / 4; p < N; p++) {
        memcpy(xyz + 3 * p, xyz + 3 * (p % (N / 4)), 3 * sizeof *xyz);
    }
    ok = ok && check(user, "coincident", xyz, N, 0.02);
    free(xyz);
    return ok;
}

double ladder_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ladder_sort(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, compare_doubles);
}

bool ladder_time(bool (*work)(void *user), void *user, double *seconds)
{
    double times[LADDER_REPEATS];
    for (int r = 0; r < LADDER_REPEATS; r++) {
        const double start = ladder_now();
        if (!work(user)) {
            return false;
        }
        times[r] = ladder_now() - start;
    }
    ladder_sort(times, LADDER_REPEATS);
    *seconds = times[LADDER_REPEATS / 2];
    return true;
}

static kith_ctx *open_ctx(const char *backend, int threads)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = threads;
    kith_ctx *ctx = NULL;
    (void)kith_open(&options, &ctx);
    return ctx;
}

kith_ctx *ladder_open(const char *program, const char *backend, int threads)
{
    kith_ctx *const ctx = open_ctx(backend, threads);
    if (!ctx) {
        fprintf(stderr, "%s: %s\n", program, kith_message(NULL));
    }
    return ctx;
}

kith_ctx *ladder_open_gpu(void)
{
    kith_ctx *const ctx = open_ctx("cuda", 1);
    if (!ctx) {
        printf("\nno rungs for GPUs: %s\n", kith_message(NULL));
    }
    return ctx;
}
