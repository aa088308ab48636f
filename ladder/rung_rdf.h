/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and functions that the rungs of the ladder of pair distributions share. Every rung counts
 * the pairs of points, each once, whose distance is in each of n bins of equal width from 0 to the
 * cutoff. A pair is in bin k if e[k]^2 <= r2 < e[k + 1]^2; the last bin includes the cutoff.
 */
#ifndef KITH_RUNG_RDF_H
#define KITH_RUNG_RDF_H

#include "rung.h"

#include <math.h>

/** Bins of equal width. */
typedef struct rung_bins {
    int32_t n;         /**< number of bins */
    double per_length; /**< 1 / width of a bin */
    double *edge2;     /**< squared edges of the bins [n + 1] */
} rung_bins;

/**
 * A rung.
 * @param[out] counts   [bins->n]
 * @param[out] scratch  largest amount of memory held, without the counts [byte]
 * @return false if memory is exhausted or the library fails
 */
typedef bool (*rung_count)(const rung_input *in, const rung_bins *bins, int64_t *counts,
                           int64_t *scratch);

bool rung_rdf_float(const rung_input *in, const rung_bins *bins, int64_t *counts, int64_t *scratch);
bool rung_rdf_all_pairs(const rung_input *in, const rung_bins *bins, int64_t *counts,
                        int64_t *scratch);
bool rung_rdf_cells(const rung_input *in, const rung_bins *bins, int64_t *counts, int64_t *scratch);
bool rung_rdf_mainline(const rung_input *in, const rung_bins *bins, int64_t *counts,
                       int64_t *scratch);

/** Count by the library in bins up to r_max: all pairs in open space; in a box, nearest images
 *  alone.
 *  @param[out] counts  [bins]
 *  @return false on failure */
bool rung_rdf_ask(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t bins,
                  double r_max, int64_t *counts);

/** Make bins up to the cutoff. Free edge2. @return false if memory is exhausted */
bool rung_bins_make(rung_bins *bins, int32_t n, double cutoff);

/** Find the bin of a pair: an estimate by the square root is corrected by the squared edges.
 *  @return -1: beyond the cutoff */
RUNG_FN int32_t rung_bin(const rung_bins *bins, double r2)
{
    if (r2 > bins->edge2[bins->n]) {
        return -1;
    }
    int32_t k = (int32_t)(sqrt(r2) * bins->per_length);
    k = k < bins->n ? k : bins->n - 1;
    while (r2 < bins->edge2[k]) {
        k--;
    }
    while (k < bins->n - 1 && r2 >= bins->edge2[k + 1]) {
        k++;
    }
    return k;
}

#endif
