/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps in device memory. The functions that take a stream launch kernels: they queue on it and
 * return the run time's error code. overlap/overlap.h defines overlaps, scales, weights and bands.
 *
 * Replicas are packed into panels of KITH_GPU_PANEL: number 0 of all replicas of a panel, then
 * number 1, and so on; of spins, 32 in a word, word 0, then word 1. A tile is the pairs of two
 * panels I <= J. Tiles are numbered by squares of KITH_GPU_SQUARE by KITH_GPU_SQUARE, so that tiles
 * that are processed at one time share panels in the cache.
 */
#ifndef KITH_GPU_REPLICAS_H
#define KITH_GPU_REPLICAS_H

#include "overlap/overlap.h"
#include "engine/gpu/gpu.h"

enum {
    KITH_GPU_PANEL = 128, /**< replicas of a panel */
    KITH_GPU_SQUARE = 8,  /**< tiles along one side of a square */
    KITH_GPU_SLICE = 8    /**< numbers, or words of 32 spins, that are in shared memory at a time */
};

/** State of one call, as kernels see it. */
struct kith__gpu_replicas {
    struct kith__overlap overlap; /**< the replicas; rows, square, edges and table are in device
                                       memory */
    struct kith__band band;       /**< from products to counters */
    int precision;                /**< of products: KITH_FLOAT or KITH_DOUBLE; KITH_FLOAT for bits,
                                       too, where it says how many thread blocks are resident */
    const double *scales;         /**< [n] kith__overlap_scale of each replica; unused for bits */
    const double *weights;        /**< [n] kith__overlap_weight of each replica; unused for bits */
    void *panels;                 /**< [n_panels][depth][KITH_GPU_PANEL] scaled numbers in
                                       `precision`, or words of spins; padded with 0 */
    int64_t n_panels;             /**< number of panels */
    int64_t depth;              /**< numbers, or words of 32 spins, of a replica in its panel: whole
                                     slices of KITH_GPU_SLICE */
    unsigned long long *counts; /**< [bins + 2] pairs; counter 0 is below the first edge, k + 1 is
                                     bin k, bins + 1 is above the last edge */
    const unsigned *stop;       /**< the stop flag: KITH_GPU_STOP or more ends the count early */
    int copies; /**< copies of a thread block's counters in shared memory, a power of 2; 0: pairs
                     are counted in device memory */
    int64_t begin, end; /**< tiles of one launch */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Return how many thread blocks of the kernel a multiprocessor is meant to hold. */
int kith__gpu_compare_blocks(kith_precision precision);

/** Fill all->panels from the rows. */
gpuError_t kith__gpu_pack(const struct kith__gpu_replicas *all, gpuStream_t stream);

/** Count the pairs of tiles [all->begin, all->end), by this number of thread blocks, in
 *  all->counts. */
gpuError_t kith__gpu_compare(const struct kith__gpu_replicas *all, int64_t blocks,
                             gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
