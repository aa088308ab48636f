/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbour lists as the backends make them.
 */
#ifndef KITH_PAIRS_BACKEND_H
#define KITH_PAIRS_BACKEND_H

#include "core/backend.h"
#include "engine/question.h"

/** What list is wanted: kith_pairs_options, checked. */
struct kith__list {
    bool full, sorted, unordered;
    kith_layout layout;
    unsigned extras;
    int64_t block_pairs;
};

/** What a backend offers. */
struct kith__pairs_backend {
    kith_status (*count)(kith_ctx *ctx, const struct kith__question *question,
                         const struct kith__list *list, int64_t *n, int64_t *neighbours);
    /** grow: the arrays are the library's and may be allocated; otherwise the caller's, and
     *  KITH_CAPACITY with out->n set when they are too small. */
    kith_status (*fill)(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__list *list, bool grow, kith_pairs *out);
    kith_status (*each)(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__list *list, kith_block_fn fn, void *user);
    /** Queue only; points, list and result are in device memory. */
    kith_status (*enqueue)(kith_ctx *ctx, const struct kith__question *question,
                           const struct kith__list *list, const kith_pairs *out, int64_t *result);
};

extern const struct kith__pairs_backend kith__cpu_pairs, kith__cuda_pairs;

#endif
