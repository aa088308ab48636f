/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of flocks: ways to step boids on a CPU core, from naive to fast, by the rules and
 * numbers of UPenn's CIS 565. Each rung is checked against the first, step for step, then timed
 * beside the library; and each fault that published kernels carry is seen to be found by the check.
 *
 *   1  naive       everybody looks at everybody: O(n^2)
 *   2  scattered   a uniform grid of indices; positions and velocities stay where they are
 *   3  coherent    both are copied into the order of the cells
 *   4  mainline    kith_flock_step
 *
 *   ladder_flock [n] [neighbours]     ladder_flock 1000000 31
 */
#include "climb.h"
#include "rung_flock.h"

#include <math.h>
#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAIVE = 20000, RUNGS = 4, STEPS = 3 };
static const int64_t checked = 1500;

static const struct way {
    const char *name;
    rung_step step;
} ways[RUNGS] = {
    {"1 naive", rung_flock_naive},
    {"2 scattered grid", rung_flock_scattered},
    {"3 coherent grid", rung_flock_coherent},
    {"4 mainline: kith_flock_step", rung_flock_mainline},
};

static const char *const faults[RUNG_FAULTS] = {
    [RUNG_SQUARE] = "distance compared with the square of the radius",
    [RUNG_STALE] = "table of cells left stale",
    [RUNG_LAST] = "last particle of a cell left out"};

static bool herd_make(rung_herd *h, int64_t n, double side)
{
    const size_t room = (size_t)n * 3 + 1;
    double *const xyz = malloc(room * sizeof *xyz);
    *h = (rung_herd){.n = n, .side = (double)(float)side};
    h->r = malloc(room * sizeof *h->r);
    h->v = malloc(room * sizeof *h->v);
    if (!xyz || !h->r || !h->v) {
        free(xyz);
        return false;
    }
    for (int turn = 0; turn < 2; turn++) {
        sets_uniform(xyz, n, (uint64_t)turn + 1);
        for (int64_t e = 0; e < 3 * n; e++) {
            (turn ? h->v : h->r)[e] = (float)(turn ? 2 * xyz[e] - 1 : xyz[e] * side * 0.9999999);
        }
    }
    free(xyz);
    return true;
}

static void herd_free(rung_herd *h)
{
    free(h->r);
    free(h->v);
}

/* The largest difference of a velocity after some steps, each from the state of the first rung. */
static bool compare(const struct way *way, rung_fault fault, kith_ctx *ctx, double *worst)
{
    rung_herd now = {0}, right = {0}, got = {0};
    bool ok = herd_make(&now, checked, 30) && herd_make(&right, checked, 30) &&
              herd_make(&got, checked, 30);
    rung_flock state = {.fault = fault, .ctx = ctx}, naive = {.ctx = ctx};
    *worst = 0;
    for (int s = 0; ok && s < STEPS; s++) {
        ok = rung_flock_naive(&naive, &now, &right) && way->step(&state, &now, &got);
        for (int64_t e = 0; ok && e < 3 * checked; e++) {
            *worst = fmax(*worst, fabs((double)got.v[e] - (double)right.v[e]));
        }
        memcpy(now.r, right.r, (size_t)(3 * checked) * sizeof *now.r);
        memcpy(now.v, right.v, (size_t)(3 * checked) * sizeof *now.v);
    }
    rung_flock_free(&state);
    herd_free(&now);
    herd_free(&right);
    herd_free(&got);
    return ok;
}

static bool check(kith_ctx *ctx)
{
    static const double rounding = 1e-5; /* of floats, after a few steps */
    double worst = 0;
    for (int r = 0; r < RUNGS; r++) {
        if (!compare(&ways[r], RUNG_SOUND, ctx, &worst) || worst > rounding) {
            fprintf(stderr, "ladder_flock: rung \"%s\" is wrong: a velocity is off by %g\n",
                    ways[r].name, worst);
            return false;
        }
    }
    for (int f = RUNG_SOUND + 1; f < RUNG_FAULTS; f++) {
        if (!compare(&ways[2], (rung_fault)f, ctx, &worst) || worst < 10 * rounding) {
            fprintf(stderr, "ladder_flock: a fault was not found: %s\n", faults[f]);
            return false;
        }
    }
    return true;
}

/* A rung at work: there and back. */
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

static bool climb(kith_ctx *ctx, int64_t n, double neighbours)
{
    const double volume = 4.0 / 3 * acos(-1.0) * 125;
    const double side = fmax(cbrt((double)n * volume / neighbours), 15.1);
    printf("%lld boids, side %.4g, %.3g neighbours at the start, one thread, %s, median of %d "
           "steps\n\n%-30s %10s %12s\n",
           (long long)n, side, (double)n * volume / (side * side * side), kith_backend(ctx),
           CLIMB_REPEATS, "rung", "s/step", "million/s");
    for (int r = 0; r < RUNGS; r++) {
        rung_herd a = {0}, b = {0};
        double seconds;
        if (r == 0 && n > MOST_NAIVE) {
            printf("%-30s %10s\n", ways[r].name, "(too slow)");
            continue;
        }
        bool ok = herd_make(&a, n, side) && herd_make(&b, n, side);
        job j = {.step = ways[r].step, .state = {.ctx = ctx}, .now = &a, .next = &b};
        ok = ok && do_step(&j) && climb_time(do_step, &j, &seconds);
        rung_flock_free(&j.state);
        herd_free(&a);
        herd_free(&b);
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
    if (argc > 3 || n < 1 || n > INT32_MAX / 4 || !(neighbours > 0)) {
        fprintf(stderr, "usage: ladder_flock [n] [neighbours]\n");
        return 2;
    }
    kith_ctx *const ctx = climb_open("ladder_flock");
    const bool ok = ctx && check(ctx) && climb(ctx, n, neighbours);
    kith_close(ctx);
    return ok ? 0 : 1;
}
