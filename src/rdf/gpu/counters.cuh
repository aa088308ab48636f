/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters of a block of threads: 32 bits in shared memory, in copies that spread the lanes of a
 * warp over its banks, added to 64 bits in device memory.
 */
#ifndef KITH_GPU_COUNTERS_CUH
#define KITH_GPU_COUNTERS_CUH

#include "engine/gpu/device.cuh"

/** The counters of a block. */
KITH_DYNAMIC_SHARED(uint32_t, block_counters);

/** A block's counters: counter k is fine[k * copies] to fine[(k + 1) * copies - 1]. */
struct counters {
    uint32_t *fine;
    uint32_t start, step; /**< of this lane's copy, and from counter to counter [bytes] */
};

static __device__ __forceinline__ struct counters own_counters(uint32_t *fine, int copies)
{
    struct counters c;
    c.fine = fine;
    c.start = 4u * (uint32_t)(my_lane() & (copies - 1));
    c.step = 4u * (uint32_t)copies;
    return c;
}

static __device__ __forceinline__ void count_one(const struct counters &c, uint32_t k)
{
    atomicAdd((uint32_t *)((char *)c.fine + (k * c.step + c.start)), 1u);
}

/** The block's counters become 0. All threads; wait afterwards. */
static __device__ __forceinline__ void clear_counters(uint32_t *fine, int64_t n, int copies)
{
    for (int64_t k = threadIdx.x; k < n * copies; k += blockDim.x) {
        fine[k] = 0;
    }
}

/** Add the block's counters to `to`, and leave 0. Any threads, `me` of `of`; others may count. */
static __device__ __forceinline__ void flush_counters(uint32_t *fine, int64_t n, int copies,
                                                      unsigned long long *to, int me, int of)
{
    for (int64_t k = me; k < n; k += of) {
        unsigned long long sum = 0;
        for (int c = 0; c < copies; c++) {
            sum += atomicExch(&fine[k * copies + c], 0u);
        }
        if (sum > 0) {
            atomicAdd(&to[k], sum);
        }
    }
}

#endif
