/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and functions that the rungs of the ladder of flocks share. Every rung moves boids by one
 * step by the rules of kith_flock_options_init, in a periodic cube whose side is at least three
 * times the largest radius.
 */
#ifndef KITH_RUNG_FLOCK_H
#define KITH_RUNG_FLOCK_H

#include <kith.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Boids in the periodic cube [0, side)^3. */
typedef struct rung_herd {
    int64_t n;   /**< number of boids */
    double side; /**< side of the cube [length] */
    float *r;    /**< positions [n][3] */
    float *v;    /**< velocities [n][3] */
} rung_herd;

/** Make random boids with velocities up to 1 along each axis, from a fixed seed. rung_herd_free
 *  them, also after a failure. @return false if memory is exhausted */
bool rung_herd_make(rung_herd *h, int64_t n, double side);
void rung_herd_free(rung_herd *h);

/** A fault that published kernels have, and that a rung can be told to have. */
typedef enum rung_fault {
    RUNG_SOUND,  /**< no fault */
    RUNG_SQUARE, /**< the distance is compared with the square of a radius */
    RUNG_STALE,  /**< the table of cells is not cleared before it is filled */
    RUNG_LAST,   /**< the last boid of each cell is not tested */
    RUNG_FAULTS  /**< number of values */
} rung_fault;

/** State of a rung, which is kept from step to step. Zero it first; rung_flock_free it. */
typedef struct rung_flock {
    rung_fault fault;           /**< the fault that the rung is to have */
    int64_t cells;              /**< number of cells along an axis */
    int32_t *start;             /**< first element of order of each cell [cells^3 + 1] */
    int32_t *order;             /**< indices of the boids sorted by cell [n] */
    int32_t *cell;              /**< cell of each boid [n] */
    float *r;                   /**< positions in the order of the cells [n][3] */
    float *v;                   /**< velocities in the order of the cells [n][3] */
    kith_ctx *ctx;              /**< context of the library */
    kith_flock *flock;          /**< flock of the library */
    struct rung_flock_gpu *gpu; /**< state of a rung on a GPU, which the caller frees */
} rung_flock;

/**
 * A rung: one step from `now` to `next`.
 * @return false if memory is exhausted or the library fails
 */
typedef bool (*rung_step)(rung_flock *state, const rung_herd *now, rung_herd *next);

bool rung_flock_naive(rung_flock *state, const rung_herd *now, rung_herd *next);
bool rung_flock_scattered(rung_flock *state, const rung_herd *now, rung_herd *next);
bool rung_flock_coherent(rung_flock *state, const rung_herd *now, rung_herd *next);

/** The rung of the library. Its flock keeps its own state: `now` is read by the first step
 *  alone. */
bool rung_flock_mainline(rung_flock *state, const rung_herd *now, rung_herd *next);

void rung_flock_free(rung_flock *state);

enum { RUNG_HERDS = 2, RUNG_STEPS = 3 };

/** The states by rung_flock_naive that every rung must reproduce. */
typedef struct rung_truth {
    rung_herd at[RUNG_HERDS]
                [RUNG_STEPS + 1]; /**< a thin and a dense flock, after 0, 1, ... steps */
} rung_truth;

/** Compute the states. Free with rung_truth_free, also after a failure.
 *  @return false if memory is exhausted, with a message printed */
bool rung_truth_make(rung_truth *truth);
void rung_truth_free(rung_truth *truth);

/**
 * Check a rung against the states of rung_flock_naive.
 * @param name   name of the rung
 * @param state  zero but for fault, ctx and gpu
 * @return false, with a message printed, if a sound rung is wrong or a fault was not found
 */
bool rung_flock_prove(const rung_truth *truth, const char *name, rung_step step, rung_flock *state);

#ifdef __cplusplus
}
#endif

#endif
