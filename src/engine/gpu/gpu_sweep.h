/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of a sweep on a GPU, for host code and kernels. gpu_sweep.cuh has the algorithm,
 * and defines i-cluster and work block.
 */
#ifndef KITH_GPU_SWEEP_H
#define KITH_GPU_SWEEP_H

#include "gpu_grid.h"

/* Most slots of a work block: they have one bit each in a word of kith__gpu_grid.marks. */
enum { KITH_GPU_WORK_BLOCK = 32 };

/* The host ends a sweep early by writing this number, larger than that of any work block, to
 * *next. */
#define KITH_GPU_STOP 0x80000000u

/** The parameters of a sweep. */
struct kith__gpu_sweep {
    struct kith__gpu_grid grid; /**< the sorted particles */
    bool forward;               /**< each unordered pair is found once; else as (i, j) and (j, i) */
    int work_block; /**< slots of a work block, a power of 2, at most KITH_GPU_WORK_BLOCK; a warp
                         processes the i-clusters that begin there */
    int64_t first;  /**< first work block to process */
    int64_t last;   /**< work block behind the last */
    unsigned *next; /**< work queue counter, in device memory: work blocks claimed so far */
    int blocks;     /**< thread blocks to launch: enough to fill the device, fewer for few
                         particles */
};

#endif
