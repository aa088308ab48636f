/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends of friends in device memory: the same clumps, cells and indexes of crowded cells as on
 * the CPU, a thread for each clump. Launchers queue on the stream and return the run-time's error
 * code.
 */
#ifndef KITH_GPU_FOF_H
#define KITH_GPU_FOF_H

#include "fof/parts.h"
#include "engine/gpu/gpu_grid.h"

/** Two clumps that may touch. */
struct kith__gpu_two {
    int32_t a, b;
    uint32_t shift; /**< image of b, packed */
};

/** Small things in device memory. */
struct kith__gpu_fof_small {
    int32_t n_clumps, n_groups;
    unsigned n_crowds;
    unsigned long long n_later;
};

struct kith__gpu_friends {
    struct kith__question question;
    struct kith__axis axis[3];
    struct kith__parts parts;
    bool table;    /**< start is there; else search the keys */
    bool by_clump; /**< nodes are clumps, else particles */
    bool crowds;   /**< some cell is crowded */
    int64_t cells;

    int64_t particles;
    const void *x, *y, *z;  /**< [particles] in cell order */
    const int32_t *id;      /**< [particles] the caller's index; ascending in a clump */
    const void *velocities; /**< [particles][3] by the caller's index; NULL: none */
    double velocity_length;

    int64_t n;             /**< clumps */
    const uint32_t *first; /**< [n + 1] first particle */
    const uint64_t *key;   /**< [n] */
    uint32_t *start;       /**< [cells + 1] first clump of each cell */
    uint32_t *crowd;       /**< [n / KITH_CROWD + 1] index of the crowded cell that begins there */
    struct kith__part_row *index; /**< [crowded cells][parts.rows] */

    int64_t nodes;
    int32_t *parent; /**< [nodes] */
    int32_t *below;  /**< [nodes] at a root: particles of the tree beside the root's own */
    int32_t *mark;   /**< [nodes] at a root: INT32_MAX less their smallest index, 0 without any;
                          then below 0 if the tree is a group, and -1 less its number */
    struct kith__gpu_two *later; /**< [room_later] what is left for the end of a pass */
    unsigned long long room_later;
    struct kith__gpu_fof_small *small;
    const unsigned *stop; /**< at least KITH_GPU_STOP: the host wants the kernels to end early */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Fill the table, plant the trees, number and count the crowded cells. Of the friends all is set
 *  but n and nodes, which the device reads from small; sets first[n], too. */
gpuError_t kith__gpu_plant_trees(const struct kith__gpu_friends *friends, uint32_t *first,
                                 gpuStream_t stream);

/** Fill the index of crowded cells, which is clear. */
gpuError_t kith__gpu_index_crowds(const struct kith__gpu_friends *friends, gpuStream_t stream);

/** Unite all that are friends if no cell is crowded and there is a small table of cells. Of the
 *  friends n, nodes, crowds and index need not be set. */
gpuError_t kith__gpu_link_thin(const struct kith__gpu_friends *friends, gpuStream_t stream);

/** Unite all that are friends otherwise. */
gpuError_t kith__gpu_link(const struct kith__gpu_friends *friends, gpuStream_t stream);

/** Point every node at its root; fill below and mark. List the roots of the groups, in any order,
 *  and count them in small. */
gpuError_t kith__gpu_measure(const struct kith__gpu_friends *friends, int64_t min_members,
                             int32_t *list, gpuStream_t stream);

/** least[g] = smallest of ids over group g, whose root is root[g], its sign bit turned so that the
 *  order is that of unsigned numbers; marks the roots. */
gpuError_t kith__gpu_least_ids(const struct kith__gpu_friends *friends, const int32_t *root,
                               int64_t n, const int64_t *ids, uint64_t *least, gpuStream_t stream);

/** What groups are sorted by: size and leader, or their root, or their least id, or size alone. */
enum kith__gpu_order { KITH_GPU_BY_LEADER, KITH_GPU_BY_ROOT, KITH_GPU_BY_ID, KITH_GPU_BY_SIZE };

gpuError_t kith__gpu_group_keys(const struct kith__gpu_friends *friends, const int32_t *root,
                                int64_t n, enum kith__gpu_order order, const uint64_t *least,
                                uint64_t *key, gpuStream_t stream);

/** Write the members of the groups, and label their particles; the labels are clear. */
gpuError_t kith__gpu_label(const struct kith__gpu_friends *friends, const int32_t *root, int64_t n,
                           int64_t *members, int32_t *labels, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
