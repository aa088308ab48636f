/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep over a batch (systems.h) finds all pairs within the cutoff, each as (i, j) and (j, i).
 * A warp claims blocks of consecutive slots from a counter in device memory, and processes the
 * i-clusters that begin there: up to 32 query particles of one cell. The candidates are the
 * particles of the cells around it, at their images: of a system of one cell each lane loads a
 * particle once, and moves it to all images. A candidate is kept when it is within the cutoff of
 * the bounding box of the i-cluster: in small boxes most images are not. Candidates that are kept
 * are collected in a queue in shared memory (stream compaction); BATCH_DEEP of them for each lane
 * are tested against all query particles at a time, as in gpu_sweep.cuh: in float, with the
 * definition for borderline cases.
 *
 * An operation is a struct, of which each thread has a copy, with
 *     struct shared                          its data in shared memory, for each warp
 *     bool begin(cluster, shared)            called by the whole warp before an i-cluster; false:
 *                                            skip it
 *     void take(cluster, shared, at, mask)   called by the whole warp: BATCH_DEEP candidates of
 *                                            each lane, each with a mask of the query particles
 *                                            that form a pair with it
 *     void end(cluster, shared)              the i-cluster ends; called where begin returned true
 * and, for work that is done once for a thread block, overloads of
 *     batch_begin_block(operation), batch_end_block(operation)
 */
#ifndef KITH_GPU_BATCH_SWEEP_CUH
#define KITH_GPU_BATCH_SWEEP_CUH

#include "i_cluster.cuh"
#include "systems.cuh"

enum {
    BATCH_WARPS = 128 / LANES,           /**< warps of a thread block */
    BATCH_THREADS = BATCH_WARPS * LANES, /**< threads of a thread block */
    BATCH_BLOCKS = 4,                    /**< thread blocks on a multiprocessor: limits registers */
    BATCH_DEEP = 2,                      /**< candidates in each lane at a time */
    BATCH_UNROLL = 4,                    /**< query particles of one iteration */
    BATCH_CLUSTER = 32,                  /**< most query particles of an i-cluster: bits of a
                                              mask */
    BATCH_SLOTS = 32,                    /**< slots of a block of work */
    BATCH_QUEUE = (BATCH_DEEP + 1) * LANES /**< capacity of the queue: a queue of less than
                                                BATCH_DEEP * LANES gets up to LANES more */
};

/** A range of candidates: a row of cells at one image. The candidates of all listed ranges are
 *  numbered through, modulo 2^32. */
struct __align__(16) batch_range
{
    uint32_t end;      /**< number of the candidate behind the last */
    uint32_t from;     /**< offset from the number of a candidate to its slot */
    int32_t shift;     /**< image of all candidates of the range, packed */
    float x, y, z;     /**< vector of the image [cutoff]; set where batch_cluster.single is true */
    int32_t unused[2]; /**< padding to 32 bytes */
};

/** An i-cluster and its candidates, in shared memory, one for each warp. */
struct batch_shared {
    /** -2 x, -2 y, -2 z, |r|^2 - 1 + error bound of each query particle [cutoff], see `excess` in
     *  i_cluster.cuh; in the padding the last number is `never`. */
    float4 i[BATCH_CLUSTER];
    float4 queue[BATCH_QUEUE];        /**< coordinates of the candidates kept, and |r|^2 [cutoff] */
    struct batch_range range[LANES];  /**< ranges of candidates */
    int32_t queue_slot[BATCH_QUEUE];  /**< slots of the candidates in the queue */
    int32_t queue_shift[BATCH_QUEUE]; /**< images of the candidates in the queue, packed */
    int32_t id[BATCH_CLUSTER];        /**< index of each query particle in the caller's order */
    double origin[3]; /**< point that coordinates are measured from: about the centre of the
                           bounding box of the query particles; a float when they are [length] */
    double unit;      /**< 1 / cutoff; 0: the i-cluster is too wide for float coordinates */
};

/** The i-cluster that a warp processes. Registers: a copy in each lane. */
template <typename real> struct batch_cluster {
    typedef real coordinate;                   /**< type of the coordinates */
    const struct kith__gpu_batch_sweep *sweep; /**< parameters of the sweep */
    const struct kith__gpu_system *system;     /**< the system of the i-cluster */
    struct batch_shared *shared;               /**< data in shared memory */
    int lane;                                  /**< number of this lane */
    int32_t begin;                             /**< first slot of the i-cluster */
    int n;                                     /**< number of query particles of the i-cluster */
    bool single;     /**< coordinates are floats, and are moved to images in float arithmetic */
    float origin[3]; /**< shared->origin; exact when `single` is set [length] */
    float unit;      /**< shared->unit in float, positive where shared->unit is [1 / length] */
    float half[3];   /**< largest distance of a query particle from the origin along each axis: the
                        bounding box of the i-cluster, about the origin [cutoff] */
    float keep;      /**< squared distance from the bounding box up to which a candidate is kept
                        [cutoff^2] */
    uint32_t borderline_bits; /**< twice the error bound of r^2 / cutoff^2: the bits of a float, see
                                   `excess` in i_cluster.cuh */
};

/** A candidate. */
struct batch_candidate {
    int32_t slot;  /**< slot in set b */
    int32_t shift; /**< image, packed */
};

/** Return r^2 of slot i of set a and a candidate, and set d to the vector between them, by the
 *  definition [length]. */
template <typename real>
static __device__ __forceinline__ real separation(const batch_cluster<real> &c, int32_t i,
                                                  int32_t slot, int32_t shift, real d[3])
{
    real ri[3], rj[3];
    int32_t s[3];
    read_slot(c.sweep->systems.a, i, ri);
    read_slot(c.sweep->systems.b, slot, rj);
    kith__unpack_shift(shift, s);
    return definition<real>::separation(system_box(c.system, real()), ri, rj, s, d);
}

/* ---------------------------------------------------------------------------------- i-clusters */

/** Map a float to an integer so that integers compare as the floats do. */
static __device__ __forceinline__ uint32_t batch_ordered(float x)
{
    const uint32_t bits = __float_as_uint(x);
    return bits ^ (bits >> 31 ? ~0u : 1u << 31);
}

/** Return the float that batch_ordered mapped to this integer. */
static __device__ __forceinline__ float batch_from_ordered(uint32_t bits)
{
    return __uint_as_float(bits ^ (bits >> 31 ? 1u << 31 : ~0u));
}

/** Return the maximum over all lanes of a number that is not negative: bits of floats that are not
 *  negative compare as their values do. */
static __device__ __forceinline__ float batch_most(float x)
{
    return __uint_as_float(max_lanes(__float_as_uint(x)));
}

/** Choose the origin of an i-cluster: about the middle of its query particles.
 *  @param r  position of this lane's query particle [length] */
template <typename real>
static __device__ __forceinline__ void batch_choose_origin(const batch_cluster<real> &c,
                                                           const real r[3], double origin[3])
{
    const double cutoff = c.sweep->systems.question.cutoff;
    for (int k = 0; k < 3; k++) {
        const double first = (double)from_lane(r[k], 0);
        const uint32_t x = batch_ordered((float)(((double)r[k] - first) * c.sweep->unit));
        const float low = batch_from_ordered(min_lanes(x));
        const float high = batch_from_ordered(max_lanes(x));
        const double middle = first + 0.5 * ((double)low + (double)high) * cutoff;
        origin[k] = sizeof(real) == sizeof(float) ? (double)(float)middle : middle;
    }
}

/** Load the query particles of an i-cluster to shared memory, and find their bounding box and the
 *  error bound of r^2 / cutoff^2, as load_cluster of i_cluster.cuh does. Images that are moved in
 *  float have larger errors: with u = 2^-24 and a box of length B along each axis, a difference and
 *  its product of 3uB, the image's vector and the sum of u(B + 2M), so each coordinate is off by
 *  less than u(4B + 3M), which changes r^2 near 1 by at most 14u(B + M). */
template <typename real>
static __device__ __forceinline__ void batch_load_cluster(batch_cluster<real> &c)
{
    const struct kith__gpu_systems &all = c.sweep->systems;
    real r[3];
    double origin[3];
    read_slot(all.a, (int64_t)c.begin + (c.lane < c.n ? c.lane : 0), r);
    batch_choose_origin(c, r, origin);
    double unit = c.sweep->unit;
    c.single = sizeof(real) == sizeof(float) && c.system->span >= 0;
    float x[3];
    float square = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = (float)(((double)r[k] - origin[k]) * unit);
        square = __fmaf_rn(x[k], x[k], square);
    }
    const float most = batch_most(square); /* NaN in a lane: NaN */
    float error_bound = unlimited_error;
    if (most < widest_cluster * widest_cluster) {
        const double m = 1.0001 * sqrtf(most) + 1.01;
        const double far = m + (c.single ? c.system->span : 0);
        error_bound = (float)(((16 * far + 32 * m * m + 8) / 16777216.0 +
                               c.system->definition_error) *
                              1.000001);
        error_bound = fminf(error_bound, unlimited_error);
    } else {
        unit = 0;
        x[0] = x[1] = x[2] = square = 0;
    }
    for (int k = 0; k < 3; k++) {
        c.origin[k] = (float)origin[k];
        c.half[k] = batch_most(fabsf(x[k]));
    }
    c.unit = unit > 0 ? fmaxf((float)unit, FLT_MIN) : 0.0f; /* no underflow: 0 has a meaning */
    c.keep = 1.0001f + 2 * error_bound; /* 0.0001: rounding errors of batch_gap */
    c.borderline_bits = __float_as_uint(2 * error_bound);
    if (c.lane < BATCH_CLUSTER) {
        const bool real_one = c.lane < c.n;
        c.shared->i[c.lane] = make_float4(-2 * x[0], -2 * x[1], -2 * x[2],
                                          real_one ? square - 1 + error_bound : never);
        c.shared->id[c.lane] = real_one ? all.a.id[c.begin + c.lane] : -1;
    }
    if (c.lane == 0) {
        c.shared->origin[0] = origin[0];
        c.shared->origin[1] = origin[1];
        c.shared->origin[2] = origin[2];
        c.shared->unit = unit;
    }
}

/** The cells around an i-cluster. */
struct batch_around {
    int32_t x, y, z;  /**< numbers of the cell of the i-cluster along each axis of its system */
    int32_t sx;       /**< first image along x that is in reach */
    int32_t n_sx;     /**< number of images along x in reach */
    int32_t wide_y;   /**< rows of cells of a layer */
    int64_t segments; /**< rows of cells at their images, including rows outside an open axis */
};

/** Return a / n rounded down, n > 0. */
static __device__ __forceinline__ int32_t batch_floor(int32_t a, int32_t n)
{
    return a >= 0 ? a / n : -((-a + n - 1) / n);
}

/** Describe the cells around an i-cluster. */
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
 *  @param[out] begin  first slot; 0 when the segment is outside an open axis or out of reach
 *  @param[out] range  shift and vector of the image are set unless the segment is outside or out of
 *                     reach
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
        range->x = (float)(image[0] * c.system->box_d.row[0][0] * c.shared->unit);
        range->y = (float)(image[1] * c.system->box_d.row[1][1] * c.shared->unit);
        range->z = (float)(image[2] * c.system->box_d.row[2][2] * c.shared->unit);
    }
    return (int64_t)b.start[first + to + 1] - *begin;
}

/** List up to LANES segments from number s on in shared memory, one in each lane.
 *  @return the number of their candidates */
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

/* ---------------------------------------------------------------------------------- candidates */

/** Return true when the host has set the stop flag. The result is uniform over the warp. */
static __device__ __forceinline__ bool batch_is_stopped(const struct kith__gpu_batch_sweep &sweep)
{
    const unsigned next = my_lane() == 0 ? *(const volatile unsigned *)&sweep.systems.small->next
                                         : 0;
    return from_lane(next, 0) >= KITH_GPU_STOP;
}

/** Compute the coordinates of a candidate relative to the origin of the i-cluster [cutoff]. */
template <typename real>
static __device__ __forceinline__ void batch_scale(const batch_cluster<real> &c, const real rj[3],
                                                   const struct batch_range &range, float r[3])
{
    if (c.single) {
        r[0] = __fmaf_rn((float)rj[0] - c.origin[0], c.unit, range.x);
        r[1] = __fmaf_rn((float)rj[1] - c.origin[1], c.unit, range.y);
        r[2] = __fmaf_rn((float)rj[2] - c.origin[2], c.unit, range.z);
        return;
    }
    double origin[3] = {c.shared->origin[0], c.shared->origin[1], c.shared->origin[2]};
    if (range.shift != no_shift) {
        int32_t s[3];
        kith__unpack_shift(range.shift, s);
        const double(*row)[3] = c.system->box_d.row;
        for (int m = 0; m < 3; m++) {
            origin[m] -= s[2] * row[2][m] + s[1] * row[1][m] + s[0] * row[0][m];
        }
    }
    for (int k = 0; k < 3; k++) {
        r[k] = (float)(((double)rj[k] - origin[k]) * c.shared->unit);
    }
}

/** Return the square of the distance of coordinate x from the bounding box of the i-cluster along
 *  its axis, added to `sum` [cutoff^2]. */
static __device__ __forceinline__ float batch_gap(float x, float half, float sum)
{
    const float beyond = fmaxf(fabsf(x) - half, 0.0f);
    return __fmaf_rn(beyond, beyond, sum);
}

/** Load a candidate: its coordinates, and the sum of their squares.
 *  @return false when the slot is no candidate, as it is beyond the cutoff from the bounding box of
 *          the i-cluster */
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
    read_slot(c.sweep->systems.b, slot, rj);
    batch_scale(c, rj, range, r);
    for (int k = 0; k < 3; k++) {
        gap = batch_gap(r[k], c.half[k], gap);
    }
    *to = make_float4(r[0], r[1], r[2], r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    return gap <= c.keep;
}

/** Append the candidates that are to be kept to the queue.
 *  @param kept  candidates in the queue before
 *  @param keep  the candidate of this lane is to be kept
 *  @return candidates in the queue */
template <typename real>
static __device__ __forceinline__ int batch_enqueue(const batch_cluster<real> &c, int kept,
                                                    bool keep, float4 r, int32_t slot,
                                                    int32_t shift)
{
    const lanes_t with = which_lanes(keep);
    if (keep) {
        const int to = kept + count_lanes(with & lanes_below(c.lane));
        c.shared->queue[to] = r;
        c.shared->queue_slot[to] = slot;
        c.shared->queue_shift[to] = shift;
    }
    return kept + count_lanes(with);
}

/** Walk over the candidates of an i-cluster in the cells around it. */
template <typename real> struct batch_cell_walk {
    struct batch_around around; /**< the cells */
    int64_t listed;             /**< number of segments that have been listed */
    int64_t from;               /**< next candidate of the listed ranges */
    int64_t total;              /**< number of candidates in the listed ranges */
    int segment;                /**< range of this lane's last candidate */

    __device__ __forceinline__ explicit batch_cell_walk(const batch_cluster<real> &c)
        : around(batch_cells_around(c)), listed(0), from(0), total(0), segment(0)
    {
    }

    /** Fill the queue with at least BATCH_DEEP * LANES candidates, or all that are left.
     *  @return candidates in the queue */
    __device__ __forceinline__ int fill(const batch_cluster<real> &c, int kept)
    {
        while (kept < BATCH_DEEP * LANES) {
            if (from >= total) {
                if (listed >= around.segments || (listed > 0 && batch_is_stopped(*c.sweep))) {
                    break;
                }
                sync_warp();
                total = batch_list_segments(c, around, listed);
                listed += LANES;
                from = 0;
                segment = 0;
                continue;
            }
            const bool is_one = from + c.lane < total;
            const uint32_t number = (uint32_t)(is_one ? from + c.lane : total - 1);
            struct batch_range range = c.shared->range[segment];
            /* numbers are modulo 2^32; their difference is exact: segments are below 2^31 */
            while ((int32_t)(number - range.end) >= 0) {
                range = c.shared->range[++segment];
            }
            const int32_t slot = (int32_t)(number + range.from);
            float4 r;
            const bool keep = batch_load_candidate(c, slot, range, &r) && is_one;
            kept = batch_enqueue(c, kept, keep, r, slot, range.shift);
            from += LANES;
        }
        return kept;
    }
};

/** Walk over the candidates of an i-cluster in a system of one cell, when images are moved in
 *  float: each lane holds a particle, and moves it to all images, along x, then y, then z. A lane
 *  without a particle holds the last one, which it does not keep. */
template <typename real> struct batch_image_walk {
    int32_t from, last;    /**< slot of the first lane's particle; slot behind the last particle */
    int s[3];              /**< shift of the next image along each axis */
    int most[3];           /**< images on each side of the box */
    float length[3];       /**< lengths of the box [cutoff] */
    float r[3];            /**< position of the particle at image 0, from the origin of the
                                i-cluster [cutoff] */
    float y, z, square_yz; /**< coordinates of the particle at the image, from the origin, and y^2 +
                                z^2 [cutoff] */
    float gap_yz;          /**< square of the distance from the bounding box of the i-cluster in the
                                yz plane [cutoff^2] */

    __device__ __forceinline__ explicit batch_image_walk(const batch_cluster<real> &c)
    {
        const struct kith__gpu_set &b = c.sweep->systems.b;
        from = (int32_t)b.start[c.system->first_cell];
        last = (int32_t)b.start[c.system->first_cell + 1];
        for (int k = 0; k < 3; k++) {
            most[k] = c.system->images[k];
            length[k] = c.system->length[k];
        }
        load(c);
    }

    /** Load this lane's particle, and begin with its first image. */
    __device__ __forceinline__ void load(const batch_cluster<real> &c)
    {
        real rj[3];
        read_slot(c.sweep->systems.b, max(min(from + c.lane, last - 1), 0), rj);
        for (int k = 0; k < 3; k++) {
            r[k] = ((float)rj[k] - c.origin[k]) * c.unit;
            s[k] = -most[k];
        }
        move_yz(c);
    }

    /** Compute what the images of one row along x have in common. */
    __device__ __forceinline__ void move_yz(const batch_cluster<real> &c)
    {
        y = __fmaf_rn((float)s[1], length[1], r[1]);
        z = __fmaf_rn((float)s[2], length[2], r[2]);
        square_yz = __fmaf_rn(y, y, z * z);
        gap_yz = batch_gap(y, c.half[1], batch_gap(z, c.half[2], 0.0f));
    }

    /** Fill the queue with at least BATCH_DEEP * LANES candidates, or all that are left.
     *  @return candidates in the queue */
    __device__ __forceinline__ int fill(const batch_cluster<real> &c, int kept)
    {
        while (kept < BATCH_DEEP * LANES && from < last) {
            const float x = __fmaf_rn((float)s[0], length[0], r[0]);
            const bool keep = batch_gap(x, c.half[0], gap_yz) <= c.keep && from + c.lane < last;
            const int32_t shift = no_shift + s[0] + s[1] * (1 << 10) + s[2] * (1 << 20);
            kept = batch_enqueue(c, kept, keep, make_float4(x, y, z, __fmaf_rn(x, x, square_yz)),
                                 from + c.lane, shift);
            if (++s[0] <= most[0]) {
                continue;
            }
            s[0] = -most[0];
            if (++s[1] > most[1]) {
                s[1] = -most[1];
                if (++s[2] > most[2]) {
                    from = batch_is_stopped(*c.sweep) ? last : from + LANES;
                    load(c);
                    continue;
                }
            }
            move_yz(c);
        }
        return kept;
    }
};

/* --------------------------------------------------------------------------------------- tests */

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
        if (__float_as_uint(excess(c.shared->i[k], r.x, r.y, r.z, r.w)) <= c.borderline_bits) {
            real d[3];
            const bool near = separation(c, c.begin + k, at.slot, at.shift, d) <= square;
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
        r[d] = is_one ? c.shared->queue[e] : make_float4(0, 0, 0, never);
        at[d].slot = is_one ? c.shared->queue_slot[e] : c.begin;
        at[d].shift = is_one ? c.shared->queue_shift[e] : no_shift;
        mask[d] = 0;
        least[d] = ~0u;
    }
    /* from the last query particle, padding included, to the first: each shifts the masks left */
    const int steps = (c.n + BATCH_UNROLL - 1) / BATCH_UNROLL * BATCH_UNROLL;
    for (int k = steps; k > 0; k -= BATCH_UNROLL) {
#pragma unroll
        for (int u = 1; u <= BATCH_UNROLL; u++) {
            const float4 i = c.shared->i[k - u];
#pragma unroll
            for (int d = 0; d < BATCH_DEEP; d++) {
                const uint32_t bits = __float_as_uint(excess(i, r[d].x, r[d].y, r[d].z, r[d].w));
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
        const bool self = own < (uint32_t)c.n && at[d].shift == no_shift &&
                          !c.sweep->systems.question.cross;
        mask[d] &= self ? ~(1u << own) : ~0u;
        mask[d] = d * LANES + c.lane < count ? mask[d] : 0;
    }
    operation.take(c, shared, at, mask);
    sync_warp();
}

/** Test all candidates of a walk against the query particles. */
template <typename real, class Walk, class Operation>
static __device__ __forceinline__ void batch_test_all(const batch_cluster<real> &c, Walk walk,
                                                      Operation &operation,
                                                      typename Operation::shared *shared)
{
    const int most = BATCH_DEEP * LANES;
    struct batch_shared *const queue = c.shared;
    int kept = walk.fill(c, 0);
    while (kept > 0) {
        batch_test(c, min(kept, most), operation, shared);
        kept = max(kept - most, 0);
        if (c.lane < kept) { /* move the rest to the front */
            queue->queue[c.lane] = queue->queue[most + c.lane];
            queue->queue_slot[c.lane] = queue->queue_slot[most + c.lane];
            queue->queue_shift[c.lane] = queue->queue_shift[most + c.lane];
        }
        sync_warp();
        kept = walk.fill(c, kept);
    }
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
    if (c.single && c.unit > 0 && c.system->one_cell) {
        batch_test_all(c, batch_image_walk<real>(c), operation, shared);
    } else {
        batch_test_all(c, batch_cell_walk<real>(c), operation, shared);
    }
    operation.end(c, shared);
}

/** Return true when an i-cluster begins at slot p: an i-cluster is a cell, or a part of a cell with
 *  more than BATCH_CLUSTER particles, which is divided into parts of equal size, the last one being
 *  smaller where they do not divide evenly.
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
static gpuError_t run_sweep(const struct kith__gpu_batch_sweep *sweep, const Operation &operation,
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
