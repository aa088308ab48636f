/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 8: the library on a GPU, with subcells that are one group without a distance, as in rung 4.
 * Its labels are copied to the array that the other rungs write.
 */
#include "rung_gpu_fof.h"

#include <cuda_runtime_api.h>

bool rung_gpu_fof_mainline(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    rung_gpu *const gpu = in->gpu;
    kith_points points = kith_points_packed(gpu->xyz, in->n, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = least;
    points.memory = KITH_DEVICE;
    gpu->groups.memory = KITH_DEVICE;
    const bool ok = kith_fof_find(gpu->ctx, &points, NULL, in->cutoff, &options, &gpu->groups) ==
                    KITH_OK;
    *scratch = kith_scratch_bytes(gpu->ctx);
    return ok &&
           (in->n == 0 || cudaMemcpy(labels, gpu->groups.labels, (size_t)in->n * sizeof *labels,
                                     cudaMemcpyDeviceToDevice) == cudaSuccess) &&
           cudaDeviceSynchronize() == cudaSuccess;
}
