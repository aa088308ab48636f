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
    const int32_t *id;               /**< [n] caller's index of each particle, sorted by species */
    const struct kith__piece *piece; /**< [pieces] at most KITH_GPU_WAVE_PIECE particles of one
                                          species each */
    uint64_t *phases[3];             /**< [n] phases along each axis, sorted by species: fractional
                                          coordinates modulo 1 (waves/wave_phase.h)
                                          [2^-64 turns] */
    unsigned long long *bad;         /**< smallest 2 p + (1 if too far out, 0 if not finite) of the
                                          particles p that cannot be used; UINT64_MAX: none */
    double (*part)[2]; /**< [pieces][end - begin] sums over each piece: real and imaginary
                            part */
    double (*sums)[2]; /**< [n_waves][n_species] sums: real and imaginary part */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Compute waves->phases, and *waves->bad, which is UINT64_MAX before. */
gpuError_t kith__gpu_compute_phases(const struct kith__gpu_waves *waves, gpuStream_t stream);

/** Compute the sums of waves [waves->begin, waves->end), in waves->sums. */
gpuError_t kith__gpu_add_waves(const struct kith__gpu_waves *waves, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
