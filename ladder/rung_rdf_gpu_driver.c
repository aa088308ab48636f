/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of pair distributions on a GPU: all pairs under minimum image, from naive to fast,
 * with points in device memory. Rungs 1 to 3 compute distances in float: pairs may be in a bin next
 * to the right one. The counts of the library equal those of its CPU backend.
 *
 *   1  float atomics     a thread for each point, floats in device memory     rung_rdf_gpu.cu
 *   2  integer atomics   rung 1 with integers                                rung_rdf_gpu.cu
 *   3  private           a histogram for each block in shared memory         rung_rdf_gpu.cu
 *   4  mainline          kith_rdf_count                                     rung_rdf_gpu_mainline.c
 */
#include "ladder_driver.h"
#include "rung_rdf.h"
#include "rung_rdf_gpu.h"

#include <sets.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CHECKED = 20000, RUNGS = 4 };

static const struct way {
    const char *name;
    rung_rdf_gpu_count count;
} ways[RUNGS] = {
    {"1 float atomics", rung_rdf_gpu_float},
    {"2 integer atomics", rung_rdf_gpu_global},
    {"3 private, in shared memory", rung_rdf_gpu_shared},
    {"4 mainline: kith_rdf_count", rung_rdf_gpu_mainline},
};

/* A rung that is being timed. */
typedef struct job {
    rung_rdf_gpu_count count;
    const rung_rdf_gpu *in;
    int64_t *counts;
} job;

static bool do_job(void *user)
{
    const job *const j = user;
    return j->count(j->in, j->counts);
}

/* Count by the CPU backend. @return false on failure */
static bool count_on_cpu(const rung_rdf_gpu *in, int64_t *counts)
{
    kith_ctx *const ctx = ladder_open("ladder_rdf", "cpu", 1);
    const kith_points points = kith_points_packed(in->xyz, in->n, KITH_FLOAT);
    const kith_box box = kith_box_periodic(1, 1, 1);
    const bool ok = ctx && rung_rdf_ask(ctx, &points, &box, in->bins, in->r_max, counts);
    kith_close(ctx);
    return ok;
}

/* Return true when counts are right. @param exact  false: some pairs may be in an adjacent bin */
static bool is_right(const rung_rdf_gpu *in, bool exact, const int64_t *counts,
                     const int64_t *right)
{
    int64_t before = 0; /* surplus of pairs in the bins so far */
    for (int64_t k = 0; k < in->bins; k++) {
        before += counts[k] - right[k];
        const int64_t may = exact ? 0 : 3 + right[k] / 10;
        if (before > may || before < -may) {
            return false;
        }
    }
    return before == 0;
}

static bool check(const rung_rdf_gpu *all)
{
    rung_rdf_gpu in = *all;
    in.n = all->n < MOST_CHECKED ? all->n : MOST_CHECKED;
    const size_t bytes = (size_t)in.bins * sizeof(int64_t);
    int64_t *const right = malloc(bytes);
    int64_t *const counts = malloc(bytes);
    bool ok = right && counts && count_on_cpu(&in, right);
    for (int r = 0; ok && r < RUNGS; r++) {
        ok = ways[r].count(&in, counts) && is_right(&in, r == RUNGS - 1, counts, right);
        if (!ok) {
            fprintf(stderr, "ladder_rdf: rung \"%s\" is wrong\n", ways[r].name);
        }
    }
    free(right);
    free(counts);
    return ok;
}

static bool run_rungs(const rung_rdf_gpu *in)
{
    int64_t *const counts = malloc((size_t)in->bins * sizeof *counts);
    const double pairs = 0.5 * (double)in->n * (double)(in->n - 1);
    bool ok = counts != NULL;
    printf("\nall pairs on a GPU: %lld uniform points, %lld bins, median of %d\n%-30s %12s %14s "
           "%10s\n",
           (long long)in->n, (long long)in->bins, LADDER_REPEATS, "rung", "s", "billion/s", "lost");
    for (int r = 0; ok && r < RUNGS; r++) {
        job j = {ways[r].count, in, counts};
        double seconds;
        ok = do_job(&j) && ladder_time(do_job, &j, &seconds);
        double counted = 0;
        for (int64_t k = 0; ok && k < in->bins; k++) {
            counted += (double)counts[k];
        }
        if (ok) {
            printf("%-30s %12.6f %14.2f %9.2f%%\n", ways[r].name, seconds, 1e-9 * pairs / seconds,
                   100 * (pairs - counted) / pairs);
        }
    }
    free(counts);
    return ok;
}

bool rung_rdf_gpu_run_all(int64_t n, int64_t bins)
{
    rung_rdf_gpu in = {.ctx = ladder_open_gpu(),
                       .n = n,
                       .bins = bins,
                       .r_max = 0.8661}; /* beyond half the diagonal */
    if (!in.ctx) {
        return true;
    }
    double *const xyz = malloc((size_t)in.n * 3 * sizeof *xyz);
    float *const single = malloc((size_t)in.n * 3 * sizeof *single);
    bool ok = xyz && single;
    if (ok) {
        sets_uniform(xyz, in.n, 1);
        for (int64_t k = 0; k < 3 * in.n; k++) {
            single[k] = (float)xyz[k] < 1 ? (float)xyz[k] : 0;
        }
        in.xyz = single;
        ok = rung_rdf_gpu_put(&in) && check(&in) && run_rungs(&in);
        rung_rdf_gpu_free(&in);
    }
    if (!ok) {
        fprintf(stderr, "ladder_rdf: a GPU failed: %s\n", kith_message(in.ctx));
    }
    free(single);
    free(xyz);
    kith_close(in.ctx);
    return ok;
}
