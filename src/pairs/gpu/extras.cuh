/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The extras of a list: distance, vector and image of each pair. Rows that are sorted keep the
 * image of each pair, packed, until they are sorted, and get their extras afterwards.
 */
#ifndef KITH_GPU_EXTRAS_CUH
#define KITH_GPU_EXTRAS_CUH

#include "engine/gpu/i_cluster.cuh"
#include "pairs_gpu.h"

/** How images between the coordinates as given follow from those between wrapped ones: the numbers
 *  of boxes that wrapping subtracted from j are subtracted, and those of i are added. */
struct images {
    bool wrapped; /**< a particle was wrapped: images are to be corrected */
    bool pack;    /**< corrected images can be packed, so that kith__gpu_set.wrap can be added to
                       packed ones; else the wrapping is computed again from the coordinates */
};

/* Accessors for an i-cluster of the sweep over a grid (packet.cuh has their meanings), so that
 * packet.cuh and the functions below can be used in the sweep over a batch, too: pairs_batch.cu has
 * the overloads for its i-clusters. */

template <typename real>
static __device__ __forceinline__ const struct kith__gpu_set &set_a(const visit<real> &v)
{
    return v.sweep->grid.a;
}
template <typename real>
static __device__ __forceinline__ const struct kith__gpu_set &set_b(const visit<real> &v)
{
    return v.sweep->grid.b;
}
template <typename real>
static __device__ __forceinline__ const struct kith__question &question_of(const visit<real> &v)
{
    return v.sweep->grid.question;
}
template <typename real>
static __device__ __forceinline__ const typename definition<real>::lattice &box_of(
    const visit<real> &v)
{
    return definition<real>::box(v.sweep->grid.question);
}
template <typename real>
static __device__ __forceinline__ struct images images_of(const visit<real> &v)
{
    return {v.sweep->grid.plan->wrapped, v.sweep->grid.plan->packs};
}

/** Return a mask of the query particles that have a pair with j in a half list: those of lower
 *  index, and j itself at images after image 0 in the order of packed shifts.
 *  @param shift  image of j, packed */
template <typename real>
static __device__ __forceinline__ uint32_t upper_mask(const visit<real> &v, int32_t j,
                                                      int32_t shift)
{
    uint32_t mask = 0;
    for (int k = 0; k < v.n; k++) {
        const int32_t i = v.shared->id[k];
        mask |= (uint32_t)(i < j || (i == j && shift > no_shift)) << k;
    }
    return mask;
}

/** Compute how many boxes wrapping subtracts from the coordinates of the caller's particle p.
 *  @param[out] image  number of boxes along each axis */
template <typename lattice>
static __device__ void wrapping_image(const lattice &box, const struct kith__question &q,
                                      const kith_points &points, int64_t p, int32_t image[3])
{
    typedef decltype(box.origin[0] + 0) real; /* + 0: the type of the value, without const */
    real r[3];
    definition<real>::load(box, points, q.dim, p, r, image);
}

/** Write the distance and vector of pair p of the arrays, if wanted.
 *  @param d            vector from i to j, by the definition [length]
 *  @param is_reversed  the list holds (j, i): the vector is negated */
template <typename real>
static __device__ __forceinline__ void write_vector(const struct kith__gpu_list &list, int64_t p,
                                                    real r2, const real d[3], bool is_reversed)
{
    if (list.distances) {
        ((real *)list.distances)[p] = (real)sqrt((double)r2);
    }
    if (list.vectors) {
        for (int m = 0; m < 3; m++) {
            /* + 0: -0 becomes 0, as on CPU cores; the sign of a zero depends on is_reversed */
            ((real *)list.vectors)[3 * p + m] = (is_reversed ? -d[m] : d[m]) + 0;
        }
    }
}

/** Write the image of pair p of the arrays, between the caller's particles i and j at their
 *  coordinates as given (struct images).
 *  @param q            its points are the caller's, as i and j are their indices
 *  @param shift        the image, packed
 *  @param wrapped      a particle was wrapped, and `shift` is between wrapped coordinates: it is
 *                      corrected here
 *  @param is_reversed  the list holds (j, i): the image is negated */
template <typename lattice>
static __device__ __forceinline__ void write_shift(const lattice &box,
                                                   const struct kith__question &q,
                                                   const struct kith__gpu_list &list, int64_t p,
                                                   int32_t i, int32_t j, int32_t shift,
                                                   bool wrapped, bool is_reversed)
{
    int32_t s[3];
    int32_t wi[3] = {0, 0, 0};
    int32_t wj[3] = {0, 0, 0};
    kith__unpack_shift(shift, s);
    if (wrapped) {
        wrapping_image(box, q, q.a, i, wi);
        wrapping_image(box, q, q.b, j, wj);
    }
    for (int k = 0; k < 3; k++) {
        const int32_t given = s[k] - wj[k] + wi[k];
        list.shifts[3 * p + k] = is_reversed ? -given : given;
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

/** Write the extras of pair p of the arrays.
 *  @param c      the i-cluster
 *  @param at     slot of the query particle in set a
 *  @param place  slot of the candidate in set b
 *  @param shift  image of the candidate between wrapped coordinates, packed
 *  @param i, j   indices of both in the caller's order
 *  @param is_reversed  the list holds (j, i) */
template <class Cluster>
static __device__ __forceinline__ void write_extras(const Cluster &c,
                                                    const struct kith__gpu_list &list, int64_t p,
                                                    int32_t at, int32_t place, int32_t shift,
                                                    int32_t i, int32_t j, bool is_reversed)
{
    if (has_vector(list)) {
        typename Cluster::coordinate d[3];
        const typename Cluster::coordinate r2 = separation(c, at, place, shift, d);
        write_vector(list, p, r2, d, is_reversed);
    }
    if (list.shifts) {
        const struct images images = images_of(c);
        const bool corrected = images.wrapped && images.pack;
        shift += corrected ? set_a(c).wrap[at] - set_b(c).wrap[place] : 0;
        write_shift(box_of(c), question_of(c), list, p, i, j, shift, images.wrapped && !corrected,
                    is_reversed);
    }
}

/** Return the memory in which the packed image of pair p of the arrays is kept until its row is
 *  sorted: the first bytes of one of its extras. finish_pair reads it before it writes the extras.
 *  Return NULL for a list without extras: it needs no images, as pairs that differ in the image
 *  alone are equal there. */
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

/** Write the extras of pair p of the arrays, in the row of particle i, whose packed image is kept
 *  (kept_shift).
 *  @param box      the box of the pair
 *  @param wrapped  a particle was wrapped */
template <typename real, typename lattice>
static __device__ void finish_pair(const lattice &box, const struct kith__question &q,
                                   const struct kith__gpu_list &list, int64_t p, int32_t i,
                                   bool wrapped)
{
    typedef definition<real> def;
    const int32_t *kept = kept_shift<real>(list, p);
    if (!kept) {
        return;
    }
    const int32_t shift = *kept;
    const int32_t j = list.j[p];
    if (has_vector(list)) {
        real ri[3], rj[3], d[3];
        int32_t image[3], s[3];
        kith__unpack_shift(shift, s);
        def::load(box, q.a, q.dim, i, ri, image);
        def::load(box, q.b, q.dim, j, rj, image);
        const real r2 = def::separation(box, ri, rj, s, d);
        write_vector(list, p, r2, d, false);
    }
    if (list.shifts) {
        write_shift(box, q, list, p, i, j, shift, wrapped, false);
    }
}

/** A row in the arrays of the list, for sorting. The key of a pair is j in the high half of 64
 *  bits, and the packed image, or 0 where none is kept, in the low half. */
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
