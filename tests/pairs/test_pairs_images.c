/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A cutoff of many boxes: the pairs are those of the definition, in every kind of list, and memory
 * does not grow with the number of images; a sorted list, which needs it, is refused with a message
 * that says how much it would take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "points.h"

enum { N = 4, REACH = 32 };

static const double cutoff = REACH - 0.5;

/** Number of entries of each particle in the full list, by the definition. */
static void count_by_definition(const double *xyz, int64_t entries[N])
{
    memset(entries, 0, N * sizeof *entries);
    for (int at = 0; at < N * N; at++) {
        const double *a = xyz + (ptrdiff_t)3 * (at / N), *b = xyz + (ptrdiff_t)3 * (at % N);
        for (int z = -REACH; z <= REACH; z++) {
            for (int y = -REACH; y <= REACH; y++) {
                for (int x = -REACH; x <= REACH; x++) {
                    const double dx = (b[0] - a[0]) + x, dy = (b[1] - a[1]) + y;
                    const double dz = (b[2] - a[2]) + z;
                    const int self = at / N == at % N && x == 0 && y == 0 && z == 0;
                    entries[at / N] += !self && (dx * dx + dy * dy) + dz * dz <= cutoff * cutoff;
                }
            }
        }
    }
}

/** Entries of each particle in a list, and a sum that depends on every pair of it. */
typedef struct tally {
    int64_t entries[N];
    double vectors[3], lengths;
    int32_t last[5];  /**< the last entry: i, j, Sc, Sb, Sa, by which sorted lists ascend */
    int64_t descents; /**< entries of a sorted list that are not above the one before */
} tally;

static int add_block(void *user, const kith_pairs *block, int64_t first)
{
    tally *t = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const double *d = (const double *)block->vectors + 3 * p;
        t->entries[block->i[p]]++;
        t->lengths += ((const double *)block->distances)[p];
        for (int k = 0; k < 3; k++) {
            t->vectors[k] += d[k] + block->shifts[3 * p + k];
        }
    }
    return 0;
}

static int add_sorted_block(void *user, const kith_pairs *block, int64_t first)
{
    tally *t = user;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t *s = block->shifts + 3 * p;
        const int32_t now[5] = {block->i[p], block->j[p], s[2], s[1], s[0]};
        int k = 0;
        while (k < 4 && now[k] == t->last[k]) {
            k++;
        }
        t->descents += now[k] <= t->last[k];
        memcpy(t->last, now, sizeof now);
    }
    return add_block(user, block, first);
}

static void check_lists(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                        const int64_t entries[N])
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = 1;
    int64_t total = 0, n = 0, neighbours[N];
    for (int p = 0; p < N; p++) {
        total += entries[p];
    }
    CHECK(kith_pairs_count(ctx, points, box, cutoff, &options, &n, NULL) == KITH_OK && n == total,
          "%lld pairs, expected %lld", (long long)n, (long long)total);
    CHECK(kith_pairs_count(ctx, points, box, cutoff, &options, &n, neighbours) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(memcmp(neighbours, entries, sizeof neighbours) == 0, "other neighbours");
    kith_pairs csr = {0};
    options.layout = KITH_CSR;
    CHECK(kith_pairs_find(ctx, points, box, cutoff, &options, &csr) == KITH_OK, "%s",
          kith_message(ctx));
    for (int p = 0; p < N && csr.offsets; p++) {
        CHECK(csr.offsets[p + 1] - csr.offsets[p] == entries[p], "row %d", p);
        int64_t of[N] = {0};
        for (int64_t at = csr.offsets[p]; at < csr.offsets[p + 1]; at++) {
            of[csr.j[at]]++;
        }
        for (int other = 0; other < p; other++) { /* as many from either end */
            int64_t back = 0;
            for (int64_t at = csr.offsets[other]; at < csr.offsets[other + 1]; at++) {
                back += csr.j[at] == p;
            }
            CHECK(back == of[other], "%d and %d: %lld, %lld", p, other, (long long)back,
                  (long long)of[other]);
        }
    }
    kith_pairs_free(&csr);
    options.layout = KITH_IJ;
    options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    tally streamed = {.lengths = 0}, sorted = {.last = {-1}};
    CHECK(kith_pairs_each(ctx, points, box, cutoff, &options, add_block, &streamed) == KITH_OK,
          "%s", kith_message(ctx));
    options.sorted = 1;
    CHECK(kith_pairs_each(ctx, points, box, cutoff, &options, add_sorted_block, &sorted) == KITH_OK,
          "%s", kith_message(ctx));
    CHECK(sorted.descents == 0, "%lld entries of the sorted list are out of order",
          (long long)sorted.descents);
    CHECK(memcmp(streamed.entries, entries, sizeof streamed.entries) == 0, "streamed rows differ");
    CHECK(memcmp(sorted.entries, entries, sizeof sorted.entries) == 0, "sorted rows differ");
    const double off = streamed.lengths / sorted.lengths - 1;
    CHECK(off > -1e-9 && off < 1e-9, "lengths differ by %g", off);
    for (int k = 0; k < 3; k++) { /* (i, j, S) and (j, i, -S) cancel */
        CHECK(streamed.vectors[k] > -1e-3 && streamed.vectors[k] < 1e-3, "sum of vectors %g",
              streamed.vectors[k]);
    }
}

static void check_histogram(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const int64_t entries[N])
{
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.r_max = cutoff;
    kith_histogram h = {0};
    CHECK(kith_rdf_count(ctx, points, box, &options, &h) == KITH_OK, "%s", kith_message(ctx));
    int64_t counted = 0, total = 0;
    for (int64_t k = 0; k < h.bins; k++) {
        counted += h.counts[k];
    }
    for (int p = 0; p < N; p++) {
        total += entries[p];
    }
    CHECK(2 * counted == total, "%lld pairs, expected %lld", (long long)counted,
          (long long)total / 2);
    kith_histogram_free(&h);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(KITH_THREAD_SANITIZER)
/** 3 x 10^7 images in 1 GB of address space beyond what there is. */
static void check_memory(kith_ctx *ctx, const double *xyz, const kith_box *box)
{
    const double far = 200, half = 200.0 * 200 * 200 * 4 / 3 * 3.14159265;
    const kith_points one = kith_points_packed(xyz, 1, KITH_DOUBLE);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    long long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%lld", &pages) != 1) {
        pages = 1 << 18;
    }
    if (statm) {
        fclose(statm);
    }
    const rlim_t room = (rlim_t)pages * 4096 + ((rlim_t)1 << 30);
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){room, RLIM_INFINITY}) == 0, "no limit");
    int64_t n = 0;
    CHECK(kith_pairs_count(ctx, &one, box, far, &options, &n, NULL) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK((double)n > 0.499 * half && (double)n < 0.501 * half, "%lld pairs", (long long)n);
    kith_pairs list = {0};
    options.sorted = 1;
    options.layout = KITH_CSR;
    const kith_status status = kith_pairs_find(ctx, &one, box, far, &options, &list);
    CHECK(status == KITH_LIMIT && strstr(kith_message(ctx), " GB") &&
              strstr(kith_message(ctx), "leave `sorted` off"),
          "%s: %s", kith_status_name(status), kith_message(ctx));
    kith_pairs_free(&list);
}
#endif

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng r = {9};
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, N, &box);
    int64_t entries[N];
    count_by_definition(xyz, entries);
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    check_lists(ctx, &points, &box, entries);
    check_histogram(ctx, &points, &box, entries);
#if !defined(__SANITIZE_ADDRESS__) && !defined(KITH_THREAD_SANITIZER)
    if (strncmp(kith_backend(ctx), "cpu", 3) == 0) { /* a GPU's driver maps far more than it uses */
        check_memory(ctx, xyz, &box);
    }
#endif
    free(xyz);
    kith_close(ctx);
    return check_done();
}
