/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps of replicas by the definition of kith_overlap.h, for the C and the CUDA compiler, and
 * what a product of blocks tells of them.
 *
 * A backend packs the replicas, each times a scale, and multiplies them in blocks. A product of
 * theirs, c, stands for t = c (w_i w_j), the overlap in some unit; of distances for the square
 * t^2 = (v_i + v_j) - 2 c. Its error is less than a band; where both ends of the band are in one
 * bin, that bin it is. Else the pair is settled by the definition.
 */
#ifndef KITH_OVERLAP_INTERNAL_H
#define KITH_OVERLAP_INTERNAL_H

#include <kith_overlap.h>

#include "core/backend.h"
#include "engine/pair.h"

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define KITH_ROOT_d(a) __dsqrt_rn(a)
#else
#define KITH_ROOT_d(a) sqrt(a)
#endif

enum {
    KITH_OVERLAP_SUMS = 32,           /**< of a scalar product */
    KITH_OVERLAP_MOST_SPINS = 1 << 24 /**< of a replica of bits */
};

/** What is counted: the replicas and kith_overlap_options, checked. */
struct kith__overlap {
    int64_t n, dim;
    int type;             /**< of rows; KITH_BITS: 64-bit words */
    const void *rows;     /**< [n][stride] */
    int64_t stride;       /**< elements from one row to the next; 64-bit words of bits */
    const double *square; /**< [n] s_xx */
    double most;          /**< the largest of them */
    bool exact;           /**< all products and their sums are whole, and exact in the type */
    kith_overlap_measure measure;
    int64_t bins;
    double low, width;
    const double *edges;  /**< [bins + 1] */
    const int32_t *table; /**< of bits: [dim + 1] the counter of a pair, by how many spins differ */
    int64_t *counts;      /**< [bins] zero; written on success alone */
};

/** The overlap of a scalar product s. */
KITH_FN double kith__overlap_value(kith_overlap_measure measure, double s, double sx, double sy)
{
    if (measure == KITH_COSINE) {
        const double q = KITH_DIV_d(s, KITH_ROOT_d(KITH_MUL_d(sx, sy)));
        return q > 1 ? 1 : q < -1 ? -1 : q;
    }
    if (measure == KITH_DISTANCE) {
        const double square = KITH_SUB_d(KITH_ADD_d(sx, sy), KITH_MUL_d(2, s));
        return square > 0 ? KITH_ROOT_d(square) : 0;
    }
    return s;
}

/** The counter of a value: 0 below the first edge, 1 + k in bin k, 1 + bins above the last. */
KITH_FN int32_t kith__overlap_counter(const double *edges, int32_t bins, double low, double width,
                                      double value)
{
    if (value < edges[0]) {
        return 0;
    }
    if (value > edges[bins]) {
        return bins + 1;
    }
    const double guess = (value - low) / width;
    int32_t k = guess >= bins ? bins - 1 : (int32_t)guess;
    while (k > 0 && value < edges[k]) {
        k--;
    }
    while (k + 1 < bins && value >= edges[k + 1]) {
        k++;
    }
    return k + 1;
}

/** From products to counters: the counter is t factor + offset rounded down, if that is the same
 *  for both ends of the band, from `least` to `most`. */
struct kith__band {
    double half;           /**< bound of the error of t, or of t^2 of distances, and */
    double edge;           /**< that of the position of t among the bins, in units of t */
    double factor, offset; /**< counters start at 1 */
    double least, most;    /**< counters there are: values cannot be below or above */
    double scale;          /**< what all replicas are multiplied with; 0: each by 1 / |x| */
    bool weighted;         /**< w_i = 1 / |x_i|; else 1 */
    bool wild;             /**< bands are no narrower than some bins: use double */
};

/**
 * @param chain  the most roundings, one after the other, that a term of a product goes through
 * @param unit   2^-24 for products in float, 2^-53 in double
 */
struct kith__band kith__overlap_band(const struct kith__overlap *o, int64_t chain, double unit);

/** What replica i is multiplied with before it is packed; its weight w_i; its square v_i. */
static inline double kith__overlap_scale(const struct kith__overlap *o,
                                         const struct kith__band *band, int64_t i)
{
    return band->scale > 0 ? band->scale : 1 / sqrt(o->square[i]);
}
static inline double kith__overlap_weight(const struct kith__overlap *o,
                                          const struct kith__band *band, int64_t i)
{
    return o->measure == KITH_DISTANCE ? o->square[i] * band->scale * band->scale
           : band->weighted            ? 1 / sqrt(o->square[i])
                                       : 1;
}

/** Slots of the context's scratch. */
enum {
    KITH_OVERLAP_ROWS = KITH_WORK_OF(overlap),
    KITH_OVERLAP_SQUARES,
    KITH_OVERLAP_MEANS,
    KITH_OVERLAP_TABLE,
    KITH_OVERLAP_SLOTS_END
};

/** Look at all values; subtract the mean; pack spins. Sets type, rows, stride, square, most and
 *  exact; n, dim and measure are set. Rows are the caller's or scratch of the context.
 *  @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_NO_MEMORY. */
kith_status kith__overlap_rows(kith_ctx *ctx, const kith_replicas *replicas, bool subtract_mean,
                               struct kith__overlap *overlap);

#define KITH_TWICE "overlap/overlap_real.h"
#include "core/twice.h"

/** The scalar product of rows i and j. Bits: exact. */
static inline double kith__overlap_product(const struct kith__overlap *o, int64_t i, int64_t j)
{
    const int64_t x = i * o->stride, y = j * o->stride;
    if (o->type == KITH_FLOAT) {
        return kith__dot_f((const float *)o->rows + x, (const float *)o->rows + y, o->dim);
    }
    if (o->type == KITH_DOUBLE) {
        return kith__dot_d((const double *)o->rows + x, (const double *)o->rows + y, o->dim);
    }
    const uint64_t *words = (const uint64_t *)o->rows;
    int64_t differ = 0;
    for (int64_t k = 0; k < o->stride; k++) {
        differ += __builtin_popcountll(words[x + k] ^ words[y + k]);
    }
    return (double)(o->dim - 2 * differ);
}

/** What a backend offers. */
struct kith__overlap_backend {
    /** Count all pairs of different replicas. */
    kith_status (*count)(kith_ctx *ctx, const struct kith__overlap *overlap);
};

extern const struct kith__overlap_backend kith__cpu_overlap, kith__cuda_overlap;

#endif
