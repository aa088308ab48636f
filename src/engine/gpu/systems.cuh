/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading the systems of a batch (systems.h) in kernels: the system of a particle, its box, its
 * question (engine/question.h).
 */
#ifndef KITH_GPU_SYSTEMS_CUH
#define KITH_GPU_SYSTEMS_CUH

#include "device.cuh"
#include "systems.h"

/** Return the system of particle p: the last one that begins at or before it and is not empty. */
static __device__ __forceinline__ int64_t find_system(const int64_t *first, int64_t n, int64_t p)
{
    int64_t low = 0;
    int64_t high = n; /* first[low] <= p < first[high] */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (first[middle] <= p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Return the box of a system, in the precision of the type of the second argument. */
static __device__ __forceinline__ const struct kith__lattice_f &system_box(
    const struct kith__gpu_system *system, float)
{
    return system->box_f;
}
static __device__ __forceinline__ const struct kith__lattice_d &system_box(
    const struct kith__gpu_system *system, double)
{
    return system->box_d;
}

/** Return the question of the whole batch with the box of a system. */
static __device__ __forceinline__ struct kith__question question_of_system(
    const struct kith__gpu_systems &all, int64_t s)
{
    const struct kith__gpu_system *system = &all.system[s];
    struct kith__question q = all.question;
    q.box_d = system->box_d;
    q.box_f = system->box_f;
    q.period_sum = system->period_sum;
    for (int k = 0; k < 3; k++) {
        q.height[k] = system->height[k];
    }
    return q;
}

#endif
