/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of boids on a GPU, timed by the host's clock; the state stays on the device. The rules and
 * parameters are those of UPenn's course CIS 565; the periodic box has the density of the case.
 * First a flock of that density, of at most CHECKED boids, runs on both the GPU and the CPU: all
 * bits must agree. The range of timed steps is stored, and the number of neighbours at its end.
 */
#include "bench.h"

#include <ladder_driver.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED = 250000, CHECKED_STEPS = 4, WARM_UP = 8, MOST_STEPS = 2000 };

static const struct flock_case {
    const char *name;
    double n, neighbours; /* of a million that the benchmark is asked for; at the start */
    kith_precision precision;
} cases[] = {
    {"flock 50 thousand", 0.05, 3.3, KITH_FLOAT},
    {"flock 7", 10, 7, KITH_FLOAT},
    {"flock 31", 1, 31, KITH_FLOAT},
    {"flock 61", 1, 61, KITH_FLOAT},
    {"flock 302", 5, 302, KITH_FLOAT},
    {"flock 31 double", 1, 31, KITH_DOUBLE},
    {"flock 100 million", 100, 7, KITH_FLOAT},
};

static const double radius = 5; /* of what a boid sees */

/* Of each boid: points are doubles first; states, and a search for pairs. */
enum { HOST_BYTES = 128, DEVICE_BYTES = 256 };

/* Boids at random. */
typedef struct herd {
    int64_t n;
    kith_precision precision;
    double side;
    void *r, *v; /* [n][3] */
} herd;

/* Numbers between low and high; those of a set from its end on, when turned. */
static void *spread(const double *xyz, int64_t n, kith_precision precision, double low, double high,
                    bool turned)
{
    void *const out = malloc(((size_t)n * 3 + 1) * (size_t)precision);
    for (int64_t e = 0; out && e < 3 * n; e++) {
        const double x = low + (high - low) * xyz[turned ? 3 * n - 1 - e : e];
        io_put_real(out, e, precision, x);
    }
    return out;
}

static bool herd_make(herd *h, const struct flock_case *c, int64_t n)
{
    const double sphere = 4.0 / 3 * acos(-1.0) * radius * radius * radius;
    const double side = fmax(cbrt((double)n * sphere / c->neighbours), 15.1);
    *h = (herd){.n = n, .precision = c->precision, .side = (double)(float)side};
    double *const xyz = bench_make_set("uniform", n);
    if (xyz) {
        h->r = spread(xyz, n, c->precision, 0, side * 0.9999999, false);
        h->v = spread(xyz, n, c->precision, -1, 1, true);
    }
    free(xyz);
    return h->r && h->v;
}

static void herd_free(herd *h)
{
    free(h->r);
    free(h->v);
}

/* Open a flock with a context of its own. */
static bool open_flock(const char *backend, const herd *h, kith_ctx **ctx, kith_flock **flock)
{
    const kith_points r = kith_points_packed(h->r, h->n, h->precision);
    const kith_points v = kith_points_packed(h->v, h->n, h->precision);
    const kith_box box = kith_box_periodic(h->side, h->side, h->side);
    *ctx = bench_open(backend, 0);
    return *ctx && kith_flock_open(*ctx, &r, &v, &box, NULL, flock) == KITH_OK;
}

/* Fly some steps, and take the state over. */
static bool fly(const char *backend, herd *h)
{
    kith_ctx *ctx = NULL;
    kith_flock *flock = NULL;
    const bool ok = open_flock(backend, h, &ctx, &flock) &&
                    kith_flock_step(flock, CHECKED_STEPS) == KITH_OK &&
                    kith_flock_read(flock, h->r, h->v) == KITH_OK;
    if (!ok) {
        fprintf(stderr, "kith_bench: %s\n", kith_message(ctx));
    }
    kith_flock_close(flock);
    kith_close(ctx);
    return ok;
}

/* Does the GPU take the case where the CPU takes it? */
static bool agrees(const struct flock_case *c, int64_t n)
{
    herd cpu = {0}, gpu = {0};
    n = n < CHECKED ? n : CHECKED;
    const size_t bytes = (size_t)n * 3 * (size_t)c->precision;
    bool ok = herd_make(&cpu, c, n) && herd_make(&gpu, c, n) && fly("cpu", &cpu) &&
              fly("cuda", &gpu);
    if (ok && (memcmp(cpu.r, gpu.r, bytes) != 0 || memcmp(cpu.v, gpu.v, bytes) != 0)) {
        fprintf(stderr, "kith_bench: %s: not the CPU's bits\n", c->name);
        ok = false;
    }
    herd_free(&cpu);
    herd_free(&gpu);
    return ok;
}

typedef struct job {
    kith_flock *flock;
    int64_t steps;
} job;

static bool do_steps(void *user)
{
    const job *j = user;
    return kith_flock_step(j->flock, j->steps) == KITH_OK;
}

/* Time steps, about 20 ms of them at a time. The times are those of a step. */
static bool time_steps(job *j, double least, harness_times *times)
{
    j->steps = WARM_UP;
    bool ok = do_steps(j);
    const double start = ladder_now();
    ok = ok && do_steps(j);
    const double step = (ladder_now() - start) / WARM_UP;
    j->steps = (int64_t)fmax(1, fmin(MOST_STEPS, 0.02 / step));
    ok = ok && harness_time(do_steps, j, least, times);
    const double each = 1 / (double)j->steps;
    times->first *= each;
    times->median *= each;
    times->least *= each;
    times->most *= each;
    return ok;
}

/* The mean neighbours of boids as they are now. */
static bool count_neighbours(kith_ctx *ctx, const kith_flock *flock, herd *h, double *neighbours)
{
    const kith_points r = kith_points_packed(h->r, h->n, h->precision);
    const kith_box box = kith_box_periodic(h->side, h->side, h->side);
    int64_t pairs = 0;
    const bool ok = kith_flock_read(flock, h->r, NULL) == KITH_OK &&
                    kith_pairs_count(ctx, &r, &box, radius, NULL, &pairs, NULL) == KITH_OK;
    *neighbours = 2 * (double)pairs / (double)h->n;
    return ok;
}

static void report(const struct flock_case *c, const herd *h, const kith_flock *flock,
                   const kith_ctx *ctx, double neighbours, const harness_times *times, json_t *out)
{
    json_t *const row = bench_begin(out, c->name, "uniform", h->n);
    put_number(row, "side", h->side);
    put_integer(row, "first_step", 2 * WARM_UP);
    put_integer(row, "last_step", kith_flock_steps(flock));
    put_number(row, "neighbours", neighbours);
    put_number(row, "steps_per_second", 1 / times->median);
    (void)bench_end(row, c->precision, ctx, h->n, times);
    printf("%-24s %9lld %10.1f %7lld %11.4f %11.4f %12.1f %12.1f\n", c->name, (long long)h->n,
           neighbours, (long long)kith_flock_steps(flock), 1e3 * times->median, 1e3 * times->least,
           1 / times->median, 1e-6 * (double)h->n / times->median);
    fflush(stdout);
}

static bool run(const struct flock_case *c, int64_t n, const bench_options *options, json_t *out)
{
    herd h = {0};
    kith_ctx *ctx = NULL;
    job j = {NULL, 0};
    harness_times times = {0};
    double neighbours;
    bool ok = agrees(c, n) && herd_make(&h, c, n) && open_flock("cuda", &h, &ctx, &j.flock);
    ok = ok && time_steps(&j, options->least_seconds, &times) &&
         count_neighbours(ctx, j.flock, &h, &neighbours);
    if (ok) {
        report(c, &h, j.flock, ctx, neighbours, &times, out);
    } else {
        fprintf(stderr, "kith_bench: %s: %s\n", c->name, kith_message(ctx));
    }
    kith_flock_close(j.flock);
    kith_close(ctx);
    herd_free(&h);
    return ok;
}

bool bench_gpu_flock(const bench_options *options, json_t *out)
{
    bool ok = true;
    printf("%-24s %9s %10s %7s %11s %11s %12s %12s\n", "case", "n", "neighbours", "steps",
           "ms/step", "least", "steps/s", "million/s");
    json_t *const list = put_array(out, "flocks");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (!bench_wants(options, cases[c].name)) {
            continue;
        }
        const int64_t n = (int64_t)(cases[c].n * (double)options->n);
        if (bench_gpu_has_room(n, HOST_BYTES, DEVICE_BYTES)) {
            ok = run(&cases[c], n, options, list) && ok;
        } else {
            printf("%-24s %9lld boids left list: no memory\n", cases[c].name, (long long)n);
        }
    }
    return ok;
}
