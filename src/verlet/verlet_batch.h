/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kept lists of a batch: each system has a kept list of its own, which is rebuilt when that system
 * needs it.
 */
#ifndef KITH_VERLET_BATCH_H
#define KITH_VERLET_BATCH_H

#include "verlet.h"

/** Update the list of a batch, and its counters.
 *  @param now         systems, boxes and cutoff
 *  @param skin        systems and boxes with the radius cutoff + skin
 *  @param[in,out] out the list of all systems, whose arrays the library owns and grows
 *  @return as kith__verlet_backend.update, and KITH_INVALID or KITH_LIMIT for the box of a
 *          system */
kith_status kith__verlet_update_batch(struct kith_verlet *verlet, struct kith__batch *now,
                                      struct kith__batch *skin, kith_pairs *out);

/** kith_verlet_reasons within a public call. */
kith_status kith__verlet_reasons(const struct kith_verlet *verlet, int64_t systems,
                                 int32_t *reasons);

/** Free the lists of the systems. */
void kith__verlet_free_batch(struct kith_verlet *verlet);

#endif
