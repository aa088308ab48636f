/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points and counters in device memory.
 */
#include "rung_rdf_gpu.h"

#include <cuda_runtime.h>

bool rung_rdf_gpu_put(rung_rdf_gpu *in)
{
    const size_t bytes = (size_t)in->n * 3 * sizeof(float);
    return cudaMalloc((void **)&in->on_device, bytes) == cudaSuccess &&
           cudaMalloc(&in->counts_device, (size_t)in->bins * sizeof(int64_t)) == cudaSuccess &&
           cudaMemcpy(in->on_device, in->xyz, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}

void rung_rdf_gpu_free(rung_rdf_gpu *in)
{
    cudaFree(in->on_device);
    cudaFree(in->counts_device);
    in->on_device = NULL;
    in->counts_device = NULL;
}
