/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of a block of four pairs in double: r^2 and p = (F_j - F_i).d, from the records of their
 * particles, which are position x, y, z, 0, then force x, y, z, 0. There is a version for AVX-512,
 * and one for all other instruction sets, with one interface: record_load, record_products and
 * block_sums. Both round alike: squares and products first, then (x + y) + z. pair_forces.h uses
 * them.
 */
#ifndef KITH_CPU_PAIR_BLOCK_H
#define KITH_CPU_PAIR_BLOCK_H

#include "engine/cpu/simd.h"

enum { PAIR_BLOCK = 4 }; /* pairs of a block */
typedef double block_vector __attribute__((vector_size(8 * PAIR_BLOCK)));

#if defined(__AVX512F__)
/** Position and force of a particle (KITH_FORCE_RECORD), or products of a pair. */
typedef struct {
    __m512d both; /**< position x, y, z, 0, force x, y, z, 0; or their products */
} record_vectors;
/** Load the record of a particle. */
static inline record_vectors record_load(const double *record)
{
    return (record_vectors){_mm512_loadu_pd(record)};
}
/** Return the products of a pair along each axis: d d, and force difference times d. Both
 *  differences are i less j, instead of j less i: the signs cancel in the products.
 *  @param i  record of particle i
 *  @param j  [8] record of particle j in memory */
static inline record_vectors record_products(record_vectors i, const double *j)
{
    const __m512d d = _mm512_sub_pd(i.both, _mm512_loadu_pd(j));
    /* the shuffle repeats the difference of positions in both halves */
    return (record_vectors){_mm512_mul_pd(d, _mm512_shuffle_f64x2(d, d, 0x44))};
}
/** Compute r^2 and p of the pairs of a block: (x + y) + z of their products. Transposes the four
 *  pairs a, b, c, d by unpacking and shuffling, as sums across a vector are slow. */
static inline void block_sums(const record_vectors v[PAIR_BLOCK], double r2[PAIR_BLOCK],
                              double p[PAIR_BLOCK])
{
    const __m512d a = v[0].both, b = v[1].both, c = v[2].both, d = v[3].both;
    /* in each half, for r^2 and for p: xa xb za zb, and ya yb 0 0; then for c and d */
    const __m512d x = _mm512_unpacklo_pd(a, b), y = _mm512_unpackhi_pd(a, b);
    const __m512d s = _mm512_unpacklo_pd(c, d), t = _mm512_unpackhi_pd(c, d);
    /* x + y of r^2 of a and b, of p of a and b, of r^2 of c and d, of p of c and d */
    const __m512d two = _mm512_shuffle_f64x2(_mm512_add_pd(x, y), _mm512_add_pd(s, t), 0x88);
    const __m512d sums = _mm512_add_pd(two, _mm512_shuffle_f64x2(x, s, 0xdd));
    /* from the order of `two` to r^2 of a, b, c, d, then p of a, b, c, d */
    const __m512d sorted = _mm512_shuffle_f64x2(sums, sums, 0xd8);
    _mm256_storeu_pd(r2, _mm512_castpd512_pd256(sorted));
    _mm256_storeu_pd(p, _mm512_extractf64x4_pd(sorted, 1));
}
#else
/* The interface of the version for AVX-512. */
typedef struct {
    block_vector position, force; /**< x, y, z, 0 each; or their products */
} record_vectors;
static inline record_vectors record_load(const double *record)
{
    record_vectors v;
    memcpy(&v.position, record, sizeof v.position);
    memcpy(&v.force, record + PAIR_BLOCK, sizeof v.force); /* numbers 4 to 7 of the record */
    return v;
}
static inline record_vectors record_products(record_vectors i, const double *j)
{
    const record_vectors v = record_load(j);
    const block_vector d = i.position - v.position;
    return (record_vectors){d * d, (i.force - v.force) * d};
}
/** Store (x + y) + z of each of the four vectors of a block. */
static inline void store_block_sums(double to[PAIR_BLOCK], const block_vector v[PAIR_BLOCK])
{
#if defined(__AVX2__)
    const __m256d a = (__m256d)v[0], b = (__m256d)v[1], c = (__m256d)v[2], d = (__m256d)v[3];
    /* xa xb za zb, and ya yb 0 0; then for c and d */
    const __m256d x = _mm256_unpacklo_pd(a, b), y = _mm256_unpackhi_pd(a, b);
    const __m256d s = _mm256_unpacklo_pd(c, d), t = _mm256_unpackhi_pd(c, d);
    const __m256d two = _mm256_permute2f128_pd(_mm256_add_pd(x, y), _mm256_add_pd(s, t), 0x20);
    _mm256_storeu_pd(to, _mm256_add_pd(two, _mm256_permute2f128_pd(x, s, 0x31)));
#else
    for (int k = 0; k < PAIR_BLOCK; k++) {
        to[k] = (v[k][0] + v[k][1]) + v[k][2];
    }
#endif
}
static inline void block_sums(const record_vectors v[PAIR_BLOCK], double r2[PAIR_BLOCK],
                              double p[PAIR_BLOCK])
{
    const block_vector position[PAIR_BLOCK] = {v[0].position, v[1].position, v[2].position,
                                               v[3].position};
    const block_vector force[PAIR_BLOCK] = {v[0].force, v[1].force, v[2].force, v[3].force};
    store_block_sums(r2, position);
    store_block_sums(p, force);
}
#endif

#endif
