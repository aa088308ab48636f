/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the GPU's rungs of the ladder of flocks share: boids that stay in device memory. Every rung
 * takes them some steps further by the rules of kith_flock_options_init, in a periodic cube whose
 * side is at least 3.1 times the radius.
 */
#ifndef KITH_RUNG_FLOCK_GPU_H
#define KITH_RUNG_FLOCK_GPU_H

#include "rung_flock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rung_flock_gpu rung_flock_gpu;

/** Queue one step. @return false when the device failed */
typedef bool (*rung_flock_gpu_one)(rung_flock_gpu *state);

/** Boids on the device, in any order, and a grid over them. Zero it first, but for one and fault;
 *  what a rung does not use is NULL. */
struct rung_flock_gpu {
    rung_flock_gpu_one one; /**< NULL: the mainline's */
    rung_fault fault;
    int64_t n;
    float side;
    float reach2[2];        /**< squared radii: of separation, of the others */
    int32_t cells;          /**< along an axis */
    int32_t left_out;       /**< boids of each cell: RUNG_LAST's */
    float *r, *v, *r2, *v2; /**< [n][3] the state, and the one to come */
    int32_t *id, *id2;      /**< [n] index in the caller's order */
    uint32_t *cell, *cell2; /**< [n] */
    int32_t *order, *order2;
    int32_t *start;  /**< [cells^3 + 1]: cell c holds start[c] to start[c + 1] - 1 */
    char *temporary; /**< [temporary_bytes] of the sort */
    size_t temporary_bytes;
    kith_ctx *ctx; /**< of the mainline, backend "cuda" */
    kith_flock *flock;
};

/** Bring boids to the device. @return false without memory */
bool rung_flock_gpu_put(rung_flock_gpu *state, const rung_herd *herd);

/** Copy them back, in the order in which they were put. */
bool rung_flock_gpu_get(const rung_flock_gpu *state, rung_herd *herd);

/** Free everything. @return the bytes of device memory that were held */
int64_t rung_flock_gpu_free(rung_flock_gpu *state);

/** Go some steps; complete on return. @return false when the device or the library failed */
bool rung_flock_gpu_go(rung_flock_gpu *state, int64_t steps);

bool rung_flock_gpu_naive(rung_flock_gpu *state);
bool rung_flock_gpu_scattered(rung_flock_gpu *state);
bool rung_flock_gpu_coherent(rung_flock_gpu *state);
bool rung_flock_gpu_rows(rung_flock_gpu *state);
bool rung_flock_gpu_shared_cells(rung_flock_gpu *state);
bool rung_flock_gpu_shared_rows(rung_flock_gpu *state);
bool rung_flock_gpu_mainline(rung_flock_gpu *state, int64_t steps);

/** Check the rungs, and time them where there is a GPU, in the box of CIS 565: 5000 boids, and ten
 *  times as many again up to `most`. @return false when one is wrong */
bool rung_flock_gpu_run_all(const rung_truth *truth, int64_t most);

/* -------------------------------------------------------------------------------- for the rungs */

/** Open the mainline's flock. @return false, after saying why, when the library failed */
bool rung_flock_gpu_open(rung_flock_gpu *state, const rung_herd *herd);

/** Sort boids by cell; `order` says where they are. @return false when the device failed */
bool rung_flock_gpu_sort(rung_flock_gpu *state);

/** And bring them into that order. */
bool rung_flock_gpu_arrange(rung_flock_gpu *state);

/** The state to come is the state. @return false when what was to make it could not be launched */
bool rung_flock_gpu_turn(rung_flock_gpu *state);

#ifdef __cplusplus
}
#endif

#endif
