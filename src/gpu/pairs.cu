/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists: count by home, count by row, append, fill rows. Templates on EXTRAS spare lists without
 * them the registers.
 */
#include "extras.cuh"
#include "sweep.cuh"

struct nothing {
};

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
    __device__ void take(const visit<real> &, shared *, const struct candidate &, uint32_t mask)
    {
        hits += __popc(mask);
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

template <typename real, bool UPPER> struct count_rows {
    typedef struct nothing shared;
    int64_t *counts; /* by caller's index */
    int64_t hits;    /* of the home's particle number `lane` */

    __device__ bool begin(const visit<real> &, shared *)
    {
        hits = 0;
        return true;
    }
    __device__ void take(const visit<real> &v, shared *, const struct candidate &at, uint32_t mask)
    {
        const int32_t j = UPPER ? v.sweep->grid.b.id[at.place] : 0;
        for (int k = 0; k < v.n; k++) {
            bool hit = mask >> k & 1;
            if (UPPER) {
                hit = hit && is_upper(v.shared->id[k], j, at.shift);
            }
            const int n = count_lanes(which_lanes(hit));
            hits += v.lane == k ? n : 0;
        }
    }
    __device__ void flush(const visit<real> &, shared *)
    {
    }
    __device__ void end(const visit<real> &v, shared *)
    {
        if (v.lane < v.n) {
            counts[v.shared->id[v.lane]] = hits;
        }
    }
};

/* ------------------------------------------------------------------------------------ appended */

/**
 * Hits are packed in shared memory, so that the list is written in full lines. With offsets each
 * home has its place; without, a place is taken from *total whenever a packet is full.
 */
template <typename real, bool EXTRAS> struct append {
    enum { PACKET = 256 };
    struct shared {
        int2 hit[PACKET]; /* the candidate's place; particle of the home | segment << 8 */
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

    __device__ void write(const visit<real> &v, int64_t p, int2 hit)
    {
        const int k = hit.y & 255;
        const int32_t i = v.shared->id[k];
        const int32_t j = v.sweep->grid.b.id[hit.x];
        const bool turned = v.sweep->forward && i > j;
        list.i[p] = turned ? j : i;
        list.j[p] = turned ? i : j;
        if (EXTRAS) {
            const int32_t shift = v.shared->shift[hit.y >> 8];
            int32_t s[3];
            real d[3];
            kith__unpack_shift(shift, s);
            const real r2 = separation(v, k, hit.x, shift, d);
            write_extras<real>(v.sweep->grid, list, p, i, j, s, r2, d, turned);
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
        for (int h = v.lane; h < n; h += LANES) {
            const int64_t p = to + h;
            if (p >= 0 && p < list.capacity) {
                write(v, p, packed->hit[h]);
            }
        }
        sync_warp();
        at += n;
        n = 0;
    }

    __device__ void take(const visit<real> &v, shared *packed, const struct candidate &c,
                         uint32_t mask)
    {
        for (lanes_t with = which_lanes(mask != 0); with; with = which_lanes(mask != 0)) {
            if (n + LANES > PACKET) {
                flush(v, packed);
            }
            if (mask) {
                const int k = __ffs((int)mask) - 1;
                mask &= mask - 1;
                packed->hit[n + count_lanes(with & lanes_below(v.lane))] = make_int2(
                    c.place, k | c.segment << 8);
            }
            n += count_lanes(with);
        }
    }
    __device__ void end(const visit<real> &, shared *)
    {
    }
};

/* ---------------------------------------------------------------------------------------- rows */

template <typename real, bool UPPER, bool EXTRAS> struct fill_rows {
    typedef struct nothing shared;
    struct kith__gpu_list list;
    const int64_t *offsets;
    int64_t at; /* of the next pair of the home's particle number `lane` */

    /** Has a row of the home pairs in the part that is written? */
    __device__ bool begin(const visit<real> &v, shared *)
    {
        int64_t end = 0;
        at = 0;
        if (v.lane < v.n) {
            const int32_t i = v.shared->id[v.lane];
            at = offsets[i] - list.base;
            end = offsets[i + 1] - list.base;
        }
        return which_lanes(at < list.capacity && end > 0 && v.lane < v.n) != 0;
    }
    __device__ void take(const visit<real> &v, shared *, const struct candidate &c, uint32_t mask)
    {
        const int32_t j = v.sweep->grid.b.id[c.place];
        for (int k = 0; k < v.n; k++) {
            const int32_t i = v.shared->id[k];
            bool hit = mask >> k & 1;
            if (UPPER) {
                hit = hit && is_upper(i, j, c.shift);
            }
            const lanes_t with = which_lanes(hit);
            const int64_t p = from_lane(at, k) + count_lanes(with & lanes_below(v.lane));
            if (hit && p >= 0 && p < list.capacity) {
                write(v, p, k, i, j, c);
            }
            at += v.lane == k ? count_lanes(with) : 0;
        }
    }
    __device__ __forceinline__ void write(const visit<real> &v, int64_t p, int k, int32_t i,
                                          int32_t j, const struct candidate &c)
    {
        list.j[p] = j;
        if (list.i) {
            list.i[p] = i;
        }
        if (EXTRAS && list.later) {
            *waiting_shift<real>(list, p) = c.shift;
        } else if (EXTRAS) {
            int32_t s[3];
            real d[3];
            kith__unpack_shift(c.shift, s);
            const real r2 = separation(v, k, c.place, c.shift, d);
            write_extras<real>(v.sweep->grid, list, p, i, j, s, r2, d, false);
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
    return list->distances || list->vectors || list->shifts;
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
                                               INITIALLY(*list, offsets, 0), , UPPER, true)
                            : RUN_BY_PRECISION(sweep, stream, fill_rows,
                                               INITIALLY(*list, offsets, 0), , UPPER, false);
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
