/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A device that is lost to a kernel that traps: before a call, during it, and before one that needs
 * more memory. That call and all later ones return KITH_DEVICE_LOST, the context closes, host
 * memory is as it was, and the CPU goes on. A process for each way: in it no CUDA call works again.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "points.h"

enum { FEW = 5000, MANY = 100000, WAYS = 3 };

static const double cutoff = 0.05;

typedef enum way { BEFORE, DURING, GROWING } way;

static const char *const ways[WAYS] = {"before", "during", "before more points"};

int trap_queue(void);

static int armed;

static int trap_watch(void *user, int64_t done, int64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    if (armed)
        CHECK(trap_queue(), "no trap");
    armed = 0;
    return 0;
}

static void check_lost(const kith_ctx *ctx, const char *call, kith_status status)
{
    CHECK(status == KITH_DEVICE_LOST, "%s returns %s", call, kith_status_name(status));
    CHECK(strlen(kith_message(ctx)) > 0, "%s: no message", call);
}

static int skip_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)user;
    (void)block;
    (void)first;
    return 0;
}

/* Later calls fail before they look at any array. */
static void check_later(kith_ctx *ctx, const kith_points *points)
{
    int32_t i = -1, j = -1;
    int64_t n = 0;
    kith_pairs list = {0}, room = {.capacity = 1, .i = &i, .j = &j};
    check_lost(ctx, "find", kith_pairs_find(ctx, points, NULL, cutoff, NULL, &list));
    check_lost(ctx, "count", kith_pairs_count(ctx, points, NULL, cutoff, NULL, &n, NULL));
    check_lost(ctx, "fill", kith_pairs_fill(ctx, points, NULL, cutoff, NULL, &room));
    check_lost(ctx, "each", kith_pairs_each(ctx, points, NULL, cutoff, NULL, skip_block, NULL));
    CHECK(strstr(kith_message(ctx), "close the context") != NULL, "%s", kith_message(ctx));
    kith_points nowhere = *points;
    nowhere.memory = room.memory = KITH_DEVICE;
    check_lost(ctx, "enqueue", kith_pairs_enqueue(ctx, &nowhere, NULL, cutoff, NULL, &room, &n));
    CHECK(i == -1 && j == -1 && n == 0, "an array was written");
    kith_pairs_free(&list);
}

static int same_list(const kith_pairs *a, const kith_pairs *b)
{
    const size_t bytes = (size_t)a->n * sizeof *a->i;
    return a->n == b->n && memcmp(a->i, b->i, bytes) == 0 && memcmp(a->j, b->j, bytes) == 0;
}

static void check_way(const char *backend, way how)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.watch = trap_watch;
    kith_close(check_open(backend, 1));
    kith_ctx *gpu = NULL, *cpu = check_open("cpu", 1);
    if (!CHECK(kith_open(&options, &gpu) == KITH_OK, "%s", kith_message(NULL)))
        return;
    rng r = {23};
    const kith_box unit = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, MANY, &unit), *copy = check_malloc(MANY * 3 * sizeof *copy);
    memcpy(copy, xyz, MANY * 3 * sizeof *copy);
    const kith_points few = kith_points_packed(xyz, FEW, KITH_DOUBLE);
    const kith_points many = kith_points_packed(xyz, MANY, KITH_DOUBLE);
    kith_pairs_options sorted;
    kith_pairs_options_init(&sorted);
    sorted.sorted = 1;
    kith_pairs kept = {0}, right = {0}, list = {0}, there = {.memory = KITH_DEVICE};
    CHECK(kith_pairs_find(gpu, &few, NULL, cutoff, &sorted, &kept) == KITH_OK &&
              kith_pairs_find(gpu, &few, NULL, cutoff, NULL, &there) == KITH_OK,
          "%s", kith_message(gpu));
    armed = how == DURING;
    if (how != DURING)
        CHECK(trap_queue() && cudaDeviceSynchronize() != cudaSuccess, "no trap");
    check_lost(gpu, "the call",
               kith_pairs_find(gpu, how == GROWING ? &many : &few, NULL, cutoff, NULL, &list));
    CHECK(list.n == 0, "%lld pairs", (long long)list.n);
    check_later(gpu, &few);
    kith_pairs_free(&there);
    kith_pairs_free(&list);
    kith_close(gpu);
    CHECK(kith_open(&options, &gpu) == KITH_NO_BACKEND && gpu == NULL, "it opens again");
    CHECK(memcmp(copy, xyz, MANY * 3 * sizeof *copy) == 0, "the points changed");
    CHECK(kith_pairs_find(cpu, &few, NULL, cutoff, &sorted, &right) == KITH_OK, "%s",
          kith_message(cpu));
    CHECK(right.n > 0 && same_list(&right, &kept), "an earlier list changed");
    kith_pairs_free(&right);
    kith_pairs_free(&kept);
    kith_close(cpu);
    free(copy);
    free(xyz);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    for (int w = 0; w < WAYS; w++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            check_way(backend, (way)w);
            exit(check_done());
        }
        if (!CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child process"))
            break;
        if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIPPED)
            return CHECK_SKIPPED;
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "lost %s: status %d", ways[w], status);
    }
    return check_done();
}
