/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 2: a kd-tree and union-find, the algorithm of the GPU halo finder that kith grew from
 * (github.com/danielkylewood/gpu-halo-finder), here on one core:
 *
 *   build     put the median of a range in its middle (quickselect), as the node that splits the
 *             range along x, then y, then z; its halves are its children;
 *   search    each point traverses the tree for all points within the cutoff, without a stack:
 *             links to the parent lead back up, and the node before determines the next one;
 *   link      union-find without path compression: the parent of a point is another point of its
 *             group, or itself. The larger of two roots is hooked under the smaller by
 *             compare-and-swap, so that threads need no locks.
 *
 * The original has three faults, which are corrected here:
 *
 *   coincident points never link: a distance of 0 is taken for the point itself. Here a point is
 *     identified by its index, and is tested against larger indices alone, each pair once;
 *   equal coordinates break the median split: the selection ends as soon as a coordinate equals
 *     that in the middle, which may leave larger ones below it. Here each round leaves one side of
 *     a partition that holds, and a search goes down on both sides of an equal coordinate;
 *   identity is lost: coordinates are swapped into the order of the tree, without the indices of
 *     the points. Here the index moves with them, and trees are of indices.
 *
 * It is slow, because there are n searches from the root, about log2 n nodes down and up again,
 * each a cache miss and none of them vectorised; because every pair is tested, also within one
 * group; and because paths are not compressed.
 */
#include "rung_fof.h"
#include "rung_tree.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Put the node that is k-th along the axis at place k, smaller ones before and larger ones after
 * it (Hoare 1961). */
static void select_kth(rung_node *nodes, int32_t low, int32_t high, int32_t k, int axis)
{
    while (low < high) {
        const double pivot = nodes[low + (high - low) / 2].x[axis];
        int32_t i = low, j = high;
        while (i <= j) {
            while (nodes[i].x[axis] < pivot) {
                i++;
            }
            while (nodes[j].x[axis] > pivot) {
                j--;
            }
            if (i <= j) {
                const rung_node swap = nodes[i];
                nodes[i++] = nodes[j];
                nodes[j--] = swap;
            }
        }
        if (k <= j) {
            high = j;
        } else if (k >= i) {
            low = i;
        } else {
            return;
        }
    }
}

/* Build a tree of the nodes low to high - 1; depth log2 n. @return its root; -1: no nodes */
static int32_t build(rung_node *nodes, int32_t low, int32_t high, int32_t up, int axis)
{
    if (low >= high) {
        return -1;
    }
    const int32_t middle = low + (high - low) / 2;
    select_kth(nodes, low, high - 1, middle, axis);
    rung_node *const mine = &nodes[middle];
    mine->axis = axis;
    mine->up = up;
    mine->low = build(nodes, low, middle, middle, (axis + 1) % 3);
    mine->high = build(nodes, middle + 1, high, middle, (axis + 1) % 3);
    return middle;
}

static int32_t chain_end(const _Atomic int32_t *chain, int32_t p)
{
    while (atomic_load_explicit(&chain[p], memory_order_relaxed) != p) {
        p = atomic_load_explicit(&chain[p], memory_order_relaxed);
    }
    return p;
}

static void link_chains(_Atomic int32_t *chain, int32_t a, int32_t b)
{
    for (;;) {
        a = chain_end(chain, a);
        b = chain_end(chain, b);
        int32_t larger = a > b ? a : b;
        const int32_t smaller = a > b ? b : a;
        if (a == b || atomic_compare_exchange_strong(&chain[larger], &larger, smaller)) {
            return;
        }
    }
}

int32_t rung_tree_build(const rung_input *in, rung_node *nodes)
{
    for (int32_t p = 0; p < in->n; p++) {
        const double *const x = in->xyz + 3 * (int64_t)p;
        nodes[p] = (rung_node){.x = {x[0], x[1], x[2]}, .id = p};
    }
    return build(nodes, 0, (int32_t)in->n, -1, 0);
}

/* Link a node to all friends with larger indices. */
static void search(const rung_node *nodes, int32_t root, int32_t place, double cutoff,
                   _Atomic int32_t *chain)
{
    const rung_node *const me = &nodes[place];
    int32_t at = root, from = -1;
    while (at >= 0) {
        const rung_node *const here = &nodes[at];
        if (from == here->up && at > place && rung_is_pair(me->x, here->x, cutoff)) {
            link_chains(chain, me->id, here->id);
        }
        const int32_t to = rung_tree_step(here, from, me->x, cutoff);
        from = at;
        at = to;
    }
}

bool rung_fof_tree(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    const int32_t n = (int32_t)in->n;
    rung_node *const nodes = malloc(((size_t)n + 1) * sizeof *nodes);
    _Atomic int32_t *const chain = malloc(((size_t)n + 1) * sizeof *chain);
    int32_t *const parent = rung_plant(n);
    bool ok = nodes && chain && parent;
    *scratch = n * (int64_t)(sizeof *nodes + sizeof *chain + sizeof *parent);
    for (int32_t p = 0; ok && p < n; p++) {
        atomic_init(&chain[p], p);
    }
    const int32_t root = ok ? rung_tree_build(in, nodes) : -1;
    for (int32_t place = 0; ok && place < n; place++) {
        search(nodes, root, place, in->cutoff, chain);
    }
    for (int32_t p = 0; ok && p < n; p++) {
        parent[p] = atomic_load_explicit(&chain[p], memory_order_relaxed);
    }
    free(nodes);
    free(chain);
    ok = ok && rung_number(parent, n, least, labels, scratch) >= 0;
    free(parent);
    return ok;
}
