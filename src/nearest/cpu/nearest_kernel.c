/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search for the nearest neighbours of the particles of one leaf. Compiled once for each
 * instruction set.
 *
 * For image S = 0 of the box, and then for others as long as one may hold a neighbour, the tree of
 * the candidates is walked from its root, the nearer half of a node first. A node is skipped when
 * its bounding box is further away from that of the leaf than the k-th neighbour that each of its
 * particles has so far. These distances are computed by the operations that define r^2 of a pair
 * (engine/pair.h), from lowest and highest coordinates instead of those of particles. As rounding
 * is monotonic, they are never larger than the r^2 of any pair in the boxes: no margin for rounding
 * is needed.
 */
#include "search.h"

#include <assert.h>
#include <string.h>

#include "engine/cells.h"
#include "engine/cpu/lanes.h"

/** Depth of the stack of nodes: a tree of 2^31 particles has 26 levels of nodes with leaves below,
 *  and each adds one node. */
enum { STACK = 64 };

/** A node that is still to be searched. */
struct pending_node {
    int64_t node;       /**< its number */
    int64_t begin, end; /**< its leaves */
    double least2;      /**< r^2 of no pair of a particle of the node and one of the leaf is less
                        [length^2] */
};

/* Vectors of doubles and floats by the names that per_precision.h makes. */
#define LANES_d (W / 2)
#define LANES_f W
typedef vd vr_d;
typedef vf vr_f;

static inline unsigned vr_le_d(vd a, vd b)
{
    return vd_le(a, b);
}

static inline unsigned vr_le_f(vf a, vf b)
{
    return vf_le(a, b);
}

static inline vd vr_max_d(vd a, vd b)
{
    return vd_max(a, b);
}

static inline vf vr_max_f(vf a, vf b)
{
    return vf_max(a, b);
}

/** Return true when a comes before b: by r^2, then j, then S. */
static inline bool is_before(const struct kith__neighbour *a, const struct kith__neighbour *b)
{
    return a->r2 < b->r2 || (a->r2 == b->r2 && a->place < b->place);
}

/** Insert a neighbour into a sorted list of k at most, unless k come before it.
 *  @param found  neighbours in the list
 *  @return the neighbours in it now */
static int64_t insert(struct kith__neighbour *list, int64_t found, int64_t k,
                      const struct kith__neighbour *one)
{
    int64_t at = found;
    if (found == k) {
        if (!is_before(one, &list[k - 1])) {
            return k;
        }
        at--;
    }
    for (; at > 0 && is_before(one, &list[at - 1]); at--) {
        list[at] = list[at - 1];
    }
    list[at] = *one;
    return found < k ? found + 1 : k;
}

#define KITH_PER_PRECISION "nearest/cpu/nearest_real.h"
#include "core/per_precision.h"

kith_status KITH_OF_ISA(search_leaf)(const struct kith__nearest_search *search, int64_t leaf,
                                     void *lists)
{
    return search->question->precision == KITH_FLOAT ? search_leaf_f(search, leaf, lists)
                                                     : search_leaf_d(search, leaf, lists);
}
