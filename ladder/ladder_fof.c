/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of friends of friends: ways to group points on a CPU core, from naive to fast. Each
 * rung is checked, label for label, then timed beside the library.
 *
 *   1  all pairs       every distance: O(n^2), the oracle                  rung_fof_all_pairs.c
 *   2  kd-tree         median splits, walks without a stack, chains        rung_fof_tree.c
 *   3  cells           each point meets the points of 14 cells             rung_fof_cells.c
 *   4  mainline        parts that are one group without a distance:        rung_fof_mainline.c
 *                      kith_fof_find
 *
 *   ladder_fof [n] [b]     n points in the unit cube, uniform and in halos, linked at b times their
 *                          mean spacing; ladder_fof 1000000 0.2
 */
#include "climb.h"
#include "rung_fof.h"

#include <math.h>
#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ALL_PAIRS = 20000, LEAST = 2, RUNGS = 4 };

static const struct way {
    const char *name;
    rung_label find;
} ways[RUNGS] = {
    {"1 all pairs", rung_fof_all_pairs},
    {"2 kd-tree and chains", rung_fof_tree},
    {"3 cells", rung_fof_cells},
    {"4 mainline: kith_fof_find", rung_fof_mainline},
};

/* A rung at work. */
typedef struct job {
    rung_label find;
    const rung_input *in;
    int64_t least;
    int32_t *labels;
    int64_t scratch;
} job;

static bool do_job(void *user)
{
    job *const j = user;
    return j->find(j->in, j->least, j->labels, &j->scratch);
}

/* Compare the labels of a rung with those that are right. */
static bool is_right(const char *set, const job *j, const char *name, const int32_t *right)
{
    for (int64_t p = 0; p < j->in->n; p++) {
        if (j->labels[p] != right[p]) {
            fprintf(stderr,
                    "ladder_fof: %s, cutoff %g: rung \"%s\" is wrong: point %lld is in %d, "
                    "expected %d\n",
                    set, j->in->cutoff, name, (long long)p, j->labels[p], right[p]);
            return false;
        }
    }
    return true;
}

/* Compare every rung with the first, groups of one point included. */
static bool check(void *user, const char *set, const double *xyz, int64_t n, double cutoff)
{
    const rung_input in = {.xyz = xyz, .n = n, .cutoff = cutoff, .ctx = user};
    int32_t *const labels = calloc((size_t)n + 1, 2 * sizeof *labels);
    bool ok = labels;
    for (int r = 0; ok && r < RUNGS; r++) {
        job j = {.find = ways[r].find, .in = &in, .least = 1, .labels = labels + (r ? n : 0)};
        ok = do_job(&j);
        if (!ok) {
            fprintf(stderr, "ladder_fof: rung \"%s\" failed: %s\n", ways[r].name,
                    kith_message(in.ctx));
        }
        ok = ok && is_right(set, &j, ways[r].name, labels);
    }
    free(labels);
    return ok;
}

static void print_line(const char *name, const job *j, double seconds, double mainline)
{
    printf("%-30s %10.4f %12.2f %12.1f %10.1f\n", name, seconds, 1e-6 * (double)j->in->n / seconds,
           (double)j->scratch / (double)j->in->n, seconds / mainline);
}

/* The mainline first, whose labels and time the others are held to. labels: [2][n] */
static bool climb(const char *set, const rung_input *in, int32_t *labels)
{
    const int32_t *const right = labels;
    job mainline = {.find = ways[RUNGS - 1].find, .in = in, .least = LEAST};
    mainline.labels = labels;
    double seconds, reference;
    if (!do_job(&mainline) || !climb_time(do_job, &mainline, &reference)) {
        fprintf(stderr, "ladder_fof: %s\n", kith_message(in->ctx));
        return false;
    }
    int32_t groups = 0;
    for (int64_t p = 0; p < in->n; p++) {
        groups = right[p] > groups ? right[p] : groups;
    }
    printf("%lld %s points, length %.3g, %d groups of %d or more, one thread, %s, median of %d\n\n",
           (long long)in->n, set, in->cutoff, groups, LEAST, kith_backend(in->ctx), CLIMB_REPEATS);
    printf("%-30s %10s %12s %12s %10s\n", "", "time", "million", "scratch", "time");
    printf("%-30s %10s %12s %12s %10s\n", "rung", "s", "points/s", "B/point", "/ mainline");
    for (int r = 0; r < RUNGS - 1; r++) {
        job j = {.find = ways[r].find, .in = in, .least = LEAST, .labels = labels + in->n};
        if (j.find == rung_fof_all_pairs && in->n > MOST_ALL_PAIRS) {
            printf("%-30s %10s\n", ways[r].name, "(too slow)");
        } else if (!do_job(&j)) {
            printf("%-30s %10s\n", ways[r].name, "(no memory)");
        } else if (!is_right(set, &j, ways[r].name, right) || !climb_time(do_job, &j, &seconds)) {
            return false;
        } else {
            print_line(ways[r].name, &j, seconds, reference);
        }
    }
    print_line(ways[RUNGS - 1].name, &mainline, reference, reference);
    puts("");
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
    kith_ctx *const ctx = climb_open("ladder_fof");
    double *const xyz = malloc((size_t)n * 3 * sizeof *xyz);
    int32_t *const labels = malloc((size_t)n * 2 * sizeof *labels);
    bool ok = ctx && xyz && labels && climb_hard_sets(check, ctx);
    for (int s = 0; ok && s < 2; s++) {
        sets[s].make(xyz, n, 1);
        const rung_input in = {.xyz = xyz, .n = n, .cutoff = b / cbrt((double)n), .ctx = ctx};
        ok = climb(sets[s].name, &in, labels);
    }
    if (ctx && (!xyz || !labels)) {
        fprintf(stderr, "ladder_fof: no memory for %lld points\n", n);
    }
    free(labels);
    free(xyz);
    kith_close(ctx);
    return ok ? 0 : 1;
}
