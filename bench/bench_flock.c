/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of flocks: steps of boids in float by the rules and numbers of UPenn's CIS 565, in
 * a periodic box as dense as a case asks for. The first step is compared with that of the ladder's
 * coherent grid, which shares nothing with the library; then steps are timed, each from where the
 * last one led: the window of steps and the neighbours at its end are stored with the figures.
 */
#include "bench_flock.h"

#include "harness.h"
#include "rung_flock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool herd_make(rung_herd *h, int64_t n, double side)
{
    const size_t room = ((size_t)n + 1) * 3;
    *h = (rung_herd){.n = n, .side = (double)(float)side};
    h->r = malloc(room * sizeof *h->r);
    h->v = malloc(room * sizeof *h->v);
    return h->r && h->v;
}

static void herd_free(rung_herd *h)
{
    free(h->r);
    free(h->v);
}

static bool problem_make(problem *p, const char *name, int64_t n, double neighbours)
{
    static const double sphere = 4.0 / 3 * 3.14159265358979323846 * 125; /* radius 5 */
    const double side = fmax(cbrt((double)n * sphere / neighbours), 15.1);
    double *const xyz = bench_make_set("uniform", n);
    *p = (problem){.name = name, .neighbours = neighbours};
    bool ok = xyz && herd_make(&p->start, n, side) && herd_make(&p->right, n, side);
    for (int64_t e = 0; ok && e < 3 * n; e++) {
        const int64_t other = 3 * n - 1 - e;
        p->start.r[e] = (float)(xyz[e] * side * 0.9999999);
        p->start.v[e] = (float)(2 * xyz[other] - 1);
    }
    free(xyz);
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
    const bool ok = herd_make(&got, p->start.n, p->start.side) && step(flock) &&
                    kith_flock_read(flock, got.r, got.v) == KITH_OK;
    *worst = 0;
    for (int64_t e = 0; ok && e < 3 * got.n; e++) {
        *worst = fmax(*worst, fabs((double)got.v[e] - (double)p->right.v[e]));
    }
    herd_free(&got);
    return ok;
}

static void report(const problem *p, const kith_ctx *ctx, const kith_flock *flock,
                   const kith_flock_measures *m, const harness_times *times, json *out)
{
    const double n = (double)p->start.n;
    const double scratch = (double)kith_scratch_bytes(ctx) / n;
    json_open(out, NULL, '{');
    json_text(out, "program", "kith");
    json_text(out, "version", kith_version());
    json_text(out, "case", "flock");
    json_text(out, "set", p->name);
    json_integer(out, "n", p->start.n);
    json_number(out, "side", p->start.side);
    json_bool(out, "periodic", true);
    json_text(out, "precision", "float");
    json_text(out, "backend", kith_backend(ctx));
    json_integer(out, "threads", kith_threads(ctx));
    json_integer(out, "steps", kith_flock_steps(flock));
    json_number(out, "neighbours", m->neighbours);
    json_number(out, "polarisation", m->polarisation);
    harness_write_times(out, times);
    json_number(out, "seconds_first", times->first);
    json_number(out, "million_particles_per_second", 1e-6 * n / times->median);
    json_number(out, "scratch_bytes_per_particle", scratch);
    json_close(out, '}');
    printf("%-6s %-12s %3d %9lld %9.4f %9.4f %9.4f %9.2f %6lld %8.1f %7.1f\n", p->name,
           kith_backend(ctx), kith_threads(ctx), (long long)p->start.n, times->median, times->least,
           times->first, 1e-6 * n / times->median, (long long)kith_flock_steps(flock),
           m->neighbours, scratch);
    fflush(stdout);
}

static bool run(const problem *p, const bench_options *options, int threads, json *out)
{
    /* the other rounds distances across the faces to side 2^-24; some half of the neighbours are
     * within the radius of separation, whose weight is 0.1 */
    const double rounding = fmax(1e-5, 3e-9 * p->start.side * p->neighbours);
    kith_options open;
    kith_ctx *ctx = NULL;
    kith_flock *flock = NULL;
    kith_flock_measures m;
    harness_times times;
    double worst = 0;
    kith_options_init(&open);
    open.backend = options->backend;
    open.threads = threads;
    const kith_points r = kith_points_packed(p->start.r, p->start.n, KITH_FLOAT);
    const kith_points v = kith_points_packed(p->start.v, p->start.n, KITH_FLOAT);
    const double side = p->start.side;
    const kith_box box = kith_box_periodic(side, side, side);
    bool ok = kith_open(&open, &ctx) == KITH_OK &&
              kith_flock_open(ctx, &r, &v, &box, NULL, &flock) == KITH_OK &&
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

bool bench_flock(const bench_options *options, json *out)
{
    bool ok = true, any = false;
    json_open(out, "results", '[');
    printf("%-6s %-12s %3s %9s %9s %9s %9s %9s %6s %8s %7s\n", "", "", "", "", "median", "least",
           "first", "million", "steps", "then", "scratch");
    printf("%-6s %-12s %3s %9s %9s %9s %9s %9s %6s %8s %7s\n", "near", "backend", "thr", "n", "s",
           "s", "s", "/s", "done", "near", "B/point");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        problem p = {0};
        if (!bench_wants(options, cases[c].name)) {
            continue;
        }
        any = true;
        ok = problem_make(&p, cases[c].name, options->n, cases[c].neighbours);
        if (!ok) {
            fprintf(stderr, "kith_bench: no memory for %lld boids\n", (long long)options->n);
        }
        for (int t = 0; ok && options->threads[t]; t++) {
            ok = run(&p, options, options->threads[t], out);
        }
        herd_free(&p.start);
        herd_free(&p.right);
    }
    json_close(out, ']');
    if (!any) {
        fprintf(stderr, "kith_bench: no case \"%s\"\n", options->only);
    }
    return ok && any;
}
