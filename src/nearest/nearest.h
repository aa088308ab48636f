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

/** Store the message that neighbours would be too many boxes away. @return KITH_LIMIT */
kith_status kith__nearest_too_far(kith_ctx *ctx, int64_t k);

extern const struct kith__nearest_backend kith__cpu_nearest, kith__cuda_nearest;

#endif
