/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves on a GPU, host side: several launches of some waves each, between which the
 * watch callback is called.
 */
#include "waves_gpu.h"

#include <string.h>

#include "engine/gpu/search.h"
#include "waves/waves.h"

/* Numbers of buffers of scratch memory, on the device and on the host. */
enum { SORTED = KITH_WORK_OF(waves), SUMS, FIRST };

/** Return bytes rounded up to a multiple of KITH_ALIGN. */
static size_t aligned(size_t bytes)
{
    return (bytes + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
}

/** Sort the particles by species, cut them into pieces, and upload these and the waves.
 *  @param[in,out] all  question is set; id, piece, pieces and hkl are set here, and phases is
 *                      allocated */
static kith_status sort_by_species(struct kith__gpu_search *s, const struct kith__waves *waves,
                                   struct kith__gpu_waves *all)
{
    kith_ctx *ctx = s->ctx;
    const size_t n = (size_t)all->question.a.n;
    const size_t kinds = (size_t)waves->n_species;
    const size_t ids = aligned(n * sizeof(int32_t));
    const size_t pieces = aligned(
        (size_t)kith__most_pieces((int64_t)n, waves->n_species, KITH_GPU_WAVE_PIECE) *
        sizeof(struct kith__piece));
    const size_t hkl = 3 * (size_t)waves->n * sizeof *waves->hkl;
    const size_t phases = aligned(n * sizeof(uint64_t));
    char *here = kith__work_need(&ctx->work, SORTED, ids + pieces);
    int64_t *first = kith__work_need(&ctx->work, FIRST, (kinds + 2) * sizeof *first);
    char *there = kith__gpu_need(s->gpu, SORTED, ids + pieces + aligned(hkl) + 3 * phases);
    KITH_CHECK(ctx, here && first, KITH_NO_MEMORY,
               "out of memory to sort %lld particles by species", (long long)n);
    KITH_CHECK(ctx, there != NULL, KITH_NO_MEMORY, "out of device memory for %lld particles",
               (long long)n);
    all->pieces = kith__cut_pieces(waves->species, (int64_t)n, waves->n_species,
                                   KITH_GPU_WAVE_PIECE, first, (int32_t *)(void *)here,
                                   (struct kith__piece *)(void *)(here + ids));
    KITH_TRY(kith__gpu_upload(ctx, there, here, ids + pieces));
    KITH_TRY(kith__gpu_upload(ctx, there + ids + pieces, waves->hkl, hkl));
    all->id = (const int32_t *)(const void *)there;
    all->piece = (const struct kith__piece *)(const void *)(there + ids);
    all->hkl = (const int32_t *)(const void *)(there + ids + pieces);
    for (size_t k = 0; k < 3; k++) {
        all->phases[k] = (uint64_t *)(void *)(there + ids + pieces + aligned(hkl) + k * phases);
    }
    return KITH_OK;
}

/** Return the number of waves of one launch: so many that their partial sums, one for each piece,
 *  fit 64 MiB, and that the launch takes some tenths of a second at most; but at least 128, one for
 *  each thread of a thread block. */
static int64_t run_length(const struct kith__gpu_waves *all)
{
    static const int64_t most_parts = (int64_t)1 << 22, most_terms = (int64_t)1 << 36;
    const int64_t by_parts = most_parts / all->pieces;
    const int64_t by_terms = most_terms / all->question.a.n;
    const int64_t most = by_parts < by_terms ? by_parts : by_terms;
    const int64_t least = 128;
    return most < least ? least : most;
}

/** Allocate the sums, compute them in several launches, and download them to waves->sums.
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT for the particle of the lowest index that cannot
 *          be used; KITH_NO_MEMORY; KITH_CANCELLED; KITH_DEVICE_LOST */
static kith_status sum(struct kith__gpu_search *s, const struct kith__waves *waves,
                       struct kith__gpu_waves *all)
{
    kith_ctx *ctx = s->ctx;
    const struct kith__gpu *gpu = s->gpu;
    const size_t sums = (size_t)(waves->n * waves->n_species) * sizeof *all->sums;
    const int64_t run = run_length(all) < waves->n ? run_length(all) : waves->n;
    const size_t parts = (size_t)(run * all->pieces) * sizeof *all->part;
    char *at = kith__gpu_need(s->gpu, SUMS, sums + parts + sizeof *all->bad);
    KITH_CHECK(ctx, at != NULL, KITH_NO_MEMORY, "out of device memory for sums over %lld waves",
               (long long)waves->n);
    all->sums = (double(*)[2])(void *)at;
    all->part = (double(*)[2])(void *)(at + sums);
    all->bad = (unsigned long long *)(void *)(at + sums + parts);
    KITH_GPU_TRY(ctx, "preparing sums",
                 gpuMemsetAsync(all->bad, UINT8_MAX, sizeof *all->bad, gpu->stream));
    KITH_GPU_TRY(ctx, "preparing sums", kith__gpu_compute_phases(all, gpu->stream));
    for (all->begin = 0; all->begin < waves->n; all->begin = all->end) {
        all->end = all->begin + run < waves->n ? all->begin + run : waves->n;
        KITH_GPU_TRY(ctx, "summing over waves", kith__gpu_add_waves(all, gpu->stream));
        KITH_TRY(kith__gpu_wait_all(ctx, "summing over waves"));
        KITH_CHECK(ctx, !kith__watch(ctx, all->end, waves->n), KITH_CANCELLED,
                   "cancelled by the watch callback");
    }
    unsigned long long bad;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)waves->sums, (const char *)all->sums, sums},
        {(char *)&bad, (const char *)all->bad, sizeof bad}};
    KITH_TRY(kith__gpu_download(ctx, copies));
    return bad == ~0ull ? KITH_OK
                        : kith__refuse(ctx, &all->question, "points",
                                       bad % 2 ? KITH_LIMIT : KITH_NOT_FINITE, (int64_t)(bad / 2));
}

/** kith__waves_backend.sum */
static kith_status sum_waves(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__waves *waves)
{
    struct kith__gpu_search s = {.ctx = ctx, .gpu = ctx->state};
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_upload_question(&s, question));
    struct kith__gpu_waves all = {
        .question = s.sweep.grid.question, .n_waves = waves->n, .n_species = waves->n_species};
    if (waves->n == 0 || question->a.n == 0) {
        memset(waves->sums, 0, (size_t)(waves->n * waves->n_species) * 2 * sizeof *waves->sums);
        return KITH_OK;
    }
    KITH_TRY(sort_by_species(&s, waves, &all));
    return sum(&s, waves, &all);
}

const struct kith__waves_backend kith__cuda_waves = {
    .sum = sum_waves,
};
