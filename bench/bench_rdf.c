/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair distributions: uniform points in the periodic cube. Short range: about 75
 * half pairs a point, by cells. All pairs: the nearest image of each, up to the corner of the box,
 * of a fiftieth of the points. Each with few bins and many, in float and double. Every histogram is
 * compared with an independent one, bin for bin, and only then timed.
 */
#include "bench.h"
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 2000, PART_OF_ALL = 50 };
static const double standard_n = 1e6, standard_r_max = 0.033, corner = 0.86602540378443865;

static const struct form {
    const char *name;
    bool all_pairs;
    kith_precision precision;
    int32_t bins;
} forms[] = {
    {"short", false, KITH_FLOAT, 20},     {"short", false, KITH_FLOAT, MOST_BINS},
    {"short", false, KITH_DOUBLE, 20},    {"short", false, KITH_DOUBLE, MOST_BINS},
    {"all", true, KITH_FLOAT, MOST_BINS}, {"all", true, KITH_DOUBLE, MOST_BINS},
};

/* Points, and what is right for them. */
typedef struct problem {
    const struct form *form;
    int64_t n;
    double r_max;
    double *xyz;    /* [n][3], each a number of the precision */
    float *rounded; /* xyz rounded to float; NULL in double */
    int64_t right[MOST_BINS];
    int64_t pairs;
} problem;

/* A frame to be counted, again and again. */
typedef struct job {
    kith_ctx *ctx;
    kith_points points;
    kith_box box;
    kith_rdf_options options;
    kith_histogram histogram;
} job;

static bool find_right(problem *p)
{
    const struct form *const form = p->form;
    double edge2[MOST_BINS + 1];
    for (int32_t k = 0; k <= form->bins; k++) {
        const double edge = k == form->bins ? p->r_max : (double)k / form->bins * p->r_max;
        const float rounded = (float)edge;
        edge2[k] = form->precision == KITH_FLOAT ? (double)(rounded * rounded) : edge * edge;
    }
    const verify_question question = {.xyz = p->xyz,
                                      .n = p->n,
                                      .cutoff = p->r_max,
                                      .precision = form->precision,
                                      .periodic = true};
    const verify_bins bins = {.n = form->bins, .edge2 = edge2, .counts = p->right};
    bool ok = true;
    if (form->all_pairs) {
        verify_nearest(&question, &bins);
    } else {
        ok = verify_histogram(&question, &bins);
    }
    for (int32_t k = 0; k < form->bins; k++) {
        p->pairs += p->right[k];
    }
    return ok;
}

static bool problem_make(problem *p, const struct form *form, int64_t points)
{
    const int64_t n = form->all_pairs ? points / PART_OF_ALL + 1 : points;
    const double scale = cbrt(standard_n / (double)n);
    *p = (problem){
        .form = form, .n = n, .r_max = form->all_pairs ? corner : standard_r_max * scale};
    p->xyz = bench_make_set("uniform", n);
    p->rounded = form->precision == KITH_FLOAT ? bench_round_points(p->xyz, n) : NULL;
    return p->xyz && (p->rounded || form->precision == KITH_DOUBLE) && find_right(p);
}

static void problem_free(problem *p)
{
    free(p->xyz);
    free(p->rounded);
}

static bool count(void *user)
{
    job *const j = user;
    return kith_rdf_count(j->ctx, &j->points, &j->box, &j->options, &j->histogram) == KITH_OK;
}

static void report(const problem *p, const job *j, const harness_times *times, json_t *out)
{
    const struct form *const form = p->form;
    const double rate = 1e-6 * (double)p->pairs / times->median;
    json_t *const row = bench_begin(out, form->name, "uniform", p->n);
    put_number(row, "r_max", p->r_max);
    put_integer(row, "bins", form->bins);
    put_bool(row, "minimum_image", form->all_pairs);
    put_bool(row, "periodic", true);
    put_integer(row, "counted", p->pairs);
    put_number(row, "million_half_pairs_per_second", rate);
    const double scratch = bench_end(row, form->precision, j->ctx, p->n, times);
    printf("%-6s %-7s %5d %-12s %3d %9lld %11lld %9.4f %9.4f %9.4f %9.1f %7.1f\n", form->name,
           bench_name_of(form->precision), form->bins, kith_backend(j->ctx), kith_threads(j->ctx),
           (long long)p->n, (long long)p->pairs, times->median, times->least, times->first, rate,
           scratch);
    fflush(stdout);
}

static bool is_right(const job *j, const problem *p)
{
    return memcmp(j->histogram.counts, p->right, (size_t)p->form->bins * sizeof *p->right) == 0;
}

/* Every run has its own context, so that scratch is that of the case alone. */
static bool run(const problem *p, const bench_options *options, int threads, json_t *out)
{
    const void *const xyz = p->rounded ? (const void *)p->rounded : p->xyz;
    harness_times times;
    job j = {.ctx = bench_open(options->backend, threads),
             .points = kith_points_packed(xyz, p->n, p->form->precision),
             .box = kith_box_periodic(1, 1, 1)};
    kith_rdf_options_init(&j.options);
    j.options.bins = p->form->bins;
    j.options.r_max = p->r_max;
    j.options.minimum_image = p->form->all_pairs;
    bool ok = j.ctx && count(&j);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: %s\n", p->form->name, kith_message(j.ctx));
    } else if (!is_right(&j, p)) {
        fprintf(stderr, "kith_bench: %s, %s, %d bins, %d threads: wrong counts\n", p->form->name,
                kith_backend(j.ctx), p->form->bins, threads);
        ok = false;
    }
    if (ok && (ok = harness_time(count, &j, options->least_seconds, &times))) {
        report(p, &j, &times, out);
    }
    kith_histogram_free(&j.histogram);
    kith_close(j.ctx);
    return ok;
}

bool bench_rdf(const bench_options *options, json_t *out)
{
    bool ok = true;
    json_t *const list = put_array(out, "results");
    printf("%-6s %-7s %5s %-12s %3s %9s %11s %9s %9s %9s %9s %7s\n", "", "", "", "", "", "", "half",
           "median", "least", "first", "million", "scratch");
    printf("%-6s %-7s %5s %-12s %3s %9s %11s %9s %9s %9s %9s %7s\n", "case", "", "bins", "backend",
           "thr", "n", "pairs", "s", "s", "s", "/s", "B/point");
    for (size_t f = 0; ok && f < sizeof forms / sizeof *forms; f++) {
        static problem p;
        if (!bench_wants(options, forms[f].name)) {
            continue;
        }
        ok = problem_make(&p, &forms[f], options->n);
        if (!ok) {
            fprintf(stderr, "kith_bench: %s: no memory\n", forms[f].name);
        }
        for (int t = 0; ok && options->threads[t]; t++) {
            ok = run(&p, options, options->threads[t], list);
        }
        problem_free(&p);
    }
    if (ok && bench_wants(options, "force")) {
        ok = bench_force(options, options->backend, options->threads, out);
    }
    return ok;
}
