/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of all systems of a batch at once, by the sweep over the batch: every pair of friends is
 * tested and united, in a forest whose nodes are particles. The root of a tree is its smallest
 * index. The functions here that take a stream launch kernels: they queue on the stream and return
 * the run time's error code. All their arrays are in device memory.
 */
#ifndef KITH_GPU_FOF_BATCH_H
#define KITH_GPU_FOF_BATCH_H

#include "engine/gpu/systems.h"
#include "fof/fof.h"

/** Bits of a sort key below the number of the system: they hold KITH_FOF_SMALL less the size of a
 *  group. */
enum { KITH_GPU_FOF_SIZE_BITS = 14 };

/** State of one call, as kernels see it. */
struct kith__gpu_fof_batch {
    struct kith__gpu_batch_sweep sweep; /**< the systems, and the parameters of the sweep */
    int32_t *parent;  /**< [particles] parent of each particle, by the caller's index; a root is its
                           own parent */
    int32_t *size;    /**< [particles] at a root: particles of its tree; else 0. Once groups are
                           numbered, -1 - g at the root of group g */
    int64_t n_groups; /**< number of groups */
    int32_t *root;    /**< [n_groups] root of each group: its smallest particle index */
    uint64_t *key;    /**< [n_groups] sort key of each group: system, then falling size */
};

#ifdef __cplusplus
extern "C" {
#endif

/** kith__fof_backend.find_together */
kith_status kith__gpu_fof_together(kith_ctx *ctx, const struct kith__batch *batch,
                                   const struct kith__fof *fof, kith_groups *out, bool *done);

/** Queue the forest of all friends, and the sizes of its trees: fills parent and size. */
gpuError_t kith__gpu_fof_unite(const struct kith__gpu_fof_batch *all, gpuStream_t stream);

/** Queue the sort keys of groups: fills key, from root and size. */
gpuError_t kith__gpu_fof_keys(const struct kith__gpu_fof_batch *all, gpuStream_t stream);

/** Queue labels, members and offsets of the groups, of which root and key are sorted. Overwrites
 *  size.
 *  @param[out] labels   [particles] number of each particle's group, from 1; 0: none
 *  @param[out] members  [n_groups] number of members of each group
 *  @param[out] offsets  [systems + 1] number of groups of the systems before each */
gpuError_t kith__gpu_fof_number(const struct kith__gpu_fof_batch *all, int32_t *labels,
                                int64_t *members, int64_t *offsets, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
