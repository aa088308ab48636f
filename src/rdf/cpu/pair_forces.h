/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair-force sums on CPU cores (rdf/pair_force.h defines them): computed for each pair that is
 * counted. Positions and forces of a tile's candidates are gathered once for all query particles of
 * its query block. Included by tally_kernel.c, which counts hits in batches (bins.h): a batch is
 * consecutive hits, a row the hits of one query particle, and either may end within the other.
 */
#ifndef KITH_CPU_PAIR_FORCES_H
#define KITH_CPU_PAIR_FORCES_H

#include "bins.h"
#include "pair_block.h"
#include "engine/cpu/tile.h"

enum { FORCE_BATCH = 256 }; /* pairs whose terms are computed together */

/** A position in sweep->rows: the row of the next hit of a batch. */
struct cursor {
    const struct kith__row *row; /**< the row */
    int64_t end;                 /**< index, among the hits collected, of the first one after the
                                      row */
};

/** Advance the cursor to the row of hit k of a batch that begins with hit `first` of those
 *  collected.
 *  @param n  hits of the batch, or of the part of it that is processed
 *  @return the index in the batch of the hit after the last one of this row, at most n */
static inline int part_of_row(struct cursor *at, int64_t first, int k, int n)
{
    for (; at->end <= first + k; at->end += at->row->n) {
        at->row++;
    }
    return at->end - first < n ? (int)(at->end - first) : n;
}

/** Gather the records of a tile's candidates, shifted to their images, in tally->near, which has
 *  room for one more. Sets sweep->failed when there is no memory. */
static void gather_tile_records(struct kith__sweep *sweep)
{
    struct kith__tally *tally = kith__tally_of(sweep);
    const struct kith__tile *tile = &sweep->tile;
    const double(*row)[3] = sweep->question->box_d.row;
    const double(*from)[KITH_FORCE_RECORD] = tally->scale->force_records[1];
    double(*to)[KITH_FORCE_RECORD] = kith__buffer_need(&sweep->memory[KITH_SWEEP_OWN_TILE],
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

/** Products of up to FORCE_BATCH pairs: p = (F_j - F_i).d, and r^2; in double. */
struct products {
    double p[FORCE_BATCH + PAIR_BLOCK];  /**< [force length] */
    double r2[FORCE_BATCH + PAIR_BLOCK]; /**< [length^2] */
};

/** Compute p and r^2 of a particle with n hits. Reads and writes up to PAIR_BLOCK - 1 entries
 *  beyond n.
 *  @param record         record of the particle: position, 0, force, 0
 *  @param force_records  [tile.n] records of the tile's candidates
 *  @param tile_index     [n + PAIR_BLOCK - 1] index of each hit in the tile
 *  @param[out] p, r2     products of each hit */
KITH_INLINE void find_products(const double record[KITH_FORCE_RECORD],
                               const double (*force_records)[KITH_FORCE_RECORD], int n,
                               const int32_t *tile_index, double *p, double *r2)
{
    const record_vectors i = record_load(record);
    for (int k = 0; k < n; k += PAIR_BLOCK) {
        record_vectors product[PAIR_BLOCK];
        for (int l = 0; l < PAIR_BLOCK; l++) {
            product[l] = record_products(i, force_records[(uint32_t)tile_index[k + l]]);
        }
        block_sums(product, r2 + k, p + k);
    }
}

/** Compute the terms of n pairs in fixed point.
 *  @param pair     products of the pairs
 *  @param counter  [n] counters of the pairs
 *  @param dim      scale->rdf->dim, a constant at compile time
 *  @param[out] to  [n] the terms of both sums (kith__force_terms) */
KITH_INLINE void find_terms(const struct kith__scale *scale, int n, const struct products *pair,
                            const int32_t *restrict counter, int dim, int64_t (*restrict to)[2])
{
    const struct kith__force_units units = scale->rdf->force_units;
    const double *restrict over = scale->force_over;
    for (int l = 0; l < n; l++) {
        kith__force_terms(&units, over[counter[l]], dim, pair->p[l], pair->r2[l], to[l]);
    }
}

/** Compute the products of hits [k, end) of a batch that begins with hit `first`. Excluded pairs
 *  get p = 0, so that they add nothing.
 *  @param[in,out] at  cursor, advanced to the row of the last of these hits
 *  @param[out] pair   entry 0 is for hit k */
static void load_products(struct kith__sweep *sweep, struct cursor *at, int64_t first, int k,
                          int end, struct products *pair)
{
    const struct kith__scale *scale = kith__tally_of(sweep)->scale;
    const int32_t *tile_index = sweep->hit_id + first;
    for (int begin = k; begin < end;) {
        const int to = part_of_row(at, first, begin, end);
        find_products(scale->force_records[0][at->row->slot],
                      (const double(*)[KITH_FORCE_RECORD])kith__tally_of(sweep)->near, to - begin,
                      tile_index + begin, pair->p + (begin - k), pair->r2 + (begin - k));
        for (int l = begin; l < to && !scale->counts_alone; l++) {
            if (kith__is_excluded(&scale->rdf->excluded, sweep->question->cross, at->row->id,
                                  sweep->tile.id[tile_index[l]])) {
                pair->p[l - k] = 0;
            }
        }
        begin = to;
    }
}

/** Add the terms of a batch of n hits, from hit `first` of those collected on, to the pair-force
 *  sums of their counters.
 *  @param[in,out] at  cursor at the row of hit `first` or before it
 *  @param counter     [n] counters of the hits, each with the first counter of its partial added;
 *                     there is one copy of the counters (scale->copies is 1 with forces) */
static void add_force_sums(struct kith__sweep *sweep, struct cursor *at, int64_t first, int n,
                           const int32_t *counter)
{
    const struct kith__scale *scale = kith__tally_of(sweep)->scale;
    struct kith__tally *tally = kith__tally_of(sweep);
    struct products pair;
    int64_t term[FORCE_BATCH][2];
    tally->n_force_terms += n;
    if (tally->n_force_terms > KITH_FORCE_TERMS) {
        kith__tally_flush_forces(scale, tally);
        tally->n_force_terms = n;
    }
    for (int k = 0; k < n; k += FORCE_BATCH) {
        const int many = n - k < FORCE_BATCH ? n - k : FORCE_BATCH;
        load_products(sweep, at, first, k, k + many, &pair);
        if (scale->rdf->dim == 3) {
            find_terms(scale, many, &pair, counter + k, 3, term);
        } else {
            find_terms(scale, many, &pair, counter + k, 2, term);
        }
#pragma GCC unroll 4
        for (int l = 0; l < many; l++) {
            int64_t *const to = tally->force_sums64[(uint32_t)counter[k + l]];
            to[0] += term[l][0];
            to[1] += term[l][1];
        }
    }
}

#endif
