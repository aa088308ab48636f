/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair-force sums on CPU cores (push.h): computed for each pair that is counted. Positions and
 * forces of a tile's candidates are gathered once for all particles of its home. Included by
 * tally_kernel.c.
 */
#ifndef KITH_CPU_PUSHES_H
#define KITH_CPU_PUSHES_H

#include "bins.h"
#include "four.h"
#include "engine/cpu/tile.h"

enum { KITH_PUSHES = 256 }; /* pairs whose terms are computed together */

/** Position of a batch in the list of rows of hits. */
struct cursor {
    const struct kith__row *row; /**< row of the next hit */
    int64_t end;                 /**< first hit after that row */
};

/** Advance to the row of hit k of a batch that begins with hit `first`.
 *  @return the first hit of the batch after that row, at most n */
static inline int part_of_row(struct cursor *at, int64_t first, int k, int n)
{
    for (; at->end <= first + k; at->end += at->row->n) {
        at->row++;
    }
    return at->end - first < n ? (int)(at->end - first) : n;
}

/** Gather the records of a tile's candidates, shifted to their images, in tally->near. */
static void load_pushes(struct kith__sweep *sweep)
{
    struct kith__tally *tally = kith__tally_of(sweep);
    const struct kith__tile *tile = &sweep->tile;
    const double(*row)[3] = sweep->question->box_d.row;
    const double(*from)[KITH_PUSHED] = tally->scale->pushed[1];
    double(*to)[KITH_PUSHED] = kith__buffer_need(&sweep->memory[KITH_SWEEP_OWN_TILE],
                                                 ((size_t)tile->n + 1) * sizeof *to);
    tally->near = to;
    if (!to) {
        sweep->failed = KITH_NO_MEMORY;
    }
    for (int k = 0; k < tile->n && to; k++) {
        memcpy(to[k], from[tile->slot[k]], sizeof *to);
    }
    for (int k = 0; k < tile->n && to && tile->shifted; k++) {
        int32_t s[3];
        kith__unpack_shift(tile->shift[k], s);
        for (int m = 0; m < 3; m++) {
            to[k][m] += s[2] * row[2][m] + s[1] * row[1][m] + s[0] * row[0][m];
        }
    }
}

/** p = (F_j - F_i).d and r^2 of some pairs. */
struct products {
    double p[KITH_PUSHES + FOUR];  /**< [force length] */
    double r2[KITH_PUSHES + FOUR]; /**< [length^2] */
};

/** p and r^2 of a particle with n hits. Reads and writes up to FOUR - 1 entries beyond n.
 *  @param place  [n + FOUR - 1] index of each hit in the tile */
KITH_INLINE void find_products(const double own[KITH_PUSHED], const double (*pushed)[KITH_PUSHED],
                               int n, const int32_t *place, double *p, double *r2)
{
    const pushed_vectors i = pushed_load(own);
    for (int k = 0; k < n; k += FOUR) {
        pushed_vectors product[FOUR];
        for (int l = 0; l < FOUR; l++) {
            product[l] = pushed_products(i, pushed[(uint32_t)place[k + l]]);
        }
        pushed_sums(product, r2 + k, p + k);
    }
}

/** Terms of n pairs in fixed point. @param counter  [n] counters of the pairs */
KITH_INLINE void find_terms(const struct kith__scale *scale, int n, const struct products *pair,
                            const int32_t *restrict counter, int dim, int64_t (*restrict to)[2])
{
    const struct kith__push_units units = scale->rdf->push;
    const double *restrict over = scale->push_over;
    for (int l = 0; l < n; l++) {
        kith__push_terms(&units, over[counter[l]], dim, pair->p[l], pair->r2[l], to[l]);
    }
}

/** Compute the products of hits [k, end) of a batch. Pairs that are left out have p = 0. */
static void load_products(struct kith__sweep *sweep, struct cursor *at, int64_t first, int k,
                          int end, struct products *pair)
{
    const struct kith__scale *scale = kith__tally_of(sweep)->scale;
    const int32_t *place = sweep->hit_id + first;
    for (int begin = k; begin < end;) {
        const int to = part_of_row(at, first, begin, end);
        find_products(scale->pushed[0][at->row->slot],
                      (const double(*)[KITH_PUSHED])kith__tally_of(sweep)->near, to - begin,
                      place + begin, pair->p + (begin - k), pair->r2 + (begin - k));
        for (int l = begin; l < to && !scale->plain; l++) {
            if (kith__is_left_out(scale->rdf, sweep->question->cross, at->row->id,
                                  sweep->tile.id[place[l]])) {
                pair->p[l - k] = 0;
            }
        }
        begin = to;
    }
}

/** Add the pair forces of n hits, from hit `first` on, to their counters. */
static void add_pushes(struct kith__sweep *sweep, struct cursor *at, int64_t first, int n,
                       const int32_t *counter)
{
    const struct kith__scale *scale = kith__tally_of(sweep)->scale;
    struct kith__tally *tally = kith__tally_of(sweep);
    struct products pair;
    int64_t term[KITH_PUSHES][2];
    tally->pushed += n;
    if (tally->pushed > KITH_PUSH_TERMS) {
        kith__tally_flush_pushes(scale, tally);
        tally->pushed = n;
    }
    for (int k = 0; k < n; k += KITH_PUSHES) {
        const int many = n - k < KITH_PUSHES ? n - k : KITH_PUSHES;
        load_products(sweep, at, first, k, k + many, &pair);
        if (scale->rdf->dim == 3) {
            find_terms(scale, many, &pair, counter + k, 3, term);
        } else {
            find_terms(scale, many, &pair, counter + k, 2, term);
        }
#pragma GCC unroll 4
        for (int l = 0; l < many; l++) {
            int64_t *const to = tally->fine_pushes[(uint32_t)counter[k + l]];
            to[0] += term[l][0];
            to[1] += term[l][1];
        }
    }
}

#endif
