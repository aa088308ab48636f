/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One step of a flock, as the sweep sees it: what is summed over the neighbours of a particle, and
 * where its sums go.
 */
#ifndef KITH_CPU_FLIGHT_H
#define KITH_CPU_FLIGHT_H

#include <stdatomic.h>

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "flock/flock.h"

enum {
    KITH_FLOCK_ENOUGH = 12, /**< as KITH_HOME_ENOUGH: each candidate costs more here */
    KITH_FLOCK_CARGO = KITH_WORK_OF(flock) /**< slot of the context's scratch */
};

struct kith__flight {
    const struct kith_flock *flock;
    const struct kith__flock_rules *rules;
    const struct kith__grid *grid; /**< NULL: no rule looks at others, slots are those of `now` */
    struct kith__columns cargo;    /**< of each slot: position and velocity in units */
    double offset_unit, velocity_unit;
    float ratio[KITH_RULES];   /**< radius^2 / cutoff^2, */
    bool whole[KITH_RULES];    /**< which is 1 here; */
    double square[KITH_RULES]; /**< radius^2 by the definition */
    void (*move)(struct kith__flight *flight, int64_t slot, const struct kith__flock_sums *sums);
    atomic_bool lost; /**< some particle went where numbers end: NaN in its next position */
};

static inline struct kith__flight *kith__flight_of(const struct kith__sweep *sweep)
{
    return sweep->job;
}

/** Move each particle by its sums over others (flock_kernel.c). */
kith__block_fn KITH_EACH_ISA(step_block);

#endif
