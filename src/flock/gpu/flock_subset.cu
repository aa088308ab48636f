/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers a subset of a flock: one thread for each particle looks up its rank, as particles are in
 * the order of cells.
 */
#include "flock_gpu.cuh"

enum { THREADS = 256 };

/** Copy each particle of the subset. */
template <typename real> static __global__ void gather(const struct kith__gpu_subset_read g)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= g.n) {
        return;
    }
    const record<real> r = ((const record<real> *)g.state.r)[s];
    const int64_t at = g.rank[r.number];
    if (at < 0) {
        return;
    }
    const record<real> v = ((const record<real> *)g.state.v)[s];
    real *const to = (real *)g.to + 3 * at;
    real *const v_to = (real *)g.to + 3 * (g.chosen + at);
    to[0] = r.x;
    to[1] = r.y;
    to[2] = r.z;
    v_to[0] = v.x;
    v_to[1] = v.y;
    v_to[2] = v.z;
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
