/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups measured in device memory. A thread measures a small group; of a large one each piece has
 * a thread, then each of the pieces' sums that are added. Launchers queue on the stream and return
 * the run-time's error code.
 */
#ifndef KITH_GPU_HALOS_H
#define KITH_GPU_HALOS_H

#include "halos/halo_sums.h"
#include "engine/gpu/gpu.h"

/** Small things in device memory. */
struct kith__gpu_halos_small {
    unsigned long long fault; /**< the first */
    double value;             /**< what it is about */
    unsigned empty;           /**< the first group without particles */
    uint32_t first;           /**< place of the first member among the sorted particles */
    int32_t n_large;
};

struct kith__gpu_halos {
    struct kith__members members; /**< with all arrays in device memory */
    const uint64_t *label;        /**< [points] sorted */
    const int32_t *order;         /**< [points] particles by label, then ascending */
    uint32_t *begin;              /**< [groups + 1] place where each group begins */
    int32_t *size;                /**< [groups] */
    kith_halo *halo;              /**< [groups] */

    int64_t first;        /**< begin[0] */
    const int32_t *large; /**< [n_large] groups of several pieces, ascending */
    int64_t n_large;
    struct kith__halo_frame *frame; /**< [n_large] */
    struct kith__halo_sums *sums;   /**< [kith__gpu_halo_pieces] */
    struct kith__gpu_halos_small *small;
};

/** Room for the sums of all pieces of large groups, which begin at place / KITH_HALO_PIECE and one
 *  further for each large group before. */
static inline int64_t kith__gpu_halo_pieces(const struct kith__gpu_halos *halos)
{
    return (halos->members.points.n - halos->first) / KITH_HALO_PIECE + halos->n_large;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Find the first fault. */
gpuError_t kith__gpu_halo_look(const struct kith__gpu_halos *halos, gpuStream_t stream);

/** Learn what a fault is about. */
gpuError_t kith__gpu_halo_value(const struct kith__gpu_halos *halos, int64_t fault,
                                gpuStream_t stream);

/** key[p] = label, id[p] = p. */
gpuError_t kith__gpu_halo_keys(const struct kith__gpu_halos *halos, uint64_t *key, int32_t *id,
                               gpuStream_t stream);

/** Find where groups begin, how large they are, and the first that is empty. */
gpuError_t kith__gpu_halo_groups(const struct kith__gpu_halos *halos, gpuStream_t stream);

/** Measure the groups of one piece, and the large ones. */
gpuError_t kith__gpu_halo_small(const struct kith__gpu_halos *halos, gpuStream_t stream);
gpuError_t kith__gpu_halo_large(const struct kith__gpu_halos *halos, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
