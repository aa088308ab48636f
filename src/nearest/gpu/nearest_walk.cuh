/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the searches for nearest neighbours share (nearest_filter.cu, nearest_search.cu,
 * nearest_batch.cu): the order in which a warp searches images of the box, and the stop flag.
 */
#ifndef KITH_GPU_NEAREST_WALK_CUH
#define KITH_GPU_NEAREST_WALK_CUH

#include "nearest_node.cuh"

/* Larger than the bits of any distance, compared as unsigned integers: marks a node that is not to
 * be searched any more. */
#define KITH_DONE 0xffffffffu

/** The order in which images are searched: the slabs from the nearest on. */
struct image_walk {
    struct kith__image_range searched; /**< images that have been searched */
    struct kith__image_slab slab;      /**< slab that is being searched */
    int32_t begin[3], end[3];          /**< first and last S[k] of its images */
    int32_t shift[3];                  /**< S of the image that is being searched */
};

/** Return true when the host has set the stop flag, to KITH_GPU_STOP. */
static __device__ __forceinline__ bool is_stopped(const struct kith__gpu_nearest &all)
{
    return *(const volatile unsigned *)&all.state->stop >= KITH_GPU_STOP;
}

/** Begin with the box itself. */
static __device__ __forceinline__ void begin_walk(struct image_walk *walk)
{
    for (int k = 0; k < 3; k++) {
        walk->searched.first[k] = walk->searched.last[k] = 0;
        walk->begin[k] = walk->end[k] = walk->shift[k] = 0;
    }
    walk->slab.axis = walk->slab.number = 0;
    walk->slab.boxes = 0;
}

/** Go on to the next image of the slab.
 *  @return false when there is none: the slab is then among the images that have been searched */
static __device__ __forceinline__ bool next_in_slab(struct image_walk *walk)
{
    bool carries = true;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const bool wraps = walk->shift[k] == walk->end[k];
        walk->shift[k] = !carries ? walk->shift[k] : wraps ? walk->begin[k] : walk->shift[k] + 1;
        carries = carries && wraps;
    }
    if (carries) {
        kith__extend_range(&walk->searched, &walk->slab);
    }
    return !carries;
}

/** Go on to the first image of the slab that was found. */
static __device__ __forceinline__ void begin_slab(struct image_walk *walk)
{
    for (int m = 0; m < 3; m++) {
        const bool across = m == walk->slab.axis;
        walk->begin[m] = across ? walk->slab.number : walk->searched.first[m];
        walk->end[m] = across ? walk->slab.number : walk->searched.last[m];
        walk->shift[m] = walk->begin[m];
    }
}

/** Find the nearest slab of images that have not been searched. All lanes of the warp call it.
 *  @param unit    the tree's unit of length
 *  @param active  the lane's particle is one of those whose neighbours are searched
 *  @param r       its position [length]
 *  @param widest  squared distance beyond which no active lane takes neighbours, in the tree's
 *                 unit; equal in all lanes
 *  @param[in,out] walk  the images that have been searched; its slab is set
 *  @return true, in every lane, when there is one within reach */
template <typename real>
static __device__ __forceinline__ bool find_slab(const struct kith__gpu_nearest &all,
                                                 const struct kith__gpu_unit &unit, bool active,
                                                 const real r[3], double widest,
                                                 struct image_walk *walk)
{
    const struct kith__gpu_extent &extent = all.state->extent[all.question.cross];
    double below[3], above[3], all_low[3], all_high[3]; /* bounds of normal[k] . r */
    for (int k = 0; k < 3; k++) {
        const double *normal = all.planes.normal[k];
        const double along = KITH_ADD_d(
            KITH_ADD_d(KITH_MUL_d(normal[0], (double)r[0]), KITH_MUL_d(normal[1], (double)r[1])),
            KITH_MUL_d(normal[2], (double)r[2]));
        below[k] = active ? along : INFINITY;
        above[k] = active ? along : -INFINITY;
        for (int bits = LANES / 2; bits > 0; bits /= 2) {
            below[k] = fmin(below[k], from_partner(below[k], bits));
            above[k] = fmax(above[k], from_partner(above[k], bits));
        }
        all_low[k] = from_ordered(~extent.along_below[k]);
        all_high[k] = from_ordered(extent.along_above[k]);
    }
    if (!kith__next_slab(&all.planes, below, above, all_low, all_high, &walk->searched,
                         &walk->slab)) {
        return false;
    }
    const double tolerance = kith__image_tolerance(&all.question, &all.planes, walk->slab.axis,
                                                   unit.origin, unit.size);
    const double least = (walk->slab.distance - tolerance * (1 + walk->slab.boxes)) * unit.scale;
    return !(least > 0 && least * least > widest);
}

#endif
