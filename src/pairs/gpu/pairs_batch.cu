/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of the sweep over a batch for pair lists: count the hits of each particle, fill
 * the rows, and sort them. All lists are made by rows, of (i, j), too, but those of which any order
 * is permitted: a single sweep appends their pairs.
 */
#include "engine/gpu/batch_sweep.cuh"
#include "extras.cuh"
#include "pairs_batch_gpu.h"
#include "rows.cuh"

/** Shared memory of operations that need none. */
struct nothing {
};

/** Return true when row i of a half list contains j at this image. */
static __device__ __forceinline__ bool is_upper(int32_t i, int32_t j, int32_t shift)
{
    return i < j || (i == j && shift > no_shift);
}

/** Read which boxes were subtracted from the coordinates of particle p of a set. */
template <typename real>
static __device__ void wrapping_of(const struct kith__question &q,
                                   const struct kith__gpu_system *system, const kith_points &points,
                                   int64_t p, int32_t image[3])
{
    real r[3];
    definition<real>::load(batch_box(system, real()), points, q.dim, p, r, image);
}

/** Write the image s of pair p of the list, between the caller's particles i and j: the wrapping of
 *  both particles is subtracted. */
template <typename real>
static __device__ __forceinline__ void write_batch_shift(const struct kith__gpu_systems &all,
                                                         const struct kith__gpu_system *system,
                                                         const struct kith__gpu_list &list,
                                                         int64_t p, int32_t i, int32_t j,
                                                         const int32_t s[3])
{
    int32_t wi[3] = {0, 0, 0};
    int32_t wj[3] = {0, 0, 0};
    if (all.small->wrapped) {
        wrapping_of<real>(all.question, system, all.question.a, i, wi);
        wrapping_of<real>(all.question, system, all.question.b, j, wj);
    }
    for (int k = 0; k < 3; k++) {
        list.shifts[3 * p + k] = s[k] - wj[k] + wi[k];
    }
}

/** Operation: count the hits of each particle; with UPPER those of a half list. */
template <typename real, bool UPPER> struct batch_count {
    typedef struct nothing shared;
    int64_t *counts; /**< [a.n] the counts, by the caller's index */
    int32_t hits;    /**< hits of query particle number `lane` of the i-cluster */

    __device__ bool begin(const batch_cluster<real> &, shared *)
    {
        hits = 0;
        return true;
    }
    __device__ __forceinline__ void take(const batch_cluster<real> &c, shared *,
                                         const struct batch_candidate at[BATCH_DEEP],
                                         const uint32_t mask[BATCH_DEEP])
    {
        int32_t j[BATCH_DEEP];
        for (int d = 0; d < BATCH_DEEP; d++) {
            j[d] = UPPER && mask[d] ? c.sweep->systems.b.id[at[d].slot] : 0;
        }
        for (int k = 0; k < c.n; k++) {
            int n = 0;
            for (int d = 0; d < BATCH_DEEP; d++) {
                bool hit = mask[d] >> k & 1;
                if (UPPER) {
                    hit = hit && is_upper(c.shared->id[k], j[d], at[d].shift);
                }
                n += count_lanes(which_lanes(hit));
            }
            hits += c.lane == k ? n : 0;
        }
    }
    __device__ void end(const batch_cluster<real> &c, shared *)
    {
        if (c.lane < c.n) {
            counts[c.shared->id[c.lane]] = hits;
        }
    }
};

/** Operation: fill the rows of a list; with UPPER those of a half list. */
template <typename real, bool UPPER, bool EXTRAS> struct batch_fill {
    /** Positions of an i-cluster's rows. */
    struct shared {
        int64_t at[BATCH_CLUSTER]; /**< index in the arrays of the next pair of each row */
    };
    struct kith__gpu_list list; /**< the list that is written */
    const int64_t *offsets;     /**< [a.n + 1] first pair of each row */
    bool whole; /**< fast path: the arrays hold all rows of the i-cluster, and only i, j and images
                     are written, which need no correction for wrapping */

    __device__ bool begin(const batch_cluster<real> &c, shared *rows)
    {
        int64_t begin = 0;
        int64_t end = 0;
        if (c.lane < c.n) {
            const int32_t i = c.shared->id[c.lane];
            begin = offsets[i] - list.base;
            end = offsets[i + 1] - list.base;
            rows->at[c.lane] = begin;
        }
        sync_warp();
        whole = which_lanes(begin < 0 || end > list.capacity) == 0 &&
                (!EXTRAS ||
                 (!has_vector(list) && !list.extras_later && !c.sweep->systems.small->wrapped));
        return which_lanes(end > begin && begin < list.capacity && end > 0) != 0;
    }

    /** Write the hits of query particle k with the candidates of all lanes to its row.
     *  @return their number */
    template <bool WHOLE>
    __device__ __forceinline__ int add_to_row(const batch_cluster<real> &c, const shared *rows,
                                              int k, const struct batch_candidate at[BATCH_DEEP],
                                              const int32_t j[BATCH_DEEP],
                                              const int32_t image[BATCH_DEEP][3],
                                              const uint32_t mask[BATCH_DEEP])
    {
        const lanes_t below = lanes_below(c.lane);
        const int64_t first = rows->at[k];
        int n = 0;
#pragma unroll
        for (int d = 0; d < BATCH_DEEP; d++) {
            bool hit = mask[d] >> k & 1;
            if (UPPER) {
                hit = hit && is_upper(c.shared->id[k], j[d], at[d].shift);
            }
            const lanes_t with = which_lanes(hit);
            const int64_t p = first + n + count_lanes(with & below);
            if (WHOLE) {
                store_where(hit, list.j + p, j[d]);
                if (list.i) {
                    store_where(hit, list.i + p, c.shared->id[k]);
                }
                for (int m = 0; m < 3 && EXTRAS; m++) {
                    store_where(hit, list.shifts + 3 * p + m, image[d][m]);
                }
            } else if (hit && (uint64_t)p < (uint64_t)list.capacity) {
                write(c, p, k, j[d], at[d], image[d]);
            }
            n += count_lanes(with);
        }
        return n;
    }

    __device__ __forceinline__ void write(const batch_cluster<real> &c, int64_t p, int k, int32_t j,
                                          const struct batch_candidate &at, const int32_t image[3])
    {
        const int32_t i = c.shared->id[k];
        list.j[p] = j;
        if (list.i) {
            list.i[p] = i;
        }
        if (EXTRAS && list.extras_later) {
            *kept_shift<real>(list, p) = at.shift;
        } else if (EXTRAS) {
            if (has_vector(list)) {
                real d[3];
                const real r2 = separation(c, c.begin + k, at.slot, at.shift, d);
                write_vector(list, p, r2, d, false);
            }
            if (list.shifts) {
                write_batch_shift<real>(c.sweep->systems, c.system, list, p, i, j, image);
            }
        }
    }

    __device__ __forceinline__ void take(const batch_cluster<real> &c, shared *rows,
                                         const struct batch_candidate at[BATCH_DEEP],
                                         const uint32_t mask[BATCH_DEEP])
    {
        int32_t j[BATCH_DEEP];
        int32_t image[BATCH_DEEP][3];
        int hits = 0; /* hits of query particle number `lane` */
        for (int d = 0; d < BATCH_DEEP; d++) {
            j[d] = mask[d] ? c.sweep->systems.b.id[at[d].slot] : 0;
            kith__unpack_shift(at[d].shift, image[d]);
        }
        if (whole) {
#pragma unroll 4
            for (int k = 0; k < c.n; k++) {
                const int n = add_to_row<true>(c, rows, k, at, j, image, mask);
                hits = c.lane == k ? n : hits;
            }
        } else {
#pragma unroll 1
            for (int k = 0; k < c.n; k++) {
                const int n = add_to_row<false>(c, rows, k, at, j, image, mask);
                hits = c.lane == k ? n : hits;
            }
        }
        sync_warp();
        if (c.lane < c.n) {
            rows->at[c.lane] += hits;
        }
        sync_warp();
    }
    __device__ void end(const batch_cluster<real> &, shared *)
    {
    }
};

/** Operation: append pairs to a list, in the order in which warps find them; with UPPER those of a
 *  half list. A warp collects the hits of an i-cluster in a packet in shared memory, and reserves a
 *  range of the list for it by an atomic addition, so that consecutive pairs are written
 *  together (coalesced). */
template <typename real, bool UPPER, bool EXTRAS> struct batch_append {
    static_assert(BATCH_DEEP == 2, "hits of two candidates are counted at once");

    enum {
        /** Most hits of a packet: at least those of one call of take(). */
        PACKET = BATCH_CLUSTER * BATCH_DEEP * LANES,
        MOST_CANDIDATES = 4 * LANES * BATCH_DEEP /**< most candidates of the hits of a packet */
    };

    /** A packet of hits. */
    struct shared {
        int32_t j[MOST_CANDIDATES];                  /**< caller's index of each candidate */
        int32_t slot[EXTRAS ? MOST_CANDIDATES : 1];  /**< its slot */
        int32_t shift[EXTRAS ? MOST_CANDIDATES : 1]; /**< its image, packed */
        uint16_t hit[PACKET]; /**< index of the candidate * BATCH_CLUSTER + that of the query
                                   particle */
    };
    struct kith__gpu_list list; /**< the list that is written */
    unsigned long long *total;  /**< number of pairs so far */
    int n;                      /**< hits in the packet */
    int n_candidates;           /**< candidates in the packet */

    __device__ bool begin(const batch_cluster<real> &, shared *)
    {
        n = n_candidates = 0;
        return true;
    }

    /** Write i, j and the extras that are not written by write_shifts.
     *  @param all  write images, too */
    __device__ __forceinline__ void write(const batch_cluster<real> &c, const shared *packed, int h,
                                          int64_t p, bool all)
    {
        const int hit = packed->hit[h];
        const int k = hit % BATCH_CLUSTER;
        const int at = hit / BATCH_CLUSTER;
        const int32_t i = c.shared->id[k];
        const int32_t j = packed->j[at];
        list.i[p] = i;
        list.j[p] = j;
        if (EXTRAS && has_vector(list)) {
            real d[3];
            const real r2 = separation(c, c.begin + k, packed->slot[at], packed->shift[at], d);
            write_vector(list, p, r2, d, false);
        }
        if (EXTRAS && all && list.shifts) {
            int32_t s[3];
            kith__unpack_shift(packed->shift[at], s);
            write_batch_shift<real>(c.sweep->systems, c.system, list, p, i, j, s);
        }
    }

    /** Write the images of the first `end` hits, from pair `to` on: consecutive lanes write
     *  consecutive integers. */
    __device__ __forceinline__ void write_shifts(const batch_cluster<real> &c, const shared *packed,
                                                 int64_t to, int end)
    {
        int32_t *const out = list.shifts + 3 * to;
#pragma unroll 4
        for (unsigned e = (unsigned)c.lane; e < 3u * (unsigned)end; e += LANES) {
            const unsigned h = e / 3;
            const unsigned m = e - 3 * h;
            const int32_t shift = packed->shift[packed->hit[h] / BATCH_CLUSTER];
            out[e] = (shift >> 10 * m & 1023) - 512;
        }
    }

    /** Write the packet, as far as the arrays have room, and empty it. */
    __device__ __forceinline__ void flush(const batch_cluster<real> &c, const shared *packed)
    {
        unsigned long long taken = 0;
        if (c.lane == 0) {
            taken = atomicAdd(total, (unsigned long long)n);
        }
        const int64_t to = (int64_t)from_lane(taken, 0);
        const int64_t room = list.capacity - to;
        const int end = room >= n ? n : room > 0 ? (int)room : 0;
        const bool plain = EXTRAS && list.shifts && !c.sweep->systems.small->wrapped;
        sync_warp();
#pragma unroll 4
        for (int h = c.lane; h < end; h += LANES) {
            write(c, packed, h, to + h, !plain);
        }
        if (EXTRAS && plain) {
            write_shifts(c, packed, to, end);
        }
        sync_warp();
        n = n_candidates = 0;
    }

    /** Return a mask of the query particles that have the pair in a half list: those of lower
     *  index than j, which come first, and j itself at images behind image 0. */
    static __device__ __forceinline__ uint32_t upper_mask(const batch_cluster<real> &c, int32_t j,
                                                          int32_t shift)
    {
        int below = 0; /* query particles with a lower index: binary search */
        for (int step = BATCH_CLUSTER / 2; step > 0; step /= 2) {
            below += below + step <= c.n && c.shared->id[below + step - 1] < j ? step : 0;
        }
        below += below < c.n && c.shared->id[below] < j;
        uint32_t mask = below < 32 ? (1u << below) - 1 : ~0u;
        if (below < c.n && c.shared->id[below] == j && shift > no_shift) {
            mask |= 1u << below;
        }
        return mask;
    }

    /** Add the hits of this lane's candidate to the packet.
     *  @param number  number of the candidate in the packet
     *  @param to      index in the packet of its first hit */
    __device__ __forceinline__ void pack(shared *packed, int number,
                                         const struct batch_candidate &at, int32_t j, uint32_t mask,
                                         int to)
    {
        if (mask) {
            packed->j[number] = j;
            if (EXTRAS) {
                packed->slot[number] = at.slot;
                packed->shift[number] = at.shift;
            }
        }
        for (; mask; mask &= mask - 1) {
            packed->hit[to++] = (uint16_t)(number * BATCH_CLUSTER + __ffs((int)mask) - 1);
        }
    }

    __device__ __forceinline__ void take(const batch_cluster<real> &c, shared *packed,
                                         const struct batch_candidate at[BATCH_DEEP],
                                         const uint32_t found[BATCH_DEEP])
    {
        const uint32_t half = 65535;
        int32_t j[BATCH_DEEP];
        uint32_t mask[BATCH_DEEP];
#pragma unroll
        for (int d = 0; d < BATCH_DEEP; d++) {
            mask[d] = found[d];
            j[d] = mask[d] ? c.sweep->systems.b.id[at[d].slot] : 0;
            if (UPPER && mask[d]) {
                mask[d] &= upper_mask(c, j[d], at[d].shift);
            }
        }
        const uint32_t upto = scan_lanes(
            (uint32_t)__popc(mask[0]) | (uint32_t)__popc(mask[1]) << 16, c.lane);
        const uint32_t all = from_lane(upto, LANES - 1);
        const int sum = (int)((all & half) + (all >> 16));
        if (n + sum > PACKET || n_candidates + BATCH_DEEP * LANES > MOST_CANDIDATES) {
            flush(c, packed);
        }
        pack(packed, n_candidates + c.lane, at[0], j[0], mask[0],
             n + (int)(upto & half) - __popc(mask[0]));
        pack(packed, n_candidates + LANES + c.lane, at[1], j[1], mask[1],
             n + (int)((all & half) + (upto >> 16)) - __popc(mask[1]));
        n += sum;
        n_candidates += BATCH_DEEP * LANES;
    }
    __device__ void end(const batch_cluster<real> &c, shared *packed)
    {
        sync_warp();
        if (n > 0) {
            flush(c, packed);
        }
    }
};

/** Completes the pairs of sorted rows by the boxes of their systems. */
template <typename real> struct finish_by_system {
    struct kith__gpu_systems all; /**< the batch */
    __device__ bool is_good() const
    {
        return !all.small->offsets_failed && !all.small->failed;
    }
    __device__ void operator()(const struct kith__gpu_list &list, int64_t p, int32_t i) const
    {
        typedef definition<real> def;
        const struct kith__question &q = all.question;
        const int32_t *shift = kept_shift<real>(list, p);
        if (!shift) {
            return;
        }
        int32_t s[3];
        const int32_t j = list.j[p];
        const struct kith__gpu_system *system = &all.system[all.of_a[i]];
        kith__unpack_shift(*shift, s);
        if (has_vector(list)) {
            real ri[3], rj[3], d[3];
            int32_t image[3];
            def::load(batch_box(system, real()), q.a, q.dim, i, ri, image);
            def::load(batch_box(system, real()), q.b, q.dim, j, rj, image);
            const real r2 = def::separation(batch_box(system, real()), ri, rj, s, d);
            write_vector(list, p, r2, d, false);
        }
        if (list.shifts) {
            write_batch_shift<real>(all, system, list, p, i, j, s);
        }
    }
};

/* ---------------------------------------------------------------------------------- launchers */

template <bool UPPER>
static gpuError_t count_of(const struct kith__gpu_batch_sweep *sweep, int64_t *counts,
                           gpuStream_t stream)
{
    if (sweep->systems.question.precision == KITH_FLOAT) {
        return run_batch<float>(sweep, batch_count<float, UPPER>{counts, 0}, stream);
    }
    return run_batch<double>(sweep, batch_count<double, UPPER>{counts, 0}, stream);
}

gpuError_t kith__gpu_batch_count(const struct kith__gpu_batch_sweep *sweep, int64_t *counts,
                                 gpuStream_t stream)
{
    return sweep->upper ? count_of<true>(sweep, counts, stream)
                        : count_of<false>(sweep, counts, stream);
}

template <bool UPPER, bool EXTRAS>
static gpuError_t fill_of(const struct kith__gpu_batch_sweep *sweep,
                          const struct kith__gpu_list *list, const int64_t *offsets,
                          gpuStream_t stream)
{
    if (sweep->systems.question.precision == KITH_FLOAT) {
        return run_batch<float>(sweep, batch_fill<float, UPPER, EXTRAS>{*list, offsets, false},
                                stream);
    }
    return run_batch<double>(sweep, batch_fill<double, UPPER, EXTRAS>{*list, offsets, false},
                             stream);
}

gpuError_t kith__gpu_batch_fill(const struct kith__gpu_batch_sweep *sweep,
                                const struct kith__gpu_list *list, const int64_t *offsets,
                                gpuStream_t stream)
{
    const bool extras = has_vector(*list) || list->shifts;
    if (sweep->upper) {
        return extras ? fill_of<true, true>(sweep, list, offsets, stream)
                      : fill_of<true, false>(sweep, list, offsets, stream);
    }
    return extras ? fill_of<false, true>(sweep, list, offsets, stream)
                  : fill_of<false, false>(sweep, list, offsets, stream);
}

template <bool UPPER, bool EXTRAS>
static gpuError_t append_of(const struct kith__gpu_batch_sweep *sweep,
                            const struct kith__gpu_list *list, gpuStream_t stream)
{
    unsigned long long *total = (unsigned long long *)&sweep->systems.small->total;
    if (sweep->systems.question.precision == KITH_FLOAT) {
        return run_batch<float>(sweep, batch_append<float, UPPER, EXTRAS>{*list, total, 0, 0},
                                stream);
    }
    return run_batch<double>(sweep, batch_append<double, UPPER, EXTRAS>{*list, total, 0, 0},
                             stream);
}

gpuError_t kith__gpu_batch_append(const struct kith__gpu_batch_sweep *sweep,
                                  const struct kith__gpu_list *list, gpuStream_t stream)
{
    const bool extras = has_vector(*list) || list->shifts;
    if (sweep->upper) {
        return extras ? append_of<true, true>(sweep, list, stream)
                      : append_of<true, false>(sweep, list, stream);
    }
    return extras ? append_of<false, true>(sweep, list, stream)
                  : append_of<false, false>(sweep, list, stream);
}

gpuError_t kith__gpu_batch_sort(const struct kith__gpu_systems *systems,
                                const struct kith__gpu_list *list, const int64_t *offsets,
                                gpuStream_t stream)
{
    const int64_t rows = systems->a.n;
    if (systems->question.precision == KITH_FLOAT) {
        const finish_by_system<float> finish = {*systems};
        return run_sort_rows<float>(finish, *list, offsets, 0, rows, stream);
    }
    const finish_by_system<double> finish = {*systems};
    return run_sort_rows<double>(finish, *list, offsets, 0, rows, stream);
}

static __global__ void write_result(const struct kith__gpu_batch_small *small, const int64_t *total,
                                    int64_t *result)
{
    if (small->offsets_failed) {
        *result = KITH_INVALID;
    } else if (small->failed) {
        const int fault = (int)(~small->failed & 255);
        *result = fault >= KITH_SYSTEM_FAR          ? KITH_LIMIT
                  : fault >= KITH_SYSTEM_NOT_FINITE ? KITH_NOT_FINITE
                  : fault >= 24                     ? KITH_LIMIT /* KITH_BOX_SHORT */
                                                    : KITH_INVALID;
    } else {
        *result = *total;
    }
}

gpuError_t kith__gpu_batch_result(const struct kith__gpu_systems *systems, const int64_t *total,
                                  int64_t *result, gpuStream_t stream)
{
    KITH_LAUNCH(write_result, 1, 1, stream, systems->small, total, result);
    return gpuGetLastError();
}
