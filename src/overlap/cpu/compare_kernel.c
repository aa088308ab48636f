/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of blocks of replicas (matrix multiplication), whose histogram is made while they are in
 * the cache. compare.h defines panels, blocks and tasks. Compiled once for each instruction set;
 * engine/cpu/lanes.h has the vector types.
 */
#include "compare.h"

#include <string.h>

#include "engine/cpu/lanes.h"
#include "engine/pieces.h"

/* VECTOR: bytes of a vector. ROWS, VECTORS: rows, and vectors of columns, of the part of a matrix
 * product that is kept in registers: ROWS * VECTORS sums, VECTORS right factors and one left factor
 * fit the 32 registers of AVX-512, or the 16 of AVX2 and SSE2. */
enum { VECTOR = 4 * W, ROWS = W == 16 ? 8 : 6, VECTORS = W == 16 ? 3 : 2 };

/* a * b + c: with one rounding in the versions for AVX-512 and AVX2, else with two. */
#if defined(__AVX512F__)
#define multiply_add_f(a, b, c) ((vector_f)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define multiply_add_d(a, b, c) \
    ((vector_d)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif defined(__AVX2__)
#define multiply_add_f(a, b, c) ((vector_f)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define multiply_add_d(a, b, c) \
    ((vector_d)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#else
#define multiply_add_f(a, b, c) ((a) * (b) + (c))
#define multiply_add_d(a, b, c) ((a) * (b) + (c))
#endif

/** Return the counter of replicas i and j by the definition. @param c  their product, used if
 *  products are exact */
static int32_t resolve(const struct kith__overlap *o, int64_t i, int64_t j, double c)
{
    const double s = o->exact ? c : kith__overlap_product(o, i, j);
    const double value = kith__overlap_value(o->measure, s, o->square[i], o->square[j]);
    return kith__overlap_counter(o->edges, (int32_t)o->bins, o->low, o->width, value);
}

/** Population count: return the number of bits set in a word; without an instruction for it, by
 *  adding pairs, nibbles, then bytes in parallel. */
static inline int64_t count_bits(uint64_t word)
{
#if defined(__POPCNT__)
    return __builtin_popcountll(word);
#else
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int64_t)(word * 0x0101010101010101u >> 56);
#endif
}

/** Return the number of unequal spins of two rows. */
static inline int64_t count_differing(const uint64_t *x, const uint64_t *y, int64_t words)
{
    int64_t differ = 0;
    for (int64_t k = 0; k < words; k++) {
        differ += count_bits(x[k] ^ y[k]);
    }
    return differ;
}

/** Return the number of replicas of block B. */
static inline int64_t members(const struct kith__overlap *o, int64_t B)
{
    const int64_t left = o->n - B * KITH_COMPARE_BLOCK;
    return left < KITH_COMPARE_BLOCK ? left : KITH_COMPARE_BLOCK;
}

#define KITH_PER_PRECISION "overlap/cpu/compare_real.h"
#include "core/per_precision.h"

/** Count all pairs of blocks I <= J of spins; of a block with itself, each pair once. Returns early
 *  when the call is to stop. */
static void count_block_bits(const struct kith__compare *compare, struct kith__compare_own *own,
                             int64_t I, int64_t J)
{
    const struct kith__overlap *o = compare->overlap;
    const uint64_t *rows = o->rows;
    const int64_t size = o->bins + 2;
    for (int64_t i = 0; i < members(o, I) && !kith__cancelled(compare->ctx); i++) {
        const uint64_t *x = rows + (I * KITH_COMPARE_BLOCK + i) * o->stride;
        for (int64_t j = I == J ? i + 1 : 0; j < members(o, J); j++) {
            const uint64_t *y = rows + (J * KITH_COMPARE_BLOCK + j) * o->stride;
            const int64_t counter = o->table[count_differing(x, y, o->stride)];
            own->counts[(j & (compare->copies - 1)) * size + counter]++;
        }
    }
}

void KITH_OF_ISA(compare)(struct kith__sweep *sweep, int64_t task)
{
    const struct kith__compare *compare = sweep->job;
    struct kith__compare_own *own = &compare->own[sweep - compare->sweeps];
    int64_t I, J;
    kith__triangle_entry(task, &I, &J);
    if (compare->overlap->type == KITH_BITS) {
        count_block_bits(compare, own, I, J);
    } else if (compare->precision == KITH_FLOAT) {
        count_block_f(compare, own, I, J);
    } else {
        count_block_d(compare, own, I, J);
    }
}
