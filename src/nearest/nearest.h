/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours: the checked options, and the operation that each backend offers.
 */
#ifndef KITH_NEAREST_BACKEND_H
#define KITH_NEAREST_BACKEND_H

#include "core/backend.h"
#include "engine/batch.h"
#include "pairs/rules.h"

/* Most particles, in either set, of a system of a batch that a GPU searches together with others.
 * The cost of that search grows with their number squared (gpu/nearest_batch.cu). */
enum { KITH_NEAREST_SMALL = 1 << 14 };

/** Return true when a system of a batch is small: a GPU searches all small systems together.
 *  @param a, b  number of its particles in each set; equal for one set */
KITH_FN bool kith__nearest_is_small(int64_t a, int64_t b)
{
    return a <= KITH_NEAREST_SMALL && b <= KITH_NEAREST_SMALL;
}

/** Which systems of a batch are still to be searched, each by itself. */
enum kith__nearest_rest {
    KITH_REST_NONE,  /**< none: the rows of all systems are filled */
    KITH_REST_LARGE, /**< the systems that are not small (kith__nearest_is_small) */
    KITH_REST_ALL    /**< all: no row is filled */
};

/** The operations that a backend offers. */
struct kith__nearest_backend {
    /** Find the out->k nearest neighbours of each particle of question->a among question->b. The
     *  cutoff of the question is 0 where neighbours may be at any distance; with rules it is not.
     *  @param rules  radii by which pairs are permitted; NULL: all pairs are. No other rule is set,
     *                and kith__rules.first is 0
     *  @param out    k, and arrays of out->rows rows; those that are NULL are not wanted
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_NOT_FINITE, KITH_LIMIT, or the status
     *          of a failure of the device. */
    kith_status (*find)(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__rules *rules, const kith_nearest *out);

    /** Find the nearest neighbours, without rules, in all small systems of a batch together
     *  (kith__nearest_is_small). Neighbours are given by their indices among the particles of all
     *  systems. Offsets and boxes of the batch may be in device memory. NULL: not offered.
     *  @param out  as for find, with the rows of all systems
     *  @param[out] rest  the systems whose rows remain: all where k is too large, where fewer than
     *                    two systems are small (only offsets in host memory are read), or where a
     *                    neighbour in one of them may be too many boxes away
     *  @return as find; and KITH_INVALID for a box or an offset that cannot be used. */
    kith_status (*find_together)(kith_ctx *ctx, const struct kith__batch *batch,
                                 const kith_nearest *out, enum kith__nearest_rest *rest);
};

/** Read the caller's options, and check them and k: all but the second set, the cutoff and the
 *  batch.
 *  @param given         NULL: the defaults
 *  @param[out] options  the options, in a struct of full size (core/sized.h)
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT */
kith_status kith__nearest_options(kith_ctx *ctx, int64_t k, const kith_nearest_options *given,
                                  kith_nearest_options *options);

/** Store the message that neighbours would be too many boxes away. @return KITH_LIMIT */
kith_status kith__nearest_too_far(kith_ctx *ctx, int64_t k);

extern const struct kith__nearest_backend kith__cpu_nearest, kith__cuda_nearest;

#endif
