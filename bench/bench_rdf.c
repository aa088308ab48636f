/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair distributions: uniform points in the periodic cube, in host memory. Two
 * ranges: short, with about 75 half pairs a point, found by cells; and all pairs, the nearest image
 * of each, up to the corner of the box, on CPU cores for a fiftieth of the points. Each with few
 * bins and many, in float and double. Every histogram is first compared with an independent one,
 * bin for bin. All pairs on a GPU are compared for a fiftieth of the points, and then by their
 * total number.
 */
#include "bench.h"
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 2000, PART_OF_ALL = 50 };
static const double standard_n = 1e6, standard_r_max = 0.033; /* short range at so many points */
static const double corner = 0.8661; /* beyond half the diagonal, so that every pair is counted */

/* The names of cases differ between devices, as files in results/ have them. */
static const struct form {
    const char *name[2];      /**< name on CPU cores, on a GPU; NULL: not timed there */
    bool all_pairs;           /**< all pairs; else short range */
    kith_precision precision; /**< precision of the points */
    int32_t bins;             /**< number of bins */
} forms[] = {
    {{"short", "rdf short 20"}, false, KITH_FLOAT, 20},
    {{NULL, "rdf short"}, false, KITH_FLOAT, 200},
    {{"short", "rdf short 2000"}, false, KITH_FLOAT, MOST_BINS},
    {{"short", NULL}, false, KITH_DOUBLE, 20},
    {{NULL, "rdf short double"}, false, KITH_DOUBLE, 200},
    {{"short", NULL}, false, KITH_DOUBLE, MOST_BINS},
    {{NULL, "rdf all pairs 200"}, true, KITH_FLOAT, 200},
    {{"all", "rdf all pairs"}, true, KITH_FLOAT, MOST_BINS},
    {{"all", "rdf all pairs double"}, true, KITH_DOUBLE, MOST_BINS},
};

/** Points, and the right counts of the first of them. */
typedef struct problem {
    const char *name;         /**< name of the case */
    const struct form *form;  /**< the case */
    int64_t n, checked;       /**< points that are timed; first points, whose counts are checked */
    double r_max;             /**< end of the last bin */
    double *xyz;              /**< [n][3], each a number of the precision */
    float *rounded;           /**< xyz in float; NULL in double */
    int64_t right[MOST_BINS]; /**< [form->bins] counts of the first points */
} problem;

/** A frame that is counted repeatedly. */
typedef struct job {
    kith_ctx *ctx;            /**< context of the job */
    kith_points points;       /**< the points */
    kith_box box;             /**< the periodic unit cube */
    kith_rdf_options options; /**< bins */
    kith_histogram histogram; /**< the counts, added up over calls */
} job;

/** Compute the right counts by verify.c. In float, edges are rounded and squared in float, as by
 *  the library. @return false without memory */
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
                                      .n = p->checked,
                                      .cutoff = p->r_max,
                                      .precision = form->precision,
                                      .periodic = true};
    const verify_bins bins = {.n = form->bins, .edge2 = edge2, .counts = p->right};
    if (form->all_pairs) {
        verify_nearest(&question, &bins);
        return true;
    }
    return verify_histogram(&question, &bins);
}

/** Make points and right counts of a case. @return false without memory */
static bool problem_make(problem *p, const struct form *form, const bench_options *options)
{
    const bool gpu = bench_on_gpu(options);
    const int64_t part = options->n / PART_OF_ALL + 1;
    const int64_t n = form->all_pairs && !gpu ? part : options->n;
    *p = (problem){.name = form->name[gpu],
                   .form = form,
                   .n = n,
                   .checked = form->all_pairs && part < n ? part : n,
                   .r_max = form->all_pairs ? corner
                                            : standard_r_max * cbrt(standard_n / (double)n)};
    p->xyz = bench_make_set("uniform", n);
    p->rounded = form->precision == KITH_FLOAT ? bench_round_points(p->xyz, n) : NULL;
    return p->xyz && (p->rounded || form->precision == KITH_DOUBLE) && find_right(p);
}

static void problem_free(problem *p)
{
    free(p->xyz);
    free(p->rounded);
}

/** A harness_work: count the frame. */
static bool count(void *user)
{
    job *const j = user;
    return kith_rdf_count(j->ctx, &j->points, &j->box, &j->options, &j->histogram) == KITH_OK;
}

/** Return the sum of all counts. */
static int64_t total(const kith_histogram *h)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < h->bins; k++) {
        sum += h->counts[k];
    }
    return sum;
}

/** Return true when the counts of the first points are right, and, if there are more points, the
 *  total count of all is the number of pairs; else print a message. */
static bool is_right(job *j, const problem *p)
{
    j->points.n = p->checked;
    bool ok = count(j) &&
              memcmp(j->histogram.counts, p->right, (size_t)p->form->bins * sizeof *p->right) == 0;
    j->points.n = p->n;
    if (ok && p->checked < p->n) {
        kith_histogram_free(&j->histogram);
        ok = count(j) && total(&j->histogram) == p->n * (p->n - 1) / 2;
    }
    if (!ok) {
        fprintf(stderr, "kith_bench: %s, %s, %d bins: wrong counts %s\n", p->name,
                kith_backend(j->ctx), p->form->bins, kith_message(j->ctx));
    }
    return ok;
}

static void report(const problem *p, int64_t pairs, const kith_ctx *ctx, const harness_times *times,
                   json_t *out)
{
    json_t *const row = bench_begin(out, p->name, "uniform", p->n);
    put_number(row, "r_max", p->r_max);
    put_integer(row, "bins", p->form->bins);
    put_bool(row, "minimum_image", p->form->all_pairs);
    put_bool(row, "periodic", true);
    put_integer(row, "counted", pairs);
    put_number(row, "million_half_pairs_per_second", 1e-6 * (double)pairs / times->median);
    bench_end(row, p->form->precision, ctx, times);
}

/** Verify, then time a histogram. Every run has its own context, so that the scratch memory that is
 *  reported is that of the case alone. @return false, reported, on failure */
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
    bool ok = j.ctx && is_right(&j, p);
    const int64_t pairs = ok ? total(&j.histogram) : 0;
    if (ok && (ok = harness_time(count, &j, options->least_seconds, &times))) {
        report(p, pairs, j.ctx, &times, out);
    }
    kith_histogram_free(&j.histogram);
    kith_close(j.ctx);
    return ok;
}

bool bench_rdf(const bench_options *options, json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    bool ok = true;
    json_t *const list = put_array(out, gpu ? "distributions" : "results");
    for (size_t f = 0; ok && f < sizeof forms / sizeof *forms; f++) {
        static problem p;
        if (!forms[f].name[gpu] || !bench_wants(options, forms[f].name[gpu])) {
            continue;
        }
        ok = problem_make(&p, &forms[f], options);
        if (!ok) {
            fprintf(stderr, "kith_bench: %s: no memory\n", p.name);
        }
        for (int t = 0; ok && bench_has_run(options, t); t++) {
            ok = run(&p, options, options->threads[t], list);
        }
        problem_free(&p);
    }
    return bench_force(options, out) && ok;
}
