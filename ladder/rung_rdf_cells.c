/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 3: points are sorted by cell, each is tested against those of 14 cells ahead, and pairs are
 * counted in a few private histograms in turn: two successive pairs of one bin increment different
 * counters, without a store-to-load dependency.
 *
 * O(n). But four of five candidates are too far, an unpredictable branch, and square roots are not
 * vectorised.
 */
#include "rung_rdf.h"

#include <stdlib.h>
#include <string.h>

enum { PRIVATE = 4 };

/* Count the pairs of point p with points [from, to). histograms: [PRIVATE][bins->n] */
static void count_range(const rung_sorted *sorted, const rung_bins *bins, int64_t p, int64_t from,
                        int64_t to, int64_t *histograms)
{
    for (int64_t q = from; q < to; q++) {
        const int32_t k = rung_bin(bins, rung_r2(sorted->xyz + 3 * p, sorted->xyz + 3 * q));
        if (k >= 0) {
            histograms[q % PRIVATE * bins->n + k]++;
        }
    }
}

bool rung_rdf_cells(const rung_input *in, const rung_bins *bins, int64_t *counts, int64_t *scratch)
{
    rung_sorted sorted;
    int64_t *const histograms = calloc((size_t)bins->n, PRIVATE * sizeof *histograms);
    const bool ok = rung_sort(in, &sorted, scratch) && histograms;
    *scratch += (int64_t)PRIVATE * bins->n * (int64_t)sizeof *histograms;
    for (int64_t p = 0; ok && p < in->n; p++) {
        int64_t from[14], to[14];
        const int ranges = rung_ranges_ahead(&sorted, p, from, to);
        for (int r = 0; r < ranges; r++) {
            count_range(&sorted, bins, p, from[r], to[r], histograms);
        }
    }
    memset(counts, 0, (size_t)bins->n * sizeof *counts);
    for (int64_t at = 0; ok && at < PRIVATE * (int64_t)bins->n; at++) {
        counts[at % bins->n] += histograms[at];
    }
    free(histograms);
    rung_sorted_free(&sorted);
    return ok;
}
