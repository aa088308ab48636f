/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two benchmarks. Kept lists (kith_verlet, Verlet lists) over the steps of a simulation are timed
 * alternately with searches; before that they are compared with the answer of an independent method
 * (verify.c). Lists by a radius for each particle are compared, in some rows, with brute force.
 */
#include "bench.h"
#include "result.h"
#include "verify.h"

#include <math.h>
#include <sets.h>
#include <stdlib.h>
#include <string.h>

enum {
    STANDARD_N = 1000000,
    SMALLER = 10, /* the points of -n are divided by it */
    CHECKED = 100 /* rows by radii that are checked */
};

/* -------------------------------------------------------------------------------- kept lists */

/** A case: a form of kept lists. */
typedef struct kept_case {
    const char *name, *searched; /**< names of the results of updates, of searches */
    kith_precision precision;    /**< precision of the points */
    kith_verlet_options list;    /**< form of the list; cutoff and skin are set by run_kept */
    int sorted;                  /**< the lists of searches are sorted, as kept lists always are */
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

static const double KEPT_CUTOFF = 0.0508, KEPT_SKIN = 0.12; /* at 10^5 points; skin in cutoffs */

/** A kept list, and searches for the pairs of its points. */
typedef struct kept_job {
    kith_ctx *ctx;              /**< context of the job */
    kith_verlet *verlet;        /**< the kept list */
    kith_points points[2];      /**< points of two steps, between which updates alternate */
    int step;                   /**< index of the points that are used */
    kith_box box;               /**< the periodic unit cube */
    double cutoff;              /**< cutoff of lists */
    kith_pairs_options options; /**< form of the lists of searches */
    kith_pairs kept, found;     /**< the kept list, the list of a search */
} kept_job;

/** A harness_work: update the kept list for the points of the other step. */
static bool update(void *user)
{
    kept_job *const j = user;
    j->step ^= 1;
    return kith_verlet_update(j->verlet, &j->points[j->step], &j->box, &j->kept) == KITH_OK;
}

/** A harness_work: find the pairs of the points of the current step. */
static bool search(void *user)
{
    kept_job *const j = user;
    return kith_pairs_find(j->ctx, &j->points[j->step], &j->box, j->cutoff, &j->options,
                           &j->found) == KITH_OK;
}

/** Return points that are displaced by up to `most` in random directions, and wrapped. */
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

/** Update the kept list. Return true when that needed no search, and the list has the pairs that
 *  the independent method finds. @param xyz  the points of the other step */
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

/** Add the result of updates, or of searches. */
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

/** Verify, then time a kept list and searches with some number of threads.
 *  @param xyz, single  points at the rebuild, and of two steps; single in float
 *  @return false, reported, on failure */
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

/** Run a case with all numbers of threads. */
static bool run_kept_case(const kept_case *c, const bench_options *options,
                          const double *store_rates, json_t *out)
{
    const int64_t n = options->n / SMALLER;
    const double skin = KEPT_SKIN * KEPT_CUTOFF * cbrt(1e5 / (double)n);
    double *xyz[3] = {bench_make_set("uniform", n), NULL, NULL};
    float *single[3] = {NULL, NULL, NULL};
    bool ok = xyz[0] != NULL;
    for (int k = 0; k < 3 && ok; k++) {
        /* displaced by skin / 4, half of the displacement that needs a search */
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

/** A case: a distribution of radii, and a rule. */
typedef struct radii_case {
    const char *name;      /**< name of the case */
    kith_radius_rule rule; /**< which pairs are listed, see is_listed */
    double largest;        /**< largest radius at 10^5 points */
    double factor;         /**< largest radius divided by the least; logarithms are uniform. 0: one
                                radius is 20 times the others */
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

/** A list by radii. */
typedef struct radii_job {
    kith_ctx *ctx;              /**< context of the job */
    kith_points points;         /**< the points */
    kith_box box;               /**< the periodic unit cube */
    kith_pairs_options options; /**< radii and rule */
    kith_pairs found;           /**< the list */
} radii_job;

/** A harness_work: make the list. */
static bool find_rows(void *user)
{
    radii_job *const j = user;
    return kith_pairs_find(j->ctx, &j->points, &j->box, 0, &j->options, &j->found) == KITH_OK;
}

/** Return true when particle j is in the row of i, at squared distance r2, with radii hi and hj. */
static bool is_listed(kith_radius_rule rule, double r2, double hi, double hj)
{
    switch (rule) {
    case KITH_RADIUS_GATHER: return r2 <= hi * hi;
    case KITH_RADIUS_EITHER: return r2 <= hi * hi || r2 <= hj * hj;
    default: return r2 <= (hi + hj) * (hi + hj);
    }
}

/** Order of int32 numbers, for qsort. */
static int by_index(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/** Return true when some rows are equal to those that all distances give. Nearest images suffice,
 *  as no pair is listed beyond half the side of the cube. */
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

/** Verify, then time a list by radii. @param h  [n] radii. @param largest  largest radius
 *  @return false, reported, on failure */
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

/** Run a case with all numbers of threads. */
static bool run_radii_case(const radii_case *c, const bench_options *options,
                           const double *store_rates, json_t *out)
{
    const int64_t n = options->n / SMALLER;
    /* Limit of radii by which a pair is nearer than half the cube; by SUM two radii add up. */
    const double half = c->rule == KITH_RADIUS_SUM ? 0.22 : 0.45;
    const double largest = fmin(half, c->largest * cbrt(1e5 / (double)n));
    double *const xyz = bench_make_set("uniform", n);
    double *const h = malloc(sizeof(double[3]) * (size_t)n); /* sets_uniform fills 3 n */
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
