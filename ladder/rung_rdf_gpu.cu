/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points and counters in device memory, and rungs 1 to 3.
 *
 * Rung 1 is the kernel of lectures. One thread tests a point against all later points, and adds 1
 * to a histogram of floats in device memory. A float stays at 2^24 = 16,777,216, where 1 is half of
 * its spacing: further pairs are silently lost.
 *
 * Rung 2 has counters of 64-bit integers. No pair is lost, and it is not slower: the time is that
 * of atomic additions of all threads to a few counters in device memory.
 *
 * Rung 3 has a histogram for each block in shared memory, which is added to that in device memory
 * at the end; points are loaded through shared memory, too. A block counts at most 256 n pairs, so
 * that 32 bits suffice up to n = 2^24.
 */
#include "rung_rdf_gpu.h"

#include <cuda_runtime.h>
#include <stdlib.h>

enum { THREADS = 256 };

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

/* The bin of a pair; beyond r_max, a number beyond the last bin. */
static __device__ int bin_of(const float *a, const float *b, float per_width)
{
    float r2 = 0;
    for (int k = 0; k < 3; k++) {
        float d = b[k] - a[k];
        d -= rintf(d);
        r2 += d * d;
    }
    return (int)(sqrtf(r2) * per_width);
}

template <typename T>
static __global__ void count_shared_by_all(const float *xyz, int64_t n, int bins, float per_width,
                                           T *histogram)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t j = i + 1; j < n; j++) {
        const int bin = bin_of(xyz + 3 * i, xyz + 3 * j, per_width);
        if (bin < bins) {
            atomicAdd(&histogram[bin], (T)1);
        }
    }
}

static __global__ void count_private(const float *xyz, int64_t n, int bins, float per_width,
                                     unsigned long long *histogram)
{
    extern __shared__ unsigned own[];
    __shared__ float tile[3 * THREADS];
    const int me = (int)threadIdx.x;
    const int64_t first = (int64_t)blockIdx.x * THREADS;
    const int64_t i = first + me;
    float mine[3] = {0, 0, 0};
    for (int k = 0; k < 3 && i < n; k++) {
        mine[k] = xyz[3 * i + k];
    }
    for (int k = me; k < bins; k += THREADS) {
        own[k] = 0;
    }
    for (int64_t begin = first; begin < n; begin += THREADS) {
        const int64_t left = n - begin;
        const int in_tile = left < THREADS ? (int)left : THREADS;
        __syncthreads();
        for (int k = me; k < 3 * in_tile; k += THREADS) {
            tile[k] = xyz[3 * begin + k];
        }
        __syncthreads();
        for (int k = begin == first ? me + 1 : 0; k < in_tile && i < n; k++) {
            const int bin = bin_of(mine, tile + 3 * k, per_width);
            if (bin < bins) {
                atomicAdd(&own[bin], 1u);
            }
        }
    }
    __syncthreads();
    for (int k = me; k < bins; k += THREADS) {
        atomicAdd(&histogram[k], (unsigned long long)own[k]);
    }
}

/* Count by a kernel with a histogram of T in device memory. */
template <typename T>
static bool count(void (*kernel)(const float *, int64_t, int, float, T *), size_t shared,
                  const rung_rdf_gpu *in, int64_t *counts)
{
    const size_t bytes = (size_t)in->bins * sizeof(T);
    T *const histogram = (T *)in->counts_device;
    T *const here = (T *)malloc(bytes);
    bool ok = here && cudaMemset(histogram, 0, bytes) == cudaSuccess;
    if (ok) {
        kernel<<<(unsigned)((in->n + THREADS - 1) / THREADS), THREADS, shared>>>(
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

bool rung_rdf_gpu_float(const rung_rdf_gpu *in, int64_t *counts)
{
    return count(count_shared_by_all<float>, 0, in, counts);
}

bool rung_rdf_gpu_global(const rung_rdf_gpu *in, int64_t *counts)
{
    return count(count_shared_by_all<unsigned long long>, 0, in, counts);
}

bool rung_rdf_gpu_shared(const rung_rdf_gpu *in, int64_t *counts)
{
    return count(count_private, (size_t)in->bins * sizeof(unsigned), in, counts);
}
