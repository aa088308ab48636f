/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order in which images of the box are searched for nearest neighbours. S, the shift of an
 * image, is the number of rows a, b, c that are added to positions. The images with one value of
 * S[k] lie in a slab between two planes. The slabs are searched from the nearest on, until the next
 * one is farther away than the last neighbour of a full list, or than the cutoff.
 */
#ifndef KITH_NEAREST_IMAGES_H
#define KITH_NEAREST_IMAGES_H

#include <float.h>
#include <string.h>

#include "engine/box.h"
#include "engine/cells.h"

/** The planes between which images lie. */
struct kith__image_planes {
    int periodic[3];     /**< 1 along periodic axes; `normal` and `period` are set for these */
    double normal[3][3]; /**< unit vector perpendicular to all periodic rows but row k, on the side
                              of row k */
    double period[3];    /**< normal[k] . row k: distance between the planes [length] */
    int32_t most[3];   /**< bound on |S[k]| of an image that may hold a neighbour within the cutoff
                            (kith__most_image_along); 0 along open axes */
    double least_sine; /**< sine of the least angle between a periodic row and the plane, or line,
                            of the other periodic rows; 1 when fewer than two are periodic */
};

/** The images that have been searched: those with first[k] <= S[k] <= last[k] along each axis. */
struct kith__image_range {
    int32_t first[3], last[3]; /**< at the start 0: the box itself */
};

/** The images with S[axis] = number, and with S within the range that has been searched along the
 *  other axes. */
struct kith__image_slab {
    int axis;        /**< 0 to 2 */
    int32_t number;  /**< one beyond the range along this axis */
    int32_t boxes;   /**< largest |S[k]| of these images, over all axes k */
    double distance; /**< lower bound of the distance between the particles whose neighbours are
                          searched and these images, but for rounding errors; negative where their
                          bounds overlap [length] */
};

/** Compute the unit vector perpendicular to all periodic rows but row k, on the side of row k. */
KITH_FN void kith__find_normal(const struct kith__lattice_d *box, int k, double normal[3])
{
    double v[3]; /* unit vector along the only other periodic row */
    const int one = (k + 1) % 3, other = (k + 2) % 3;
    memcpy(normal, box->row[k], 3 * sizeof *normal);
    if (box->periodic[one] && box->periodic[other]) {
        /* row k of the inverse matrix is perpendicular to the two other rows */
        memcpy(normal, box->inverse[k], 3 * sizeof *normal);
    } else if (box->periodic[one] || box->periodic[other]) {
        memcpy(v, box->row[box->periodic[one] ? one : other], sizeof v);
        kith__normalise(v);
        kith__normalise(normal);
        for (int times = 0; times < 2; times++) { /* the second time removes rounding errors */
            const double along = kith__dot(normal, v);
            for (int m = 0; m < 3; m++) {
                normal[m] -= along * v[m];
            }
        }
    }
    kith__normalise(normal);
}

/** Return a bound on |S[k]| of the pairs within the cutoff; KITH_MAX_IMAGES + 1 at most, and
 *  without a cutoff: a slab so far away makes the search end with KITH_LIMIT.
 *  Along row k, a particle and the image of its neighbour differ by cutoff / height in fractional
 *  coordinates at most, but for rounding errors (kith__cell_side). The fractional coordinates of
 *  wrapped particles are in [0, 1), or up to a box outside: two differ by less than 3. Where an
 *  open axis is not perpendicular to the periodic ones, normal . r depends on the position along it
 *  too: particles far apart along the open axis widen the slabs, and then this bound is the tighter
 *  one. */
KITH_FN int32_t kith__most_image_along(const struct kith__question *q, int k)
{
    const double most = KITH_MAX_IMAGES + 1;
    if (!q->cutoff_name) {
        return (int32_t)most;
    }
    const double reach = q->cutoff * (1 + KITH_CELL_MARGIN) + kith__image_error(q);
    return (int32_t)fmin(ceil(reach / q->height[k]) + 3, most);
}

/** Compute the planes of a question's box. */
KITH_FN void kith__find_image_planes(const struct kith__question *question,
                                     struct kith__image_planes *planes)
{
    const struct kith__lattice_d *box = &question->box_d;
    memset(planes, 0, sizeof *planes);
    planes->least_sine = 1;
    for (int k = 0; k < 3; k++) {
        planes->periodic[k] = box->periodic[k];
        if (box->periodic[k]) {
            kith__find_normal(box, k, planes->normal[k]);
            planes->period[k] = kith__dot(planes->normal[k], box->row[k]);
            planes->most[k] = kith__most_image_along(question, k);
            planes->least_sine = fmin(
                planes->least_sine, planes->period[k] / sqrt(kith__dot(box->row[k], box->row[k])));
        }
    }
}

/** Return a bound on the rounding errors of kith__image_slab.distance and of the part along
 *  normal[axis] of the vector to a candidate, to be multiplied by 1 + kith__image_slab.boxes. Each
 *  coordinate counts by its part along the normal: in an orthorhombic box, whose normals are exact,
 *  particles far outside along an open axis do not make the bound large.
 *  @param axis  periodic axis of the slab
 *  @param low   lower bounds of the coordinates of all particles [length]
 *  @param size  differences between their upper and lower bounds [length]
 *  @return the bound [length] */
KITH_FN double kith__image_tolerance(const struct kith__question *question,
                                     const struct kith__image_planes *planes, int axis,
                                     const double low[3], const double size[3])
{
    /* vectors are rounded in the precision of the points, normals and products with them in
     * double */
    const double epsilon = question->precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
    const bool exact = question->box_d.orthorhombic;
    /* sums of the magnitudes that are rounded [length]: in the vector to a candidate; in products
     * of a vector and the normal, which has an error of its own; in products of positions and the
     * normal, which are exact when the normal is along an axis */
    double vector = question->period_sum, normal = question->period_sum, product = 0;
    for (int m = 0; m < 3; m++) {
        const double part = fabs(planes->normal[axis][m]);
        vector += part * size[m];
        normal += exact ? part * size[m] : size[m];
        product += exact ? 0 : part * (fabs(low[m]) + size[m]);
    }
    /* 8 is ample: kith__separation rounds each component of the vector 7 times, a product with the
     * normal is rounded 5 times, and kith__next_slab rounds 3 times, each by half an epsilon */
    return 8 *
           (epsilon * vector + DBL_EPSILON / planes->least_sine * normal + DBL_EPSILON * product);
}

/** Find the nearest slab of images that have not been searched.
 *  @param lo, hi    bounds of normal[k] . r over the particles whose neighbours are searched
 *                   [length]
 *  @param all_lo, all_hi  bounds of normal[k] . r over all candidates [length]
 *  @param searched  images that have been searched
 *  @param[out] slab  the nearest slab
 *  @return true when there is one; false when no other slab can hold a neighbour within the cutoff
 *          (kith__image_planes.most), or no axis is periodic */
KITH_FN bool kith__next_slab(const struct kith__image_planes *planes, const double lo[3],
                             const double hi[3], const double all_lo[3], const double all_hi[3],
                             const struct kith__image_range *searched,
                             struct kith__image_slab *slab)
{
    slab->distance = INFINITY;
    slab->axis = 0;
    slab->number = 0;
    slab->boxes = 0;
    for (int k = 0; k < 3; k++) {
        const int32_t up = searched->last[k] + 1, down = searched->first[k] - 1;
        if (planes->periodic[k]) {
            const double above = up > planes->most[k] ? INFINITY
                                                      : up * planes->period[k] + all_lo[k] - hi[k];
            const double below = -down > planes->most[k]
                                     ? INFINITY
                                     : lo[k] - (down * planes->period[k] + all_hi[k]);
            if (fmin(above, below) < slab->distance) {
                slab->distance = fmin(above, below);
                slab->axis = k;
                slab->number = above < below ? up : down;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        const int32_t first = k == slab->axis ? slab->number : searched->first[k];
        const int32_t last = k == slab->axis ? slab->number : searched->last[k];
        slab->boxes = last > slab->boxes ? last : slab->boxes;
        slab->boxes = -first > slab->boxes ? -first : slab->boxes;
    }
    return slab->distance < INFINITY;
}

/** Add a slab to the images that have been searched. */
KITH_FN void kith__extend_range(struct kith__image_range *searched,
                                const struct kith__image_slab *slab)
{
    for (int k = 0; k < 3; k++) { /* constant indices keep a GPU's copy in registers */
        const bool across = k == slab->axis;
        searched->last[k] = across && slab->number > 0 ? slab->number : searched->last[k];
        searched->first[k] = across && slab->number < 0 ? slab->number : searched->first[k];
    }
}

#endif
