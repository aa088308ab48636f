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

/** Queue one step. @return false if the device fails */
typedef bool (*rung_flock_gpu_one)(rung_flock_gpu *state);

/** Boids in device memory, in any order, and a grid over them. Zero it first, except one and fault.
 *  An array that a rung does not use is NULL. All arrays are in device memory. */
struct rung_flock_gpu {
    rung_flock_gpu_one one; /**< the rung; NULL: the library */
    rung_fault fault;       /**< the fault that the rung is to have */
    int threads;            /**< threads of a block, of rungs 2 to 6; 0: RUNG_GPU_THREADS */
    double width;           /**< width of a cell, or a little more [length]; 0: of one radius */
    int64_t n;              /**< number of boids */
    float side;             /**< side of the cube [length] */
    float reach2[2];        /**< squared radii: of separation, of the other rules [length^2] */
    int32_t cells;          /**< number of cells along an axis */
    int32_t left_out;       /**< boids of each cell that are not tested: 1 for RUNG_LAST, else 0 */
    float *r, *v;           /**< positions and velocities [n][3] */
    float *r2, *v2;         /**< positions and velocities after the step [n][3] */
    int32_t *id, *id2; /**< index of each boid in the caller's order; memory for reordering [n] */
    uint32_t *cell, *cell2; /**< cells of the boids, sorted; memory of the sort [n] */
    int32_t *order;         /**< indices of the boids, sorted by cell [n] */
    int32_t *order2;        /**< memory of the sort [n] */
    int32_t *start;         /**< first boid of each cell [cells^3 + 1] */
    char *temporary;        /**< memory of the sort [temporary_bytes] */
    size_t temporary_bytes; /**< size of the memory of the sort [byte] */
    kith_ctx *ctx;          /**< context of the library, backend "cuda" */
    kith_flock *flock;      /**< flock of the library */
};

/** Copy boids to the device. @return false if memory is exhausted */
bool rung_flock_gpu_put(rung_flock_gpu *state, const rung_herd *herd);

/** Copy boids from the device, in the order in which they were put. */
bool rung_flock_gpu_get(const rung_flock_gpu *state, rung_herd *herd);

/** Free the state. @return the amount of device memory that was held [byte] */
int64_t rung_flock_gpu_free(rung_flock_gpu *state);

/** Make some steps, and wait for them. @return false if the device or the library fails */
bool rung_flock_gpu_go(rung_flock_gpu *state, int64_t steps);

bool rung_flock_gpu_naive(rung_flock_gpu *state);
bool rung_flock_gpu_scattered(rung_flock_gpu *state);
bool rung_flock_gpu_coherent(rung_flock_gpu *state);
bool rung_flock_gpu_overlapped(rung_flock_gpu *state);
bool rung_flock_gpu_rows(rung_flock_gpu *state);
bool rung_flock_gpu_shared_cells(rung_flock_gpu *state);
bool rung_flock_gpu_shared_rows(rung_flock_gpu *state);
bool rung_flock_gpu_mainline(rung_flock_gpu *state, int64_t steps);

enum { RUNG_FLOCK_GPU_WAYS = 9 };

/** A rung, its name, and the width of its cells as in rung_flock_gpu. */
struct rung_flock_gpu_way {
    const char *name;
    rung_flock_gpu_one one;
    double width;
};
extern const struct rung_flock_gpu_way rung_flock_gpu_ways[RUNG_FLOCK_GPU_WAYS];

/** Check every rung against the states of rung_flock_naive.
 *  @return false, with a message printed, if one is wrong, or a fault was not found */
bool rung_flock_gpu_check(const rung_truth *truth);

/** Check and time the rungs, if there is a GPU, in the box of CIS 565: 5000 boids, and ten times as
 *  many up to `most`. @return false if a rung is wrong */
bool rung_flock_gpu_run_all(const rung_truth *truth, int64_t most);

/* -------------------------------------------------------------------------------- for the rungs */

/** Open the flock of the library. @return false on failure, with a message printed */
bool rung_flock_gpu_open(rung_flock_gpu *state, const rung_herd *herd);

/** Sort the indices of boids by cell. @return false if the device fails */
bool rung_flock_gpu_sort(rung_flock_gpu *state);

/** Copy positions, velocities and ids into the order of the cells. */
bool rung_flock_gpu_arrange(rung_flock_gpu *state);

/** Swap the arrays before and after the step. @return false if a kernel could not be launched */
bool rung_flock_gpu_turn(rung_flock_gpu *state);

#ifdef __cplusplus
}
#endif

#endif
