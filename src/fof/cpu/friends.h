/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends on CPU cores: the data that all steps share, and the union-find forest.
 *
 * The cells of the grid are divided into subcells whose diagonal is at most the linking length, so
 * the particles of one subcell, a clump, are friends by construction. Clumps are the nodes of a
 * lock-free union-find forest; two clumps are united at the first pair of friends found. A cell of
 * many clumps is dense and has an index of its rows of subcells. With a linking length of
 * velocities, particles of one subcell need not be friends; nor where rounding makes subcells too
 * wide (kith__grid.far). Every particle is then a node. fof_cpu.c has the order of the steps.
 *
 * A slot is the position of a particle in the order of the grid (engine/cpu/grid.h). Clumps are
 * numbered in this order. The forward neighbours of a cell are half of the 26 cells around it, so
 * that each pair of cells is tested once.
 */
#ifndef KITH_CPU_FRIENDS_H
#define KITH_CPU_FRIENDS_H

#include <stdatomic.h>

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "fof/groups.h"
#include "fof/subcells.h"

enum {
    KITH_LINK_BLOCK = 256, /**< clumps in one unit of work of link_cells */
    KITH_DENSE_BLOCK = 16, /**< entries of friends->dense in one unit of work of link_dense_cells */
    KITH_ONE_TREE = UINT16_MAX, /**< value of kith__dense_cell.tree: all clumps are in one tree */
    KITH_START_PADDING = 17 /**< entries of kith__friends.start after that of the last cell; all are
                                 n. Vectors of up to 16 lanes are loaded from the first of them, and
                                 from the second */
};

/** A dense cell: a cell of at least KITH_DENSE clumps. */
struct kith__dense_cell {
    uint32_t begin; /**< its first clump */
    uint16_t n;     /**< its number of clumps; 0: this entry is unused */
    /** A clump of its largest tree (perhaps of another one, where none has most clumps), counted
     *  from `begin`; KITH_ONE_TREE: all its clumps are in one tree. Set by link_dense_cells; unused
     *  where nodes are particles. */
    uint16_t tree;
    uint32_t index; /**< its number among the dense cells, in friends->index and friends->bboxes */
};
/** State of one search on the CPU. */
struct kith__friends {
    const struct kith__question *question; /**< points, box and linking length */
    const struct kith__grid *grid;         /**< particles sorted by cell and subcell */
    const void *velocities; /**< [particles][3] by slot, in the points' precision; or NULL */
    double velocity_length; /**< linking length of velocities [velocity] */

    int64_t n;         /**< number of clumps */
    int64_t largest;   /**< particles of the largest clump */
    uint32_t *first;   /**< [n + 1] first slot of each clump, then the number of particles */
    uint16_t *subcell; /**< [n] subcell of each clump: the lowest subcells.bits bits of its key */
    uint32_t *start; /**< [cells + KITH_START_PADDING] first clump of each cell, then n; NULL: there
                          is no table, and `key` is searched */
    uint64_t *key; /**< [n] cell and subcell of each clump, ascending; NULL when there is a table */
    bool by_clump; /**< nodes of the forest are clumps; else particles */
    _Atomic int32_t *parent; /**< [nodes] parent of each node; a root is its own parent */

    struct kith__subcells subcells; /**< which subcells are within reach of one */
    uint16_t *ahead; /**< [1 << subcells.bits] for each subcell a mask: bit s is set when forward
                          neighbour s (subcells.step[s]) is within its reach; NULL unless
                          subcells.around */

    int64_t dense_entries; /**< entries of `dense`: n / KITH_DENSE */
    /** [dense_entries] the dense cell whose first clump is c has the entry c / KITH_DENSE. */
    struct kith__dense_cell *dense;
    /** [dense cells] bounding boxes of their particles: struct bbox of clump_real.h, in the points'
     *  precision [length]. */
    void *bboxes;
    /** [dense cells][subcells.rows] clumps in each row of subcells. The row at y, z of a cell has
     *  the number z * ny + y, with ny subcells along y. */
    struct kith__subcell_row *index;
};

/** Number the groups of at least fof->min_members particles by falling size, ties by their smallest
 *  particle id, and label the particles. Overwrites the coordinates of the grid. out->labels may be
 *  the memory of the grid's particle indices, grid->a.id.
 *  @return KITH_OK, KITH_NO_MEMORY or KITH_CANCELLED. */
kith_status kith__number(kith_ctx *ctx, struct kith__friends *friends, const struct kith__fof *fof,
                         kith_groups *out);

/** A periodic image of a cell. */
struct kith__image {
    bool moved;       /**< some component of `shift` is not 0 */
    int32_t shift[3]; /**< shift S: number of rows a, b, c of the box to add; undefined unless
                           moved */
};

/** A cell that holds clumps, at one of its images. */
struct kith__cell_image {
    int64_t begin, end;       /**< range of its clumps */
    struct kith__image image; /**< the image */
    int64_t at[3];            /**< coordinates of the cell; set by cells_locate alone */
    bool inside;              /**< all 26 neighbours are in the box; set by cells_locate alone */
    int64_t cell;             /**< number of the cell; set by cells_next alone */
};

/* All threads change the forest at once. The parent of a node, unless that is a root, is a smaller
 * node of its tree. Only kith__unite changes the parent of a root, by compare-and-swap. Path
 * halving and kith__flatten replace the parent of a node that is no root by one of its ancestors; a
 * store of a thread that was delayed may lengthen a path again, but never takes a node out of its
 * tree. So a node that kith__flatten has pointed at its root need not stay so while other threads
 * visit it; number.c, where it must, has path halving of its own. All accesses are relaxed, as they
 * publish no other data; the end of a parallel loop makes them visible. */

/** Return the root of a node's tree: the smallest node of the tree. Path halving: points each
 *  visited node at its grandparent. */
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

/** Unite the trees of nodes a and b by pointing the larger root at the smaller one. Lock-free.
 *  @return the root */
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

/** Numbers of the buffers of the context's scratch memory that the CPU backend uses: for the arrays
 *  ahead, dense, index, bboxes and velocities of struct kith__friends, and for those of the groups
 *  in number.c. */
enum {
    KITH_FOF_AHEAD = KITH_WORK_OF(fof),
    KITH_FOF_DENSE,
    KITH_FOF_INDEX,
    KITH_FOF_BBOXES,
    KITH_FOF_GROUPS,
    KITH_FOF_GROUPS_SPARE,
    KITH_FOF_IDS,
    KITH_FOF_VELOCITIES
};
_Static_assert((int)KITH_FOF_VELOCITIES < (int)KITH_FOF_ROLES_BUFFER,
               "every purpose needs its own buffer");

/* Operations of link_kernel.c. sweep->job is a struct kith__friends. */

/** For each dense cell, unite those of its clumps that hold a pair of friends. A block is
 *  KITH_DENSE_BLOCK entries of friends->dense, from entry block * KITH_DENSE_BLOCK on. */
kith__work_fn KITH_EACH_ISA(link_dense_cells);

/** Unite all other clumps that hold a pair of friends, for the cells whose first clump is in block
 *  number `block` of KITH_LINK_BLOCK clumps: each with later clumps of its own cell, unless that is
 *  dense, and with clumps of forward neighbours. link_dense_cells must be done. */
kith__work_fn KITH_EACH_ISA(link_cells);

#endif
