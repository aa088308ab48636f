/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps in device memory. The functions here launch kernels: they queue on the stream and return
 * the run time's error code.
 *
 * Replicas are packed into panels of KITH_GPU_PANEL: number 0 of all replicas of a panel, then
 * number 1, and so on. A tile is the pairs of two panels. Tiles are numbered by squares of
 * KITH_GPU_SQUARE by KITH_GPU_SQUARE, so that tiles in flight share panels in the cache.
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
    int precision;                /**< of products: KITH_FLOAT or KITH_DOUBLE */
    const double *scales;         /**< [n] scale of each row in its panel */
    const double *weights;        /**< [n] weight of each row */
    void *panels;                 /**< [n_panels][depth][KITH_GPU_PANEL] padded with 0 */
    int64_t n_panels;             /**< number of panels */
    int64_t depth;              /**< numbers, or words of 32 spins, of a replica, in whole slices */
    unsigned long long *counts; /**< [bins + 2] pairs */
    const unsigned *stop;       /**< the stop flag: KITH_GPU_STOP or more ends the count early */
    int copies; /**< copies of a block's counters, a power of 2; 0: in device memory alone */
    int64_t begin, end; /**< tiles of one launch */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Return the number of blocks of the kernel that a multiprocessor is meant to hold. */
int kith__gpu_compare_blocks(kith_precision precision);

/** Fill the panels from the rows. */
gpuError_t kith__gpu_pack(const struct kith__gpu_replicas *all, gpuStream_t stream);

/** Count the pairs of tiles [begin, end), by this number of blocks. */
gpuError_t kith__gpu_compare(const struct kith__gpu_replicas *all, int64_t blocks,
                             gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
