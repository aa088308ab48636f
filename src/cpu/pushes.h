/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What forces add to histograms: with each pair that is counted, its push (push.h). Positions and
 * forces of a tile's candidates are gathered once, for all particles of its home. Included by
 * kernel.c.
 */
#ifndef KITH_CPU_PUSHES_H
#define KITH_CPU_PUSHES_H

#include "bins.h"
#include "tile.h"

enum { KITH_PUSHES = 256, GROUP = 4 }; /* found at once; pairs that take steps together */

/** Where a batch is in the rows of hits. */
struct cursor {
    const struct kith__row *row;
    int64_t end; /* first hit after the row */
};

/** Go to the row of the batch's hit k; the batch begins at hit `first`.
 *  @return the batch's first hit after the row, at most n */
static inline int part_of_row(struct cursor *at, int64_t first, int k, int n)
{
    for (; at->end <= first + k; at->end += at->row->n) {
        at->row++;
    }
    return at->end - first < n ? (int)(at->end - first) : n;
}

/** Gather the tile's candidates, moved to their images. */
static void load_pushes(struct kith__sweep *sweep)
{
    const struct kith__tile *tile = &sweep->tile;
    const double(*row)[3] = sweep->question->box_d.row;
    const double(*from)[KITH_PUSHED] = sweep->scale->pushed[1];
    double(*to)[KITH_PUSHED] = kith__buffer_need(&sweep->pushed_memory,
                                                 ((size_t)tile->n + 1) * sizeof *to);
    sweep->pushed = to;
    sweep->no_memory = sweep->no_memory || !to;
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

/** p and r2 of n pairs. */
struct products {
    double p[KITH_PUSHES + GROUP], r2[KITH_PUSHES + GROUP];
};

typedef double group __attribute__((vector_size(GROUP * sizeof(double))));

/** (x + y) + z of each of four vectors; their last numbers do not matter. */
KITH_INLINE void add_components(const group v[GROUP], double *to)
{
    const group x01 = {v[0][0], v[1][0], v[0][2], v[1][2]};
    const group x23 = {v[2][0], v[3][0], v[2][2], v[3][2]};
    const group y01 = {v[0][1], v[1][1], v[0][3], v[1][3]};
    const group y23 = {v[2][1], v[3][1], v[2][3], v[3][3]};
    const group sum01 = x01 + y01, sum23 = x23 + y23;
    const group sum = (group){sum01[0], sum01[1], sum23[0], sum23[1]} +
                      (group){x01[2], x01[3], x23[2], x23[3]};
    memcpy(to, &sum, sizeof sum);
}

/** Those of a particle with some hits; GROUP - 1 more are overwritten. */
KITH_INLINE void find_products(const double own[KITH_PUSHED], const double (*pushed)[KITH_PUSHED],
                               int n, const int32_t *place, double *p, double *r2)
{
    const group here = {own[0], own[1], own[2]}, force = {own[3], own[4], own[5]};
    for (int k = 0; k < n; k += GROUP) {
        group square[GROUP], push[GROUP];
        for (int l = 0; l < GROUP; l++) {
            const double *const j = pushed[k + l < n ? place[k + l] : place[k]];
            group d, f;
            memcpy(&d, j, sizeof d);
            memcpy(&f, j + 3, sizeof f);
            d -= here;
            square[l] = d * d;
            push[l] = (f - force) * d;
        }
        add_components(square, r2 + k);
        add_components(push, p + k);
    }
}

KITH_INLINE void find_terms(const struct kith__scale *scale, int n, const struct products *pair,
                            const int32_t *restrict counter, int dim,
                            int64_t (*restrict to)[KITH_PUSHES])
{
    const struct kith__push_units units = scale->rdf->push;
    const double *restrict over = scale->push_over;
    for (int l = 0; l < n; l++) {
        int64_t term[2];
        kith__push_terms(&units, over[counter[l]], dim, pair->p[l], pair->r2[l], term);
        to[0][l] = term[0];
        to[1][l] = term[1];
    }
}

/** The products of batch hits [k, end), k the first in `pair`. What is left out pushes nothing. */
static void load_products(struct kith__sweep *sweep, struct cursor *at, int64_t first, int k,
                          int end, struct products *pair)
{
    const struct kith__scale *scale = sweep->scale;
    const int32_t *place = sweep->hit_id + first;
    for (int begin = k; begin < end;) {
        const int to = part_of_row(at, first, begin, end);
        find_products(scale->pushed[0][at->row->slot], (const double(*)[KITH_PUSHED])sweep->pushed,
                      to - begin, place + begin, pair->p + (begin - k), pair->r2 + (begin - k));
        for (int l = begin; l < to && !scale->plain; l++) {
            if (kith__is_left_out(scale->rdf, sweep->question->cross, at->row->id,
                                  sweep->tile.id[place[l]])) {
                pair->p[l - k] = 0;
            }
        }
        begin = to;
    }
}

/** Add the pushes of a batch's n hits, which begin at hit `first`, to their counters. */
static void add_pushes(struct kith__sweep *sweep, struct cursor *at, int64_t first, int n,
                       const int32_t *counter)
{
    const struct kith__scale *scale = sweep->scale;
    struct kith__tally *tally = &sweep->tally;
    struct products pair;
    int64_t term[2][KITH_PUSHES];
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
        for (int l = 0; l < many; l++) {
            tally->fine_pushes[counter[k + l]][0] += term[0][l];
            tally->fine_pushes[counter[k + l]][1] += term[1][l];
        }
    }
}

#endif
