/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps on a GPU, host side: uploads the rows, which are packed into panels there (replicas.h),
 * and counts tiles of pairs in several launches, between which the watch callback is called.
 */
#include <float.h>
#include <string.h>

#include "rdf/gpu/rdf_gpu.h"
#include "replicas.h"
#include "engine/gpu/gpu_state.h"

/* Numbers of buffers of scratch memory, on the device and on the host. */
enum { ROWS = KITH_WORK_OF(overlap), PANELS, ARRAYS };

/* Shared memory for the counters of a thread block [bytes]. With the slices of its panels, 32 KiB
 * in double (replicas.cu), it fits the 48 KiB that every device has. */
static const int64_t counter_bytes = 12 << 10;

/** Upload the rows, and allocate the panels.
 *  @param[in,out] all  overlap, precision, n_panels and depth are set; overlap.rows and panels are
 *                      set here */
static kith_status upload_rows(kith_ctx *ctx, struct kith__gpu_replicas *all)
{
    struct kith__gpu *gpu = ctx->state;
    struct kith__overlap *o = &all->overlap;
    const size_t item = o->type == KITH_BITS ? sizeof(uint64_t) : (size_t)o->type;
    const size_t bytes = (size_t)(o->n * o->stride) * item;
    const size_t packed = o->type == KITH_BITS ? sizeof(uint32_t) : (size_t)all->precision;
    void *rows = kith__gpu_need(gpu, ROWS, bytes);
    all->panels = kith__gpu_need(gpu, PANELS,
                                 (size_t)(all->n_panels * all->depth * KITH_GPU_PANEL) * packed);
    KITH_CHECK(ctx, rows && all->panels, KITH_NO_MEMORY,
               "out of device memory for %lld replicas, twice", (long long)o->n);
    KITH_TRY(kith__gpu_upload(ctx, rows, o->rows, bytes));
    o->rows = rows;
    return KITH_OK;
}

/** Upload squares, scales, weights, edges and the table; zero the counters and the stop flag. */
static kith_status upload_arrays(kith_ctx *ctx, struct kith__gpu_replicas *all)
{
    struct kith__gpu *gpu = ctx->state;
    struct kith__overlap *o = &all->overlap;
    const size_t n = (size_t)o->n, bins = (size_t)o->bins;
    const size_t numbers = 3 * n + bins + 1;
    double *here = kith__work_need(&ctx->work, ARRAYS, numbers * sizeof *here);
    const size_t table = o->type == KITH_BITS ? (size_t)(o->dim + 1) * sizeof *o->table : 0;
    const size_t counters = bins + 2 + 1; /* words of 64 bits; the last one holds the stop flag */
    double *there = kith__gpu_need(gpu, ARRAYS, (numbers + counters) * sizeof *there + table);
    KITH_CHECK(ctx, here != NULL, KITH_NO_MEMORY, "out of memory for the weights of replicas");
    KITH_CHECK(ctx, there != NULL, KITH_NO_MEMORY,
               "out of device memory for the weights of replicas");
    memcpy(here, o->square, n * sizeof *here);
    for (size_t i = 0; i < n; i++) {
        here[n + i] = kith__overlap_scale(o, &all->band, (int64_t)i); /* unused for bits */
        here[2 * n + i] = kith__overlap_weight(o, &all->band, (int64_t)i);
    }
    memcpy(here + 3 * n, o->edges, (bins + 1) * sizeof *here);
    KITH_TRY(kith__gpu_upload(ctx, there, here, numbers * sizeof *here));
    o->square = there;
    all->scales = there + n;
    all->weights = there + 2 * n;
    o->edges = there + 3 * n;
    all->counts = (unsigned long long *)(void *)(there + numbers);
    gpu->stop = (unsigned *)(void *)(all->counts + bins + 2);
    all->stop = gpu->stop;
    KITH_TRY(kith__gpu_upload(ctx, all->counts + counters, o->table, table));
    o->table = (const int32_t *)(const void *)(all->counts + counters);
    KITH_GPU_TRY(ctx, "clearing counters",
                 gpuMemsetAsync(all->counts, 0, counters * sizeof *all->counts, gpu->stream));
    return KITH_OK;
}

/** Count all tiles, in several launches. */
static kith_status count_tiles(kith_ctx *ctx, struct kith__gpu_replicas *all)
{
    static const double much = 3e12; /* multiplications of one launch: some tenths of a second */
    /* SQUARE: tiles of a square. MOST_EACH: tiles of a thread block in one launch, whose 2^30 pairs
     * do not overflow its counters of 32 bits */
    enum { SQUARE = KITH_GPU_SQUARE * KITH_GPU_SQUARE, MOST_EACH = 1 << 16 };
    const struct kith__gpu *gpu = ctx->state;
    const int64_t squares = (all->n_panels + KITH_GPU_SQUARE - 1) / KITH_GPU_SQUARE;
    const int64_t tiles = squares * (squares + 1) / 2 * SQUARE;
    const int64_t resident = (int64_t)gpu->processors * kith__gpu_compare_blocks(all->precision);
    /* multiplications of a tile, to which counting a pair adds the cost of 64 */
    const double each = (double)KITH_GPU_PANEL * KITH_GPU_PANEL * (double)(all->depth + 64);
    const double run = much / each < (double)(MOST_EACH * resident)
                           ? much / each
                           : (double)(MOST_EACH * resident);
    const int64_t step = run > (double)resident ? (int64_t)run : resident;
    for (all->begin = 0; all->begin < tiles; all->begin = all->end) {
        all->end = all->begin + step < tiles ? all->begin + step : tiles;
        const int64_t n = all->end - all->begin;
        KITH_GPU_TRY(ctx, "counting overlaps",
                     kith__gpu_compare(all, n < resident ? n : resident, gpu->stream));
        KITH_TRY(kith__gpu_wait_all(ctx, "counting overlaps"));
        KITH_CHECK(ctx, !kith__watch(ctx, all->end, tiles), KITH_CANCELLED,
                   "cancelled by the watch callback");
    }
    return KITH_OK;
}

/** kith__overlap_backend.count */
static kith_status count_overlaps(kith_ctx *ctx, const struct kith__overlap *o)
{
    /* A term is part of one chain of fused multiply-adds (kith__overlap_band): at most dim rounded
     * operations, and 2 to spare. */
    const int64_t chain = o->dim + 2;
    struct kith__gpu_replicas all = {.overlap = *o, .precision = KITH_FLOAT};
    KITH_TRY(kith__gpu_begin(ctx));
    if (o->type != KITH_BITS) {
        all.band = kith__overlap_band(o, chain, (double)FLT_EPSILON / 2);
        if (o->type == KITH_DOUBLE || all.band.needs_double) {
            all.precision = KITH_DOUBLE;
            all.band = kith__overlap_band(o, chain, DBL_EPSILON / 2);
        }
    }
    const int64_t per_row = o->type == KITH_BITS ? 2 * o->stride : o->dim;
    all.depth = (per_row + KITH_GPU_SLICE - 1) / KITH_GPU_SLICE * KITH_GPU_SLICE;
    all.n_panels = (o->n + KITH_GPU_PANEL - 1) / KITH_GPU_PANEL;
    all.copies = kith__gpu_choose_copies(o->bins + 2, counter_bytes, counter_bytes);
    KITH_TRY(upload_rows(ctx, &all));
    KITH_TRY(upload_arrays(ctx, &all));
    const struct kith__gpu *gpu = ctx->state;
    KITH_GPU_TRY(ctx, "packing replicas", kith__gpu_pack(&all, gpu->stream));
    KITH_TRY(count_tiles(ctx, &all));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)o->counts, (const char *)(all.counts + 1), (size_t)o->bins * sizeof *o->counts}};
    return kith__gpu_download(ctx, copies);
}

const struct kith__overlap_backend kith__cuda_overlap = {
    .count = count_overlaps,
};
