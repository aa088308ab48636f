/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How alike are R replicas, vectors of d numbers each? The histogram P(q) of their overlaps.
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
 * the sums is added to the lower one, until one is left. Of it, s_xy, follow
 *     cosine    s_xy / sqrt(s_xx s_yy), brought into -1 to 1      (Parisi's overlap q)
 *     product   s_xy
 *     distance  sqrt((s_xx + s_yy) - 2 s_xy), 0 where that is negative
 * each operation rounded. Of spins s_xy = d - 2 (how many differ).
 *
 * COUNTS are those of this definition on every backend, instruction set and number of threads, for
 * any input: products of blocks in the type of the values decide where their error bound does not
 * reach an edge; overlaps near an edge are summed again as above. Equal replicas have q = 1.
 *
 * See kith.h for contexts, memory, threads and errors.
 */
#ifndef KITH_OVERLAP_H
#define KITH_OVERLAP_H

#include <kith.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is counted of a pair of replicas. */
typedef enum kith_overlap_measure {
    KITH_COSINE = 0,
    KITH_PRODUCT = 1,
    KITH_DISTANCE = 2
} kith_overlap_measure;

/** A type of kith_replicas beside KITH_FLOAT and KITH_DOUBLE: spins of +1 and -1, a bit each, 8 in
 *  a byte as numpy.packbits puts them, in any order that is that of all replicas. Bits of the last
 *  byte that are no spin must be the same in all, as 0. */
enum { KITH_BITS = 1 };

/** A borrowed set of replicas, in host memory. */
typedef struct kith_replicas {
    int64_t n;          /**< replicas, 2 to 2^31 - 65 */
    int64_t dim;        /**< numbers of each, 1 to 2^31 - 65; of bits to 2^24 */
    const void *values; /**< the first replica's first */
    int64_t stride;     /**< numbers (of bits: bytes) from one replica to the next */
    int type;           /**< KITH_FLOAT, KITH_DOUBLE or KITH_BITS */
} kith_replicas;

/** What to count. Fill with kith_overlap_options_init, then change what you need. */
typedef struct kith_overlap_options {
    size_t size; /**< sizeof(kith_overlap_options): set by the init call */
    kith_overlap_measure measure;
    int subtract_mean; /**< 1: the mean over replicas is taken from each first: it is summed in
                            double in the order of the replicas, the difference rounded to the type.
                            Not of bits */
    int64_t bins;      /**< 1 to 2^20, of equal width */
    double low, high; /**< the first and the last edge. Both 0: what the measure can reach: -1 to 1;
                            -m to m with m = the largest s_xx; 0 to 2 sqrt(m); m 2^-30 larger, so
                            that rounding leaves none outside */
} kith_overlap_options;

/** Set every field to its default: cosines, 200 bins, the range that they can reach. */
KITH_API void kith_overlap_options_init(kith_overlap_options *options);

/** How many pairs of replicas have which overlap. Zero it before its first use. */
typedef struct kith_overlaps {
    int64_t bins;
    double *edges;   /**< [bins + 1] low + k (high - low) / bins */
    int64_t *counts; /**< [bins] bin k holds edges[k] <= q < edges[k + 1], the last its end too */
    int64_t pairs;   /**< n (n - 1) / 2; those that are in no bin are outside the edges */
    int spins;       /**< 1: they were counted as bits: all values were +1 or -1 */
    void *owner;     /**< the library's */
} kith_overlaps;

/**
 * Count the pairs of different replicas by their overlap. There is never an n x n matrix.
 * Cost: O(n^2 d) by products of blocks, half of the matrix; scratch of a copy of the values, of two
 * where the mean is subtracted. Spins, also those that are given as numbers, are packed to bits.
 * @param ctx          the context
 * @param replicas     the vectors
 * @param options      NULL: the defaults
 * @param[in,out] out  zeroed, or from an earlier call, whose arrays are then reused. Free
 *                     with kith_overlaps_free.
 * @return KITH_OK; KITH_INVALID, also for a zero vector that has no cosine; KITH_NOT_FINITE;
 *         KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED; KITH_UNSUPPORTED; KITH_DEVICE_LOST. On
 *         failure out holds no counts, and is still to be freed.
 */
KITH_API kith_status kith_overlap_count(kith_ctx *ctx, const kith_replicas *replicas,
                                        const kith_overlap_options *options, kith_overlaps *out);

/**
 * Compute some rows of the matrix of overlaps, by the definition. The work is the processor's.
 * Cost: O(rows n d) in double, some times that of a count; the copies of kith_overlap_count.
 * @param options      its bins are not looked at
 * @param first, rows  which
 * @param[out] matrix  [rows][n] in host memory: of replica first + k with every other and itself
 * @return as kith_overlap_count.
 */
KITH_API kith_status kith_overlap_rows(kith_ctx *ctx, const kith_replicas *replicas,
                                       const kith_overlap_options *options, int64_t first,
                                       int64_t rows, double *matrix);

/** Free the arrays and zero the struct. @param overlaps  NULL or zeroed is fine. */
KITH_API void kith_overlaps_free(kith_overlaps *overlaps);

#ifdef __cplusplus
}
#endif

#endif
