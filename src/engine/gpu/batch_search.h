/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The start of a search in a batch on a GPU: particles, offsets and boxes on the device, the
 * particles sorted by system and cell (systems.h), and results that are copied back to the host.
 */
#ifndef KITH_GPU_BATCH_SEARCH_H
#define KITH_GPU_BATCH_SEARCH_H

#include "engine/batch.h"
#include "search.h"
#include "systems.h"

/** A search in a batch that has begun. */
struct kith__gpu_batch {
    kith_ctx *ctx;                      /**< context of the call */
    struct kith__gpu *gpu;              /**< ctx->state */
    const struct kith__batch *batch;    /**< the batch as given */
    struct kith__gpu_batch_sweep sweep; /**< the systems and the parameters of the sweep */
    bool empty;                         /**< neither set has a particle: nothing is sorted */
    void *temporary;                    /**< scratch of the vendor's sort and scan; on the device */
    size_t temporary_bytes;             /**< size of `temporary` */
    int64_t *counts; /**< [a.n + 1] counts, then offsets, of rows, which a question
                          may use; device memory */
    struct kith__gpu_batch_small small; /**< copy of the small data, after kith__gpu_batch_read */
};

/** Begin a search in a batch: queue the sort of its particles by system and cell. kith__gpu_begin
 *  must have been called before.
 *  @param wait  true: the host may wait for the size of the largest system: small systems need no
 *               sort; false: nothing waits for the device
 *  @param by_number  kith__gpu_systems.by_number */
kith_status kith__gpu_batch_begin(kith_ctx *ctx, const struct kith__batch *batch, bool wait,
                                  bool by_number, struct kith__gpu_batch *b);

/** Queue the prefix sum of b->counts. */
kith_status kith__gpu_batch_scan(struct kith__gpu_batch *b);

/** Wait for all queued work, and copy the small data, and the last of b->counts to *total.
 *  @param total  NULL: not wanted
 *  @return KITH_OK; KITH_INVALID for offsets and boxes, KITH_NOT_FINITE or KITH_LIMIT for
 *          particles, that cannot be used; a failure */
kith_status kith__gpu_batch_read(struct kith__gpu_batch *b, int64_t *total);

/** kith__backend.fetch */
kith_status kith__gpu_fetch(kith_ctx *ctx, void *to, const void *from, size_t bytes);

/** kith__backend.add */
kith_status kith__gpu_add(kith_ctx *ctx, int32_t *index, int64_t n, int32_t by);

#endif
