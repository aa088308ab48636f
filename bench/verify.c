/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An independent implementation of the pair search, "the judge": a plain cell list that visits half
 * of the cells around each cell, and adds each pair to a hash, or to bins, without storing it.
 * Float arithmetic is done in double and rounded to float after each operation. This gives the bits
 * of float arithmetic, because double has more than twice the digits of float and two (Figueroa
 * 1995): rounding twice is then harmless.
 */
#include "verify.h"

#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 64 }; /* items of a loop that a thread takes at a time */

/** Points sorted by cells of the unit cube. */
typedef struct cells {
    int32_t side;   /**< number of cells along each axis */
    int64_t *start; /**< [side^3 + 1] first entry of each cell in id; x is the fastest axis */
    int32_t *id;    /**< [n] indices of points in the order of cells */
} cells;

/** Round a result to the precision. */
static inline double rounded(double value, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)(float)value : value;
}

/** Where pairs are added to. */
typedef struct sink {
    verify_answer answer;    /**< count and hashes, if there are no bins */
    const verify_bins *bins; /**< bins; NULL: none */
} sink;

/** Return (x^2 + y^2) + z^2, rounded step by step in the order of the definition of a pair. */
static double sum_of_squares(const double d[3], kith_precision precision)
{
    double square[3];
    for (int k = 0; k < 3; k++) {
        square[k] = rounded(d[k] * d[k], precision);
    }
    return rounded(rounded(square[0] + square[1], precision) + square[2], precision);
}

/** Return the squared distance of a and b. @param shift  boxes by which b is moved along each
 *  axis */
static inline double squared(const verify_question *q, int64_t a, int64_t b, const int shift[3])
{
    double d[3];
    for (int k = 0; k < 3; k++) {
        const double plain = rounded(q->xyz[3 * b + k] - q->xyz[3 * a + k], q->precision);
        d[k] = rounded(plain + shift[k], q->precision);
    }
    return sum_of_squares(d, q->precision);
}

/** Add a pair to its bin, found by bisection; atomically, as several threads share the bins. */
static void add_to_bin(const verify_bins *bins, double r2)
{
    if (r2 < bins->edge2[0] || r2 > bins->edge2[bins->n]) {
        return;
    }
    int32_t k = 0, end = bins->n; /* the bin is one of [k, end) */
    while (end - k > 1) {
        const int32_t middle = k + (end - k) / 2;
        if (r2 >= bins->edge2[middle]) {
            k = middle;
        } else {
            end = middle;
        }
    }
    __atomic_fetch_add(&bins->counts[k], 1, __ATOMIC_RELAXED);
}

/** Add a and b if they are a pair: r^2 <= cutoff^2, the latter rounded too. */
static inline void add_pair(sink *to, const verify_question *q, int32_t a, int32_t b,
                            const int shift[3])
{
    const double r2 = squared(q, a, b, shift);
    const double cutoff = rounded(q->cutoff, q->precision);
    if (r2 > rounded(cutoff * cutoff, q->precision)) {
        return;
    }
    if (to->bins) {
        add_to_bin(to->bins, r2);
        return;
    }
    to->answer.pairs++;
    rung_hash_add(&to->answer.half, a < b ? a : b, a < b ? b : a);
    rung_hash_add(&to->answer.full, a, b);
    rung_hash_add(&to->answer.full, b, a);
}

/** Add the answer of a part of the pairs. */
static void add_answer(verify_answer *sum, const verify_answer *part)
{
    sum->pairs += part->pairs;
    for (int s = 0; s < 2; s++) {
        sum->half.sum[s] += part->half.sum[s];
        sum->full.sum[s] += part->full.sum[s];
    }
}

/** Test all pairs of points, in the periodic cube with all 27 images of j. */
static void sweep_all(const verify_question *q, sink *to)
{
    const int images = q->periodic ? 27 : 1;
    for (int32_t i = 0; i < q->n; i++) {
        for (int32_t j = i + 1; j < q->n; j++) {
            for (int s = 0; s < images; s++) {
                const int shift[3] = {(s + 1) % 3 - 1, (s / 3 + 1) % 3 - 1, (s / 9 + 1) % 3 - 1};
                add_pair(to, q, i, j, shift);
            }
        }
    }
}

void verify_all_pairs(const verify_question *q, verify_answer *answer)
{
    sink to = {.bins = NULL};
    sweep_all(q, &to);
    *answer = to.answer;
}

/** Shared state of the parallel loop over the first particle of pairs. */
struct nearest_loop {
    const verify_question *question; /**< the points */
    const verify_bins *bins;         /**< the counts */
};

/** Add the pairs (i, j), j > i, for i of [begin, end). */
static void add_nearest(void *state, int64_t begin, int64_t end)
{
    const struct nearest_loop *loop = state;
    const verify_question *q = loop->question;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = i + 1; j < q->n; j++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                const double plain = rounded(q->xyz[3 * j + k] - q->xyz[3 * i + k], q->precision);
                const double other = fmin(fabs(rounded(plain + 1, q->precision)),
                                          fabs(rounded(plain - 1, q->precision)));
                d[k] = fmin(fabs(plain), other);
            }
            add_to_bin(loop->bins, sum_of_squares(d, q->precision));
        }
    }
}

void verify_nearest(const verify_question *q, const verify_bins *bins)
{
    memset(bins->counts, 0, (size_t)bins->n * sizeof *bins->counts);
    struct nearest_loop loop = {q, bins};
    harness_for(q->n, GRAIN, add_nearest, &loop);
}

/** Return the number of the cell of a point. */
static int64_t cell_of(const cells *all, const double x[3])
{
    int64_t c = 0;
    for (int k = 2; k >= 0; k--) {
        c = c * all->side + (int64_t)(x[k] * all->side);
    }
    return c;
}

/** Counting sort of the points by cell: count, prefix sum, scatter. The scatter advances each start
 *  to that of the next cell, so the starts are moved back by one afterwards. */
static void fill_cells(cells *all, const verify_question *q)
{
    const int64_t count = (int64_t)all->side * all->side * all->side;
    memset(all->start, 0, (size_t)(count + 1) * sizeof *all->start);
    for (int64_t p = 0; p < q->n; p++) {
        all->start[cell_of(all, q->xyz + 3 * p) + 1]++;
    }
    for (int64_t c = 0; c < count; c++) {
        all->start[c + 1] += all->start[c];
    }
    for (int64_t p = 0; p < q->n; p++) {
        all->id[all->start[cell_of(all, q->xyz + 3 * p)]++] = (int32_t)p;
    }
    memmove(all->start + 1, all->start, (size_t)count * sizeof *all->start);
    all->start[0] = 0;
}

/** Test the pairs of a cell with itself (step 13 of the 27 around it) and with the 13 cells after
 *  it, so that each pair of cells is visited once. It needs at least 3 cells along each axis, as
 *  else one cell would be before and after another. */
static void sweep_cell(const cells *all, const verify_question *q, int64_t c, sink *sum)
{
    const int32_t side = all->side;
    const int32_t at[3] = {(int32_t)(c % side), (int32_t)(c / side % side),
                           (int32_t)(c / side / side)};
    for (int step = 13; step < 27; step++) {
        int32_t to[3] = {at[0] + step % 3 - 1, at[1] + step / 3 % 3 - 1, at[2] + step / 9 - 1};
        int shift[3];
        bool inside = true;
        for (int k = 0; k < 3; k++) {
            shift[k] = (to[k] >= side) - (to[k] < 0);
            to[k] -= shift[k] * side;
            inside = inside && (q->periodic || shift[k] == 0);
        }
        const int64_t other = ((int64_t)to[2] * side + to[1]) * side + to[0];
        for (int64_t a = all->start[c]; inside && a < all->start[c + 1]; a++) {
            for (int64_t b = step == 13 ? a + 1 : all->start[other]; b < all->start[other + 1];
                 b++) {
                add_pair(sum, q, all->id[a], all->id[b], shift);
            }
        }
    }
}

/** Shared state of the parallel loop over cells. */
struct cell_loop {
    const cells *all;                /**< the cells */
    const verify_question *question; /**< the points */
    pthread_mutex_t lock;            /**< protects to->answer */
    sink *to;                        /**< where pairs are added to */
};

/** Visit the cells [begin, end). */
static void sweep_range(void *state, int64_t begin, int64_t end)
{
    struct cell_loop *loop = state;
    sink part = {.bins = loop->to->bins};
    for (int64_t c = begin; c < end; c++) {
        sweep_cell(loop->all, loop->question, c, &part);
    }
    pthread_mutex_lock(&loop->lock);
    add_answer(&loop->to->answer, &part.answer);
    pthread_mutex_unlock(&loop->lock);
}

/** Test all pairs by cells that are as wide as the cutoff, or wider; with fewer than 3 along an
 *  axis, all pairs of points. @return false without memory */
static bool sweep_cells(const verify_question *q, sink *to)
{
    const double side = fmin(1 / (q->cutoff * (1 + 1e-6)), 2 * cbrt((double)q->n) + 1);
    if (side < 3) {
        sweep_all(q, to);
        return true;
    }
    cells all = {.side = (int32_t)side};
    const int64_t count = (int64_t)all.side * all.side * all.side;
    all.start = malloc((size_t)(count + 1) * sizeof *all.start);
    all.id = calloc((size_t)q->n + 1, sizeof *all.id);
    const bool ok = all.start && all.id;
    if (ok) {
        fill_cells(&all, q);
        struct cell_loop loop = {&all, q, PTHREAD_MUTEX_INITIALIZER, to};
        harness_for(count, GRAIN, sweep_range, &loop);
    }
    free(all.start);
    free(all.id);
    return ok;
}

bool verify_cells(const verify_question *q, verify_answer *answer)
{
    sink to = {.bins = NULL};
    const bool ok = sweep_cells(q, &to);
    *answer = to.answer;
    return ok;
}

bool verify_histogram(const verify_question *q, const verify_bins *bins)
{
    sink to = {.bins = bins};
    memset(bins->counts, 0, (size_t)bins->n * sizeof *bins->counts);
    return sweep_cells(q, &to);
}
