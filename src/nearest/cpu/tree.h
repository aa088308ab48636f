/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A k-d tree over the wrapped positions of a set of particles. Each node is halved along the
 * longest side of its bounding box, at the boundary between leaves that is nearest to the median,
 * so the tree is balanced for any distribution. Leaves have KITH_LEAF particles each, the last one
 * at most KITH_LEAF. Nodes are numbered in preorder, the root is node 0. A node with leaves [begin,
 * end) is followed by its left half, leaves [begin, m) with m as kith__tree_split returns it. The
 * left half has 2 * (m - begin) - 1 nodes, so the right half is node number + 2 * (m - begin).
 */
#ifndef KITH_NEAREST_TREE_H
#define KITH_NEAREST_TREE_H

#include "engine/question.h"

enum {
    KITH_LEAF = 32,       /**< particles of a leaf; a multiple of the lanes of all vectors */
    KITH_TREE_BUFFERS = 6 /**< scratch buffers of a tree */
};

/** The tree of a set. Arrays are in the order of the leaves: the particles of leaf l begin at entry
 *  KITH_LEAF * l. */
struct kith__tree {
    int64_t n;      /**< number of particles */
    int64_t leaves; /**< number of leaves */
    void *xyz[3];   /**< [KITH_LEAF * leaves] wrapped coordinates, in the precision of the points;
                         NaN in the last leaf beyond the particles [length] */
    int32_t *id; /**< [KITH_LEAF * leaves] index of each particle in the caller's order; -1 in the
                      last leaf beyond the particles */
    void *box;   /**< [2 * leaves - 1][6] lowest and highest coordinates of the particles of each
                      node: x, y, z, then x, y, z; in the precision of the points [length] */
    int32_t *least; /**< [2 * leaves - 1] smallest index, in the caller's order, of the particles of
                         each node */
    void *radius;   /**< [KITH_LEAF * leaves] radius of each particle, 0 beyond the particles, in
                         the precision of the points; NULL: there are no radii [length] */
    void *most_radius; /**< [2 * leaves - 1] largest radius of the particles of each node, in the
                            precision of the points; NULL: there are no radii [length] */
};

/** Return the first leaf of the right half of a node with leaves [begin, end), two or more. */
static inline int64_t kith__tree_split(int64_t begin, int64_t end)
{
    return begin + (end - begin) / 2;
}

/** Build the tree of a set whose coordinates are known to be usable (kith__bounds_check).
 *  O(n log n), parallel.
 *  @param points  the set: question->a or question->b
 *  @param buffer  number of the first of KITH_TREE_BUFFERS scratch buffers for the tree, which own
 *                 its arrays
 *  @param[out] tree  the tree; without particles its arrays are NULL
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED */
kith_status kith__tree_build(kith_ctx *ctx, const struct kith__question *question,
                             const kith_points *points, int buffer, struct kith__tree *tree);

/** Set the radii of a tree that was built. O(n).
 *  @param radii   [tree->n] radius of each particle, in the caller's order and in the precision of
 *                 the points [length]
 *  @param buffer  as for kith__tree_build
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED */
kith_status kith__tree_radii(kith_ctx *ctx, kith_precision precision, const void *radii, int buffer,
                             struct kith__tree *tree);

#endif
