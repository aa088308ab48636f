/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves in device memory. Launchers queue on the stream and return the run-time's
 * error code.
 */
#ifndef KITH_GPU_WAVES_H
#define KITH_GPU_WAVES_H

#include "engine/pieces.h"
#include "engine/question.h"
#include "engine/gpu/gpu.h"

enum { KITH_GPU_WAVE_PIECE = 2048 }; /**< particles that are added one after the other */

/** All arrays are in device memory. */
struct kith__gpu_waves {
    struct kith__question question; /**< with points in device memory */
    int64_t n_waves;
    int64_t begin, end; /**< waves of one run */
    int32_t n_species, pieces;
    const int32_t *hkl;              /**< [n_waves][3] */
    const int32_t *id;               /**< [n] particle of each place, by species */
    const struct kith__piece *piece; /**< [pieces] */
    uint64_t *turns[3];              /**< [n] of places: turns, in units of 2^-64, wrapped */
    unsigned long long *bad;         /**< 2 p + (too far) of the first particle p that is not finite
                                          or too far; all bits: none */
    double (*part)[2];               /**< [pieces][end - begin] sums */
    double (*sums)[2];               /**< [n_waves][n_species] */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Fill turns and bad, which is all bits. */
gpuError_t kith__gpu_take_turns(const struct kith__gpu_waves *waves, gpuStream_t stream);

/** Write the sums of waves [begin, end). */
gpuError_t kith__gpu_add_waves(const struct kith__gpu_waves *waves, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
