/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Subset reads of a flock on the device: the subset is gathered between two steps, and copied to
 * pinned memory on a stream of its own, while the next steps run.
 */
#include "flock_state_gpu.h"

/** Create stream, events and buffers that are missing, and upload the ranks of a new subset. Waits
 *  for the copy before, which uses the buffers.
 *  @param bytes  size of positions and velocities of the subset */
static kith_status prepare(kith_ctx *ctx, const struct kith_flock *flock,
                           struct kith__gpu_subset *t, size_t bytes)
{
    if (!t->stream) {
        KITH_GPU_TRY(ctx, "preparing a subset", gpuStreamCreate(&t->stream));
    }
    gpuEvent_t *const events[] = {&t->gathered, &t->arrived};
    for (int e = 0; e < 2; e++) {
        if (!*events[e]) {
            KITH_GPU_TRY(ctx, "preparing a subset",
                         gpuEventCreateWithFlags(events[e], gpuEventDisableTiming));
        }
    }
    const size_t ranks = (size_t)flock->n * sizeof(int32_t);
    KITH_GPU_TRY(ctx, "waiting for a subset", gpuStreamSynchronize(t->stream));
    KITH_CHECK(ctx,
               kith__gpu_buffer_need(&t->rank, ranks) && kith__gpu_buffer_need(&t->out, bytes) &&
                   kith__gpu_pinned_need(&t->pinned, bytes),
               KITH_NO_MEMORY, "out of memory for a subset of %lld", (long long)flock->subset.n);
    if (t->choice != flock->subset.choice) {
        KITH_TRY(kith__gpu_upload(ctx, t->rank.data, flock->subset.rank.data, ranks));
        t->choice = flock->subset.choice;
    }
    return KITH_OK;
}

kith_status kith__gpu_flock_subset(kith_ctx *ctx, struct kith_flock *flock)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_TRY(kith__gpu_flock_begin(ctx));
    KITH_TRY(kith__gpu_flock_open(ctx, flock));
    struct kith__gpu_flock *g = flock->device;
    struct kith__gpu_subset *t = &g->subset;
    const size_t bytes = 3 * (size_t)flock->subset.n * (size_t)flock->question.precision;
    KITH_TRY(prepare(ctx, flock, t, 2 * bytes));
    const struct kith__gpu_subset_read read = {
        .state = *kith__gpu_flock_now(g),
        .n = flock->n,
        .rank = t->rank.data,
        .r = t->out.data,
        .v = (char *)t->out.data + bytes,
        .single = flock->question.precision == KITH_FLOAT,
    };
    /* gather on the context's stream, between two steps; the copy waits for it, later steps do not
     * wait for the copy */
    KITH_GPU_TRY(ctx, "copying a subset", kith__gpu_flock_gather(&read, gpu->stream));
    KITH_GPU_TRY(ctx, "copying a subset", gpuEventRecord(t->gathered, gpu->stream));
    KITH_GPU_TRY(ctx, "copying a subset", gpuStreamWaitEvent(t->stream, t->gathered, 0));
    KITH_GPU_TRY(
        ctx, "copying a subset",
        gpuMemcpyAsync(t->pinned.data, t->out.data, 2 * bytes, gpuMemcpyDeviceToHost, t->stream));
    KITH_GPU_TRY(ctx, "copying a subset", gpuEventRecord(t->arrived, t->stream));
    flock->subset.r = t->pinned.data;
    flock->subset.v = (const char *)t->pinned.data + bytes;
    return KITH_OK;
}

kith_status kith__gpu_flock_wait_subset(kith_ctx *ctx, struct kith_flock *flock)
{
    const struct kith__gpu_flock *g = flock->device;
    KITH_TRY(kith__gpu_flock_begin(ctx));
    KITH_GPU_TRY(ctx, "waiting for a subset", gpuEventSynchronize(g->subset.arrived));
    return KITH_OK;
}

void kith__gpu_flock_drop_subset(struct kith__gpu_flock *g)
{
    if (!g) {
        return;
    }
    struct kith__gpu_subset *t = &g->subset;
    if (t->stream) {
        (void)gpuStreamSynchronize(t->stream);
        (void)gpuStreamDestroy(t->stream);
    }
    gpuEvent_t const events[] = {t->gathered, t->arrived};
    for (int e = 0; e < 2; e++) {
        if (events[e]) {
            (void)gpuEventDestroy(events[e]);
        }
    }
    kith__gpu_buffer_free(&t->rank);
    kith__gpu_buffer_free(&t->out);
    kith__gpu_pinned_free(&t->pinned);
}
