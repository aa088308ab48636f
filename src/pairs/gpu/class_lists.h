/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making rows by searches between classes of radius (pairs/classes.h) on a GPU, host side. The
 * kernels are in radii.cu.
 */
#ifndef KITH_GPU_CLASS_LISTS_H
#define KITH_GPU_CLASS_LISTS_H

#include "engine/gpu/search.h"
#include "pairs/classes.h"
#include "pairs_gpu.h"

/** The searches that make a list: kith__list.classes. */
struct kith__class_lists {
    struct kith__classes classes; /**< the particles by class; the order is in host memory */
    struct kith__class_search search[KITH_CLASS_SEARCHES]; /**< the searches */
    int searches;                                          /**< number of searches */
    const int32_t *order[2]; /**< copy of classes.order in device memory */
    struct kith__rules
        rules;       /**< the rules of the list, with no_self set in a list of one set; arrays in
                          device memory */
    int64_t *counts; /**< [a.n + 1] counts, then offsets, of all rows; device memory */
    int64_t *filled; /**< [a.n + 1] pairs that earlier searches have written to each row; device
                          memory */
};

/** Divide the particles into classes, and begin the search of a list with radii.
 *  @param host   rules whose arrays are the caller's
 *  @param ruled  the list, with arrays in device memory; its member `classes` is set to `lists`
 *                where there is more than one class
 *  @param[out] s  where there is more than one class: the points in device memory, and s->counts,
 *                 as kith__gpu_search_begin sets them. There is no grid of all particles */
kith_status kith__gpu_classes_begin(kith_ctx *ctx, const struct kith__question *question,
                                    const struct kith__rules *host, struct kith__list *ruled,
                                    struct kith__class_lists *lists, struct kith__gpu_search *s);

/** Queue the offsets of the rows: s->counts. Makes all searches, counting hits. */
kith_status kith__gpu_classes_offsets(struct kith__gpu_search *s, const struct kith__list *list);

/** Queue the writing, and sorting, of rows [first, last) of the list. Makes all searches. */
kith_status kith__gpu_classes_fill(struct kith__gpu_search *s, const struct kith__list *list,
                                   const struct kith__gpu_list *part, int64_t first, int64_t last);

#endif
