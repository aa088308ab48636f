/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between the calls that make neighbour lists on CPU cores and the kernels of their sweeps, which
 * are compiled once for each instruction set.
 */
#ifndef KITH_PAIRS_CPU_H
#define KITH_PAIRS_CPU_H

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "pairs/pairs.h"

/** What one thread has of a list: sweep->state. */
struct kith__list_state {
    int64_t hits;           /**< pairs counted */
    int64_t *counts;        /**< hits of each particle, by the caller's index */
    unsigned extras;        /**< KITH_DISTANCES, ...: what is wanted beside the ends of a pair */
    const kith_pairs *out;  /**< arrays to write */
    const int64_t *offsets; /**< where each particle's row begins, */
    int64_t base;           /**< counted from this pair of the whole list */
    int64_t block;          /**< being swept */
    void (*flush)(struct kith__sweep *sweep); /**< too many hits are collected: take them away */
};

static inline struct kith__list_state *kith__list_of(const struct kith__sweep *sweep)
{
    return sweep->state;
}

/** Add to `hits`. */
kith__block_fn KITH_EACH_ISA(count_pairs);

/** Add each particle's hits to `counts`. */
kith__block_fn KITH_EACH_ISA(count_rows);

/** Collect rows in the sweep, calling `flush` when they are too many; the last are left there. */
kith__block_fn KITH_EACH_ISA(collect_rows);

/** Write each particle's row to `out` at `offsets`. */
kith__block_fn KITH_EACH_ISA(fill_rows);

/** Write the collected rows to `out` from pair `at` on, as (i, j) with i <= j where the stencil is
 *  KITH_FORWARD. */
typedef void kith__write_rows_fn(const struct kith__sweep *sweep, int64_t at);
kith__write_rows_fn KITH_EACH_ISA(write_rows);

#endif
