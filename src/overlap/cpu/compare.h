/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting the overlaps of blocks of replicas.
 *
 * Replicas stand in panels: the first numbers of all replicas of a panel, then the second ones, and
 * so on. So both sides of a product are read in order, and one copy serves both.
 */
#ifndef KITH_CPU_COMPARE_H
#define KITH_CPU_COMPARE_H

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "overlap/overlap.h"

/** Slots of the context's scratch. */
enum { KITH_OVERLAP_PANELS = KITH_OVERLAP_SLOTS_END, KITH_OVERLAP_WEIGHTS, KITH_OVERLAP_THREADS };

enum {
    KITH_PANEL_BYTES = 192,   /**< of one number of all its replicas: whole vectors of any set */
    KITH_COMPARE_BLOCK = 240, /**< replicas of a block: whole panels of floats or doubles */
    KITH_COMPARE_DEPTH = 128, /**< numbers that are summed in one go */
    KITH_COMPARE_COPIES = 4   /**< of a thread's counters: neighbours seldom meet in one */
};

/** What is a thread's own. */
struct kith__compare_own {
    void *products;  /**< [KITH_COMPARE_BLOCK][KITH_COMPARE_BLOCK] */
    int64_t *counts; /**< [copies][bins + 2] */
};

/** What all threads share. Block I meets block J >= I in task J (J + 1) / 2 + I. */
struct kith__compare {
    kith_ctx *ctx; /**< whose call this is: tested for cancellation */
    const struct kith__overlap *overlap;
    struct kith__band band;
    kith_precision precision;         /**< of products */
    void *panels;                     /**< [panels][dim][replicas of a panel]; NULL of bits */
    void *weights;                    /**< [n] in that precision */
    int copies;                       /**< of counters */
    struct kith__compare_own *own;    /**< [threads] */
    const struct kith__sweep *sweeps; /**< [threads] sweep k counts in own[k] */
};

/** Replicas of a panel. */
static inline int64_t kith__panel_width(kith_precision precision)
{
    return KITH_PANEL_BYTES / (int64_t)precision;
}

/** Count all pairs of two blocks of replicas: task `block` of sweep->job, a kith__compare. */
kith__block_fn KITH_EACH_ISA(compare);

#endif
