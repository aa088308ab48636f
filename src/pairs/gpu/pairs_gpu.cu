/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of the sweep for pair lists: count the hits of each work block, count the hits of
 * each particle, append pairs, fill rows. Where EXTRAS is a template parameter, lists without
 * distances, vectors and images need fewer registers.
 */
#include "extras.cuh"
#include "engine/gpu/gpu_sweep.cuh"

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

/** Return true when row i of a half list contains j at this image. */
static __device__ __forceinline__ bool is_upper(int32_t i, int32_t j, int32_t shift)
{
    return i < j || (i == j && shift > no_shift);
}

/** Operation: count the hits of each particle. With UPPER, for a half list, from a sweep that finds
 *  pairs from both ends. Without, for a full list; a forward sweep then counts each pair for both
 *  of its particles. */
template <typename real, bool UPPER> struct count_rows {
    typedef struct nothing shared;
    int64_t *counts; /**< [a.n] the counts by the caller's index; cleared before the sweep */
    int64_t hits;    /**< hits of query particle number `lane` of the i-cluster */

    __device__ bool begin(const visit<real> &, shared *)
    {
        hits = 0;
        return true;
    }
    __device__ void take(const visit<real> &v, shared *, const struct candidate at[DEEP],
                         const uint32_t mask[DEEP])
    {
        int32_t j[DEEP];
        for (int d = 0; d < DEEP; d++) {
            j[d] = mask[d] ? v.sweep->grid.b.id[at[d].slot] : 0;
            if (!UPPER && v.sweep->forward && mask[d]) {
                add(&counts[j[d]], __popc(mask[d]));
            }
        }
        for (int k = 0; k < v.n; k++) {
            int n = 0;
            for (int d = 0; d < DEEP; d++) {
                bool hit = mask[d] >> k & 1;
                if (UPPER) {
                    hit = hit && is_upper(v.shared->id[k], j[d], at[d].shift);
                }
                n += count_lanes(which_lanes(hit));
            }
            hits += v.lane == k ? n : 0;
        }
    }
    __device__ void end(const visit<real> &v, shared *)
    {
        if (v.lane < v.n) {
            add(&counts[v.shared->id[v.lane]], hits);
        }
    }
    __device__ static void add(int64_t *count, int64_t n)
    {
        atomicAdd((unsigned long long *)count, (unsigned long long)n);
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

    /** Most candidates that the hits of a packet refer to. */
    enum { MOST_CANDIDATES = EXTRAS ? 256 : 512 };

    /** Most query particles of a work block. */
    enum { SPAN = KITH_GPU_WORK_BLOCK + KITH_GPU_CLUSTER };

    /** A packet of hits. */
    struct shared {
        int32_t i[SPAN];            /**< caller's index of each query particle of the work block */
        int32_t j[MOST_CANDIDATES]; /**< caller's index of each candidate; with EXTRAS its slot */
        int32_t shift[EXTRAS ? MOST_CANDIDATES : 1]; /**< image of each candidate, packed */
        uint16_t hit[PACKET]; /**< index of the candidate * SPAN + index of the query
                                               particle */
    };
    struct kith__gpu_list list; /**< the part of the list that is written */
    const int64_t *offsets;     /**< [work blocks] first pair of each work block; NULL: any order */
    unsigned long long *total;  /**< number of pairs so far; used when offsets is NULL */
    int64_t at;       /**< with offsets: index in the arrays of the next pair of the work block */
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
     *  @param end  index behind the last of these hits in the packet */
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

/* ---------------------------------------------------------------------------------------- rows */

/** Operation: fill the rows of a list. With UPPER (half list), row i holds only j > i, and images
 *  of i itself after image 0. */
template <typename real, bool UPPER, bool EXTRAS> struct fill_rows {
    /** Positions of an i-cluster's rows. */
    struct shared {
        /** Index in the arrays of the next pair of each query particle. */
        int64_t at[KITH_GPU_CLUSTER];
    };
    struct kith__gpu_list list; /**< the part of the list that is written */
    const int64_t *offsets;     /**< [a.n + 1] first pair of each row in the list */
    bool whole; /**< fast path: all rows of the i-cluster are inside the part, and is_plain */

    /** Return true when only j and images are written, and the images need no correction for
     *  wrapping. */
    __device__ __forceinline__ bool is_plain(const visit<real> &v) const
    {
        return !list.i && (!EXTRAS || (!has_vector(list) && !list.extras_later &&
                                       !v.sweep->grid.plan->wrapped));
    }

    /** Load the offsets of the i-cluster's rows.
     *  @return true when one of them has pairs in the part that is written */
    __device__ bool begin(const visit<real> &v, shared *rows)
    {
        int64_t begin = 0;
        int64_t end = 0;
        if (v.lane < v.n) {
            const int32_t i = v.shared->id[v.lane];
            begin = offsets[i] - list.base;
            end = offsets[i + 1] - list.base;
            rows->at[v.lane] = begin;
        }
        sync_warp();
        whole = is_plain(v) && which_lanes(begin < 0 || end > list.capacity) == 0;
        return which_lanes(begin < list.capacity && end > 0) != 0;
    }

    /** Write the hits of query particle k with the candidates of all lanes to its row.
     *  @return their number */
    template <bool WHOLE>
    __device__ __forceinline__ int add_to_row(const visit<real> &v, const shared *rows, int k,
                                              const struct candidate c[DEEP], const int32_t j[DEEP],
                                              const int32_t image[DEEP][3],
                                              const uint32_t mask[DEEP])
    {
        const lanes_t below = lanes_below(v.lane);
        const int64_t at = rows->at[k];
        int32_t *const row = list.j + at;
        int n = 0;
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            bool hit = mask[d] >> k & 1;
            if (UPPER) {
                hit = hit && is_upper(v.shared->id[k], j[d], c[d].shift);
            }
            const lanes_t with = which_lanes(hit);
            const int p = n + count_lanes(with & below);
            if (WHOLE) {
                store_where(hit, row + p, j[d]);
                for (int m = 0; m < 3 && EXTRAS; m++) {
                    store_where(hit, list.shifts + 3 * (at + p) + m, image[d][m]);
                }
            } else if (hit && (uint64_t)(at + p) < (uint64_t)list.capacity) {
                write(v, at + p, k, j[d], c[d]);
            }
            n += count_lanes(with);
        }
        return n;
    }

    __device__ __forceinline__ void take(const visit<real> &v, shared *rows,
                                         const struct candidate c[DEEP], const uint32_t mask[DEEP])
    {
        int32_t j[DEEP];
        int32_t image[DEEP][3];
        int hits = 0; /* hits of query particle number `lane` */
        for (int d = 0; d < DEEP; d++) {
            j[d] = mask[d] ? v.sweep->grid.b.id[c[d].slot] : 0;
            kith__unpack_shift(c[d].shift, image[d]);
        }
        if (whole) {
#pragma unroll 4
            for (int k = 0; k < v.n; k++) {
                const int n = add_to_row<true>(v, rows, k, c, j, image, mask);
                hits = v.lane == k ? n : hits;
            }
        } else {
#pragma unroll 2
            for (int k = 0; k < v.n; k++) {
                const int n = add_to_row<false>(v, rows, k, c, j, image, mask);
                hits = v.lane == k ? n : hits;
            }
        }
        sync_warp();
        if (v.lane < v.n) {
            rows->at[v.lane] += hits;
        }
        sync_warp();
    }

    __device__ __forceinline__ void write(const visit<real> &v, int64_t p, int k, int32_t j,
                                          const struct candidate &c)
    {
        list.j[p] = j;
        if (list.i) {
            list.i[p] = v.shared->id[k];
        }
        if (EXTRAS && list.extras_later) {
            *kept_shift<real>(list, p) = c.shift;
        } else if (EXTRAS) {
            write_extras(v, list, p, v.begin + k, c.slot, c.shift, v.shared->id[k], j, false);
        }
    }
    __device__ void end(const visit<real> &, shared *)
    {
    }
};

/* ---------------------------------------------------------------------------------- launchers */

gpuError_t kith__gpu_count_work_blocks(const struct kith__gpu_sweep *sweep, int64_t *counts,
                                       int64_t n, gpuStream_t stream)
{
    const gpuError_t error = gpuMemsetAsync(counts, 0, (size_t)n * sizeof *counts, stream);
    return error != gpuSuccess
               ? error
               : RUN_BY_PRECISION(sweep, stream, count_work_blocks, INITIALLY(counts, 0));
}

gpuError_t kith__gpu_count_rows(const struct kith__gpu_sweep *sweep, bool upper, int64_t *counts,
                                gpuStream_t stream)
{
    return upper ? RUN_BY_PRECISION(sweep, stream, count_rows, INITIALLY(counts, 0), , true)
                 : RUN_BY_PRECISION(sweep, stream, count_rows, INITIALLY(counts, 0), , false);
}

gpuError_t kith__gpu_append(const struct kith__gpu_sweep *sweep, const struct kith__gpu_list *list,
                            const int64_t *offsets, unsigned long long *total, gpuStream_t stream)
{
    if (!offsets) {
        const gpuError_t error = gpuMemsetAsync(total, 0, sizeof *total, stream);
        if (error != gpuSuccess) {
            return error;
        }
    }
    return has_extras(list)
               ? RUN_BY_PRECISION(sweep, stream, append,
                                  INITIALLY(*list, offsets, total, 0, 0, 0, 0, 0), , true)
               : RUN_BY_PRECISION(sweep, stream, append,
                                  INITIALLY(*list, offsets, total, 0, 0, 0, 0, 0), , false);
}

/** Queue the filling of rows, for a half list (UPPER) or a full list. */
template <bool UPPER>
static gpuError_t fill_rows_of(const struct kith__gpu_sweep *sweep,
                               const struct kith__gpu_list *list, const int64_t *offsets,
                               gpuStream_t stream)
{
    return has_extras(list) ? RUN_BY_PRECISION(sweep, stream, fill_rows,
                                               INITIALLY(*list, offsets, false), , UPPER, true)
                            : RUN_BY_PRECISION(sweep, stream, fill_rows,
                                               INITIALLY(*list, offsets, false), , UPPER, false);
}

gpuError_t kith__gpu_fill_rows(const struct kith__gpu_sweep *sweep, bool upper,
                               const struct kith__gpu_list *list, const int64_t *offsets,
                               gpuStream_t stream)
{
    return upper ? fill_rows_of<true>(sweep, list, offsets, stream)
                 : fill_rows_of<false>(sweep, list, offsets, stream);
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
