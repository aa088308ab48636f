/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 1: the kernel of lectures. For all pairs, compute the square root of the squared distance
 * and add 1 to a histogram of floats.
 *
 * O(n^2). A float that has reached 2^24 = 16,777,216 stays there, since adding 1 is rounded away.
 * The histogram is then silently too low; 6,000 points in one bin are enough.
 */
#include "rung_rdf.h"

#include <stdlib.h>

bool rung_rdf_float(const rung_input *in, const rung_bins *bins, int64_t *counts, int64_t *scratch)
{
    float *const histogram = calloc((size_t)bins->n, sizeof *histogram);
    const bool ok = histogram;
    *scratch = bins->n * (int64_t)sizeof *histogram;
    for (int64_t i = 0; ok && i < in->n; i++) {
        for (int64_t j = i + 1; j < in->n; j++) {
            const int32_t k = rung_bin(bins, rung_r2(in->xyz + 3 * i, in->xyz + 3 * j));
            if (k >= 0) {
                histogram[k] += 1;
            }
        }
    }
    for (int32_t k = 0; ok && k < bins->n; k++) {
        counts[k] = (int64_t)histogram[k];
    }
    free(histogram);
    return ok;
}
