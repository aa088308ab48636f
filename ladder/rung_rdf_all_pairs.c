/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 2: all pairs, O(n^2), with counters of 64-bit integers. The algorithm is too simple to be
 * wrong: it is the oracle.
 */
#include "rung_rdf.h"

#include <stdlib.h>
#include <string.h>

bool rung_bins_make(rung_bins *bins, int32_t n, double cutoff)
{
    *bins = (rung_bins){.n = n, .per_length = n / cutoff};
    bins->edge2 = malloc(((size_t)n + 1) * sizeof *bins->edge2);
    for (int32_t k = 0; bins->edge2 && k <= n; k++) {
        const double edge = k == n ? cutoff : (double)k / n * cutoff;
        bins->edge2[k] = edge * edge;
    }
    return bins->edge2;
}

bool rung_rdf_all_pairs(const rung_input *in, const rung_bins *bins, int64_t *counts,
                        int64_t *scratch)
{
    memset(counts, 0, (size_t)bins->n * sizeof *counts);
    for (int64_t i = 0; i < in->n; i++) {
        for (int64_t j = i + 1; j < in->n; j++) {
            const int32_t k = rung_bin(bins, rung_r2(in->xyz + 3 * i, in->xyz + 3 * j));
            if (k >= 0) {
                counts[k]++;
            }
        }
    }
    *scratch = 0;
    return true;
}
