/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's side of friends-of-friends on a GPU, in steps: fof_gpu.c finds the groups of all
 * particles by them, fof_roles_gpu.c those of the particles that link.
 */
#ifndef KITH_GPU_FOF_SEARCH_H
#define KITH_GPU_FOF_SEARCH_H

#include "fof_gpu.h"

#include "engine/gpu/search.h"
#include "fof/fof.h"

/* Buffers of this folder's scratch memory on the device. */
enum {
    KITH_GPU_FOF_INDEX = KITH_WORK_OF(fof), /**< kith__gpu_friends.index */
    KITH_GPU_FOF_PARENT,                    /**< kith__gpu_friends.parent */
    KITH_GPU_FOF_DEFERRED,                  /**< kith__gpu_friends.deferred */
    KITH_GPU_FOF_IDS,        /**< ids of particles, and the smallest id of each group */
    KITH_GPU_FOF_VELOCITIES, /**< kith__gpu_friends.velocities */
    KITH_GPU_FOF_FAULTS,     /**< struct kith__gpu_fof_faults */
    KITH_GPU_FOF_ROLES = KITH_WORK_OF(fof) + 16 /**< first buffer of fof_roles_gpu.c; those before
                                                     are of fof_batch_gpu.c */
};

/** State of one search, host side. */
struct kith__gpu_fof_search {
    struct kith__gpu_search s;   /**< the grid and its buffers */
    struct kith__gpu_friends f;  /**< what kernels are given */
    const struct kith__fof *fof; /**< options; min_links and roles are not read here */
    kith_groups *out;            /**< the result */
    int32_t *labels;        /**< [f.particles] device: where labels are to be written, by the index
                                  of the particle */
    const int64_t *ids;     /**< [f.particles] device: ids; NULL: upload fof->ids, if given */
    const void *velocities; /**< [f.particles][3] device; NULL: upload fof->velocities, if given */
    int32_t *root; /**< [2][n_groups] device: roots of the groups, and the sort's second buffer */
    uint64_t *key; /**< [2][n_groups] device: sort keys, and the sort's second buffer */
    int64_t n_groups; /**< number of groups */
};

/** Check the arrays of options in device memory; nothing where they are in host memory.
 *  @param n  number of particles
 *  @return KITH_OK; KITH_INVALID for a role, KITH_NOT_FINITE for a velocity; a failure */
kith_status kith__gpu_fof_check(kith_ctx *ctx, int64_t n, kith_precision precision,
                                const struct kith__fof *fof);

/** Fetch the arrays of options to host memory, unless they are there.
 *  @param n            number of particles
 *  @param[in,out] fof  afterwards with arrays in host memory */
kith_status kith__gpu_fof_fetch(kith_ctx *ctx, int64_t n, kith_precision precision,
                                struct kith__fof *fof);

/** List the clumps of set a, whose grid with subcells kith__gpu_search_begin has queued.
 *  @param w            s, fof, out and, where given, ids and velocities are set
 *  @param every_image  as in kith__subcells_init
 *  @param[out] fits    false: subcells do not suit the box (kith__subcells_init), and nothing was
 *                      done */
kith_status kith__gpu_fof_list(struct kith__gpu_fof_search *w, bool every_image, bool *fits);

/** Unite the trees of all friends, after kith__gpu_fof_list. Sets f.n. */
kith_status kith__gpu_fof_link(struct kith__gpu_fof_search *w);

/** Number the groups, after kith__gpu_fof_link: sets n_groups and out->members, and queues labels
 *  and sizes. Sizes are written to out->members where that is in device memory, else to `key`. */
kith_status kith__gpu_fof_number_groups(struct kith__gpu_fof_search *w);

/** Wait for the result, and copy it to out where that is in host memory.
 *  @param labels  [n] labels in device memory: out->labels where that is in device memory
 *  @param n       number of labels */
kith_status kith__gpu_fof_deliver(struct kith__gpu_fof_search *w, const int32_t *labels, int64_t n);

/** Copy groups from host memory to out, which is in device memory. */
kith_status kith__gpu_fof_send(kith_ctx *ctx, const kith_groups *from, kith_groups *out);

/** kith__fof_backend.find_by_roles */
kith_status kith__gpu_fof_by_roles(kith_ctx *ctx, const struct kith__question *question,
                                   const struct kith__fof *fof, kith_groups *out);

#endif
