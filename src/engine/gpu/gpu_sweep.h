/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a sweep is asked, for the host and the kernels.
 */
#ifndef KITH_GPU_SWEEP_H
#define KITH_GPU_SWEEP_H

#include "gpu_grid.h"

/* A street has at most this many particles: a bit each in a word of marks. */
enum { KITH_GPU_STREET = 32 };

/* The host ends a sweep early by writing this to *next: no street has so large a number. */
#define KITH_GPU_STOP 0x80000000u

struct kith__gpu_sweep {
    struct kith__gpu_grid grid;
    bool forward; /**< each pair once; else from both ends */
    int street;   /**< particles of a street, 2^k; a warp visits the homes that begin there */
    int64_t first, last; /**< streets [first, last) are swept */
    unsigned *next;      /**< device memory: counts the streets taken */
    int blocks;          /**< that fill the device */
};

#endif
