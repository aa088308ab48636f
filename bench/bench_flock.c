/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of flocks: steps of boids in float by the rules and numbers of UPenn's CIS 565, in
 * a periodic box as dense as a case asks for. The first step is compared with that of the ladder's
 * coherent grid, which shares nothing with the library; then steps are timed, each from where the
 * last one led: the window of steps and the neighbours at its end are stored with the figures.
 */
#include "bench.h"
#include "rung_flock.h"

#include <math.h>

static const struct {
    const char *name;
    double neighbours; /* at the start */
} cases[] = {{"7", 7}, {"31", 31}, {"61", 61}};

/* The boids, and where one step leads. */
typedef struct problem {
    const char *name;
    double neighbours;
    rung_herd start, right;
} problem;

static bool problem_make(problem *p, const char *name, int64_t n, double neighbours)
{
    static const double sphere = 4.0 / 3 * 3.14159265358979323846 * 125; /* radius 5 */
    const double side = fmax(cbrt((double)n * sphere / neighbours), 15.1);
    *p = (problem){.name = name, .neighbours = neighbours};
    bool ok = rung_herd_make(&p->start, n, side) && rung_herd_make(&p->right, n, side);
    rung_flock grid = {.fault = RUNG_SOUND};
    ok = ok && rung_flock_coherent(&grid, &p->start, &p->right);
    rung_flock_free(&grid);
    return ok;
}

static bool step(void *user)
{
    return kith_flock_step(user, 1) == KITH_OK;
}

/* The largest difference of a velocity after the first step. */
static bool compare(kith_flock *flock, const problem *p, double *worst)
{
    rung_herd got = {0};
    const bool ok = rung_herd_make(&got, p->start.n, p->start.side) && step(flock) &&
                    kith_flock_read(flock, got.r, got.v) == KITH_OK;
    *worst = 0;
    for (int64_t e = 0; ok && e < 3 * got.n; e++) {
        *worst = fmax(*worst, fabs((double)got.v[e] - (double)p->right.v[e]));
    }
    rung_herd_free(&got);
    return ok;
}

static void report(const problem *p, const kith_ctx *ctx, const kith_flock *flock,
                   const kith_flock_measures *m, const harness_times *times, json_t *out)
{
    const double rate = 1e-6 * (double)p->start.n / times->median;
    json_t *const row = bench_begin(out, "flock", p->name, p->start.n);
    put_number(row, "side", p->start.side);
    put_bool(row, "periodic", true);
    put_integer(row, "steps", kith_flock_steps(flock));
    put_number(row, "neighbours", m->neighbours);
    put_number(row, "polarisation", m->polarisation);
    put_number(row, "million_particles_per_second", rate);
    const double scratch = bench_end(row, KITH_FLOAT, ctx, p->start.n, times);
    printf("%-6s %-12s %3d %9lld %9.4f %9.4f %9.4f %9.2f %6lld %8.1f %7.1f\n", p->name,
           kith_backend(ctx), kith_threads(ctx), (long long)p->start.n, times->median, times->least,
           times->first, rate, (long long)kith_flock_steps(flock), m->neighbours, scratch);
    fflush(stdout);
}

static bool run(const problem *p, const bench_options *options, int threads, json_t *out)
{
    /* the other rounds distances across the faces to side 2^-24; some half of the neighbours are
     * within the radius of separation, whose weight is 0.1 */
    const double rounding = fmax(1e-5, 3e-9 * p->start.side * p->neighbours);
    kith_ctx *const ctx = bench_open(options->backend, threads);
    kith_flock *flock = NULL;
    kith_flock_measures m;
    harness_times times;
    double worst = 0;
    const kith_points r = kith_points_packed(p->start.r, p->start.n, KITH_FLOAT);
    const kith_points v = kith_points_packed(p->start.v, p->start.n, KITH_FLOAT);
    const double side = p->start.side;
    const kith_box box = kith_box_periodic(side, side, side);
    bool ok = ctx && kith_flock_open(ctx, &r, &v, &box, NULL, &flock) == KITH_OK &&
              compare(flock, p, &worst);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s neighbours: %s\n", p->name, kith_message(ctx));
    } else if (worst > rounding) {
        fprintf(stderr, "kith_bench: %s neighbours, %s, %d threads: a velocity is off by %g\n",
                p->name, kith_backend(ctx), threads, worst);
        ok = false;
    }
    ok = ok && harness_time(step, flock, options->least_seconds, &times);
    if (ok && (ok = kith_flock_measure(flock, &m) == KITH_OK)) {
        report(p, ctx, flock, &m, &times, out);
    }
    kith_flock_close(flock);
    kith_close(ctx);
    return ok;
}

bool bench_flock(const bench_options *options, json_t *out)
{
    bool ok = true;
    json_t *const list = put_array(out, "results");
    printf("%-6s %-12s %3s %9s %9s %9s %9s %9s %6s %8s %7s\n", "", "", "", "", "median", "least",
           "first", "million", "steps", "then", "scratch");
    printf("%-6s %-12s %3s %9s %9s %9s %9s %9s %6s %8s %7s\n", "near", "backend", "thr", "n", "s",
           "s", "s", "/s", "done", "near", "B/point");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        problem p = {0};
        if (!bench_wants(options, cases[c].name)) {
            continue;
        }
        ok = problem_make(&p, cases[c].name, options->n, cases[c].neighbours);
        if (!ok) {
            fprintf(stderr, "kith_bench: no memory for %lld boids\n", (long long)options->n);
        }
        for (int t = 0; ok && options->threads[t]; t++) {
            ok = run(&p, options, options->threads[t], list);
        }
        rung_herd_free(&p.start);
        rung_herd_free(&p.right);
    }
    return ok;
}
