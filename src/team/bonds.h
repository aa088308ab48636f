/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bonds between particles of all ranks: dealt to the ranks whose particles have them, and listed by
 * the numbers that these particles and others have on a rank. A search on a rank is between its own
 * particles and a block, which is an array of particles: its own, ghosts, or another rank's. Of two
 * sets, bonds are from the first set to the last; where there is one, it is both.
 */
#ifndef KITH_BONDS_H
#define KITH_BONDS_H

#include "move.h"

/** A bond, as one of its particles has it. */
struct kith__bond {
    int64_t first;  /**< global index of the particle, in the first set */
    int64_t second; /**< global index of its partner, in the last set */
};

/** Bonds as given: those of particle p are partner[offsets[p]] to partner[offsets[p + 1] - 1]. */
struct kith__bonds_given {
    const int64_t *offsets; /**< [n + 1] of the rank's n particles; NULL: no bonds */
    const int32_t *partner; /**< global index of each partner, in the last set */
};

/** Bonds of the particles that this rank was dealt. */
struct kith__bonds {
    struct kith__bond *bond; /**< [n] ascending by first, then by second */
    int64_t n;               /**< number of bonds */
};

/** Bonds by numbers on this rank, in the form of kith_rdf_options and kith_pairs_options: those of
 *  particle p are partner[offsets[p]] to partner[offsets[p + 1] - 1]. */
struct kith__bond_rows {
    const int64_t *offsets; /**< [n + 1] of this rank's n particles */
    const int32_t *partner; /**< [offsets[n]] number of each partner in the block */
};

enum { KITH_BONDS_BUFFERS = 8 };     /**< buffers that kith__bonds_deal uses */
enum { KITH_BOND_ROWS_BUFFERS = 3 }; /**< buffers that kith__bond_rows uses */

/**
 * Bring each bond to the rank that its first particle was dealt to. Collective.
 * @param buffer  first of KITH_BONDS_BUFFERS buffers of the team
 * @param given   the bonds of this rank, checked by kith__check_bonds; `offsets` is NULL on no rank
 * @param set     the first set, as given
 * @param dealt   the particles of this set that the rank was dealt
 * @param both    true where there is one set: a bond given for one of its particles is listed for
 *                the other one too
 * @param[out] out  the bonds, in these buffers
 * @return KITH_OK, KITH_NO_MEMORY, KITH_LIMIT, KITH_CANCELLED, KITH_TEAM_LOST
 */
kith_status kith__bonds_deal(kith_team *team, int buffer, const struct kith__bonds_given *given,
                             const struct kith__set *set, const struct kith__dealt *dealt,
                             bool both, struct kith__bonds *out);

/**
 * List the bonds between this rank's particles and those of a block. Not collective. O(n), O(m log
 * m), and O(log m) for each bond.
 * @param buffer     first of KITH_BOND_ROWS_BUFFERS buffers of the team
 * @param bonds      bonds of this rank's particles
 * @param n          number of particles that are searched for: of this rank, or these and ghosts
 * @param global     [n] their global indices, ascending; all `first` of the bonds are among them
 * @param m          particles of the block
 * @param partners   [m] their global indices, in any order
 * @return KITH_OK, KITH_NO_MEMORY
 */
kith_status kith__bond_rows(kith_team *team, int buffer, const struct kith__bonds *bonds, int64_t n,
                            const int64_t *global, int64_t m, const int64_t *partners,
                            struct kith__bond_rows *out);

#endif
