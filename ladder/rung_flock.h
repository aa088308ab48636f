/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the rungs of the ladder of flocks share. Every rung answers the same question: where boids
 * are after one step by the rules of kith_flock_options_init, in a periodic cube whose side is at
 * least three times the radius.
 */
#ifndef KITH_RUNG_FLOCK_H
#define KITH_RUNG_FLOCK_H

#include <kith.h>
#include <stdbool.h>

/** Boids in the cube [0, side)^3. */
typedef struct rung_herd {
    int64_t n;
    double side;
    float *r, *v; /**< [n][3] */
} rung_herd;

/** Faults that published kernels carry. */
typedef enum rung_fault {
    RUNG_SOUND,
    RUNG_SQUARE, /**< the distance compared with the square of a radius */
    RUNG_STALE,  /**< the table of cells not cleared before it is filled: that of earlier places */
    RUNG_LAST,   /**< the last particle of each cell not looked at */
    RUNG_FAULTS
} rung_fault;

/** A grid that is kept from step to step. Zero it first; rung_flock_free. */
typedef struct rung_flock {
    rung_fault fault;
    int64_t cells; /**< along an axis */
    int32_t *start, *order, *cell;
    float *r, *v; /**< in the order of the cells */
    kith_ctx *ctx;
    kith_flock *flock; /**< of the mainline */
} rung_flock;

/**
 * A rung: one step from `now` to `next`.
 * @return false when memory could not be had, or the library failed
 */
typedef bool (*rung_step)(rung_flock *state, const rung_herd *now, rung_herd *next);

bool rung_flock_naive(rung_flock *state, const rung_herd *now, rung_herd *next);
bool rung_flock_scattered(rung_flock *state, const rung_herd *now, rung_herd *next);
bool rung_flock_coherent(rung_flock *state, const rung_herd *now, rung_herd *next);

/** Its flock goes on from its own last step: `now` starts it, and is not looked at again. */
bool rung_flock_mainline(rung_flock *state, const rung_herd *now, rung_herd *next);

void rung_flock_free(rung_flock *state);

#endif
