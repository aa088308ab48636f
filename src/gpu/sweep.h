/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a sweep is asked, for the host and the kernels.
 */
#ifndef KITH_GPU_SWEEP_H
#define KITH_GPU_SWEEP_H

#include "grid.h"

struct kith__gpu_sweep {
    struct kith__gpu_grid grid;
    bool forward;        /**< each pair once; else from both ends */
    int64_t first, last; /**< homes: last may be beyond their number */
    unsigned *next;      /**< device memory: counts the homes taken */
    int blocks;          /**< that fill the device */
};

#endif
