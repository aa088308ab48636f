/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spheres of a given mean density about the centres of halos.
 */
#ifndef KITH_SPHERES_H
#define KITH_SPHERES_H

#include "halo.h"

/** Fill in sphere_radius and sphere_mass where input->sphere_density wants them. Uses the pair
 *  search of ctx. @return as kith_pairs_each. */
kith_status kith__spheres_measure(kith_ctx *ctx, const kith_box *box,
                                  const struct kith__question *question,
                                  const kith_halo_input *input, kith_halos *halos);

#endif
