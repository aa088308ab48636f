/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launchers of the kernels for pair lists of a batch (pairs_batch.cu): those of pairs_gpu.h for
 * many systems. Rows and indices are those of the whole batch; sweep->upper says whether a sweep
 * finds the pairs of a half list. And the operations of kith__cuda_pairs for a batch
 * (pairs_batch_gpu.c).
 */
#ifndef KITH_GPU_PAIRS_BATCH_H
#define KITH_GPU_PAIRS_BATCH_H

#include "engine/gpu/systems.h"
#include "pairs/pairs.h"
#include "pairs_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Count the pairs of each particle: of the full list, or of the half list with sweep->upper.
 *  @param rules        which hits are listed; NULL: all
 *  @param[out] counts  [a.n] numbers by the caller's index */
gpuError_t kith__gpu_batch_count(const struct kith__gpu_batch_sweep *sweep,
                                 const struct kith__rules *rules, int64_t *counts,
                                 gpuStream_t stream);

/** Write a list, as far as the arrays have room.
 *  @param rules    which hits are listed; NULL: all
 *  @param offsets  [a.n + 1] first pair of each particle's row in the list; NULL: the pairs are
 *                  appended in any order, and small->total, which was 0, becomes their number */
gpuError_t kith__gpu_batch_write(const struct kith__gpu_batch_sweep *sweep,
                                 const struct kith__rules *rules, const struct kith__gpu_list *list,
                                 const int64_t *offsets, gpuStream_t stream);

/** Sort all rows of the list by j and image, and write their extras. Rows that the arrays do not
 *  hold as a whole are skipped.
 *  @param offsets  [a.n + 1] first pair of each particle's row in the list */
gpuError_t kith__gpu_batch_sort(const struct kith__gpu_systems *systems,
                                const struct kith__gpu_list *list, const int64_t *offsets,
                                gpuStream_t stream);

/** Set *result to *total, the number of pairs, or to a negative status when an offset, a box or a
 *  particle of the batch cannot be used. */
gpuError_t kith__gpu_batch_result(const struct kith__gpu_systems *systems, const int64_t *total,
                                  int64_t *result, gpuStream_t stream);

/** kith__gpu_fill_matrix, kith__gpu_finish_matrix and kith__gpu_write_totals for a batch. */
gpuError_t kith__gpu_batch_fill_matrix(const struct kith__gpu_batch_sweep *sweep,
                                       const struct kith__rules *rules,
                                       const struct kith__gpu_matrix *matrix, gpuStream_t stream);
gpuError_t kith__gpu_batch_finish_matrix(const struct kith__gpu_systems *systems,
                                         const struct kith__gpu_matrix *matrix,
                                         struct kith__gpu_matrix_totals *totals,
                                         gpuStream_t stream);
gpuError_t kith__gpu_batch_write_totals(const struct kith__gpu_systems *systems,
                                        const struct kith__gpu_matrix_totals *totals,
                                        int64_t *result, gpuStream_t stream);

/* The operations of kith__cuda_pairs for a batch (pairs_batch_gpu.c). */
kith_status kith__gpu_count_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                  const struct kith__list *list, int64_t *n, int64_t *neighbours);
kith_status kith__gpu_fill_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                 const struct kith__list *list, bool grow, kith_pairs *out);
kith_status kith__gpu_each_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                 const struct kith__list *list, kith_block_fn fn, void *user);
kith_status kith__gpu_enqueue_batch(kith_ctx *ctx, const struct kith__batch *batch,
                                    const struct kith__list *list, const kith_pairs *out,
                                    int64_t *result);

#ifdef __cplusplus
}
#endif

#endif
