/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spherical overdensities over ranks: halos/spheres.c, with the particles of all ranks.
 */
#ifndef KITH_SPHERES_TEAM_H
#define KITH_SPHERES_TEAM_H

#include "columns.h"
#include "ghosts.h"
#include "halos/halo.h"

/** Buffers of the team that kith__team_spheres uses. */
enum {
    KITH_SPHERES_BUFFERS = 2 * KITH_DEALT_BUFFERS + KITH_ROUTE_BUFFERS + KITH_MERGE_BUFFERS + 8
};

/** Set sphere_radius and sphere_mass of halos, as kith__spheres_measure does. Collective. Cost: the
 *  particles travel to domains once; for each range of search radii, of which the largest is up to
 *  three times the smallest, each rank gets copies of the particles within that radius of its
 *  centres.
 *  @param buffer         first of KITH_SPHERES_BUFFERS buffers
 *  @param box            as given
 *  @param set            the particles of this rank as given; `base` is set
 *  @param input          masses of these particles, and densities of spheres
 *  @param[in,out] halos  some halos; each halo is on one rank
 *  @return as kith__pairs_each; KITH_TEAM_LOST */
kith_status kith__team_spheres(kith_team *team, int buffer, const kith_box *box,
                               const struct kith__set *set, const kith_halo_input *input,
                               kith_halos *halos);

#endif
