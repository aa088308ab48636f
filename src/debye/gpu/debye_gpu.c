/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums on a GPU, host side: several launches for each run of q, between which the watch
 * callback is called.
 */
#include "debye_gpu.h"

/** Set the sums at q = 0, if that is the first q: the numbers of pairs, as every pair contributes
 *  1. @param d  its arrays are in host memory */
static void count_pairs(const struct kith__debye *d)
{
    for (int32_t p = 0; p < d->pieces && !(d->q_min > 0); p++) {
        const struct kith__piece *piece = &d->piece[p];
        for (int32_t b = piece->species; b < d->n_species; b++) {
            double pairs = 0;
            for (int32_t i = piece->begin; i < piece->end; i++) {
                pairs += (double)(d->first[b + 1] - (b == piece->species ? i + 1 : d->first[b]));
            }
            d->sums[((int64_t)p * d->n_species + b) * d->n_q] = pairs;
        }
    }
}

/** Return the number of pieces of one launch, each processed by a thread block: some ten
 *  milliseconds of work, but at least 16 thread blocks for each multiprocessor. */
static int64_t pieces_per_launch(const struct kith__gpu *gpu, const struct kith__debye *d)
{
    const int64_t many_pairs = (int64_t)1 << 35;
    const int64_t least = (int64_t)16 * gpu->processors;
    const int64_t pieces = many_pairs / (d->n * KITH_DEBYE_PIECE);
    return pieces > least ? pieces : least;
}

/** kith__debye_backend.sum */
static kith_status sum_debye(kith_ctx *ctx, const struct kith__debye *debye)
{
    struct kith__gpu *gpu = ctx->state;
    struct kith__debye d = *debye; /* the copy has its arrays in device memory */
    const size_t bytes = (size_t)d.n * sizeof(double);
    const size_t stop_bytes = sizeof(double); /* the stop flag, after the sums */
    const size_t sums = (size_t)d.pieces * (size_t)d.n_species * (size_t)d.n_q * sizeof *d.sums;
    struct kith__gpu_array array[] = {
        {d.xyz[0], bytes, NULL},
        {d.xyz[1], bytes, NULL},
        {d.xyz[2], bytes, NULL},
        {d.first, ((size_t)d.n_species + 1) * sizeof *d.first, NULL},
        {d.piece, (size_t)d.pieces * sizeof *d.piece, NULL},
    };
    if (d.n == 0) {
        return KITH_OK;
    }
    void *rest = NULL;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_upload_arrays(ctx, KITH_WORK_OF(debye), array, 5, sums + stop_bytes, &rest));
    for (int k = 0; k < 3; k++) {
        d.xyz[k] = array[k].at;
    }
    d.first = array[3].at;
    d.piece = array[4].at;
    d.sums = rest;
    gpu->stop = (unsigned *)(void *)((char *)rest + sums);
    KITH_GPU_TRY(ctx, "clearing sums", gpuMemsetAsync(rest, 0, sums + stop_bytes, gpu->stream));
    const int64_t runs = (d.n_q + KITH_DEBYE_RUN - 1) / KITH_DEBYE_RUN;
    const int64_t at_once = pieces_per_launch(gpu, &d);
    for (int64_t run = 0; run < runs; run++) {
        for (int64_t piece = 0; piece < d.pieces; piece += at_once) {
            const int64_t left = d.pieces - piece;
            KITH_GPU_TRY(ctx, "summing over pairs",
                         kith__gpu_debye_run(&d, run, piece, left < at_once ? left : at_once,
                                             gpu->stop, gpu->stream));
            if (ctx->watch) {
                KITH_TRY(kith__gpu_wait_all(ctx, "summing over pairs"));
            }
            KITH_CHECK(ctx, !kith__watch(ctx, run * d.pieces + piece, runs * d.pieces),
                       KITH_CANCELLED, "cancelled by the watch callback");
        }
    }
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)debye->sums, (const char *)d.sums, sums}};
    KITH_TRY(kith__gpu_download(ctx, copies));
    count_pairs(debye);
    return KITH_OK;
}

const struct kith__debye_backend kith__cuda_debye = {
    .sum = sum_debye,
};
