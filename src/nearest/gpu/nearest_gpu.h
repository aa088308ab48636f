/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours in device memory: the tree and the search, as kernels see them. The functions
 * here launch kernels: they queue on the stream and return the run time's error code.
 */
#ifndef KITH_GPU_NEAREST_H
#define KITH_GPU_NEAREST_H

#include "engine/gpu/gpu.h"
#include "nearest/images.h"
#include "nearest/nearest.h"

enum {
    KITH_GPU_LEAF = 8, /**< particles of a leaf */
#ifdef __HIP_PLATFORM_AMD__
    KITH_GPU_FANOUT = 64, /**< nodes below a node: lanes of a warp */
#else
    KITH_GPU_FANOUT = 32, /**< nodes below a node: lanes of a warp */
#endif
    KITH_GPU_FILTER_MOST = 32, /**< largest k of the filter (nearest_filter.cu) */
    KITH_GPU_PARTS = 8,      /**< parts into which the filter cuts the KITH_GPU_FANOUT particles of
                                  a group when they are too far apart for one search */
    KITH_GPU_TREE_LEVELS = 6 /**< most levels of nodes: 8 * 32^6 is more than 2^31 */
};

/** Bounds of one set, and particles that cannot be used. Encoded so that atomicMax merges them, and
 *  0 stands for no particles: an upper bound x is stored as ordered(x) of engine/gpu/device.cuh, an
 *  integer that compares as x does, and a lower bound as ~ordered(x). */
struct kith__gpu_extent {
    unsigned long long below[3], above[3];             /**< bounds of the wrapped coordinates */
    unsigned long long along_below[3], along_above[3]; /**< bounds of normal[k] . r, with the
                                                            normals of kith__image_planes */
    unsigned long long bad; /**< INT64_MAX - index of the first particle that is not finite; 0:
                                 none */
    unsigned long long far; /**< INT64_MAX - index of the first particle that is too far outside the
                                 box to wrap; 0: none */
};

/** The tree's unit of length: coordinates r become (r - origin) * scale. Numbers are then far from
 *  the limits of float, whatever the unit of the coordinates. */
struct kith__gpu_unit {
    double origin[3]; /**< lower bounds of all coordinates [length] */
    double size[3];   /**< differences between upper and lower bounds of all coordinates [length] */
    double longest;   /**< largest of `size` [length] */
    double scale;     /**< a power of two, so that products with it are exact: the longest side, or
                           the sum of the periods if larger, becomes 1 to 2 [1 / length] */
    double inverse;   /**< 1 / scale [length] */
};

/** Results of the kernels beside the neighbours. In device memory; zero at the beginning. */
struct kith__gpu_nearest_state {
    struct kith__gpu_extent extent[2]; /**< [0]: of the points, which are the candidates too when
                                            !cross; [1]: of the candidates when cross, else 0 */
    struct kith__gpu_unit unit;        /**< the tree's unit of length */
    int32_t status; /**< KITH_OK, or KITH_LIMIT: a neighbour may be too many boxes away */
    int32_t n_hard; /**< entries of kith__gpu_nearest.hard */
    int32_t n_rest; /**< entries of kith__gpu_nearest.rest */
    int32_t at_rim; /**< entries of kith__gpu_nearest.rim */
    unsigned stop;  /**< the stop flag: the host sets it to KITH_GPU_STOP to end kernels early */
};

/** The candidates in the order of a Hilbert curve, cut into leaves. A node of level 0 is a leaf,
 *  one of level l + 1 has KITH_GPU_FANOUT nodes of level l below it, the last one perhaps fewer. */
struct kith__gpu_tree {
    int64_t n;     /**< number of particles */
    void *records; /**< [count[0] * KITH_GPU_LEAF] record (record.cuh): wrapped position and index;
                        records after the last particle pad the last leaf, with the last particle's
                        position and the index -1 */
    int levels;    /**< number of levels: the last one has KITH_GPU_FANOUT nodes at most, and there
                        is no root above it */
    int64_t count[KITH_GPU_TREE_LEVELS]; /**< nodes of each level */
    int64_t first[KITH_GPU_TREE_LEVELS]; /**< index of each level's first node in `bound` and
                                              `least_id` */
    int64_t nodes;                       /**< nodes of all levels */
    float *bound;                        /**< [6][nodes] bounds of the particles of each node, in
                                              the tree's unit of length: lower x, y, z,
                                              upper x, y, z; rounded outwards */
    int32_t *least_id;                   /**< [nodes] least index of a particle of each node */
    float *radius;                       /**< [nodes] bound on the radii of the particles of each
                                              node, in the tree's unit (nearest_radii.cuh); 0
                                              without radii */
};

/** State of one call, as kernels see it. All arrays are in device memory. */
struct kith__gpu_nearest {
    struct kith__question question;   /**< points in device memory, box, and cutoff or 0; without
                                           candidates period_sum is 0, whatever the box */
    bool has_radii;                   /**< pairs are permitted by the radii of `rules` */
    struct kith__rules rules;         /**< rules with radii alone, in device memory; zero without */
    struct kith__image_planes planes; /**< planes between which images of the box lie */
    struct kith__gpu_nearest_state *state; /**< results of the kernels beside the neighbours */
    struct kith__gpu_tree tree;            /**< the candidates */
    void *records; /**< [a.n] record (record.cuh): points whose neighbours are searched, in the
                        order of a Hilbert curve; those of the tree when !cross */
    int key_bits;  /**< bits of a sort key along each axis */
    int32_t *hard; /**< [state->n_hard] numbers of groups of KITH_GPU_FANOUT consecutive `records`
                        that are too far apart for the filter to search for them together; the bit
                        LISTED of nearest_filter.cu marks groups that are in `rest` */
    int32_t *rest; /**< [state->n_rest] numbers of groups of KITH_GPU_FANOUT consecutive `records`
                        that the filter leaves to the exact search; not used without the filter */
    int32_t *rim;  /**< [state->at_rim] numbers of groups of KITH_GPU_FANOUT consecutive `records`
                        that may have neighbours in images of the box; empty in open space */
    kith_nearest out; /**< k, and the arrays of the result */
};

#ifdef __cplusplus
extern "C" {
#endif

struct kith__gpu_copy;
struct kith__batch;

/** Choose the arrays that kernels write: those of the caller where they are in device memory, else
 *  scratch memory of the context, from which they are to be copied to the host.
 *  @param rows         rows of the result
 *  @param out          the arrays that the caller wants, and k
 *  @param[out] there   the arrays in device memory
 *  @param[out] copies  [KITH_GPU_COPIES] the copies to the host; unchanged where none is needed
 *  @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__gpu_nearest_rows(kith_ctx *ctx, int64_t rows, kith_precision precision,
                                   const kith_nearest *out, kith_nearest *there,
                                   struct kith__gpu_copy *copies);

/** kith__nearest_backend.find_together */
kith_status kith__gpu_nearest_find_together(kith_ctx *ctx, const struct kith__batch *batch,
                                            const kith_nearest *out, enum kith__nearest_rest *rest);

/** Queue the bounds of a set, state->extent[set], and the search for particles that cannot be used.
 *  @param set  0: the points, 1: the candidates when cross */
gpuError_t kith__gpu_nearest_bounds(const struct kith__gpu_nearest *all, int set,
                                    gpuStream_t stream);

/** Queue the choice of the unit of length, state->unit, from the bounds of both sets. */
gpuError_t kith__gpu_nearest_unit(const struct kith__gpu_nearest *all, gpuStream_t stream);

/** Queue the keys of a set, by which it is to be sorted: numbers along a Hilbert curve; and its
 *  indices 0, 1, 2, ...
 *  @param set          0: the points, 1: the candidates when cross
 *  @param[out] key, id  [particles of the set] in device memory */
gpuError_t kith__gpu_nearest_keys(const struct kith__gpu_nearest *all, int set, uint64_t *key,
                                  int32_t *id, gpuStream_t stream);

/** Queue the records of the points, when cross. @param id  [a.n] their indices, sorted by key */
gpuError_t kith__gpu_nearest_points(const struct kith__gpu_nearest *all, const int32_t *id,
                                    gpuStream_t stream);

/** Queue the records and the nodes of the candidates. @param id  [tree.n] their indices, sorted by
 *  key */
gpuError_t kith__gpu_nearest_tree(const struct kith__gpu_nearest *all, const int32_t *id,
                                  gpuStream_t stream);

/** Queue the filter, which fills the rows of most points; k is KITH_GPU_FILTER_MOST at most, and
 *  there are no radii. The groups of the other points are put on the list `rest`.
 *  kith__gpu_nearest_search must be queued after it: vectors and shifts are incomplete before
 *  (nearest_rows.cuh). */
gpuError_t kith__gpu_nearest_filter(const struct kith__gpu_nearest *all, gpuStream_t stream);

/** Queue the exact search, which fills the rows of the groups on the list `rest`, or all rows when
 *  k is more than KITH_GPU_FILTER_MOST or there are radii; then queue vectors and shifts of all
 *  rows. */
gpuError_t kith__gpu_nearest_search(const struct kith__gpu_nearest *all, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
