/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of friends of friends: ways to group points on a CPU core and on a GPU, from naive to
 * fast. Each rung is checked, label for label, then timed beside the library.
 *
 *   1  all pairs       every distance: O(n^2), the oracle                  rung_fof_all_pairs.c
 *   2  kd-tree         median splits, walks without a stack, chains        rung_fof_tree.c
 *   3  cells           each point tests the points of 14 cells             rung_fof_cells.c
 *   4  mainline        subcells that are one group without a distance:     rung_fof_mainline.c
 *                      kith_fof_find
 *
 * On a GPU, from device memory to device memory:
 *
 *   5  all pairs       one thread per point tests all later points  rung_gpu_fof_all_pairs.cu
 *   6  kd-tree         rung 2: built by the CPU, searched by the GPU       rung_gpu_fof_tree.cu
 *   7  cells           one thread per point tests 14 cells                 rung_gpu_fof_cells.cu
 *   8  mainline        rung 4                                              rung_gpu_fof_mainline.c
 *
 *   ladder_fof [n] [b]     n points in the unit cube, uniform and in halos, linked at b times their
 *                          mean spacing; ladder_fof 1000000 0.2
 */
#include "ladder_driver.h"
#include "rung_gpu_fof.h"

#include <math.h>
#include <sets.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ALL_PAIRS = 20000, MOST_GPU_ALL_PAIRS = 200000, LEAST = 2, CPU_RUNGS = 4 };

static const rung_way cpu_rungs[CPU_RUNGS] = {
    {"1 all pairs", rung_fof_all_pairs},
    {"2 kd-tree and chains", rung_fof_tree},
    {"3 cells", rung_fof_cells},
    {"4 mainline: kith_fof_find", rung_fof_mainline},
};

/* The rungs that can run here: those of the CPU, then those of the GPU. */
typedef struct ladder {
    int n;
    kith_ctx *ctx;
    rung_gpu gpu;
} ladder;

static const rung_way *rung_at(int r)
{
    return r < CPU_RUNGS ? &cpu_rungs[r] : &rung_gpu_ways[r - CPU_RUNGS];
}

/* A rung that is being timed. */
typedef struct job {
    const rung_way *way;
    bool on_gpu;
    const rung_input *in;
    int64_t least;
    int32_t *labels; /* in host memory */
    int64_t scratch;
} job;

static bool do_job(void *user)
{
    job *const j = user;
    return j->way->find(j->in, j->least, j->on_gpu ? j->in->gpu->labels : j->labels, &j->scratch);
}

/* Run a rung once. @return false on failure, with a message printed */
static bool find_labels(job *j)
{
    const bool ok = do_job(j) &&
                    (!j->on_gpu || rung_gpu_get_labels(j->in->gpu, j->in->n, j->labels));
    if (!ok) {
        fprintf(stderr, "ladder_fof: rung \"%s\" failed: %s\n", j->way->name,
                kith_message(j->on_gpu ? j->in->gpu->ctx : j->in->ctx));
    }
    return ok;
}

/* Make the input of all rungs. @return false if device memory is exhausted */
static bool ask(ladder *l, const double *xyz, int64_t n, double cutoff, rung_input *in)
{
    *in = (rung_input){xyz, n, cutoff, l->ctx, l->n > CPU_RUNGS ? &l->gpu : NULL};
    return rung_gpu_put(in);
}

/* Compare the labels of a rung with the right labels. */
static bool is_right(const char *set, const job *j, const int32_t *right)
{
    for (int64_t p = 0; p < j->in->n; p++) {
        if (j->labels[p] != right[p]) {
            fprintf(stderr,
                    "ladder_fof: %s, cutoff %g: rung \"%s\" is wrong: point %lld is in %d, "
                    "expected %d\n",
                    set, j->in->cutoff, j->way->name, (long long)p, j->labels[p], right[p]);
            return false;
        }
    }
    return true;
}

/* Compare every rung with the first, including groups of one point. */
static bool check(void *user, const char *set, const double *xyz, int64_t n, double cutoff)
{
    ladder *const l = user;
    rung_input in;
    int32_t *const labels = calloc((size_t)n + 1, 2 * sizeof *labels);
    bool ok = labels && ask(l, xyz, n, cutoff, &in);
    for (int r = 0; ok && r < l->n; r++) {
        job j = {.way = rung_at(r), .on_gpu = r >= CPU_RUNGS, .in = &in, .least = 1};
        j.labels = labels + (r ? n : 0);
        ok = find_labels(&j) && is_right(set, &j, labels);
    }
    free(labels);
    return ok;
}

static void print_line(const char *name, const job *j, double seconds, double mainline)
{
    printf("%-30s %10.4f %12.2f %12.1f %10.1f\n", name, seconds, 1e-6 * (double)j->in->n / seconds,
           (double)j->scratch / (double)j->in->n, seconds / mainline);
}

/* Time rungs [first, last). The last is the library, to whose time the others are compared. */
static bool run_range(const char *set, const rung_input *in, int first, int last, int32_t *labels,
                      const int32_t *right)
{
    const bool on_gpu = first >= CPU_RUNGS;
    job j = {.way = rung_at(last - 1), .on_gpu = on_gpu, .in = in, .least = LEAST};
    double seconds, reference;
    j.labels = labels;
    if (!find_labels(&j) || !is_right(set, &j, right) || !ladder_time(do_job, &j, &reference)) {
        return false;
    }
    const job mainline = j;
    printf("%-30s %10s %12s %12s %10s\n", "", "time", "million", "scratch", "time");
    printf("%-30s %10s %12s %12s %10s\n", "rung", "s", "points/s", "B/point", "/ mainline");
    for (int r = first; r < last - 1; r++) {
        j.way = rung_at(r);
        if (r == first && in->n > (on_gpu ? MOST_GPU_ALL_PAIRS : MOST_ALL_PAIRS)) {
            printf("%-30s %10s\n", j.way->name, "(too slow)");
        } else if (!find_labels(&j)) {
            printf("%-30s %10s\n", j.way->name, "(no memory)");
        } else if (!is_right(set, &j, right) || !ladder_time(do_job, &j, &seconds)) {
            return false;
        } else {
            print_line(j.way->name, &j, seconds, reference);
        }
    }
    print_line(mainline.way->name, &mainline, reference, reference);
    puts("");
    return true;
}

/* Time all rungs. The library runs first; the labels of the others must equal its labels.
   labels: [2][n] */
static bool run_rungs(const ladder *l, const char *set, const rung_input *in, int32_t *labels)
{
    job mainline = {.way = &cpu_rungs[CPU_RUNGS - 1], .in = in, .least = LEAST, .labels = labels};
    if (!find_labels(&mainline)) {
        return false;
    }
    int32_t groups = 0;
    for (int64_t p = 0; p < in->n; p++) {
        groups = labels[p] > groups ? labels[p] : groups;
    }
    printf("%lld %s points, length %.3g, %d groups of %d or more, median of %d\n\n"
           "one thread, %s\n",
           (long long)in->n, set, in->cutoff, groups, LEAST, LADDER_REPEATS, kith_backend(l->ctx));
    if (!run_range(set, in, 0, CPU_RUNGS, labels + in->n, labels)) {
        return false;
    }
    if (l->n > CPU_RUNGS) {
        printf("%s, from device memory to device memory\n", kith_backend(l->gpu.ctx));
        return run_range(set, in, CPU_RUNGS, l->n, labels + in->n, labels);
    }
    return true;
}

int main(int argc, char **argv)
{
    static const struct set {
        const char *name;
        void (*make)(double *xyz, int64_t n, uint64_t seed);
    } sets[] = {{"uniform", sets_uniform}, {"clustered", sets_clustered}};
    const long long n = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000;
    const double b = argc > 2 ? strtod(argv[2], NULL) : 0.2;
    if (argc > 3 || n < 1 || n >= INT32_MAX || !(b > 0)) {
        fprintf(stderr, "usage: ladder_fof [n] [b]\n");
        return 2;
    }
    ladder l = {.n = CPU_RUNGS, .ctx = ladder_open("ladder_fof", "cpu", 1)};
    if (!l.ctx) {
        return 1;
    }
    l.n += rung_gpu_open(&l.gpu) ? rung_gpu_ways_n : 0;
    double *const xyz = malloc((size_t)n * 3 * sizeof *xyz);
    int32_t *const labels = malloc((size_t)n * 2 * sizeof *labels);
    bool ok = xyz && labels && ladder_hard_sets(check, &l);
    for (int s = 0; ok && s < 2; s++) {
        sets[s].make(xyz, n, 1);
        rung_input in;
        ok = ask(&l, xyz, n, b / cbrt((double)n), &in) && run_rungs(&l, sets[s].name, &in, labels);
    }
    if (!xyz || !labels) {
        fprintf(stderr, "ladder_fof: no memory for %lld points\n", n);
    }
    free(labels);
    free(xyz);
    if (l.n > CPU_RUNGS) {
        rung_gpu_close(&l.gpu);
    }
    kith_close(l.ctx);
    return ok ? 0 : 1;
}
