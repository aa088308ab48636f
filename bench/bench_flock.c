/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of flocks: steps of boids by the rules and numbers of UPenn's CIS 565, in a
 * periodic box of the density of the case, timed by the host's clock. First a flock of that density
 * is checked: on CPU cores one step against the ladder's coherent grid, which shares nothing with
 * the library; on a GPU some steps against the CPU, bit for bit. The work changes as a flock
 * evolves: the range of timed steps and the neighbours at its end are stored.
 */
#include "bench.h"
#include "rung_flock.h"

#include <ladder_driver.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECKED = 250000,  /* most boids of a flock that is checked */
    CHECKED_STEPS = 4, /* steps that are compared between devices */
    MOST_STEPS = 2000  /* steps in one piece of timed work */
};

/* Memory for each boid [byte], by which too large cases are skipped. In host memory there are
 * points in double first; in device memory states and a pair search. */
enum { HOST_BYTES = 128, DEVICE_BYTES = 256 };

/* The names of cases differ between devices, as files in results/ have them. */
static const struct flock_case {
    const char *name[2];      /**< name on CPU cores, on a GPU; NULL: not timed there */
    double n, neighbours;     /**< boids in units of -n; mean neighbours at the start */
    kith_precision precision; /**< precision of positions and velocities */
} cases[] = {
    {{NULL, "flock 50 thousand"}, 0.05, 3.3, KITH_FLOAT},
    {{"7", NULL}, 1, 7, KITH_FLOAT},
    {{NULL, "flock 7"}, 10, 7, KITH_FLOAT},
    {{"31", "flock 31"}, 1, 31, KITH_FLOAT},
    {{"61", "flock 61"}, 1, 61, KITH_FLOAT},
    {{NULL, "flock 302"}, 5, 302, KITH_FLOAT},
    {{NULL, "flock 31 double"}, 1, 31, KITH_DOUBLE},
    {{NULL, "flock 100 million"}, 100, 7, KITH_FLOAT},
};

/** Boids at random, and a flock of them. */
typedef struct herd {
    int64_t n;                /**< number of boids */
    kith_precision precision; /**< precision of r and v */
    double side;              /**< side of the periodic box */
    void *r, *v;              /**< [n][3] each, positions and velocities at the start */
    kith_ctx *ctx;            /**< context of the flock */
    kith_flock *flock;        /**< the flock */
    int64_t steps;            /**< steps that a call of step() does */
} herd;

/** Return the side of a box in which n boids have the neighbours of a case: a number of float
 *  precision, above three radii, which the grid of the ladder needs. */
static double side_of(const struct flock_case *c, int64_t n)
{
    const double radius = 5; /* within which a boid sees others, by default */
    const double sphere = 4.0 / 3 * acos(-1.0) * radius * radius * radius;
    return (double)(float)fmax(cbrt((double)n * sphere / c->neighbours), 15.1);
}

/** Map the coordinates of a set to numbers from low to high.
 *  @param turned  take the coordinates in reverse order, for velocities that do not depend on the
 *                 positions
 *  @return [n][3] of the precision, to be freed; NULL without memory */
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

/** Make boids, and open their flock with a context of its own. @return false, reported */
static bool herd_make(herd *h, const struct flock_case *c, int64_t n, const char *backend,
                      int threads)
{
    *h = (herd){.n = n, .precision = c->precision, .side = side_of(c, n)};
    double *const xyz = bench_make_set("uniform", n);
    if (xyz) {
        h->r = spread(xyz, n, c->precision, 0, h->side * 0.9999999, false);
        h->v = spread(xyz, n, c->precision, -1, 1, true);
    }
    free(xyz);
    const kith_points r = kith_points_packed(h->r, n, c->precision);
    const kith_points v = kith_points_packed(h->v, n, c->precision);
    const kith_box box = kith_box_periodic(h->side, h->side, h->side);
    const bool ok = h->r && h->v && (h->ctx = bench_open(backend, threads)) &&
                    kith_flock_open(h->ctx, &r, &v, &box, NULL, &h->flock) == KITH_OK;
    if (!ok) {
        fprintf(stderr, "kith_bench: %lld boids: no memory, or %s\n", (long long)n,
                kith_message(h->ctx));
    }
    return ok;
}

static void herd_free(herd *h)
{
    kith_flock_close(h->flock);
    kith_close(h->ctx);
    free(h->r);
    free(h->v);
}

/** A harness_work: do h->steps steps. */
static bool step(void *user)
{
    const herd *const h = user;
    return kith_flock_step(h->flock, h->steps) == KITH_OK;
}

/** Make some boids, do some steps, and read the state into h->r and h->v. */
static bool fly(herd *h, const struct flock_case *c, int64_t n, const char *backend, int threads)
{
    return herd_make(h, c, n, backend, threads) &&
           kith_flock_step(h->flock, CHECKED_STEPS) == KITH_OK &&
           kith_flock_read(h->flock, h->r, h->v) == KITH_OK;
}

/** Return true when positions and velocities after some steps are bitwise equal to those of the
 *  CPU. */
static bool gives_bits_of_cpu(const struct flock_case *c, int64_t n, const char *backend,
                              int threads)
{
    herd cpu = {0}, other = {0};
    const size_t bytes = (size_t)n * 3 * (size_t)c->precision;
    const bool ok = fly(&cpu, c, n, "cpu", 0) && fly(&other, c, n, backend, threads) &&
                    memcmp(cpu.r, other.r, bytes) == 0 && memcmp(cpu.v, other.v, bytes) == 0;
    herd_free(&cpu);
    herd_free(&other);
    return ok;
}

/** Return true when the velocities after the first step agree with those of the grid in ladder/,
 *  within a rounding error: the grid rounds distances across the faces of the box to side 2^-24,
 *  and about half of the neighbours are within the radius of separation, whose weight is 0.1. */
static bool agrees_with_grid(const struct flock_case *c, int64_t n, const char *backend,
                             int threads)
{
    const double side = side_of(c, n), rounding = fmax(1e-5, 3e-9 * side * c->neighbours);
    rung_herd start = {0}, right = {0};
    rung_flock grid = {.fault = RUNG_SOUND};
    herd h = {0};
    double worst = 0;
    bool ok = herd_make(&h, c, n, backend, threads) && rung_herd_make(&start, n, side) &&
              rung_herd_make(&right, n, side);
    if (ok) {
        memcpy(start.r, h.r, (size_t)n * 3 * sizeof *start.r);
        memcpy(start.v, h.v, (size_t)n * 3 * sizeof *start.v);
        ok = rung_flock_coherent(&grid, &start, &right) && kith_flock_step(h.flock, 1) == KITH_OK &&
             kith_flock_read(h.flock, NULL, h.v) == KITH_OK;
    }
    const float *const v = h.v;
    for (int64_t e = 0; ok && e < 3 * n; e++) {
        worst = fmax(worst, fabs((double)v[e] - (double)right.v[e]));
    }
    rung_flock_free(&grid);
    rung_herd_free(&start);
    rung_herd_free(&right);
    herd_free(&h);
    return ok && worst <= rounding;
}

/** Time steps after some untimed ones: on a GPU about 20 ms of them in one call, on CPU cores one.
 *  The times are those of one step. */
static bool time_steps(herd *h, bool gpu, double least, harness_times *times)
{
    h->steps = gpu ? 8 : 1;
    bool ok = step(h);
    if (gpu) {
        const double start = ladder_now();
        ok = ok && step(h);
        const double each = (ladder_now() - start) / (double)h->steps;
        h->steps = (int64_t)fmax(1, fmin(MOST_STEPS, 0.02 / each));
    }
    ok = ok && harness_time(step, h, least, times);
    const double each = 1 / (double)h->steps;
    times->first *= each;
    times->median *= each;
    times->least *= each;
    times->most *= each;
    return ok;
}

/** Add a result. @param first  steps before the timed ones. @param m  measures at the end */
static void report(const char *name, bool gpu, const herd *h, int64_t first,
                   const kith_flock_measures *m, const harness_times *times, json_t *out)
{
    json_t *const row = gpu ? bench_begin(out, name, "uniform", h->n)
                            : bench_begin(out, "flock", name, h->n);
    put_number(row, "side", h->side);
    put_bool(row, "periodic", true);
    put_integer(row, "first_step", first);
    put_integer(row, "steps", kith_flock_steps(h->flock));
    put_number(row, "neighbours", m->neighbours);
    put_number(row, "polarisation", m->polarisation);
    if (gpu) {
        put_number(row, "steps_per_second", 1 / times->median);
    } else {
        put_number(row, "million_particles_per_second", 1e-6 * (double)h->n / times->median);
    }
    bench_end(row, h->precision, h->ctx, times);
}

/** Check a flock of the density of a case, then time steps of the case. @return false, reported */
static bool run(const struct flock_case *c, int64_t n, const bench_options *options, int threads,
                json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    const int64_t some = n < CHECKED ? n : CHECKED;
    herd h = {0};
    harness_times times = {0};
    kith_flock_measures measures;
    if (!(gpu ? gives_bits_of_cpu : agrees_with_grid)(c, some, options->backend, threads)) {
        fprintf(stderr, "kith_bench: %s: wrong steps\n", c->name[gpu]);
        return false;
    }
    bool ok = herd_make(&h, c, n, options->backend, threads) &&
              time_steps(&h, gpu, options->least_seconds, &times) &&
              kith_flock_measure(h.flock, &measures) == KITH_OK;
    if (ok) {
        report(c->name[gpu], gpu, &h, gpu ? 16 : 1, &measures, &times, out);
    } else {
        fprintf(stderr, "kith_bench: %s: %s\n", c->name[gpu], kith_message(h.ctx));
    }
    herd_free(&h);
    return ok;
}

bool bench_flock(const bench_options *options, json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    bool ok = true;
    json_t *const list = put_array(out, gpu ? "flocks" : "results");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        const char *const name = cases[c].name[gpu];
        const int64_t n = (int64_t)(cases[c].n * (double)options->n);
        if (!name || !bench_wants(options, name)) {
            continue;
        }
        if (gpu && !bench_gpu_has_room(n, HOST_BYTES, DEVICE_BYTES)) {
            printf("%s: %lld boids skipped: too little memory\n", name, (long long)n);
            continue;
        }
        for (int t = 0; ok && bench_has_run(options, t); t++) {
            ok = run(&cases[c], n, options, options->threads[t], list);
        }
    }
    return ok;
}
