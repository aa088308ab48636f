/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts pairs by distance in all systems of a batch: the operation of a sweep over a batch
 * (engine/gpu/batch_sweep.cuh defines it). Each hit is binned by the definition. The
 * counters of a thread block are in shared memory where they fit, else in device memory.
 */
#include "engine/gpu/batch_sweep.cuh"
#include "rdf_gpu.h"

/** Most counters that are in shared memory: 32 KiB. With the sweep's own data they fit the 48 KiB
 *  that a launch may have (run_sweep). */
enum { MOST_SHARED = 8192 };

/** [partials * bins] the thread block's counters, where they are in shared memory. */
KITH_DYNAMIC_SHARED(uint32_t, batch_counters);

/** Return the counter of a pair by the definition (rdf/counter.h), 0 below the first edge, k + 1 in
 *  bin k. @param guess  counter from which the search begins */
static __device__ __forceinline__ int32_t counter_of(const struct kith__rdf &rdf, float r2,
                                                     int32_t guess)
{
    return kith__counter_from_guess_f(&rdf, r2, guess);
}
static __device__ __forceinline__ int32_t counter_of(const struct kith__rdf &rdf, double r2,
                                                     int32_t guess)
{
    return kith__counter_from_guess_d(&rdf, r2, guess);
}

/** Operation: count the hits by distance; with UPPER each unordered pair once, although the sweep
 *  finds it from both ends; with MIXED by species. */
template <typename real, bool UPPER, bool MIXED> struct batch_tally {
    struct shared {
        int unused; /**< the operation has no data for each warp */
    };
    struct kith__rdf rdf;       /**< the bins; edge2 and species are in device memory */
    unsigned long long *counts; /**< [partials][bins] pairs, in device memory */
    float per_width;            /**< 1 / width of linear bins [1 / length]; 0: bins are not linear,
                                     and each guess is bin 0 */
    int64_t since;              /**< bound on the pairs that this warp has counted since its last
                                     flush */

    /** Return the number of counters: one for each bin of each partial. */
    __device__ __forceinline__ int64_t counters() const
    {
        return MIXED ? rdf.partials * rdf.bins : rdf.bins;
    }

    /** Return true when the counters of a thread block are in shared memory. */
    __device__ __forceinline__ bool in_shared() const
    {
        return counters() <= MOST_SHARED;
    }

    /** Flush: add counters first, first + step, ... of the thread block to those in device memory,
     *  and zero them. Other threads may count at that time. */
    __device__ void flush(int first, int step)
    {
        for (int64_t k = first; k < counters() && in_shared(); k += step) {
            const uint32_t n = atomicExch(&batch_counters[k], 0u);
            if (n > 0) {
                atomicAdd(&counts[k], (unsigned long long)n);
            }
        }
    }

    /** Begin an i-cluster: nothing to prepare. */
    __device__ bool begin(const batch_cluster<real> &, shared *)
    {
        return true;
    }

    /** Count the pair of query particle k and a candidate that is a hit. */
    __device__ __forceinline__ void count_one(const batch_cluster<real> &c, int k,
                                              const struct batch_candidate &at)
    {
        real d[3];
        const real r2 = separation(c, c.begin + k, at.slot, at.shift, d);
        const float guess = (sqrtf((float)r2) - (float)rdf.r_min) * per_width;
        const float most = (float)rdf.bins;
        const int32_t counter = counter_of(rdf, r2, (int32_t)fminf(fmaxf(guess, 0.0f), most) + 1);
        if (counter < 1 || counter > rdf.bins) {
            return; /* below the first edge. No hit is above the last edge, the cutoff: the second
                     * test only keeps `to` in range */
        }
        int64_t to = counter - 1;
        if (MIXED) {
            const struct kith__gpu_systems &all = c.sweep->systems;
            to += kith__partial(rdf.n_species, all.question.cross, rdf.species[0][c.shared->id[k]],
                                rdf.species[1][all.b.id[at.slot]]) *
                  rdf.bins;
        }
        if (in_shared()) {
            atomicAdd(&batch_counters[to], 1u);
        } else {
            atomicAdd(&counts[to], 1ull);
        }
    }

    /** Count the hits of this lane's candidates; flush before the thread block's counters can
     *  overflow 32 bits: each of its BATCH_WARPS warps, 4 at most, counts about 2^29 pairs before
     *  it flushes.
     *  @param mask  bit k is set when query particle k is a hit */
    __device__ __forceinline__ void take(const batch_cluster<real> &c, shared *,
                                         const struct batch_candidate at[BATCH_DEEP],
                                         const uint32_t mask[BATCH_DEEP])
    {
        const int64_t most = (int64_t)1 << 29;
        since += (int64_t)BATCH_DEEP * LANES * c.n;
        if (since > most) {
            flush(c.lane, LANES);
            since = 0;
        }
        for (int d = 0; d < BATCH_DEEP; d++) {
            const int32_t j = UPPER && mask[d] ? c.sweep->systems.b.id[at[d].slot] : 0;
            for (uint32_t left = mask[d]; left; left &= left - 1) {
                const int k = __ffs((int)left) - 1;
                const int32_t i = c.shared->id[k];
                /* of (i, j, S) and (j, i, -S), that with i < j; of images of a particle itself,
                 * that whose packed shift is above that of image (0, 0, 0) */
                if (!UPPER || i < j || (i == j && at[d].shift > no_shift)) {
                    count_one(c, k, at[d]);
                }
            }
        }
    }
    /** End an i-cluster: nothing to do. */
    __device__ void end(const batch_cluster<real> &, shared *)
    {
    }
};

/** Overload: zero the thread block's counters. */
template <typename real, bool UPPER, bool MIXED>
static __device__ __forceinline__ void batch_begin_block(batch_tally<real, UPPER, MIXED> &operation)
{
    for (int64_t k = threadIdx.x; k < operation.counters() && operation.in_shared();
         k += blockDim.x) {
        batch_counters[k] = 0;
    }
    __syncthreads();
}

/** Overload: flush the thread block's counters. */
template <typename real, bool UPPER, bool MIXED>
static __device__ __forceinline__ void batch_end_block(batch_tally<real, UPPER, MIXED> &operation)
{
    __syncthreads();
    operation.flush((int)threadIdx.x, (int)blockDim.x);
}

/** Queue the sweep with the operation for one type of coordinate. */
template <typename real, bool MIXED>
static gpuError_t tally(const struct kith__gpu_batch_sweep *sweep, const struct kith__rdf *rdf,
                        unsigned long long *counts, gpuStream_t stream)
{
    const float per_width = rdf->linear ? (float)(1 / rdf->width) : 0.0f;
    const int64_t n = rdf->partials * rdf->bins;
    const size_t bytes = n <= MOST_SHARED ? (size_t)n * sizeof(uint32_t) : 0;
    if (sweep->upper) {
        return run_sweep<real>(sweep, batch_tally<real, true, MIXED>{*rdf, counts, per_width, 0},
                               stream, bytes);
    }
    return run_sweep<real>(sweep, batch_tally<real, false, MIXED>{*rdf, counts, per_width, 0},
                           stream, bytes);
}

gpuError_t kith__gpu_tally_batch(const struct kith__gpu_batch_sweep *sweep,
                                 const struct kith__rdf *rdf, unsigned long long *counts,
                                 gpuStream_t stream)
{
    const bool single = sweep->systems.question.precision == KITH_FLOAT;
    if (rdf->partials > 1) {
        return single ? tally<float, true>(sweep, rdf, counts, stream)
                      : tally<double, true>(sweep, rdf, counts, stream);
    }
    return single ? tally<float, false>(sweep, rdf, counts, stream)
                  : tally<double, false>(sweep, rdf, counts, stream);
}
