/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmarks of k nearest neighbours, and of orders of particles: on CPU cores from host
 * memory, on a GPU from device memory to device memory. The neighbours of some particles are first
 * compared with those that all distances give; on a GPU, those of all particles are compared with
 * the CPU's, bit for bit.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED = 100 }; /* particles whose neighbours are checked by all distances */

/** A case of the benchmark. */
typedef struct nearest_case {
    const char *name, *set; /**< names of the case and of the set of points */
    int scale;              /**< number of points in units of -n */
    int k;                  /**< neighbours of each particle */
    bool on_cpu, on_gpu;    /**< timed on CPU cores, on a GPU */
} nearest_case;

/* In the periodic unit cube, float, with distances. */
static const nearest_case cases[] = {
    {"nearest 8", "uniform", 1, 8, true, true},
    {"nearest 16", "uniform", 1, 16, true, true},
    {"nearest 32", "uniform", 1, 32, true, true},
    {"nearest 8 clustered", "clustered", 1, 8, true, true},
    {"nearest 8 soneira_peebles", "soneira_peebles", 1, 8, true, true},
    {"nearest 8, ten times", "uniform", 10, 8, false, true},
    {"nearest 16, ten times", "uniform", 10, 16, false, true},
    {"nearest 32, ten times", "uniform", 10, 32, false, true},
};

/** A call that is timed: nearest neighbours, or an order. */
typedef struct job {
    kith_ctx *ctx;                /**< context of the job */
    kith_points points;           /**< the points, for a GPU in device memory */
    kith_box box;                 /**< the periodic unit cube */
    int k;                        /**< neighbours of each particle */
    kith_nearest_options options; /**< with distances */
    kith_nearest found;           /**< the neighbours */
    double cell;                  /**< side of the cells of an order; 0: along the curve */
    kith_order order;             /**< the order */
} job;

/** A harness_work: find the neighbours. */
static bool find(void *user)
{
    job *const j = user;
    return kith_nearest_find(j->ctx, &j->points, &j->box, j->k, &j->options, &j->found) == KITH_OK;
}

/** Order of floats, for qsort. */
static int by_value(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/** Return true when the distances of some particles' neighbours are the k smallest of all distances
 *  of nearest images. They have the library's bits, as each operation is rounded to float in the
 *  order of its definition; the root of a float in double, rounded to float, is that of float. */
static bool are_nearest(const kith_nearest *found, const float *xyz, int64_t n, int k)
{
    float *const all = malloc((size_t)n * sizeof *all);
    bool ok = all && k < n;
    for (int64_t c = 0; ok && c < CHECKED; c++) {
        const int64_t i = c * n / CHECKED;
        for (int64_t p = 0; p < n; p++) {
            float square[3];
            for (int m = 0; m < 3; m++) {
                const float plain = xyz[3 * p + m] - xyz[3 * i + m];
                const float d = fminf(fabsf(plain), fminf(fabsf(plain + 1), fabsf(plain - 1)));
                square[m] = d * d;
            }
            const float xy = square[0] + square[1];
            all[p] = p == i ? INFINITY : xy + square[2];
        }
        qsort(all, (size_t)n, sizeof *all, by_value);
        for (int q = 0; ok && q < k; q++) {
            ok = ((const float *)found->distances)[i * k + q] == (float)sqrt((double)all[q]);
        }
    }
    free(all);
    return ok;
}

/** Return true when neighbours and distances by the GPU are bitwise equal to those by the CPU. They
 *  are found again, into host memory. */
static bool are_equal(job *j, const kith_points *host)
{
    job cpu = *j, gpu = *j; /* both with results in host memory */
    memset(&cpu.found, 0, sizeof cpu.found);
    cpu.found.size = sizeof cpu.found;
    gpu.found = cpu.found;
    cpu.ctx = bench_open("cpu", 0);
    cpu.points = *host;
    const size_t entries = (size_t)host->n * (size_t)j->k;
    const bool ok = cpu.ctx && find(&cpu) && find(&gpu) &&
                    memcmp(cpu.found.j, gpu.found.j, entries * sizeof *cpu.found.j) == 0 &&
                    memcmp(cpu.found.distances, gpu.found.distances, entries * sizeof(float)) == 0;
    kith_nearest_free(&cpu.found);
    kith_nearest_free(&gpu.found);
    kith_close(cpu.ctx);
    return ok;
}

/** Verify, then time a search. @param host  points in host memory. @return false, reported */
static bool run(const nearest_case *c, const bench_options *options, int threads,
                const kith_points *host, json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    harness_times times;
    job j = {.ctx = bench_open(options->backend, threads),
             .points = *host,
             .box = kith_box_periodic(1, 1, 1),
             .k = c->k,
             .found = {.size = sizeof j.found, .memory = gpu ? KITH_DEVICE : KITH_HOST}};
    void *const copy = gpu ? bench_gpu_upload(host->x, (size_t)host->n * sizeof(float[3])) : NULL;
    bool ok = j.ctx && (copy || !gpu);
    kith_nearest_options_init(&j.options);
    j.options.extras = KITH_DISTANCES;
    if (gpu) {
        j.points = kith_points_packed(copy, host->n, KITH_FLOAT);
        j.points.memory = KITH_DEVICE;
    }
    ok = ok && find(&j) &&
         (gpu ? are_equal(&j, host) : are_nearest(&j.found, host->x, host->n, c->k)) &&
         harness_time(find, &j, options->least_seconds, &times);
    if (ok) {
        json_t *const row = bench_begin(out, c->name, c->set, host->n);
        put_bool(row, "periodic", true);
        put_integer(row, "k", c->k);
        put_number(row, "million_particles_per_second", 1e-6 * (double)host->n / times.median);
        bench_end(row, KITH_FLOAT, j.ctx, &times);
    } else {
        fprintf(stderr, "kith_bench: %s: wrong neighbours, or no memory %s\n", c->name,
                j.ctx ? kith_message(j.ctx) : "");
    }
    kith_nearest_free(&j.found);
    bench_gpu_free(copy);
    kith_close(j.ctx);
    return ok;
}

/** Run a case with all numbers of threads. */
static bool run_case(const nearest_case *c, const bench_options *options, json_t *out)
{
    const int64_t n = options->n * c->scale;
    double *const xyz = bench_make_set(c->set, n);
    float *const single = bench_round_points(xyz, n);
    bool ok = single != NULL;
    const kith_points host = kith_points_packed(single, n, KITH_FLOAT);
    for (int t = 0; ok && bench_has_run(options, t); t++) {
        ok = run(c, options, options->threads[t], &host, out);
    }
    free(xyz);
    free(single);
    return ok;
}

/** A harness_work: find the order. */
static bool find_order(void *user)
{
    job *const j = user;
    return kith_order_find(j->ctx, &j->points, &j->box, j->cell, &j->order) == KITH_OK;
}

/** Time an order of uniform points. @param cell  side of the cells; 0: along the curve
 *  @return false, reported, on failure */
static bool run_order(const char *name, double cell, const bench_options *options, int threads,
                      json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    const int64_t n = options->n;
    double *const xyz = bench_make_set("uniform", n);
    float *const single = bench_round_points(xyz, n);
    harness_times times;
    job j = {.ctx = bench_open(options->backend, threads),
             .box = kith_box_periodic(1, 1, 1),
             .cell = cell,
             .order = {.size = sizeof j.order, .memory = gpu ? KITH_DEVICE : KITH_HOST}};
    void *const copy = gpu && single ? bench_gpu_upload(single, (size_t)n * sizeof(float[3]))
                                     : NULL;
    j.points = kith_points_packed(gpu ? copy : single, n, KITH_FLOAT);
    j.points.memory = gpu ? KITH_DEVICE : KITH_HOST;
    const bool ok = j.ctx && j.points.x &&
                    harness_time(find_order, &j, options->least_seconds, &times);
    if (ok) {
        json_t *const row = bench_begin(out, name, "uniform", n);
        put_bool(row, "periodic", true);
        put_number(row, "million_particles_per_second", 1e-6 * (double)n / times.median);
        bench_end(row, KITH_FLOAT, j.ctx, &times);
    } else {
        fprintf(stderr, "kith_bench: %s: no memory %s\n", name, j.ctx ? kith_message(j.ctx) : "");
    }
    kith_order_free(&j.order);
    bench_gpu_free(copy);
    kith_close(j.ctx);
    free(xyz);
    free(single);
    return ok;
}

bool bench_nearest(const bench_options *options, json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    bool ok = true;
    json_t *const list = put_array(out, gpu ? "nearest" : "results");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        if ((gpu ? cases[c].on_gpu : cases[c].on_cpu) && bench_wants(options, cases[c].name)) {
            ok = run_case(&cases[c], options, list);
        }
    }
    json_t *const orders = gpu ? put_array(out, "orders") : list;
    static const char *const names[] = {"order by rows", "order by curve"};
    for (int by_curve = 0; ok && by_curve < 2; by_curve++) {
        const double cell = by_curve ? 0 : 0.0212 * cbrt(1e6 / (double)options->n);
        for (int t = 0; ok && bench_wants(options, names[by_curve]) && bench_has_run(options, t);
             t++) {
            ok = run_order(names[by_curve], cell, options, options->threads[t], orders);
        }
    }
    return ok;
}
