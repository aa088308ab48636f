/* SPDX-License-Identifier: BSD-3-Clause
 *
 * THE SWEEP on a GPU. A warp takes a home: up to 32 particles beside each other in cell order. Its
 * candidates, all particles of the cells around, come by one a lane. Each lane goes through the
 * home's particles and sets one bit of a mask for each that is near its candidate. The operation, a
 * template parameter, is handed the masks.
 *
 * Distances are computed in float, from the home's first particle and in units of the cutoff; an
 * error bound tells which of them are clear, and the definition (pair.h) decides the others.
 *
 * An operation is a struct, copied for each warp, with
 *     struct shared                            its part of shared memory, for each warp
 *     bool begin(visit, shared)                a home with candidates begins; false: skip it
 *     void take(visit, shared, at, mask)       whole warp: masks of this lane's DEEP candidates
 *     void flush(visit, shared)                whole warp: visit's segments are about to change
 *     void end(visit, shared)                  the home ends
 * and, where blocks have something in common, overloads of
 *     begin_block(operation), end_block(operation)    all threads, before and after all homes
 * and, where candidates are to meet the home's particles without masks, overloads of
 *     visit_candidates(...)             instead of take,
 *     prepare_home(visit, operation)    and of what scales coordinates
 */
#ifndef KITH_GPU_SWEEP_CUH
#define KITH_GPU_SWEEP_CUH

#include "cells.cuh"
#include "sweep.h"

/* An error bound that leaves nothing clear, a squared distance that is no hit even so, and the
 * extent, in cutoffs, beyond which floats tell nothing. */
static const float whole_band = 1e30f;
static const float never = 4e30f;
static const float widest_home = 1000;

/* Candidates further out than this many cutoffs are taken to be just there: no overflow, no hit. */
static const float far_out = 1e9f;

static const int32_t no_shift = 512 | 512 << 10 | 512 << 20;

enum { WARPS = 4, SWEEP_THREADS = WARPS * LANES, SWEEP_BLOCKS = 6, DEEP = 2, UNROLL = 4 };

/** A home, and the ranges of candidates that are looked at. In shared memory, one for each warp. */
struct visit_shared {
    float4 i[KITH_GPU_HOME];   /**< -2 x, -2 y, -2 z, |r|^2 - 1; padded with what is never near */
    int32_t id[KITH_GPU_HOME]; /**< index in the caller's order */
    int64_t end[LANES];        /**< segments of candidates: how many there are up to its end, */
    int64_t from[LANES];       /**< what to add to their numbers for their places, */
    int32_t shift[LANES];      /**< and their image, packed */
    double origin[3];          /**< where coordinates are measured from, */
    double unit;               /**< in units of 1 / cutoff; 0: floats tell nothing */
    float4 frame;              /**< both, rounded */
};

/** What a warp knows of its home. */
template <typename real> struct visit {
    const struct kith__gpu_sweep *sweep;
    struct visit_shared *shared;
    int lane;
    int64_t home;  /**< its number */
    int32_t begin; /**< its first particle's place, */
    int n;         /**< and how many there are */
    float band;    /**< error bound of r2 / cutoff^2 */
};

/** A candidate, and how it was come by. */
struct candidate {
    int32_t place; /**< in cell order */
    int segment;
    int32_t shift;
};

template <typename real>
static __device__ __forceinline__ void read_place(const struct kith__gpu_set &set, int64_t place,
                                                  real r[3])
{
    r[0] = ((const real *)set.x)[place];
    r[1] = ((const real *)set.y)[place];
    r[2] = ((const real *)set.z)[place];
}

/** By the definition: r2, and the vector from particle k of the home to a candidate. */
template <typename real>
static __device__ real separation(const visit<real> &v, int k, int32_t place, int32_t shift,
                                  real d[3])
{
    typedef definition<real> def;
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real ri[3], rj[3];
    int32_t s[3];
    read_place(grid.a, v.begin + k, ri);
    read_place(grid.b, place, rj);
    kith__unpack_shift(shift, s);
    return def::separation(def::box(grid.question), ri, rj, s, d);
}

/** The squared distance of candidate (x, y, z), q = |r|^2, and i, less 1. */
static __device__ __forceinline__ float distance2(float4 i, float x, float y, float z, float q)
{
    return __fmaf_rn(i.x, x, __fmaf_rn(i.y, y, __fmaf_rn(i.z, z, q + i.w)));
}

/** Decide the borderline bits of a mask by the definition. */
template <typename real>
static __device__ __forceinline__ uint32_t decide(const visit<real> &v, const struct candidate &at,
                                                  float x, float y, float z, float q, float band,
                                                  uint32_t mask)
{
    typedef definition<real> def;
    const real square = def::square((real)v.sweep->grid.question.cutoff);
    for (int k = 0; k < v.n; k++) {
        if (fabsf(distance2(v.shared->i[k], x, y, z, q)) <= band) {
            real d[3];
            const bool near = separation(v, k, at.place, at.shift, d) <= square;
            mask = (mask & ~(1u << k)) | (uint32_t)near << k;
        }
    }
    return mask;
}

/* ------------------------------------------------------------------------------------ segments */

static __device__ __forceinline__ int64_t floor_divide(int64_t a, int64_t n)
{
    return a >= 0 ? a / n : -((-a + n - 1) / n);
}

/** The cells around a home. */
struct around {
    int64_t x0, x1, y, z; /**< of the home */
    int64_t sx;           /**< first image along x */
    int n_sx;             /**< and how many */
    int64_t segments;     /**< all, also those outside an open axis */
};

/** The image of an axis that cell `at` is in: divides only far outside the box. */
static __device__ __forceinline__ int64_t image_of(int64_t at, int64_t n)
{
    if ((uint64_t)at < (uint64_t)n) {
        return 0;
    }
    const int64_t next = at < 0 ? -1 : 1;
    return (uint64_t)(at - next * n) < (uint64_t)n ? next : floor_divide(at, n);
}

/** Around cells `first` to `last` of a row. */
static __device__ inline struct around look_around(const struct kith__gpu_sweep &sweep,
                                                   int64_t first, int64_t last)
{
    const struct kith__axis *axis = sweep.grid.plan->axis;
    struct around c;
    const int64_t row = row_of_cell(first, axis[0].n, &c.x0);
    c.x1 = c.x0 + (last - first);
    c.z = row_of_cell(row, axis[1].n, &c.y);
    c.sx = 0;
    c.n_sx = 1;
    if (axis[0].periodic) {
        c.sx = image_of(c.x0 - axis[0].reach, axis[0].n);
        c.n_sx = (int)(image_of(c.x1 + axis[0].reach, axis[0].n) - c.sx) + 1;
    }
    const int64_t wide_y = 2 * axis[1].reach + 1;
    const int64_t rows = sweep.forward ? axis[1].reach + 1 + axis[2].reach * wide_y
                                       : wide_y * (2 * axis[2].reach + 1);
    c.segments = rows * c.n_sx;
    return c;
}

/** Cell c + d of an axis: false outside an open axis; else its place and image. */
static __device__ __forceinline__ bool step_axis(const struct kith__axis &axis, int64_t c,
                                                 int64_t d, int64_t *cell, int32_t *image)
{
    const int64_t at = c + d;
    *image = axis.periodic ? (int32_t)image_of(at, axis.n) : 0;
    *cell = at - *image * axis.n;
    return *cell >= 0 && *cell < axis.n;
}

/** Particles [*begin, *end) of b in segment number s around a home, and their image. */
static __device__ inline void find_segment(const struct kith__gpu_sweep &sweep,
                                           const struct around &c, int64_t home_begin, int64_t s,
                                           int64_t *begin, int64_t *end, int32_t image[3])
{
    const struct kith__gpu_plan &plan = *sweep.grid.plan;
    const struct kith__axis *axis = plan.axis;
    *begin = *end = 0;
    int64_t row = c.n_sx == 1 ? s : divide(s, c.n_sx);
    const int64_t sx = c.sx + s - row * c.n_sx;
    const int64_t wide_y = 2 * axis[1].reach + 1;
    /* forward rows: (dy, dz) = (0, 0) to (reach, 0), then all dy for each dz > 0 */
    row += sweep.forward ? axis[1].reach : 0;
    const int64_t slab = divide(row, wide_y);
    const int64_t dy = row - slab * wide_y - axis[1].reach;
    const int64_t dz = slab - (sweep.forward ? 0 : axis[2].reach);
    int64_t cy, cz;
    if (!step_axis(axis[1], c.y, dy, &cy, &image[1]) ||
        !step_axis(axis[2], c.z, dz, &cz, &image[2])) {
        return;
    }
    const bool own = sweep.forward && dy == 0 && dz == 0;
    int64_t from = own ? c.x0 : c.x0 - axis[0].reach;
    int64_t to = c.x1 + axis[0].reach;
    const int64_t low = sx * axis[0].n;
    from = from > low ? from : low;
    to = to < low + axis[0].n - 1 ? to : low + axis[0].n - 1;
    if (from > to) {
        return;
    }
    image[0] = (int32_t)sx;
    const int64_t first = (cz * axis[1].n + cy) * axis[0].n - low;
    *begin = first_of_cell(sweep.grid.b, plan, first + from);
    *end = first_of_cell(sweep.grid.b, plan, first + to + 1);
    if (own && sx == 0) {
        *begin = home_begin + 1; /* the first particle is nobody's later neighbour here */
    }
}

/** List up to LANES segments from number `first` on. @return how many candidates they hold. */
template <typename real>
static __device__ int64_t list_segments(const visit<real> &v, const struct around &c, int64_t first)
{
    int64_t begin = 0, end = 0;
    int32_t image[3] = {0, 0, 0};
    if (first + v.lane < c.segments) {
        find_segment(*v.sweep, c, v.begin, first + v.lane, &begin, &end, image);
    }
    const int64_t n = end > begin ? end - begin : 0;
    const int64_t sum = scan_lanes(n, v.lane);
    v.shared->end[v.lane] = sum;
    v.shared->from[v.lane] = begin - (sum - n);
    v.shared->shift[v.lane] = kith__pack_shift(image);
    return from_lane(sum, LANES - 1);
}

/* --------------------------------------------------------------------------------------- homes */

/**
 * Bring a home's particles to shared memory, and return a bound on the error of r2 / cutoff^2.
 * With u = 2^-24 and all coordinates within M of the origin: rounding coordinates, a candidate's up
 * to three times, moves r2 near 1 by at most 11uM, the two squares, their sum and the products by
 * 20uM^2 + 5u; the definition's own rounding comes on top. Candidates further out have larger
 * errors, but a distance that exceeds 1 by more.
 */
template <typename real> static __device__ float load_home(const visit<real> &v)
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real first[3], r[3];
    const int mine = v.lane < v.n ? v.lane : 0;
    read_place(grid.a, v.begin, first);
    read_place(grid.a, v.begin + mine, r);
    double unit = 1 / grid.question.cutoff;
    float x[3];
    float square = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = (float)(((double)r[k] - (double)first[k]) * unit);
        square = __fmaf_rn(x[k], x[k], square);
    }
    float most = square;
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        most = fmaxf(most, from_partner(most, bits));
    }
    float band = whole_band;
    if (most < widest_home * widest_home) {
        const double m = 1.0001 * sqrtf(most) + 1.01;
        band = (float)((16 * m + 32 * m * m + 8) / 16777216.0 + grid.blur);
    } else {
        unit = 0;
        x[0] = x[1] = x[2] = square = 0;
    }
    if (v.lane < KITH_GPU_HOME) {
        const bool real_one = v.lane < v.n;
        v.shared->i[v.lane] = make_float4(-2 * x[0], -2 * x[1], -2 * x[2],
                                          real_one ? square - 1 : never);
        v.shared->id[v.lane] = real_one ? grid.a.id[v.begin + v.lane] : -1;
    }
    if (v.lane < 3) {
        v.shared->origin[v.lane] = (double)(v.lane == 0   ? first[0]
                                            : v.lane == 1 ? first[1]
                                                          : first[2]);
        v.shared->unit = unit;
        v.shared->frame = make_float4((float)first[0], (float)first[1], (float)first[2],
                                      (float)unit);
    }
    return band;
}

/** Candidate number c of the listed segments; at->segment is where the search begins. */
template <typename real>
static __device__ __forceinline__ void find_candidate(const visit<real> &v, int64_t c,
                                                      struct candidate *at)
{
    while (c >= v.shared->end[at->segment]) {
        at->segment++;
    }
    at->place = (int32_t)(c + v.shared->from[at->segment]);
    at->shift = v.shared->shift[at->segment];
}

/** Farther candidates are taken to be there; NaN too, where floats tell nothing. */
static __device__ __forceinline__ float no_farther(float x)
{
    return fminf(fmaxf(x, -far_out), far_out);
}

/** A candidate's coordinates, scaled. */
template <typename real>
static __device__ __forceinline__ void load_candidate(const visit<real> &v,
                                                      const struct candidate *at, float r[3])
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real rj[3];
    read_place(grid.b, at->place, rj);
    if (sizeof(real) == sizeof(float) && at->shift == no_shift) { /* the frame's origin is exact */
        const float4 f = v.shared->frame;
        r[0] = no_farther(((float)rj[0] - f.x) * f.w);
        r[1] = no_farther(((float)rj[1] - f.y) * f.w);
        r[2] = no_farther(((float)rj[2] - f.z) * f.w);
        return;
    }
    const double *const o = v.shared->origin;
    double origin[3] = {o[0], o[1], o[2]};
    const double unit = v.shared->unit;
    if (at->shift != no_shift) {
        int32_t s[3];
        kith__unpack_shift(at->shift, s);
        const double(*row)[3] = grid.question.box_d.row;
        for (int m = 0; m < 3; m++) {
            origin[m] -= s[2] * row[2][m] + s[1] * row[1][m] + s[0] * row[0][m];
        }
    }
    for (int k = 0; k < 3; k++) {
        r[k] = no_farther((float)(((double)rj[k] - origin[k]) * unit));
    }
}

/** Bits of the home's particles that a candidate may pair with: not itself, and, going forward, not
 *  those after it. */
template <typename real>
static __device__ __forceinline__ uint32_t allowed(const visit<real> &v, const struct candidate &at)
{
    const int64_t own = at.place - v.begin;
    if (v.sweep->grid.question.cross || own < 0 || own >= v.n || at.shift != no_shift) {
        return ~0u;
    }
    return v.sweep->forward ? (1u << own) - 1 : ~(1u << own);
}

/** Hand the operation DEEP candidates a lane, from number c on, of the `total` listed. segment:
 *  where each lane found its last ones. */
template <typename real, class Operation>
static __device__ __forceinline__ void visit_candidates(const visit<real> &v, int64_t c,
                                                        int64_t total, int segment[DEEP],
                                                        Operation &operation,
                                                        typename Operation::shared *shared)
{
    float r[DEEP][3];
    float q[DEEP];
    uint32_t mask[DEEP];
    float least[DEEP];
    struct candidate at[DEEP];
    for (int d = 0; d < DEEP; d++) {
        const int64_t mine = c + d * LANES + v.lane;
        at[d].segment = segment[d];
        find_candidate(v, mine < total ? mine : total - 1, &at[d]);
        load_candidate(v, &at[d], r[d]);
        q[d] = mine < total ? r[d][0] * r[d][0] + r[d][1] * r[d][1] + r[d][2] * r[d][2] : never;
        segment[d] = at[d].segment;
        mask[d] = 0;
        least[d] = never;
    }
    const int steps = (v.n + UNROLL - 1) / UNROLL * UNROLL;
    for (int k = steps; k > 0; k -= UNROLL) {
#pragma unroll
        for (int u = 1; u <= UNROLL; u++) {
            const float4 i = v.shared->i[k - u];
#pragma unroll
            for (int d = 0; d < DEEP; d++) {
                const float t = distance2(i, r[d][0], r[d][1], r[d][2], q[d]);
                mask[d] = mask[d] << 1 | (uint32_t)__float_as_int(t) >> 31;
                least[d] = fminf(least[d], fabsf(t));
            }
        }
    }
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        if (least[d] <= v.band) {
            mask[d] = decide(v, at[d], r[d][0], r[d][1], r[d][2], q[d], v.band, mask[d]);
        }
        mask[d] &= allowed(v, at[d]);
    }
    operation.take(v, shared, at, mask);
}

template <typename real, class Operation>
static __device__ __forceinline__ float prepare_home(const visit<real> &v, const Operation &)
{
    return load_home(v);
}

template <class Operation> static __device__ __forceinline__ void begin_block(Operation &)
{
}
template <class Operation> static __device__ __forceinline__ void end_block(Operation &)
{
}

template <typename real, class Operation>
static __global__ void __launch_bounds__(SWEEP_THREADS, SWEEP_BLOCKS)
    sweep_kernel(const struct kith__gpu_sweep sweep, const Operation prototype)
{
    __shared__ struct visit_shared visit_shared[WARPS];
    __shared__ typename Operation::shared operation_shared[WARPS];
    if (sweep.grid.plan->status != KITH_OK) {
        return;
    }
    Operation operation = prototype;
    typename Operation::shared *shared = &operation_shared[my_warp()];
    const int64_t n_homes = *sweep.grid.n_homes;
    const int64_t last = sweep.last < n_homes ? sweep.last : n_homes;
    visit<real> v;
    v.sweep = &sweep;
    v.shared = &visit_shared[my_warp()];
    v.lane = my_lane();
    begin_block(operation);
    while (true) {
        unsigned taken = 0;
        if (v.lane == 0) {
            taken = atomicAdd(sweep.next, 1u);
        }
        v.home = sweep.first + from_lane(taken, 0);
        if (v.home >= last) {
            break;
        }
        v.begin = sweep.grid.homes[v.home];
        const int64_t end = v.home + 1 < n_homes ? sweep.grid.homes[v.home + 1] : sweep.grid.a.n;
        v.n = (int)(end - v.begin);
        const uint64_t *key = sweep.grid.a.key + v.begin;
        const struct around around = look_around(sweep, (int64_t)key[0], (int64_t)key[v.n - 1]);
        bool begun = false; /* with its first candidates: in thin places there may be none */
        for (int64_t s = 0; s < around.segments; s += LANES) {
            if (begun) {
                operation.flush(v, shared);
            }
            sync_warp();
            const int64_t total = list_segments(v, around, s);
            sync_warp();
            if (total > 0 && !begun) {
                v.band = prepare_home(v, operation);
                sync_warp();
                if (!operation.begin(v, shared)) {
                    break;
                }
                begun = true;
            }
            int segment[DEEP] = {0};
            for (int64_t c = 0; c < total; c += DEEP * LANES) {
                visit_candidates(v, c, total, segment, operation, shared);
            }
        }
        if (begun) {
            operation.flush(v, shared);
            operation.end(v, shared);
        }
    }
    end_block(operation);
}

/** Run an operation over the sweep's homes. @param bytes  of shared memory that its blocks have in
 *  common */
template <typename real, class Operation>
static gpuError_t run_sweep(const struct kith__gpu_sweep *sweep, const Operation &operation,
                            gpuStream_t stream, size_t bytes = 0)
{
    gpuError_t error = gpuMemsetAsync(sweep->next, 0, sizeof *sweep->next, stream);
    if (error == gpuSuccess && bytes > 0) {
        error = gpuFuncSetAttribute((const void *)sweep_kernel<real, Operation>,
                                    gpuFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    }
    if (error == gpuSuccess) {
        KITH_LAUNCH_SHARED((sweep_kernel<real, Operation>), sweep->blocks, SWEEP_THREADS, bytes,
                           stream, *sweep, operation);
        error = gpuGetLastError();
    }
    return error;
}

#endif
