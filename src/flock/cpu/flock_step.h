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
    KITH_FLOCK_FILL = 12, /**< sweep->query_fill: cells are added to a query block until it has so
                               many particles; fewer than KITH_QUERY_FILL, as each candidate costs
                               more here */
    KITH_FLOCK_QUANTIZED = KITH_WORK_OF(flock) /**< buffer of the context's scratch memory */
};

/** State of one step, shared by all threads. */
struct kith__flock_step {
    const struct kith_flock *flock;        /**< the flock: reads `now`, writes `next` */
    const struct kith__flock_rules *rules; /**< checked options */
    const struct kith__grid *grid;  /**< particles by cell; NULL: all rules are off, there is no
                                         grid, and a slot is an entry of `now` */
    struct kith__columns quantized; /**< position, columns 0 to 2, and velocity, 3 to 5, of each
                                         slot, as integers modulo 2^32 [offset_unit],
                                         [velocity_unit] */
    double offset_unit;         /**< unit of positions and offsets in sums, a power of 2, from the
                                     largest radius (kith__flock_unit) [length] */
    double velocity_unit;       /**< unit of velocities in sums, a power of 2, from the largest
                                     absolute velocity component [length / time] */
    float ratio[KITH_RULES];    /**< radius^2 / cutoff^2 of each rule */
    bool at_cutoff[KITH_RULES]; /**< the radius of the rule is the cutoff of the sweep */
    double square[KITH_RULES];  /**< radius^2, rounded to the precision as in the definition of a
                                     pair [length^2] */
    /** Advance the particle in a slot of `next` by one step, from its neighbour sums; `more` may be
     *  NULL. */
    void (*move)(struct kith__flock_step *step, int64_t slot, const struct kith__flock_sums *sums,
                 const struct kith__flock_more *more);
    atomic_bool lost; /**< position or velocity of some particle overflowed: its next x is NaN */
};

/** Return the state of the step that a sweep belongs to. */
static inline struct kith__flock_step *kith__flock_step_of(const struct kith__sweep *sweep)
{
    return sweep->job;
}

/** Process a work block: sum over the neighbours of each of its particles, and move it. Declares
 *  kith__step_block_baseline, kith__step_block_avx2, ... (engine/cpu/isa.h), which flock_kernel.c
 *  defines. */
kith__work_fn KITH_EACH_ISA(step_block);

#endif
