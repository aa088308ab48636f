/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Iterates over the cells that hold clumps: along the table of cells, or, where there is no table,
 * along the ascending keys of the clumps.
 */
#ifndef KITH_CPU_WALK_H
#define KITH_CPU_WALK_H

#include "friends.h"
#include "engine/cpu/simd.h"

/** Iterator over the cells whose first clump lies in one block of clumps. */
struct kith__walk {
    int64_t limit;     /**< first clump of the next block */
    int64_t clump;     /**< without a table: first clump of the next cell */
    int64_t cell;      /**< with a table: first of the W cells that `filled` describes */
    uint16_t filled;   /**< bit k is set when cell + k holds clumps and is still to be visited. As
                            wide as a vector mask: gcc 12 miscompiles the store of a 16-bit mask to
                            a wider variable */
    int64_t row;       /**< number of the first cell of the row of the cell located last */
    int64_t row_at[3]; /**< y and z coordinates of that row, at [1] and [2]; -1: none so far */
};

/** Bit k is set when cell + k holds clumps; W cells. */
static inline uint16_t kith__walk_filled(const struct kith__friends *f, int64_t cell)
{
    const int32_t *start = (const int32_t *)f->start + cell;
    return (uint16_t)vi_ne(vi_load(start), vi_load(start + 1));
}
/** Start at the first cell whose first clump is in a block. Binary search, O(log cells). */

static inline struct kith__walk kith__walk_start(const struct kith__friends *f, int64_t block)
{
    const int64_t begin = block * KITH_LINK_BLOCK;
    struct kith__walk w = {.limit = begin + KITH_LINK_BLOCK, .clump = begin, .row_at = {0, -1, -1}};
    w.limit = w.limit < f->n ? w.limit : f->n;
    if (f->start) {
        for (int64_t n = f->grid->cells; n > 0;) { /* lower bound of begin in the table */
            const int64_t half = n / 2;
            const bool before = f->start[w.cell + half] < begin;
            w.cell += before ? half + 1 : 0;
            n = before ? n - half - 1 : half;
        }
        w.filled = kith__walk_filled(f, w.cell);
    } else {
        const int bits = f->subcells.bits;
        while (w.clump < w.limit && w.clump > 0 &&
               f->key[w.clump] >> bits == f->key[w.clump - 1] >> bits) {
            w.clump++;
        }
    }
    return w;
}

/** Advance to the next cell that holds clumps; sets *home but for at and inside.
 *  @return false at the end of the block. */
static inline bool kith__walk_next(const struct kith__friends *f, struct kith__walk *w,
                                   struct kith__place *home)
{
    home->image.moved = false;
    if (f->start) {
        while (!w->filled) {
            w->cell += W;
            if (w->cell >= f->grid->cells) {
                return false;
            }
            w->filled = kith__walk_filled(f, w->cell);
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

/** Set the coordinates of the cell that kith__walk_next returned last. */
static inline void kith__walk_locate(const struct kith__friends *f, struct kith__walk *w,
                                     struct kith__place *home)
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

#endif
