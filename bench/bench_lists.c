/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmarks of lists that are kept over the steps of a simulation, timed alternately with
 * searches, and of lists by a radius for each particle. Each kept list is compared with the answer
 * of an independent method (verify.c) before it is timed, rows by radii with all distances.
 */
#include "bench.h"
#include "result.h"
#include "verify.h"

#include <math.h>
#include <sets.h>
#include <stdlib.h>
#include <string.h>

enum { STANDARD_N = 1000000, SMALLER = 10, CHECKED = 100 };

/* -------------------------------------------------------------------------------- kept lists */

typedef struct kept_case {
    const char *name, *searched; /* the results of updates, and of searches between them */
    kith_precision precision;
    kith_verlet_options list;
    int sorted; /* searches are */
} kept_case;

/* A tenth of the points of the standard case, in the periodic unit cube, 55 neighbours of each
 * within the cutoff. */
static const kept_case kept_cases[] = {
    {"kept half", "kept half, search", KITH_DOUBLE, .sorted = 0},
    {"kept half sorted", "kept half sorted, search", KITH_DOUBLE, .sorted = 1},
    {"kept half float", "kept half float, search", KITH_FLOAT, .sorted = 0},
    {"kept vectors", "kept vectors, search", KITH_DOUBLE, .list.extras = KITH_VECTORS, .sorted = 0},
    {"kept full csr", "kept full csr, search", KITH_DOUBLE, .list.full = 1, .list.layout = KITH_CSR,
     .sorted = 0},
};

static const double KEPT_CUTOFF = 0.0508, KEPT_SKIN = 0.12; /* of 10^5 points; skin in cutoffs */

typedef struct kept_job {
    kith_ctx *ctx;
    kith_verlet *verlet;
    kith_points points[2]; /* of two steps, between which updates alternate */
    int step;
    kith_box box;
    double cutoff;
    kith_pairs_options options;
    kith_pairs kept, found;
} kept_job;

static bool update(void *user)
{
    kept_job *const j = user;
    j->step ^= 1;
    return kith_verlet_update(j->verlet, &j->points[j->step], &j->box, &j->kept) == KITH_OK;
}

static bool search(void *user)
{
    kept_job *const j = user;
    return kith_pairs_find(j->ctx, &j->points[j->step], &j->box, j->cutoff, &j->options,
                           &j->found) == KITH_OK;
}

/* Points that moved by up to a part of the skin, in directions of their own. */
static double *move(const double *xyz, int64_t n, double most, uint64_t seed)
{
    double *const moved = malloc(sizeof(double[3]) * (size_t)n);
    if (moved) {
        sets_uniform(moved, n, seed);
    }
    for (int64_t k = 0; moved && k < 3 * n; k++) {
        moved[k] = xyz[k] + most / sqrt(3) * (2 * moved[k] - 1);
        moved[k] -= floor(moved[k]);
    }
    return moved;
}

/* Return true when the list of a step was made without a search, and has the pairs that the
 * independent method finds. */
static bool is_kept_right(kept_job *j, const double *xyz, kith_precision precision)
{
    verify_answer answer;
    kith_verlet_state state;
    const verify_question q = {xyz, j->points[0].n, j->cutoff, precision, true};
    if (!update(j) || !verify_cells(&q, &answer) ||
        kith_verlet_read(j->verlet, &state) != KITH_OK) {
        return false;
    }
    const rung_hash hash = bench_hash(&j->kept, NULL);
    return answer.pairs > 0 && !state.rebuilt &&
           memcmp(&hash, j->options.full ? &answer.full : &answer.half, sizeof hash) == 0;
}

static void write_kept(const kept_case *c, const kept_job *j, bool searched,
                       const harness_times *times, double store_rate, json_t *out)
{
    bench_result result = {.name = searched ? c->searched : c->name,
                           .set = "uniform",
                           .ctx = j->ctx,
                           .n = j->points[0].n,
                           .cutoff = j->cutoff,
                           .precision = c->precision,
                           .periodic = true,
                           .list = j->options,
                           .pairs = j->kept.n,
                           .times = *times,
                           .store_rate = store_rate};
    result.list.sorted = !searched || c->sorted;
    bench_result_write(out, &result);
}

/* @param xyz, single  points at the rebuild, and of two steps */
static bool run_kept(const kept_case *c, const bench_options *options, int threads,
                     double *const xyz[3], float *const single[3], int64_t n, double store_rate,
                     json_t *out)
{
    const bool is_float = c->precision == KITH_FLOAT;
    harness_times times[2];
    kept_job j = {.ctx = bench_open(options->backend, threads),
                  .box = kith_box_periodic(1, 1, 1),
                  .cutoff = KEPT_CUTOFF * cbrt(1e5 / (double)n),
                  .kept = {.size = sizeof j.kept},
                  .found = {.size = sizeof j.found}};
    kith_pairs_options_init(&j.options);
    j.options.full = c->list.full;
    j.options.layout = c->list.layout;
    j.options.extras = c->list.extras;
    j.options.sorted = c->sorted;
    kith_verlet_options own;
    kith_verlet_options_init(&own);
    own.cutoff = j.cutoff;
    own.skin = KEPT_SKIN * j.cutoff;
    own.full = c->list.full;
    own.layout = c->list.layout;
    own.extras = c->list.extras;
    const kith_points first = kith_points_packed(is_float ? (void *)single[0] : xyz[0], n,
                                                 c->precision);
    for (int k = 0; k < 2; k++) {
        j.points[k] = kith_points_packed(is_float ? (void *)single[1 + k] : xyz[1 + k], n,
                                         c->precision);
    }
    bool ok = j.ctx && kith_verlet_open(j.ctx, &own, &j.verlet) == KITH_OK &&
              kith_verlet_update(j.verlet, &first, &j.box, &j.kept) == KITH_OK &&
              is_kept_right(&j, xyz[2], c->precision) && is_kept_right(&j, xyz[1], c->precision) &&
              harness_time_turns((const harness_work[2]){update, search}, &j,
                                 options->least_seconds, times);
    if (ok) {
        write_kept(c, &j, false, &times[0], store_rate, out);
        write_kept(c, &j, true, &times[1], store_rate, out);
    } else {
        fprintf(stderr, "kith_bench: %s: wrong list, or no memory %s\n", c->name,
                j.ctx ? kith_message(j.ctx) : "");
    }
    kith_pairs_free(&j.kept);
    kith_pairs_free(&j.found);
    kith_verlet_close(j.verlet);
    kith_close(j.ctx);
    return ok;
}

static bool run_kept_case(const kept_case *c, const bench_options *options,
                          const double *store_rates, json_t *out)
{
    const int64_t n = options->n / SMALLER;
    const double skin = KEPT_SKIN * KEPT_CUTOFF * cbrt(1e5 / (double)n);
    double *xyz[3] = {bench_make_set("uniform", n), NULL, NULL};
    float *single[3] = {NULL, NULL, NULL};
    bool ok = xyz[0] != NULL;
    for (int k = 0; k < 3 && ok; k++) {
        /* halfway to the displacement that takes a search */
        xyz[k] = k > 0 ? move(xyz[0], n, skin / 4, 2 + (uint64_t)k) : xyz[0];
        single[k] = c->precision == KITH_FLOAT ? bench_round_points(xyz[k], n) : NULL;
        ok = xyz[k] && (c->precision != KITH_FLOAT || single[k]);
    }
    for (int t = 0; ok && bench_has_run(options, t); t++) {
        ok = run_kept(c, options, options->threads[t], xyz, single, n, store_rates[t], out);
    }
    for (int k = 0; k < 3; k++) {
        free(xyz[k]);
        free(single[k]);
    }
    return ok;
}

/* --------------------------------------------------------------------------- lists by radii */

typedef struct radii_case {
    const char *name;
    kith_radius_rule rule;
    double largest; /* of 10^5 points */
    double factor;  /* radii span this factor, their logarithms uniform; 0: one is 20 times the
                       others */
} radii_case;

/* A tenth of the points of the standard case, in the periodic unit cube, full rows; some 50
 * neighbours of each on average. */
static const radii_case radii_cases[] = {
    {"radii gather", KITH_RADIUS_GATHER, 0.136, 1000},
    {"radii either", KITH_RADIUS_EITHER, 0.108, 1000},
    {"radii sum", KITH_RADIUS_SUM, 0.08, 1000},
    {"radii gather, near each other", KITH_RADIUS_GATHER, 0.06, 1.5},
    {"radii gather, one huge", KITH_RADIUS_GATHER, 0.4, 0},
};

typedef struct radii_job {
    kith_ctx *ctx;
    kith_points points;
    kith_box box;
    kith_pairs_options options;
    kith_pairs found;
} radii_job;

static bool find_rows(void *user)
{
    radii_job *const j = user;
    return kith_pairs_find(j->ctx, &j->points, &j->box, 0, &j->options, &j->found) == KITH_OK;
}

static bool is_listed(kith_radius_rule rule, double r2, double hi, double hj)
{
    switch (rule) {
    case KITH_RADIUS_GATHER: return r2 <= hi * hi;
    case KITH_RADIUS_EITHER: return r2 <= hi * hi || r2 <= hj * hj;
    default: return r2 <= (hi + hj) * (hi + hj);
    }
}

static int by_index(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Compare some rows with those that all distances give: of nearest images, as no radius is above
 * half the cube. */
static bool are_rows_right(const radii_job *j, const double *xyz, const double *h)
{
    const int64_t n = j->points.n;
    int32_t *const row = malloc((size_t)n * sizeof *row);
    bool ok = row != NULL;
    for (int64_t c = 0; ok && c < CHECKED; c++) {
        const int64_t i = c * n / CHECKED;
        const int64_t first = j->found.offsets[i], neighbours = j->found.offsets[i + 1] - first;
        int64_t expected = 0;
        memcpy(row, j->found.j + first, (size_t)neighbours * sizeof *row);
        qsort(row, (size_t)neighbours, sizeof *row, by_index);
        for (int64_t p = 0; ok && p < n; p++) {
            double square[3];
            for (int m = 0; m < 3; m++) {
                const double plain = xyz[3 * p + m] - xyz[3 * i + m];
                const double d = fmin(fabs(plain), fmin(fabs(plain + 1), fabs(plain - 1)));
                square[m] = d * d;
            }
            const double xy = square[0] + square[1];
            if (p != i && is_listed(j->options.radius_rule, xy + square[2], h[i], h[p])) {
                ok = expected < neighbours && row[expected] == (int32_t)p;
                expected++;
            }
        }
        ok = ok && expected == neighbours;
    }
    free(row);
    return ok;
}

static bool run_radii(const radii_case *c, const bench_options *options, int threads,
                      const double *xyz, const double *h, double largest, int64_t n,
                      double store_rate, json_t *out)
{
    harness_times times;
    radii_job j = {.ctx = bench_open(options->backend, threads),
                   .points = kith_points_packed(xyz, n, KITH_DOUBLE),
                   .box = kith_box_periodic(1, 1, 1),
                   .found = {.size = sizeof j.found}};
    kith_pairs_options_init(&j.options);
    j.options.full = 1;
    j.options.layout = KITH_CSR;
    j.options.radii = h;
    j.options.radius_rule = c->rule;
    const bool ok = j.ctx && find_rows(&j) && j.found.n > 0 && are_rows_right(&j, xyz, h) &&
                    harness_time(find_rows, &j, options->least_seconds, &times);
    if (ok) {
        bench_result_write(out, &(bench_result){.name = c->name,
                                                .set = "uniform",
                                                .ctx = j.ctx,
                                                .n = n,
                                                .cutoff = largest,
                                                .precision = KITH_DOUBLE,
                                                .periodic = true,
                                                .list = j.options,
                                                .pairs = j.found.n,
                                                .times = times,
                                                .store_rate = store_rate});
    } else {
        fprintf(stderr, "kith_bench: %s: wrong rows, or no memory %s\n", c->name,
                j.ctx ? kith_message(j.ctx) : "");
    }
    kith_pairs_free(&j.found);
    kith_close(j.ctx);
    return ok;
}

static bool run_radii_case(const radii_case *c, const bench_options *options,
                           const double *store_rates, json_t *out)
{
    const int64_t n = options->n / SMALLER;
    const double half = c->rule == KITH_RADIUS_SUM ? 0.22 : 0.45; /* images nearer than others */
    const double largest = fmin(half, c->largest * cbrt(1e5 / (double)n));
    double *const xyz = bench_make_set("uniform", n);
    double *const h = malloc(sizeof(double[3]) * (size_t)n); /* as sets have three coordinates */
    bool ok = xyz && h;
    if (ok) {
        sets_uniform(h, n, 7);
        for (int64_t p = 0; p < n; p++) {
            h[p] = c->factor > 0 ? largest * pow(c->factor, -h[p])
                   : p == 7      ? largest
                                 : largest / 20;
        }
    }
    for (int t = 0; ok && bench_has_run(options, t); t++) {
        ok = run_radii(c, options, options->threads[t], xyz, h, largest, n, store_rates[t], out);
    }
    free(xyz);
    free(h);
    return ok;
}

bool bench_lists(const bench_options *options, json_t *out)
{
    double store_rates[BENCH_MOST_THREADS];
    bool ok = true;
    for (int t = 0; bench_has_run(options, t); t++) {
        store_rates[t] = harness_store_rate(options->threads[t], options->store_bytes);
    }
    json_t *const list = put_array(out, "results");
    for (size_t c = 0; ok && c < sizeof kept_cases / sizeof *kept_cases; c++) {
        ok = !bench_wants(options, kept_cases[c].name) ||
             run_kept_case(&kept_cases[c], options, store_rates, list);
    }
    for (size_t c = 0; ok && c < sizeof radii_cases / sizeof *radii_cases; c++) {
        ok = !bench_wants(options, radii_cases[c].name) ||
             run_radii_case(&radii_cases[c], options, store_rates, list);
    }
    return ok;
}
