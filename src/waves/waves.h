/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves: the checked arguments, and the operation that each backend offers.
 */
#ifndef KITH_WAVES_BACKEND_H
#define KITH_WAVES_BACKEND_H

#include "core/backend.h"
#include "engine/question.h"

/** Checked copy of kith_waves. */
struct kith__waves {
    int64_t n;              /**< number of waves */
    const int32_t *hkl;     /**< [n][3] h, k, l of each wave: q in units of the reciprocal lattice
                                 (kith/waves.h), each -2^14 to 2^14 */
    const int32_t *species; /**< [particles] species of each particle; NULL: all are 0 */
    int32_t n_species;      /**< number of species */
    double *sums;           /**< [n][n_species][2] real and imaginary part of each sum, which the
                                 backend writes; undefined on failure */
};

/** Operations that a backend offers; NULL: not offered. */
struct kith__waves_backend {
    /** Sum exp(i q.r) over the particles of each species, with r relative to the origin of the box.
     *  The question has no cutoff; its coordinates have not been checked: the backend does it.
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_NOT_FINITE, KITH_LIMIT or
     *          KITH_DEVICE_LOST. */
    kith_status (*sum)(kith_ctx *ctx, const struct kith__question *question,
                       const struct kith__waves *waves);
};

extern const struct kith__waves_backend kith__cpu_waves, kith__cuda_waves;

#endif
