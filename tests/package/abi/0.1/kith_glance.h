/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Glances at a flock: some of it, as it is now, while it goes on. For those who show a flight and
 * do not want to stop it.
 *
 *     kith_glance_choose(flock, index, 1000000);        // of 10^7
 *     for (;;) {
 *         kith_glance_take(flock);                      // waits for nothing
 *         kith_flock_step(flock, 10);
 *         kith_glance_see(flock, &r, &v);               // ten steps ago
 *         show(r, v);
 *     }
 *
 * See kith.h for flocks, memory, threads and errors.
 */
#ifndef KITH_GLANCE_H
#define KITH_GLANCE_H

#include <kith.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Choose whom kith_glance_take takes, until the next choice. Cost: O(n of the flock).
 * @param index  [n] in the order that the caller gave the flock, none twice; in host memory,
 *               borrowed for the call
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY: what was chosen before stays.
 */
KITH_API kith_status kith_glance_choose(kith_flock *flock, const int32_t *index, int64_t n);

/**
 * Take those chosen as they are now. A GPU gathers them there, and they come to the host while the
 * flock goes on: nothing waits. Elsewhere they are copied at once.
 * @return KITH_OK; KITH_INVALID: nobody was chosen; on a GPU KITH_NO_MEMORY, KITH_DEVICE_LOST too.
 */
KITH_API kith_status kith_glance_take(kith_flock *flock);

/**
 * Hand out what kith_glance_take took last; waits until it is there.
 * @param[out] positions   [n of the choice][3], in its order; else as kith_flock_read. The flock's,
 *                         until the next call of glance, choose or close. NULL: not wanted
 * @param[out] velocities  likewise
 * @return KITH_OK; KITH_INVALID: no glance since the choice; on a GPU KITH_DEVICE_LOST too.
 */
KITH_API kith_status kith_glance_see(kith_flock *flock, const void **positions,
                                     const void **velocities);

#ifdef __cplusplus
}
#endif

#endif
