/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 2: a kd-tree and chains, the algorithm of the GPU halo finder that kith grew from
 * (github.com/danielkylewood/gpu-halo-finder), here on one core:
 *
 *   build     put the median of a range in its middle (quickselect), as the node that splits the
 *             range along x, then y, then z; its halves are its children;
 *   search    each point walks through the tree for all within the cutoff, without a stack: links
 *             to the parent lead back up, and where it came from says what is left to do;
 *   link      each point names another of its group, or itself: a chain, followed to its end. The
 *             larger of two ends is hooked under the smaller by compare-and-swap, so that threads
 *             need no locks.
 *
 * The original has three faults, which are mended here:
 *
 *   coincident points never link: a distance of 0 is taken for the point itself. Here a point is
 *     known by its place, and meets only places after its own, so that each pair is met once;
 *   equal coordinates break the median split: the selection ends as soon as a coordinate equals
 *     that in the middle, which may leave larger ones below it. Here each round leaves one side of
 *     a partition that holds, and a search goes down on both sides of an equal coordinate;
 *   identity is lost: coordinates are swapped into the order of the tree, and nothing says which
 *     point is where. Here the index moves with them, and chains are of indices.
 *
 * Slow, because of n searches from the root, about log2 n nodes down and up again, each a cache
 * miss away from the last and none of them vectorised; because every pair is looked at, also within
 * a group that is already one; and because chains are never shortened.
 */
#include "rung_fof.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct node {
    double x[3];
    int32_t id; /* index of the point */
    int32_t up, low, high;
    int32_t axis;
} node;

/* Put the node that is k-th along the axis at place k, smaller ones before and larger ones after
 * it (Hoare 1961). */
static void select_kth(node *nodes, int32_t low, int32_t high, int32_t k, int axis)
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
                const node swap = nodes[i];
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

/* Make a tree of the nodes low to high - 1; depth: log2 n. @return its root, -1 of none */
static int32_t build(node *nodes, int32_t low, int32_t high, int32_t up, int axis)
{
    if (low >= high) {
        return -1;
    }
    const int32_t middle = low + (high - low) / 2;
    select_kth(nodes, low, high - 1, middle, axis);
    node *const mine = &nodes[middle];
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

/* Link a place to all after it that are friends. Subtrees are left out only where the rounded
 * difference along one axis already is too large: by that of all three the pair is none. */
static void search(const node *nodes, int32_t root, int32_t place, double cutoff,
                   _Atomic int32_t *chain)
{
    const node *const me = &nodes[place];
    int32_t at = root, from = -1;
    while (at >= 0) {
        const node *const here = &nodes[at];
        const double d = here->x[here->axis] - me->x[here->axis];
        const bool near = d * d <= cutoff * cutoff;
        const int32_t low = near || d > 0 ? here->low : -1;
        const int32_t high = near || d < 0 ? here->high : -1;
        int32_t to = here->up;
        if (from == here->up) { /* on the way down */
            if (at > place && rung_is_pair(me->x, here->x, cutoff)) {
                link_chains(chain, me->id, here->id);
            }
            to = low >= 0 ? low : high >= 0 ? high : here->up;
        } else if (from == here->low && high >= 0) {
            to = high;
        }
        from = at;
        at = to;
    }
}

bool rung_fof_tree(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    const int32_t n = (int32_t)in->n;
    node *const nodes = malloc(((size_t)n + 1) * sizeof *nodes);
    _Atomic int32_t *const chain = malloc(((size_t)n + 1) * sizeof *chain);
    int32_t *const parent = rung_plant(n);
    bool ok = nodes && chain && parent;
    *scratch = n * (int64_t)(sizeof *nodes + sizeof *chain + sizeof *parent);
    for (int32_t p = 0; ok && p < n; p++) {
        const double *const x = in->xyz + 3 * (int64_t)p;
        nodes[p] = (node){.x = {x[0], x[1], x[2]}, .id = p};
        atomic_init(&chain[p], p);
    }
    const int32_t root = ok ? build(nodes, 0, n, -1, 0) : -1;
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
