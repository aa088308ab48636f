/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher of the kernel of Debye's sums on a GPU (debye/debye.h).
 */
#ifndef KITH_GPU_DEBYE_H
#define KITH_GPU_DEBYE_H

#include "debye/debye.h"
#include "engine/gpu/gpu_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Launch the sums over the pairs of `pieces` pieces from `piece` on, at the values of q of one
 *  run. Arrays of *debye are in device memory; sums are written.
 *  @param stop  the stop flag in device memory: KITH_GPU_STOP or more ends the sums early
 *  @return the run time's error code */
gpuError_t kith__gpu_debye_run(const struct kith__debye *debye, int64_t run, int64_t piece,
                               int64_t pieces, const unsigned *stop, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
