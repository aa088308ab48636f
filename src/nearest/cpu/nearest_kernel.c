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

/** Return a mask of the lanes with a <= b. */
static inline unsigned lanes_at_most_d(vd a, vd b)
{
    return vd_le(a, b);
}

static inline unsigned lanes_at_most_f(vf a, vf b)
{
    return vf_le(a, b);
}

/** Return true when a comes before b: by r^2, then j, then S. */
static inline bool is_before(const struct kith__neighbour *a, const struct kith__neighbour *b)
{
    return a->r2 < b->r2 || (a->r2 == b->r2 && a->place < b->place);
}

/** Lists of at most so many neighbours are sorted at all times; longer ones are heaps. */
enum { MOST_SORTED = 64 };

/** Move entry `at` of a heap of n neighbours down until none below it comes after it. */
static void sift_down(struct kith__neighbour *heap, int64_t n, int64_t at)
{
    const struct kith__neighbour one = heap[at];
    for (int64_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
        child += child + 1 < n && is_before(&heap[child], &heap[child + 1]);
        if (!is_before(&one, &heap[child])) {
            break;
        }
        heap[at] = heap[child];
        heap[child] = one;
    }
}

/** Insert a neighbour into a list of k at most, unless k come before it.
 *  @param found  neighbours in the list
 *  @return the neighbours in it now */
static int64_t insert(struct kith__neighbour *list, int64_t found, int64_t k,
                      const struct kith__neighbour *one)
{
    const bool is_heap = k > MOST_SORTED;
    if (found == k && !is_before(one, &list[is_heap ? 0 : k - 1])) {
        return k;
    }
    int64_t at = found < k ? found : k - 1;
    if (!is_heap) {
        for (; at > 0 && is_before(one, &list[at - 1]); at--) {
            list[at] = list[at - 1];
        }
        list[at] = *one;
    } else if (found < k) {
        for (; at > 0 && is_before(&list[(at - 1) / 2], one); at = (at - 1) / 2) {
            list[at] = list[(at - 1) / 2];
        }
        list[at] = *one;
    } else {
        list[0] = *one;
        sift_down(list, k, 0);
    }
    return found < k ? found + 1 : k;
}

/** Return r^2 of the last neighbour of a full list. */
static inline double last_square(const struct kith__neighbour *list, int64_t k)
{
    return list[k > MOST_SORTED ? 0 : k - 1].r2;
}

/** Sort a list of n neighbours, k at most. */
static void sort_list(struct kith__neighbour *list, int64_t n, int64_t k)
{
    for (int64_t last = n - 1; last > 0 && k > MOST_SORTED; last--) {
        const struct kith__neighbour one = list[last];
        list[last] = list[0];
        list[0] = one;
        sift_down(list, last, 0);
    }
}

#define KITH_PER_PRECISION "nearest/cpu/nearest_real.h"
#include "core/per_precision.h"

kith_status KITH_OF_ISA(search_leaf)(const struct kith__nearest_search *search, int64_t leaf,
                                     void *lists)
{
    return search->question->precision == KITH_FLOAT ? search_leaf_f(search, leaf, lists)
                                                     : search_leaf_d(search, leaf, lists);
}
