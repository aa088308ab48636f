/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of flocks: ways to step boids on a CPU core, from naive to fast, by the rules and
 * numbers of UPenn's CIS 565. Each rung is checked against the first, step for step, then timed
 * beside the library; and the check must find each fault that published kernels have.
 *
 *   1  naive       each boid tests all others: O(n^2)
 *   2  scattered   a uniform grid of indices; positions and velocities are not moved
 *   3  coherent    positions and velocities are copied into the order of the cells
 *   4  mainline    kith_flock_step
 *
 * On a GPU nine more, in the box of CIS 565: rung_flock_gpu_driver.c.
 *
 *   ladder_flock [n] [neighbours] [most on a GPU]     ladder_flock 1000000 31 5000000
 */
#include "ladder_driver.h"
#include "rung_flock.h"
#include "rung_flock_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_NAIVE = 20000, COHERENT = 2, RUNGS = 4 };

static const struct way {
    const char *name;
    rung_step step;
} ways[RUNGS] = {
    {"1 naive", rung_flock_naive},
    {"2 scattered grid", rung_flock_scattered},
    {"3 coherent grid", rung_flock_coherent},
    {"4 mainline: kith_flock_step", rung_flock_mainline},
};

static bool check(kith_ctx *ctx, const rung_truth *truth)
{
    bool ok = true;
    for (int r = 0; ok && r < RUNGS; r++) {
        ok = rung_flock_prove(truth, ways[r].name, ways[r].step, &(rung_flock){.ctx = ctx});
    }
    for (int f = RUNG_SOUND + 1; ok && f < RUNG_FAULTS; f++) {
        ok = rung_flock_prove(truth, ways[COHERENT].name, ways[COHERENT].step,
                              &(rung_flock){.fault = (rung_fault)f, .ctx = ctx});
    }
    return ok;
}

/* A rung that is being timed, between two states. */
typedef struct job {
    rung_step step;
    rung_flock state;
    rung_herd *now, *next;
} job;

static bool do_step(void *user)
{
    job *const j = user;
    rung_herd *const swap = j->now;
    if (!j->step(&j->state, j->now, j->next)) {
        return false;
    }
    j->now = j->next;
    j->next = swap;
    return true;
}

static bool run_rungs(kith_ctx *ctx, int64_t n, double neighbours)
{
    const double volume = 4.0 / 3 * acos(-1.0) * 125;
    const double side = fmax(cbrt((double)n * volume / neighbours), 15.1);
    printf("%lld boids, side %.4g, %.3g neighbours at the start, one thread, %s, median of %d "
           "steps\n\n%-30s %10s %12s\n",
           (long long)n, side, (double)n * volume / (side * side * side), kith_backend(ctx),
           LADDER_REPEATS, "rung", "s/step", "million/s");
    for (int r = 0; r < RUNGS; r++) {
        rung_herd a = {0}, b = {0};
        double seconds;
        if (r == 0 && n > MOST_NAIVE) {
            printf("%-30s %10s\n", ways[r].name, "(too slow)");
            continue;
        }
        bool ok = rung_herd_make(&a, n, side) && rung_herd_make(&b, n, side);
        job j = {.step = ways[r].step, .state = {.ctx = ctx}, .now = &a, .next = &b};
        ok = ok && do_step(&j) && ladder_time(do_step, &j, &seconds);
        rung_flock_free(&j.state);
        rung_herd_free(&a);
        rung_herd_free(&b);
        if (!ok) {
            fprintf(stderr, "ladder_flock: rung \"%s\": no memory, or %s\n", ways[r].name,
                    kith_message(ctx));
            return false;
        }
        printf("%-30s %10.4f %12.2f\n", ways[r].name, seconds, 1e-6 * (double)n / seconds);
    }
    return true;
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000;
    const double neighbours = argc > 2 ? strtod(argv[2], NULL) : 31;
    const long long most = argc > 3 ? strtoll(argv[3], NULL, 10) : n;
    if (argc > 4 || n < 1 || n > INT32_MAX / 4 || !(neighbours > 0) || most < 1 ||
        most > INT32_MAX / 4) {
        fprintf(stderr, "usage: ladder_flock [n] [neighbours] [most on a GPU]\n");
        return 2;
    }
    kith_ctx *const ctx = ladder_open("ladder_flock", "cpu", 1);
    rung_truth truth;
    const bool ok = rung_truth_make(&truth) && ctx && check(ctx, &truth) &&
                    run_rungs(ctx, n, neighbours) && rung_flock_gpu_run_all(&truth, most);
    rung_truth_free(&truth);
    kith_close(ctx);
    return ok ? 0 : 1;
}
