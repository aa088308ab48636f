/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests and sums of a tile of 32 candidates j and an i-cluster of up to 32 particles i, by the
 * matrix unit (mma of the PTX manual, whose layouts of matrices in lanes are used below). Each lane
 * of a warp has a particle, which is replaced by padding where it is not in the i-cluster. The 32
 * particles are divided into four homes of eight. Lane 4g + t receives the distances of candidates
 * 2t and 2t + 1 of each eight from particle g of a home, which is the layout in which the matrix
 * unit reads the hits. One product takes a pair of homes.
 *
 * A squared distance is |i|^2 + |j|^2 - 2 i.j. Factors are halves, numbers of 11 bits: a coordinate
 * is split into two of them, the rounded number and the remainder, and so is |j|^2; |i|^2 less the
 * squared cutoff is the initial value of the sum. Lengths are scaled, `scale` to a cutoff, so that
 * it does not matter that the matrix unit may take denormal halves for 0. The 16 terms of a product
 * are the four numbers and the four remainders of j times the numbers of i, then these eight times
 * the remainders of i.
 *
 * Hits are bytes: -1 for a hit, else 0. Neighbour sums are products of bytes too (flock_tiles.cu).
 */
#ifndef KITH_GPU_FLOCK_TILE_CUH
#define KITH_GPU_FLOCK_TILE_CUH

#include <cuda_fp16.h>

#include "flock_rows.cuh"

enum {
    TILE = 32,              /* candidates of a tile */
    FOUR = 4,               /* results of a lane in one product */
    EIGHT = 8,              /* particles of a home, and candidates of a product */
    HOMES = LANES / EIGHT,  /* homes of an i-cluster */
    PAIR = 2,               /* homes in one product */
    BYTES = 16,             /* bytes of a record of integers; also candidates of a load */
    COLUMNS = LANES + FOUR, /* row length of a table of sums: avoids bank conflicts */
    TILE_WARPS = 2,         /* warps of a block */
    TILE_THREADS = TILE_WARPS * LANES, /* threads of a block */
    MOST_HITS = 1 << 14 /* candidates after which sums of bytes are combined: one sum plus 256 times
                           another fits 32 bits then (put_together) */
};

static const float scale = 256;         /* units of a scaled length in one cutoff */
static const float square_part = 1024;  /* |j|^2 is divided by it to fit a half, and i has it as
                                           factor */
static const float farthest = 60000;    /* largest |j|^2 / square_part, which fits a half: more than
                                           57600, that of 30 cutoffs, which no neighbour reaches
                                           (sum_cluster in flock_tiles.cu) */
static const float in_no_reach = 4e30f; /* squared distance of a padding particle */

/** Records of a tile's candidates, as they are loaded asynchronously. */
template <typename real> struct stage {
    record<real> r[TILE], v[TILE]; /**< positions and velocities */
};

/** A tile's candidates as the matrix unit reads them. */
struct tile_records {
    uint4 r[TILE];     /**< as halves: x, y, z, |r|^2 / square_part, and the remainder of each
                            [scaled] */
    uint4 place[TILE]; /**< x, y, z: offset from the first particle of the i-cluster, plus 2^31
                            [units]; w: 1, so that hits are counted */
    uint4 speed[TILE]; /**< x, y, z: velocity, plus 2^31 [units]; w: 1 */
};

/** Consecutive candidates of one image. Candidates are numbered through all segments of a list. */
struct segment {
    int32_t end;    /**< number of the first candidate after the segment */
    int32_t from;   /**< number to add to that of a candidate, for its entry in `here` */
    int32_t image;  /**< periodic image; packed */
    int32_t unused; /**< padding to 16 bytes */
};

/** Shared memory of a warp. */
template <typename real> struct cluster_shared {
    struct stage<real> stage;            /**< candidates that are being loaded */
    struct tile_records tile_records[2]; /**< double buffer of tiles */
    /** [pair of homes][particle g of either home][even or odd lane]: left-hand factors of
     *  distances(). Halves, two to a word: -2x, -2y for even lanes, -2z, square_part for odd lanes.
     *  The four words are of the first home, of the second one, then their remainders. Lanes t and
     *  t + 2 have equal factors: for the numbers and for the remainders of candidates. */
    __align__(16) uint32_t a[HOMES / PAIR][EIGHT][2][FOUR];
    float4 w[HOMES / PAIR][EIGHT];     /**< |i|^2 - scale^2, twice, of a particle of either home:
                                            initial values of distances() */
    int32_t bytes[BYTES][COLUMNS];     /**< negated sum of each byte of the records, for each
                                            particle */
    struct segment segment[LANES];     /**< segments of candidates */
    int64_t sum[KITH_RULES][3][LANES]; /**< neighbour sums of the warp's particles [units] */
    int32_t n[KITH_RULES][LANES];      /**< numbers of neighbours */
    float band;                        /**< error bound of squared distances, with that of the
                                            definition [scaled^2] */
};

/** Negated sums of bytes of a rule and home, in lane 4g + t: of bytes 2g and 2g + 1 of the records,
 *  for particles 2t and 2t + 1 of the home. */
struct bytes {
    int32_t d[4]; /**< accumulators of the matrix unit */
};

/** An i-cluster: those of a warp's particles that are in one row of cells and near each other. */
template <typename real> struct i_cluster {
    const struct kith__gpu_flock_step *f; /**< the step */
    struct cluster_shared<real> *c;       /**< shared memory of the warp */
    int lane;                             /**< lane of this thread */
    int64_t first;                        /**< entry of the warp's first particle in `here` */
    int32_t x0, x1, y, z;                 /**< cells of the i-cluster: x0 to x1 of one row */
    real origin[3]; /**< position of the i-cluster's first particle [length] */
    float middle;   /**< centre along x, from the origin [scaled] */
    int3 place;     /**< position of the i-cluster's first particle, less 2^31 [units] */
    struct kith__gpu_quantizer velocities; /**< from velocities to units */
    float unit;                            /**< scale / cutoff */
    float clear;              /**< above this magnitude, what find_hits() returns means that no hit
                                   is borderline */
    float beyond[KITH_RULES]; /**< scale^2 - radius^2, 0 for the largest radius; huge where the rule
                                   is off [scaled^2] */
};

/** Accumulators of a lane. */
struct accumulators {
    struct bytes sum[HOMES][KITH_RULES]; /**< sums of bytes, of each home and rule */
};

/* ------------------------------------------------------------------------------- instructions */

/** Return four bytes of two words (PTX prmt): each hexadecimal digit of the selector, from the
 *  lowest on, is the number of a byte, 0 to 3 of a, 4 to 7 of b; plus 8: its sign, in all bits. */
static __device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}

/** Return two floats as bfloat16, rounded towards 0: their upper 16 bits. */
static __device__ __forceinline__ uint32_t upper(float a, float b)
{
    return permute(__float_as_uint(a), __float_as_uint(b), 0x7632);
}

/** Return the products of two pairs of bfloat16: by a fused multiply-add, as PTX has a product
 *  alone only from sm_90 on. Its addend of -0 changes no product, not even its sign. */
static __device__ __forceinline__ uint32_t products(uint32_t a, uint32_t b)
{
    uint32_t d;
    asm("{.reg .b32 z; mov.b32 z, 0x80008000; fma.rn.bf16x2 %0, %1, %2, z;}"
        : "=r"(d)
        : "r"(a), "r"(b));
    return d;
}

/** Return, of two pairs of bfloat16, the numbers of smaller magnitude; their signs are
 *  undefined. */
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

/** Return four bytes, for the pair a, then for b: -1 where a bfloat16 is negative, else 0. */
static __device__ __forceinline__ uint32_t signs(uint32_t a, uint32_t b)
{
    return permute(a, b, 0xfdb9);
}

/** Return the bits of two halves. */
static __device__ __forceinline__ uint32_t two_halves(__half2 h)
{
    uint32_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}

/** Return four floats as halves, in two words, and the remainders, what rounding to half has cut
 *  off, as halves, in two words. */
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

/** Return the address of records within shared memory, as cp.async and ldmatrix take it. */
static __device__ __forceinline__ uint32_t address_of(const uint4 *records)
{
    return (uint32_t)__cvta_generic_to_shared(records);
}

/** Load the halves of sixteen candidates, as two right-hand factors of distances(): of eight
 *  candidates each, with their eight halves twice.
 *  @param records  those of the first candidate */
static __device__ __forceinline__ void load_halves(const uint4 *records, int lane, uint32_t b[2][2])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0][0]), "=r"(b[0][1]), "=r"(b[1][0]), "=r"(b[1][1])
                 : "r"(address_of(records + lane / BYTES * EIGHT + lane % EIGHT))
                 : "memory");
}

/** Load 16 bytes of 32 records, transposed, as a left-hand factor of add_product(). A transposing
 *  load moves units of two bytes, so even and odd bytes are then separated; columns, the records,
 *  are put in the order of a lane's hits (struct verdicts): 2t, 2t + 1, 8 + 2t, 8 + 2t + 1. */
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

/** Compute the squared distances of eight candidates and the particles of two homes, less scale^2.
 *  @param a       factors of a particle of either home
 *  @param w       initial values
 *  @param b       factors of the candidates
 *  @param[out] d  of candidates 2t and 2t + 1: from particle g of the first home, then of the
 *  second */
static __device__ __forceinline__ void distances(uint4 a, float4 w, const uint32_t b[2],
                                                 float d[FOUR])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "f"(w.x), "f"(w.y),
          "f"(w.z), "f"(w.w));
}

/** Add the product of the records' bytes, unsigned, and the hits of a home, signed: 16 x 32 times
 *  32 x 8. A hit is -1, so the sums are negated. */
static __device__ __forceinline__ void add_product(struct bytes *sum, const uint32_t a[4],
                                                   const uint32_t hits[2])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum->d[0]), "+r"(sum->d[1]), "+r"(sum->d[2]), "+r"(sum->d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(hits[0]), "r"(hits[1]));
}

/* ---------------------------------------------------------------------------------------- tile */

/** Find the hits of four candidates, for each rule: r^2 - radius^2 is t + p.beyond, and negative
 *  for a hit. Also return, in reduced precision, how near to a radius the nearest candidates are.
 *  @tparam USUAL  kith__gpu_flock_step.usual: alignment and cohesion have the largest radius, whose
 *                 p.beyond is 0. Hits of cohesion are then those of alignment, and not set; and the
 *                 result is of the product of r^2 - radius^2 for the largest radius and for
 *                 separation: two tests in one
 *  @param t       squared distances, less scale^2 [scaled^2]
 *  @param least   result for other candidates, or two large numbers
 *  @param[out] hits  of each rule: four bytes
 *  @return the smallest |r^2 - radius^2|, or products of two, as two bfloat16 whose signs are
 *          undefined: when both are above p.clear, no hit is borderline */
template <bool USUAL, typename real>
static __device__ __forceinline__ uint32_t find_hits(const i_cluster<real> &p, const float t[FOUR],
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
    const uint32_t one = 0x3f803f80; /* two bfloat16 of 1, which change no factor */
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const float far = p.beyond[rule];
        const uint32_t a = upper(t[0] + far, t[1] + far);
        const uint32_t b = upper(t[2] + far, t[3] + far);
        hits[rule] = signs(a, b);
        least = lesser(lesser(least, products(a, one)), products(b, one));
    }
    return least;
}

/** Return the squared distance by the definition of a pair [length^2].
 *  @param i          entry of the particle in `here`
 *  @param candidate  number of the candidate in the list of segments */
template <typename real>
static __device__ double exact(const struct kith__gpu_flock_step &f,
                               const struct cluster_shared<real> &c, int64_t i, int32_t candidate)
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

/** Tests of one lane, 4g + t, for particle g of two homes: for each home those with the first
 *  sixteen candidates, and with the second. The four tests are of candidates 2t, 2t + 1, 8 + 2t and
 *  9 + 2t of the sixteen. */
struct verdicts {
    float t[PAIR * 2][FOUR];             /**< squared distances, less scale^2 */
    uint32_t hits[PAIR * 2][KITH_RULES]; /**< bytes of -1, else 0 */
};

/** Decide a lane's borderline tests, those within c.band, by the definition. Cold path, not
 *  inlined.
 *  @param slot       entry, in `here`, of the particle of the lane's first test
 *  @param candidate  number of the candidate of the lane's first test
 *  @param[in,out] v  the tests; hits of borderline ones are set for all rules */
template <typename real>
static __device__ __noinline__ void resolve(const struct kith__gpu_flock_step &f,
                                            const struct cluster_shared<real> &c, int64_t slot,
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
            const uint32_t mask = 0xffu << EIGHT * e; /* byte e, of eight bits */
            v->hits[part][rule] = on ? v->hits[part][rule] | mask : v->hits[part][rule] & ~mask;
        }
    }
}

/** Return true when one of two packed bfloat16 has an absolute value of at most `band`. */
static __device__ __forceinline__ bool is_unclear(uint32_t least, float band)
{
    return fminf(fabsf(__uint_as_float(least << 16)),
                 fabsf(__uint_as_float(least & 0xffff0000u))) <= band;
}

/** Test the tile's candidates, numbered from `base` on, and add the hits to the sums of bytes. */
template <typename real, bool USUAL>
static __device__ __forceinline__ void take_tile(const i_cluster<real> &p,
                                                 const struct tile_records &tile_records,
                                                 int32_t base, struct accumulators *acc)
{
    uint32_t b[FOUR][2], place[4], speed[4];
    load_halves(tile_records.r, p.lane, b);
    load_halves(tile_records.r + BYTES, p.lane, b + 2);
    load_bytes(tile_records.place, p.lane, place);
    load_bytes(tile_records.speed, p.lane, speed);
#pragma unroll
    for (int home = 0; home < HOMES; home += PAIR) {
        float d[FOUR][FOUR];
        struct verdicts v = {};
        uint32_t least = 0x7f007f00; /* two bfloat16: 2^127 */
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
            least = find_hits<USUAL>(p, v.t[k], least, v.hits[k]);
        }
        if (is_unclear(least, p.clear)) {
            struct verdicts resolved = v; /* a copy in memory, so that v stays in registers */
            resolve(*p.f, *p.c, p.first + home * EIGHT + p.lane / 4, base + p.lane % 4 * 2,
                    &resolved);
            v = resolved;
        }
#pragma unroll
        for (int h = 0; h < PAIR; h++) {
            for (int rule = 0; rule < KITH_RULES; rule++) {
                const int whose = USUAL && rule == KITH_COHESION ? KITH_ALIGNMENT : rule;
                const uint32_t both[2] = {v.hits[h * 2][whose], v.hits[h * 2 + 1][whose]};
                add_product(&acc->sum[home + h][rule], rule == KITH_ALIGNMENT ? speed : place,
                            both);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------- sums */

/** Return the sum of 32-bit numbers from the sums of their four bytes.
 *  @param lane   the particle
 *  @param first  lowest byte */
static __device__ __forceinline__ int64_t put_together(const int32_t bytes[BYTES][COLUMNS],
                                                       int lane, int first)
{
    const int32_t low = bytes[first][lane] + bytes[first + 1][lane] * 256;
    const int32_t high = bytes[first + 2][lane] + bytes[first + 3][lane] * 256;
    return low + (int64_t)high * 65536;
}

/** Add the sums of bytes to the neighbour sums of the warp's particles, and zero them. The records
 *  have 2^31 added to each number, which is subtracted n times here, n being the sum of byte 12,
 *  which is 1; of positions also `own`, so that offsets are from the particle itself.
 *  @param own  offset of this lane's particle from the first of the i-cluster [units] */
template <typename real>
static __device__ __forceinline__ void add_up(const i_cluster<real> &p, const int32_t own[3],
                                              struct accumulators *acc)
{
    struct cluster_shared<real> *c = p.c;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        sync_warp();
#pragma unroll
        for (int home = 0; home < HOMES; home++) {
            int32_t *const d = acc->sum[home][rule].d;
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
