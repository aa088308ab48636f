/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep over a batch (systems.h) finds all pairs within the cutoff, from both ends. A warp
 * claims blocks of consecutive slots from a counter in device memory, and processes the i-clusters
 * that begin there: up to 32 query particles of one cell. The candidates are the particles of the
 * cells around it, at their images. Each lane loads one candidate, and keeps it when it is within
 * the cutoff of the bounding box of the i-cluster: in small boxes most images are not. Candidates
 * that are kept are collected in a queue in shared memory (stream compaction); DEEP of them for
 * each lane are tested against all query particles at a time, as in gpu_sweep.cuh: in float, with
 * the definition for borderline cases.
 *
 * An operation is a struct, of which each thread has a copy, with
 *     struct shared                          its data in shared memory, for each warp
 *     bool begin(cluster, shared)            called by the whole warp before an i-cluster; false:
 *                                            skip it
 *     void take(cluster, shared, at, mask)   called by the whole warp: DEEP candidates of each
 *                                            lane, each with a mask of its query particles
 *     void end(cluster, shared)              the i-cluster ends
 * and, for work that is done once for a thread block, overloads of
 *     batch_begin_block(operation), batch_end_block(operation)
 */
#ifndef KITH_GPU_BATCH_SWEEP_CUH
#define KITH_GPU_BATCH_SWEEP_CUH

#include "gpu_cells.cuh"
#include "gpu_sweep.h"
#include "systems.h"

enum {
    BATCH_WARPS = 128 / LANES,           /**< warps of a thread block */
    BATCH_THREADS = BATCH_WARPS * LANES, /**< threads of a thread block */
    BATCH_BLOCKS = 4,                    /**< thread blocks on a multiprocessor: limits registers */
    BATCH_DEEP = 2,                      /**< candidates in each lane at a time */
    BATCH_UNROLL = 4,                    /**< query particles of one iteration */
    BATCH_CLUSTER = 32,                  /**< most query particles of an i-cluster */
    BATCH_SLOTS = 32,                    /**< slots of a block of work */
    BATCH_QUEUE = (BATCH_DEEP + 1) * LANES /**< candidates in the queue */
};

/* An error bound with which every candidate is a borderline case. */
static const float batch_unlimited = 1e30f;

/* A squared distance that is no hit even with the error bound batch_unlimited. */
static const float batch_never = 4e30f;

/* Distance of two particles of an i-cluster from which on float coordinates are too inaccurate
 * [cutoff]. */
static const float batch_widest = 1000;

/* Image (0, 0, 0), packed. */
static const int32_t batch_no_shift = 512 | 512 << 10 | 512 << 20;

/** A range of candidates: a row of cells at one image. The candidates of all listed ranges are
 *  numbered through, modulo 2^32. */
struct __align__(16) batch_range
{
    uint32_t end;  /**< number of the candidate behind the last */
    uint32_t from; /**< offset from the number of a candidate to its slot */
    int32_t shift; /**< image of all of them, packed */
    float x, y,
        z; /**< vector of the image [cutoff]; not set in boxes without kith__gpu_system.span */
    int32_t unused[2]; /**< padding to 32 bytes */
};

/** An i-cluster and its candidates, in shared memory, one for each warp. */
struct batch_shared {
    /** -2 x, -2 y, -2 z, |r|^2 - 1 + error bound of each query particle [cutoff]; padded with
     *  batch_never. */
    float4 i[BATCH_CLUSTER];
    float4 queue[BATCH_QUEUE];        /**< coordinates of the candidates kept, and |r|^2 [cutoff] */
    struct batch_range range[LANES];  /**< ranges of candidates */
    int32_t queue_slot[BATCH_QUEUE];  /**< their slots */
    int32_t queue_shift[BATCH_QUEUE]; /**< their images, packed */
    int32_t id[BATCH_CLUSTER];        /**< index of each query particle in the caller's order */
    int64_t candidates;               /**< candidates in all listed ranges */
};

/** The i-cluster that a warp processes. Registers: a copy in each lane. */
template <typename real> struct batch_cluster {
    const struct kith__gpu_batch_sweep *sweep; /**< parameters of the sweep */
    const struct kith__gpu_system *system;     /**< the system of the i-cluster */
    struct batch_shared *shared;               /**< data in shared memory */
    int lane;                                  /**< number of this lane */
    int32_t begin;                             /**< first slot of the i-cluster */
    int n;                                     /**< its query particles */
    double origin[3]; /**< point that coordinates are measured from: the first particle [length] */
    double unit;      /**< 1 / cutoff; 0: the i-cluster is too wide for float coordinates */
    bool single;      /**< float coordinates are shifted to images in float */
    float middle[3];  /**< centre of the bounding box of the query particles [cutoff] */
    float half[3];    /**< half the size of the bounding box [cutoff] */
    float keep;       /**< squared distance from the bounding box up to which a candidate is kept
                           [cutoff^2] */
    uint32_t borderline_bits; /**< twice the error bound of r^2 / cutoff^2: the bits of a float */
};

/** A candidate. */
struct batch_candidate {
    int32_t slot;  /**< slot in set b */
    int32_t shift; /**< image, packed */
};

/** Read the position of a slot. */
template <typename real>
static __device__ __forceinline__ void batch_position(const struct kith__gpu_set &set, int64_t slot,
                                                      real r[3])
{
    r[0] = ((const real *)set.x)[slot];
    r[1] = ((const real *)set.y)[slot];
    r[2] = ((const real *)set.z)[slot];
}

/** Return the box of a system, in the precision of the type of the second argument. */
static __device__ __forceinline__ const struct kith__lattice_f &batch_box(
    const struct kith__gpu_system *system, float)
{
    return system->box_f;
}
static __device__ __forceinline__ const struct kith__lattice_d &batch_box(
    const struct kith__gpu_system *system, double)
{
    return system->box_d;
}

/** Return r^2 of slot i of set a and a candidate, and set d to the vector between them, by the
 *  definition [length]. */
template <typename real>
static __device__ __forceinline__ real batch_separation(const batch_cluster<real> &c, int32_t i,
                                                        int32_t slot, int32_t shift, real d[3])
{
    real ri[3], rj[3];
    int32_t s[3];
    batch_position(c.sweep->systems.a, i, ri);
    batch_position(c.sweep->systems.b, slot, rj);
    kith__unpack_shift(shift, s);
    return definition<real>::separation(batch_box(c.system, real()), ri, rj, s, d);
}

/** Return r^2 - 1 + b of query particle i and candidate r, r.w = |r|^2, in units of the cutoff,
 *  with the error bound b: below 0 the candidate is a hit, above 2b it is none, and between these
 *  it is a borderline case. */
static __device__ __forceinline__ float batch_excess(float4 i, float4 r)
{
    return __fmaf_rn(i.x, r.x, __fmaf_rn(i.y, r.y, __fmaf_rn(i.z, r.z, r.w + i.w)));
}

/* ---------------------------------------------------------------------------------- i-clusters */

/** Reduce a number of the lanes of query particles to the smallest and largest. */
static __device__ __forceinline__ void batch_extent(float x, float *middle, float *half)
{
    float low = x;
    float high = x;
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        low = fminf(low, from_partner(low, bits));
        high = fmaxf(high, from_partner(high, bits));
    }
    *middle = 0.5f * (low + high);
    *half = fmaxf(high - *middle, *middle - low);
}

/** Load the query particles of an i-cluster to shared memory, and find their bounding box and the
 *  error bound of r^2 / cutoff^2, as load_cluster of i_cluster.cuh does. Images that are shifted in
 *  float have larger errors: with u = 2^-24 and a box of length B along each axis, a difference and
 *  its product of 2uB, the image's vector and the sum of u(B + 2M), so each coordinate is off by
 *  less than u(3B + 3M), which changes r^2 near 1 by at most 11u(B + M). */
template <typename real>
static __device__ __forceinline__ void batch_load_cluster(batch_cluster<real> &c)
{
    const struct kith__gpu_systems &all = c.sweep->systems;
    real first[3], r[3];
    const int mine = c.lane < c.n ? c.lane : 0;
    batch_position(all.a, c.begin, first);
    batch_position(all.a, (int64_t)c.begin + mine, r);
    c.unit = 1 / all.question.cutoff;
    c.single = sizeof(real) == sizeof(float) && c.system->span >= 0;
    float x[3];
    float square = 0;
    for (int k = 0; k < 3; k++) {
        c.origin[k] = (double)first[k];
        x[k] = (float)(((double)r[k] - (double)first[k]) * c.unit);
        square = __fmaf_rn(x[k], x[k], square);
    }
    float most = square;
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        most = fmaxf(most, from_partner(most, bits));
    }
    float error_bound = batch_unlimited;
    if (most < batch_widest * batch_widest) {
        const double m = 1.0001 * sqrtf(most) + 1.01;
        const double far = m + (c.single ? c.system->span : 0);
        error_bound = (float)(((16 * far + 32 * m * m + 8) / 16777216.0 +
                               c.system->definition_error) *
                              1.000001);
        error_bound = fminf(error_bound, batch_unlimited);
    } else {
        c.unit = 0;
        x[0] = x[1] = x[2] = square = 0;
    }
    for (int k = 0; k < 3; k++) {
        batch_extent(x[k], &c.middle[k], &c.half[k]);
    }
    c.keep = 1.0001f + 2 * error_bound;
    c.borderline_bits = __float_as_uint(2 * error_bound);
    if (c.lane < BATCH_CLUSTER) {
        const bool real_one = c.lane < c.n;
        c.shared->i[c.lane] = make_float4(-2 * x[0], -2 * x[1], -2 * x[2],
                                          real_one ? square - 1 + error_bound : batch_never);
        c.shared->id[c.lane] = real_one ? all.a.id[c.begin + c.lane] : -1;
    }
}

/** The cells around an i-cluster. */
struct batch_around {
    int32_t x, y, z;  /**< its cell */
    int32_t sx;       /**< first image along x that is in reach */
    int32_t n_sx;     /**< number of images along x in reach */
    int32_t wide_y;   /**< rows of cells of a layer */
    int64_t segments; /**< rows of cells at their images, those outside an open axis included */
};

/** Return a / n rounded down, n > 0. */
static __device__ __forceinline__ int32_t batch_floor(int32_t a, int32_t n)
{
    return a >= 0 ? a / n : -((-a + n - 1) / n);
}

template <typename real>
static __device__ __forceinline__ struct batch_around batch_cells_around(
    const batch_cluster<real> &c)
{
    const struct kith__axis *axis = c.system->axis;
    const int32_t cell = (int32_t)(c.sweep->systems.a.key[c.begin] -
                                   (uint64_t)c.system->first_cell);
    const int32_t nx = (int32_t)axis[0].n;
    const int32_t ny = (int32_t)axis[1].n;
    struct batch_around around;
    const int32_t row = cell / nx;
    around.x = cell - row * nx;
    around.z = row / ny;
    around.y = row - around.z * ny;
    around.sx = 0;
    around.n_sx = 1;
    if (axis[0].periodic) {
        around.sx = batch_floor(around.x - axis[0].reach, nx);
        around.n_sx = batch_floor(around.x + axis[0].reach, nx) - around.sx + 1;
    }
    around.wide_y = 2 * axis[1].reach + 1;
    around.segments = (int64_t)around.wide_y * (2 * axis[2].reach + 1) * around.n_sx;
    return around;
}

/** Find cell c + d of an axis.
 *  @param[out] image  the image of the box that it is in; 0 for an open axis
 *  @return its number; -1 when it is outside an open axis */
static __device__ __forceinline__ int32_t batch_step(const struct kith__axis &axis, int32_t c,
                                                     int32_t d, int32_t *image)
{
    const int32_t n = (int32_t)axis.n;
    const int32_t at = c + d;
    *image = axis.periodic ? batch_floor(at, n) : 0;
    const int32_t cell = at - *image * n;
    return cell >= 0 && cell < n ? cell : -1;
}

/** Find the slots of set b in segment number s around an i-cluster, and their image.
 *  @param[out] range  shift and vector of the image are set
 *  @return the number of slots */
template <typename real>
static __device__ __forceinline__ int64_t batch_segment(const batch_cluster<real> &c,
                                                        const struct batch_around &around,
                                                        int64_t s, int64_t *begin,
                                                        struct batch_range *range)
{
    const struct kith__axis *axis = c.system->axis;
    const struct kith__gpu_set &b = c.sweep->systems.b;
    int32_t image[3];
    const int32_t nx = (int32_t)axis[0].n;
    const int64_t row = divide(s, around.n_sx);
    image[0] = around.sx + (int32_t)(s - row * around.n_sx);
    const int32_t layer = (int32_t)divide(row, around.wide_y);
    const int32_t dy = (int32_t)(row - (int64_t)layer * around.wide_y) - axis[1].reach;
    const int32_t y = batch_step(axis[1], around.y, dy, &image[1]);
    const int32_t z = batch_step(axis[2], around.z, layer - axis[2].reach, &image[2]);
    const int32_t low = image[0] * nx;
    const int32_t from = max(around.x - axis[0].reach - low, 0);
    const int32_t to = min(around.x + axis[0].reach - low, nx - 1);
    *begin = 0;
    if (y < 0 || z < 0 || from > to) {
        return 0;
    }
    const int64_t first = c.system->first_cell + ((int64_t)z * axis[1].n + y) * nx;
    *begin = b.start[first + from];
    range->shift = kith__pack_shift(image);
    if (c.single) {
        range->x = (float)(image[0] * c.system->box_d.row[0][0] * c.unit);
        range->y = (float)(image[1] * c.system->box_d.row[1][1] * c.unit);
        range->z = (float)(image[2] * c.system->box_d.row[2][2] * c.unit);
    }
    return (int64_t)b.start[first + to + 1] - *begin;
}

/** List up to LANES segments from number s on. @return the number of their candidates */
template <typename real>
static __device__ __forceinline__ int64_t batch_list_segments(const batch_cluster<real> &c,
                                                              const struct batch_around &around,
                                                              int64_t s)
{
    int64_t begin = 0;
    int64_t n = 0;
    struct batch_range range = {0, 0, 0, 0, 0, 0, {0, 0}};
    if (s + c.lane < around.segments) {
        n = batch_segment(c, around, s + c.lane, &begin, &range);
    }
    const int64_t sum = scan_lanes(n, c.lane);
    range.end = (uint32_t)sum;
    range.from = (uint32_t)(begin - (sum - n));
    c.shared->range[c.lane] = range;
    const int64_t all = from_lane(sum, LANES - 1);
    sync_warp();
    return all;
}

/* --------------------------------------------------------------------------------------- tests */

/** Compute the coordinates of a candidate relative to the origin of the i-cluster [cutoff]. */
template <typename real>
static __device__ __forceinline__ void batch_scale(const batch_cluster<real> &c, const real rj[3],
                                                   const struct batch_range &range, float r[3])
{
    if (c.single) { /* the origin is a float */
        const float unit = (float)c.unit;
        r[0] = __fmaf_rn((float)rj[0] - (float)c.origin[0], unit, range.x);
        r[1] = __fmaf_rn((float)rj[1] - (float)c.origin[1], unit, range.y);
        r[2] = __fmaf_rn((float)rj[2] - (float)c.origin[2], unit, range.z);
        return;
    }
    double origin[3] = {c.origin[0], c.origin[1], c.origin[2]};
    if (range.shift != batch_no_shift) {
        int32_t s[3];
        kith__unpack_shift(range.shift, s);
        const double(*row)[3] = c.system->box_d.row;
        for (int m = 0; m < 3; m++) {
            origin[m] -= s[2] * row[2][m] + s[1] * row[1][m] + s[0] * row[0][m];
        }
    }
    for (int k = 0; k < 3; k++) {
        r[k] = (float)(((double)rj[k] - origin[k]) * c.unit);
    }
}

/** Load a candidate: its coordinates, and the sum of their squares.
 *  @return false when it is none: beyond the cutoff from the bounding box of the i-cluster */
template <typename real>
static __device__ __forceinline__ bool batch_load_candidate(const batch_cluster<real> &c,
                                                            int32_t slot,
                                                            const struct batch_range &range,
                                                            float4 *to)
{
    real rj[3];
    float r[3];
    float gap = 0;
    if (!(c.unit > 0)) {
        *to = make_float4(0, 0, 0, 0); /* every candidate is a borderline case */
        return true;
    }
    batch_position(c.sweep->systems.b, slot, rj);
    batch_scale(c, rj, range, r);
    for (int k = 0; k < 3; k++) {
        const float beyond = fmaxf(fabsf(r[k] - c.middle[k]) - c.half[k], 0.0f);
        gap = __fmaf_rn(beyond, beyond, gap);
    }
    *to = make_float4(r[0], r[1], r[2], r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    return gap <= c.keep;
}

/** Decide the borderline cases of a candidate by the definition. Cold path, but inlined: a call
 *  would keep the i-cluster in local memory.
 *  @return mask, with the bits of pairs set */
template <typename real>
static __device__ __forceinline__ uint32_t batch_decide(const batch_cluster<real> &c,
                                                        const struct batch_candidate at, float4 r,
                                                        uint32_t mask)
{
    const real square = definition<real>::square((real)c.sweep->systems.question.cutoff);
#pragma unroll 1
    for (int k = 0; k < c.n; k++) {
        if (__float_as_uint(batch_excess(c.shared->i[k], r)) <= c.borderline_bits) {
            real d[3];
            const bool near = batch_separation(c, c.begin + k, at.slot, at.shift, d) <= square;
            mask |= (uint32_t)near << k;
        }
    }
    return mask;
}

/** Test the first `count` candidates of the queue, at most BATCH_DEEP * LANES, against all query
 *  particles, and pass the masks to the operation. */
template <typename real, class Operation>
static __device__ __forceinline__ void batch_test(const batch_cluster<real> &c, int count,
                                                  Operation &operation,
                                                  typename Operation::shared *shared)
{
    float4 r[BATCH_DEEP];
    uint32_t mask[BATCH_DEEP];
    uint32_t least[BATCH_DEEP];
    struct batch_candidate at[BATCH_DEEP];
    sync_warp();
#pragma unroll
    for (int d = 0; d < BATCH_DEEP; d++) {
        const int e = d * LANES + c.lane;
        const bool is_one = e < count;
        r[d] = is_one ? c.shared->queue[e] : make_float4(0, 0, 0, batch_never);
        at[d].slot = is_one ? c.shared->queue_slot[e] : c.begin;
        at[d].shift = is_one ? c.shared->queue_shift[e] : batch_no_shift;
        mask[d] = 0;
        least[d] = ~0u;
    }
    const int steps = (c.n + BATCH_UNROLL - 1) / BATCH_UNROLL * BATCH_UNROLL;
    for (int k = steps; k > 0; k -= BATCH_UNROLL) {
#pragma unroll
        for (int u = 1; u <= BATCH_UNROLL; u++) {
            const float4 i = c.shared->i[k - u];
#pragma unroll
            for (int d = 0; d < BATCH_DEEP; d++) {
                const uint32_t bits = __float_as_uint(batch_excess(i, r[d]));
                mask[d] = mask[d] << 1 | bits >> 31;
                least[d] = min(least[d], bits);
            }
        }
    }
#pragma unroll
    for (int d = 0; d < BATCH_DEEP; d++) {
        if (least[d] <= c.borderline_bits) {
            mask[d] = batch_decide(c, at[d], r[d], mask[d]);
        }
        const uint32_t own = (uint32_t)at[d].slot - (uint32_t)c.begin;
        const bool self = own < (uint32_t)c.n && at[d].shift == batch_no_shift &&
                          !c.sweep->systems.question.cross;
        mask[d] &= self ? ~(1u << own) : ~0u;
        mask[d] = d * LANES + c.lane < count ? mask[d] : 0;
    }
    operation.take(c, shared, at, mask);
    sync_warp();
}

/** Keep the candidates of the listed ranges that may be hits, and test them.
 *  @param total  number of candidates in the ranges
 *  @param kept   candidates in the queue
 *  @return candidates in the queue that are not tested yet */
template <typename real, class Operation>
static __device__ __forceinline__ int batch_candidates(const batch_cluster<real> &c, int64_t total,
                                                       int kept, Operation &operation,
                                                       typename Operation::shared *shared)
{
    struct batch_shared *const queue = c.shared;
    int segment = 0;
    for (int64_t from = 0; from < total; from += LANES) {
        const bool is_one = from + c.lane < total;
        const uint32_t number = (uint32_t)(is_one ? from + c.lane : total - 1);
        struct batch_range range = queue->range[segment];
        while ((int32_t)(number - range.end) >= 0) { /* segments are shorter than 2^31 */
            range = queue->range[++segment];
        }
        const int32_t slot = (int32_t)(number + range.from);
        float4 r;
        const bool keep = batch_load_candidate(c, slot, range, &r) && is_one;
        const lanes_t with = which_lanes(keep);
        if (keep) {
            const int to = kept + count_lanes(with & lanes_below(c.lane));
            queue->queue[to] = r;
            queue->queue_slot[to] = slot;
            queue->queue_shift[to] = range.shift;
        }
        kept += count_lanes(with);
        if (kept >= BATCH_DEEP * LANES) {
            batch_test(c, BATCH_DEEP * LANES, operation, shared);
            kept -= BATCH_DEEP * LANES;
            if (c.lane < kept) { /* move the rest to the front */
                const int e = BATCH_DEEP * LANES + c.lane;
                queue->queue[c.lane] = queue->queue[e];
                queue->queue_slot[c.lane] = queue->queue_slot[e];
                queue->queue_shift[c.lane] = queue->queue_shift[e];
            }
            sync_warp();
        }
    }
    return kept;
}

/** Return true when the host has set the stop flag. The result is uniform over the warp. */
static __device__ __forceinline__ bool batch_is_stopped(const struct kith__gpu_batch_sweep &sweep)
{
    const unsigned next = my_lane() == 0 ? *(const volatile unsigned *)&sweep.systems.small->next
                                         : 0;
    return from_lane(next, 0) >= KITH_GPU_STOP;
}

/** Process one i-cluster. */
template <typename real, class Operation>
static __device__ __forceinline__ void batch_visit(batch_cluster<real> &c, Operation &operation,
                                                   typename Operation::shared *shared)
{
    c.system = &c.sweep->systems.system[c.sweep->systems.of_a[c.begin]];
    sync_warp();
    batch_load_cluster(c);
    sync_warp();
    if (!operation.begin(c, shared)) {
        return;
    }
    const struct batch_around around = batch_cells_around(c);
    int kept = 0;
    for (int64_t s = 0; s < around.segments; s += LANES) {
        if (s > 0 && batch_is_stopped(*c.sweep)) {
            break;
        }
        sync_warp();
        const int64_t total = batch_list_segments(c, around, s);
        kept = batch_candidates(c, total, kept, operation, shared);
    }
    if (kept > 0) {
        batch_test(c, kept, operation, shared);
    }
    operation.end(c, shared);
}

/** Return true when an i-cluster begins at slot p: a cell, or a part of a cell with more than
 *  BATCH_CLUSTER particles, divided into parts of equal size.
 *  @param[out] n  particles of the i-cluster */
static __device__ __forceinline__ bool batch_begins(const struct kith__gpu_set &set, int64_t p,
                                                    int *n)
{
    const uint64_t cell = set.key[p];
    const uint32_t first = set.start[cell];
    const uint32_t all = set.start[cell + 1] - first;
    const uint32_t parts = (all + BATCH_CLUSTER - 1) / BATCH_CLUSTER;
    const uint32_t each = (all + parts - 1) / parts;
    const uint32_t before = (uint32_t)p - first;
    *n = (int)min(each, all - before);
    return before % each == 0;
}

/* Defaults for operations without overloads: do nothing. */

template <class Operation> static __device__ __forceinline__ void batch_begin_block(Operation &)
{
}
template <class Operation> static __device__ __forceinline__ void batch_end_block(Operation &)
{
}

/** Claim and process blocks of slots until none is left. */
template <typename real, class Operation>
static __global__ void __launch_bounds__(BATCH_THREADS, BATCH_BLOCKS)
    batch_kernel(const KITH_IN_PLACE struct kith__gpu_batch_sweep sweep, const Operation prototype)
{
    __shared__ struct batch_shared batch_shared[BATCH_WARPS];
    __shared__ typename Operation::shared own_shared[BATCH_WARPS];
    const struct kith__gpu_systems &all = sweep.systems;
    if (all.small->offsets_failed || all.small->failed) {
        return;
    }
    Operation operation = prototype;
    typename Operation::shared *shared = &own_shared[my_warp()];
    batch_cluster<real> c;
    c.sweep = &sweep;
    c.shared = &batch_shared[my_warp()];
    c.lane = my_lane();
    const int64_t blocks = (all.a.n + BATCH_SLOTS - 1) / BATCH_SLOTS;
    batch_begin_block(operation);
    while (true) {
        unsigned taken = 0;
        if (c.lane == 0) {
            taken = atomicAdd(&all.small->next, 1u);
        }
        const int64_t block = from_lane(taken, 0);
        if (block >= blocks) {
            break;
        }
        const int64_t p = block * BATCH_SLOTS + c.lane;
        int n = 0;
        const bool begins = c.lane < BATCH_SLOTS && p < all.a.n && batch_begins(all.a, p, &n);
        for (lanes_t left = which_lanes(begins); left; left &= left - 1) {
            const int first = first_lane(left);
            c.begin = (int32_t)(block * BATCH_SLOTS + first);
            c.n = from_lane(n, first);
            batch_visit(c, operation, shared);
        }
    }
    batch_end_block(operation);
}

/** Queue the sweep with an operation.
 *  @param bytes  dynamic shared memory of each thread block */
template <typename real, class Operation>
static gpuError_t run_batch(const struct kith__gpu_batch_sweep *sweep, const Operation &operation,
                            gpuStream_t stream, size_t bytes = 0)
{
    unsigned *next = &sweep->systems.small->next;
    const gpuError_t error = gpuMemsetAsync(next, 0, sizeof *next, stream);
    if (error != gpuSuccess) {
        return error;
    }
    KITH_LAUNCH_SHARED((batch_kernel<real, Operation>), sweep->blocks, BATCH_THREADS, bytes, stream,
                       *sweep, operation);
    return gpuGetLastError();
}

#endif
