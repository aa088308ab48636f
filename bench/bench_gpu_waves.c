/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structure factors by direct sum on a GPU: sums of exp(i q . r) over points, for 20,000 vectors q
 * of the reciprocal lattice, the most that `kith rdf` takes: 100 in each of 200 bins. The sums of
 * some vectors are first compared with the CPU's.
 */
#include "bench.h"

#include <kith/waves.h>
#include <math.h>
#include <random.h>
#include <stdlib.h>

enum {
    WAVES = 20000,  /* vectors */
    CHECKED = 100,  /* vectors whose sums are checked */
    MOST_POWER = 40 /* largest size of h, k and l */
};

/** Points and vectors. */
typedef struct problem {
    kith_ctx *cpu, *gpu;  /**< contexts of both backends */
    double *xyz;          /**< [n][3] points */
    int32_t *hkl;         /**< [WAVES][3] random indices of vectors */
    double *sums, *right; /**< [WAVES][2], [CHECKED][2]: sums by the GPU, by the CPU */
    kith_points points;   /**< the points */
    kith_box box;         /**< the periodic unit cube */
    kith_waves waves;     /**< the vectors */
} problem;

/** Make points and vectors, and open contexts. @return false on failure */
static bool problem_make(problem *p, int64_t n)
{
    random_state random = random_start(1);
    *p = (problem){.cpu = bench_open("cpu", 0),
                   .gpu = bench_open("cuda", 0),
                   .box = kith_box_periodic(1, 1, 1),
                   .xyz = bench_make_set("uniform", n),
                   .hkl = malloc((size_t)WAVES * 3 * sizeof *p->hkl),
                   .sums = malloc((size_t)WAVES * 2 * sizeof *p->sums),
                   .right = malloc((size_t)CHECKED * 2 * sizeof *p->right)};
    const bool ok = p->cpu && p->gpu && p->xyz && p->hkl && p->sums && p->right;
    for (int64_t at = 0; ok && at < (int64_t)3 * WAVES; at++) {
        p->hkl[at] = (int32_t)(random_bits(&random) % (2 * MOST_POWER + 1)) - MOST_POWER;
    }
    p->points = kith_points_packed(p->xyz, n, KITH_DOUBLE);
    kith_waves_init(&p->waves);
    p->waves.hkl = p->hkl;
    return ok;
}

static void problem_free(problem *p)
{
    kith_close(p->cpu);
    kith_close(p->gpu);
    free(p->xyz);
    free(p->hkl);
    free(p->sums);
    free(p->right);
}

/** A harness_work: sum all vectors on the GPU. */
static bool sum(void *user)
{
    problem *const p = user;
    p->waves.n = WAVES;
    return kith_waves_sum(p->gpu, &p->points, &p->box, &p->waves, p->sums) == KITH_OK;
}

/** Return true when the sums of some vectors agree with the CPU's within the rounding error. */
static bool verify(problem *p)
{
    p->waves.n = CHECKED;
    bool ok = kith_waves_sum(p->cpu, &p->points, &p->box, &p->waves, p->right) == KITH_OK && sum(p);
    const double may = 1e-12 * (double)p->points.n;
    for (int at = 0; ok && at < 2 * CHECKED; at++) {
        ok = fabs(p->sums[at] - p->right[at]) <= may;
    }
    return ok;
}

bool bench_gpu_waves(const bench_options *options, json_t *out)
{
    static const char *const name = "waves";
    harness_times times;
    problem p;
    json_t *const list = put_array(out, "waves");
    bool ok = true;
    if (bench_wants(options, name)) {
        ok = problem_make(&p, options->n) && verify(&p) &&
             harness_time(sum, &p, options->least_seconds, &times);
        if (ok) {
            const double terms = (double)WAVES * (double)p.points.n;
            json_t *const row = bench_begin(list, name, "uniform", p.points.n);
            put_integer(row, "waves", WAVES);
            put_number(row, "billion_terms_per_second", 1e-9 * terms / times.median);
            bench_end(row, KITH_DOUBLE, p.gpu, &times);
        } else {
            fprintf(stderr, "kith_bench: %s: wrong sums %s\n", name, kith_message(p.gpu));
        }
        problem_free(&p);
    }
    return ok;
}
