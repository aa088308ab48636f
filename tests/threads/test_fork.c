/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A child process made by fork() goes on with a context of its parent, and opens contexts of its
 * own. On a GPU, which a child cannot use, both are refused with a sentence.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "points.h"

enum { N = 20000, SECONDS = 60, THREADS = 4 };

static const double cutoff = 0.05;

/** Pairs of the points within the cutoff; -1 when the library refuses. */
static int64_t count(kith_ctx *ctx, const kith_points *points)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    int64_t pairs = 0;
    return kith_pairs_count(ctx, points, &box, cutoff, NULL, &pairs, NULL) == KITH_OK ? pairs : -1;
}

/** What the child does. @return its exit status: 0 when all is right */
static int be_child(kith_ctx *ctx, const char *backend, const kith_points *points, int64_t expected)
{
    const bool gpu = strncmp(kith_backend(ctx), "cuda", 4) == 0;
    alarm(SECONDS);
    if (gpu) {
        const kith_box box = kith_box_periodic(1, 1, 1);
        int64_t pairs = 0;
        const kith_status status = kith_pairs_count(ctx, points, &box, cutoff, NULL, &pairs, NULL);
        if (status != KITH_DEVICE_LOST || !strstr(kith_message(ctx), "fork")) {
            return 2;
        }
    } else if (count(ctx, points) != expected || count(ctx, points) != expected) {
        return 3;
    }
    kith_close(ctx);
    kith_options options;
    kith_options_init(&options);
    options.backend = gpu ? "cpu" : backend;
    options.threads = THREADS;
    kith_ctx *own = NULL;
    if (kith_open(&options, &own) != KITH_OK || count(own, points) != expected) {
        return 4;
    }
    kith_close(own);
    return 0;
}

static void check_child(kith_ctx *ctx, const char *backend, const kith_points *points,
                        int64_t expected)
{
    const pid_t child = fork();
    if (child == 0) {
        _exit(be_child(ctx, backend, points, expected));
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's status is %#x",
          (unsigned)status);
}

int main(int argc, char **argv)
{
    if (check_gcc_tsan()) {
        return check_skip("gcc's thread sanitizer refuses threads of a child (use clang's)");
    }
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, THREADS);
    double *xyz = check_malloc(3 * N * sizeof *xyz);
    rng r = {7};
    for (int k = 0; k < 3 * N; k++) {
        xyz[k] = rng_uniform(&r, 0, 1);
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const int64_t expected = count(ctx, &points);
    CHECK(expected > 0, "%s", kith_message(ctx));
    check_child(ctx, backend, &points, expected);
    CHECK(count(ctx, &points) == expected, "the parent's context after the fork");
    check_child(ctx, backend, &points, expected);
    kith_close(ctx);
    free(xyz);
    return check_done();
}
