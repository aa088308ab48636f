/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists, those with rows of a fixed width, on a GPU, host side: called by the
 * operations of pairs_gpu.c and pairs_batch_gpu.c, after the search has begun
 * (kith__gpu_search_begin, kith__gpu_batch_begin).
 */
#ifndef KITH_MATRIX_GPU_H
#define KITH_MATRIX_GPU_H

#include "engine/gpu/batch_search.h"
#include "engine/gpu/search.h"
#include "pairs/pairs.h"

/** Make a KITH_MATRIX list, as kith__pairs_backend.fill. The search has begun. */
kith_status kith__gpu_matrix_fill(struct kith__gpu_search *search, const struct kith__list *list,
                                  bool grow, kith_pairs *out);

/** Queue the making of a KITH_MATRIX list, as kith__pairs_backend.enqueue. The search has begun. */
kith_status kith__gpu_matrix_enqueue(struct kith__gpu_search *search, const struct kith__list *list,
                                     const kith_pairs *out, int64_t *result);

/** Make the KITH_MATRIX list of a batch, as kith__pairs_backend.batch_fill. The search has
 *  begun. */
kith_status kith__gpu_matrix_fill_batch(struct kith__gpu_batch *batch,
                                        const struct kith__list *list, bool grow, kith_pairs *out);

/** Queue the making of the KITH_MATRIX list of a batch, as kith__pairs_backend.batch_enqueue. The
 *  search has begun. */
kith_status kith__gpu_matrix_enqueue_batch(struct kith__gpu_batch *batch,
                                           const struct kith__list *list, const kith_pairs *out,
                                           int64_t *result);

#endif
