/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep over a grid with the operations for pair lists: those by rows, of packet.cuh, and those
 * that append pairs in the order of work blocks, of this file: count the hits of each work block,
 * append pairs. gpu_sweep.cuh says what the members of an operation do. EXTRAS, true for lists with
 * distances, vectors or images, is a template parameter, so that other lists need fewer registers.
 */
#include "sweep_lists.cuh"

/** Shared memory of operations that need none. */
struct nothing {
};

/* -------------------------------------------------------------------------------------- counts */

/** Operation: count the hits of each work block. */
template <typename real> struct count_work_blocks {
    typedef struct nothing shared;
    int64_t *counts; /**< [work blocks] the counts; cleared before the sweep */
    int64_t hits;    /**< hits of this lane's candidates with the i-cluster */

    __device__ bool begin(const visit<real> &, shared *)
    {
        hits = 0;
        return true;
    }
    __device__ void take(const visit<real> &, shared *, const struct candidate[DEEP],
                         const uint32_t mask[DEEP])
    {
        for (int d = 0; d < DEEP; d++) {
            hits += __popc(mask[d]);
        }
    }
    __device__ void end(const visit<real> &v, shared *)
    {
        const int64_t sum = sum_lanes(hits);
        if (v.lane == 0) {
            counts[v.work_block] += sum;
        }
    }
};

/** Operation of a forward sweep: count the pairs of each particle in a full list of one set, each
 *  pair for both of its particles. That is half the tests of a sweep that finds pairs from both
 *  ends. */
struct count_both {
    typedef struct nothing shared;
    int64_t *counts; /**< [a.n] the counts by the caller's index; cleared before the sweep */
    int32_t hits;    /**< hits of query particle number lane % PACKET_ROWS of the i-cluster */

    template <typename real> __device__ bool begin(const visit<real> &, shared *)
    {
        hits = 0;
        return true;
    }
    template <typename real>
    __device__ void take(const visit<real> &v, shared *, const struct candidate at[DEEP],
                         const uint32_t mask[DEEP])
    {
        for (int d = 0; d < DEEP; d++) {
            if (mask[d]) {
                add(v.sweep->grid.b.id[at[d].slot], __popc(mask[d]));
            }
            hits += __popc(transpose_lanes(mask[d], v.lane));
        }
    }
    template <typename real> __device__ void end(const visit<real> &v, shared *)
    {
        hits += LANES == PACKET_ROWS ? 0 : from_partner(hits, PACKET_ROWS);
        if (v.lane < v.n) {
            add(v.shared->id[v.lane], hits);
        }
    }
    /** Add n to the count of particle i, which several warps may count. */
    __device__ void add(int32_t i, int n)
    {
        atomicAdd((unsigned long long *)&counts[i], (unsigned long long)n);
    }
};

/* ------------------------------------------------------------------------------------ appended */

/** Operation: append pairs to a list. A warp collects hits in a packet in shared memory, so that
 * consecutive pairs are written together (coalesced). With offsets, the pairs of each work block
 * are written at its offset; without, a range of the list is reserved by an atomic addition to
 * *total whenever a packet is written.
 */
template <typename real, bool EXTRAS> struct append {
    static_assert(DEEP == 2, "hits of two candidates are counted at once");

    /** Most hits of a packet: at least those of one call of take(). */
    enum { PACKET = KITH_GPU_CLUSTER * DEEP * LANES };

    /** Most candidates that the hits of a packet refer to. Times SPAN it is at most 2^16, as `hit`
     *  has numbers below that; with EXTRAS, which need more shared memory, it is half. */
    enum { MOST_CANDIDATES = EXTRAS ? 256 : 512 };

    /** Most query particles of a work block: the last i-cluster may end behind the work block. */
    enum { SPAN = KITH_GPU_WORK_BLOCK + KITH_GPU_CLUSTER };

    /** A packet of hits. */
    struct shared {
        int32_t i[SPAN];            /**< caller's index of each query particle of the work block */
        int32_t j[MOST_CANDIDATES]; /**< caller's index of each candidate; with EXTRAS its slot */
        int32_t shift[EXTRAS ? MOST_CANDIDATES : 1]; /**< image of each candidate, packed */
        uint16_t hit[PACKET]; /**< number of the candidate * SPAN + number of the query particle in
                                   the work block */
    };
    struct kith__gpu_list list; /**< the part of the list that is written */
    const int64_t *offsets;     /**< [work blocks] first pair of each work block; NULL: any order */
    unsigned long long *total;  /**< number of pairs so far; used when offsets is NULL */
    int64_t at;       /**< with offsets: index in the arrays of the next pair of the work block;
                           negative before the part that they hold */
    int32_t first;    /**< first slot of the work block */
    int cluster;      /**< first slot of the i-cluster, relative to `first` */
    int n;            /**< hits in the packet */
    int n_candidates; /**< candidates in the packet */

    __device__ bool begin(const visit<real> &v, shared *packed)
    {
        cluster = v.begin - first;
        if (v.lane < v.n) {
            packed->i[cluster + v.lane] = v.shared->id[v.lane];
        }
        return true;
    }

    /** Write hit h of the packet as pair p of the arrays. */
    __device__ __forceinline__ void write(const visit<real> &v, const shared *packed, int h,
                                          int64_t p)
    {
        const int hit = packed->hit[h];
        const int k = hit % SPAN;
        const int c = hit / SPAN;
        const int32_t i = packed->i[k];
        const int32_t j = EXTRAS ? v.sweep->grid.b.id[packed->j[c]] : packed->j[c];
        const bool is_reversed = v.sweep->forward && i > j;
        list.i[p] = is_reversed ? j : i;
        list.j[p] = is_reversed ? i : j;
        if (EXTRAS) {
            write_extras(v, list, p, first + k, packed->j[c], packed->shift[c], i, j, is_reversed);
        }
    }

    /** Write the packet, as far as the arrays have room, and empty it. */
    __device__ __forceinline__ void flush(const visit<real> &v, const shared *packed)
    {
        int64_t to = at;
        if (!offsets) {
            unsigned long long taken = 0;
            if (v.lane == 0) {
                taken = atomicAdd(total, (unsigned long long)n);
            }
            to = (int64_t)from_lane(taken, 0);
        }
        const int64_t room = list.capacity - to;
        /* hits [begin, end) are in the arrays, which may hold a part of a work block's pairs */
        const int begin = to >= 0 ? 0 : -to < n ? (int)-to : n;
        const int end = room >= n ? n : room > 0 ? (int)room : 0;
        sync_warp();
#pragma unroll 4
        for (int h = begin + v.lane; h < end; h += LANES) {
            write(v, packed, h, to + h);
        }
        sync_warp();
        at += n;
        n = n_candidates = 0;
    }

    /** Add the hits of this lane's candidate to the packet, which has room for them.
     *  @param j     index of the candidate in the caller's order; not used with EXTRAS
     *  @param mask  query particles of which it is a hit
     *  @param end   index behind the last of these hits in the packet */
    __device__ __forceinline__ void pack(shared *packed, int lane, const struct candidate &c,
                                         int32_t j, uint32_t mask, int end)
    {
        const int number = n_candidates + lane;
        if (mask) {
            packed->j[number] = EXTRAS ? c.slot : j;
            if (EXTRAS) {
                packed->shift[number] = c.shift;
            }
        }
        uint16_t *to = packed->hit + end;
        while (mask) {
            const int k = 31 - __clz((int)mask);
            *--to = (uint16_t)(number * SPAN + cluster + k);
            mask ^= 1u << k;
        }
        n_candidates += LANES;
    }

    /** Add the hits of DEEP = 2 candidates in each lane to the packet, in the order of the lanes.
     *  When there are few, the hits of both candidates of a lane are adjacent; else the hits of all
     *  first candidates come before those of all second ones. */
    __device__ __forceinline__ void take(const visit<real> &v, shared *packed,
                                         const struct candidate c[DEEP], const uint32_t mask[DEEP])
    {
        /* one prefix sum for two counts of 16 bits, at most KITH_GPU_CLUSTER * LANES each */
        const uint32_t half = 65535;
        int32_t j[DEEP];
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            j[d] = EXTRAS || !mask[d] ? 0 : v.sweep->grid.b.id[c[d].slot];
        }
        const uint32_t second = (uint32_t)__popc(mask[1]);
        const uint32_t upto = scan_lanes((uint32_t)__popc(mask[0]) | second << 16, v.lane);
        const uint32_t all = from_lane(upto, LANES - 1);
        const int sum = (int)((all & half) + (all >> 16));
        if (n + sum > PACKET || n_candidates + DEEP * LANES > MOST_CANDIDATES) {
            flush(v, packed);
        }
        const bool few = sum <= KITH_GPU_CLUSTER * LANES;
        const uint32_t end = (upto & half) + (upto >> 16);
        pack(packed, v.lane, c[0], j[0], mask[0], n + (int)(few ? end - second : upto & half));
        pack(packed, v.lane, c[1], j[1], mask[1],
             n + (int)(few ? end : (all & half) + (upto >> 16)));
        n += sum;
    }
    __device__ void end(const visit<real> &, shared *)
    {
    }
};

/* Overloads of functions that the sweep calls (gpu_sweep.cuh): a packet has hits of one work
 * block. */

template <typename real, bool EXTRAS>
static __device__ __forceinline__ void begin_work_block(const visit<real> &v,
                                                        append<real, EXTRAS> &a)
{
    a.at = a.offsets ? a.offsets[v.work_block] - a.list.base : 0;
    a.first = v.work_block * v.sweep->work_block;
    a.n = a.n_candidates = 0;
}

template <typename real, bool EXTRAS>
static __device__ __forceinline__ void end_work_block(const visit<real> &v, append<real, EXTRAS> &a,
                                                      typename append<real, EXTRAS>::shared *packed)
{
    if (a.n > 0) {
        a.flush(v, packed);
    }
}

/* ---------------------------------------------------------------------------------- launchers */

gpuError_t kith__gpu_count_work_blocks(const struct kith__gpu_sweep *sweep,
                                       const struct kith__rules *rules, int64_t *counts, int64_t n,
                                       gpuStream_t stream)
{
    const gpuError_t error = gpuMemsetAsync(counts, 0, (size_t)n * sizeof *counts, stream);
    return error != gpuSuccess
               ? error
               : RUN_BY_PRECISION(sweep, rules, stream, count_work_blocks, INITIALLY(counts, 0));
}

gpuError_t kith__gpu_count_rows(const struct kith__gpu_sweep *sweep,
                                const struct kith__rules *rules, bool upper, int64_t *counts,
                                gpuStream_t stream)
{
    return upper            ? run_any(sweep, count_rows<true>{counts, 0}, rules, stream)
           : sweep->forward ? run_any(sweep, count_both{counts, 0}, rules, stream)
                            : run_any(sweep, count_rows<false>{counts, 0}, rules, stream);
}

gpuError_t kith__gpu_append(const struct kith__gpu_sweep *sweep, const struct kith__rules *rules,
                            const struct kith__gpu_list *list, const int64_t *offsets,
                            unsigned long long *total, gpuStream_t stream)
{
    if (!offsets) {
        const gpuError_t error = gpuMemsetAsync(total, 0, sizeof *total, stream);
        if (error != gpuSuccess) {
            return error;
        }
    }
    if (!offsets && !sweep->forward && has_extras(list)) {
        return run_any(sweep, write_list_to<false, true>(*list, NULL, total), rules, stream);
    }
    return has_extras(list)
               ? RUN_BY_PRECISION(sweep, rules, stream, append,
                                  INITIALLY(*list, offsets, total, 0, 0, 0, 0, 0), , true)
               : RUN_BY_PRECISION(sweep, rules, stream, append,
                                  INITIALLY(*list, offsets, total, 0, 0, 0, 0, 0), , false);
}

gpuError_t kith__gpu_fill_rows(const struct kith__gpu_sweep *sweep, const struct kith__rules *rules,
                               bool upper, const struct kith__gpu_list *list,
                               const int64_t *offsets, gpuStream_t stream)
{
    return run_write_rows(sweep, rules, upper, *list, offsets, NULL, stream);
}

/** Set *result to the number of pairs, or to the status of the plan. */
static __global__ void write_result(const struct kith__gpu_plan *plan, const int64_t *total,
                                    int64_t *result)
{
    *result = plan->status == KITH_OK ? *total : plan->status;
}

gpuError_t kith__gpu_write_result(const struct kith__gpu_grid *grid, const int64_t *total,
                                  int64_t *result, gpuStream_t stream)
{
    KITH_LAUNCH(write_result, 1, 1, stream, grid->plan, total, result);
    return gpuGetLastError();
}
