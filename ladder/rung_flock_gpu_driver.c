/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of flocks on a GPU: ways to step boids that stay in device memory, from naive to fast,
 * in the box of UPenn's CIS 565, [-100, 100)^3 but for its origin. Each rung is checked against all
 * pairs on the CPU, step for step, then timed beside the library. The number of neighbours changes
 * with time, so all rungs are timed over equal steps.
 *
 *   1  naive         each boid tests all others                        rung_flock_gpu_naive.cu
 *   2  scattered     a uniform grid of indices                         rung_flock_gpu_grid.cu
 *   3  coherent      boids in the order of the cells                   rung_flock_gpu_grid.cu
 *   4  8 cells       rung 3 with cells twice as wide                   rung_flock_gpu_widths.cu
 *   5  125 cells     rung 3 with cells half as wide                    rung_flock_gpu_widths.cu
 *   6  rows          three cells are one range of boids                rung_flock_gpu_grid.cu
 *   7  shared        tiles in shared memory, one block for each cell   rung_flock_gpu_shared.cu
 *   8  shared, rows  rung 7, one block for 64 boids of a row of cells  rung_flock_gpu_shared.cu
 *   9  mainline      kith_flock_step                                   rung_flock_gpu_mainline.c
 */
#include "ladder_driver.h"
#include "rung_flock_gpu.h"

#include <stdio.h>

enum { LEAST = 5000, TIMES = 10, MOST_NAIVE = 100000, MOST_OFTEN = 1000000, COHERENT = 2 };
static const double side = 200, radius = 5;

const struct rung_flock_gpu_way rung_flock_gpu_ways[RUNG_FLOCK_GPU_WAYS] = {
    {"1 naive", rung_flock_gpu_naive, 0},
    {"2 scattered grid", rung_flock_gpu_scattered, 0},
    {"3 coherent grid", rung_flock_gpu_coherent, 0},
    {"4 coherent, 8 wide cells", rung_flock_gpu_overlapped, 10.01},
    {"5 coherent, 125 narrow cells", rung_flock_gpu_overlapped, 2.505},
    {"6 coherent, rows of cells", rung_flock_gpu_rows, 0},
    {"7 shared memory, cells", rung_flock_gpu_shared_cells, 0},
    {"8 shared memory, rows", rung_flock_gpu_shared_rows, 0},
    {"9 mainline: kith_flock_step", NULL, 0},
};

static bool there_and_back(rung_flock *state, const rung_herd *now, rung_herd *next)
{
    return rung_flock_gpu_put(state->gpu, now) && rung_flock_gpu_go(state->gpu, 1) &&
           rung_flock_gpu_get(state->gpu, next);
}

static bool prove(const rung_truth *truth, const struct rung_flock_gpu_way *way, rung_fault fault)
{
    rung_flock_gpu gpu = {.one = way->one, .width = way->width, .fault = fault};
    rung_flock state = {.fault = fault, .gpu = &gpu};
    const bool ok = rung_flock_prove(truth, way->name, there_and_back, &state);
    (void)rung_flock_gpu_free(&gpu);
    return ok;
}

bool rung_flock_gpu_check(const rung_truth *truth)
{
    bool ok = true;
    for (int r = 0; ok && r < RUNG_FLOCK_GPU_WAYS; r++) {
        ok = prove(truth, &rung_flock_gpu_ways[r], RUNG_SOUND);
    }
    for (int f = RUNG_SOUND + 1; ok && f < RUNG_FAULTS; f++) {
        ok = prove(truth, &rung_flock_gpu_ways[COHERENT], (rung_fault)f);
    }
    return ok;
}

/* A rung that is being timed. */
typedef struct job {
    rung_flock_gpu gpu;
    int64_t at_once; /* steps that are timed together */
} job;

static bool do_steps(void *user)
{
    job *const j = user;
    return rung_flock_gpu_go(&j->gpu, j->at_once);
}

/* Mean number of neighbours of a boid; below 0 if the library fails. */
static double count_neighbours(kith_ctx *ctx, const rung_herd *herd)
{
    const kith_points r = kith_points_packed(herd->r, herd->n, KITH_FLOAT);
    const kith_box box = kith_box_periodic(herd->side, herd->side, herd->side);
    int64_t pairs = 0;
    if (kith_pairs_count(ctx, &r, &box, radius, NULL, &pairs, NULL) != KITH_OK) {
        fprintf(stderr, "ladder_flock: %s\n", kith_message(ctx));
        return -1;
    }
    return 2 * (double)pairs / (double)herd->n;
}

/* Time a rung. herd: the state before the steps, and then after them. */
static bool measure(kith_ctx *ctx, const struct rung_flock_gpu_way *way, int64_t at_once,
                    rung_herd *herd)
{
    job j = {.gpu = {.one = way->one, .width = way->width}, .at_once = at_once};
    double seconds = 0;
    const bool ok = rung_flock_gpu_put(&j.gpu, herd) && do_steps(&j) &&
                    ladder_time(do_steps, &j, &seconds) && rung_flock_gpu_get(&j.gpu, herd);
    const int64_t bytes = rung_flock_gpu_free(&j.gpu);
    if (!ok) {
        fprintf(stderr, "ladder_flock: rung \"%s\" failed\n", way->name);
        return false;
    }
    seconds /= (double)at_once;
    printf("%-30s %10.4f %12.1f %12.1f %10.1f\n", way->name, 1e3 * seconds,
           1e-6 * (double)herd->n / seconds, count_neighbours(ctx, herd), 1e-6 * (double)bytes);
    fflush(stdout);
    return true;
}

static bool run_rungs(kith_ctx *ctx, int64_t n)
{
    const int at_once = n <= MOST_OFTEN ? 20 : 1;
    bool ok = true;
    printf("\n%lld boids, side %g, %s, steps %d to %d, median of %d times %d\n\n", (long long)n,
           side, kith_backend(ctx), at_once + 1, (1 + LADDER_REPEATS) * at_once, LADDER_REPEATS,
           at_once);
    printf("%-30s %10s %12s %12s %10s\n", "", "time", "million", "neighbours", "memory");
    printf("%-30s %10s %12s %12s %10s\n", "rung", "ms/step", "boids/s", "at the end", "MB");
    for (int r = 0; ok && r < RUNG_FLOCK_GPU_WAYS; r++) {
        rung_herd herd = {0};
        if (r == 0 && n > MOST_NAIVE) {
            printf("%-30s %10s\n", rung_flock_gpu_ways[r].name, "(too slow)");
            continue;
        }
        ok = rung_herd_make(&herd, n, side) &&
             measure(ctx, &rung_flock_gpu_ways[r], at_once, &herd);
        rung_herd_free(&herd);
    }
    return ok;
}

bool rung_flock_gpu_run_all(const rung_truth *truth, int64_t most)
{
    kith_ctx *const ctx = ladder_open_gpu();
    if (!ctx) {
        return true;
    }
    bool ok = rung_flock_gpu_check(truth);
    for (int64_t n = LEAST; ok && (n == LEAST || n <= most); n *= TIMES) {
        ok = run_rungs(ctx, n);
    }
    kith_close(ctx);
    return ok;
}
