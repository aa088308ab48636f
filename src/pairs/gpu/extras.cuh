/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The extras of a list: distance, vector and image of each pair.
 */
#ifndef KITH_GPU_EXTRAS_CUH
#define KITH_GPU_EXTRAS_CUH

#include "engine/gpu/device.cuh"
#include "pairs_gpu.h"

/** Compute how many boxes wrapping subtracts from the coordinates of the caller's particle p. */
template <typename real>
static __device__ void wrapping_image(const struct kith__question &q, const kith_points &points,
                                      int64_t p, int32_t image[3])
{
    real r[3];
    definition<real>::load(definition<real>::box(q), points, q.dim, p, r, image);
}

/** Write the distance and vector of pair p of the list, if wanted.
 *  @param is_reversed  the list holds (j, i) */
template <typename real>
static __device__ __forceinline__ void write_vector(const struct kith__gpu_list &list, int64_t p,
                                                    real r2, const real d[3], bool is_reversed)
{
    if (list.distances) {
        ((real *)list.distances)[p] = (real)sqrt((double)r2);
    }
    if (list.vectors) {
        for (int m = 0; m < 3; m++) {
            ((real *)list.vectors)[3 * p + m] = (is_reversed ? -d[m] : d[m]) + 0; /* never -0 */
        }
    }
}

/** Write the image s of pair p of the list, between the caller's particles i and j. The list refers
 *  to the coordinates as given, so the wrapping of both particles is subtracted.
 *  @param is_reversed  the list holds (j, i) */
template <typename real>
static __device__ __forceinline__ void write_shift(const struct kith__gpu_grid &grid,
                                                   const struct kith__gpu_list &list, int64_t p,
                                                   int32_t i, int32_t j, const int32_t s[3],
                                                   bool is_reversed)
{
    const struct kith__question &q = grid.question;
    int32_t wi[3] = {0, 0, 0};
    int32_t wj[3] = {0, 0, 0};
    if (grid.plan->wrapped) {
        wrapping_image<real>(q, q.a, i, wi);
        wrapping_image<real>(q, q.b, j, wj);
    }
    for (int k = 0; k < 3; k++) {
        const int32_t shift = s[k] - wj[k] + wi[k];
        list.shifts[3 * p + k] = is_reversed ? -shift : shift;
    }
}

/** Return true when the list has distances or vectors. */
static __host__ __device__ __forceinline__ bool has_vector(const struct kith__gpu_list &list)
{
    return list.distances || list.vectors;
}

/** Return the memory in which the packed image of pair p is kept until its row is sorted: the start
 *  of one of its extras. NULL without extras, when images are not needed. */
template <typename real>
static __device__ __forceinline__ int32_t *kept_shift(const struct kith__gpu_list &list, int64_t p)
{
    if (list.shifts) {
        return list.shifts + 3 * p;
    }
    if (list.vectors) {
        return (int32_t *)((real *)list.vectors + 3 * p);
    }
    return list.distances ? (int32_t *)((real *)list.distances + p) : NULL;
}

#endif
