/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One step of a flock, as the sweep sees it: what is summed over the neighbours of a particle, and
 * where its sums go.
 */
#ifndef KITH_CPU_FLIGHT_H
#define KITH_CPU_FLIGHT_H

#include <stdatomic.h>

#include "../flock.h"

struct kith__grid;

enum { KITH_CARGO = 6 };

struct kith__flight {
    const struct kith_flock *flock;
    const struct kith__flock_rules *rules;
    const struct kith__grid *grid; /**< NULL: no rule looks at others, slots are those of `now` */
    int32_t *cargo[KITH_CARGO];    /**< [n] of each slot: position and velocity in units */
    int32_t row[3][3];             /**< of the box, in units of positions */
    double offset_unit, velocity_unit;
    float ratio[KITH_RULES];   /**< radius^2 / cutoff^2, */
    bool whole[KITH_RULES];    /**< which is 1 here; */
    double square[KITH_RULES]; /**< radius^2 by the definition */
    void (*move)(struct kith__flight *flight, int64_t slot, const struct kith__flock_sums *sums);
    atomic_bool lost; /**< some particle went where numbers end: NaN in its next position */
};

/** What is taken from the cargo of a candidate at an image, packed. */
static inline void kith__flight_move(const struct kith__flight *flight, int32_t image,
                                     int32_t move[KITH_CARGO])
{
    int32_t s[3];
    kith__unpack_shift(image, s);
    for (int c = 0; c < 3; c++) {
        uint32_t x = 0;
        for (int k = 0; k < 3; k++) {
            x -= (uint32_t)s[k] * (uint32_t)flight->row[k][c];
        }
        move[c] = (int32_t)x;
    }
}

#endif
