/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs under minimum image, where only the nearest image of a pair counts, in an orthorhombic
 * box that is periodic on all axes; O(n^2). Coordinates are integers in units of 2^-32 box sides:
 * their difference modulo 2^32, as a signed integer, is the signed distance along the axis to the
 * nearest image. Particles are sorted by species and cut into pieces that fit the first-level
 * cache. A particle's number by species is its position in that order.
 */
#ifndef KITH_CPU_ALL_PAIRS_H
#define KITH_CPU_ALL_PAIRS_H

#include "engine/pieces.h"
#include "tally.h"

enum { KITH_PIECE = 1024 }; /**< largest number of particles of a piece */

/** One set of particles, sorted by species. */
struct kith__by_species {
    int64_t n;                 /**< particles */
    int32_t *fraction[3];      /**< [n + 3 KITH_LANES] coordinates [2^-32 box sides]; 0 in the
                                    padding, which vectors of candidates read */
    void *xyz[3];              /**< [n] wrapped coordinates, in the points' precision [length] */
    int32_t *id;               /**< [n] caller's index of each */
    int64_t *first;            /**< [n_species + 2] first particle of each species, n, and scratch
                                    memory of kith__cut_pieces */
    int32_t pieces;            /**< number of pieces */
    struct kith__piece *piece; /**< [pieces] the pieces: at most KITH_PIECE particles each */
};

/** State that all tasks share. A task is the pairs of two pieces. Of two sets, piece p of a and
 *  piece q of b are task p b.pieces + q; of one set, pieces p <= q are task q (q + 1) / 2 + p. */
struct kith__all_pairs {
    const struct kith__scale *scale; /**< from distances to counters */
    double unit;     /**< one unit of `fraction` along x, 2^-32 sides of the box [cutoff] */
    float weight[2]; /**< squared sides of the box along y and z, in squared sides along x: r^2 is
                          dx^2 + weight[0] dy^2 + weight[1] dz^2; 0 along z in 2-D */
    float error2;    /**< error bound of r^2 / cutoff^2 up to the cutoff; infinite: all pairs are
                          borderline */
    float error;     /**< error bound of r / cutoff up to the cutoff */
    bool cross;      /**< there are two sets */
    struct kith__by_species a, b; /**< the sets; b equals a when there is one */
};

/** Count all pairs of a question with rdf->nearest, in the threads' tallies, which kith__tally_init
 *  has initialised. Coordinates have been checked.
 *  @return KITH_OK, KITH_NO_MEMORY or KITH_CANCELLED */
kith_status kith__nearest_tally(kith_ctx *ctx, const struct kith__question *question,
                                const struct kith__scale *scale);

/** Count all pairs of two pieces: one task (all_pairs_kernel.c). sweep->job is a
 *  kith__all_pairs. */
kith__work_fn KITH_EACH_ISA(tally_pieces);

#endif
