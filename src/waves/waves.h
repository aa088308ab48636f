/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves as the backends take them.
 */
#ifndef KITH_WAVES_BACKEND_H
#define KITH_WAVES_BACKEND_H

#include "core/backend.h"
#include "engine/question.h"

/** Waves to sum: kith_waves, checked. */
struct kith__waves {
    int64_t n;
    const int32_t *hkl; /**< [n][3] */
    const int32_t *species;
    int32_t n_species;
    double *sums; /**< [n][n_species][2] */
};

/** What a backend offers. */
struct kith__waves_backend {
    /** The question has no cutoff. */
    kith_status (*sum)(kith_ctx *ctx, const struct kith__question *question,
                       const struct kith__waves *waves);
};

extern const struct kith__waves_backend kith__cpu_waves, kith__cuda_waves;

#endif
