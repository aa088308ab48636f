/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of distances on a GPU, from points in host memory to counts there, by the host's
 * clock. Counts are first compared with the CPU's bin by bin: all of them, or, of all pairs, those
 * of some of the points; all pairs of all points must then be as many as there are.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most points whose pairs are all counted on the CPU. */
enum { MOST_ALL_PAIRS = 60000 };

typedef struct rdf_case {
    const char *name;
    kith_precision precision;
    int64_t bins;
    double neighbours; /* mean number within r_max; 0: all pairs under minimum image */
} rdf_case;

static const rdf_case cases[] = {
    {"rdf all pairs", KITH_FLOAT, 2000, 0},      {"rdf all pairs double", KITH_DOUBLE, 2000, 0},
    {"rdf all pairs 200", KITH_FLOAT, 200, 0},   {"rdf short", KITH_FLOAT, 200, 150},
    {"rdf short 20", KITH_FLOAT, 20, 150},       {"rdf short 2000", KITH_FLOAT, 2000, 150},
    {"rdf short double", KITH_DOUBLE, 200, 150},
};

typedef struct problem {
    kith_ctx *cpu, *gpu;
    void *values;
    kith_points points;
    kith_box box;
    kith_rdf_options options;
    kith_histogram counts;
} problem;

static bool problem_make(problem *p, const rdf_case *c, int64_t n)
{
    double *const xyz = bench_make_set("uniform", n);
    *p = (problem){.cpu = bench_open("cpu", 0),
                   .gpu = bench_open("cuda", 0),
                   .values = xyz,
                   .box = kith_box_periodic(1, 1, 1)};
    if (xyz && c->precision == KITH_FLOAT) {
        p->values = bench_round_points(xyz, n);
        free(xyz);
    }
    p->points = kith_points_packed(p->values, n, c->precision);
    kith_rdf_options_init(&p->options);
    p->options.bins = c->bins;
    p->options.r_max = 0.8661; /* beyond half the diagonal: every pair counts */
    p->options.minimum_image = c->neighbours == 0;
    if (c->neighbours > 0) {
        p->options.r_max = fmin(0.45, cbrt(c->neighbours * 3 / (4 * acos(-1) * (double)n)));
    }
    return p->cpu && p->gpu && p->values;
}

static void problem_free(problem *p)
{
    kith_histogram_free(&p->counts);
    kith_close(p->cpu);
    kith_close(p->gpu);
    free(p->values);
}

static int64_t total(const kith_histogram *h)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < h->bins; k++) {
        sum += h->counts[k];
    }
    return sum;
}

/* Are the counts of the first n points the CPU's? */
static bool agrees(const problem *p, int64_t n)
{
    kith_histogram a = {0}, b = {0};
    kith_points points = p->points;
    points.n = n;
    const bool ok = kith_rdf_count(p->gpu, &points, &p->box, &p->options, &a) == KITH_OK &&
                    kith_rdf_count(p->cpu, &points, &p->box, &p->options, &b) == KITH_OK &&
                    memcmp(a.counts, b.counts, (size_t)a.bins * sizeof *a.counts) == 0;
    kith_histogram_free(&a);
    kith_histogram_free(&b);
    return ok;
}

static bool count(void *user)
{
    problem *p = user;
    return kith_rdf_count(p->gpu, &p->points, &p->box, &p->options, &p->counts) == KITH_OK;
}

/* @return the number of pairs; -1: wrong */
static int64_t verify(problem *p)
{
    const int64_t n = p->points.n;
    const bool all = p->options.minimum_image != 0;
    if (!agrees(p, all && n > MOST_ALL_PAIRS ? MOST_ALL_PAIRS : n) || !count(p)) {
        return -1;
    }
    const int64_t pairs = total(&p->counts);
    return all && pairs != n * (n - 1) / 2 ? -1 : pairs;
}

static bool run(const rdf_case *c, problem *p, const bench_options *options, json_t *out)
{
    harness_times times;
    const int64_t pairs = verify(p);
    if (pairs < 0) {
        fprintf(stderr, "kith_bench: %s: wrong counts %s\n", c->name, kith_message(p->gpu));
        return false;
    }
    if (!harness_time(count, p, options->least_seconds, &times)) {
        fprintf(stderr, "kith_bench: %s: %s\n", c->name, kith_message(p->gpu));
        return false;
    }
    const double rate = 1e-9 * (double)pairs / times.median;
    json_t *const row = bench_begin(out, c->name, "uniform", p->points.n);
    put_integer(row, "bins", c->bins);
    put_number(row, "r_max", p->options.r_max);
    put_bool(row, "minimum_image", p->options.minimum_image != 0);
    put_integer(row, "pairs", pairs);
    put_number(row, "billion_pairs_per_second", rate);
    (void)bench_end(row, c->precision, p->gpu, p->points.n, &times);
    printf("%-24s %9lld %6lld %14lld %11.3f %11.3f %9.1f\n", c->name, (long long)p->points.n,
           (long long)c->bins, (long long)pairs, 1e3 * times.median, 1e3 * times.least, rate);
    fflush(stdout);
    return true;
}

bool bench_gpu_rdf(const bench_options *options, json_t *out)
{
    bool ok = true;
    printf("%-24s %9s %6s %14s %11s %11s %9s\n", "case", "n", "bins", "pairs", "ms", "least",
           "G pairs/s");
    json_t *const list = put_array(out, "distributions");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        problem p;
        if (!bench_wants(options, cases[c].name)) {
            continue;
        }
        const bool made = problem_make(&p, &cases[c], options->n);
        if (!made) {
            fprintf(stderr, "kith_bench: %s: could not be made ready\n", cases[c].name);
        }
        ok = made && run(&cases[c], &p, options, list) && ok;
        problem_free(&p);
    }
    return ok;
}
