/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loops of a kept list (verlet_cpu.h has the terms): read the particles, find the bands of the
 * candidates, decide which candidates are pairs, write these. Loops go over the candidates of a
 * group of rows, 64 at a time, as the ends of short rows would be mispredicted branches. Compiled
 * for each instruction set: KITH_OF_ISA(name) is kith__name_baseline, kith__name_avx2, ...
 * (engine/cpu/isa.h). Vectors have W floats or integers, or D doubles (engine/cpu/simd.h).
 * O(n + candidates).
 */
#include "verlet_cpu.h"

#include <string.h>

#include "engine/cpu/lanes.h"

enum {
    PART = 64 /**< candidates, or particles, that are treated together: bits of a mask. A multiple
                   of W, and equal to KITH_VERLET_PAD */
};

/* kith__pack_shift of {0, 0, 0}. */
static const int32_t no_shift = 512 | 512 << 10 | 512 << 20;

/** A group of rows. */
struct group {
    int64_t first_row; /**< number of the first row */
    int64_t rows;      /**< number of rows */
    int64_t first;     /**< number of its first candidate in the kept list */
    int64_t n;         /**< number of candidates */
    bool shifted;      /**< the shifts now may be other than 0: some S0 is not 0, or particles
                            turned */
};

/** Return the description of a group.
 *  @param number  of the group */
static struct group group_of(const struct kith__verlet_loop *loop, int64_t number)
{
    const int64_t begin = number * KITH_VERLET_ROWS;
    const int64_t left = loop->question->a.n - begin;
    const int64_t rows = left < KITH_VERLET_ROWS ? left : KITH_VERLET_ROWS;
    return (struct group){.first_row = begin,
                          .rows = rows,
                          .first = loop->offsets[begin],
                          .n = loop->offsets[begin + rows] - loop->offsets[begin],
                          .shifted = !loop->plain[number] || loop->turn};
}

/** Set the row of each candidate of a group, by the row's number in the group. Blocks of PART are
 *  set, so that memset has a constant size; up to PART - 1 elements behind the last are
 *  overwritten.
 *  @param[out] row  [group->n + KITH_VERLET_PAD] */
static void set_rows(const struct kith__verlet_loop *loop, const struct group *group, uint8_t *row)
{
    for (int64_t i = 0; i < group->rows; i++) {
        const int64_t *offset = loop->offsets + group->first_row + i;
        const int64_t end = offset[1] - group->first;
        for (int64_t c = offset[0] - group->first; c < end; c += PART) {
            memset(row + c, (int)i, PART); /* elements behind the row are set by the next row */
        }
    }
}

/** Compress: store those of PART integers whose mask bits are set, without gaps. Up to W integers
 *  behind them are overwritten.
 *  @return the number of integers that were stored */
KITH_INLINE int compress(int32_t *to, const int32_t *from, uint64_t mask)
{
    int stored = 0;
    for (int k = 0; k < PART; k += W) {
        const unsigned lanes = (unsigned)(mask >> k) & ((1u << W) - 1);
        vi_compress(to + stored, vi_load(from + k), lanes);
        stored += __builtin_popcount(lanes);
    }
    return stored;
}

/** Compress the rows of PART candidates, as compress does, from bytes to integers.
 *  @param row        [PART] rows of the candidates, from 0 in the group
 *  @param first_row  first row of the group, added to them */
KITH_INLINE void compress_rows(int32_t *to, const uint8_t *row, int32_t first_row, uint64_t mask)
{
    for (int k = 0; k < PART; k += W) {
        const unsigned lanes = (unsigned)(mask >> k) & ((1u << W) - 1);
        vi_compress(to, vi_from_bytes(row + k) + first_row, lanes);
        to += __builtin_popcount(lanes);
    }
}

/** Arrays that candidates are appended to. */
struct ends {
    int32_t *i;     /**< particles of the rows; NULL, known at compile time: not needed */
    int32_t *j;     /**< the other particles */
    int32_t *shift; /**< packed shifts; NULL, known at compile time: not needed */
};

/** Append those of the candidates [c, c + PART) of a group whose mask bits are set. Elements
 *  [n, n + PART) of the arrays may be overwritten.
 *  @param mask    0 for candidates behind the last of the group
 *  @param row     [PART] rows of the candidates, from 0 in the group
 *  @param shifts  packed shifts of the group, S0
 *  @param n       number of elements that the arrays have before
 *  @param to      the arrays
 *  @return the number of candidates that were appended */
KITH_INLINE int append(const struct kith__verlet_loop *loop, const struct group *group, int64_t c,
                       uint64_t mask, const uint8_t *row, const int32_t *shifts, int64_t n,
                       const struct ends *to)
{
    const int32_t *j = loop->j + group->first + c;
    const int32_t *shift = shifts + c;
    int32_t last[2][PART];
    if (group->n - c < PART) { /* the kept list may end here: do not read beyond */
        memset(last, 0, sizeof last);
        memcpy(last[0], j, (size_t)(group->n - c) * sizeof *j);
        memcpy(last[1], shift, (size_t)(group->n - c) * sizeof *shift);
        j = last[0];
        shift = last[1];
    }
    if (to->i) {
        compress_rows(to->i + n, row, (int32_t)group->first_row, mask);
    }
    if (to->shift) {
        (void)compress(to->shift + n, shift, mask);
    }
    return compress(to->j + n, j, mask);
}

/** Complete n elements of the arrays of the hits: set the W elements behind them, which vectors
 *  read, and, where particles turned, compute the present shifts: S = S0 + v_i - v_j (verlet.h).
 *  Packed numbers are added as a whole, as no component leaves its 10 bits: |S0| is at most
 *  KITH_VERLET_MOST_SHIFT, and |v| at most KITH_VERLET_MOST_TURN. */
static void complete(const struct kith__verlet_loop *loop, int64_t n,
                     const struct kith__verlet_hits *hits)
{
    for (int64_t k = n; k < n + W; k++) {
        hits->i[k] = hits->j[k] = 0;
        hits->shift[k] = no_shift;
    }
    for (int64_t k = 0; k < n && loop->turn; k += W) {
        const vi own = vi_gather(loop->turn, vi_load(hits->i + k));
        const vi other = vi_gather(loop->turn, vi_load(hits->j + k));
        vi_store(hits->shift + k, vi_load(hits->shift + k) + (own - other));
    }
}

#define KITH_PER_PRECISION "verlet/cpu/verlet_load_real.h"
#include "core/per_precision.h"

void KITH_OF_ISA(verlet_load)(void *state, int64_t begin, int64_t end)
{
    struct kith__verlet_load *load = state;
    struct kith__verlet_load part = *load; /* results of these particles, merged below */
    part.bad = part.far = INT64_MAX;
    part.square = part.size = 0;
    part.lost = part.turned = false;
    if (load->plan->now.precision == KITH_FLOAT) {
        load_particles_f(&part, begin, end);
    } else {
        load_particles_d(&part, begin, end);
    }
    pthread_mutex_lock(&load->lock);
    load->bad = part.bad < load->bad ? part.bad : load->bad;
    load->far = part.far < load->far ? part.far : load->far;
    load->square = part.square > load->square ? part.square : load->square;
    load->size = part.size > load->size ? part.size : load->size;
    load->lost = load->lost || part.lost;
    load->turned = load->turned || part.turned;
    pthread_mutex_unlock(&load->lock);
}

#define KITH_PER_PRECISION "verlet/cpu/verlet_rows_real.h"
#include "core/per_precision.h"

void KITH_OF_ISA(verlet_classify)(const struct kith__verlet_loop *loop, int64_t number,
                                  struct kith__verlet_hits *hits)
{
    const struct group group = group_of(loop, number);
    const int32_t *shifts = kith__verlet_packed(loop->shifts, loop->offsets, number);
    set_rows(loop, &group, hits->row);
    if (loop->question->precision == KITH_FLOAT) {
        classify_f(loop, &group, shifts, hits->row);
    } else {
        classify_d(loop, &group, shifts, hits->row);
    }
}

/** Find by the bands which candidates of a group are pairs, hits->mask, and which need a test,
 *  hits->open, and append the latter to the arrays of the hits.
 *  @param shifts   packed shifts of the group
 *  @param shifted  known at compile time: group->shifted
 *  @return the number of candidates that need a test */
KITH_INLINE int64_t divide(const struct kith__verlet_loop *loop, const struct group *group,
                           const int32_t *shifts, bool shifted,
                           const struct kith__verlet_hits *hits)
{
    const int8_t *band = loop->band + group->first;
    const struct ends to = {hits->i, hits->j, shifted ? hits->shift : NULL};
    int64_t tests = 0;
    for (int64_t c = 0; c < group->n; c += PART) {
        const int64_t left = group->n - c;
        const uint64_t all = left < PART ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
        /* an `inner` below the first band is not an int8_t */
        const uint64_t near = loop->inner < KITH_VERLET_FIRST_BAND
                                  ? 0
                                  : all & bytes_to(band + c, (int8_t)loop->inner);
        const uint64_t open = all & ~near & bytes_to(band + c, (int8_t)loop->outer);
        hits->mask[c / PART] = near;
        hits->open[c / PART] = open;
        tests += append(loop, group, c, open, hits->row + c, shifts, tests, &to);
    }
    return tests;
}

/** Return 64 bits of a mask from bit number `at` on, which may be of two words. */
static inline uint64_t bits_from(const uint64_t *mask, int64_t at)
{
    const uint64_t *word = mask + at / 64;
    return at % 64 ? word[0] >> at % 64 | word[1] << (64 - at % 64) : word[0];
}

/** Add the candidates that passed their tests to the mask of pairs, hits->mask: bit k of
 *  hits->passed belongs to the k-th bit, from 0, that is set in hits->open.
 *  @return the number of pairs */
static int64_t unite(const struct group *group, const struct kith__verlet_hits *hits)
{
    int64_t tests = 0;
    int64_t n = 0;
    for (int64_t c = 0; c < group->n; c += PART) {
        const uint64_t open = hits->open[c / PART];
        hits->mask[c / PART] |= bits_at(bits_from(hits->passed, tests), open);
        tests += __builtin_popcountll(open);
        n += __builtin_popcountll(hits->mask[c / PART]);
    }
    return n;
}

bool KITH_OF_ISA(verlet_find)(const struct kith__verlet_loop *loop, int64_t number,
                              struct kith__verlet_hits *hits)
{
    const struct group group = group_of(loop, number);
    const int32_t *shifts = kith__verlet_packed(loop->shifts, loop->offsets, number);
    set_rows(loop, &group, hits->row);
    const int64_t tests = group.shifted ? divide(loop, &group, shifts, true, hits)
                                        : divide(loop, &group, shifts, false, hits);
    complete(loop, tests, hits);
    if (loop->question->precision == KITH_FLOAT) {
        test_f(loop, &group, tests, hits);
    } else {
        test_d(loop, &group, tests, hits);
    }
    hits->n = unite(&group, hits);
    return !kith__cancelled(loop->ctx);
}

/** Write the offsets of the rows of a group: the number of pairs before each row, by counting the
 *  bits of hits->mask before its first candidate.
 *  @param at  number of the group's first pair in the list */
static void write_offsets(const struct kith__verlet_loop *loop, const struct group *group,
                          const struct kith__verlet_hits *hits, int64_t at)
{
    int64_t word = 0;
    int64_t before = 0; /* pairs in earlier words */
    for (int64_t i = group->first_row; i < group->first_row + group->rows; i++) {
        const int64_t c = loop->offsets[i] - group->first;
        for (; word < c / PART; word++) {
            before += __builtin_popcountll(hits->mask[word]);
        }
        const uint64_t below = c % PART ? hits->mask[word] & (((uint64_t)1 << c % PART) - 1) : 0;
        loop->out->offsets[i] = at + before + __builtin_popcountll(below);
    }
}

/** Write the pairs of a group, the bits of hits->mask, to arrays.
 *  @param shifts  packed shifts of the group, S0
 *  @param padded  known at compile time. true: PART elements behind the pairs may be overwritten;
 *                 false: other threads write there, so the last pairs are copied from a buffer
 *  @param to      the arrays; without `padded` their `shift` is NULL */
KITH_INLINE void write_pairs(const struct kith__verlet_loop *loop, const struct group *group,
                             const int32_t *shifts, const struct kith__verlet_hits *hits,
                             bool padded, const struct ends *to)
{
    int64_t n = 0;
    for (int64_t c = 0; c < group->n; c += PART) {
        const uint64_t mask = hits->mask[c / PART];
        if (padded || n + PART <= hits->n) {
            n += append(loop, group, c, mask, hits->row + c, shifts, n, to);
            continue;
        }
        int32_t i[PART + W];
        int32_t j[PART + W];
        const struct ends last = {to->i ? i : NULL, j, NULL};
        const int more = append(loop, group, c, mask, hits->row + c, shifts, 0, &last);
        memcpy(to->j + n, j, (size_t)more * sizeof *j);
        if (to->i) {
            memcpy(to->i + n, i, (size_t)more * sizeof *i);
        }
        n += more;
    }
}

/** Write the pairs of a group with their extras, from pair `at` of the list on. The pairs are first
 *  stored in the arrays of the hits, from which the extras are computed. */
static void write_with_extras(const struct kith__verlet_loop *loop, const struct group *group,
                              const int32_t *shifts, const struct kith__verlet_hits *hits,
                              int64_t at)
{
    const kith_pairs *out = loop->out;
    const size_t bytes = (size_t)hits->n * sizeof *out->j;
    const struct ends to = {hits->i, hits->j, hits->shift};
    write_pairs(loop, group, shifts, hits, true, &to);
    complete(loop, hits->n, hits);
    memcpy(out->j + at, hits->j, bytes);
    if (out->i) {
        memcpy(out->i + at, hits->i, bytes);
    }
    if (loop->question->precision == KITH_FLOAT) {
        write_extras_f(loop, group, hits, at);
    } else {
        write_extras_d(loop, group, hits, at);
    }
}

void KITH_OF_ISA(verlet_write)(const struct kith__verlet_loop *loop, int64_t number,
                               const struct kith__verlet_hits *hits, int64_t at)
{
    const kith_pairs *out = loop->out;
    const struct group group = group_of(loop, number);
    const int32_t *shifts = kith__verlet_packed(loop->shifts, loop->offsets, number);
    if (out->offsets) {
        write_offsets(loop, &group, hits, at);
    }
    if (hits->n == 0) {
        return;
    }
    if (loop->extras) {
        write_with_extras(loop, &group, shifts, hits, at);
    } else if (out->i) {
        write_pairs(loop, &group, shifts, hits, false,
                    &(struct ends){out->i + at, out->j + at, NULL});
    } else {
        write_pairs(loop, &group, shifts, hits, false, &(struct ends){NULL, out->j + at, NULL});
    }
}
