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

/** A point that splits those below it; links are places in the array of nodes, -1 is none. */
typedef struct rung_node {
    double x[3];
    int32_t id; /**< index of the point */
    int32_t up, low, high;
    int32_t axis;
} rung_node;

/** Make a tree of the points. @param[out] nodes  [n]. @return the place of its root; -1 of none */
int32_t rung_tree_build(const rung_input *in, rung_node *nodes);

/**
 * Step to the next node that may be within the cutoff of x. A node is met once, on the way down,
 * when from is what is above it. Subtrees are left out only where the rounded difference along one
 * axis already is too large: by that of all three the pair is none.
 * @param from  the node before; -1 at the root
 * @return -1 at the end
 */
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
