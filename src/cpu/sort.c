/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Least-significant-digit radix sort: each pass is a counting sort, count, scan, scatter, with one
 * histogram for each thread so that the scatter is parallel and stable. O(n) for each digit.
 */
#include "sort.h"

#include "../context.h"

struct pass {
    const uint64_t *from;
    uint64_t *to;
    int64_t n;
    int low, width;
};

static unsigned digit(const struct pass *pass, uint64_t element)
{
    return (unsigned)(element >> pass->low) & ((1u << pass->width) - 1);
}

/** Turn counts [thread][bin] into the place of each thread's first element of each bin. */
static void scan(int64_t *bins, int threads, int used)
{
    int64_t sum = 0;
    for (int bin = 0; bin < used; bin++) {
        for (int t = 0; t < threads; t++) {
            int64_t *count = &bins[(int64_t)t * KITH_SORT_BINS + bin];
            const int64_t here = *count;
            *count = sum;
            sum += here;
        }
    }
}

static void sort_digit(const struct pass *pass, int64_t *bins, int threads)
{
    const int used = 1 << pass->width;
#pragma omp parallel num_threads(threads)
    {
        const struct kith__share own = kith__my_share(pass->n);
        int64_t *mine = bins + (int64_t)own.me * KITH_SORT_BINS;
        for (int bin = 0; bin < used; bin++) {
            mine[bin] = 0;
        }
        for (int64_t p = own.begin; p < own.end; p++) {
            mine[digit(pass, pass->from[p])]++;
        }
#pragma omp barrier
#pragma omp single
        scan(bins, own.team, used);
        for (int64_t p = own.begin; p < own.end; p++) {
            pass->to[mine[digit(pass, pass->from[p])]++] = pass->from[p];
        }
    }
}

uint64_t *kith__sort(uint64_t *data, uint64_t *spare, int64_t n, int low, int high, int64_t *bins,
                     int threads)
{
    const int bits = high - low;
    const int passes = (bits + KITH_SORT_DIGIT - 1) / KITH_SORT_DIGIT;
    for (int p = 0; p < passes; p++) {
        const int from = low + bits * p / passes;
        const int to = low + bits * (p + 1) / passes;
        const struct pass pass = {data, spare, n, from, to - from};
        sort_digit(&pass, bins, threads);
        uint64_t *swap = data;
        data = spare;
        spare = swap;
    }
    return data;
}
