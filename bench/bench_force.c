/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair distributions from forces: uniform points in the periodic cube, about 75 half pairs a point,
 * random forces, 200 bins. The library then adds to each bin, beside the count, two sums over its
 * pairs: p and p / r^3, with p = (F_j - F_i) . d (kith_histogram.pushes). Sums over some of the
 * points are first compared with brute force. Then histograms with and without forces are timed
 * alternately.
 */
#include "bench.h"

#include <math.h>
#include <random.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 200, CHECKED = 1500 }; /* bins; points whose sums are checked */

static const char name[] = "force";

/** Points and forces, and the histograms that are made of them. */
typedef struct problem {
    kith_ctx *ctx;                /**< context of the problem */
    void *xyz, *forces;           /**< [n][3] each, in the precision of points */
    kith_points points;           /**< the points */
    kith_box box;                 /**< the periodic unit cube */
    kith_rdf_options options;     /**< bins; forces are set before each count */
    kith_histogram plain, pushed; /**< histograms without and with forces */
} problem;

/** Return the end of the last bin, within which n uniform points have 150 neighbours each. */
static double reach(int64_t n)
{
    return fmin(0.45, cbrt(150 * 3 / (4 * acos(-1) * (double)n)));
}

/** Make points, forces and a context. @return false on failure */
static bool problem_make(problem *p, kith_precision precision, const char *backend, int threads,
                         int64_t n)
{
    random_state random = random_start(1);
    double *const xyz = bench_make_set("uniform", n);
    *p = (problem){.ctx = bench_open(backend, threads),
                   .box = kith_box_periodic(1, 1, 1),
                   .xyz = xyz,
                   .forces = malloc((size_t)n * 3 * (size_t)precision)};
    if (xyz && precision == KITH_FLOAT) {
        p->xyz = bench_round_points(xyz, n);
        free(xyz);
    }
    for (int64_t at = 0; p->forces && at < 3 * n; at++) {
        io_put_real(p->forces, at, precision, random_unit(&random) - 0.5);
    }
    p->points = kith_points_packed(p->xyz, n, precision);
    kith_rdf_options_init(&p->options);
    p->options.bins = BINS;
    p->options.r_max = reach(n);
    return p->xyz && p->forces && p->ctx;
}

static void problem_free(problem *p)
{
    kith_histogram_free(&p->plain);
    kith_histogram_free(&p->pushed);
    kith_close(p->ctx);
    free(p->xyz);
    free(p->forces);
}

/** Count distances, with forces unless they are NULL. */
static bool count(problem *p, const void *forces, kith_histogram *histogram)
{
    p->options.forces = forces;
    return kith_rdf_count(p->ctx, &p->points, &p->box, &p->options, histogram) == KITH_OK;
}

static bool count_plain(void *user)
{
    problem *const p = user;
    return count(p, NULL, &p->plain);
}

static bool count_pushed(void *user)
{
    problem *const p = user;
    return count(p, p->forces, &p->pushed);
}

/** Return element `at` of an array in the precision of the points. */
static double number(const problem *p, const void *array, int64_t at)
{
    return io_real(array, at, p->points.precision);
}

/** Add the nearest images of i and j to the sums of their bin: p and p / r^3, and their sizes, from
 *  which the rounding error is bounded. */
static void add_pair(const problem *p, const kith_histogram *h, int64_t i, int64_t j,
                     double sums[2][BINS], double sizes[2][BINS])
{
    double push = 0, r2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = number(p, p->xyz, 3 * j + k) - number(p, p->xyz, 3 * i + k);
        d -= rint(d);
        r2 += d * d;
        push += d * (number(p, p->forces, 3 * j + k) - number(p, p->forces, 3 * i + k));
    }
    const double r = sqrt(r2);
    if (r < h->edges[BINS]) {
        const int bin = (int)(r / h->edges[BINS] * BINS);
        sums[0][bin] += push;
        sums[1][bin] += push / (r2 * r);
        sizes[0][bin] += fabs(push);
        sizes[1][bin] += fabs(push) / (r2 * r);
    }
}

/** Return true when the sums over the first points agree with brute force. A pair at an edge may be
 *  in either bin, and one at the last edge be counted or not, so cumulative sums up to each edge
 *  are compared, and may differ by one pair: |p| is below 1.8 r, as each component of F_j - F_i is
 *  below 1, and so its length below sqrt(3). */
static bool is_right(problem *p)
{
    const int64_t n = p->points.n;
    double sums[2][BINS] = {{0}}, sizes[2][BINS] = {{0}};
    kith_histogram h = {0}, plain = {0};
    p->points.n = n < CHECKED ? n : CHECKED;
    p->options.r_max = reach(p->points.n);
    bool ok = count(p, p->forces, &h) && count(p, NULL, &plain) &&
              memcmp(h.counts, plain.counts, BINS * sizeof *h.counts) == 0;
    for (int64_t i = 0; ok && i < p->points.n; i++) {
        for (int64_t j = i + 1; j < p->points.n; j++) {
            add_pair(p, &h, i, j, sums, sizes);
        }
    }
    for (int which = 0; ok && which < 2; which++) {
        double found = 0, known = 0, size = 0;
        for (int k = 0; k < BINS; k++) {
            found += h.pushes[which * (BINS + 1) + k + 1];
            known += sums[which][k];
            size += sizes[which][k];
            const double pair = which ? 1.8 / (h.edges[k + 1] * h.edges[k + 1])
                                      : 1.8 * h.edges[k + 1];
            ok = ok && fabs(found - known) <= 1e-9 * size + pair;
        }
    }
    kith_histogram_free(&h);
    kith_histogram_free(&plain);
    p->points.n = n;
    p->options.r_max = reach(n);
    return ok;
}

static void report(const problem *p, const harness_times *plain, const harness_times *pushed,
                   json_t *out)
{
    json_t *const row = bench_begin(out, name, "uniform", p->points.n);
    put_integer(row, "bins", BINS);
    put_number(row, "r_max", p->options.r_max);
    put_number(row, "histogram_seconds", plain->median);
    put_number(row, "histogram_seconds_min", plain->least);
    put_number(row, "over_histogram", pushed->median / plain->median);
    bench_end(row, p->points.precision, p->ctx, pushed);
}

/** Verify, then time histograms without and with forces. @return false on failure: a wrong answer
 *  was reported, a failed call not */
static bool run(kith_precision precision, const bench_options *options, int threads, json_t *out)
{
    problem p;
    harness_times times[2];
    bool ok = problem_make(&p, precision, options->backend, threads, options->n);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: %s\n", name, kith_message(NULL));
    } else if (!is_right(&p)) {
        fprintf(stderr, "kith_bench: %s: wrong sums %s\n", name, kith_message(p.ctx));
        ok = false;
    }
    if (ok && (ok = harness_time_turns((const harness_work[]){count_plain, count_pushed}, &p,
                                       options->least_seconds, times))) {
        report(&p, &times[0], &times[1], out);
    }
    problem_free(&p);
    return ok;
}

bool bench_force(const bench_options *options, json_t *out)
{
    bool ok = true;
    json_t *const list = put_array(out, "forces");
    for (int t = 0; ok && bench_has_run(options, t) && bench_wants(options, name); t++) {
        ok = run(KITH_FLOAT, options, options->threads[t], list) &&
             run(KITH_DOUBLE, options, options->threads[t], list);
    }
    return ok;
}
