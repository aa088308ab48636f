/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours: the checked options, and the operation that each backend offers.
 */
#ifndef KITH_NEAREST_BACKEND_H
#define KITH_NEAREST_BACKEND_H

#include "core/backend.h"
#include "engine/question.h"

/** The operation that a backend offers. */
struct kith__nearest_backend {
    /** Find the out->k nearest neighbours of each particle of question->a among question->b. The
     *  cutoff of the question is 0 where neighbours may be at any distance.
     *  @param out  k, and arrays of out->rows rows; those that are NULL are not wanted
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, KITH_NOT_FINITE or KITH_LIMIT. */
    kith_status (*find)(kith_ctx *ctx, const struct kith__question *question,
                        const kith_nearest *out);
};

/** Read the caller's options, and check them and k: all but the second set, the cutoff and the
 *  batch.
 *  @param[out] options  of full size
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT */
kith_status kith__nearest_options(kith_ctx *ctx, int64_t k, const kith_nearest_options *given,
                                  kith_nearest_options *options);

/** Store the message that neighbours would be too many boxes away. @return KITH_LIMIT */
kith_status kith__nearest_too_far(kith_ctx *ctx, int64_t k);

extern const struct kith__nearest_backend kith__cpu_nearest, kith__cuda_nearest;

#endif
