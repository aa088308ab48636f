/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launchers of the kernels for orders of particles. All arrays are in device memory. Launchers
 * queue their work on a stream and return the run-time library's error code.
 */
#ifndef KITH_GPU_ORDER_H
#define KITH_GPU_ORDER_H

#include "engine/gpu/gpu.h"
#include "order/order.h"

/** Extents of the coordinates, encoded so that atomicMax merges them; all 0 at the beginning. The
 *  ordered form of a double is an integer that compares as the doubles do (engine/gpu/device.cuh).
 */
struct kith__gpu_extents {
    unsigned long long below[3]; /**< inverted bits of the ordered form of the smallest coordinate
                                      along x, y, z */
    unsigned long long above[3]; /**< ordered form of the largest coordinate along x, y, z */
    unsigned long long bad; /**< INT64_MAX - index of the first particle that is not finite; 0: all
                                 are finite */
    unsigned long long far; /**< INT64_MAX - index of the first particle too far outside the box; 0:
                                 there is none */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Find the extents of the wrapped coordinates of a question's particles.
 *  @param[in,out] extents  zero before the call */
gpuError_t kith__gpu_order_extents(const struct kith__question *question,
                                   struct kith__gpu_extents *extents, gpuStream_t stream);

/** Write the key and the index of each particle, in the caller's order.
 *  @param cells        the cells (kith__order_cells_of), in host memory
 *  @param[out] key, id [n] */
gpuError_t kith__gpu_order_keys(const struct kith__question *question,
                                const struct kith__order_cells *cells, uint64_t *key, int32_t *id,
                                gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
