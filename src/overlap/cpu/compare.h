/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting the overlaps of blocks of replicas on CPU cores: the data that overlap_cpu.c and the
 * kernels share. overlap/overlap.h defines overlaps, scales, weights and bands.
 *
 * Replicas of numbers are copied to panels of 48 replicas in float, or of 24 in double: number 0 of
 * all replicas of a panel, then number 1, and so on. So both factors of a product are read in order
 * of their addresses, and one copy serves for both. A block is KITH_COMPARE_BLOCK consecutive
 * replicas, 5 panels in float or 10 in double; a task is all pairs of two blocks. A slice is
 * KITH_COMPARE_DEPTH consecutive numbers of all replicas. Replicas of spins, which are packed bits,
 * are read from their rows.
 */
#ifndef KITH_CPU_COMPARE_H
#define KITH_CPU_COMPARE_H

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "overlap/overlap.h"

/** Numbers of the buffers of the context's scratch memory, after those of overlap.h. */
enum { KITH_OVERLAP_PANELS = KITH_OVERLAP_BUFFERS_END, KITH_OVERLAP_WEIGHTS, KITH_OVERLAP_THREADS };

enum {
    KITH_PANEL_BYTES = 192,   /**< bytes of one number of all replicas of a panel: whole vectors of
                                   every instruction set */
    KITH_COMPARE_BLOCK = 240, /**< replicas of a block: whole panels of floats or doubles */
    KITH_COMPARE_DEPTH = 128, /**< numbers of a slice, whose products are summed in registers before
                                   they are added to those of earlier slices */
    KITH_COMPARE_COPIES =
        4 /**< copies of a thread's counters: adjacent pairs use different ones, so that increments
               of one counter do not wait for each other */
};

/** Scratch memory of one thread. */
struct kith__compare_own {
    void *products;  /**< [KITH_COMPARE_BLOCK][KITH_COMPARE_BLOCK] products of the replicas of two
                          blocks, in kith__compare.precision; unused for bits */
    int64_t *counts; /**< [copies][bins + 2] pairs; counter 0 is below the first edge, k + 1 is
                          bin k, bins + 1 is above the last edge */
};

/** State that all threads share. All pairs of blocks I <= J of replicas are task J (J + 1) / 2 +
 *  I. */
struct kith__compare {
    kith_ctx *ctx;                       /**< context, for cancellation */
    const struct kith__overlap *overlap; /**< the replicas */
    struct kith__band band;              /**< from products to counters */
    kith_precision precision;            /**< precision of products, panels and weights */
    void *panels;                  /**< [panels][dim][replicas of a panel] scaled numbers; NULL
                                        for bits */
    void *weights;                 /**< [n] kith__overlap_weight of each replica; NULL for bits */
    int copies;                    /**< copies of a thread's counters; a power of 2 */
    struct kith__compare_own *own; /**< [threads] memory of each thread */
    const struct kith__sweep *sweeps; /**< [threads] working memory of all threads: the thread of
                                           sweep k uses own[k] */
};

/** Return the number of replicas of a panel. */
static inline int64_t kith__panel_width(kith_precision precision)
{
    return KITH_PANEL_BYTES / (int64_t)precision;
}

/** Count all pairs of two blocks of replicas: one task. sweep->job is a struct kith__compare. */
kith__work_fn KITH_EACH_ISA(compare);

#endif
