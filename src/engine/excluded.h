/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Excluded pairs: those of one molecule, and those that are bonded. Read by the C and the CUDA
 * compiler.
 */
#ifndef KITH_EXCLUDED_H
#define KITH_EXCLUDED_H

#include "question.h"

/** Which pairs are excluded. Index 0 of pairs of pointers is the points, 1 the other set; where
 *  there is no other set, both are equal. All arrays are in the caller's order. */
struct kith__excluded {
    const int32_t *molecules[2]; /**< [n] pairs within one molecule, a number >= 0, are excluded;
                                      NULL: there are no molecules */
    const int64_t *bond_offsets; /**< [n + 1] where the partners of each particle begin in `bonds`;
                                      NULL: no bonds */
    const int32_t *bonds;        /**< partners of each particle; bonded pairs are excluded */
};

/** Return true when j is among the bonded partners that are listed for i. */
KITH_FN bool kith__is_bonded(const struct kith__excluded *excluded, int32_t i, int32_t j)
{
    for (int64_t at = excluded->bond_offsets[i]; at < excluded->bond_offsets[i + 1]; at++) {
        if (excluded->bonds[at] == j) {
            return true;
        }
    }
    return false;
}

/** Return true when the pair of particles i and j, by the caller's indices, is excluded: they are
 *  in one molecule, or bonded. @param cross i and j are of two sets */
KITH_FN bool kith__is_excluded(const struct kith__excluded *excluded, bool cross, int32_t i,
                               int32_t j)
{
    if (excluded->molecules[0] && excluded->molecules[0][i] >= 0 &&
        excluded->molecules[0][i] == excluded->molecules[1][j]) {
        return true;
    }
    return excluded->bond_offsets &&
           (kith__is_bonded(excluded, i, j) || (!cross && kith__is_bonded(excluded, j, i)));
}

/** Return true when no pair is excluded. */
KITH_FN bool kith__excludes_none(const struct kith__excluded *excluded)
{
    return !excluded->molecules[0] && !excluded->bond_offsets;
}

/** Check options.bond_offsets and options.bonds, in host memory.
 *  @param offsets  [n + 1]; NULL: there is nothing to check
 *  @param n        particles that have partners
 *  @param m        particles that partners may be
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__check_bonds(kith_ctx *ctx, const int64_t *offsets, const int32_t *bonds,
                              int64_t n, int64_t m);

#endif
