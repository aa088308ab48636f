/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking: unites the trees of all pairs of friends. Called by fof_cpu.c, link_all. Three ways:
 *
 * - a dense cell is linked by flood fill, from particle to particle (flood_real.h);
 * - two cells of many particles are linked by their borders, the particles of each that are near
 *   the other (border_real.h);
 * - elsewhere, and where the buffers of the first two are too small, each clump is tested with the
 *   clumps within reach (clump_real.h): later ones of its own cell, and those of forward
 *   neighbours; in a dense cell row by row of its index. Clumps that are in one tree already are
 *   not tested.
 *
 * link_real.h chooses the way for each cell. This file has what does not depend on the precision:
 * finding cells, and masks of trees. Compiled once for each instruction set.
 */
#include <assert.h>
#include <string.h>

#include "engine/cpu/lanes.h"
#include "engine/cpu/simd.h"
#include "friends.h"

/* Particles that are tested together: the width of a bit mask of hits, and a multiple of W, the
 * lanes of a vector of floats (engine/cpu/simd.h). */
enum { LANES = 16, ALL_LANES = (1 << LANES) - 1 };

/* Steps are the numbers of forward neighbours, 0 to KITH_STEPS - 1. OWN_CELL: the number after
 * them, for the cell itself. ALL_STEPS: mask of all forward neighbours. */
enum { OWN_CELL = KITH_STEPS, ALL_STEPS = (1 << KITH_STEPS) - 1 };

/* CAPACITY: largest number of particles in a flood fill or border. SOURCES: particles of the
   queue that one pass of a flood fill expands. */
enum { CAPACITY = 1024, SOURCES = 8 };

/* A cell that is not dense is linked with its neighbours by borders if it has so many particles. */
enum { BORDER_PARTICLES = 24 };

/* Two clumps of more pairs of particles than this are tested by divide and conquer (sets_touch). */
enum { MANY_PAIRS = 512 };

/** Return the index of the cell of clumps [begin, end), one entry for each row of subcells; NULL:
 *  it is not dense. */
KITH_INLINE const struct kith__subcell_row *index_of(const struct kith__friends *f, int64_t begin,
                                                     int64_t end)
{
    return end - begin < KITH_DENSE
               ? NULL
               : f->index + (int64_t)f->dense[begin / KITH_DENSE].index * f->subcells.rows;
}

/** Return the larger of a and b. */
static inline int at_least(int a, int b)
{
    return a > b ? a : b;
}

/** Return the smaller of a and b. */
static inline int at_most(int a, int b)
{
    return a < b ? a : b;
}

/** Find the clumps of a cell: set out->begin and end.
 *  @param cell  number of the cell
 *  @param near  a clump from which a search of the keys begins where there is no table
 *  @return false when the cell is empty */
KITH_INLINE bool find_cell(const struct kith__friends *f, int64_t cell, int64_t near,
                           struct kith__cell_image *out)
{
    if (f->start) {
        out->begin = f->start[cell];
        out->end = f->start[cell + 1];
    } else {
        const struct kith__sorted clumps = {.n = f->n, .key = f->key};
        const uint64_t key = (uint64_t)cell << f->subcells.bits;
        out->begin = kith__grid_search(&clumps, key, near);
        out->end = kith__grid_search(&clumps, key + ((uint64_t)1 << f->subcells.bits), out->begin);
    }
    return out->begin < out->end;
}

/** Find the clumps of the cell at an offset from another one, and its periodic image.
 *  @param home  the other cell, with coordinates (cells_locate)
 *  @param away  offset along each axis [cells]; may cross a periodic axis several times
 *  @return false when the cell is outside an open axis, or empty */
static bool find_cell_away(const struct kith__friends *f, const struct kith__cell_image *home,
                           const int away[3], struct kith__cell_image *out)
{
    const struct kith__axis *axis = f->grid->axis;
    int64_t to[3];
    out->image.moved = false;
    for (int k = 0; k < 3; k++) {
        const int64_t n = axis[k].n;
        to[k] = home->at[k] + away[k];
        out->image.shift[k] = 0;
        while (axis[k].periodic && (to[k] < 0 || to[k] >= n)) {
            const int step = to[k] < 0 ? -1 : 1;
            to[k] -= step * n;
            out->image.shift[k] += step;
            out->image.moved = true;
        }
        if (to[k] < 0 || to[k] >= n) {
            return false;
        }
    }
    return find_cell(f, (to[2] * axis[1].n + to[1]) * axis[0].n + to[0], home->begin, out);
}

/** Find the clumps of forward neighbour number `step` of a cell, and its periodic image. Without
 *  coordinates where all neighbours are in the box.
 *  @param home  the cell, with coordinates (cells_locate)
 *  @return false when the neighbour is outside an open axis, or empty */
KITH_INLINE bool find_forward(const struct kith__friends *f, const struct kith__cell_image *home,
                              int step, struct kith__cell_image *out)
{
    if (!home->inside) {
        return find_cell_away(f, home, f->subcells.step[step].away, out);
    }
    out->image.moved = false;
    return find_cell(f, home->cell + f->subcells.step[step].cells, home->begin, out);
}

/** Return a mask of the nodes whose parent is not `root`: bit k is set when parent[k] != root, for
 *  the first n nodes, at most 16. A node whose bit is 0 is in the tree of `root`; a node whose bit
 *  is 1 may be in it too, by a longer path. Reads whole vectors: up to 15 entries beyond n. */
KITH_INLINE unsigned mask_other_parents(_Atomic int32_t *parent, int n, int32_t root)
{
    unsigned mask = 0;
#if defined(KITH_THREAD_SANITIZER)
    for (int l = 0; l < n; l++) {
        mask |= (unsigned)(atomic_load_explicit(&parent[l], memory_order_relaxed) != root) << l;
    }
#else
    /* Plain vector loads of atomic variables, for speed. An aligned word is never torn; an outdated
     * parent only costs another test. The thread sanitizer would report them as races. */
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a cast alone may not drop _Atomic
    const int32_t *nodes = (const int32_t *)(uintptr_t)parent;
    int l = 0;
    do {
        mask |= vi_ne(vi_load(nodes + l), vi_set(root)) << l;
        l += W;
    } while (l < n);
#endif
    return mask & ((1u << n) - 1);
}

/** Unite the tree of a clump with the trees of those clumps of [begin, end) that hold one of its
 *  friends. Skips clumps that are in its tree already.
 *  @param node  the clump, or another node of its tree
 *  @param j     slot of the first of up to LANES particles
 *  @param hits  bit k is set when the particle in slot j + k is a friend
 *  @return the root */
static int32_t unite_hits(struct kith__friends *f, int32_t node, int64_t begin, int64_t end,
                          int64_t j, unsigned hits)
{
    int32_t root = kith__root(f->parent, node);
    for (int64_t from = begin; from < end; from += LANES) {
        const int n = end - from < LANES ? (int)(end - from) : LANES;
        unsigned in_other_trees = mask_other_parents(f->parent + from, n, root);
        for (; in_other_trees; in_other_trees &= in_other_trees - 1) {
            const int64_t b = from + __builtin_ctz(in_other_trees);
            const int64_t low = (int64_t)f->first[b] - j;
            const int64_t high = (int64_t)f->first[b + 1] - j;
            /* masks of the particles before the first one of clump b, and up to its last one */
            const unsigned below = low < 0 ? 0 : low < LANES ? (1u << low) - 1 : ALL_LANES;
            const unsigned up_to = high < 0 ? 0 : high < LANES ? (1u << high) - 1 : ALL_LANES;
            if (hits & up_to & ~below) {
                root = kith__unite(f->parent, root, (int32_t)b);
            }
        }
    }
    return root;
}

/** Point each clump of a cell at its root, and find the root of more than half of the clumps by the
 *  majority vote of Boyer and Moore (1981).
 *  @param[out] outside  number of clumps with another root
 *  @return the root; the root of some clump where none has a majority */
static int32_t majority_root(struct kith__friends *f, const struct kith__cell_image *home,
                             int64_t *outside)
{
    int32_t common = -1;
    int64_t votes = 0;
    for (int64_t c = home->begin; c < home->end; c++) {
        const int32_t root = kith__flatten(f->parent, (int32_t)c);
        common = votes == 0 ? root : common;
        votes += root == common ? 1 : -1;
    }
    *outside = 0;
    for (int64_t c = home->begin; c < home->end; c++) {
        *outside += atomic_load_explicit(&f->parent[c], memory_order_relaxed) != common;
    }
    return common;
}

/** Return true when the clumps of a cell are known to be all in one tree. */
KITH_INLINE bool is_one_tree(const struct kith__friends *f, const struct kith__cell_image *target)
{
    const int64_t n = target->end - target->begin;
    return n == 1 ||
           (n >= KITH_DENSE && f->dense[target->begin / KITH_DENSE].tree == KITH_ONE_TREE);
}

/** Write the index of a dense cell: the clumps in each row of subcells. Clumps are sorted by the
 *  subcell's z, y and x, so that those of one row are consecutive. @return the index */
static const struct kith__subcell_row *make_index(struct kith__friends *f,
                                                  const struct kith__cell_image *home)
{
    struct kith__subcell_row *rows = f->index + (int64_t)f->dense[home->begin / KITH_DENSE].index *
                                                    f->subcells.rows;
    memset(rows, 0, (size_t)f->subcells.rows * sizeof *rows);
    for (int64_t c = home->begin; c < home->end; c++) {
        int subcell[3];
        kith__subcell_of(f->grid->axis, f->subcell[c], subcell);
        struct kith__subcell_row *row = &rows[subcell[2] * f->grid->axis[1].subcells + subcell[1]];
        row->first = row->mask ? row->first : (uint16_t)(c - home->begin);
        row->mask = (uint16_t)(row->mask | 1u << subcell[0]);
    }
    return rows;
}

/** Return a mask of the forward neighbours that hold clumps; without a table, a mask of all forward
 *  neighbours.
 *  @param cell  number of a cell whose 26 neighbours are all in the box */
KITH_INLINE unsigned forward_with_clumps(const struct kith__friends *f, int64_t cell)
{
    if (!f->start) {
        return ALL_STEPS;
    }
    /* a cell holds clumps when its first clump is not that of the next cell */
    const int32_t *home = (const int32_t *)f->start + cell;
    unsigned filled = home[1] != home[2];     /* step 0: the next cell of the row */
    for (int s = 1; s < KITH_STEPS; s += 3) { /* rows of three cells, from away[0] = -1 on */
        const int32_t *row = home + f->subcells.step[s].cells;
        filled |= (vi_ne(vi_load(row), vi_load(row + 1)) & 7) << s;
    }
    return filled;
}

/* ----------------------------------------------------------------------- cells that hold clumps */

/* link_block (link_real.h) visits the cells whose first clump is in its block: along the table of
 * first clumps, friends->start, or, where there is no table, along the ascending keys of the
 * clumps. */

/** Iterator over the cells whose first clump lies in one block of clumps. */
struct cell_iterator {
    int64_t limit;     /**< first clump of the next block */
    int64_t clump;     /**< without a table: first clump of the next cell */
    int64_t cell;      /**< with a table: first of the W cells that `filled` describes */
    uint16_t filled;   /**< bit k is set when cell + k holds clumps and is still to be visited. As
                            wide as a vector mask: gcc 12 miscompiles the store of a 16-bit mask to
                            a wider variable */
    int64_t row;       /**< number of the first cell of the row of the cell located last */
    int64_t row_at[3]; /**< y and z coordinates of that row, at [1] and [2]; -1: none so far */
};

/** Return a mask of W cells: bit k is set when cell + k holds clumps. */
static inline uint16_t cells_filled(const struct kith__friends *f, int64_t cell)
{
    const int32_t *start = (const int32_t *)f->start + cell;
    return (uint16_t)vi_ne(vi_load(start), vi_load(start + 1));
}

/** Return an iterator at the first cell whose first clump is in a block of KITH_LINK_BLOCK clumps.
 *  Binary search, O(log cells). */
static inline struct cell_iterator cells_begin(const struct kith__friends *f, int64_t block)
{
    const int64_t begin = block * KITH_LINK_BLOCK;
    struct cell_iterator w = {
        .limit = begin + KITH_LINK_BLOCK, .clump = begin, .row_at = {0, -1, -1}};
    w.limit = w.limit < f->n ? w.limit : f->n;
    if (f->start) {
        /* lower bound: the first of n cells from w.cell on whose entry is at least `begin`. If all
         * are below, w.cell becomes the number of cells, whose entry is in the padding. */
        for (int64_t n = f->grid->cells; n > 0;) {
            const int64_t half = n / 2;
            const bool before = f->start[w.cell + half] < begin;
            w.cell += before ? half + 1 : 0;
            n = before ? n - half - 1 : half;
        }
        w.filled = cells_filled(f, w.cell);
    } else { /* skip the clumps of a cell that begins in an earlier block */
        const int bits = f->subcells.bits;
        while (w.clump < w.limit && w.clump > 0 &&
               f->key[w.clump] >> bits == f->key[w.clump - 1] >> bits) {
            w.clump++;
        }
    }
    return w;
}

/** Advance to the next cell that holds clumps; sets *home except its members `at` and `inside`.
 *  @return false at the end of the block */
static inline bool cells_next(const struct kith__friends *f, struct cell_iterator *w,
                              struct kith__cell_image *home)
{
    home->image.moved = false;
    if (f->start) {
        while (!w->filled) {
            w->cell += W;
            if (w->cell >= f->grid->cells) {
                return false;
            }
            w->filled = cells_filled(f, w->cell);
        }
        home->cell = w->cell + __builtin_ctz(w->filled);
        w->filled = (uint16_t)(w->filled & (w->filled - 1));
        home->begin = f->start[home->cell];
        home->end = f->start[home->cell + 1];
        return home->begin < w->limit;
    }
    if (w->clump >= w->limit) {
        return false;
    }
    const uint64_t cell = f->key[w->clump] >> f->subcells.bits;
    home->cell = (int64_t)cell;
    home->begin = w->clump;
    while (w->clump < f->n && f->key[w->clump] >> f->subcells.bits == cell) {
        w->clump++;
    }
    home->end = w->clump;
    return true;
}

/** Set the members `at` and `inside` of the cell that cells_next returned last. Divides only when
 *  the row of cells changes. */
static inline void cells_locate(const struct kith__friends *f, struct cell_iterator *w,
                                struct kith__cell_image *home)
{
    const struct kith__axis *axis = f->grid->axis;
    if (home->cell >= w->row + axis[0].n || w->row_at[1] < 0) {
        const int64_t row = home->cell / axis[0].n;
        w->row = row * axis[0].n;
        w->row_at[1] = row % axis[1].n;
        w->row_at[2] = row / axis[1].n;
    }
    home->at[0] = home->cell - w->row;
    home->at[1] = w->row_at[1];
    home->at[2] = w->row_at[2];
    home->inside = true;
    for (int k = 0; k < 3; k++) {
        home->inside = home->inside & (home->at[k] > 0) & (home->at[k] + 1 < axis[k].n);
    }
}

/* ----------------------------------------------------------------------------------- work items */

/** A work item of link_block: a clump, and the cells whose clumps it is tested with. */
struct work_item {
    int32_t clump;  /**< the clump */
    unsigned steps; /**< mask of these cells: forward neighbours, and OWN_CELL */
    int64_t cell;   /**< number of the clump's cell */
};

/** Return a clump in the largest tree of a dense cell; of a cell that is not dense, its first
 *  clump. */
KITH_INLINE int32_t main_clump(const struct kith__friends *f, const struct kith__cell_image *target)
{
    const bool any = target->end - target->begin < KITH_DENSE || is_one_tree(f, target);
    return (int32_t)target->begin + (any ? 0 : f->dense[target->begin / KITH_DENSE].tree);
}

/** Return true when not all of n > 0 roots are equal. Reads whole vectors. */
KITH_INLINE bool are_mixed(const int32_t *root, int64_t n)
{
    unsigned other = 0;
    for (int64_t i = 0; i < n; i += W) {
        other |= vi_ne(vi_load(root + i), vi_set(root[0])) & lanes_before(n - i);
    }
    return other != 0;
}

/* Each file is compiled for double and for float, and uses functions of the files before it. */
#define KITH_PER_PRECISION "fof/cpu/clump_real.h"
#include "core/per_precision.h"

#define KITH_PER_PRECISION "fof/cpu/flood_real.h"
#include "core/per_precision.h"

#define KITH_PER_PRECISION "fof/cpu/border_real.h"
#include "core/per_precision.h"

#define KITH_PER_PRECISION "fof/cpu/link_real.h"
#include "core/per_precision.h"

void KITH_OF_ISA(link_dense_cells)(struct kith__sweep *sweep, int64_t block)
{
    struct kith__friends *f = sweep->job;
    const bool in_float = f->question->precision == KITH_FLOAT;
    const int64_t first = block * KITH_DENSE_BLOCK;
    for (int64_t entry = first; entry < first + KITH_DENSE_BLOCK && entry < f->dense_entries;
         entry++) {
        const struct kith__dense_cell *dense = &f->dense[entry];
        const struct kith__cell_image home = {.begin = dense->begin,
                                              .end = dense->begin + dense->n};
        if (dense->n > 0 && f->by_clump) {
            (in_float ? link_dense_cell_f : link_dense_cell_d)(f, sweep, &home);
        } else if (dense->n > 0) {
            (in_float ? link_dense_particles_f : link_dense_particles_d)(f, sweep, &home);
        }
    }
}

void KITH_OF_ISA(link_cells)(struct kith__sweep *sweep, int64_t block)
{
    struct kith__friends *f = sweep->job;
    if (f->question->precision == KITH_FLOAT) {
        link_block_f(f, sweep, block);
    } else {
        link_block_d(f, sweep, block);
    }
}
