/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 3: a histogram for each block, in its shared memory, added to that in device memory at the
 * end; points, too, pass through shared memory. A block counts 256 n pairs at most: 32 bits do up
 * to n = 2^24.
 */
#include "rung_rdf_gpu.h"

static __global__ void count_private(const float *xyz, int64_t n, int bins, float per_width,
                                     unsigned long long *histogram)
{
    extern __shared__ unsigned own[];
    __shared__ float tile[3 * RUNG_RDF_THREADS];
    const int me = (int)threadIdx.x;
    const int64_t first = (int64_t)blockIdx.x * RUNG_RDF_THREADS;
    const int64_t i = first + me;
    float mine[3] = {0, 0, 0};
    for (int k = 0; k < 3 && i < n; k++) {
        mine[k] = xyz[3 * i + k];
    }
    for (int k = me; k < bins; k += RUNG_RDF_THREADS) {
        own[k] = 0;
    }
    for (int64_t begin = first; begin < n; begin += RUNG_RDF_THREADS) {
        const int64_t left = n - begin;
        const int in_tile = left < RUNG_RDF_THREADS ? (int)left : RUNG_RDF_THREADS;
        __syncthreads();
        for (int k = me; k < 3 * in_tile; k += RUNG_RDF_THREADS) {
            tile[k] = xyz[3 * begin + k];
        }
        __syncthreads();
        for (int k = begin == first ? me + 1 : 0; k < in_tile && i < n; k++) {
            const int bin = rung_rdf_bin(mine, tile + 3 * k, per_width);
            if (bin < bins) {
                atomicAdd(&own[bin], 1u);
            }
        }
    }
    __syncthreads();
    for (int k = me; k < bins; k += RUNG_RDF_THREADS) {
        atomicAdd(&histogram[k], (unsigned long long)own[k]);
    }
}

bool rung_rdf_gpu_shared(const rung_rdf_gpu *in, int64_t *counts)
{
    const size_t bytes = (size_t)in->bins * sizeof *counts;
    const size_t shared = (size_t)in->bins * sizeof(unsigned);
    unsigned long long *const histogram = (unsigned long long *)in->counts_device;
    if (cudaMemset(histogram, 0, bytes) != cudaSuccess) {
        return false;
    }
    count_private<<<rung_rdf_blocks(in->n), RUNG_RDF_THREADS, shared>>>(
        in->on_device, in->n, (int)in->bins, (float)((double)in->bins / in->r_max), histogram);
    return cudaGetLastError() == cudaSuccess &&
           cudaMemcpy(counts, histogram, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}
