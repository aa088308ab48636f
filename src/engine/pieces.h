/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Particles sorted by species and cut into pieces of one species, for sums over all pairs: all
 * pairs of two pieces then belong to one partial, the sum over pairs of two given species.
 */
#ifndef KITH_PIECES_H
#define KITH_PIECES_H

#include <math.h>
#include <stdbool.h>

#include "pair.h"

/** Consecutive particles of one species. A slot is a position in the order by species. */
struct kith__piece {
    int32_t begin;   /**< first slot */
    int32_t end;     /**< slot after the last */
    int32_t species; /**< species of all particles of the piece */
};

/** Return an upper bound on the number of pieces: each species has at most one piece that is not
 *  full. One is added, to spare.
 *  @param n     number of particles
 *  @param most  most particles of a piece */
static inline int64_t kith__most_pieces(int64_t n, int32_t n_species, int32_t most)
{
    return n / most + n_species + 1;
}

/**
 * Sort the particles by species with a stable sort, and cut them into pieces.
 * @param species     [n] species of each particle; NULL: all are 0
 * @param most        most particles of a piece
 * @param[out] first  [n_species + 2] first slot of each species; first[n_species] is n;
 *                    first[n_species + 1] is scratch memory of the sort
 * @param[out] id     [n] index of the particle in each slot
 * @param[out] piece  [kith__most_pieces] the pieces, ascending
 * @return the number of pieces
 */
int32_t kith__cut_pieces(const int32_t *species, int64_t n, int32_t n_species, int32_t most,
                         int64_t *first, int32_t *id, struct kith__piece *piece);

/** Return the number of the partial (a, b), the pairs of species a and b: a row-major index into
 *  the matrix of species for two sets of particles (cross); else into its upper triangle, where a
 *  and b may be exchanged. */
KITH_FN int32_t kith__partial(int32_t n_species, bool cross, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b;
    const int32_t high = a < b ? b : a;
    return cross ? a * n_species + b : low * n_species - low * (low - 1) / 2 + high - low;
}

/** Find the row and column of an entry of an upper triangle with its diagonal, whose entries are
 *  numbered by columns: number = column (column + 1) / 2 + row, row <= column, number < 2^60. */
KITH_FN void kith__triangle_entry(int64_t number, int64_t *row, int64_t *column)
{
    int64_t c = (int64_t)((sqrt(8 * (double)number + 1) - 1) / 2); /* may be off by one */
    c += (c + 1) * (c + 2) / 2 <= number;
    c -= c * (c + 1) / 2 > number;
    *row = number - c * (c + 1) / 2;
    *column = c;
}

#endif
