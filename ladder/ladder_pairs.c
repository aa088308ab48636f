/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of pair lists: the classic ways to a half neighbour list on a CPU core, from naive to
 * fast. Each rung is checked, then timed beside the library.
 *
 *   1  all pairs       every distance: O(n^2), the oracle                      rung_all_pairs.c
 *   2  linked cells    each point meets the points of 27 cells, i < j          rung_cells.c
 *   3  candidates      sort by cell, write all candidates of 14 cells with a   rung_candidates.c
 *                      flag, then compact: fast, but at a price in memory
 *   4  mainline        sort by cell, distances and compaction in registers:    rung_mainline.c
 *                      kith_pairs_find
 *
 *   ladder_pairs [n] [cutoff]      n uniform points in the unit cube; ladder_pairs 1000000 0.03
 */
#include "rung.h"

#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 5, MOST_ALL_PAIRS = 20000, RUNGS = 4 };

static const struct rung {
    const char *name;
    rung_find find;
} rungs[RUNGS] = {
    {"1 all pairs", rung_all_pairs},
    {"2 linked cells", rung_cells},
    {"3 candidates, then compaction", rung_candidates},
    {"4 mainline: kith_pairs_find", rung_mainline},
};

typedef struct result {
    bool done;
    double seconds; /* median */
    int64_t scratch, pairs;
    rung_hash hash;
} result;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Pairs as sorted numbers i * 2^32 + j. NULL without memory. */
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

/* Compare every rung with the first, pair by pair. */
static bool check_exactly(const char *set, const rung_input *in)
{
    uint64_t *oracle = NULL;
    int64_t n = 0, scratch;
    bool ok = true;
    for (int r = 0; ok && r < RUNGS; r++) {
        kith_pairs list = {0};
        uint64_t *keys = NULL;
        ok = rungs[r].find(in, &list, &scratch) && (keys = sorted_keys(&list));
        if (!ok) {
            fprintf(stderr, "ladder_pairs: rung \"%s\" failed: %s\n", rungs[r].name,
                    kith_message(in->ctx));
        } else if (r == 0) {
            oracle = keys;
            n = list.n;
            keys = NULL;
        } else if (list.n != n || memcmp(keys, oracle, (size_t)n * sizeof *keys) != 0) {
            fprintf(stderr,
                    "ladder_pairs: %s, cutoff %g: rung \"%s\" is wrong: %lld pairs, "
                    "the oracle %lld\n",
                    set, in->cutoff, rungs[r].name, (long long)list.n, (long long)n);
            ok = false;
        }
        free(keys);
        rung_free(&list);
    }
    free(oracle);
    return ok;
}

/* Sets that are hard in different ways. In the lattice many distances are the cutoff but for
 * rounding: the definition alone decides. */
static bool check_all(kith_ctx *ctx)
{
    enum { N = 2000 };
    double *const xyz = malloc((size_t)N * 3 * sizeof *xyz);
    if (!xyz) {
        return false;
    }
    sets_uniform(xyz, N, 1);
    bool ok = true;
    for (int k = 1; ok && k <= 5; k++) {
        ok = check_exactly("uniform", &(rung_input){xyz, N, 0.02 * k * k * k, ctx});
    }
    for (int64_t n = 0; ok && n < 4; n++) {
        ok = check_exactly("few", &(rung_input){xyz, n, 0.5, ctx});
    }
    const int64_t n = sets_lattice(xyz, N, 1);
    for (int m = 1; ok && m <= 3; m++) {
        ok = check_exactly("lattice", &(rung_input){xyz, n, m / 12.0, ctx});
    }
    sets_clustered(xyz, N, 2);
    ok = ok && check_exactly("clustered", &(rung_input){xyz, N, 0.02, ctx});
    free(xyz);
    return ok;
}

/* The first call makes the list and is checked; the repeats reuse its memory and are timed. */
static bool measure(const struct rung *rung, const rung_input *in, result *out)
{
    kith_pairs list = {0};
    double seconds[REPEATS];
    bool ok = rung->find(in, &list, &out->scratch);
    for (int64_t p = 0; ok && p < list.n; p++) {
        rung_hash_add(&out->hash, list.i[p], list.j[p]);
    }
    for (int r = 0; ok && r < REPEATS; r++) {
        const double start = now();
        ok = rung->find(in, &list, &out->scratch);
        seconds[r] = now() - start;
    }
    if (ok) {
        qsort(seconds, REPEATS, sizeof *seconds, compare_doubles);
        out->seconds = seconds[REPEATS / 2];
        out->pairs = list.n;
    }
    rung_free(&list);
    return out->done = ok;
}

static bool agree(const result results[RUNGS])
{
    const result *const mainline = &results[RUNGS - 1];
    for (int r = 0; r < RUNGS - 1; r++) {
        if (results[r].done &&
            (results[r].pairs != mainline->pairs ||
             memcmp(&results[r].hash, &mainline->hash, sizeof(rung_hash)) != 0)) {
            fprintf(stderr, "ladder_pairs: rung \"%s\" and the mainline differ: %lld, %lld pairs\n",
                    rungs[r].name, (long long)results[r].pairs, (long long)mainline->pairs);
            return false;
        }
    }
    return true;
}

static void print_table(const rung_input *in, const result results[RUNGS])
{
    const result *const mainline = &results[RUNGS - 1];
    const double list_bytes = (double)mainline->pairs * 2 * sizeof(int32_t);
    printf("%lld uniform points, cutoff %g, %lld pairs, one thread, %s, median of %d\n\n",
           (long long)in->n, in->cutoff, (long long)mainline->pairs, kith_backend(in->ctx),
           REPEATS);
    printf("%-30s %10s %12s %12s %10s %10s\n", "", "time", "million", "scratch", "scratch", "time");
    printf("%-30s %10s %12s %12s %10s %10s\n", "rung", "s", "pairs/s", "MB", "/ list",
           "/ mainline");
    for (int r = 0; r < RUNGS; r++) {
        if (!results[r].done) {
            printf("%-30s %10s\n", rungs[r].name,
                   rungs[r].find == rung_all_pairs ? "(too slow)" : "(no memory)");
            continue;
        }
        printf("%-30s %10.4f %12.1f %12.1f %10.2f %10.1f\n", rungs[r].name, results[r].seconds,
               1e-6 * (double)results[r].pairs / results[r].seconds,
               1e-6 * (double)results[r].scratch, (double)results[r].scratch / list_bytes,
               results[r].seconds / mainline->seconds);
    }
}

static int climb(const rung_input *in)
{
    result results[RUNGS] = {{0}};
    for (int r = 0; r < RUNGS; r++) {
        if (rungs[r].find != rung_all_pairs || in->n <= MOST_ALL_PAIRS) {
            measure(&rungs[r], in, &results[r]);
        }
    }
    if (!results[RUNGS - 1].done) {
        fprintf(stderr, "ladder_pairs: %s\n", kith_message(in->ctx));
        return 1;
    }
    if (!agree(results)) {
        return 1;
    }
    print_table(in, results);
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
    kith_options options;
    kith_options_init(&options);
    options.backend = "cpu";
    options.threads = 1;
    kith_ctx *ctx = NULL;
    if (kith_open(&options, &ctx) != KITH_OK) {
        fprintf(stderr, "ladder_pairs: %s\n", kith_message(NULL));
        return 1;
    }
    double *const xyz = malloc((size_t)n * 3 * sizeof *xyz);
    int status = 1;
    if (!xyz) {
        fprintf(stderr, "ladder_pairs: no memory for %lld points\n", n);
    } else if (check_all(ctx)) {
        sets_uniform(xyz, n, 1);
        status = climb(&(rung_input){xyz, n, cutoff, ctx});
    }
    free(xyz);
    kith_close(ctx);
    return status;
}
