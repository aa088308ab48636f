/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps in device memory. Launchers queue on the stream and return the run-time's error code.
 *
 * Replicas stand in panels of KITH_GPU_PANEL: the first numbers of all of them, then the second
 * ones, and so on. A tile is the pairs of two panels; tiles are handed out in squares of
 * KITH_GPU_SQUARE by KITH_GPU_SQUARE, so that those under way share panels in the cache.
 */
#ifndef KITH_GPU_REPLICAS_H
#define KITH_GPU_REPLICAS_H

#include "overlap/overlap.h"
#include "engine/gpu/gpu.h"

enum {
    KITH_GPU_PANEL = 128,
    KITH_GPU_SQUARE = 8,
    KITH_GPU_SLICE = 8 /**< numbers, or words of 32 spins, that are in shared memory at a time */
};

/** All pairs of replicas. */
struct kith__gpu_replicas {
    struct kith__overlap overlap; /**< with rows, square, edges and table in device memory */
    struct kith__band band;
    int precision;         /**< of products, KITH_FLOAT or KITH_DOUBLE */
    const double *scales;  /**< [n] what rows are multiplied with before they are packed */
    const double *weights; /**< [n] */
    void *panels;          /**< [panels][depth][KITH_GPU_PANEL] 0 where there is no replica */
    int64_t n_panels;
    int64_t depth;              /**< numbers, or words of 32 spins, in whole slices */
    unsigned long long *counts; /**< [bins + 2] */
    int copies;                 /**< of a block's counters, a power of 2; 0: in device memory */
    int64_t begin, end;         /**< tiles, by squares */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Blocks of the kernel that a multiprocessor is meant to hold. */
int kith__gpu_compare_blocks(kith_precision precision);

/** Fill the panels from the rows. */
gpuError_t kith__gpu_pack(const struct kith__gpu_replicas *all, gpuStream_t stream);

/** Add the pairs of tiles [begin, end) to the counts, by so many blocks. */
gpuError_t kith__gpu_compare(const struct kith__gpu_replicas *all, int64_t blocks,
                             gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
