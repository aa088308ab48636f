/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists: count by home, count by row, append, fill rows. Templates on EXTRAS spare lists
 * without them the registers.
 */
#include "extras.cuh"
#include "sweep.cuh"

struct nothing {
};

/** Write the extras of the pair at p: particle k of the home, a candidate and its image. */
template <typename real>
static __device__ void write_extras(const visit<real> &v, const struct kith__gpu_list &list,
                                    int64_t p, int k, int32_t place, int32_t shift, int32_t i,
                                    int32_t j, bool turned)
{
    if (has_vector(list)) {
        real d[3];
        const real r2 = separation(v, k, place, shift, d);
        write_vector(list, p, r2, d, turned);
    }
    if (list.shifts) {
        int32_t s[3];
        kith__unpack_shift(shift, s);
        write_shift<real>(v.sweep->grid, list, p, i, j, s, turned);
    }
}

/* -------------------------------------------------------------------------------------- counts */

template <typename real> struct count_homes {
    typedef struct nothing shared;
    int64_t *counts;
    int64_t hits;

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
    __device__ void flush(const visit<real> &, shared *)
    {
    }
    __device__ void end(const visit<real> &v, shared *)
    {
        const int64_t sum = sum_lanes(hits);
        if (v.lane == 0) {
            counts[v.home] = sum;
        }
    }
};

/** Does row i of a half list hold j at this image? */
static __device__ __forceinline__ bool is_upper(int32_t i, int32_t j, int32_t shift)
{
    return i < j || (i == j && shift > no_shift);
}

/** UPPER: rows of a half list, from a sweep of both ends. Else of a full list; a forward sweep then
 *  counts each pair at both its ends. */
template <typename real, bool UPPER> struct count_rows {
    typedef struct nothing shared;
    int64_t *counts; /* by caller's index, cleared */
    int64_t hits;    /* of the home's particle number `lane` */

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
            j[d] = mask[d] ? v.sweep->grid.b.id[at[d].place] : 0;
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
    __device__ void flush(const visit<real> &, shared *)
    {
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

/** Where a packed hit comes from: the home's particle, and with EXTRAS the segment << 8. */
template <bool EXTRAS> struct of_hit {
    typedef uint8_t origin;
};
template <> struct of_hit<true> {
    typedef uint16_t origin;
};

/**
 * Hits are packed in shared memory, so that the list is written in full lines. With offsets each
 * home has its place; without, a place is taken from *total whenever a packet is full.
 */
template <typename real, bool EXTRAS> struct append {
    enum { PACKET = KITH_GPU_HOME * LANES }; /* the hits of one candidate a lane always fit */
    struct shared {
        int32_t j[PACKET]; /* the caller's, with EXTRAS the place, of the candidate */
        typename of_hit<EXTRAS>::origin of[PACKET];
    };
    struct kith__gpu_list list;
    const int64_t *offsets;
    unsigned long long *total;
    int64_t at; /* of the next pair, with offsets */
    int n;      /* hits packed */

    __device__ bool begin(const visit<real> &v, shared *)
    {
        at = offsets ? offsets[v.home] - list.base : 0;
        n = 0;
        return true;
    }

    __device__ __forceinline__ void write(const visit<real> &v, int64_t p, int of, int32_t place)
    {
        const int k = of & 255;
        const int32_t i = v.shared->id[k];
        const int32_t j = EXTRAS ? v.sweep->grid.b.id[place] : place;
        const bool turned = v.sweep->forward && i > j;
        list.i[p] = turned ? j : i;
        list.j[p] = turned ? i : j;
        if (EXTRAS) {
            write_extras(v, list, p, k, place, v.shared->shift[of >> 8], i, j, turned);
        }
    }

    __device__ void flush(const visit<real> &v, shared *packed)
    {
        if (n == 0) {
            return;
        }
        int64_t to = at;
        if (!offsets) {
            unsigned long long first = 0;
            if (v.lane == 0) {
                first = atomicAdd(total, (unsigned long long)n);
            }
            to = (int64_t)from_lane(first, 0);
        }
        sync_warp();
        if (to >= 0 && to + n <= list.capacity) {
#pragma unroll 4
            for (int h = v.lane; h < n; h += LANES) {
                write(v, to + h, packed->of[h], packed->j[h]);
            }
        } else {
            for (int h = v.lane; h < n; h += LANES) {
                if (to + h >= 0 && to + h < list.capacity) {
                    write(v, to + h, packed->of[h], packed->j[h]);
                }
            }
        }
        sync_warp();
        at += n;
        n = 0;
    }

    /** Pack the hits of a candidate from `first` on: there is room. */
    __device__ __forceinline__ void pack(const visit<real> &v, shared *packed,
                                         const struct candidate &c, uint32_t mask, int first)
    {
        const int32_t j = EXTRAS || !mask ? c.place : v.sweep->grid.b.id[c.place];
        for (; mask; mask &= mask - 1) {
            packed->j[first] = j;
            packed->of[first] = (typename of_hit<EXTRAS>::origin)((__ffs((int)mask) - 1) |
                                                                  (EXTRAS ? c.segment << 8 : 0));
            first++;
        }
    }

    /** Hits are packed in the order of lanes: of all candidates of a lane together where there is
     *  room for these, else of one a lane after the other. */
    __device__ __forceinline__ void take(const visit<real> &v, shared *packed,
                                         const struct candidate c[DEEP], const uint32_t mask[DEEP])
    {
        int hits = 0;
        for (int d = 0; d < DEEP; d++) {
            hits += __popc(mask[d]);
        }
        int upto = scan_lanes(hits, v.lane);
        int sum = from_lane(upto, LANES - 1);
        const bool together = sum <= PACKET;
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            if (!together) {
                hits = __popc(mask[d]);
                upto = scan_lanes(hits, v.lane);
                sum = from_lane(upto, LANES - 1);
            }
            if ((d == 0 || !together) && n + sum > PACKET) {
                flush(v, packed);
            }
            pack(v, packed, c[d], mask[d], n + upto - hits);
            if (together) {
                hits -= __popc(mask[d]);
            } else {
                n += sum;
            }
        }
        n += together ? sum : 0;
    }
    __device__ void end(const visit<real> &, shared *)
    {
    }
};

/* ---------------------------------------------------------------------------------------- rows */

template <typename real, bool UPPER, bool EXTRAS> struct fill_rows {
    struct shared {
        int64_t at[KITH_GPU_HOME]; /* of the next pair of each particle of the home */
    };
    struct kith__gpu_list list;
    const int64_t *offsets;
    bool whole; /* all rows of the home are in the part that is written, plainly */

    /** Are only j and images written, these as the sweep has them? */
    __device__ __forceinline__ bool is_plain(const visit<real> &v) const
    {
        return !list.i &&
               (!EXTRAS || (!has_vector(list) && !list.later && !v.sweep->grid.plan->wrapped));
    }

    /** Has a row of the home pairs in the part that is written? */
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

    /** Write what the candidates add to row k. @return how many pairs */
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
        int hits = 0; /* of the home's particle number `lane` */
        for (int d = 0; d < DEEP; d++) {
            j[d] = mask[d] ? v.sweep->grid.b.id[c[d].place] : 0;
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
        if (EXTRAS && list.later) {
            *waiting_shift<real>(list, p) = c.shift;
        } else if (EXTRAS) {
            write_extras(v, list, p, k, c.place, c.shift, v.shared->id[k], j, false);
        }
    }
    __device__ void flush(const visit<real> &, shared *)
    {
    }
    __device__ void end(const visit<real> &, shared *)
    {
    }
};

/* ---------------------------------------------------------------------------------- launchers */

/** run_sweep for the precision of the sweep's points: OPERATION<float, ...>{...} or double. */
#define RUN_BY_PRECISION(sweep, stream, OPERATION, INITIAL, ...) \
    ((sweep)->grid.question.precision == KITH_FLOAT \
         ? run_sweep<float>(sweep, OPERATION<float __VA_ARGS__> INITIAL, stream) \
         : run_sweep<double>(sweep, OPERATION<double __VA_ARGS__> INITIAL, stream))
#define INITIALLY(...) \
    { \
        __VA_ARGS__ \
    }

static bool has_extras(const struct kith__gpu_list *list)
{
    return has_vector(*list) || list->shifts;
}

gpuError_t kith__gpu_count_homes(const struct kith__gpu_sweep *sweep, int64_t *counts, int64_t n,
                                 gpuStream_t stream)
{
    const gpuError_t error = gpuMemsetAsync(counts, 0, (size_t)n * sizeof *counts, stream);
    return error != gpuSuccess ? error
                               : RUN_BY_PRECISION(sweep, stream, count_homes, INITIALLY(counts, 0));
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
    return has_extras(list) ? RUN_BY_PRECISION(sweep, stream, append,
                                               INITIALLY(*list, offsets, total, 0, 0), , true)
                            : RUN_BY_PRECISION(sweep, stream, append,
                                               INITIALLY(*list, offsets, total, 0, 0), , false);
}

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

static __global__ void conclude(const struct kith__gpu_plan *plan, const int64_t *total,
                                int64_t *result)
{
    *result = plan->status == KITH_OK ? *total : plan->status;
}

gpuError_t kith__gpu_conclude(const struct kith__gpu_grid *grid, const int64_t *total,
                              int64_t *result, gpuStream_t stream)
{
    KITH_LAUNCH(conclude, 1, 1, stream, grid->plan, total, result);
    return gpuGetLastError();
}
