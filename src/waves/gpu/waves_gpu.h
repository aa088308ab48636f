/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves in device memory. The functions here launch kernels: they queue on the
 * stream and return the run time's error code.
 */
#ifndef KITH_GPU_WAVES_H
#define KITH_GPU_WAVES_H

#include "engine/pieces.h"
#include "engine/question.h"
#include "engine/gpu/gpu.h"

enum { KITH_GPU_WAVE_PIECE = 2048 }; /**< particles that one thread adds, one after another */

/** State of one call, as kernels see it. All arrays are in device memory. */
struct kith__gpu_waves {
    struct kith__question question;  /**< points and box */
    int64_t n_waves;                 /**< number of waves */
    int64_t begin, end;              /**< waves of one launch */
    int32_t n_species, pieces;       /**< number of species, and of pieces */
    const int32_t *hkl;              /**< [n_waves][3] waves in units of the reciprocal lattice */
    const int32_t *id;               /**< [n] caller's index of each particle, by species */
    const struct kith__piece *piece; /**< [pieces] particles of one species */
    uint64_t *phases[3];             /**< [n] phases, by species [2^-64 turns] */
    unsigned long long *bad; /**< smallest 2 p + (too far) of a particle p that is not finite
                                  or too far out; UINT64_MAX: none */
    double (*part)[2];       /**< [pieces][end - begin] sums over each piece */
    double (*sums)[2];       /**< [n_waves][n_species] real and imaginary parts */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Compute the phases, and `bad`, which is UINT64_MAX before. */
gpuError_t kith__gpu_compute_phases(const struct kith__gpu_waves *waves, gpuStream_t stream);

/** Compute the sums of waves [begin, end). */
gpuError_t kith__gpu_add_waves(const struct kith__gpu_waves *waves, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
