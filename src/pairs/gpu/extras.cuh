/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The extras of a list: distance, vector and image of each pair.
 */
#ifndef KITH_GPU_EXTRAS_CUH
#define KITH_GPU_EXTRAS_CUH

#include "engine/gpu/i_cluster.cuh"
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

/** Return true when the list has distances, vectors or images. */
static inline bool has_extras(const struct kith__gpu_list *list)
{
    return has_vector(*list) || list->shifts;
}

/** Write the extras of pair p of the list.
 *  @param at     slot of the query particle
 *  @param place  slot of the candidate
 *  @param shift  its image, packed
 *  @param i, j   their indices in the caller's order
 *  @param is_reversed the list holds (j, i) */
template <typename real>
static __device__ void write_extras(const visit<real> &v, const struct kith__gpu_list &list,
                                    int64_t p, int32_t at, int32_t place, int32_t shift, int32_t i,
                                    int32_t j, bool is_reversed)
{
    if (has_vector(list)) {
        real d[3];
        const real r2 = separation(v, at, place, shift, d);
        write_vector(list, p, r2, d, is_reversed);
    }
    if (list.shifts) {
        int32_t s[3];
        kith__unpack_shift(shift, s);
        write_shift<real>(v.sweep->grid, list, p, i, j, s, is_reversed);
    }
}

/** Call run_sweep with OPERATION<float, ...>{...} or OPERATION<double, ...>{...}, by the precision
 *  of the points. */
#define RUN_BY_PRECISION(sweep, stream, OPERATION, INITIAL, ...) \
    ((sweep)->grid.question.precision == KITH_FLOAT \
         ? run_sweep<float>(sweep, OPERATION<float __VA_ARGS__> INITIAL, stream) \
         : run_sweep<double>(sweep, OPERATION<double __VA_ARGS__> INITIAL, stream))
#define INITIALLY(...) \
    { \
        __VA_ARGS__ \
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

/** A row in the arrays of the list. Its elements are j above the packed image. */
template <typename real> struct row_in_list {
    const struct kith__gpu_list *list; /**< the list */
    int64_t first;                     /**< index of the row's first pair in the arrays */
    __device__ uint64_t get(int64_t e) const
    {
        const int32_t *shift = kept_shift<real>(*list, first + e);
        return (uint64_t)(uint32_t)list->j[first + e] << 32 | (uint32_t)(shift ? *shift : 0);
    }
    __device__ void set(int64_t e, uint64_t key) const
    {
        int32_t *shift = kept_shift<real>(*list, first + e);
        list->j[first + e] = (int32_t)(key >> 32);
        if (shift) {
            *shift = (int32_t)(key & 0xffffffffu);
        }
    }
};

#endif
