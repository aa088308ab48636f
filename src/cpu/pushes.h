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

enum { KITH_PUSHES = 256 }; /* found at once */

/** One coordinate of a place in the grid. */
static inline double coordinate(const struct kith__sweep *sweep, const void *from, int64_t slot)
{
    return sweep->question->precision == KITH_FLOAT ? (double)((const float *)from)[slot]
                                                    : ((const double *)from)[slot];
}

/** Gather positions, images moved, and forces of the tile's candidates. */
static void load_pushes(struct kith__sweep *sweep)
{
    const struct kith__tile *tile = &sweep->tile;
    const struct kith__sorted *b = &sweep->grid->b;
    const void *const xyz[3] = {b->x, b->y, b->z};
    const double(*row)[3] = sweep->question->box_d.row;
    const double(*force)[3] = sweep->scale->forces[1];
    double(*to)[KITH_PUSHED] = kith__buffer_need(&sweep->pushed_memory,
                                                 ((size_t)tile->n + 1) * sizeof *to);
    sweep->pushed = to;
    sweep->no_memory = sweep->no_memory || !to;
    for (int k = 0; k < tile->n && to; k++) {
        const int64_t slot = tile->slot[k];
        int32_t s[3];
        kith__unpack_shift(tile_shift(sweep, k), s);
        for (int m = 0; m < 3; m++) {
            const double moved = s[2] * row[2][m] + s[1] * row[1][m] + s[0] * row[0][m];
            to[k][m] = coordinate(sweep, xyz[m], slot) + moved;
            to[k][3 + m] = force[slot][m];
        }
    }
}

/** Terms of some hits with particle i, whose position and force are `own`. */
KITH_INLINE void find_pushes(const struct kith__sweep *sweep, const double own[KITH_PUSHED], int n,
                             const int32_t *restrict place, const int32_t *restrict counter,
                             int dim, int64_t (*restrict to)[KITH_PUSHES])
{
    const struct kith__push_units units = sweep->scale->rdf->push;
    const double *restrict pushed = sweep->pushed[0];
    const double *restrict over = sweep->scale->push_over;
    for (int l = 0; l < n; l++) {
        const int32_t j = KITH_PUSHED * place[l];
        const double d[3] = {pushed[j] - own[0], pushed[j + 1] - own[1], pushed[j + 2] - own[2]};
        const double force[3] = {pushed[j + 3] - own[3], pushed[j + 4] - own[4],
                                 pushed[j + 5] - own[5]};
        int64_t term[2];
        kith__push(&units, over[counter[l]], dim, d, force, term);
        to[0][l] = term[0];
        to[1][l] = term[1];
    }
}

/** Add the pushes of n hits of a row, KITH_PUSHES at most, to their counters. */
static void add_pushes(struct kith__sweep *sweep, const struct kith__row *row, int n,
                       const int32_t *place, const int32_t *counter)
{
    const struct kith__rdf *rdf = sweep->scale->rdf;
    const struct kith__sorted *a = &sweep->grid->a;
    struct kith__tally *tally = &sweep->tally;
    const void *const xyz[3] = {a->x, a->y, a->z};
    double own[KITH_PUSHED];
    for (int k = 0; k < 3; k++) {
        own[k] = coordinate(sweep, xyz[k], row->slot);
        own[3 + k] = sweep->scale->forces[0][row->slot][k];
    }
    int64_t term[2][KITH_PUSHES];
    if (rdf->dim == 3) {
        find_pushes(sweep, own, n, place, counter, 3, term);
    } else {
        find_pushes(sweep, own, n, place, counter, 2, term);
    }
    tally->pushed += n;
    if (tally->pushed > KITH_PUSH_TERMS) {
        kith__tally_flush_pushes(sweep->scale, tally);
        tally->pushed = n;
    }
    const bool plain = sweep->scale->plain;
    for (int l = 0; l < n; l++) {
        if (plain ||
            !kith__is_left_out(rdf, sweep->question->cross, row->id, sweep->tile.id[place[l]])) {
            tally->fine_pushes[counter[l]][0] += term[0][l];
            tally->fine_pushes[counter[l]][1] += term[1][l];
        }
    }
}

#endif
