/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels for orders of particles: reduce the coordinates to their extents, and compute the key
 * of each particle (order/order.h). O(n).
 */
#include "order_gpu.h"

#include <float.h>

#include "engine/cells.h"
#include "engine/gpu/device.cuh"

enum {
    THREADS = 256,     /**< threads of a thread block */
    EXTENTS_MOST = 512 /**< most blocks of the kernel find_extents: more would wait for atomics */
};

/** Read particle p, wrapped into the box.
 *  @return 0 when it is too far outside the box to wrap */
template <typename real>
static __device__ __forceinline__ int read_position(const struct kith__question &q, int64_t p,
                                                    real r[3], int32_t image[3])
{
    return definition<real>::load(definition<real>::box(q), q.a, q.dim, p, r, image);
}

/** Reduce the coordinates to their extents, and find the first particles that cannot be used: in
 *  registers, then over the lanes of a warp, then by atomics in shared memory, then in device
 *  memory. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    find_extents(const KITH_IN_PLACE struct kith__question q, struct kith__gpu_extents *extents)
{
    typedef definition<real> def;
    __shared__ struct kith__gpu_extents block;
    if (threadIdx.x == 0) {
        block = {};
    }
    __syncthreads();
    struct kith__bounds bounds = {
        {DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, INT64_MAX, INT64_MAX, 0};
    double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX};
    double hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t p = my_item(); p < q.a.n; p += step) {
        real r[3];
        int32_t image[3];
        const int fits = read_position(q, p, r, image);
        def::bounds_add(def::box(q), p, r, fits, image, &bounds);
        for (int k = 0; k < 3; k++) {
            lo[k] = fmin(lo[k], (double)r[k]);
            hi[k] = fmax(hi[k], (double)r[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        for (int bits = LANES / 2; bits > 0; bits /= 2) {
            lo[k] = fmin(lo[k], from_partner(lo[k], bits));
            hi[k] = fmax(hi[k], from_partner(hi[k], bits));
        }
        if (my_lane() == 0) {
            atomicMax(&block.below[k], ~ordered(lo[k]));
            atomicMax(&block.above[k], ordered(hi[k]));
        }
    }
    atomicMax(&block.bad, (unsigned long long)(INT64_MAX - bounds.bad));
    atomicMax(&block.far, (unsigned long long)(INT64_MAX - bounds.far));
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; k++) {
            atomicMax(&extents->below[k], block.below[k]);
            atomicMax(&extents->above[k], block.above[k]);
        }
        atomicMax(&extents->bad, block.bad);
        atomicMax(&extents->far, block.far);
    }
}

/** Write the key and the index of each particle, one in each thread. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    make_keys(const KITH_IN_PLACE struct kith__question q,
              const KITH_IN_PLACE struct kith__order_cells cells, uint64_t *key, int32_t *id)
{
    const int64_t p = my_item();
    if (p < q.a.n) {
        real r[3];
        int32_t image[3];
        read_position(q, p, r, image);
        const double position[3] = {r[0], r[1], r[2]};
        key[p] = kith__order_key(&cells, position);
        id[p] = (int32_t)p;
    }
}

/* ---------------------------------------------------------------------------------- launchers */

gpuError_t kith__gpu_order_extents(const struct kith__question *question,
                                   struct kith__gpu_extents *extents, gpuStream_t stream)
{
    const int64_t all = blocks_for(question->a.n, THREADS);
    const int64_t blocks = all < EXTENTS_MOST ? all : EXTENTS_MOST;
    if (question->precision == KITH_FLOAT) {
        KITH_LAUNCH(find_extents<float>, blocks, THREADS, stream, *question, extents);
    } else {
        KITH_LAUNCH(find_extents<double>, blocks, THREADS, stream, *question, extents);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_order_keys(const struct kith__question *question,
                                const struct kith__order_cells *cells, uint64_t *key, int32_t *id,
                                gpuStream_t stream)
{
    const int64_t blocks = blocks_for(question->a.n, THREADS);
    if (question->precision == KITH_FLOAT) {
        KITH_LAUNCH(make_keys<float>, blocks, THREADS, stream, *question, *cells, key, id);
    } else {
        KITH_LAUNCH(make_keys<double>, blocks, THREADS, stream, *question, *cells, key, id);
    }
    return gpuGetLastError();
}
