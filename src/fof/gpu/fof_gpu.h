/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends in device memory: the algorithm of the CPU backend (subcells.h, friends.h)
 * with one thread for each clump. The functions here launch kernels: they queue on the stream and
 * return the run time's error code. All arrays are in device memory.
 */
#ifndef KITH_GPU_FOF_H
#define KITH_GPU_FOF_H

#include "fof/subcells.h"
#include "engine/gpu/gpu_grid.h"

/** Two clumps that may hold a pair of friends. */
struct kith__gpu_clump_pair {
    int32_t a, b;   /**< the clumps */
    uint32_t shift; /**< periodic image of b, packed by pack() */
};

/** Counters in device memory that the host reads. */
struct kith__gpu_fof_small {
    int32_t n_clumps, n_groups;    /**< clumps; groups */
    unsigned n_dense;              /**< dense cells */
    int32_t n_crowded;             /**< attached particles near very many that link (fof_roles.h) */
    unsigned long long n_deferred; /**< pairs of clumps deferred to the end of a pass; may exceed
                                        deferred_room, when the rest was tested at once */
};

/** State of one search, as kernels see it. */
struct kith__gpu_friends {
    struct kith__question question; /**< points, box and linking length */
    struct kith__axis axis[3];      /**< axes of the grid */
    struct kith__subcells subcells; /**< which subcells are within reach of one */
    bool table;                     /**< `start` is filled; else keys are searched */
    bool by_clump;                  /**< nodes of the forest are clumps; else particles */
    bool any_dense;                 /**< some cell is dense */
    int64_t cells;                  /**< number of cells */

    int64_t particles;      /**< number of particles */
    const void *x, *y, *z;  /**< [particles] coordinates by slot [length] */
    const int32_t *id;      /**< [particles] caller's index by slot; ascending in a clump */
    const void *velocities; /**< [particles][3] by the caller's index; NULL: none */
    double velocity_length; /**< linking length of velocities [velocity] */

    int64_t n;             /**< number of clumps */
    const uint32_t *first; /**< [n + 1] first slot of each clump, then the number of particles */
    const uint64_t *key;   /**< [n] cell and subcell of each clump, ascending */
    uint32_t *start;       /**< [cells + 1] first clump of each cell, then n */
    uint32_t *dense; /**< [n / KITH_DENSE + 1] number of the dense cell whose first clump is c,
                          at c / KITH_DENSE */
    /** [dense cells][subcells.rows] clumps in each row of subcells. */
    struct kith__subcell_row *index;

    int64_t nodes;   /**< nodes of the forest */
    int32_t *parent; /**< [nodes] parent of each node; a root is its own parent */
    int32_t *below;  /**< [nodes] at a root: particles of the tree's other nodes */
    int32_t *mark;   /**< [nodes] at a root: INT32_MAX less the smallest particle index of the other
                          nodes, 0 when there are none; later -1 - g at the root of group g */
    /** [deferred_room] pairs deferred to the end of a pass. */
    struct kith__gpu_clump_pair *deferred;
    unsigned long long deferred_room;  /**< capacity of `deferred` */
    struct kith__gpu_fof_small *small; /**< counters */
    const unsigned *stop; /**< KITH_GPU_STOP or more: the host asks the kernels to end early */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Fill the table of cells, make every node a tree, number and count the dense cells. Of *friends
 *  all is set but n and nodes, which kernels read from small. Sets first[n] too. */
gpuError_t kith__gpu_make_trees(const struct kith__gpu_friends *friends, uint32_t *first,
                                gpuStream_t stream);

/** Fill the index of dense cells, which is zeroed. */
gpuError_t kith__gpu_index_dense_cells(const struct kith__gpu_friends *friends, gpuStream_t stream);

/** Unite the trees of all friends, if no cell is dense and there is a table of at most 2^31 cells;
 *  otherwise do nothing. Of *friends n, nodes, any_dense and index need not be set. */
gpuError_t kith__gpu_link_without_dense(const struct kith__gpu_friends *friends,
                                        gpuStream_t stream);

/** Unite the trees of all friends in the cases that kith__gpu_link_without_dense leaves out. */
gpuError_t kith__gpu_link(const struct kith__gpu_friends *friends, gpuStream_t stream);

/** Point every node at its root; fill below and mark. List the roots of the groups, in any order,
 *  and count them in small->n_groups. @param[out] list  [groups] */
gpuError_t kith__gpu_measure(const struct kith__gpu_friends *friends, int64_t min_members,
                             int32_t *list, gpuStream_t stream);

/** Find the smallest id of each group, with its sign bit flipped, so that unsigned order is the
 *  order of ids. Writes -1 - g to mark at the root of group g.
 *  @param root        [n] roots of the groups
 *  @param ids         [particles] by the caller's index
 *  @param[out] least  [n] */
gpuError_t kith__gpu_least_ids(const struct kith__gpu_friends *friends, const int32_t *root,
                               int64_t n, const int64_t *ids, uint64_t *least, gpuStream_t stream);

/** Sort key of groups: size and smallest index; root; smallest id; size. Sizes fall. */
enum kith__gpu_order { KITH_GPU_BY_LEADER, KITH_GPU_BY_ROOT, KITH_GPU_BY_ID, KITH_GPU_BY_SIZE };

/** Write the sort key of each group. @param least  [n] for KITH_GPU_BY_ID  @param[out] key  [n] */
gpuError_t kith__gpu_group_keys(const struct kith__gpu_friends *friends, const int32_t *root,
                                int64_t n, enum kith__gpu_order order, const uint64_t *least,
                                uint64_t *key, gpuStream_t stream);

/** Write the number of members of each group, and the labels of its particles. labels [particles],
 *  by the caller's index, is zeroed. */
gpuError_t kith__gpu_label(const struct kith__gpu_friends *friends, const int32_t *root, int64_t n,
                           int64_t *members, int32_t *labels, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
