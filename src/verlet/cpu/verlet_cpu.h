/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface between verlet_cpu.c, which keeps lists on CPU cores, and the loops over rows that
 * are compiled once for each instruction set.
 */
#ifndef KITH_VERLET_CPU_H
#define KITH_VERLET_CPU_H

#include "engine/cpu/isa.h"
#include "verlet/verlet.h"

/** A list that is kept on CPU cores: kith_verlet.data. Row i of the kept list has candidates
 *  [offsets[i], offsets[i + 1]). */
struct kith__verlet_cpu {
    struct kith__buffer now;       /**< [3][n] wrapped coordinates of the update, by axis */
    struct kith__buffer image;     /**< [n][3] boxes that wrapping subtracted from them, int32_t */
    struct kith__buffer reference; /**< [3][n] wrapped coordinates at the last rebuild, by axis */
    struct kith__buffer turn;      /**< [n] v, packed, int32_t */
    struct kith__buffer kept_now;  /**< [candidates] 1: a pair now, uint8_t */
    struct kith__buffer counts;    /**< [n + 1] pairs of each row, then offsets, int64_t */
    struct kith__buffer plain;     /**< [n] 1: no shift of the row but 0, uint8_t */
    kith_pairs skin;               /**< rows of the kept list. Its shifts are packed by
                                        kith__verlet_packed */
};

/** State of the loops over rows. */
struct kith__verlet_loop {
    kith_ctx *ctx;                         /**< context of the call */
    const struct kith__question *question; /**< box and cutoff of the update */
    const void *now;                       /**< [3][n] wrapped coordinates, by axis */
    const int32_t *image;                  /**< [n][3] */
    const int32_t *turn;                   /**< [n]; NULL: all are 0 */
    const int64_t *offsets;                /**< [n + 1] rows of the kept list */
    const int32_t *j;                      /**< [candidates] */
    int32_t *shifts;                       /**< shifts of the kept list, packed */
    const uint8_t *plain;                  /**< [n] */
    uint8_t *kept;                         /**< [candidates]; NULL: all candidates are wanted */
    int64_t *counts;                       /**< [n + 1] pairs of each row, or offsets */
    unsigned extras;                       /**< of the list */
    kith_pairs *out;                       /**< the list */
};

/** Return the packed shifts of a row. Those of KITH_VERLET_ROWS rows are stored without gaps, from
 *  the place on where the first of these rows has its unpacked shifts. */
static inline int32_t *kith__verlet_packed(int32_t *shifts, const int64_t *offsets, int64_t row)
{
    return shifts + offsets[row] + 2 * offsets[row / KITH_VERLET_ROWS * KITH_VERLET_ROWS];
}

/** Test the candidates of rows [begin, end): set kept and counts. */
kith__range_fn KITH_EACH_ISA(verlet_test);

/** Write the pairs of rows [begin, end) to the list. */
kith__range_fn KITH_EACH_ISA(verlet_write);

#endif
