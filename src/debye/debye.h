/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums as backends take them: particles sorted by species and cut into pieces, and q in
 * runs. Within a run sin((k + 1) x) = 2 cos(x) sin(k x) - sin((k - 1) x) gives sin(q r). Each
 * piece has a row of sums with each species, which are added in the order of the pieces.
 */
#ifndef KITH_DEBYE_SUMS_H
#define KITH_DEBYE_SUMS_H

#include <kith_debye.h>

#include "core/backend.h"
#include "engine/pieces.h"

enum { KITH_DEBYE_PIECE = 128, KITH_DEBYE_RUN = 32 };

struct kith__debye {
    int64_t n, n_q;
    int32_t n_species, pieces;
    double q_min, q_width;
    double least;                    /**< r below which sin(q r) / (q r) is 1 for all q */
    const double *xyz[3];            /**< [n] in order of species, room for 64 bytes more */
    const int64_t *first;            /**< [n_species + 1] place where a species begins */
    const struct kith__piece *piece; /**< [pieces] of KITH_DEBYE_PIECE particles at most */
    double *sums; /**< [pieces][n_species][n_q]: over pairs of a particle of the piece with later
                       ones of the species, of sin(q r) / r; of sin(q r) / (q r) where q is 0 */
};

/** What a backend offers. */
struct kith__debye_backend {
    /** Sum over the pairs of a cluster. */
    kith_status (*sum)(kith_ctx *ctx, const struct kith__debye *debye);
};

extern const struct kith__debye_backend kith__cpu_debye, kith__cuda_debye;

#endif
