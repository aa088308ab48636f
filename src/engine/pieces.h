/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Particles sorted by species and cut into pieces, so that all pairs of two pieces belong to one
 * partial.
 */
#ifndef KITH_PIECES_H
#define KITH_PIECES_H

#include <stdbool.h>

#include "pair.h"

/** Some particles of one species: places [begin, end). */
struct kith__piece {
    int32_t begin, end, species;
};

/** The most pieces there can be. */
static inline int64_t kith__most_pieces(int64_t n, int32_t n_species, int32_t most)
{
    return n / most + n_species + 1;
}

/**
 * Sort the particles by species, stable, and cut them into pieces.
 * @param species     [n] NULL: all are 0
 * @param most        particles of a piece
 * @param[out] first  [n_species + 2] place where each species begins, and all end
 * @param[out] id     [n] particle of each place
 * @param[out] piece  [kith__most_pieces]
 * @return how many pieces
 */
int32_t kith__cut_pieces(const int32_t *species, int64_t n, int32_t n_species, int32_t most,
                         int64_t *first, int32_t *id, struct kith__piece *piece);

/** Number of the partial of species a and b. */
KITH_FN int32_t kith__partial(int32_t n_species, bool cross, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b;
    const int32_t high = a < b ? b : a;
    return cross ? a * n_species + b : low * n_species - low * (low - 1) / 2 + high - low;
}

#endif
