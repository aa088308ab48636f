/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tile of 32 candidates and some homes of eight particles: the tests, and the sums as a product
 * of matrices. Lane 4g + t tests candidates 2t and 2t + 1 of each eight against particle g of a
 * home, which is how the matrix unit wants its factors.
 */
#ifndef KITH_GPU_FLOCK_TILE_CUH
#define KITH_GPU_FLOCK_TILE_CUH

#include "flock_rows.cuh"

enum {
    TILE = 32,
    FOUR = 4,
    EIGHT = 8,
    TOGETHER = 2, /* homes that look at a tile */
    TILE_WARPS = 4,
    TILE_THREADS = TILE_WARPS * LANES,
    MOST_HITS = 1 << 14 /* before sums of bytes are put together: two of them fit 32 bits */
};

/* A squared distance that is far from any, and a bound within which everything is. */
static const float in_no_reach = 4e30f;
static const float no_telling = 1e30f;

/** What a candidate is tested by, and where it came from. */
struct candidates {
    float4 r[2 * TILE];        /**< x, y, z, |r|^2 */
    uint4 place[2 * TILE];     /**< from the home's first particle, in units, plus 2^31; 1 */
    uint4 speed[2 * TILE];     /**< in units, plus 2^31; 1 */
    int2 from_where[2 * TILE]; /**< slot in cell order, image */
    int32_t end[LANES], from[LANES], image[LANES]; /**< segments, as in the sweep */
    int64_t sum[KITH_RULES][LANES][3];             /**< of the warp's particles */
    int32_t n[KITH_RULES][LANES];
};

/** A rule's sums of bytes, with the sign turned: of homes 2t and 2t + 1 of eight. */
struct bytes {
    int32_t d[4];
};

/** The part of a warp's particles that are in one row of cells. */
template <typename real> struct party {
    const struct kith__gpu_flight *f;
    struct candidates *c;
    int lane;
    int64_t first;        /**< slot of the warp's first particle */
    int32_t x0, x1, y, z; /**< cells */
    real origin[3];
    int4 place;               /**< of the one at the origin, less 2^31 */
    float middle[3], half[3]; /**< box around the party, in cutoffs from the origin */
    float unit;               /**< 1 / cutoff; 0: floats tell nothing */
    float band;               /**< error bound of r2 / cutoff^2 */
    float clear;              /**< and of its product with what is beyond separation */
};

static __device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}

/** Bytes of -1 where numbers are negative, else 0. */
static __device__ __forceinline__ uint32_t signs(const float t[4])
{
    const uint32_t low = permute(__float_as_uint(t[0]), __float_as_uint(t[1]), 0xfbfb);
    const uint32_t high = permute(__float_as_uint(t[2]), __float_as_uint(t[3]), 0xfbfb);
    return permute(low, high, 0x7610);
}

/** Two matrices of bytes, transposed: 16 bytes of 32 records, in the order that signs() has. */
static __device__ __forceinline__ void load_bytes(const uint4 *records, int lane, uint32_t a[4])
{
    uint32_t p[4];
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(records + lane);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p[0]), "=r"(p[1]), "=r"(p[2]), "=r"(p[3])
                 : "r"(at)
                 : "memory");
    a[0] = permute(p[0], p[1], 0x6420);
    a[1] = permute(p[0], p[1], 0x7531);
    a[2] = permute(p[2], p[3], 0x6420);
    a[3] = permute(p[2], p[3], 0x7531);
}

/** Add the product of records' bytes and hits. */
static __device__ __forceinline__ void add_product(struct bytes *sum, const uint32_t a[4],
                                                   uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum->d[0]), "+r"(sum->d[1]), "+r"(sum->d[2]), "+r"(sum->d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/** r2 by the definition. */
template <typename real>
static __device__ __noinline__ double exact(const struct kith__gpu_flight &f, int64_t i, int64_t j,
                                            int32_t shift)
{
    typedef definition<real> def;
    const record<real> *const all = (const record<real> *)f.here.r;
    const real ri[3] = {all[i].x, all[i].y, all[i].z};
    const real rj[3] = {all[j].x, all[j].y, all[j].z};
    real d[3];
    int32_t s[3];
    kith__unpack_shift(shift, s);
    return (double)def::separation(def::box(f.sweep.grid.question), ri, rj, s, d);
}

/* ---------------------------------------------------------------------------------------- tile */

/** A lane's particle of each home, as the sweep has them: -2 x, -2 y, -2 z, |r|^2 - 1. */
template <int HOMES> struct looking {
    float4 i[HOMES];
    int64_t slot; /**< of the first */
    struct bytes sum[HOMES][KITH_RULES];
};

/** Candidate number k of a lane, of the eight that it tests of a tile. */
static __device__ __forceinline__ int candidate_of(int base, int lane, int k)
{
    return base + k / 2 * EIGHT + lane % 4 * 2 + k % 2;
}

/** Decide what is not clear of four candidates, from number k on: t becomes their sides of the
 *  radii. */
template <typename real>
static __device__ __forceinline__ void settle(const party<real> &p, int64_t slot, int base, int k,
                                              float t[KITH_RULES][FOUR])
{
#pragma unroll
    for (int e = 0; e < FOUR; e++) {
        const float least = fminf(fminf(fabsf(t[0][e]), fabsf(t[1][e])), fabsf(t[2][e]));
        if (least <= p.band) {
            const int at = candidate_of(base, p.lane, k + e);
            const int2 from = p.c->from_where[at];
            const double r2 = exact<real>(*p.f, slot, from.x, from.y);
            for (int rule = 0; rule < KITH_RULES; rule++) {
                const bool on = p.f->rules.radius[rule] > 0;
                t[rule][e] = on && r2 <= p.f->square[rule] ? -1.0f : 1.0f;
            }
        }
    }
}

/** Test four candidates, from number k on, against a lane's particle of a home. hits: of each rule,
 *  bytes of -1; USUAL: alignment and cohesion have the same. */
template <typename real, bool USUAL>
static __device__ __forceinline__ void test(const party<real> &p, float4 i, int64_t slot, int base,
                                            int k, const float4 r[FOUR], uint32_t hits[KITH_RULES])
{
    float t[KITH_RULES][FOUR];
    float least = in_no_reach;
    const float beyond = p.f->beyond[KITH_SEPARATION];
#pragma unroll
    for (int e = 0; e < FOUR; e++) {
        const float one = distance2(i, r[e].x, r[e].y, r[e].z, r[e].w);
        if (USUAL) {
            t[KITH_ALIGNMENT][e] = t[KITH_COHESION][e] = one;
            t[KITH_SEPARATION][e] = __fadd_rn(one, beyond);
            least = fminf(least, fabsf(__fmul_rn(one, t[KITH_SEPARATION][e])));
        } else {
            for (int rule = 0; rule < KITH_RULES; rule++) {
                t[rule][e] = __fadd_rn(one, p.f->beyond[rule]);
                least = fminf(least, fabsf(t[rule][e]));
            }
        }
    }
    if (least <= (USUAL ? p.clear : p.band)) {
        settle(p, slot, base, k, t);
    }
    for (int rule = 0; rule < KITH_RULES; rule++) {
        hits[rule] = USUAL && rule == KITH_COHESION ? hits[KITH_ALIGNMENT] : signs(t[rule]);
    }
}

/** Test the 32 candidates from `base` on, and add the hits. */
template <typename real, int HOMES, bool USUAL>
static __device__ __forceinline__ void take_tile(const party<real> &p, int base,
                                                 struct looking<HOMES> *me)
{
    uint32_t hits[2][HOMES][KITH_RULES];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float4 r[FOUR];
#pragma unroll
        for (int e = 0; e < FOUR; e++) {
            r[e] = p.c->r[candidate_of(base, p.lane, half * FOUR + e)];
        }
#pragma unroll
        for (int h = 0; h < HOMES; h++) {
            test<real, USUAL>(p, me->i[h], me->slot + h * EIGHT, base, half * FOUR, r,
                              hits[half][h]);
        }
    }
    uint32_t place[4], speed[4];
    load_bytes(p.c->place + base, p.lane, place);
    load_bytes(p.c->speed + base, p.lane, speed);
#pragma unroll
    for (int h = 0; h < HOMES; h++) {
#pragma unroll
        for (int rule = 0; rule < KITH_RULES; rule++) {
            add_product(&me->sum[h][rule], rule == KITH_ALIGNMENT ? speed : place, hits[0][h][rule],
                        hits[1][h][rule]);
        }
    }
}

/** Put sums of bytes together, and add them to the particles'. home: number of the first of eight
 *  in the warp. Lane 4g + t has bytes 2g and 2g + 1 of homes 2t and 2t + 1; with its partner it
 *  makes number g / 2 of home 2t + g % 2. */
template <typename real>
static __device__ __forceinline__ void empty_bytes(const party<real> &p, int home, int rule,
                                                   struct bytes *sum)
{
    const int odd = p.lane / 4 % 2;
    const int32_t first = sum->d[0] + sum->d[2] * 256;
    const int32_t second = sum->d[1] + sum->d[3] * 256;
    const int32_t other = from_partner(odd ? first : second, 4);
    const int64_t total = odd ? other + (int64_t)second * 65536 : first + (int64_t)other * 65536;
    const int32_t n = -from_lane((int32_t)total, (6 + odd) * 4 + p.lane % 4);
    const int axis = p.lane / 8;
    const int one = home + p.lane % 4 * 2 + odd;
    if (axis < 3) {
        p.c->sum[rule][one][axis] += -total - (int64_t)n * ((int64_t)1 << 31);
    } else {
        p.c->n[rule][one] += n;
    }
    sum->d[0] = sum->d[1] = sum->d[2] = sum->d[3] = 0;
}

#endif
