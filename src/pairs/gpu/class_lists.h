/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making rows by searches between classes of radius (pairs/classes.h) on a GPU, host side. The
 * kernels are in radii.cu. There is no tail: each class is searched by itself.
 */
#ifndef KITH_GPU_CLASS_LISTS_H
#define KITH_GPU_CLASS_LISTS_H

#include "engine/gpu/search.h"
#include "pairs/classes.h"
#include "pairs_gpu.h"

/** The searches that make a list: kith__list.classes. */
struct kith__class_lists {
    struct kith__classes classes; /**< the particles by class; its order[] are in host memory */
    struct kith__class_search search[KITH_CLASS_SEARCHES]; /**< the searches */
    int searches;                                          /**< number of searches */
    const int32_t *order[2]; /**< copy of classes.order in device memory */
    struct kith__rules
        rules;       /**< the rules of the list, with no_self set in a list of one set; arrays in
                          device memory */
    int64_t *counts; /**< [a.n + 1] counts, then offsets, of all rows; device memory */
    int64_t *filled; /**< [a.n + 1] pairs that earlier searches have written to each row; the last
                          element is not used; device memory */
};

/** Divide the particles into classes, and begin the search of a list with radii.
 *  @param host   the rules, whose arrays are the caller's
 *  @param[in,out] ruled  the list, whose rules have their arrays in device memory; its member
 *                        `classes` is set to `lists` where more than one class has particles
 *  @param[out] lists  set where more than one class has particles
 *  @param[out] s  set where more than one class has particles: the points in device memory, as
 *                 kith__gpu_search_begin sets them, and s->counts = lists->counts. There is no grid
 *                 of all particles */
kith_status kith__gpu_classes_begin(kith_ctx *ctx, const struct kith__question *question,
                                    const struct kith__rules *host, struct kith__list *ruled,
                                    struct kith__class_lists *lists, struct kith__gpu_search *s);

/** Queue the offsets of the rows, s->counts: all searches, which count hits, and the prefix sum.
 *  @param s  as kith__gpu_classes_begin has set it */
kith_status kith__gpu_classes_offsets(struct kith__gpu_search *s, const struct kith__list *list);

/** Queue the writing of the list, as far as the arrays have room, and for a sorted list the sort of
 *  rows [first, last). Makes all searches.
 *  @param part         the arrays, and the first pair of the list that they receive
 *  @param first, last  the rows whose pairs the arrays hold */
kith_status kith__gpu_classes_fill(struct kith__gpu_search *s, const struct kith__list *list,
                                   const struct kith__gpu_list *part, int64_t first, int64_t last);

#endif
