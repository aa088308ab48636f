/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halo properties in device memory. A piece is KITH_HALO_PIECE members of a group, the last one of
 * a group fewer (halo_sums.h). One thread measures a group of one piece. In a large group, one of
 * several pieces, one thread sums each piece, then one thread adds each KITH_HALO_PIECE sums, and
 * so on. The functions here launch kernels: they queue on the stream and return the run-time
 * library's error code.
 */
#ifndef KITH_GPU_HALOS_H
#define KITH_GPU_HALOS_H

#include "halos/halo_sums.h"
#include "engine/gpu/gpu.h"

/** Counters in device memory that the host reads. */
struct kith__gpu_halos_small {
    unsigned long long fault; /**< smallest number of a fault (halo.h, KITH_NO_FAULT); UINT64_MAX:
                                   none */
    double value;             /**< the faulty value, kith__fault_value */
    unsigned empty;           /**< first group without particles, from 1; UINT32_MAX: none */
    uint32_t first;           /**< entry of the first member among the sorted particles: the number
                                   of particles without a group */
    int32_t n_large;          /**< groups of more than one piece */
};

/** State of one measurement, as kernels see it. */
struct kith__gpu_halos {
    struct kith__members members; /**< the input; all arrays are in device memory */
    const uint64_t *label;        /**< [points] labels, ascending */
    const int32_t *order;         /**< [points] particles by label, ascending for each label */
    uint32_t *begin;              /**< [groups + 1] first entry of each group in `order`, then the
                                       number of particles; UINT32_MAX: the group is empty */
    int32_t *size;                /**< [groups] members of each group */
    kith_halo *halo;              /**< [groups] results */

    int64_t first;                       /**< begin[0]: small->first, as read by the host */
    const int32_t *large;                /**< [n_large] groups of several pieces, ascending */
    int64_t n_large;                     /**< number of these */
    struct kith__halo_frame *frame;      /**< [n_large] results of earlier passes */
    struct kith__halo_sums *sums;        /**< [kith__gpu_halo_pieces] sums of each piece */
    struct kith__gpu_halos_small *small; /**< counters */
};

/** Return the capacity for the sums of all pieces of large groups. The sums of large group k begin
 *  at (begin - first) / KITH_HALO_PIECE + k, begin being that of the group: a formula in place of a
 *  prefix sum of the numbers of pieces. `+ k` leaves room for the last piece of each group before,
 *  which may have fewer members; some entries remain unused. */
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

/** Set key[p] to the label of p, and id[p] to p, for sorting.
 *  @param[out] key, id  [points] */
gpuError_t kith__gpu_halo_keys(const struct kith__gpu_halos *halos, uint64_t *key, int32_t *id,
                               gpuStream_t stream);

/** Find begin and size of each group, small->first, and small->empty, the first group without
 *  particles. label and order are sorted; all bits of begin and of small->empty are 1. */
gpuError_t kith__gpu_halo_groups(const struct kith__gpu_halos *halos, gpuStream_t stream);

/** Measure the groups of one piece, except their spheres. */
gpuError_t kith__gpu_halo_small(const struct kith__gpu_halos *halos, gpuStream_t stream);

/** Measure the groups of several pieces, except their spheres. */
gpuError_t kith__gpu_halo_large(const struct kith__gpu_halos *halos, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
