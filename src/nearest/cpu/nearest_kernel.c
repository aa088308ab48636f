/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search for the nearest neighbours of the particles of one leaf. Compiled once for each
 * instruction set.
 *
 * For image S = 0 of the box, and then for others as long as one may hold a neighbour, the tree of
 * the candidates is walked from its root, the nearer half of a node first. A node is skipped when
 * the distance between the bounding boxes of node and leaf is larger, for each particle of the
 * leaf, than the distance to the k-th neighbour found so far, or than the cutoff while fewer than k
 * are found. The distance of two boxes is computed by
 * the operations that define r^2 of a pair (engine/pair.h), from the lowest and highest coordinates
 * of the boxes. As rounding is monotonic, it is never larger than r^2 of a pair of particles in the
 * two boxes: no margin for rounding is needed.
 *
 * With radii, the reach of a particle begins as the largest distance that its radius and any of the
 * candidates' permit, and a node is also skipped when it is farther away than the largest radii of
 * leaf and node permit: rounding is monotonic there, too. So a candidate with a huge radius adds
 * the nodes that contain it to a walk, and no others.
 */
#include "search.h"

#include <assert.h>
#include <string.h>

#include "engine/cells.h"
#include "engine/cpu/lanes.h"

/** Capacity of the stack of nodes. A tree of 2^31 particles has 2^26 leaves, so 26 levels of nodes
 *  above them, and the descent through each level leaves one more node on the stack: 27 entries. */
enum { STACK = 64 };

/** A node of the candidates' tree that is still to be searched. */
struct pending_node {
    int64_t node;       /**< number of the node, in preorder */
    int64_t begin, end; /**< leaves [begin, end) of the node */
    double least2;      /**< lower bound of r^2 between particles of the leaf whose neighbours are
                             searched and of the node, at the image that is searched [length^2] */
};

/** Return a bit mask of the lanes with a <= b: bit l for lane l. */
static inline unsigned lanes_at_most_d(vd a, vd b)
{
    return vd_le(a, b);
}

/** Return a bit mask of the lanes with a <= b: bit l for lane l. */
static inline unsigned lanes_at_most_f(vf a, vf b)
{
    return vf_le(a, b);
}

/** Lists with k <= MOST_SORTED are sorted at all times: an insertion moves up to k entries. Longer
 *  ones are binary heaps, whose first entry is the last neighbour in the order of
 *  kith__neighbour_is_before: an insertion moves up to log2(k) entries. */
enum { MOST_SORTED = 64 };

/** Move entry `at` of a heap of n neighbours down until neither of its children comes after it. */
static void sift_down(struct kith__neighbour *heap, int64_t n, int64_t at)
{
    const struct kith__neighbour one = heap[at];
    for (int64_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
        child += child + 1 < n && kith__neighbour_is_before(&heap[child], &heap[child + 1]);
        if (!kith__neighbour_is_before(&one, &heap[child])) {
            break;
        }
        heap[at] = heap[child];
        heap[child] = one;
    }
}

/** Insert a neighbour into a list of at most k, sorted or a heap (MOST_SORTED). A full list drops
 *  its last neighbour for it, or stays as it is if the new neighbour comes after all others.
 *  @param found  neighbours in the list
 *  @return the number of neighbours in the list afterwards */
static int64_t insert(struct kith__neighbour *list, int64_t found, int64_t k,
                      const struct kith__neighbour *one)
{
    const bool is_heap = k > MOST_SORTED;
    if (found == k && !kith__neighbour_is_before(one, &list[is_heap ? 0 : k - 1])) {
        return k;
    }
    int64_t at = found < k ? found : k - 1;
    if (!is_heap) {
        for (; at > 0 && kith__neighbour_is_before(one, &list[at - 1]); at--) {
            list[at] = list[at - 1];
        }
        list[at] = *one;
    } else if (found < k) {
        for (; at > 0 && kith__neighbour_is_before(&list[(at - 1) / 2], one); at = (at - 1) / 2) {
            list[at] = list[(at - 1) / 2];
        }
        list[at] = *one;
    } else {
        list[0] = *one;
        sift_down(list, k, 0);
    }
    return found < k ? found + 1 : k;
}

/** Return the last neighbour of a full list. */
static inline const struct kith__neighbour *last_of(const struct kith__neighbour *list, int64_t k)
{
    return &list[k > MOST_SORTED ? 0 : k - 1];
}

/** Sort a list of n <= k neighbours. A heap is sorted by the second half of a heapsort; shorter
 *  lists are sorted already. */
static void sort_list(kith_ctx *ctx, struct kith__neighbour *list, int64_t n, int64_t k)
{
    enum { COST = 200 }; /* of a step, for kith__skip [about 1 ns] */
    for (int64_t last = n - 1; last > 0 && k > MOST_SORTED && !kith__skip(ctx, last, COST);
         last--) {
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
