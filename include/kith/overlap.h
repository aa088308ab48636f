/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How alike are n replicas, vectors of d numbers each? The histogram P(q) of their overlaps.
 *
 *     kith_replicas replicas = {.n = n, .dim = d, .values = x, .stride = d, .type = KITH_FLOAT};
 *     kith_overlap_options options;
 *     kith_overlap_options_init(&options);                   // cosines, 200 bins from -1 to 1
 *     options.subtract_mean = 1;                             // overlaps of fluctuations
 *     kith_overlaps found = {0};
 *     if (kith_overlap_count(ctx, &replicas, &options, &found) != KITH_OK)
 *         puts(kith_message(ctx));
 *     for (int64_t k = 0; k < found.bins; k++)
 *         printf("%g %lld\n", found.edges[k], (long long)found.counts[k]);
 *     kith_overlaps_free(&found);
 *
 * OVERLAPS. The scalar product of x and y is summed in double: 32 sums of x_k y_k, each with the k
 * of one remainder modulo 32 in ascending order, every operation rounded; then the upper half of
 * the sums is added to the lower one, until one is left. From the result, s_xy, follow
 *     cosine    s_xy / sqrt(s_xx s_yy), clamped to [-1, 1]        (Parisi's overlap q)
 *     product   s_xy
 *     distance  sqrt((s_xx + s_yy) - 2 s_xy), 0 where the argument of the root is negative
 * each operation rounded. For spins s_xy = d - 2 (number of unequal spins).
 *
 * COUNTS are those of this definition on every backend, instruction set and number of threads, for
 * any input. Numbers are multiplied in blocks, floats in float where its error bound is small
 * beside the bins, else in double. The product of a pair decides its bin when its error bound does
 * not reach an edge; overlaps near an edge are summed again by the definition. Of spins the number
 * of unequal ones decides, which is exact. The cosine of equal replicas is exactly 1.
 *
 * See kith.h for contexts, memory, threads and errors.
 */
#ifndef KITH_API_OVERLAP_H
#define KITH_API_OVERLAP_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Measure of the likeness of two replicas. */
typedef enum kith_overlap_measure {
    KITH_COSINE = 0,  /**< cosine of the angle between the replicas */
    KITH_PRODUCT = 1, /**< scalar product */
    KITH_DISTANCE = 2 /**< Euclidean distance */
} kith_overlap_measure;

/** A type of kith_replicas beside KITH_FLOAT and KITH_DOUBLE: spins of +1 and -1, one bit each, 8
 *  in a byte as numpy.packbits packs them, in any order that all replicas share. A set bit may
 *  stand for +1 or for -1: overlaps follow from the number of unequal bits. Unused bits of the last
 *  byte must be equal in all replicas, for example 0. */
enum { KITH_BITS = 1 };

/** A borrowed set of replicas, in host memory. */
typedef struct kith_replicas {
    int64_t n;          /**< number of replicas, 2 to 2^31 - 65 */
    int64_t dim;        /**< numbers of each, 1 to 2^31 - 65; of bits up to 2^24 */
    const void *values; /**< first number of the first replica */
    int64_t stride;     /**< numbers (of bits: bytes) from one replica to the next; at least those
                             of one replica */
    int type;           /**< KITH_FLOAT, KITH_DOUBLE or KITH_BITS */
} kith_replicas;

/** What to count. Fill with kith_overlap_options_init, then change what you need. */
typedef struct kith_overlap_options {
    size_t size;                  /**< sizeof(kith_overlap_options): set by the init call */
    kith_overlap_measure measure; /**< what is counted */
    int subtract_mean; /**< 1: the mean over replicas is subtracted from each first: it is summed in
                            double in the order of the replicas, the difference rounded to the type;
                            s_xx and s_xy are then of the differences. Not for bits */
    int64_t bins;      /**< 1 to 2^20, of equal width */
    double low, high;  /**< first and last edge. Both 0: the range of the measure: -1 to 1;
                            -m to m; 0 to 2 sqrt(m). m is the largest s_xx times 1 + 2^-30, so
                            that rounding leaves none outside; 1 where all s_xx are 0 */
} kith_overlap_options;

/** Set every field to its default: cosines, 200 bins, the range of the measure. */
KITH_API void kith_overlap_options_init(kith_overlap_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_overlap_options_init is a
 *  macro that passes sizeof, so that a library of a later version knows which fields there are;
 *  the function of that name sets those of version 0.1. */
KITH_API void kith_overlap_options_init_sized(kith_overlap_options *options, size_t size);
#define kith_overlap_options_init(options) \
    kith_overlap_options_init_sized(options, sizeof(kith_overlap_options))

/** Histogram of the overlaps of pairs of replicas. Zero it before its first use. */
typedef struct kith_overlaps {
    int64_t bins;    /**< number of bins */
    double *edges;   /**< [bins + 1] low + (k / bins) (high - low), each operation rounded; the last
                           is high */
    int64_t *counts; /**< [bins] bin k holds edges[k] <= q < edges[k + 1], the last its end too */
    int64_t pairs;   /**< n (n - 1) / 2; pairs that are in no bin are outside the edges */
    int spins; /**< 1: replicas were counted as bits: they were given so, or all values are +1 or
                    -1, no mean was subtracted, and dim is at most 2^24 */
    uint32_t size; /**< sizeof(kith_overlaps) of the caller; 0: the fields of version 0.1 */
    void *owner;   /**< private to the library */
} kith_overlaps;

/**
 * Count the pairs of different replicas by their overlap. No n x n matrix is stored.
 * Cost: O(n^2 d) by products of blocks, half of the matrix. Scratch memory holds a copy of the
 * values, in double where products are, on a GPU two copies in device memory; and on the host
 * another one where the mean is subtracted or stride is not dim. Spins, also those given as
 * numbers, are packed to bits first.
 * @param ctx          the context
 * @param replicas     the vectors
 * @param options      NULL: the defaults
 * @param[in,out] out  zeroed, or from an earlier call, whose arrays are then reused. Free
 *                     with kith_overlaps_free.
 * @return KITH_OK; KITH_INVALID, also for a zero vector, which has no cosine; KITH_NOT_FINITE;
 *         KITH_LIMIT when n or dim is above its limit, or when an s_xx other than 0 is below 1e-150
 *         or above 1e150; KITH_NO_MEMORY; KITH_CANCELLED; KITH_UNSUPPORTED when the backend does
 *         not count overlaps; KITH_DEVICE_LOST. On failure out holds no counts: all but its size
 *         and owner is 0. It is still to be freed.
 */
KITH_API kith_status kith_overlap_count(kith_ctx *ctx, const kith_replicas *replicas,
                                        const kith_overlap_options *options, kith_overlaps *out);

/**
 * Compute some rows of the matrix of overlaps, by the definition. Always on CPU cores.
 * Cost: O(rows n d) in double; an overlap costs more than in kith_overlap_count, which multiplies
 * in blocks. Scratch memory holds a copy of the values where the mean is subtracted, stride is not
 * dim, or they are spins.
 * @param options      NULL: the defaults. bins, low and high are checked, but not used
 * @param first, rows  first row, and number of rows
 * @param[out] matrix  [rows][n] in host memory: row k has the overlaps of replica first + k
 * @return as kith_overlap_count. On failure the matrix is undefined.
 */
KITH_API kith_status kith_overlap_rows(kith_ctx *ctx, const kith_replicas *replicas,
                                       const kith_overlap_options *options, int64_t first,
                                       int64_t rows, double *matrix);

/** Free the arrays and zero the struct but for its size. @param overlaps  NULL or zeroed is
 *  fine. */
KITH_API void kith_overlaps_free(kith_overlaps *overlaps);

#ifdef __cplusplus
}
#endif

#endif
