/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An i-cluster, up to 32 query particles, in a warp's shared memory, and their test against
 * candidates, one candidate in each lane. Squared distances are computed in float, in units of the
 * cutoff, with coordinates relative to the first particle of the i-cluster. Those further from the
 * cutoff than their error bound are decided; the others, the borderline cases, are decided by the
 * definition (pair.h). So the pairs found are exact.
 */
#ifndef KITH_GPU_I_CLUSTER_CUH
#define KITH_GPU_I_CLUSTER_CUH

#include "around.cuh"

/* An error bound with which every candidate is a borderline case. */
static const float unlimited_error = 1e30f;

/* A squared distance that is no hit even with the error bound unlimited_error. */
static const float never = 4e30f;

/* Distance of two particles of an i-cluster from which on float coordinates are too inaccurate
 * [cutoff]. */
static const float widest_cluster = 1000;

/* Candidates further out than this are moved to this distance: no square overflows, and none is a
 * hit [cutoff]. */
static const float far_out = 1e9f;

/* Image (0, 0, 0), packed. */
static const int32_t no_shift = 512 | 512 << 10 | 512 << 20;

/** A range of candidates: one segment of the cells around an i-cluster. The candidates of all
 *  listed segments are numbered through, modulo 2^32. */
struct __align__(16) range
{
    uint32_t end;   /**< number of the candidate behind the last */
    uint32_t from;  /**< offset from the number of a candidate to its slot */
    int32_t shift;  /**< image of all candidates of the range, packed */
    int32_t unused; /**< padding to 16 bytes */
};

/** An i-cluster, and the ranges of its candidates. In shared memory, one for each warp. */
struct visit_shared {
    /** -2 x, -2 y, -2 z, |r|^2 - 1 + error bound of each query particle [cutoff], see `excess`; in
     *  the padding the last number is `never`. */
    float4 i[KITH_GPU_CLUSTER];
    int32_t id[KITH_GPU_CLUSTER]; /**< index of each query particle in the caller's order; -1 in
                                       the padding */

    /** [clusters + 1] First slot of each i-cluster of the work block, and the slot behind the
     *  last. */
    int32_t cluster[KITH_GPU_WORK_BLOCK + 1];
    int clusters;              /**< i-clusters that begin in the work block */
    int64_t candidates;        /**< candidates in all listed ranges */
    struct range range[LANES]; /**< the ranges listed by each lane */
    double origin[3]; /**< point that coordinates are measured from: the first particle [length] */
    double unit;      /**< 1 / cutoff; 0: the i-cluster is too wide for float coordinates */
    float4 frame;     /**< origin and unit, rounded to float: where coordinates are floats, the
                           origin is exact */
};

/** The i-cluster that a warp processes. Registers: a copy in each lane. */
template <typename real> struct visit {
    typedef real coordinate;             /**< type of the coordinates */
    const struct kith__gpu_sweep *sweep; /**< parameters of the sweep */
    struct visit_shared *shared;         /**< data in shared memory */
    int lane;                            /**< number of this lane */
    int32_t work_block;                  /**< number of the work block */
    int32_t begin;                       /**< first slot of the i-cluster */
    int n;                               /**< query particles of the i-cluster */

    /** Twice the error bound of r^2 / cutoff^2: the bits of a float, see `excess`. */
    uint32_t borderline_bits;
};

/** A candidate. */
struct candidate {
    int32_t slot;  /**< slot in set b */
    int segment;   /**< index of the candidate's range in visit_shared.range */
    int32_t shift; /**< image, packed (kith__pack_shift) */
};

/** Read the position of a slot. */
template <typename real>
static __device__ __forceinline__ void read_slot(const struct kith__gpu_set &set, int64_t slot,
                                                 real r[3])
{
    r[0] = ((const real *)set.x)[slot];
    r[1] = ((const real *)set.y)[slot];
    r[2] = ((const real *)set.z)[slot];
}

/** Return r^2 of slot i of set a and a candidate, and set d to the vector between them, by the
 *  definition [length].
 *  @param slot, shift  slot and packed image of the candidate */
template <typename real>
static __device__ real separation(const visit<real> &v, int32_t i, int32_t slot, int32_t shift,
                                  real d[3])
{
    typedef definition<real> def;
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real ri[3], rj[3];
    int32_t s[3];
    read_slot(grid.a, i, ri);
    read_slot(grid.b, slot, rj);
    kith__unpack_shift(shift, s);
    return def::separation(def::box(grid.question), ri, rj, s, d);
}

/** Return r^2 - 1 + b of query particle i and candidate (x, y, z), q = |(x, y, z)|^2, in units of
 *  the cutoff, with the error bound b: below 0 the candidate is a hit, above 2b it is none, and
 *  between these it is a borderline case. The bits of a negative float, as an unsigned integer, are
 *  larger than those of any other, so one unsigned comparison finds borderline cases. */
static __device__ __forceinline__ float excess(float4 i, float x, float y, float z, float q)
{
    return __fmaf_rn(i.x, x, __fmaf_rn(i.y, y, __fmaf_rn(i.z, z, q + i.w)));
}

/** Decide the borderline cases of a candidate by the definition. Cold path: few candidates are
 *  within the error bound of the cutoff.
 *  @param mask  one bit for each query particle, set for hits; clear in borderline cases
 *  @return mask, with the bits of pairs set */
template <typename real>
static __device__ __forceinline__ uint32_t decide(const visit<real> &v, const struct candidate &at,
                                                  float x, float y, float z, float q, uint32_t mask)
{
    typedef definition<real> def;
    const real square = def::square((real)v.sweep->grid.question.cutoff);
#pragma unroll 1
    for (int k = 0; k < v.n; k++) {
        if (__float_as_uint(excess(v.shared->i[k], x, y, z, q)) <= v.borderline_bits) {
            real d[3];
            const bool near = separation(v, v.begin + k, at.slot, at.shift, d) <= square;
            mask |= (uint32_t)near << k;
        }
    }
    return mask;
}

/* ---------------------------------------------------------------------------------- i-clusters */

/**
 * Load the query particles of an i-cluster to shared memory.
 * @return twice a bound on the rounding error of r^2 / cutoff^2, the bits of a float
 *
 * Bound, with u = 2^-24 and all coordinates within M of the origin (m in the code): rounding
 * coordinates, up to three times for a candidate, changes r^2 near 1 by at most 11uM; the two
 * squares, their sum and the products by 20uM^2 + 5u; the rounding error of the definition is
 * added. Candidates further out have larger errors, but a distance that exceeds 1 by more.
 */
template <typename real> static __device__ uint32_t load_cluster(const visit<real> &v)
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real first[3], r[3];
    const int mine = v.lane < v.n ? v.lane : 0;
    read_slot(grid.a, v.begin, first);
    read_slot(grid.a, v.begin + mine, r);
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
    float error_bound = unlimited_error;
    if (most < widest_cluster * widest_cluster) {
        const double m = 1.0001 * sqrtf(most) + 1.01;
        /* 16777216 is 1 / u; the factors are rounded up */
        error_bound = (float)(((16 * m + 32 * m * m + 8) / 16777216.0 + grid.definition_error) *
                              1.000001);
        error_bound = fminf(error_bound, unlimited_error);
    } else {
        unit = 0;
        x[0] = x[1] = x[2] = square = 0;
    }
    if (v.lane < KITH_GPU_CLUSTER) {
        const bool real_one = v.lane < v.n;
        v.shared->i[v.lane] = make_float4(-2 * x[0], -2 * x[1], -2 * x[2],
                                          real_one ? square - 1 + error_bound : never);
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
    return __float_as_uint(2 * error_bound);
}

/** Find this lane's candidate: number c + lane; the last one when that is not before `end`.
 *  @param[in,out] at  on entry, at->segment is the range where the search begins; on return the
 *                     candidate
 *  @return true when number c + lane is before `end` */
template <typename real>
static __device__ __forceinline__ bool find_candidate(const visit<real> &v, int64_t c, int64_t end,
                                                      struct candidate *at)
{
    const int left = end - c < LANES ? (int)(end - c) : LANES;
    const uint32_t number = (uint32_t)c + (uint32_t)(v.lane < left ? v.lane : left - 1);
    struct range range = v.shared->range[at->segment];
    /* numbers are modulo 2^32; the difference is exact, as segments are shorter than 2^31 */
    while ((int32_t)(number - range.end) >= 0) {
        range = v.shared->range[++at->segment];
    }
    at->slot = (int32_t)(number + range.from);
    at->shift = range.shift;
    return v.lane < left;
}

/** Compute the coordinates of a candidate relative to the origin of the i-cluster [cutoff]. */
template <typename real>
static __device__ __forceinline__ void scale_candidate(const visit<real> &v,
                                                       const struct candidate *at, float r[3])
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real rj[3];
    read_slot(grid.b, at->slot, rj);
    /* for float coordinates, the origin in frame is exact */
    if (sizeof(real) == sizeof(float) && at->shift == no_shift) {
        const float4 f = v.shared->frame;
        r[0] = ((float)rj[0] - f.x) * f.w;
        r[1] = ((float)rj[1] - f.y) * f.w;
        r[2] = ((float)rj[2] - f.z) * f.w;
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
        r[k] = (float)(((double)rj[k] - origin[k]) * unit);
    }
}

/** Compute the coordinates of a candidate relative to the origin of the i-cluster [cutoff]. When
 *  they are too large, or NaN, they are replaced by others at distance far_out. When the i-cluster
 *  is too wide for float coordinates, all are 0.
 *  @return the sum of their squares */
template <typename real>
static __device__ __forceinline__ float load_candidate(const visit<real> &v,
                                                       const struct candidate *at, float r[3])
{
    scale_candidate(v, at, r);
    const float square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (square <= far_out * far_out) {
        return square;
    }
    r[0] = v.shared->unit > 0 ? far_out : 0; /* r may have been infinite or NaN */
    r[1] = r[2] = 0;
    return r[0] * r[0];
}

/** Return a mask of the query particles that a candidate may form a pair with: all, except where
 *  the candidate is a particle of the i-cluster at image 0: not itself, and in a forward sweep no
 *  query particle after it. */
template <typename real>
static __device__ __forceinline__ uint32_t allowed(const visit<real> &v, const struct candidate &at)
{
    const uint32_t own = (uint32_t)at.slot - (uint32_t)v.begin;
    if (own >= (uint32_t)v.n || at.shift != no_shift || v.sweep->grid.question.cross) {
        return ~0u;
    }
    return v.sweep->forward ? (1u << own) - 1 : ~(1u << own);
}

#endif
