/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Subset reads of a flock: copies of some particles while the simulation continues, for programs
 * that show it without stopping it.
 *
 *     kith_glance_choose(flock, index, 1000000);        // of 10^7
 *     for (;;) {
 *         kith_glance_take(flock);                      // does not wait
 *         kith_flock_step(flock, 10);
 *         kith_glance_see(flock, &r, &v);               // as they were ten steps ago
 *         show(r, v);
 *     }
 *
 * See kith.h for flocks, memory, threads and errors.
 */
#ifndef KITH_API_GLANCE_H
#define KITH_API_GLANCE_H

#include <kith/flock.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Choose the subset that kith_glance_take copies, until the next choice. Cost: O(n of the flock).
 * @param index  [n] particles of the subset, by their index in the points of kith_flock_open, none
 *               twice; in host memory, borrowed for the call
 * @param n      particles of the subset, 0 or more
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY: the subset chosen before stays.
 */
KITH_API kith_status kith_glance_choose(kith_flock *flock, const int32_t *index, int64_t n);

/**
 * Copy the chosen particles in their current state. A GPU gathers them, and they are copied to the
 * host while the simulation continues: the call does not wait. On a CPU they are copied at once.
 * @return KITH_OK; KITH_INVALID: no subset was chosen; on a GPU KITH_NO_MEMORY,
 *         KITH_DEVICE_LOST too.
 */
KITH_API kith_status kith_glance_take(kith_flock *flock);

/**
 * Get the last copy of kith_glance_take; waits until it has arrived.
 * @param[out] positions   [n of the subset][3], in its order, precision of the points, wrapped;
 *                         owned by the flock, valid until the next kith_glance_take,
 *                         kith_glance_choose or kith_flock_close. NULL: not wanted
 * @param[out] velocities  [n of the subset][3], owned and valid as positions are. NULL: not wanted
 * @return KITH_OK; KITH_INVALID: no copy was taken since the choice; on a GPU KITH_DEVICE_LOST
 *         too. On failure both are NULL.
 */
KITH_API kith_status kith_glance_see(kith_flock *flock, const void **positions,
                                     const void **velocities);

#ifdef __cplusplus
}
#endif

#endif
