/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of pair lists: the classic ways to a half neighbour list on a CPU core and on a GPU,
 * from naive to fast. Each rung is checked, then timed beside the library.
 *
 *   1  all pairs       every distance: O(n^2), the oracle                      rung_all_pairs.c
 *   2  linked cells    each point tests the points of 27 cells, i < j          rung_cells.c
 *   3  candidates      sort by cell, write all candidates of 14 cells with a   rung_candidates.c
 *                      flag, then compact: fast, but at a price in memory
 *   4  mainline        sort by cell, distances and compaction in registers:    rung_mainline.c
 *                      kith_pairs_find
 *
 * On a GPU, from device memory to device memory:
 *
 *   5  threads         one thread per point tests 14 cells                     rung_gpu_threads.cu
 *   6  candidates      rung 3, with equal work for all threads in each step rung_gpu_candidates.cu
 *   7  mainline        a warp tests candidates against adjacent points, and    rung_gpu_mainline.c
 *                      packs hits in shared memory: kith_pairs_fill
 *   8                  rung 7 in one pass, with the pairs in any order
 *
 *   ladder_pairs [n] [cutoff]      n uniform points in the unit cube; ladder_pairs 1000000 0.03
 */
#include "ladder_driver.h"
#include "rung_gpu.h"
#include "rung_hash.h"

#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ALL_PAIRS = 20000, CPU_RUNGS = 4, MOST_RUNGS = 8 };

static const rung cpu_rungs[CPU_RUNGS] = {
    {"1 all pairs", rung_all_pairs},
    {"2 linked cells", rung_cells},
    {"3 candidates, then compaction", rung_candidates},
    {"4 mainline: kith_pairs_find", rung_mainline},
};

/* The rungs that can run here: those of the CPU, then those of the GPU. */
typedef struct ladder {
    int n;
    kith_ctx *ctx;
    rung_gpu gpu;
} ladder;

static const rung *rung_at(int r)
{
    return r < CPU_RUNGS ? &cpu_rungs[r] : &rung_gpu_rungs[r - CPU_RUNGS];
}

typedef struct result {
    bool done;
    double seconds; /* median */
    int64_t scratch, pairs;
    rung_hash hash;
} result;

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Make a sorted array of i * 2^32 + j of all pairs. @return NULL: memory is exhausted */
static uint64_t *sorted_keys(const kith_pairs *list)
{
    uint64_t *const keys = malloc(((size_t)list->n + 1) * sizeof *keys);
    for (int64_t p = 0; keys && p < list->n; p++) {
        keys[p] = (uint64_t)(uint32_t)list->i[p] << 32 | (uint32_t)list->j[p];
    }
    if (keys) {
        qsort(keys, (size_t)list->n, sizeof *keys, compare_keys);
    }
    return keys;
}

/* Make the input of all rungs. @return false if device memory is exhausted */
static bool ask(ladder *l, const double *xyz, int64_t n, double cutoff, rung_input *in)
{
    *in = (rung_input){xyz, n, cutoff, l->ctx, l->n > CPU_RUNGS ? &l->gpu : NULL};
    return rung_gpu_put(in);
}

/* Compare every rung with the first, pair by pair. */
static bool check_exactly(void *user, const char *set, const double *xyz, int64_t points,
                          double cutoff)
{
    ladder *const l = user;
    uint64_t *oracle = NULL;
    int64_t n = 0, scratch;
    rung_input in;
    bool ok = ask(l, xyz, points, cutoff, &in);
    for (int r = 0; ok && r < l->n; r++) {
        kith_pairs list = {0};
        uint64_t *keys = NULL;
        ok = rung_at(r)->find(&in, &list, &scratch);
        ok = rung_gpu_get(&list) && ok && (keys = sorted_keys(&list));
        if (!ok) {
            fprintf(stderr, "ladder_pairs: rung \"%s\" failed: %s\n", rung_at(r)->name,
                    kith_message(r < CPU_RUNGS ? l->ctx : l->gpu.ctx));
        } else if (r == 0) {
            oracle = keys;
            n = list.n;
            keys = NULL;
        } else if (list.n != n || memcmp(keys, oracle, (size_t)n * sizeof *keys) != 0) {
            fprintf(stderr,
                    "ladder_pairs: %s, cutoff %g: rung \"%s\" is wrong: %lld pairs, "
                    "the oracle %lld\n",
                    set, cutoff, rung_at(r)->name, (long long)list.n, (long long)n);
            ok = false;
        }
        free(keys);
        rung_free(&list);
    }
    free(oracle);
    return ok;
}

/* A rung that is being timed. */
typedef struct job {
    rung_find find;
    const rung_input *in;
    kith_pairs list;
    int64_t scratch;
} job;

static bool do_job(void *user)
{
    job *const j = user;
    return j->find(j->in, &j->list, &j->scratch);
}

/* Time a rung. The first call, which allocates the list, is not timed. */
static bool measure(const rung *way, const rung_input *in, result *out)
{
    job j = {.find = way->find, .in = in};
    bool ok = do_job(&j) && ladder_time(do_job, &j, &out->seconds);
    ok = rung_gpu_get(&j.list) && ok;
    for (int64_t p = 0; ok && p < j.list.n; p++) {
        rung_hash_add(&out->hash, j.list.i[p], j.list.j[p]);
    }
    out->scratch = j.scratch;
    out->pairs = j.list.n;
    rung_free(&j.list);
    return out->done = ok;
}

static bool agree(const ladder *l, const result results[MOST_RUNGS])
{
    const result *const mainline = &results[CPU_RUNGS - 1];
    for (int r = 0; r < l->n; r++) {
        if (results[r].done &&
            (results[r].pairs != mainline->pairs ||
             memcmp(&results[r].hash, &mainline->hash, sizeof(rung_hash)) != 0)) {
            fprintf(stderr, "ladder_pairs: rung \"%s\" and the mainline differ: %lld, %lld pairs\n",
                    rung_at(r)->name, (long long)results[r].pairs, (long long)mainline->pairs);
            return false;
        }
    }
    return true;
}

/* Time rungs [first, last), and compare them with the library, which is one of them. */
static void print_table(const result results[MOST_RUNGS], int first, int last,
                        const result *mainline)
{
    const double list_bytes = (double)mainline->pairs * 2 * sizeof(int32_t);
    printf("%-30s %10s %12s %12s %10s %10s\n", "", "time", "million", "scratch", "scratch", "time");
    printf("%-30s %10s %12s %12s %10s %10s\n", "rung", "s", "pairs/s", "MB", "/ list",
           "/ mainline");
    for (int r = first; r < last; r++) {
        if (!results[r].done) {
            printf("%-30s %10s\n", rung_at(r)->name,
                   rung_at(r)->find == rung_all_pairs ? "(too slow)" : "(no memory)");
            continue;
        }
        printf("%-30s %10.6f %12.1f %12.1f %10.2f %10.1f\n", rung_at(r)->name, results[r].seconds,
               1e-6 * (double)results[r].pairs / results[r].seconds,
               1e-6 * (double)results[r].scratch, (double)results[r].scratch / list_bytes,
               results[r].seconds / mainline->seconds);
    }
}

static void print_tables(const ladder *l, const rung_input *in, const result results[MOST_RUNGS])
{
    const result *const mainline = &results[CPU_RUNGS - 1];
    const result *const on_gpu = &results[CPU_RUNGS + rung_gpu_mainline];
    printf("%lld uniform points, cutoff %g, %lld pairs, median of %d\n\none thread, %s\n",
           (long long)in->n, in->cutoff, (long long)mainline->pairs, LADDER_REPEATS,
           kith_backend(l->ctx));
    print_table(results, 0, CPU_RUNGS, mainline);
    if (l->n > CPU_RUNGS && on_gpu->done) {
        printf("\n%s, from device memory to device memory\n", kith_backend(l->gpu.ctx));
        print_table(results, CPU_RUNGS, l->n, on_gpu);
    }
}

static int run_rungs(const ladder *l, const rung_input *in)
{
    result results[MOST_RUNGS] = {{0}};
    for (int r = 0; r < l->n; r++) {
        if (rung_at(r)->find != rung_all_pairs || in->n <= MOST_ALL_PAIRS) {
            measure(rung_at(r), in, &results[r]);
        }
    }
    if (!results[CPU_RUNGS - 1].done) {
        fprintf(stderr, "ladder_pairs: %s\n", kith_message(in->ctx));
        return 1;
    }
    if (!agree(l, results)) {
        return 1;
    }
    print_tables(l, in, results);
    return 0;
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000;
    const double cutoff = argc > 2 ? strtod(argv[2], NULL) : 0.1;
    if (argc > 3 || n < 1 || n > INT32_MAX || !(cutoff > 0)) {
        fprintf(stderr, "usage: ladder_pairs [n] [cutoff]\n");
        return 2;
    }
    ladder l = {.n = CPU_RUNGS, .ctx = ladder_open("ladder_pairs", "cpu", 1)};
    if (!l.ctx) {
        return 1;
    }
    l.n += rung_gpu_open(&l.gpu) ? rung_gpu_n : 0;
    double *const xyz = malloc((size_t)n * 3 * sizeof *xyz);
    int status = 1;
    if (!xyz) {
        fprintf(stderr, "ladder_pairs: no memory for %lld points\n", n);
    } else if (ladder_hard_sets(check_exactly, &l)) {
        rung_input in;
        sets_uniform(xyz, n, 1);
        status = ask(&l, xyz, n, cutoff, &in) ? run_rungs(&l, &in) : 1;
    }
    free(xyz);
    if (l.n > CPU_RUNGS) {
        rung_gpu_close(&l.gpu);
    }
    kith_close(l.ctx);
    return status;
}
