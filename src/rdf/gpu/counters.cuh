/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters of a thread block: 32 bits in shared memory, in copies that spread the lanes of a warp
 * over its banks, added to 64 bits in device memory. src/overlap/ uses them, too.
 */
#ifndef KITH_GPU_COUNTERS_CUH
#define KITH_GPU_COUNTERS_CUH

#include "engine/gpu/device.cuh"

/** The thread block's counters: the dynamic shared memory of the launch. */
KITH_DYNAMIC_SHARED(uint32_t, block_counters);

/** Counters of a thread block as one lane uses them. Counter k is the sum of its copies, fine[k *
 *  copies] to fine[(k + 1) * copies - 1]; a lane adds to one of the copies. */
struct counters {
    uint32_t *fine; /**< [n][copies] in shared memory */
    uint32_t start; /**< offset of the lane's copy of counter 0 from `fine` [bytes] */
    uint32_t step;  /**< from one counter to the next: 4 copies [bytes] */
};

/** Return the counters of a thread block for the calling lane.
 *  @param fine    [n][copies] the counters, in shared memory
 *  @param copies  number of copies, a power of 2 */
static __device__ __forceinline__ struct counters own_counters(uint32_t *fine, int copies)
{
    struct counters c;
    c.fine = fine;
    c.start = 4u * (uint32_t)(my_lane() & (copies - 1));
    c.step = 4u * (uint32_t)copies;
    return c;
}

/** Add 1 to the lane's copy of counter k. */
static __device__ __forceinline__ void count_one(const struct counters &c, uint32_t k)
{
    atomicAdd((uint32_t *)((char *)c.fine + (k * c.step + c.start)), 1u);
}

/** Zero the thread block's n counters. All threads call it, and synchronise afterwards. */
static __device__ __forceinline__ void clear_counters(uint32_t *fine, int64_t n, int copies)
{
    for (int64_t k = threadIdx.x; k < n * copies; k += blockDim.x) {
        fine[k] = 0;
    }
}

/** Flush: add the thread block's n counters to to[n] in device memory, and zero them. Called by
 *  `of` threads, each with its number `me` from 0 on. Other threads may count at that time, as each
 *  counter is read and zeroed by one atomic exchange. A thread may have added 1 to a counter before
 *  the flush, and take it back after it (count_by_root): so the counter is read as a signed number,
 *  and must be flushed before it reaches 2^31. */
static __device__ __forceinline__ void flush_counters(uint32_t *fine, int64_t n, int copies,
                                                      unsigned long long *to, int me, int of)
{
    for (int64_t k = me; k < n; k += of) {
        int64_t sum = 0;
        for (int c = 0; c < copies; c++) {
            sum += (int32_t)atomicExch(&fine[k * copies + c], 0u);
        }
        if (sum != 0) {
            atomicAdd(&to[k], (unsigned long long)sum); /* modulo 2^64 */
        }
    }
}

#endif
