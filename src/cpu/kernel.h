/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is compiled once for each instruction set: KITH_ISA is its name, in the files of
 * KITH_KERNEL_SOURCES alone. kernel.c has the table of all.
 */
#ifndef KITH_CPU_KERNEL_H
#define KITH_CPU_KERNEL_H

#include "keys.h"
#include "phases.h"
#include "sweep.h"

/** Does part number `block` of what a run is for (run.h): sweeps that block of the grid
 *  (kith__blocks), unless said otherwise. Without memory it sets sweep->no_memory and stops. */
typedef void kith__block_fn(struct kith__sweep *sweep, int64_t block);

struct kith__kernel {
    const char *name;
    kith__block_fn *count;      /**< add to sweep->hits */
    kith__block_fn *count_rows; /**< store each particle's hits in sweep->counts */
    kith__block_fn *collect;    /**< collect rows in the sweep, calling sweep->flush when they are
                                     too many; the last are left there */
    kith__block_fn *fill_rows;  /**< write each particle's row to sweep->out at sweep->offsets */
    kith__block_fn *tally;      /**< count pairs by distance in sweep->tally, with sweep->scale */
    kith__block_fn *flock; /**< move each particle by its sums over others, with sweep->flight */
    /** Write the collected rows to sweep->out from pair `at` on, as (i, j) with i <= j where the
     *  stencil is KITH_FORWARD. */
    void (*write)(const struct kith__sweep *sweep, int64_t at);

    /** link.c: unite the clumps of a crowded cell that touch, for KITH_CROWD_BLOCK places of
     *  friends->crowd from block * KITH_CROWD_BLOCK on. */
    kith__block_fn *link_crowds;
    /** After that: unite all others that touch, where a cell of one of them begins in block number
     *  `block` of clumps, and is not behind the other's. */
    kith__block_fn *link_cells;
    kith__block_fn *tally_pieces; /**< all_pairs.c: count all pairs of two pieces */
    kith__block_fn *compare;      /**< compare.c: count all pairs of two blocks of replicas */
    kith__block_fn *sum_sines;    /**< siner.c: a piece with each species at a run of q */
    kith__elements_fn *write_elements;
    kith__fill_phases_fn *fill_phases;
    kith__add_phases_fn *add_phases;
};

extern const struct kith__kernel kith__kernel_baseline, kith__kernel_avx2, kith__kernel_avx512;

#ifdef KITH_ISA
#define KITH_PASTE(a, b) a##b
#define KITH_PASTE_ISA(what, isa) KITH_PASTE(what, isa)
#define KITH_OF_ISA(what) KITH_PASTE_ISA(kith__##what##_, KITH_ISA)
kith__block_fn KITH_OF_ISA(link_crowds), KITH_OF_ISA(link_cells), KITH_OF_ISA(tally_pieces),
    KITH_OF_ISA(compare), KITH_OF_ISA(sum_sines);
kith__elements_fn KITH_OF_ISA(write_elements);
kith__fill_phases_fn KITH_OF_ISA(fill_phases);
kith__add_phases_fn KITH_OF_ISA(add_phases);
#endif

#endif
