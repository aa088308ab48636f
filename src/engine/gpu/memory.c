/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors and waiting, memory on the device, pinned memory on the host, and copies between host
 * arrays and the device. Copies go through two transfer buffers of pinned memory (double
 * buffering): the host fills or empties one while the other is copied.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "gpu_state.h"
#include "gpu_sweep.h"

/* size of a transfer buffer: more than the largest step of an upload and half of it [bytes] */
static const size_t transfer_bytes = (size_t)8 << 20;
/* sizes of allocations are multiples of this; copies up to this size need a buffer of one page */
static const size_t page_bytes = (size_t)64 << 10;

/* An upload is cut into steps [bytes]. The first is small, so that the transfer starts soon. Steps
 * grow, as each costs the bus some microseconds, but stay small enough that little is left to
 * transfer when the host has filled the last buffer. */
static const size_t first_step = (size_t)1 << 20;
static const size_t largest_step = (size_t)4 << 20;

gpuError_t kith__gpu_enter(struct kith__gpu *gpu)
{
    const gpuError_t error = gpu->caller_device < 0 ? gpuGetDevice(&gpu->caller_device)
                                                    : gpuSuccess;
    return error == gpuSuccess ? gpuSetDevice(gpu->device) : error;
}

kith_status kith__gpu_fail(kith_ctx *ctx, gpuError_t error, const char *doing)
{
    struct kith__gpu *gpu = ctx->state;
    (void)gpuGetLastError(); /* clear an error that is not sticky */
    if (error == gpuErrorMemoryAllocation) {
        return kith__fail(ctx, KITH_NO_MEMORY, "out of device memory while %s", doing);
    }
    if (error >= gpuErrorStreamCaptureUnsupported && error <= gpuErrorStreamCaptureWrongThread) {
        return kith__fail(ctx, KITH_UNSUPPORTED,
                          "%s is not possible while a stream is being captured in a graph: %s",
                          doing, gpuGetErrorString(error));
    }
    gpu->lost = error;
    return kith__fail(ctx, KITH_DEVICE_LOST, "the device failed while %s: %s", doing,
                      gpuGetErrorString(error));
}

/** Refuse a device that is lost, or that a parent process opened. */
static kith_status check_device(kith_ctx *ctx)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_CHECK(ctx, gpu->process == getpid(), KITH_DEVICE_LOST,
               "a child process made by fork() cannot use the GPU of its parent: start it by exec, "
               "or use the backend \"cpu\"");
    KITH_CHECK(ctx, gpu->lost == gpuSuccess, KITH_DEVICE_LOST,
               "the device failed in an earlier call (%s): close the context",
               gpuGetErrorString(gpu->lost));
    return KITH_OK;
}

/** Make the device current. */
static kith_status enter_device(kith_ctx *ctx)
{
    (void)gpuGetLastError(); /* clear an error of the caller's own work, unless it is sticky */
    KITH_GPU_TRY(ctx, "choosing the device", kith__gpu_enter(ctx->state));
    return KITH_OK;
}

kith_status kith__gpu_use(kith_ctx *ctx)
{
    KITH_TRY(check_device(ctx));
    return enter_device(ctx);
}

kith_status kith__gpu_begin_queueing(kith_ctx *ctx)
{
    struct kith__gpu *gpu = ctx->state;
    gpuStreamCaptureStatus capture = gpuStreamCaptureStatusNone;
    KITH_TRY(check_device(ctx));
    KITH_CHECK(ctx, !kith__watch(ctx, 0, 1), KITH_CANCELLED, "cancelled by the watch callback");
    gpu->uploads = 0;
    gpu->stop = NULL;
    gpu->refused = false;
    KITH_TRY(enter_device(ctx));
    KITH_GPU_TRY(ctx, "queueing work", gpuStreamIsCapturing(gpu->stream, &capture));
    gpu->capturing = capture != gpuStreamCaptureStatusNone;
    gpu->queueing = !gpu->capturing;
    return KITH_OK;
}

kith_status kith__gpu_begin(kith_ctx *ctx)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_TRY(kith__gpu_begin_queueing(ctx));
    KITH_CHECK(ctx, !gpu->capturing, KITH_UNSUPPORTED,
               "the stream of the context is being captured in a graph, of which only "
               "kith_pairs_enqueue can be a part");
    return KITH_OK;
}

/** Set the stop flag that the running kernel reads, if there is one, by a copy on a second stream.
 *  Queued work may reset the flag (the memset before a sweep), so the host sets it again until what
 *  it waits for is done. */
static gpuError_t stop_sweep(struct kith__gpu *gpu)
{
    unsigned *word = (unsigned *)(void *)((char *)gpu->small_memory.data + KITH_GPU_SMALL_BYTES);
    *word = KITH_GPU_STOP;
    if (!gpu->stop) {
        return gpuSuccess;
    }
    return gpuMemcpyAsync(gpu->stop, word, sizeof *word, gpuMemcpyHostToDevice, gpu->stopping);
}

kith_status kith__gpu_wait(kith_ctx *ctx, gpuEvent_t event, const char *doing)
{
    enum { SPINS = 2000 }; /* queries after which the thread sleeps between them */
    static const struct timespec pause = {.tv_nsec = 50000}; /* 50 microseconds */
    gpuError_t error = gpuErrorNotReady;
    if (!ctx->watch) { /* nothing can stop the call */
        error = gpuEventSynchronize(event);
    }
    for (int turn = 0; error == gpuErrorNotReady; turn++) {
        error = gpuEventQuery(event);
        if (error == gpuErrorNotReady) {
            (void)gpuGetLastError(); /* else the next launch would report "not ready" */
            const bool stops = kith__cancelled(ctx);
            if (stops) {
                KITH_GPU_TRY(ctx, doing, stop_sweep(ctx->state));
            }
            if (stops || turn > SPINS) {
                nanosleep(&pause, NULL);
            }
        }
    }
    KITH_GPU_TRY(ctx, doing, error);
    return KITH_OK;
}

kith_status kith__gpu_wait_all(kith_ctx *ctx, const char *doing)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_GPU_TRY(ctx, doing, gpuEventRecord(gpu->waited, gpu->stream));
    return kith__gpu_wait(ctx, gpu->waited, doing);
}

/** Round a size up to whole pages, so that small searches of any size reuse their buffers. */
static size_t in_pages(size_t bytes)
{
    return bytes ? (bytes + page_bytes - 1) / page_bytes * page_bytes : page_bytes;
}

void *kith__gpu_buffer_need(struct kith__buffer *buffer, size_t bytes)
{
    if (!buffer->data || buffer->bytes < bytes) {
        kith__gpu_buffer_free(buffer);
        if (gpuMalloc(&buffer->data, in_pages(bytes)) == gpuSuccess) {
            buffer->bytes = in_pages(bytes);
        } else {
            (void)gpuGetLastError();
            buffer->data = NULL;
        }
    }
    return buffer->data;
}

void *kith__gpu_pinned_need(struct kith__buffer *buffer, size_t bytes)
{
    if (!buffer->data || buffer->bytes < bytes) {
        kith__gpu_pinned_free(buffer);
        if (gpuMallocHost(&buffer->data, in_pages(bytes)) == gpuSuccess) {
            buffer->bytes = in_pages(bytes);
        } else {
            (void)gpuGetLastError();
            buffer->data = NULL;
        }
    }
    return buffer->data;
}

void kith__gpu_buffer_free(struct kith__buffer *buffer)
{
    if (buffer->data) {
        (void)gpuFree(buffer->data);
    }
    *buffer = (struct kith__buffer){0};
}

void kith__gpu_pinned_free(struct kith__buffer *buffer)
{
    (void)gpuFreeHost(buffer->data);
    *buffer = (struct kith__buffer){0};
}

/** Return true when a captured graph uses this memory. */
static bool is_held(const struct kith__gpu *gpu, const void *data)
{
    void *const *held = gpu->held.data;
    for (size_t h = 0; h < gpu->n_held; h++) {
        if (held[h] == data) {
            return true;
        }
    }
    return false;
}

/** Note that a captured graph uses this memory.
 *  @return data, or NULL when there is no memory for the note */
static void *hold(struct kith__gpu *gpu, void *data)
{
    if (!is_held(gpu, data)) {
        void **held = kith__buffer_grow(&gpu->held, gpu->n_held * sizeof *held,
                                        (gpu->n_held + 1) * sizeof *held);
        if (!held) {
            return NULL;
        }
        held[gpu->n_held++] = data;
    }
    return data;
}

void *kith__gpu_need(struct kith__gpu *gpu, int slot, size_t bytes)
{
    assert(slot >= 0 && slot < KITH_WORK_BUFFERS);
    struct kith__buffer *buffer = &gpu->slot[slot];
    const bool fits = buffer->data && buffer->bytes >= bytes;
    if (gpu->capturing) {
        gpu->refused = gpu->refused || !fits;
        return fits ? hold(gpu, buffer->data) : NULL;
    }
    if (!fits && is_held(gpu, buffer->data)) {
        gpu->dropped_bytes += buffer->bytes;
        *buffer = (struct kith__buffer){0};
    }
    return kith__gpu_buffer_need(buffer, bytes);
}

void kith__gpu_free_scratch(struct kith__gpu *gpu)
{
    void *const *held = gpu->held.data; /* some of it is in a buffer too: it is freed once */
    for (int s = 0; s < KITH_WORK_BUFFERS; s++) {
        if (!is_held(gpu, gpu->slot[s].data)) {
            kith__gpu_buffer_free(&gpu->slot[s]);
        }
    }
    for (size_t h = 0; h < gpu->n_held; h++) {
        (void)gpuFree(held[h]);
    }
    kith__buffer_free(&gpu->held);
}

/** A function like memcpy. */
typedef void *copy_fn(void *to, const void *from, size_t bytes);

/** Copy with non-temporal stores, which bypass the caches: the device reads memory that is in the
 *  processor's caches at half the speed of the bus. */
static void *stream(void *to, const void *from, size_t bytes)
{
    size_t at = 0;
#if defined(__SSE2__)
    for (; at + 64 <= bytes && (uintptr_t)to % 16 == 0; at += 64) {
        const __m128i *const in = (const __m128i *)(const void *)((const char *)from + at);
        __m128i *const out = (__m128i *)(void *)((char *)to + at);
        const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
        const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    _mm_sfence();
#endif
    memcpy((char *)to + at, (const char *)from + at, bytes - at);
    return to;
}

/** Shared state of a parallel copy. */
struct copy_loop {
    copy_fn *copy_piece; /**< copies a piece */
    char *to;            /**< copy to here */
    const char *from;    /**< copy from here */
};

/** kith__range_fn: copy bytes [begin, end). */
static void copy_range(void *state, int64_t begin, int64_t end)
{
    const struct copy_loop *loop = state;
    loop->copy_piece(loop->to + begin, loop->from + begin, (size_t)(end - begin));
}

/** Copy on all threads: one core is slower than the bus. */
static void copy(const kith_ctx *ctx, copy_fn *copy_piece, void *to, const void *from, size_t bytes)
{
    enum { PIECE = 1 << 16 }; /* bytes */
    struct copy_loop loop = {copy_piece, to, from};
    kith__pool_chunks(ctx->pool, ctx->threads, (int64_t)bytes, PIECE, copy_range, &loop);
}

/** Make a transfer buffer hold transfer_bytes; for small copies, a page.
 *  @param bytes  size of the copy, which may exceed transfer_bytes */
static kith_status need_transfer(kith_ctx *ctx, struct kith__gpu_transfer *transfer, size_t bytes)
{
    const size_t room = bytes <= page_bytes ? page_bytes : transfer_bytes;
    KITH_CHECK(ctx, kith__gpu_pinned_need(&transfer->pinned, room) != NULL, KITH_NO_MEMORY,
               "out of pinned memory for transfers");
    return KITH_OK;
}

kith_status kith__gpu_need_transfers(kith_ctx *ctx, size_t bytes)
{
    struct kith__gpu *gpu = ctx->state;
    for (size_t k = 0; k < KITH_GPU_TRANSFERS && k * transfer_bytes < bytes; k++) {
        KITH_TRY(need_transfer(ctx, &gpu->transfer[k], bytes));
    }
    return KITH_OK;
}

/** Wait until a transfer buffer is free, and make it large enough.
 *  @param number  number of the copy, which selects the buffer
 *  @param bytes   size of the copy, which may exceed transfer_bytes
 *  @param[out] transfer  the buffer */
static kith_status take_transfer(kith_ctx *ctx, size_t number, size_t bytes,
                                 struct kith__gpu_transfer **transfer)
{
    struct kith__gpu *gpu = ctx->state;
    *transfer = &gpu->transfer[number % KITH_GPU_TRANSFERS];
    KITH_TRY(kith__gpu_wait(ctx, (*transfer)->done, "waiting for a transfer"));
    KITH_TRY(kith__proceed(ctx));
    return need_transfer(ctx, *transfer, bytes);
}

/** Queue the copy of the first bytes of a transfer buffer to the device. */
static kith_status send_transfer(kith_ctx *ctx, const struct kith__gpu_transfer *transfer, void *to,
                                 size_t bytes)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_GPU_TRY(
        ctx, "uploading",
        gpuMemcpyAsync(to, transfer->pinned.data, bytes, gpuMemcpyHostToDevice, gpu->stream));
    KITH_GPU_TRY(ctx, "uploading", gpuEventRecord(transfer->done, gpu->stream));
    return KITH_OK;
}

kith_status kith__gpu_upload(kith_ctx *ctx, void *to, const void *from, size_t bytes)
{
    struct kith__gpu *gpu = ctx->state;
    size_t step = first_step;
    for (size_t at = 0, n; at < bytes; at += n) {
        const size_t left = bytes - at;
        n = left < step + step / 2 ? left : step; /* avoid a small last step */
        step = 2 * step < largest_step ? 2 * step : largest_step;
        struct kith__gpu_transfer *transfer;
        KITH_TRY(take_transfer(ctx, gpu->uploads++, n, &transfer));
        copy(ctx, stream, transfer->pinned.data, (const char *)from + at, n);
        KITH_TRY(send_transfer(ctx, transfer, (char *)to + at, n));
    }
    return KITH_OK;
}

/** Copy several small arrays to the device by one copy.
 *  @param bytes  size of all arrays together, with the gaps between them */
static kith_status upload_small(kith_ctx *ctx, char *to, const struct kith__gpu_array *array, int n,
                                size_t bytes)
{
    struct kith__gpu *gpu = ctx->state;
    struct kith__gpu_transfer *transfer;
    KITH_TRY(take_transfer(ctx, gpu->uploads++, bytes, &transfer));
    for (int a = 0; a < n; a++) {
        if (array[a].from) {
            memcpy((char *)transfer->pinned.data + ((char *)array[a].at - to), array[a].from,
                   array[a].bytes);
        }
    }
    return send_transfer(ctx, transfer, to, bytes);
}

kith_status kith__gpu_upload_arrays(kith_ctx *ctx, int slot, struct kith__gpu_array *array, int n,
                                    size_t more, void **rest)
{
    size_t bytes = more;
    for (int a = 0; a < n; a++) {
        bytes += array[a].from ? array[a].bytes + KITH_ALIGN : 0;
    }
    char *const to = kith__gpu_need(ctx->state, slot, bytes);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of device memory for %zu bytes of arrays",
               bytes);
    size_t used = 0;
    for (int a = 0; a < n; a++) {
        if (array[a].from) {
            array[a].at = to + used;
            used += (array[a].bytes + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
        }
    }
    *rest = to + used;
    if (used > 0 && used <= page_bytes) {
        return upload_small(ctx, to, array, n, used);
    }
    for (int a = 0; a < n; a++) {
        if (array[a].from) {
            KITH_TRY(kith__gpu_upload(ctx, array[a].at, array[a].from, array[a].bytes));
        }
    }
    return KITH_OK;
}

/** The contents of a transfer buffer: parts of copies, one behind the other. */
struct load {
    int n;                                       /**< number of parts */
    struct kith__gpu_copy part[KITH_GPU_COPIES]; /**< the parts */
};

/** Return the bytes of all copies. */
static size_t bytes_left(const struct kith__gpu_copy copies[KITH_GPU_COPIES])
{
    size_t bytes = 0;
    for (int c = 0; c < KITH_GPU_COPIES; c++) {
        bytes += copies[c].bytes;
    }
    return bytes;
}

/** Queue as much of the copies to the host as a transfer buffer holds.
 *  @param number          number of the buffer
 *  @param[in,out] copies  the copies; afterwards what is left of them
 *  @param[in,out] load    empty; afterwards the parts in the buffer */
static kith_status load_transfer(kith_ctx *ctx, size_t number,
                                 struct kith__gpu_copy copies[KITH_GPU_COPIES], struct load *load)
{
    const struct kith__gpu *gpu = ctx->state;
    struct kith__gpu_transfer *transfer;
    KITH_TRY(take_transfer(ctx, number, bytes_left(copies), &transfer));
    size_t used = 0;
    for (int c = 0; c < KITH_GPU_COPIES; c++) {
        struct kith__gpu_copy *const from = &copies[c];
        const size_t room = transfer->pinned.bytes - used;
        const size_t bytes = from->bytes < room ? from->bytes : room;
        if (bytes > 0) {
            assert(load->n < KITH_GPU_COPIES && used + bytes <= transfer->pinned.bytes);
            KITH_GPU_TRY(ctx, "downloading",
                         gpuMemcpyAsync((char *)transfer->pinned.data + used, from->from, bytes,
                                        gpuMemcpyDeviceToHost, gpu->stream));
            load->part[load->n++] = (struct kith__gpu_copy){from->to, from->from, bytes};
            *from = (struct kith__gpu_copy){from->to + bytes, from->from + bytes,
                                            from->bytes - bytes};
            used += bytes;
        }
    }
    KITH_GPU_TRY(ctx, "downloading", gpuEventRecord(transfer->done, gpu->stream));
    return KITH_OK;
}

/** Wait for the copies to a transfer buffer, and copy its contents to where they belong.
 *  @param[in,out] load  the parts in the buffer; empty afterwards */
static kith_status unload_transfer(kith_ctx *ctx, size_t number, struct load *load)
{
    struct kith__gpu *gpu = ctx->state;
    const struct kith__gpu_transfer *transfer = &gpu->transfer[number % KITH_GPU_TRANSFERS];
    KITH_TRY(kith__gpu_wait(ctx, transfer->done, "downloading"));
    KITH_TRY(kith__proceed(ctx));
    const char *from = transfer->pinned.data;
    for (int p = 0; p < load->n; p++) {
        copy(ctx, memcpy, load->part[p].to, from, load->part[p].bytes);
        from += load->part[p].bytes;
    }
    load->n = 0;
    return KITH_OK;
}

kith_status kith__gpu_download(kith_ctx *ctx, struct kith__gpu_copy copies[KITH_GPU_COPIES])
{
    /* buffers 0 and 1 in turn: queue the copies to one, then empty the other */
    struct load load[KITH_GPU_TRANSFERS] = {{0}};
    bool more = bytes_left(copies) > 0;
    for (size_t number = 0, other = 1; more || load[other].n > 0; number = other, other = !other) {
        if (more) {
            KITH_TRY(load_transfer(ctx, number, copies, &load[number]));
            more = bytes_left(copies) > 0;
        }
        if (load[other].n > 0) {
            KITH_TRY(unload_transfer(ctx, other, &load[other]));
        }
    }
    return KITH_OK;
}
