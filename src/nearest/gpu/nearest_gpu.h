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
    KITH_GPU_FANOUT = 32,
#endif
    KITH_GPU_FILTER_MOST = 32, /**< largest k of the filter */
    KITH_GPU_PARTS = 8,        /**< parts of a group that the filter searches for on their own */
    KITH_GPU_TREE_LEVELS = 6   /**< most levels of nodes: 8 * 32^6 is more than 2^31 */
};

/** Bounds of one set, and particles that cannot be used. Encoded so that atomicMax merges them and
 *  0 is that of no particles: a lower bound is the complement of its ordered form
 *  (nearest_node.cuh). */
struct kith__gpu_extent {
    unsigned long long below[3], above[3];             /**< bounds of the coordinates */
    unsigned long long along_below[3], along_above[3]; /**< bounds of normal[k] . r */
    unsigned long long bad; /**< INT64_MAX - index of the first particle that is not finite */
    unsigned long long far; /**< INT64_MAX - index of the first particle too far outside */
};

/** The tree's unit of length: coordinates r become (r - origin) * scale. Numbers are then far from
 *  the limits of float, whatever the unit of the coordinates. */
struct kith__gpu_unit {
    double origin[3]; /**< lower bounds of all coordinates [length] */
    double size[3];   /**< differences between their upper and lower bounds [length] */
    double longest;   /**< largest of them [length] */
    double scale;     /**< a power of two: products with it are exact [1 / length] */
    double inverse;   /**< 1 / scale [length] */
};

/** What kernels find out, beside the neighbours. */
struct kith__gpu_nearest_state {
    struct kith__gpu_extent extent[2]; /**< of the points, and of the candidates when !cross too */
    struct kith__gpu_unit unit;        /**< the tree's unit of length */
    int32_t status; /**< KITH_OK, or KITH_LIMIT: a neighbour may be too many boxes away */
    int32_t n_hard; /**< entries of `hard` */
    int32_t n_rest; /**< entries of `rest` */
    int32_t at_rim; /**< entries of `rim` */
    unsigned stop;  /**< the stop flag */
};

/** The candidates in the order of a Hilbert curve, cut into leaves. A node of level 0 is a leaf,
 *  one of level l + 1 has KITH_GPU_FANOUT nodes of level l below it, the last one perhaps fewer. */
struct kith__gpu_tree {
    int64_t n;                           /**< number of particles */
    void *records;                       /**< [leaves * KITH_GPU_LEAF] record: wrapped position and
                                              index; behind the last one its position and
                                              -1 */
    int levels;                          /**< the last level has KITH_GPU_FANOUT nodes at most */
    int64_t count[KITH_GPU_TREE_LEVELS]; /**< nodes of each level */
    int64_t first[KITH_GPU_TREE_LEVELS]; /**< index of each level's first node below */
    int64_t nodes;                       /**< nodes of all levels */
    float *bound;                        /**< [6][nodes] bounds of the particles of each node, in
                                              the tree's unit of length: lower x, y, z,
                                              upper x, y, z; rounded outwards */
    int32_t *least_id;                   /**< [nodes] least index of a particle of each node */
};

/** State of one call, as kernels see it. All arrays are in device memory. */
struct kith__gpu_nearest {
    struct kith__question question;   /**< points, box, and cutoff or 0 */
    struct kith__image_planes planes; /**< planes between which images of the box lie */
    struct kith__gpu_nearest_state *state;
    struct kith__gpu_tree tree; /**< the candidates */
    void *records;              /**< [a.n] points whose neighbours are searched, in the order of a
                                     Hilbert curve; those of the tree when !cross */
    int key_bits;               /**< bits of a sort key along each axis */
    int32_t *hard;    /**< groups of KITH_GPU_FANOUT consecutive points that are too far apart for
                           the filter to search for them together */
    int32_t *rest;    /**< groups of KITH_GPU_FANOUT consecutive points that the filter leaves to
                           the exact search */
    int32_t *rim;     /**< groups of KITH_GPU_FANOUT consecutive points that may have neighbours in
                           images of the box; NULL in open space */
    kith_nearest out; /**< k, and the arrays of the result */
};

#ifdef __cplusplus
extern "C" {
#endif

struct kith__gpu_copy;
struct kith__batch;

/** Allocate the arrays of a result on the device, where the caller wants them on the host.
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

/** Queue the bounds of a set. @param set  0: the points, 1: the candidates */
gpuError_t kith__gpu_nearest_bounds(const struct kith__gpu_nearest *all, int set,
                                    gpuStream_t stream);

/** Queue the choice of the unit of length, from the bounds of both sets. */
gpuError_t kith__gpu_nearest_unit(const struct kith__gpu_nearest *all, gpuStream_t stream);

/** Queue the keys of a set, by which it is to be sorted, and its indices 0, 1, 2, ... */
gpuError_t kith__gpu_nearest_keys(const struct kith__gpu_nearest *all, int set, uint64_t *key,
                                  int32_t *id, gpuStream_t stream);

/** Queue the records of the points. @param id  [a.n] their indices, sorted */
gpuError_t kith__gpu_nearest_points(const struct kith__gpu_nearest *all, const int32_t *id,
                                    gpuStream_t stream);

/** Queue the records and the nodes of the candidates. @param id  [tree.n] their indices, sorted */
gpuError_t kith__gpu_nearest_tree(const struct kith__gpu_nearest *all, const int32_t *id,
                                  gpuStream_t stream);

/** Queue the filter, which fills the rows of most points when k is KITH_GPU_FILTER_MOST at most.
 *  The groups of the other points are put on the list `rest`. */
gpuError_t kith__gpu_nearest_filter(const struct kith__gpu_nearest *all, gpuStream_t stream);

/** Queue the exact search, which fills the rows that the filter has left, or all. */
gpuError_t kith__gpu_nearest_search(const struct kith__gpu_nearest *all, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
