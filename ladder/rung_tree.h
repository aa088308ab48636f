/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kd-tree of rung 2 of the ladder of groups, and a walk through it that needs no stack; for the
 * CPU and the GPU.
 */
#ifndef KITH_RUNG_TREE_H
#define KITH_RUNG_TREE_H

#include "rung.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A node of a kd-tree: a point that splits those below it. Links are indices of nodes; -1:
 *  none. */
typedef struct rung_node {
    double x[3];  /**< position of the point */
    int32_t id;   /**< index of the point */
    int32_t up;   /**< parent */
    int32_t low;  /**< child with the lower coordinates along axis */
    int32_t high; /**< child with the higher coordinates along axis */
    int32_t axis; /**< axis along which the point splits: 0, 1 or 2 */
} rung_node;

/** Build a tree of the points. @param[out] nodes  [n] @return the root; -1: there are no points */
int32_t rung_tree_build(const rung_input *in, rung_node *nodes);

/** Step to the next node of a traversal without a stack, of the nodes that may be within the cutoff
 *  of x. A node is visited first on the way down, when `from` is its parent. A subtree is skipped
 *  only if the rounded difference along one axis is too large: the rounded distance is then too
 *  large, too.
 *  @param from  the node before; -1 at the root
 *  @return -1: the traversal is complete */
RUNG_FN int32_t rung_tree_step(const rung_node *here, int32_t from, const double x[3],
                               double cutoff)
{
    const double d = here->x[here->axis] - x[here->axis];
    const bool near = d * d <= cutoff * cutoff;
    const int32_t low = near || d > 0 ? here->low : -1;
    const int32_t high = near || d < 0 ? here->high : -1;
    if (from == here->up) {
        return low >= 0 ? low : high >= 0 ? high : here->up;
    }
    return from == here->low && high >= 0 ? high : here->up;
}

#ifdef __cplusplus
}
#endif

#endif
