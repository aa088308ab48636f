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

#ifdef __cplusplus
extern "C" {
#endif

/** Boids in the cube [0, side)^3. */
typedef struct rung_herd {
    int64_t n;
    double side;
    float *r, *v; /**< [n][3] */
} rung_herd;

/** Boids at random, velocities up to 1 along each axis; always the same. rung_herd_free them, after
 *  a failure too. @return false without memory */
bool rung_herd_make(rung_herd *h, int64_t n, double side);
void rung_herd_free(rung_herd *h);

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
    kith_flock *flock;          /**< of the mainline */
    struct rung_flock_gpu *gpu; /**< of rungs on a GPU, whose caller frees it */
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

enum { RUNG_HERDS = 2, RUNG_STEPS = 3 };

/** Where boids go by rung_flock_naive, in a thin and in a dense flock: first, and after steps. */
typedef struct rung_truth {
    rung_herd at[RUNG_HERDS][RUNG_STEPS + 1];
} rung_truth;

/** Free with rung_truth_free, also after a failure. @return false, after saying so: no memory */
bool rung_truth_make(rung_truth *truth);
void rung_truth_free(rung_truth *truth);

/**
 * Hold a rung to the truth.
 * @param name   of the rung
 * @param state  zero but for fault, ctx and gpu
 * @return false, after saying why, when a sound rung is wrong or a fault was not found
 */
bool rung_flock_prove(const rung_truth *truth, const char *name, rung_step step, rung_flock *state);

#ifdef __cplusplus
}
#endif

#endif
