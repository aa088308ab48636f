/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Subset reads of a flock on the device: the subset is gathered between two steps, and copied to
 * pinned memory on a stream of its own, while the next steps run.
 */
#include "flock_state_gpu.h"

/** Create stream, events and buffers that are missing, and upload the ranks of a new subset. */
static kith_status prepare(kith_ctx *ctx, const struct kith_flock *flock,
                           struct kith__gpu_glance *t, size_t bytes)
{
    if (!t->stream) {
        KITH_GPU_TRY(ctx, "preparing a glance", gpuStreamCreate(&t->stream));
    }
    gpuEvent_t *const events[] = {&t->gathered, &t->arrived};
    for (int e = 0; e < 2; e++) {
        if (!*events[e]) {
            KITH_GPU_TRY(ctx, "preparing a glance",
                         gpuEventCreateWithFlags(events[e], gpuEventDisableTiming));
        }
    }
    const size_t ranks = (size_t)flock->n * sizeof(int32_t);
    KITH_GPU_TRY(ctx, "waiting for a glance", gpuStreamSynchronize(t->stream));
    KITH_CHECK(ctx,
               kith__gpu_buffer_need(&t->rank, ranks) && kith__gpu_buffer_need(&t->out, bytes) &&
                   kith__gpu_pinned_need(&t->pinned, bytes),
               KITH_NO_MEMORY, "out of memory for a glance at %lld", (long long)flock->glance.n);
    if (t->choice != flock->glance.choice) {
        KITH_TRY(kith__gpu_upload(ctx, t->rank.data, flock->glance.rank.data, ranks));
        t->choice = flock->glance.choice;
    }
    return KITH_OK;
}

kith_status kith__gpu_flock_glance(kith_ctx *ctx, struct kith_flock *flock)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_TRY(kith__gpu_flock_begin(ctx));
    KITH_TRY(kith__gpu_flock_open(ctx, flock));
    struct kith__gpu_flock *g = flock->device;
    struct kith__gpu_glance *t = &g->glance;
    const size_t bytes = 3 * (size_t)flock->glance.n * (size_t)flock->question.precision;
    KITH_TRY(prepare(ctx, flock, t, 2 * bytes));
    const struct kith__gpu_glimpse glimpse = {
        .herd = *kith__gpu_flock_now(g),
        .n = flock->n,
        .chosen = flock->glance.n,
        .rank = t->rank.data,
        .to = t->out.data,
        .single = flock->question.precision == KITH_FLOAT,
    };
    KITH_GPU_TRY(ctx, "glancing at the flock", kith__gpu_flock_gather(&glimpse, gpu->stream));
    KITH_GPU_TRY(ctx, "glancing at the flock", gpuEventRecord(t->gathered, gpu->stream));
    KITH_GPU_TRY(ctx, "glancing at the flock", gpuStreamWaitEvent(t->stream, t->gathered, 0));
    KITH_GPU_TRY(
        ctx, "glancing at the flock",
        gpuMemcpyAsync(t->pinned.data, t->out.data, 2 * bytes, gpuMemcpyDeviceToHost, t->stream));
    KITH_GPU_TRY(ctx, "glancing at the flock", gpuEventRecord(t->arrived, t->stream));
    flock->glance.r = t->pinned.data;
    flock->glance.v = (const char *)t->pinned.data + bytes;
    return KITH_OK;
}

kith_status kith__gpu_flock_glanced(kith_ctx *ctx, struct kith_flock *flock)
{
    const struct kith__gpu_flock *g = flock->device;
    KITH_TRY(kith__gpu_flock_begin(ctx));
    KITH_GPU_TRY(ctx, "waiting for a glance", gpuEventSynchronize(g->glance.arrived));
    return KITH_OK;
}

void kith__gpu_flock_drop_glance(struct kith__gpu_flock *g)
{
    if (!g) {
        return;
    }
    struct kith__gpu_glance *t = &g->glance;
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
