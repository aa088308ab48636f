/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums on a GPU: a tenth as many atoms as the standard case has points, uniform in a cube
 * with the density of gold, at 600 values of q. Two methods: the exact sum over pairs, and the
 * histogram of their distances, as `kith debye --r-width 0.002` takes it, whose transform to q on
 * the CPU is not timed. Both are first compared with the CPU's for some of the atoms.
 */
#include "bench.h"

#include <kith/debye.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 10, Q = 600, CHECKED = 2000 }; /* 1 / atoms of -n; values of q; atoms checked */

/* Side of gold's cubic cell of four atoms, and width of bins [A]. */
static const double cell_side = 4.08, bin_width = 0.002;

/** Atoms, and their sums. */
typedef struct problem {
    kith_ctx *cpu, *gpu;   /**< contexts of both backends */
    double *xyz;           /**< [n][3] positions [A] */
    kith_points points;    /**< the atoms */
    kith_box box;          /**< a periodic box more than twice as wide, in which the nearest image
                                   of an atom is the atom itself */
    kith_rdf_options bins; /**< bins up to the diagonal of the cube */
    kith_debye_options waves; /**< values of q */
    kith_histogram histogram; /**< distances, added up over the calls that are timed */
    double sums[Q];           /**< exact sums */
} problem;

/** Make n atoms and open the contexts. @return false on failure */
static bool problem_make(problem *p, int64_t n)
{
    *p = (problem){.cpu = bench_open("cpu", 0),
                   .gpu = bench_open("cuda", 0),
                   .xyz = bench_make_set("uniform", n)};
    const bool ok = p->cpu && p->gpu && p->xyz;
    const double side = cell_side * cbrt((double)n / 4);
    for (int64_t at = 0; ok && at < 3 * n; at++) {
        p->xyz[at] *= side;
    }
    p->points = kith_points_packed(p->xyz, n, KITH_DOUBLE);
    p->box = kith_box_periodic(2.001 * side, 2.001 * side, 2.001 * side);
    kith_rdf_options_init(&p->bins);
    p->bins.minimum_image = 1;
    p->bins.bins = (int64_t)ceil(sqrt(3) * side / bin_width);
    p->bins.r_max = (double)p->bins.bins * bin_width;
    kith_debye_options_init(&p->waves);
    p->waves.q_min = 0.5;
    p->waves.q_width = 0.05;
    p->waves.n_q = Q;
    return ok;
}

static void problem_free(problem *p)
{
    kith_histogram_free(&p->histogram);
    kith_close(p->cpu);
    kith_close(p->gpu);
    free(p->xyz);
}

/** A harness_work: count distances on the GPU. */
static bool count(void *user)
{
    problem *const p = user;
    return kith_rdf_count(p->gpu, &p->points, &p->box, &p->bins, &p->histogram) == KITH_OK;
}

/** A harness_work: sum over pairs on the GPU. */
static bool sum(void *user)
{
    problem *const p = user;
    return kith_debye_sum(p->gpu, &p->points, &p->waves, p->sums) == KITH_OK;
}

/** Return true when the sums of some atoms agree with the CPU's, counts bit for bit. */
static bool verify(problem *p)
{
    static double right[Q];
    kith_histogram a = {0}, b = {0};
    const int64_t n = p->points.n;
    p->points.n = n < CHECKED ? n : CHECKED;
    bool ok = kith_debye_sum(p->cpu, &p->points, &p->waves, right) == KITH_OK && sum(p) &&
              kith_rdf_count(p->cpu, &p->points, &p->box, &p->bins, &a) == KITH_OK &&
              kith_rdf_count(p->gpu, &p->points, &p->box, &p->bins, &b) == KITH_OK &&
              memcmp(a.counts, b.counts, (size_t)a.bins * sizeof *a.counts) == 0;
    for (int k = 0; ok && k < Q; k++) {
        ok = fabs(p->sums[k] - right[k]) <= 1e-9 * (double)p->points.n;
    }
    p->points.n = n;
    kith_histogram_free(&a);
    kith_histogram_free(&b);
    return ok;
}

/** Time a method, and add its result. */
static bool run(problem *p, const char *name, harness_work work, double least, json_t *out)
{
    harness_times times;
    if (!harness_time(work, p, least, &times)) {
        return false;
    }
    const double n = (double)p->points.n;
    json_t *const row = bench_begin(out, name, "uniform", p->points.n);
    put_integer(row, "q", Q);
    put_integer(row, "bins", p->bins.bins);
    put_number(row, "billion_pairs_per_second", 0.5e-9 * n * (n - 1) / times.median);
    bench_end(row, KITH_DOUBLE, p->gpu, &times);
    return true;
}

bool bench_gpu_debye(const bench_options *options, json_t *out)
{
    problem p;
    bool ok = true;
    json_t *const list = put_array(out, "debye");
    if (bench_wants(options, "debye")) {
        ok = problem_make(&p, options->n / PART) && verify(&p);
        if (!ok) {
            fprintf(stderr, "kith_bench: debye: wrong sums %s\n", kith_message(p.gpu));
        }
        ok = ok && run(&p, "debye histogram", count, options->least_seconds, list) &&
             run(&p, "debye exact", sum, options->least_seconds, list);
        problem_free(&p);
    }
    return ok;
}
