/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search for nearest neighbours on CPU cores: what all threads share.
 */
#ifndef KITH_NEAREST_SEARCH_H
#define KITH_NEAREST_SEARCH_H

#include <stdatomic.h>

#include "engine/cpu/isa.h"
#include "engine/neighbour.h"
#include "nearest/images.h"
#include "pairs/rules.h"
#include "tree.h"

/** What all threads share. */
struct kith__nearest_search {
    kith_ctx *ctx;                         /**< context of the call */
    const struct kith__question *question; /**< points, box, and cutoff or 0; with rules not 0 */
    const struct kith__rules *rules;       /**< radii by which pairs are permitted; NULL: all are */
    const kith_nearest *out;               /**< k, and the arrays of the result */
    struct kith__tree a;                   /**< tree of the particles whose neighbours are found */
    struct kith__tree b;                   /**< tree of the candidates; a copy of `a` in one set;
                                                with rules it has the radii */
    struct kith__image_planes planes;      /**< planes between which images of the box lie */
    double lo[3], hi[3]; /**< bounds of planes.normal[k] . r over all candidates [length] */
    double tolerance[3]; /**< kith__image_tolerance of each periodic axis; 0 of open ones
                              [length] */
    char *lists;         /**< [threads][list_bytes] neighbours found so far, for one leaf's
                              particles */
    size_t list_bytes;   /**< size of one thread's lists */
    int64_t pieces;      /**< number of pieces of the loop over the leaves of a */
    atomic_int status;   /**< KITH_OK, or KITH_LIMIT: a neighbour may be too many boxes away */
};

/** Extend the bounds of normal . r by the particles of a leaf.
 *  @param normal          a unit vector
 *  @param[in,out] lo, hi  the bounds [length] */
void kith__range_along(kith_precision precision, const struct kith__tree *tree, int64_t leaf,
                       const double normal[3], double *lo, double *hi);

/** Find the neighbours of the particles of one leaf of a, and write their rows.
 *  @param lists  memory of the thread: kith__nearest_search.list_bytes
 *  @return KITH_OK, or KITH_LIMIT when a neighbour might be more than KITH_MAX_IMAGES boxes away */
typedef kith_status kith__leaf_fn(const struct kith__nearest_search *search, int64_t leaf,
                                  void *lists);

/* Declare kith__search_leaf_baseline, kith__search_leaf_avx2, ... (engine/cpu/isa.h). They are
 * defined in nearest_kernel.c. */
kith__leaf_fn KITH_EACH_ISA(search_leaf);

#endif
