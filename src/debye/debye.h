/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's scattering equation (P. Debye, Ann. Phys. 351, 809, 1915): sums of sin(q r) / (q r) over
 * all pairs; the checked arguments, and the operation that each backend offers. O(n^2 n_q).
 *
 * Particles are sorted by species and cut into pieces, and the values of q into runs of
 * KITH_DEBYE_RUN. Within a run sin(q r) of the next q follows from the two before it by
 * sin(q r + x) = 2 cos(x) sin(q r) - sin(q r - x), where x = q_width r. Rounding errors grow
 * along a run, so each run starts from sines again. Each piece has sums of its own over its
 * pairs with each species; debye.c adds these in the order of the pieces.
 */
#ifndef KITH_DEBYE_SUMS_H
#define KITH_DEBYE_SUMS_H

#include <kith/debye.h>

#include "core/backend.h"
#include "engine/pieces.h"

/* KITH_DEBYE_PIECE: particles of a piece. KITH_DEBYE_RUN: values of q in a run. */
enum { KITH_DEBYE_PIECE = 128, KITH_DEBYE_RUN = 32 };

/** The particles and values of q of one call, and the sums over pairs. */
struct kith__debye {
    int64_t n, n_q;                  /**< number of particles, and of values of q */
    int32_t n_species, pieces;       /**< number of species, and of pieces */
    double q_min, q_width;           /**< first q, and distance between two values [1 / length] */
    double least;                    /**< smaller distances r are replaced by this one:
                                          sin(q r) / (q r) is 1 there [length] */
    const double *xyz[3];            /**< [n] coordinates in the order of species, readable up to 64
                                          bytes beyond the end [length] */
    const int64_t *first;            /**< [n_species + 1] first particle of each species, then n */
    const struct kith__piece *piece; /**< [pieces] at most KITH_DEBYE_PIECE particles each */
    double *sums; /**< [pieces][n_species][n_q] sums of sin(q r) / r over the pairs of a particle of
                       the piece with a later particle of the species; at q = 0 the number of these
                       pairs, as sin(q r) / (q r) is 1. Species before that of the piece: 0 */
};

/** Operations that a backend offers; NULL: not offered. */
struct kith__debye_backend {
    /** Compute debye->sums, which are zero before.
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED or KITH_DEVICE_LOST. */
    kith_status (*sum)(kith_ctx *ctx, const struct kith__debye *debye);
};

extern const struct kith__debye_backend kith__cpu_debye, kith__cuda_debye;

#endif
