/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends of friends on CPU cores. The grid's cells are divided into parts of which the diagonal is
 * no longer than the linking length: the particles of one part, a clump, are friends by
 * construction. Clumps are the nodes of a union-find forest; two that are near are united at the
 * first link found. Cells that hold many clumps have an index of them, row by row of parts.
 *
 * With velocities a part says nothing about friendship: every particle is a node of its own.
 */
#ifndef KITH_CPU_FRIENDS_H
#define KITH_CPU_FRIENDS_H

#include <stdatomic.h>

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "fof/groups.h"
#include "fof/parts.h"

enum {
    KITH_LINK_BLOCK = 256,   /**< clumps from the start of one unit of work to the next */
    KITH_CROWD_BLOCK = 16,   /**< and places for crowded cells */
    KITH_WHOLE = UINT16_MAX, /**< no clump: all are in one tree */
    KITH_START_MORE = 17 /**< entries of the table behind those of the cells, which vectors read */
};

/** A cell of many clumps. */
struct kith__crowd {
    uint32_t begin; /**< its clumps: first, */
    uint16_t n;     /**< and number; 0: there is no such cell */
    uint16_t tree;  /**< the first clump of its largest tree, counted from its first; KITH_WHOLE:
                         all are in one */
    uint32_t index; /**< which index is its own */
};

struct kith__friends {
    const struct kith__question *question;
    const struct kith__grid *grid;
    const void *velocities; /**< [n][3] in cell order, precision of the points; or NULL */
    double velocity_length;

    int64_t n;       /**< clumps */
    int64_t largest; /**< particles of the largest */
    uint32_t *first; /**< [n + 1] first particle of each, in cell order */
    uint16_t *part;  /**< [n] part of each: the lower bits of its key */
    uint32_t *start; /**< [cells + KITH_START_MORE] first clump of each cell, then f->n; NULL:
                          search the keys */
    uint64_t *key;   /**< [n] cell and part of each, ascending, without a table */
    bool by_clump;   /**< nodes are clumps, else particles */
    _Atomic int32_t *parent; /**< [nodes] */

    struct kith__parts parts;
    uint16_t *ahead; /**< [1 << bits] which steps lead to cells in reach of a part; NULL: reach
                          goes beyond the cells around */

    int64_t crowds;
    struct kith__crowd *crowd;    /**< [crowds] the crowded cell whose first clump is c, at
                                       c / KITH_CROWD */
    void *blocks;                 /**< [crowded cells] that their particles fill, see near_real.h */
    struct kith__part_row *index; /**< [crowded cells][rows] */
};

/** Number the groups of at least fof->min_members particles by falling size, equal ones by their
 *  smallest particle id, and label the particles. Coordinates are overwritten, and out->labels may
 *  be the memory of the particles' indices, grid->a.id.
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__number(kith_ctx *ctx, struct kith__friends *friends, const struct kith__fof *fof,
                         kith_groups *out);

/** Which image of a cell is looked at. */
struct kith__image {
    bool moved;
    int32_t shift[3];
};

/** A cell that holds clumps, at an image. */
struct kith__place {
    int64_t begin, end; /**< clumps */
    struct kith__image image;
    int64_t at[3]; /**< of home: along the axes, */
    bool inside;   /**< away from the faces of the box, */
    int64_t cell;  /**< and the cell's number */
};

/** Root of a node: the smallest of its tree. Shortens the way on the way. */
static inline int32_t kith__root(_Atomic int32_t *parent, int32_t node)
{
    int32_t up = atomic_load_explicit(&parent[node], memory_order_relaxed);
    while (up != node) {
        const int32_t above = atomic_load_explicit(&parent[up], memory_order_relaxed);
        if (above == up) {
            return up;
        }
        atomic_store_explicit(&parent[node], above, memory_order_relaxed);
        node = above;
        up = atomic_load_explicit(&parent[node], memory_order_relaxed);
    }
    return node;
}

/** Point a node at its root. @return the root. */
static inline int32_t kith__flatten(_Atomic int32_t *parent, int32_t node)
{
    const int32_t root = kith__root(parent, node);
    if (atomic_load_explicit(&parent[node], memory_order_relaxed) != root) {
        atomic_store_explicit(&parent[node], root, memory_order_relaxed);
    }
    return root;
}

/** Unite two trees: the larger root goes under the smaller. Lock-free. @return the root. */
static inline int32_t kith__unite(_Atomic int32_t *parent, int32_t a, int32_t b)
{
    while (true) {
        a = kith__root(parent, a);
        b = kith__root(parent, b);
        if (a == b) {
            return a;
        }
        int32_t larger = a > b ? a : b;
        const int32_t smaller = a > b ? b : a;
        if (atomic_compare_exchange_weak_explicit(&parent[larger], &larger, smaller,
                                                  memory_order_relaxed, memory_order_relaxed)) {
            return smaller;
        }
    }
}

/** Slots of the context's scratch. */
enum {
    KITH_FOF_AHEAD = KITH_WORK_OF(fof),
    KITH_FOF_CROWD,
    KITH_FOF_INDEX,
    KITH_FOF_BLOCKS,
    KITH_FOF_GROUPS,
    KITH_FOF_GROUPS_SPARE,
    KITH_FOF_IDS,
    KITH_FOF_VELOCITIES
};
_Static_assert((int)KITH_FOF_VELOCITIES < (int)KITH_FOF_ROLES_SLOT,
               "every purpose needs its own buffer");

/* Operations of link_kernel.c; sweep->job is the friends. */

/** Unite the clumps of a crowded cell that touch, for KITH_CROWD_BLOCK places of friends->crowd
 *  from block * KITH_CROWD_BLOCK on. */
kith__block_fn KITH_EACH_ISA(link_crowds);

/** After that: unite all others that touch, where a cell of one of them begins in block number
 *  `block` of clumps, and is not behind the other's. */
kith__block_fn KITH_EACH_ISA(link_cells);

#endif
