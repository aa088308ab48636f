/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 1: the kernel of lectures. A thread takes a point to all that come later, and adds 1 to a
 * histogram of floats in device memory. A float stands still at 2^24 = 16,777,216, where 1 more is
 * half of what it can tell: beyond, pairs are lost without a word.
 */
#include "rung_rdf_gpu.h"

#include <stdlib.h>

static __global__ void count_floats(const float *xyz, int64_t n, int bins, float per_width,
                                    float *histogram)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t j = i + 1; j < n; j++) {
        const int bin = rung_rdf_bin(xyz + 3 * i, xyz + 3 * j, per_width);
        if (bin < bins) {
            atomicAdd(&histogram[bin], 1.0f);
        }
    }
}

bool rung_rdf_gpu_float(const rung_rdf_gpu *in, int64_t *counts)
{
    const size_t bytes = (size_t)in->bins * sizeof(float);
    float *const histogram = (float *)in->counts_device;
    float *const here = (float *)malloc(bytes);
    bool ok = here && cudaMemset(histogram, 0, bytes) == cudaSuccess;
    if (ok) {
        count_floats<<<rung_rdf_blocks(in->n), RUNG_RDF_THREADS>>>(
            in->on_device, in->n, (int)in->bins, (float)((double)in->bins / in->r_max), histogram);
        ok = cudaGetLastError() == cudaSuccess &&
             cudaMemcpy(here, histogram, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    }
    for (int64_t k = 0; ok && k < in->bins; k++) {
        counts[k] = (int64_t)here[k];
    }
    free(here);
    return ok;
}
