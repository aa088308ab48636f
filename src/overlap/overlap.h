/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps of replicas, vectors of `dim` numbers: the definition, as kith/overlap.h states it, for
 * the C and the CUDA compiler; the error bound of products computed in blocks; and the operation
 * that each backend offers. A square is the scalar product of a replica with itself; a spin is a
 * number that is 1 or -1, and replicas of spins may be packed into bits.
 *
 * A backend multiplies replicas of numbers, each times a scale (kith__overlap_scale), in blocks.
 * From the product c of replicas i and j follows t = c w_i w_j, the overlap in some unit, with the
 * weights w of kith__overlap_weight; for distances t^2 = (v_i + v_j) - 2 c, with v the squares of
 * the scaled replicas. The band of t is the interval from t less its error bound to t plus its
 * error bound. Where both ends of the band have one counter (kith__overlap_counter), the pair has
 * that counter; else the definition decides. For bits, the number of unequal spins is exact, and
 * kith__overlap.table has the counter.
 */
#ifndef KITH_OVERLAP_INTERNAL_H
#define KITH_OVERLAP_INTERNAL_H

#include <kith/overlap.h>

#include "core/backend.h"
#include "engine/pair.h"

/* The correctly rounded square root of a double. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define KITH_ROOT_d(a) __dsqrt_rn(a)
#else
#define KITH_ROOT_d(a) sqrt(a)
#endif

enum {
    KITH_OVERLAP_SUMS = 32,           /**< partial sums of a scalar product, by the definition */
    KITH_OVERLAP_MOST_SPINS = 1 << 24 /**< most spins of a replica of bits */
};

/** Replicas and checked copy of kith_overlap_options. */
struct kith__overlap {
    int64_t n, dim;       /**< number of replicas, and numbers of each */
    int type;             /**< type of `rows`: KITH_FLOAT, KITH_DOUBLE, or KITH_BITS in 64-bit
                               words; also the size of a number for the first two [bytes] */
    const void *rows;     /**< [n][stride] replicas, one in each row; less their mean where the
                               options say so */
    int64_t stride;       /**< elements, or words of bits, from one row to the next */
    const double *square; /**< [n] scalar product of each replica with itself */
    double most;          /**< the largest element of `square` */
    bool exact;           /**< all products and their sums are integers that the type holds */
    kith_overlap_measure measure; /**< cosine, scalar product or distance */
    int64_t bins;                 /**< number of bins */
    double low, width;            /**< first edge, and width of the bins [overlap] */
    const double *edges;          /**< [bins + 1] edges [overlap] */
    /** For bits: [dim + 1] counter of a pair (kith__overlap_counter) by its number of unequal
     *  spins; else NULL. */
    const int32_t *table;
    int64_t *counts; /**< [bins] zero; the backend writes them on success alone */
};

/** Return the overlap of two replicas with scalar product s, and squares sx and sy: by the
 *  definition, every operation rounded once. */
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

/** Return the counter of an overlap: 0 below the first edge, k + 1 in bin k, bins + 1 above the
 *  last edge. The last bin includes its upper edge.
 *  @param edges       [bins + 1] edges, which decide
 *  @param low, width  first edge and width of the bins, for a guess */
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

/** Constants from products to counters: the counter is floor(t factor + offset), clamped to `least`
 *  and `most`, if that is equal for both ends of the band of t. The head of this file defines t, w
 *  and the band. */
struct kith__band {
    double half;   /**< error bound of t, half the width of the band; for distances that of t^2 */
    double edge;   /**< error bound of t factor + offset, the position among the bins, in units of
                        t */
    double factor; /**< bins per unit of t */
    double offset; /**< counter of t = 0; counters of bins start at 1 */
    double least;  /**< smallest counter that occurs: 1 when no value is below the first edge */
    double most;   /**< largest counter that occurs: bins when no value is above the last edge */
    double scale;  /**< scale of all replicas; 0: each replica x is scaled by 1 / |x| */
    bool weighted; /**< w_i = 1 / |x_i|; else 1. Unused for distances */
    bool needs_double; /**< set for products in float: they must be in double instead, as too many
                            bands would hold an edge, or the error bound itself would not hold */
};

/**
 * Return the error bounds of products, and the constants from products to counters.
 * @param chain  most rounded operations, one after another, that a term of a product is part of
 * @param unit   relative rounding error: 2^-24 for products in float, 2^-53 in double
 */
struct kith__band kith__overlap_band(const struct kith__overlap *o, int64_t chain, double unit);

/** Return the scale of replica i: its numbers are multiplied by this. */
static inline double kith__overlap_scale(const struct kith__overlap *o,
                                         const struct kith__band *band, int64_t i)
{
    return band->scale > 0 ? band->scale : 1 / sqrt(o->square[i]);
}

/** Return the weight w_i of replica i; for distances its square v_i. */
static inline double kith__overlap_weight(const struct kith__overlap *o,
                                          const struct kith__band *band, int64_t i)
{
    return o->measure == KITH_DISTANCE ? o->square[i] * band->scale * band->scale
           : band->weighted            ? 1 / sqrt(o->square[i])
                                       : 1;
}

/** Numbers of the buffers of the context's scratch memory (core/work.h); those of the CPU backend
 *  follow. */
enum {
    KITH_OVERLAP_ROWS = KITH_WORK_OF(overlap),
    KITH_OVERLAP_SQUARES,
    KITH_OVERLAP_MEANS,
    KITH_OVERLAP_TABLE,
    KITH_OVERLAP_BUFFERS_END
};

/** Prepare the rows (overlap_rows.c): check that all values are finite, subtract the mean, pack
 *  spins into bits, and compute squares. Rows are the caller's, or scratch memory of the context.
 *  @param[in,out] overlap  n, dim and measure are read; type, rows, stride, square, most and exact
 *                          are set
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT, KITH_NOT_FINITE, KITH_NO_MEMORY or KITH_CANCELLED */
kith_status kith__overlap_rows(kith_ctx *ctx, const kith_replicas *replicas, bool subtract_mean,
                               struct kith__overlap *overlap);

#define KITH_PER_PRECISION "overlap/overlap_real.h"
#include "core/per_precision.h"

/** Return the scalar product of rows i and j by the definition; for bits it is exact. */
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

/** Operations that a backend offers; NULL: not offered. */
struct kith__overlap_backend {
    /** Count the overlaps of all pairs of different replicas, each once, in overlap->counts.
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, or a failure of the device. */
    kith_status (*count)(kith_ctx *ctx, const struct kith__overlap *overlap);
};

extern const struct kith__overlap_backend kith__cpu_overlap, kith__cuda_overlap;

#endif
