/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cuda backend: "cuda" is the first device, "cuda:1" the second. Opening and closing a device,
 * and the end of each call.
 */
#include "core/backend.h"
#include "batch_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu_grid.h"
#include "gpu_state.h"
#include "kernels.h"

static const struct kith__memory device_memory = {kith__gpu_buffer_need, kith__gpu_buffer_free};

/** An allocation fails when memory is short, but also in a captured call and when the device is
 *  lost: return the status that applies. */
static kith_status check_allocation(kith_ctx *ctx, kith_status status)
{
    const struct kith__gpu *gpu = ctx->state;
    if (status != KITH_NO_MEMORY) {
        return status;
    }
    if (gpu->capturing) {
        return gpu->refused ? kith__fail(ctx, KITH_LIMIT,
                                         "the context's scratch memory is too small, and cannot "
                                         "grow while its stream is captured in a graph: make the "
                                         "call once before the capture")
                            : status;
    }
    const gpuError_t error = gpuStreamQuery(gpu->stream);
    return error == gpuSuccess || error == gpuErrorNotReady
               ? status
               : kith__gpu_fail(ctx, error, "reserving memory");
}

/** kith__backend.end_call: note where the call's work ends on the stream, and make the device
 *  current again that was current when the call began. A failure to record the event does not
 *  change the status: that of the work is returned. */
static kith_status end_call(kith_ctx *ctx, kith_status status)
{
    struct kith__gpu *gpu = ctx->state;
    status = check_allocation(ctx, status);
    if (gpu->queueing && gpuEventRecord(gpu->last, gpu->stream) != gpuSuccess) {
        (void)gpuGetLastError();
    }
    gpu->queueing = gpu->capturing = false;
    if (gpu->caller_device >= 0) {
        (void)gpuSetDevice(gpu->caller_device);
        gpu->caller_device = -1;
    }
    return status;
}

/** Load the kernels of the vendor's scan, which the list of kernels does not have, by a scan of one
 *  number: a search queues the scan behind kernels that take long (kernels.h). */
static kith_status load_scan(kith_ctx *ctx)
{
    struct kith__gpu *gpu = ctx->state;
    size_t bytes = 0;
    KITH_GPU_TRY(ctx, "opening the device", kith__gpu_scan(NULL, &bytes, NULL, 1, gpu->stream));
    void *temporary = kith__gpu_need(gpu, KITH_GPU_TEMPORARY, bytes);
    int64_t *count = kith__gpu_need(gpu, KITH_GPU_SORT_KEY, sizeof *count);
    KITH_CHECK(ctx, temporary && count, KITH_NO_MEMORY, "out of device memory for a context");
    KITH_GPU_TRY(ctx, "opening the device", gpuMemsetAsync(count, 0, sizeof *count, gpu->stream));
    KITH_GPU_TRY(ctx, "opening the device",
                 kith__gpu_scan(temporary, &bytes, count, 1, gpu->stream));
    return KITH_OK;
}

/** Open a device: make it current, load all kernels, create streams, events and pinned memory. What
 *  was made before a failure is freed by gpu_close. */
static kith_status open_device(kith_ctx *ctx, int device)
{
    struct kith__gpu *gpu = ctx->state;
    gpuDeviceProp properties;
    gpu->device = device;
    if (kith__gpu_enter(gpu) != gpuSuccess ||
        gpuGetDeviceProperties(&properties, device) != gpuSuccess) {
        const gpuError_t error = gpuGetLastError();
        return kith__fail(ctx, KITH_NO_BACKEND,
                          "backend \"cuda:%d\": the device cannot be used: %s", device,
                          gpuGetErrorString(error));
    }
    gpu->processors = properties.multiProcessorCount;
    gpu->shared = (int64_t)properties.gpuSharedBytes;
    gpu->shared_all = (int64_t)properties.gpuSharedBytesOfAll;
    const gpuError_t error = kith__gpu_load_kernels();
    if (error != gpuSuccess) {
        (void)gpuGetLastError();
        return kith__fail(ctx, KITH_NO_BACKEND,
                          "backend \"cuda:%d\": this build's code does not run on %s (compute "
                          "capability %d.%d): %s",
                          device, properties.name, properties.major, properties.minor,
                          gpuGetErrorString(error));
    }
    KITH_GPU_TRY(ctx, "opening the device", gpuStreamCreate(&gpu->own_stream));
    gpu->stream = ctx->stream ? (gpuStream_t)ctx->stream : gpu->own_stream;
    for (int l = 0; l < KITH_GPU_TRANSFERS; l++) {
        KITH_GPU_TRY(ctx, "opening the device",
                     gpuEventCreateWithFlags(&gpu->transfer[l].done, gpuEventDisableTiming));
    }
    KITH_GPU_TRY(ctx, "opening the device",
                 gpuEventCreateWithFlags(&gpu->planned, gpuEventDisableTiming));
    KITH_GPU_TRY(ctx, "opening the device",
                 gpuEventCreateWithFlags(&gpu->waited, gpuEventDisableTiming));
    KITH_GPU_TRY(ctx, "opening the device",
                 gpuEventCreateWithFlags(&gpu->last, gpuEventDisableTiming));
    gpu->queueing = true;
    KITH_GPU_TRY(ctx, "opening the device",
                 gpuStreamCreateWithFlags(&gpu->stopping, gpuStreamNonBlocking));
    gpu->small = kith__gpu_pinned_need(&gpu->small_memory, KITH_GPU_SMALL_BYTES + KITH_ALIGN);
    KITH_CHECK(ctx, gpu->small != NULL, KITH_NO_MEMORY, "out of pinned memory for a context");
    return load_scan(ctx);
}

/** kith__backend.close; also after an opening that failed halfway. */
static void gpu_close(kith_ctx *ctx)
{
    struct kith__gpu *gpu = ctx->state;
    if (gpu->process != getpid()) { /* in a child of fork(), every call to the driver fails */
        free(gpu);
        return;
    }
    if (gpu->last) { /* the caller's stream may have been destroyed */
        (void)gpuEventSynchronize(gpu->last);
        (void)gpuEventDestroy(gpu->last);
    }
    if (gpu->own_stream) {
        (void)gpuStreamDestroy(gpu->own_stream);
    }
    kith__gpu_free_scratch(gpu);
    for (int l = 0; l < KITH_GPU_TRANSFERS; l++) {
        kith__gpu_pinned_free(&gpu->transfer[l].pinned);
        if (gpu->transfer[l].done) {
            (void)gpuEventDestroy(gpu->transfer[l].done);
        }
    }
    if (gpu->planned) {
        (void)gpuEventDestroy(gpu->planned);
    }
    if (gpu->waited) {
        (void)gpuEventDestroy(gpu->waited);
    }
    if (gpu->stopping) {
        (void)gpuStreamSynchronize(gpu->stopping);
        (void)gpuStreamDestroy(gpu->stopping);
    }
    kith_pairs_free(&gpu->staging);
    kith_pairs_free(&gpu->block);
    kith__gpu_pinned_free(&gpu->small_memory);
    free(gpu);
}

/** Store the message that no GPU can be used. Where the driver is too old, the message names the
 *  version of CUDA that the driver is for, and the one that this build needs.
 *  @return KITH_NO_BACKEND */
static kith_status refuse_driver(kith_ctx *ctx, gpuError_t error)
{
    int has = 0, needs = 0;
    if (gpuDriverGetVersion(&has) != gpuSuccess || gpuRuntimeGetVersion(&needs) != gpuSuccess ||
        has == 0 || has >= needs) {
        return kith__fail(ctx, KITH_NO_BACKEND, "backend \"cuda\": no GPU can be used here: %s",
                          gpuGetErrorString(error));
    }
    return kith__fail(ctx, KITH_NO_BACKEND,
                      "backend \"cuda\": this build needs a driver for CUDA %d.%d; the driver here "
                      "is for %d.%d: %s",
                      needs / 1000, needs % 1000 / 10, has / 1000, has % 1000 / 10,
                      gpuGetErrorString(error));
}

/** kith__backend.open: the variant is the number of the device; "" is device 0. Numbers from 1024
 *  on are refused before they are converted to int. */
static kith_status gpu_open(kith_ctx *ctx, const char *variant)
{
    char *end = NULL;
    const long device = *variant ? strtol(variant, &end, 10) : 0;
    KITH_CHECK(ctx, !*variant || (*end == '\0' && device >= 0 && device < 1024), KITH_INVALID,
               "backend \"cuda:%s\": expected the number of a device, counted from 0", variant);
    int devices = 0;
    const gpuError_t error = gpuGetDeviceCount(&devices);
    if (error != gpuSuccess) {
        (void)gpuGetLastError();
        return refuse_driver(ctx, error);
    }
    KITH_CHECK(ctx, device < devices, KITH_NO_BACKEND,
               "backend \"cuda:%ld\": this machine has %d GPU%s, counted from 0", device, devices,
               devices == 1 ? "" : "s");
    struct kith__gpu *gpu = calloc(1, sizeof *gpu);
    KITH_CHECK(ctx, gpu != NULL, KITH_NO_MEMORY, "out of memory for a context");
    ctx->state = gpu;
    gpu->caller_device = -1;
    gpu->process = getpid();
    const kith_status status = end_call(ctx, open_device(ctx, (int)device));
    if (status != KITH_OK) {
        gpu_close(ctx);
        ctx->state = NULL;
        /* a device that fails while it is opened was unusable before */
        return status == KITH_DEVICE_LOST ? KITH_NO_BACKEND : status;
    }
    snprintf(ctx->name, sizeof ctx->name, "cuda:%ld", device);
    return KITH_OK;
}

/** Wait for an event while a stream is captured: a thread may do that only while its capture mode
 *  is relaxed, which is set for the wait. */
static gpuError_t wait_beside_capture(gpuEvent_t event)
{
    gpuStreamCaptureMode mode = gpuStreamCaptureModeRelaxed;
    gpuError_t error = gpuThreadExchangeStreamCaptureMode(&mode);
    if (error == gpuSuccess) {
        error = gpuEventSynchronize(event);
        (void)gpuThreadExchangeStreamCaptureMode(&mode);
    }
    return error;
}

/** kith__backend.set_stream. The new stream waits for the work of earlier calls by an event, which
 *  was recorded at the end of the last call: the old stream may have been destroyed. An event from
 *  outside would invalidate a capture, so the host waits where the new stream is captured. */
static kith_status gpu_set_stream(kith_ctx *ctx, void *stream)
{
    struct kith__gpu *gpu = ctx->state;
    gpuStreamCaptureStatus capture = gpuStreamCaptureStatusNone;
    KITH_TRY(kith__gpu_use(ctx));
    gpuError_t error = gpuStreamIsCapturing(stream, &capture);
    if (error == gpuSuccess) {
        error = capture == gpuStreamCaptureStatusNone ? gpuStreamWaitEvent(stream, gpu->last, 0)
                                                      : wait_beside_capture(gpu->last);
    }
    KITH_GPU_TRY(ctx, "changing the stream", error);
    gpu->stream = stream;
    return KITH_OK;
}

/** kith__backend.scratch_bytes: scratch memory on the device, also that which only captured graphs
 *  use, and struct kith__gpu; without pinned memory and `staging`. */
static int64_t gpu_scratch_bytes(const kith_ctx *ctx)
{
    const struct kith__gpu *gpu = ctx->state;
    size_t bytes = sizeof *gpu + gpu->dropped_bytes;
    for (int s = 0; s < KITH_WORK_BUFFERS; s++) {
        bytes += gpu->slot[s].bytes;
    }
    return (int64_t)bytes;
}

#define DECLARE(question) extern const struct kith__##question##_backend kith__cuda_##question;
KITH_QUESTIONS(DECLARE)

const struct kith__backend kith__cuda_backend = {.name = "cuda",
                                                 .device_memory = &device_memory,
                                                 .open = gpu_open,
                                                 .close = gpu_close,
                                                 .scratch_bytes = gpu_scratch_bytes,
                                                 .end_call = end_call,
                                                 .set_stream = gpu_set_stream,
                                                 .fetch = kith__gpu_fetch,
                                                 .add = kith__gpu_add,
#define ENTRY(question) .question = &kith__cuda_##question,
                                                 KITH_QUESTIONS(ENTRY)};
