/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums in device memory.
 */
#ifndef KITH_GPU_DEBYE_H
#define KITH_GPU_DEBYE_H

#include "../debye.h"
#include "state.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sum the pairs of all pieces at the q of one run. Arrays are in device memory. */
gpuError_t kith__gpu_debye_run(const struct kith__debye *debye, int64_t run, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

kith_status kith__gpu_debye_sum(kith_ctx *ctx, const struct kith__debye *debye);

#endif
