/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One step of a flock on CPU cores: what the sweep's operation needs to sum over the neighbours of
 * a particle and to move it.
 */
#ifndef KITH_CPU_FLOCK_STEP_H
#define KITH_CPU_FLOCK_STEP_H

#include <stdatomic.h>

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "flock/flock.h"

enum {
    KITH_FLOCK_ENOUGH = 12, /**< sweep->query_fill: particles that make a home large enough; fewer
                                 than KITH_QUERY_FILL, as each candidate costs more here */
    KITH_FLOCK_QUANTIZED = KITH_WORK_OF(flock) /**< slot of the context's scratch memory */
};

/** State of one step. */
struct kith__flock_step {
    const struct kith_flock *flock;        /**< the flock: reads `now`, writes `next` */
    const struct kith__flock_rules *rules; /**< checked options */
    const struct kith__grid *grid;  /**< particles by cell; NULL: all rules are off, and slots are
                                         entries of `now` */
    struct kith__columns quantized; /**< position and velocity in each slot [units] */
    double offset_unit;             /**< unit of offsets [length] */
    double velocity_unit;           /**< unit of velocities [length / time] */
    float ratio[KITH_RULES];        /**< radius^2 / cutoff^2 of each rule */
    bool whole[KITH_RULES];         /**< the radius of the rule is the cutoff */
    double square[KITH_RULES];      /**< radius^2 by the definition [length^2] */
    /** Move the particle in a slot of `next`, from its neighbour sums. */
    void (*move)(struct kith__flock_step *step, int64_t slot, const struct kith__flock_sums *sums);
    atomic_bool lost; /**< some particle left the range of numbers: its next position is NaN */
};

static inline struct kith__flock_step *kith__flock_step_of(const struct kith__sweep *sweep)
/** State of the step that a sweep belongs to. */
{
    return sweep->job;
}

/** The sweep's operation: sums over neighbours, and move (flock_kernel.c). */
kith__work_fn KITH_EACH_ISA(step_block);

#endif
