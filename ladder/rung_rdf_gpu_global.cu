/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 2: the same with integers of 64 bits. Nothing is lost, and it is no slower: what takes the
 * time is that all threads of the device add to a few counters in its memory.
 */
#include "rung_rdf_gpu.h"

static __global__ void count_integers(const float *xyz, int64_t n, int bins, float per_width,
                                      unsigned long long *histogram)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t j = i + 1; j < n; j++) {
        const int bin = rung_rdf_bin(xyz + 3 * i, xyz + 3 * j, per_width);
        if (bin < bins) {
            atomicAdd(&histogram[bin], 1ull);
        }
    }
}

bool rung_rdf_gpu_global(const rung_rdf_gpu *in, int64_t *counts)
{
    const size_t bytes = (size_t)in->bins * sizeof *counts;
    unsigned long long *const histogram = (unsigned long long *)in->counts_device;
    if (cudaMemset(histogram, 0, bytes) != cudaSuccess) {
        return false;
    }
    count_integers<<<rung_rdf_blocks(in->n), RUNG_RDF_THREADS>>>(
        in->on_device, in->n, (int)in->bins, (float)((double)in->bins / in->r_max), histogram);
    return cudaGetLastError() == cudaSuccess &&
           cudaMemcpy(counts, histogram, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}
