/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists of a batch, made of those of its systems, on backends whose operations take one system
 * at a time: the operations batch_fill, batch_count and batch_each of kith__cpu_pairs. Particles,
 * batch and lists are in host memory.
 */
#ifndef KITH_PAIRS_BATCH_H
#define KITH_PAIRS_BATCH_H

#include "engine/batch.h"
#include "pairs.h"

/** kith__pairs_backend.fill of a batch. */
kith_status kith__batch_fill(kith_ctx *ctx, const struct kith__batch *batch,
                             const struct kith__list *list, bool grow, kith_pairs *out);

/** kith__pairs_backend.count of a batch. */
kith_status kith__batch_count(kith_ctx *ctx, const struct kith__batch *batch,
                              const struct kith__list *list, int64_t *n, int64_t *neighbours);

/** kith__pairs_backend.each of a batch. */
kith_status kith__batch_each(kith_ctx *ctx, const struct kith__batch *batch,
                             const struct kith__list *list, kith_block_fn fn, void *user);

#endif
