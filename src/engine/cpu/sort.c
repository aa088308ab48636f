/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Least-significant-digit radix sort. Each digit is a counting sort in three steps: count the bins
 * of each piece of the elements, take the exclusive prefix sum, scatter. Each piece has a histogram
 * of its own, so that the scatter is parallel and stable. O(n) for each digit. A few elements are
 * sorted by insertion, without the work for empty bins.
 */
#include "sort.h"

#include <assert.h>

/* Most elements for insertion sort: in random order they take about 64 * 64 / 4 = 1024 steps, half
 * as many as a digit has bins. */
enum { FEW = 64 };

/** Shared state of the parallel loops of the sort by one digit. */
struct digit_loop {
    kith_ctx *ctx;        /**< context of the call */
    const uint64_t *from; /**< [n] elements to sort */
    uint64_t *to;         /**< [n] sorted elements */
    int64_t n;            /**< number of elements */
    int low;              /**< lowest bit of the digit */
    int width;            /**< bits of the digit */
    int64_t *bins; /**< [pieces][KITH_SORT_BINS] number of a piece's elements with each digit; after
                        the prefix sum, index in `to` of the next element with that digit */
    int pieces;    /**< pieces that the elements are cut into */
};

/** Return the digit of an element. */
static unsigned digit(const struct digit_loop *loop, uint64_t element)
{
    return (unsigned)(element >> loop->low) & ((1u << loop->width) - 1);
}

/** Count how often each digit occurs in one piece. */
static void count_piece(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct digit_loop *loop = state;
    int64_t *bins = loop->bins + piece * KITH_SORT_BINS;
    const int64_t end = kith__piece_begin(loop->n, loop->pieces, piece + 1);
    for (int bin = 0; bin < 1 << loop->width; bin++) {
        bins[bin] = 0;
    }
    int64_t p = kith__piece_begin(loop->n, loop->pieces, piece);
    for (int64_t stop; p < end && !kith__cancelled(loop->ctx);) {
        for (stop = p + KITH_RANGE < end ? p + KITH_RANGE : end; p < stop; p++) {
            bins[digit(loop, loop->from[p])]++;
        }
    }
}

/** Copy the elements of one piece to their sorted positions. */
static void scatter_piece(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct digit_loop *loop = state;
    int64_t *next = loop->bins + piece * KITH_SORT_BINS;
    const int64_t end = kith__piece_begin(loop->n, loop->pieces, piece + 1);
    int64_t p = kith__piece_begin(loop->n, loop->pieces, piece);
    for (int64_t stop; p < end && !kith__cancelled(loop->ctx);) {
        for (stop = p + KITH_RANGE < end ? p + KITH_RANGE : end; p < stop; p++) {
            loop->to[next[digit(loop, loop->from[p])]++] = loop->from[p];
        }
    }
}

/** Exclusive prefix sum of the counts, by digit, then by piece: the index in `to` of the first
 *  element of each digit and piece. */
static void scan(const struct digit_loop *loop)
{
    int64_t sum = 0;
    for (int bin = 0; bin < 1 << loop->width; bin++) {
        for (int piece = 0; piece < loop->pieces; piece++) {
            int64_t *count = &loop->bins[(int64_t)piece * KITH_SORT_BINS + bin];
            const int64_t here = *count;
            *count = sum;
            sum += here;
        }
    }
    assert(sum == loop->n);
}

/** Return bits [low, high) of an element, low < high. */
static uint64_t bits_of(uint64_t element, int low, int high)
{
    return element << (64 - high) >> (64 - high + low);
}

#ifndef NDEBUG
/** Return true when n elements are sorted by bits [low, high). */
static bool is_sorted(const uint64_t *data, int64_t n, int low, int high)
{
    bool sorted = true;
    for (int64_t p = 1; p < n && low < high; p++) {
        sorted = sorted && bits_of(data[p - 1], low, high) <= bits_of(data[p], low, high);
    }
    return sorted;
}
#endif

/** Insertion sort of a few elements by bits [low, high); stable. */
static void sort_few(uint64_t *data, int64_t n, int low, int high)
{
    for (int64_t p = 1; p < n && low < high; p++) {
        const uint64_t element = data[p], key = bits_of(element, low, high);
        int64_t to = p;
        for (; to > 0 && bits_of(data[to - 1], low, high) > key; to--) {
            data[to] = data[to - 1];
        }
        data[to] = element;
    }
}

uint64_t *kith__sort(kith_ctx *ctx, uint64_t *data, uint64_t *spare, int64_t n, int low, int high,
                     int64_t *bins)
{
    assert(0 <= low && low <= high && high <= 64);
    if (n <= FEW) {
        sort_few(data, n, low, high);
        assert(is_sorted(data, n, low, high));
        return data;
    }
    const int bits = high - low;
    const int passes = (bits + KITH_SORT_DIGIT - 1) / KITH_SORT_DIGIT;
    const int pieces = kith__threads_for(ctx, n);
    assert(pieces <= ctx->threads); /* the capacity of `bins`, in histograms */
    for (int p = 0; p < passes && !kith__cancelled(ctx); p++) {
        const int from = low + bits * p / passes; /* digits of nearly equal width */
        const int to = low + bits * (p + 1) / passes;
        struct digit_loop loop = {ctx, data, spare, n, from, to - from, bins, pieces};
        kith__pool_run(ctx->pool, ctx->threads, pieces, count_piece, &loop);
        if (kith__cancelled(ctx)) {
            break; /* some pieces have no count */
        }
        scan(&loop);
        kith__pool_run(ctx->pool, ctx->threads, pieces, scatter_piece, &loop);
        uint64_t *swap = data;
        data = spare;
        spare = swap;
    }
    /* the flag is read without an atomic load, as this thread alone sets it */
    assert(ctx->cancel.wanted || is_sorted(data, n, low, high));
    return data;
}
