/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tile of 32 candidates and the 32 particles of a warp, four homes of eight: the tests, and the
 * sums, as products of matrices. Lane 4g + t gets from the matrix unit the distances of candidates
 * 2t and 2t + 1 of each eight from particle g of a home, which is how it wants the hits back.
 *
 * A squared distance is |i|^2 + |j|^2 - 2 i.j. Its factors are numbers of 11 bits: a coordinate is
 * cut into two of them, and so is |j|^2; |i|^2 - 1 is what the sum begins with. Lengths are scaled
 * so that what is too small for the unit does not matter.
 */
#ifndef KITH_GPU_FLOCK_TILE_CUH
#define KITH_GPU_FLOCK_TILE_CUH

#include <cuda_fp16.h>

#include "flock_rows.cuh"

enum {
    TILE = 32,
    FOUR = 4,
    EIGHT = 8,
    HOMES = LANES / EIGHT,
    PAIR = 2, /* homes that the matrix unit takes together */
    BYTES = 16,
    COLUMNS = LANES + FOUR, /* of a table of sums: so its rows do not meet in a bank */
    TILE_WARPS = 2,
    TILE_THREADS = TILE_WARPS * LANES,
    MOST_HITS = 1 << 14 /* before sums of bytes are put together: two of them fit 32 bits */
};

static const float scale = 256;         /* of lengths in cutoffs */
static const float square_part = 1024;  /* |j|^2 is divided by it to fit */
static const float farthest = 60000;    /* the largest such square, of 30 cutoffs */
static const float in_no_reach = 4e30f; /* a squared distance that is far from any */

/** A tile's candidates as they come. */
template <typename real> struct stage {
    record<real> r[TILE], v[TILE];
};

/** A tile's candidates as they are met. */
struct seats {
    uint4 r[TILE];     /**< halves: x, y, z, |r|^2, and what is left of each */
    uint4 place[TILE]; /**< from the party's first particle, in units, plus 2^31; 1 */
    uint4 speed[TILE]; /**< in units, plus 2^31; 1 */
};

/** Candidates that are beside each other, and of one image. */
struct segment {
    int32_t end;  /**< number of the first candidate behind it */
    int32_t from; /**< a candidate's slot, less its number */
    int32_t image;
    int32_t unused;
};

/** A warp's part of shared memory. */
template <typename real> struct candidates {
    struct stage<real> stage;
    struct seats seats[2];
    /** halves: -2x, -2y, -2z and a factor, and what is left; of a particle of either home, those of
     *  even lanes and of odd ones */
    __align__(16) uint32_t a[HOMES / PAIR][EIGHT][2][FOUR];
    float4 w[HOMES / PAIR][EIGHT]; /**< |i|^2 - scale^2, twice, of a particle of either home */
    int32_t bytes[BYTES][COLUMNS]; /**< sums of bytes, of each particle */
    struct segment segment[LANES];
    int64_t sum[KITH_RULES][3][LANES]; /**< of the warp's particles */
    int32_t n[KITH_RULES][LANES];
    float band; /**< error bound of squares */
};

/** A rule's sums of bytes, with the sign turned: bytes 2g and 2g + 1 of particles 2t and 2t + 1. */
struct bytes {
    int32_t d[4];
};

/** The part of a warp's particles that are in one row of cells. */
template <typename real> struct party {
    const struct kith__gpu_flight *f;
    struct candidates<real> *c;
    int lane;
    int64_t first;        /**< slot of the warp's first particle */
    int32_t x0, x1, y, z; /**< cells */
    real origin[3];
    float middle; /**< along x, from the origin */
    int3 place;   /**< of the one at the origin, less 2^31 */
    struct kith__gpu_ruler velocities;
    float unit;               /**< scale / cutoff */
    float clear;              /**< error bound of what judge() returns */
    float beyond[KITH_RULES]; /**< scale^2 - radius^2 */
};

/** What the lanes know of their party. */
struct looking {
    struct bytes sum[HOMES][KITH_RULES];
};

/* ------------------------------------------------------------------------------- instructions */

static __device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}

/** The upper halves of two numbers: floats of 8 bits. */
static __device__ __forceinline__ uint32_t upper(float a, float b)
{
    return permute(__float_as_uint(a), __float_as_uint(b), 0x7632);
}

/** Such halves' products, */
static __device__ __forceinline__ uint32_t products(uint32_t a, uint32_t b)
{
    uint32_t d;
    asm("{.reg .b32 z; mov.b32 z, 0x80008000; fma.rn.bf16x2 %0, %1, %2, z;}"
        : "=r"(d)
        : "r"(a), "r"(b));
    return d;
}

/** and the lesser ones, without regard to signs. */
static __device__ __forceinline__ uint32_t lesser(uint32_t a, uint32_t b)
{
    uint32_t d;
#if __CUDA_ARCH__ >= 860
    asm("min.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
#else
    asm("{.reg .b32 p, q; abs.bf16x2 p, %1; abs.bf16x2 q, %2; min.bf16x2 %0, p, q;}"
        : "=r"(d)
        : "r"(a), "r"(b));
#endif
    return d;
}

/** Bytes of -1 where such halves are negative, else 0. */
static __device__ __forceinline__ uint32_t signs(uint32_t a, uint32_t b)
{
    return permute(a, b, 0xfdb9);
}

static __device__ __forceinline__ uint32_t two_halves(__half2 h)
{
    uint32_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}

/** Numbers as halves, and as halves what is left of them. */
static __device__ __forceinline__ uint4 halves(float a, float b, float c, float d)
{
    const __half2 ab = __floats2half2_rn(a, b);
    const __half2 cd = __floats2half2_rn(c, d);
    const float2 high_ab = __half22float2(ab);
    const float2 high_cd = __half22float2(cd);
    return make_uint4(two_halves(ab), two_halves(cd),
                      two_halves(__floats2half2_rn(a - high_ab.x, b - high_ab.y)),
                      two_halves(__floats2half2_rn(c - high_cd.x, d - high_cd.y)));
}

static __device__ __forceinline__ uint32_t address_of(const uint4 *records)
{
    return (uint32_t)__cvta_generic_to_shared(records);
}

/** The halves of two eights of candidates, twice each, as the matrix unit wants them. */
static __device__ __forceinline__ void load_halves(const uint4 *records, int lane, uint32_t b[2][2])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0][0]), "=r"(b[0][1]), "=r"(b[1][0]), "=r"(b[1][1])
                 : "r"(address_of(records + lane / BYTES * EIGHT + lane % EIGHT))
                 : "memory");
}

/** Two matrices of bytes, transposed: 16 bytes of 32 records, in the order that signs() has. */
static __device__ __forceinline__ void load_bytes(const uint4 *records, int lane, uint32_t a[4])
{
    uint32_t p[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p[0]), "=r"(p[1]), "=r"(p[2]), "=r"(p[3])
                 : "r"(address_of(records + lane))
                 : "memory");
    a[0] = permute(p[0], p[1], 0x6420);
    a[1] = permute(p[0], p[1], 0x7531);
    a[2] = permute(p[2], p[3], 0x6420);
    a[3] = permute(p[2], p[3], 0x7531);
}

/** Squared distances of eight candidates and two homes, less scale^2. w: what they begin with. */
static __device__ __forceinline__ void distances(uint4 a, float4 w, const uint32_t b[2],
                                                 float d[FOUR])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "f"(w.x), "f"(w.y),
          "f"(w.z), "f"(w.w));
}

/** Add the product of records' bytes and hits. */
static __device__ __forceinline__ void add_product(struct bytes *sum, const uint32_t a[4],
                                                   const uint32_t hits[2])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum->d[0]), "+r"(sum->d[1]), "+r"(sum->d[2]), "+r"(sum->d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(hits[0]), "r"(hits[1]));
}

/* ---------------------------------------------------------------------------------------- tile */

/** Which of four candidates do the rules reach? USUAL: alignment reaches as far as any, and as far
 *  as cohesion, whose hits are left out. @return the least of what tells, signs aside */
template <bool USUAL, typename real>
static __device__ __forceinline__ uint32_t judge(const party<real> &p, const float t[FOUR],
                                                 uint32_t least, uint32_t hits[KITH_RULES])
{
    if (USUAL) {
        const float far = p.beyond[KITH_SEPARATION];
        const uint32_t a = upper(t[0], t[1]), close_a = upper(t[0] + far, t[1] + far);
        const uint32_t b = upper(t[2], t[3]), close_b = upper(t[2] + far, t[3] + far);
        hits[KITH_ALIGNMENT] = signs(a, b);
        hits[KITH_SEPARATION] = signs(close_a, close_b);
        return lesser(lesser(least, products(a, close_a)), products(b, close_b));
    }
    const uint32_t one = 0x3f803f80;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const float far = p.beyond[rule];
        const uint32_t a = upper(t[0] + far, t[1] + far);
        const uint32_t b = upper(t[2] + far, t[3] + far);
        hits[rule] = signs(a, b);
        least = lesser(lesser(least, products(a, one)), products(b, one));
    }
    return least;
}

/** r2 by the definition, of a slot and a candidate of the listed segments. */
template <typename real>
static __device__ double exact(const struct kith__gpu_flight &f, const struct candidates<real> &c,
                               int64_t i, int32_t candidate)
{
    typedef definition<real> def;
    const record<real> *const all = (const record<real> *)f.here.r;
    const struct segment *s = c.segment;
    while (candidate >= s->end) {
        s++;
    }
    const record<real> other = all[candidate + s->from];
    const real ri[3] = {all[i].x, all[i].y, all[i].z};
    const real rj[3] = {other.x, other.y, other.z};
    real d[3];
    int32_t image[3];
    kith__unpack_shift(s->image, image);
    return (double)def::separation(def::box(f.sweep.grid.question), ri, rj, image, d);
}

/** A lane's tests of a pair of homes: each home's with the first half of the candidates, and with
 *  the second. */
struct verdicts {
    float t[PAIR * 2][FOUR];             /**< squared distances, less scale^2 */
    uint32_t hits[PAIR * 2][KITH_RULES]; /**< bytes of -1, else 0 */
};

/** Decide what is not clear by the definition. slot, candidate: of the lane's first test. Out of
 *  the way, as it is seldom called. */
template <typename real>
static __device__ __noinline__ void settle(const struct kith__gpu_flight &f,
                                           const struct candidates<real> &c, int64_t slot,
                                           int32_t candidate, struct verdicts *v)
{
    uint32_t unclear = 0;
    for (int k = 0; k < PAIR * 2 * FOUR; k++) {
        float least = in_no_reach;
        for (int rule = 0; rule < KITH_RULES; rule++) {
            const float t = v->t[k / FOUR][k % FOUR] + scale * scale * f.beyond[rule];
            least = fminf(least, fabsf(t));
        }
        unclear |= (uint32_t)(least <= c.band) << k;
    }
    for (; unclear != 0; unclear &= unclear - 1) {
        const int k = __ffs((int)unclear) - 1;
        const int part = k / FOUR, e = k % FOUR;
        const double r2 = exact(f, c, slot + k / EIGHT * EIGHT,
                                candidate + part % 2 * BYTES + e / 2 * EIGHT + e % 2);
        for (int rule = 0; rule < KITH_RULES; rule++) {
            const bool on = f.rules.radius[rule] > 0 && r2 <= f.square[rule];
            const uint32_t mask = 0xffu << EIGHT * e;
            v->hits[part][rule] = on ? v->hits[part][rule] | mask : v->hits[part][rule] & ~mask;
        }
    }
}

/** Is one of two such halves within a bound? */
static __device__ __forceinline__ bool is_unclear(uint32_t least, float band)
{
    return fminf(fabsf(__uint_as_float(least << 16)),
                 fabsf(__uint_as_float(least & 0xffff0000u))) <= band;
}

/** Test the tile's candidates, from number `base` on, and add the hits. */
template <typename real, bool USUAL>
static __device__ __forceinline__ void take_tile(const party<real> &p, const struct seats &seats,
                                                 int32_t base, struct looking *me)
{
    uint32_t b[FOUR][2], place[4], speed[4];
    load_halves(seats.r, p.lane, b);
    load_halves(seats.r + BYTES, p.lane, b + 2);
    load_bytes(seats.place, p.lane, place);
    load_bytes(seats.speed, p.lane, speed);
#pragma unroll
    for (int home = 0; home < HOMES; home += PAIR) {
        float d[FOUR][FOUR];
        struct verdicts v = {};
        uint32_t least = 0x7f007f00;
        const uint4 a = *(const uint4 *)p.c->a[home / PAIR][p.lane / 4][p.lane % 2];
        const float4 w = p.c->w[home / PAIR][p.lane / 4];
#pragma unroll
        for (int k = 0; k < FOUR; k++) {
            distances(a, w, b[k], d[k]);
        }
#pragma unroll
        for (int k = 0; k < PAIR * 2; k++) {
            for (int e = 0; e < FOUR; e++) {
                v.t[k][e] = d[k % 2 * 2 + e / 2][k / 2 * 2 + e % 2];
            }
            least = judge<USUAL>(p, v.t[k], least, v.hits[k]);
        }
        if (is_unclear(least, p.clear)) {
            struct verdicts settled = v; /* in memory, as v is not to be */
            settle(*p.f, *p.c, p.first + home * EIGHT + p.lane / 4, base + p.lane % 4 * 2,
                   &settled);
            v = settled;
        }
#pragma unroll
        for (int h = 0; h < PAIR; h++) {
            for (int rule = 0; rule < KITH_RULES; rule++) {
                const int whose = USUAL && rule == KITH_COHESION ? KITH_ALIGNMENT : rule;
                const uint32_t both[2] = {v.hits[h * 2][whose], v.hits[h * 2 + 1][whose]};
                add_product(&me->sum[home + h][rule], rule == KITH_ALIGNMENT ? speed : place, both);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------- sums */

/** Four sums of bytes as one of numbers. */
static __device__ __forceinline__ int64_t put_together(const int32_t bytes[BYTES][COLUMNS],
                                                       int lane, int first)
{
    const int32_t low = bytes[first][lane] + bytes[first + 1][lane] * 256;
    const int32_t high = bytes[first + 2][lane] + bytes[first + 3][lane] * 256;
    return low + (int64_t)high * 65536;
}

/** Add the party's sums of bytes to the particles', and empty them. own: where a lane's particle
 *  is, from the one at the origin. */
template <typename real>
static __device__ __forceinline__ void add_up(const party<real> &p, const int32_t own[3],
                                              struct looking *me)
{
    struct candidates<real> *c = p.c;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        sync_warp();
#pragma unroll
        for (int home = 0; home < HOMES; home++) {
            int32_t *const d = me->sum[home][rule].d;
            int32_t *const to = &c->bytes[p.lane / 4 * 2][home * EIGHT + p.lane % 4 * 2];
            *(int2 *)to = make_int2(d[0], d[1]);
            *(int2 *)(to + COLUMNS) = make_int2(d[2], d[3]);
            d[0] = d[1] = d[2] = d[3] = 0;
        }
        sync_warp();
        const int32_t n = -c->bytes[3 * 4][p.lane];
        c->n[rule][p.lane] += n;
        for (int k = 0; k < 3; k++) {
            const int64_t from = ((int64_t)1 << 31) + (rule == KITH_ALIGNMENT ? 0 : own[k]);
            c->sum[rule][k][p.lane] += -put_together(c->bytes, p.lane, 4 * k) - n * from;
        }
    }
    sync_warp();
}

#endif
