/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A counting sort of particle indices by species, and the cutting of each species into pieces.
 * O(n + species).
 */
#include "pieces.h"

#include <assert.h>
#include <string.h>

int32_t kith__cut_pieces(const int32_t *species, int64_t n, int32_t n_species, int32_t most,
                         int64_t *first, int32_t *id, struct kith__piece *piece)
{
    int32_t pieces = 0;
    /* next[k] counts species k - 1, then is the first slot of species k, then its next free slot.
     * At the end it is the first slot of species k + 1: as next is first + 1, `first` is then
     * right. */
    int64_t *next = first + 1;
    memset(first, 0, ((size_t)n_species + 2) * sizeof *first);
    for (int64_t p = 0; p < n; p++) {
        next[(species ? species[p] : 0) + 1]++;
    }
    for (int32_t kind = 0; kind < n_species; kind++) {
        next[kind + 1] += next[kind];
        for (int64_t at = next[kind]; at < next[kind + 1]; at += most) {
            const int64_t end = at + most < next[kind + 1] ? at + most : next[kind + 1];
            piece[pieces++] = (struct kith__piece){(int32_t)at, (int32_t)end, kind};
        }
    }
    assert(next[n_species] == n);
    for (int64_t p = 0; p < n; p++) {
        id[next[species ? species[p] : 0]++] = (int32_t)p;
    }
    assert(first[n_species] == n);
    assert(pieces <= kith__most_pieces(n, n_species, most));
    return pieces;
}
