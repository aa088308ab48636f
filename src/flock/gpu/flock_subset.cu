/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers a subset of a flock, or all of it in the caller's order: one thread for each particle
 * looks up its rank, as particles are in the order of cells.
 */
#include "flock_gpu.cuh"

enum { THREADS = 256 }; /* threads of a block */

/** Write the three numbers of a record. */
template <typename real> static __device__ void put(const record<real> &from, real to[3])
{
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

/** Copy each particle of the subset, a thread for each particle of the state. */
template <typename real> static __global__ void gather(const struct kith__gpu_subset_read g)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= g.n) {
        return;
    }
    const record<real> r = ((const record<real> *)g.state.r)[s];
    const int64_t at = g.rank ? (int64_t)g.rank[r.number] : (int64_t)r.number;
    if (at < 0) {
        return;
    }
    if (g.r) {
        put(r, (real *)g.r + 3 * at);
    }
    if (g.v) {
        put(((const record<real> *)g.state.v)[s], (real *)g.v + 3 * at);
    }
}

gpuError_t kith__gpu_flock_gather(const struct kith__gpu_subset_read *read, gpuStream_t stream)
{
    const int64_t blocks = (read->n + THREADS - 1) / THREADS;
    if (read->single) {
        KITH_LAUNCH(gather<float>, blocks, THREADS, stream, *read);
    } else {
        KITH_LAUNCH(gather<double>, blocks, THREADS, stream, *read);
    }
    return gpuGetLastError();
}
