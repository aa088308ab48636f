/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Excluded pairs: those of one molecule, and those that are bonded. Read by the C and the CUDA
 * compiler.
 */
#ifndef KITH_EXCLUDED_H
#define KITH_EXCLUDED_H

#include "question.h"

/** Which pairs are excluded. All arrays are in the caller's order. */
struct kith__excluded {
    const int32_t *molecules[2]; /**< [n] molecule of each particle: of the points, and of the other
                                      set; both are equal where there is one set. Pairs within one
                                      molecule are excluded; a negative number is no molecule. NULL:
                                      there are no molecules */
    const int64_t *bond_offsets; /**< [n + 1] where the partners of each particle begin in `bonds`;
                                      NULL: no bonds */
    const int32_t *bonds;        /**< [bond_offsets[n]] indices of the partners of each particle, in
                                      the other set where there are two; bonded pairs are
                                      excluded */
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
 *  in one molecule, or bonded. Within one set, a bond that is listed for i or for j counts.
 *  @param cross  i and j are of two sets: bonds are listed for i alone */
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
 *  @param offsets  [n + 1] first partner of each particle in `bonds`; NULL: nothing is checked
 *  @param n        number of particles that may have partners
 *  @param m        number of particles of the set of the partners: a partner is 0 to m - 1
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__check_bonds(kith_ctx *ctx, const int64_t *offsets, const int32_t *bonds,
                              int64_t n, int64_t m);

#endif
