/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory on the device, pinned memory on the host, and copies between host arrays and the device:
 * through two pinned buffers, so that one is filled or emptied while the other is on its way.
 */
#include <string.h>

#include "state.h"

static const size_t lane_bytes = (size_t)8 << 20;

kith_status kith__gpu_fail(kith_ctx *ctx, gpuError_t error, const char *doing)
{
    (void)gpuGetLastError(); /* an error that does not stick is over */
    if (error == gpuErrorMemoryAllocation) {
        return kith__fail(ctx, KITH_NO_MEMORY, "out of device memory while %s", doing);
    }
    return kith__fail(ctx, KITH_DEVICE_LOST, "the device failed while %s: %s", doing,
                      gpuGetErrorString(error));
}

void *kith__gpu_buffer_need(struct kith__buffer *buffer, size_t bytes)
{
    bytes = bytes ? bytes : 1;
    if (buffer->bytes < bytes) {
        kith__gpu_buffer_free(buffer);
        if (gpuMalloc(&buffer->data, bytes) == gpuSuccess) {
            buffer->bytes = bytes;
        } else {
            (void)gpuGetLastError();
            buffer->data = NULL;
        }
    }
    return buffer->data;
}

void *kith__gpu_pinned_need(struct kith__buffer *buffer, size_t bytes)
{
    if (buffer->bytes < bytes) {
        kith__gpu_pinned_free(buffer);
        if (gpuMallocHost(&buffer->data, bytes) == gpuSuccess) {
            buffer->bytes = bytes;
        } else {
            (void)gpuGetLastError();
            buffer->data = NULL;
        }
    }
    return buffer->data;
}

void kith__gpu_buffer_free(struct kith__buffer *buffer)
{
    (void)gpuFree(buffer->data);
    *buffer = (struct kith__buffer){0};
}

void kith__gpu_pinned_free(struct kith__buffer *buffer)
{
    (void)gpuFreeHost(buffer->data);
    *buffer = (struct kith__buffer){0};
}

void *kith__gpu_need(struct kith__gpu *gpu, int slot, size_t bytes)
{
    return kith__gpu_buffer_need(&gpu->slot[slot], bytes);
}

/** memcpy by all threads: one core cannot feed the bus. */
static void copy(const kith_ctx *ctx, void *to, const void *from, size_t bytes)
{
    enum { PIECE = 1 << 20 };
    const int64_t pieces = (int64_t)((bytes + PIECE - 1) / PIECE);
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (pieces > 1)
    for (int64_t p = 0; p < pieces; p++) {
        const size_t at = (size_t)p * PIECE;
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        memcpy((char *)to + at, (const char *)from + at, n);
    }
}

static kith_status get_lane(kith_ctx *ctx, size_t number, struct kith__gpu_lane **lane)
{
    struct kith__gpu *gpu = ctx->state;
    *lane = &gpu->lane[number % KITH_GPU_LANES];
    KITH_CHECK(ctx, kith__gpu_pinned_need(&(*lane)->pinned, lane_bytes) != NULL, KITH_NO_MEMORY,
               "out of pinned memory for transfers");
    return KITH_OK;
}

kith_status kith__gpu_upload(kith_ctx *ctx, void *to, const void *from, size_t bytes)
{
    const struct kith__gpu *gpu = ctx->state;
    for (size_t at = 0, number = 0; at < bytes; at += lane_bytes, number++) {
        const size_t n = bytes - at < lane_bytes ? bytes - at : lane_bytes;
        struct kith__gpu_lane *lane;
        KITH_TRY(get_lane(ctx, number, &lane));
        KITH_GPU_TRY(ctx, "uploading", gpuEventSynchronize(lane->done));
        copy(ctx, lane->pinned.data, (const char *)from + at, n);
        KITH_GPU_TRY(ctx, "uploading",
                     gpuMemcpyAsync((char *)to + at, lane->pinned.data, n, gpuMemcpyHostToDevice,
                                    gpu->stream));
        KITH_GPU_TRY(ctx, "uploading", gpuEventRecord(lane->done, gpu->stream));
    }
    return KITH_OK;
}

kith_status kith__gpu_download(kith_ctx *ctx, void *to, const void *from, size_t bytes)
{
    const struct kith__gpu *gpu = ctx->state;
    const size_t chunks = (bytes + lane_bytes - 1) / lane_bytes;
    for (size_t c = 0; c < chunks + 1; c++) {
        struct kith__gpu_lane *lane;
        if (c < chunks) {
            const size_t at = c * lane_bytes;
            KITH_TRY(get_lane(ctx, c, &lane));
            KITH_GPU_TRY(ctx, "downloading", gpuEventSynchronize(lane->done));
            KITH_GPU_TRY(ctx, "downloading",
                         gpuMemcpyAsync(lane->pinned.data, (const char *)from + at,
                                        bytes - at < lane_bytes ? bytes - at : lane_bytes,
                                        gpuMemcpyDeviceToHost, gpu->stream));
            KITH_GPU_TRY(ctx, "downloading", gpuEventRecord(lane->done, gpu->stream));
        }
        if (c > 0) {
            const size_t at = (c - 1) * lane_bytes;
            KITH_TRY(get_lane(ctx, c - 1, &lane));
            KITH_GPU_TRY(ctx, "downloading", gpuEventSynchronize(lane->done));
            copy(ctx, (char *)to + at, lane->pinned.data,
                 bytes - at < lane_bytes ? bytes - at : lane_bytes);
        }
    }
    return KITH_OK;
}
