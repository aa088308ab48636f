/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs under minimum image, in an orthorhombic box that is periodic on all axes. Coordinates
 * are whole numbers of 2^-32 box sides: their 32-bit difference wraps by itself, and is that of the
 * nearest image. Particles are sorted by species, and cut into pieces that fit the nearest cache.
 */
#ifndef KITH_CPU_ALL_PAIRS_H
#define KITH_CPU_ALL_PAIRS_H

#include "engine/pieces.h"
#include "tally.h"

enum { KITH_PIECE = 1024 }; /**< the most particles of a piece */

/** One set. */
struct kith__ranked {
    int64_t n;
    int32_t *fraction[3]; /**< [n + 3 KITH_LANES] */
    void *xyz[3];         /**< [n] wrapped, precision of the points */
    int32_t *id;          /**< [n] the caller's index */
    int64_t *first;       /**< [n_species + 2] where each species begins */
    int32_t pieces;
    struct kith__piece *piece;
};

/** Task p * b.pieces + q is of piece p of a and q of b; of one set, q (q + 1) / 2 + p of p <= q. */
struct kith__all_pairs {
    const struct kith__scale *scale;
    double unit;     /**< from differences of fractions to cutoffs, on the first axis */
    float weight[2]; /**< squares on the others, in units of those on the first */
    float band;      /**< error bound of r2 / cutoff^2 up to the cutoff, */
    float off;       /**< and of r / cutoff */
    bool cross;
    struct kith__ranked a, b; /**< b is a unless there are two sets */
};

/** Count all pairs in the tallies of the threads' sweeps, which are ready.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED. */
kith_status kith__nearest_tally(kith_ctx *ctx, const struct kith__question *question,
                                const struct kith__scale *scale);

/** Count all pairs of two pieces: a task of sweep->job, a kith__all_pairs (all_pairs_kernel.c). */
kith__block_fn KITH_EACH_ISA(tally_pieces);

#endif
