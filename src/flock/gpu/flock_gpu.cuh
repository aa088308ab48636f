/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of all kernels of flocks: read a particle, move it, write it to `there` and count its cell.
 */
#ifndef KITH_GPU_FLOCK_CUH
#define KITH_GPU_FLOCK_CUH

#include "flock_gpu.h"
#include "engine/gpu/gpu_sweep.cuh"
#include "engine/gpu/record.cuh"

/** Move a particle by one time step: kith__flock_move of flock_move_real.h for the type of r.
 *  @return 1; 0 when it leaves the range of numbers */
static __device__ __forceinline__ int move(const struct kith__gpu_flock_step &f,
                                           const struct kith__flock_sums *sums,
                                           const struct kith__flock_more *more,
                                           const double unit[KITH_RULES], int64_t step, int64_t id,
                                           float r[3], float v[3])
{
    const struct kith__question &q = f.sweep.grid.question;
    return kith__flock_move_f(&f.rules, &q.box_d, &q.box_f, sums, more, unit, step, id, r, v);
}

static __device__ __forceinline__ int move(const struct kith__gpu_flock_step &f,
                                           const struct kith__flock_sums *sums,
                                           const struct kith__flock_more *more,
                                           const double unit[KITH_RULES], int64_t step, int64_t id,
                                           double r[3], double v[3])
{
    const struct kith__question &q = f.sweep.grid.question;
    return kith__flock_move_d(&f.rules, &q.box_d, &q.box_d, sums, more, unit, step, id, r, v);
}

/** Return true when all cells within reach of cell `at` of an axis are in the box, so that no
 *  candidate is an image along this axis. */
static __device__ __forceinline__ bool is_inside(const struct kith__axis &axis, int64_t at)
{
    return at >= axis.reach && at + axis.reach < axis.n;
}

/** Return the number of the cell that holds a position.
 *  @param[out] inside  true when all cells within its reach are in the box */
template <typename real>
static __device__ __forceinline__ int64_t cell_of(const struct kith__gpu_flock_step &f,
                                                  const struct kith__axis axis[3], const real r[3],
                                                  bool *inside)
{
    typedef definition<real> def;
    double fraction[3];
    int64_t cell[3];
    def::fractions(def::box(f.sweep.grid.question), r, fraction);
    *inside = true;
    for (int k = 0; k < 3; k++) {
        cell[k] = kith__uncompressed_cell(&axis[k], fraction[k]);
        *inside = *inside && is_inside(axis[k], cell[k]);
    }
    return (cell[2] * axis[1].n + cell[1]) * axis[0].n + cell[0];
}

/** Return true when a kernel of the step may run: no earlier step has failed. */
static __device__ __forceinline__ bool is_well(const struct kith__gpu_flock_step &f)
{
    return !f.progress->stopped &&
           (f.order != KITH_GPU_SORTED || f.sweep.grid.plan->status == KITH_OK);
}

/** Return the nearest integers of units, modulo 2^32, for a plain quantizer. Cold path, not
 *  inlined: only floats that cannot be converted in float arithmetic (kith__gpu_quantizer.narrow)
 *  need it. */
static __device__ __noinline__ int3 in_wide_units(double inverse, double x, double y, double z)
{
    return make_int3(kith__flock_round_near(x * inverse), kith__flock_round_near(y * inverse),
                     kith__flock_round_near(z * inverse));
}

/** Return a position or velocity in units, modulo 2^32, for a plain quantizer. */
static __device__ __forceinline__ int3 in_plain_units(const struct kith__gpu_quantizer &quantizer,
                                                      const record<double> &r)
{
    return make_int3(kith__flock_round_near(r.x * quantizer.inverse),
                     kith__flock_round_near(r.y * quantizer.inverse),
                     kith__flock_round_near(r.z * quantizer.inverse));
}

static __device__ __forceinline__ int3 in_plain_units(const struct kith__gpu_quantizer &quantizer,
                                                      const record<float> &r)
{
    if (quantizer.narrow > 0) {
        return make_int3(__float2int_rn(r.x * quantizer.narrow),
                         __float2int_rn(r.y * quantizer.narrow),
                         __float2int_rn(r.z * quantizer.narrow));
    }
    return in_wide_units(quantizer.inverse, r.x, r.y, r.z);
}

/** Return a position or velocity in units, modulo 2^32, for any quantizer. */
template <typename real>
static __device__ int3 in_units(const struct kith__gpu_quantizer &quantizer, const record<real> &r)
{
    return quantizer.plain ? in_plain_units(quantizer, r)
                           : make_int3(kith__flock_in_units((double)r.x, quantizer.inverse),
                                       kith__flock_in_units((double)r.y, quantizer.inverse),
                                       kith__flock_in_units((double)r.z, quantizer.inverse));
}

/** Compute the offset from the query particle to a candidate's image, modulo 2^32.
 *  @param here, there  positions of the query particle and of the candidate [units]
 *  @param shift        S of the image, packed
 *  @param[out] d       the offset [units] */
static __device__ __forceinline__ void offset_of(const struct kith__gpu_flock_step &f, int3 here,
                                                 int3 there, int32_t shift, int32_t d[3])
{
    int32_t s[3];
    const int32_t i[3] = {here.x, here.y, here.z};
    const int32_t j[3] = {there.x, there.y, there.z};
    kith__unpack_shift(shift, s);
    for (int c = 0; c < 3; c++) {
        uint32_t moved = (uint32_t)j[c];
        for (int k = 0; k < 3; k++) {
            moved += (uint32_t)s[k] * (uint32_t)f.row[k][c];
        }
        d[c] = kith__flock_offset(i[c], (int32_t)moved);
    }
}

/** Subtract a particle itself, which the kernels for few and many neighbours do not exclude, from
 *  its neighbour sums.
 *  @param speed  its velocity [units] */
static __device__ __forceinline__ void subtract_itself(const struct kith__gpu_flock_step &f,
                                                       int3 speed, struct kith__flock_sums *sums)
{
    const int32_t v[3] = {speed.x, speed.y, speed.z};
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const bool on = f.rules.radius[rule] > 0;
        sums->n[rule] -= on;
        for (int k = 0; k < 3; k++) {
            sums->sum[rule][k] -= on && rule == KITH_ALIGNMENT ? v[k] : 0;
        }
    }
}

/* -------------------------------------------------------------------------------------- moving */

/** Update the maximum progress->fastest[f.side] by the largest absolute component of each lane's v:
 *  a reduction over the warp, of the upper and then of the lower 32 bits, and one atomic operation.
 *  All lanes of the warp call it. */
template <typename real>
static __device__ __forceinline__ void update_fastest(const struct kith__gpu_flock_step &f,
                                                      const real v[3])
{
    const real most = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
    const uint64_t mine = (uint64_t)__double_as_longlong((double)most);
    const uint32_t upper = max_lanes((uint32_t)(mine >> 32));
    const uint32_t lower = max_lanes(upper == mine >> 32 ? (uint32_t)mine : 0);
    const unsigned long long bits = (unsigned long long)upper << 32 | lower;
    unsigned long long *fastest = &f.progress->fastest[f.side];
    if (my_lane() == 0 && bits > *fastest) { /* the value read may be outdated, and too small */
        atomicMax(fastest, bits);
    }
}

/** Count a particle of `there` in its cell, for a counting sort.
 *  @param r  its position [length]
 *  @return its rank within the cell, in the order of the atomic operations; 0 without a table */
template <typename real>
static __device__ __forceinline__ int32_t count_in_cell(const struct kith__gpu_flock_step &f,
                                                        const real r[3])
{
    bool inside;
    return f.order == KITH_GPU_COUNTED
               ? (int32_t)atomicAdd(&f.count[cell_of(f, f.axis, r, &inside)], 1u)
               : 0;
}

/** Move a particle, from its neighbour sums, write it to `there` and count its cell. If it leaves
 *  the range of numbers, set progress->lost.
 *  @param slot          its entry
 *  @param from, v_from  its records in `here`
 *  @param more          sums that few flocks need; NULL: there are none
 *  @param[out] v        its new velocity; 0 when it is lost */
template <typename real>
static __device__ __forceinline__ void move_particle(const struct kith__gpu_flock_step &f,
                                                     int64_t slot, const record<real> &from,
                                                     const record<real> &v_from,
                                                     const struct kith__flock_sums *sums,
                                                     const struct kith__flock_more *more, real v[3])
{
    real r[3] = {from.x, from.y, from.z};
    const double unit[KITH_RULES] = {f.offset_unit, f.progress->velocity_unit, f.offset_unit};
    v[0] = v_from.x;
    v[1] = v_from.y;
    v[2] = v_from.z;
    int32_t place = 0;
    if (move(f, sums, more, unit, f.progress->step, from.number, r, v)) {
        place = count_in_cell(f, r);
    } else {
        atomicMin(&f.progress->lost, (int32_t)from.number);
        v[0] = v[1] = v[2] = 0;
    }
    const record<real> next = {r[0], r[1], r[2], from.number};
    const record<real> v_next = {v[0], v[1], v[2], place};
    ((record<real> *)f.there.r)[slot] = next;
    ((record<real> *)f.there.v)[slot] = v_next;
}

#endif
