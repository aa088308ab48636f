/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halo properties in device memory. A group of one piece has a thread; of a larger group each piece
 * has a thread, and then each sum of pieces. The functions here launch kernels: they queue on the
 * stream and return the run time's error code.
 */
#ifndef KITH_GPU_HALOS_H
#define KITH_GPU_HALOS_H

#include "halos/halo_sums.h"
#include "engine/gpu/gpu.h"

/** Counters in device memory that the host reads. */
struct kith__gpu_halos_small {
    unsigned long long fault; /**< smallest number of a fault; UINT64_MAX: none */
    double value;             /**< the faulty value */
    unsigned empty;           /**< first group without particles, from 1; UINT32_MAX: none */
    uint32_t first;           /**< entry of the first member among the sorted particles */
    int32_t n_large;          /**< groups of more than one piece */
};

/** State of one measurement, as kernels see it. */
struct kith__gpu_halos {
    struct kith__members members; /**< the input; all arrays are in device memory */
    const uint64_t *label;        /**< [points] labels, ascending */
    const int32_t *order;         /**< [points] particles by label, ascending for each label */
    uint32_t *begin;              /**< [groups + 1] first entry of each group in `order` */
    int32_t *size;                /**< [groups] members of each group */
    kith_halo *halo;              /**< [groups] results */

    int64_t first;                       /**< begin[0] */
    const int32_t *large;                /**< [n_large] groups of several pieces, ascending */
    int64_t n_large;                     /**< number of these */
    struct kith__halo_frame *frame;      /**< [n_large] results of earlier passes */
    struct kith__halo_sums *sums;        /**< [kith__gpu_halo_pieces] sums of each piece */
    struct kith__gpu_halos_small *small; /**< counters */
};

/** Capacity for the sums of all pieces of large groups. Those of a group begin at (begin - first) /
 *  KITH_HALO_PIECE + k for the k-th large group. */
static inline int64_t kith__gpu_halo_pieces(const struct kith__gpu_halos *halos)
{
    return (halos->members.points.n - halos->first) / KITH_HALO_PIECE + halos->n_large;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Check all particles: set small->fault. */
gpuError_t kith__gpu_halo_check(const struct kith__gpu_halos *halos, gpuStream_t stream);

/** Set small->value to the faulty value of a fault. */
gpuError_t kith__gpu_halo_value(const struct kith__gpu_halos *halos, int64_t fault,
                                gpuStream_t stream);

/** Set key[p] to the label of p, and id[p] to p. */
gpuError_t kith__gpu_halo_keys(const struct kith__gpu_halos *halos, uint64_t *key, int32_t *id,
                               gpuStream_t stream);

/** Find begin and size of each group, and the first group without particles. */
gpuError_t kith__gpu_halo_groups(const struct kith__gpu_halos *halos, gpuStream_t stream);

/** Measure the groups of one piece. */
gpuError_t kith__gpu_halo_small(const struct kith__gpu_halos *halos, gpuStream_t stream);
/** Measure the groups of several pieces. */
gpuError_t kith__gpu_halo_large(const struct kith__gpu_halos *halos, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
