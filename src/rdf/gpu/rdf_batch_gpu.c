/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pair distances of a batch on a GPU, host side: one sweep counts the pairs of all
 * systems of a call (rdf_batch.cu).
 */
#include "engine/gpu/batch_search.h"
#include "rdf_gpu.h"

/* Numbers of buffers of scratch memory on the device; rdf_gpu.c uses fewer than 16 before them. */
enum { EDGES = KITH_WORK_OF(rdf) + 16, COUNTS };

kith_status kith__gpu_count_frames(kith_ctx *ctx, const struct kith__batch *batch,
                                   const struct kith__rdf *rdf)
{
    struct kith__gpu_batch b;
    struct kith__gpu *gpu = ctx->state;
    const struct kith__question *q = &batch->whole;
    const size_t bytes = (size_t)rdf->partials * (size_t)rdf->bins * sizeof *rdf->counts;
    const bool mixed = rdf->partials > 1;
    struct kith__gpu_array arrays[] = {
        {rdf->edge2, (size_t)(rdf->bins + 1) * (size_t)q->precision, NULL},
        {mixed ? rdf->species[0] : NULL, (size_t)q->a.n * sizeof *rdf->species[0], NULL},
        {mixed && q->cross ? rdf->species[1] : NULL, (size_t)q->b.n * sizeof *rdf->species[1],
         NULL}};
    struct kith__rdf own = *rdf;
    void *rest;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_batch_begin(ctx, batch, true, false, &b));
    KITH_TRY(kith__gpu_upload_arrays(ctx, EDGES, arrays, 3, 0, &rest));
    unsigned long long *counts = kith__gpu_need(gpu, COUNTS, bytes);
    KITH_CHECK(ctx, counts != NULL, KITH_NO_MEMORY, "out of device memory for %lld counters",
               (long long)rdf->partials * (long long)rdf->bins);
    KITH_GPU_TRY(ctx, "clearing counters", gpuMemsetAsync(counts, 0, bytes, gpu->stream));
    own.edge2 = arrays[0].at;
    own.species[0] = arrays[1].at;
    own.species[1] = q->cross ? arrays[2].at : arrays[1].at;
    b.sweep.upper = !batch->whole.cross;
    if (!b.empty) {
        KITH_GPU_TRY(ctx, "counting pairs",
                     kith__gpu_tally_batch(&b.sweep, &own, counts, gpu->stream));
    }
    KITH_TRY(kith__gpu_batch_read(&b, NULL));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)rdf->counts, (const char *)counts, bytes}};
    return kith__gpu_download(ctx, copies);
}
