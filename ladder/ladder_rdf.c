/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of pair distributions: ways to count pairs by distance on a CPU core, from naive to
 * fast. Each rung is checked, bin for bin, then timed beside the library.
 *
 *   1  floats          every distance, a histogram of floats: O(n^2), and      rung_rdf_float.c
 *                      wrong from 2^24 pairs in a bin on
 *   2  all pairs       rung 1 with integers: the oracle                        rung_rdf_all_pairs.c
 *   3  cells           each point tests the points of 14 cells; private        rung_rdf_cells.c
 *                      histograms
 *   4  mainline        hits packed, bins found and counted in vectors:         rung_rdf_mainline.c
 *                      kith_rdf_count
 *
 * On a GPU four more, of all pairs: rung_rdf_gpu_driver.c.
 *
 *   ladder_rdf [n] [cutoff] [bins]   n uniform points in the unit cube; ladder_rdf 1000000 0.033
 */
#include "ladder_driver.h"
#include "rung_rdf.h"
#include "rung_rdf_gpu.h"

#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ALL_PAIRS = 20000, MOST_BINS = 1 << 20, ORACLE = 1, RUNGS = 4 };
enum { MOST_ON_GPU = 100000, MOST_GPU_BINS = 8192 };

static const struct way {
    const char *name;
    bool all_pairs;
    rung_count count;
} ways[RUNGS] = {
    {"1 all pairs, floats", true, rung_rdf_float},
    {"2 all pairs, whole numbers", true, rung_rdf_all_pairs},
    {"3 cells, private histograms", false, rung_rdf_cells},
    {"4 mainline: kith_rdf_count", false, rung_rdf_mainline},
};

/* A rung that is being timed. */
typedef struct job {
    const struct way *way;
    const rung_input *in;
    rung_bins bins;
    int64_t *counts; /* [bins.n] */
    int64_t scratch;
} job;

static bool job_make(job *j, const rung_input *in, int32_t bins)
{
    *j = (job){.in = in};
    const bool ok = rung_bins_make(&j->bins, bins, in->cutoff);
    j->counts = calloc((size_t)bins, sizeof *j->counts);
    return ok && j->counts;
}

static void job_free(job *j)
{
    free(j->bins.edge2);
    free(j->counts);
}

static bool do_job(void *user)
{
    job *const j = user;
    return j->way->count(j->in, &j->bins, j->counts, &j->scratch);
}

/* Run a job. @return false on failure, with a message printed */
static bool try_job(job *j, int r)
{
    j->way = &ways[r];
    if (do_job(j)) {
        return true;
    }
    fprintf(stderr, "ladder_rdf: rung \"%s\" failed: %s\n", j->way->name, kith_message(j->in->ctx));
    return false;
}

/* Compare the counts of a rung with the right counts. */
static bool is_right(const char *set, const job *j, const int64_t *right)
{
    for (int32_t k = 0; k < j->bins.n; k++) {
        if (j->counts[k] != right[k]) {
            fprintf(stderr,
                    "ladder_rdf: %s, cutoff %g: rung \"%s\" is wrong: bin %d holds %lld, "
                    "expected %lld\n",
                    set, j->in->cutoff, j->way->name, k, (long long)j->counts[k],
                    (long long)right[k]);
            return false;
        }
    }
    return true;
}

/* Compare every rung with the oracle. */
static bool check(void *user, const char *set, const double *xyz, int64_t n, double cutoff)
{
    enum { BINS = 60 };
    const rung_input in = {.xyz = xyz, .n = n, .cutoff = cutoff, .ctx = user};
    int64_t right[BINS];
    job j;
    bool ok = job_make(&j, &in, BINS) && try_job(&j, ORACLE);
    if (ok) {
        memcpy(right, j.counts, sizeof right);
    }
    for (int r = 0; ok && r < RUNGS; r++) {
        ok = try_job(&j, r) && is_right(set, &j, right);
    }
    job_free(&j);
    return ok;
}

/* Check coincident points with more pairs than a float can count: rung 1 alone must be wrong. */
static bool show_overflow(kith_ctx *ctx)
{
    enum { N = 5900, FLOAT_STOPS = 1 << 24 };
    double *const xyz = calloc((size_t)N, 3 * sizeof *xyz);
    const rung_input in = {.xyz = xyz, .n = N, .cutoff = 1, .ctx = ctx};
    const int64_t pairs = (int64_t)N * (N - 1) / 2;
    job j;
    bool ok = job_make(&j, &in, 1) && xyz;
    for (int r = 0; ok && r < RUNGS; r++) {
        const int64_t right = r < ORACLE ? FLOAT_STOPS : pairs;
        ok = try_job(&j, r) && is_right("one place", &j, &right);
    }
    if (ok) {
        printf("%lld pairs in one bin: floats stop at 2^24 = %d, whole numbers do not\n\n",
               (long long)pairs, FLOAT_STOPS);
    }
    job_free(&j);
    free(xyz);
    return ok;
}

static void print_line(const job *j, int64_t pairs, double seconds, double mainline)
{
    printf("%-30s %10.4f %12.1f %12.1f %10.1f\n", j->way->name, seconds,
           1e-6 * (double)pairs / seconds, (double)j->scratch / (double)j->in->n,
           seconds / mainline);
}

/* Time all rungs. The library runs first; the others are compared with its counts and time. */
static bool run_rungs(const rung_input *in, int32_t bins)
{
    job mainline, j;
    double seconds, reference;
    int64_t pairs = 0;
    bool ok = job_make(&mainline, in, bins);
    ok = job_make(&j, in, bins) && ok && try_job(&mainline, RUNGS - 1) &&
         ladder_time(do_job, &mainline, &reference);
    for (int32_t k = 0; ok && k < bins; k++) {
        pairs += mainline.counts[k];
    }
    if (ok) {
        printf("%lld uniform points, cutoff %.3g, %lld pairs, %d bins, one thread, %s, median of "
               "%d\n\n",
               (long long)in->n, in->cutoff, (long long)pairs, bins, kith_backend(in->ctx),
               LADDER_REPEATS);
        printf("%-30s %10s %12s %12s %10s\n", "", "time", "million", "scratch", "time");
        printf("%-30s %10s %12s %12s %10s\n", "rung", "s", "pairs/s", "B/point", "/ mainline");
    }
    for (int r = 0; ok && r < RUNGS - 1; r++) {
        if (ways[r].all_pairs && in->n > MOST_ALL_PAIRS) {
            printf("%-30s %10s\n", ways[r].name, "(too slow)");
            continue;
        }
        ok = try_job(&j, r) && is_right("uniform", &j, mainline.counts) &&
             ladder_time(do_job, &j, &seconds);
        if (ok) {
            print_line(&j, pairs, seconds, reference);
        }
    }
    if (ok) {
        print_line(&mainline, pairs, reference, reference);
    }
    job_free(&j);
    job_free(&mainline);
    return ok;
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000;
    const double cutoff = argc > 2 ? strtod(argv[2], NULL) : 0.1;
    const long bins = argc > 3 ? strtol(argv[3], NULL, 10) : 200;
    if (argc > 4 || n < 1 || n >= INT32_MAX || !(cutoff > 0) || bins < 1 || bins > MOST_BINS) {
        fprintf(stderr, "usage: ladder_rdf [n] [cutoff] [bins]\n");
        return 2;
    }
    kith_ctx *const ctx = ladder_open("ladder_rdf", "cpu", 1);
    double *const xyz = malloc((size_t)n * 3 * sizeof *xyz);
    bool ok = ctx && xyz && ladder_hard_sets(check, ctx) && show_overflow(ctx);
    if (ok) {
        sets_uniform(xyz, n, 1);
        const rung_input in = {.xyz = xyz, .n = n, .cutoff = cutoff, .ctx = ctx};
        ok = run_rungs(&in, (int32_t)bins) &&
             rung_rdf_gpu_run_all(n < MOST_ON_GPU ? n : MOST_ON_GPU,
                                  bins < MOST_GPU_BINS ? bins : MOST_GPU_BINS);
    }
    if (ctx && !xyz) {
        fprintf(stderr, "ladder_rdf: no memory for %lld points\n", n);
    }
    free(xyz);
    kith_close(ctx);
    return ok ? 0 : 1;
}
