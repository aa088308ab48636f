/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours of the small systems of a batch on a GPU, host side: sort the particles of all
 * systems by system and cell, then one search for all. The host waits for the device at the end,
 * for the small data and then for the result; and before, where offsets are in device memory and
 * systems are small on average, for the size of the largest system.
 */
#include "engine/gpu/batch_search.h"
#include "nearest_batch.h"

/* Numbers of buffers of scratch memory on the device, behind those of nearest_gpu.c, which are
 * fewer than 16. */
enum { SYSTEMS = KITH_WORK_OF(nearest) + 16, BOUNDS };

/** Return true when a batch has several systems that are small and not empty, or may have some:
 *  offsets in device memory are not read. */
static bool may_have_small(const struct kith__batch *batch)
{
    int small = 0;
    for (int64_t s = 0; s < batch->systems && small < 2 && batch->memory == KITH_HOST; s++) {
        const int64_t a = batch->a[s + 1] - batch->a[s];
        small += a > 0 && kith__nearest_is_small(a, batch->b[s + 1] - batch->b[s]);
    }
    return batch->memory == KITH_DEVICE || small > 1;
}

/** Allocate the bounds and the data of systems, and queue the search.
 *  @return KITH_OK, KITH_NO_MEMORY, or the status of a failure */
static kith_status queue_search(struct kith__gpu_batch *b, struct kith__gpu_nearest_batch *all)
{
    kith_ctx *ctx = b->ctx;
    const struct kith__question *q = &all->systems.question;
    const size_t leaves = (size_t)kith__gpu_nearest_leaves(&all->systems, q->b.n);
    all->system = kith__gpu_need(b->gpu, SYSTEMS, (size_t)all->systems.n * sizeof *all->system);
    all->bounds = kith__gpu_need(b->gpu, BOUNDS, 6 * leaves * (size_t)q->precision);
    KITH_CHECK(ctx, all->system && all->bounds, KITH_NO_MEMORY,
               "out of device memory for %lld systems", (long long)all->systems.n);
    KITH_GPU_TRY(ctx, "finding bounds", kith__gpu_nearest_measure(all, b->gpu->stream));
    KITH_GPU_TRY(ctx, "finding neighbours", kith__gpu_nearest_together(all, b->gpu->stream));
    return KITH_OK;
}

/* kith__nearest_backend.find_together */
kith_status kith__gpu_nearest_find_together(kith_ctx *ctx, const struct kith__batch *batch,
                                            const kith_nearest *out, enum kith__nearest_rest *rest)
{
    struct kith__gpu_batch b;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {{NULL, NULL, 0}};
    *rest = KITH_REST_ALL;
    if (out->k > KITH_GPU_FILTER_MOST || !may_have_small(batch)) {
        return KITH_OK;
    }
    KITH_TRY(kith__gpu_begin(ctx));
    /* the host may wait for the size of the largest system; consecutive cells of a system touch */
    KITH_TRY(kith__gpu_batch_begin(ctx, batch, true, true, &b));
    struct kith__gpu_nearest_batch all = {.systems = b.sweep.systems};
    KITH_TRY(kith__gpu_nearest_rows(ctx, batch->whole.a.n, batch->whole.precision, out, &all.out,
                                    copies));
    if (batch->systems > 0 && batch->whole.a.n > 0) {
        KITH_TRY(queue_search(&b, &all));
    }
    KITH_TRY(kith__gpu_batch_read(&b, NULL));
    if (b.small.refused) {
        /* *rest is KITH_REST_ALL: the search of each system by itself divides particles into other
         * groups, which may need fewer images; else it refuses the system */
        return KITH_OK;
    }
    *rest = b.small.most > KITH_NEAREST_SMALL ? KITH_REST_LARGE : KITH_REST_NONE;
    return kith__gpu_download(ctx, copies);
}
