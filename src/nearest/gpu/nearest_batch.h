/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours of the small systems of a batch in device memory, as kernels see them. The
 * functions here launch kernels: they queue on the stream and return the run time's error code.
 */
#ifndef KITH_GPU_NEAREST_BATCH_H
#define KITH_GPU_NEAREST_BATCH_H

#include "engine/gpu/systems.h"
#include "nearest_gpu.h"

/** Data of one system for the search, beside struct kith__gpu_system. */
struct kith__gpu_nearest_system {
    struct kith__image_planes planes; /**< planes between which images of its box lie */
    struct kith__gpu_extent
        extent;          /**< bounds of the coordinates of both sets, and of normal[k] . r
                              of the candidates; `bad` and `far` are not used */
    double tolerance[3]; /**< kith__image_tolerance along each periodic axis [length] */
};

/** State of one call. All arrays are in device memory. A leaf is a run of up to KITH_GPU_FANOUT
 *  slots of one system. Leaf l of system s has the number first[s] / KITH_GPU_FANOUT + s + l, where
 *  first[s] is the system's first particle in the set. So no two leaves have one number, and a
 *  number is found without a prefix sum of the numbers of leaves; some numbers are unused. */
struct kith__gpu_nearest_batch {
    struct kith__gpu_systems systems;        /**< the particles, sorted by system and cell */
    struct kith__gpu_nearest_system *system; /**< [systems.n] planes, bounds and tolerances */
    void *bounds;     /**< [kith__gpu_nearest_leaves of set b][6] lower, then upper bounds of the
                           coordinates of each leaf, by its number, in the precision of the points
                           [length] */
    kith_nearest out; /**< k, and the arrays of the result */
};

/** Return the bound on the numbers of leaves of a set of n particles: all are less than it. */
static inline int64_t kith__gpu_nearest_leaves(const struct kith__gpu_systems *systems, int64_t n)
{
    return n / KITH_GPU_FANOUT + systems->n;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Queue the planes, bounds and tolerances of systems, and the bounds of the leaves of set b. */
gpuError_t kith__gpu_nearest_measure(const struct kith__gpu_nearest_batch *all, gpuStream_t stream);

/** Queue the search, which fills the rows of the particles of small systems. Sets small->refused of
 *  the batch where a neighbour may be too many boxes away. */
gpuError_t kith__gpu_nearest_together(const struct kith__gpu_nearest_batch *all,
                                      gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
