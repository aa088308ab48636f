/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A home in a warp's shared memory, its candidates one a lane, and the distances between: in float,
 * from the home's first particle and in units of the cutoff; an error bound tells which of them are
 * clear, and the definition (pair.h) decides the others.
 */
#ifndef KITH_GPU_HOME_CUH
#define KITH_GPU_HOME_CUH

#include "around.cuh"

/* An error bound that leaves nothing clear, a squared distance that is no hit even so, and the
 * extent, in cutoffs, beyond which floats tell nothing. */
static const float whole_band = 1e30f;
static const float never = 4e30f;
static const float widest_home = 1000;

/* Candidates further out than this many cutoffs are taken to be just there: no overflow, no hit. */
static const float far_out = 1e9f;

static const int32_t no_shift = 512 | 512 << 10 | 512 << 20;

/** A range of candidates. They are numbered through all segments, modulo 2^32. */
struct __align__(16) range
{
    uint32_t end;  /**< number of the candidate after its last, */
    uint32_t from; /**< what to add to numbers for places, */
    int32_t shift; /**< image of them all, packed, */
    int32_t unused;
};

/** A home, and the ranges of candidates that are looked at. In shared memory, one for each warp. */
struct visit_shared {
    float4 i[KITH_GPU_HOME];   /**< -2 x, -2 y, -2 z, |r|^2 - 1 + band; padded with `never` */
    int32_t id[KITH_GPU_HOME]; /**< index in the caller's order */
    int32_t
        home[KITH_GPU_STREET + 1]; /**< first particles of a street's homes, and behind the last; */
    int homes;                     /**< how many */
    int64_t candidates;            /**< of all that are listed: */
    struct range range[LANES];
    double origin[3]; /**< where coordinates are measured from, */
    double unit;      /**< in units of 1 / cutoff; 0: floats tell nothing */
    float4 frame;     /**< both, rounded */
};

/** What a warp knows of its home. */
template <typename real> struct visit {
    const struct kith__gpu_sweep *sweep;
    struct visit_shared *shared;
    int lane;
    int32_t street; /**< number of its street */
    int32_t begin;  /**< its first particle's place, */
    int n;          /**< and how many there are */
    uint32_t doubt; /**< twice the error bound of r2 / cutoff^2, as bits: see excess */
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

/** By the definition: r2, and the vector from particle i to a candidate. */
template <typename real>
static __device__ real separation(const visit<real> &v, int32_t i, int32_t place, int32_t shift,
                                  real d[3])
{
    typedef definition<real> def;
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real ri[3], rj[3];
    int32_t s[3];
    read_place(grid.a, i, ri);
    read_place(grid.b, place, rj);
    kith__unpack_shift(shift, s);
    return def::separation(def::box(grid.question), ri, rj, s, d);
}

/** The squared distance of candidate (x, y, z), q = |r|^2, and i, less 1, plus its error bound:
 *  below 0 a hit, beyond twice the bound none, and between these the definition decides. As bits,
 *  all that is below 0 is larger than all that is not. */
static __device__ __forceinline__ float excess(float4 i, float x, float y, float z, float q)
{
    return __fmaf_rn(i.x, x, __fmaf_rn(i.y, y, __fmaf_rn(i.z, z, q + i.w)));
}

/** Decide the borderline bits of a mask by the definition. */
template <typename real>
static __device__ __forceinline__ uint32_t decide(const visit<real> &v, const struct candidate &at,
                                                  float x, float y, float z, float q, uint32_t mask)
{
    typedef definition<real> def;
    const real square = def::square((real)v.sweep->grid.question.cutoff);
#pragma unroll 1
    for (int k = 0; k < v.n; k++) {
        if (__float_as_uint(excess(v.shared->i[k], x, y, z, q)) <= v.doubt) {
            real d[3];
            const bool near = separation(v, v.begin + k, at.place, at.shift, d) <= square;
            mask |= (uint32_t)near << k;
        }
    }
    return mask;
}

/* --------------------------------------------------------------------------------------- homes */

/**
 * Bring a home's particles to shared memory, and return twice a bound on the error of
 * r2 / cutoff^2, as bits.
 * With u = 2^-24 and all coordinates within M of the origin: rounding coordinates, a candidate's up
 * to three times, moves r2 near 1 by at most 11uM, the two squares, their sum and the products by
 * 20uM^2 + 5u; the definition's own rounding comes on top. Candidates further out have larger
 * errors, but a distance that exceeds 1 by more.
 */
template <typename real> static __device__ uint32_t load_home(const visit<real> &v)
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
        band = (float)(((16 * m + 32 * m * m + 8) / 16777216.0 + grid.blur) * 1.000001);
        band = fminf(band, whole_band);
    } else {
        unit = 0;
        x[0] = x[1] = x[2] = square = 0;
    }
    if (v.lane < KITH_GPU_HOME) {
        const bool real_one = v.lane < v.n;
        v.shared->i[v.lane] = make_float4(-2 * x[0], -2 * x[1], -2 * x[2],
                                          real_one ? square - 1 + band : never);
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
    return __float_as_uint(2 * band);
}

/** This lane's candidate of LANES from number c on; the last one where none is left before `end`.
 *  at->segment is where the search begins. @return whether there is one for this lane */
template <typename real>
static __device__ __forceinline__ bool find_candidate(const visit<real> &v, int64_t c, int64_t end,
                                                      struct candidate *at)
{
    const int left = end - c < LANES ? (int)(end - c) : LANES;
    const uint32_t number = (uint32_t)c + (uint32_t)(v.lane < left ? v.lane : left - 1);
    struct range range = v.shared->range[at->segment];
    while ((int32_t)(number - range.end) >= 0) { /* segments are shorter than 2^31 */
        range = v.shared->range[++at->segment];
    }
    at->place = (int32_t)(number + range.from);
    at->shift = range.shift;
    return v.lane < left;
}

/** A candidate's coordinates, scaled. */
template <typename real>
static __device__ __forceinline__ void scale_candidate(const visit<real> &v,
                                                       const struct candidate *at, float r[3])
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    real rj[3];
    read_place(grid.b, at->place, rj);
    if (sizeof(real) == sizeof(float) && at->shift == no_shift) { /* the frame's origin is exact */
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

/** A candidate's coordinates, scaled; where these are too far out for floats, others that are
 *  far_out, or 0 where floats tell nothing at all. @return the sum of their squares */
template <typename real>
static __device__ __forceinline__ float load_candidate(const visit<real> &v,
                                                       const struct candidate *at, float r[3])
{
    scale_candidate(v, at, r);
    const float square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (square <= far_out * far_out) {
        return square;
    }
    r[0] = v.shared->unit > 0 ? far_out : 0; /* they were no numbers, perhaps */
    r[1] = r[2] = 0;
    return r[0] * r[0];
}

/** Bits of the home's particles that a candidate may pair with: not itself, and, going forward, not
 *  those after it. */
template <typename real>
static __device__ __forceinline__ uint32_t allowed(const visit<real> &v, const struct candidate &at)
{
    const uint32_t own = (uint32_t)at.place - (uint32_t)v.begin;
    if (own >= (uint32_t)v.n || at.shift != no_shift || v.sweep->grid.question.cross) {
        return ~0u;
    }
    return v.sweep->forward ? (1u << own) - 1 : ~(1u << own);
}

#endif
