/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The data that the cuda backend keeps in a context: the device, streams and events, scratch memory
 * on the device, and pinned host memory for transfers. And the functions for them: errors, waiting,
 * memory, copies.
 */
#ifndef KITH_GPU_STATE_H
#define KITH_GPU_STATE_H

#include <sys/types.h>

#include "core/backend.h"
#include "gpu.h"

/** Buffers of scratch memory on the device that the engine uses; those of a question NAME begin at
 *  KITH_WORK_OF(NAME). KITH_GPU_SET_SLOTS is added to the numbers of set a's
 *  buffers, KITH_GPU_INPUT to KITH_GPU_START, for those of set b. */
enum {
    KITH_GPU_PLAN,      /**< struct kith__gpu_small */
    KITH_GPU_TEMPORARY, /**< scratch of the vendor's sort, scan and select */
    KITH_GPU_SORT_KEY,  /**< second array of keys while sorting; then kith__gpu_search.counts or
                            kith__gpu_batch.counts */
    KITH_GPU_SORT_ID, /**< second array of indices while sorting; then kith__gpu_grid.marks, or, in
                           friends-of-friends, the first slot of each dense cell */
    KITH_GPU_INPUT,   /**< coordinates as the caller gave them */
    KITH_GPU_KEY,     /**< kith__gpu_set.key */
    KITH_GPU_ID,      /**< kith__gpu_set.id */
    KITH_GPU_X,       /**< kith__gpu_set.x */
    KITH_GPU_Y,       /**< kith__gpu_set.y */
    KITH_GPU_Z,       /**< kith__gpu_set.z */
    KITH_GPU_WRAP,    /**< kith__gpu_set.wrap */
    KITH_GPU_START,   /**< kith__gpu_set.start */
    KITH_GPU_SET_END, /**< number after the last buffer of set a */
    KITH_GPU_SET_SLOTS = KITH_GPU_SET_END - KITH_GPU_INPUT,       /**< buffers of a set */
    KITH_GPU_ENGINE_SLOTS = KITH_GPU_SET_END + KITH_GPU_SET_SLOTS /**< all buffers of the grid */
};

struct kith__gpu_small;

enum { KITH_GPU_TRANSFERS = 2 }; /**< transfer buffers: one is filled while the other is copied */

/** A transfer buffer: pinned memory through which host arrays are copied. */
struct kith__gpu_transfer {
    struct kith__buffer pinned; /**< the memory */
    gpuEvent_t done;            /**< recorded after the last copy from or to the buffer */
};

enum { KITH_GPU_TEMPORARIES = 4 }; /**< numbers of particles that sizes are kept for */

/** Scratch that the vendor's sort, scan and select need. */
struct kith__gpu_temporary {
    int64_t n;    /**< number of particles */
    size_t bytes; /**< size for that number; 0: not determined [bytes] */
};

/** The data of the cuda backend. */
struct kith__gpu {
    gpuError_t lost; /**< error that made the device unusable in an earlier call; else gpuSuccess */
    pid_t process;   /**< process that opened the device: a child of fork() cannot use it */
    int device;      /**< number of the device */
    int caller_device;  /**< device that was current before the running call made its own current;
                             -1 until then */
    int processors;     /**< number of multiprocessors (CUDA) or compute units (HIP) */
    int64_t shared;     /**< most shared memory of a thread block [bytes] */
    int64_t shared_all; /**< shared memory of a multiprocessor, for all its thread blocks [bytes] */
    gpuStream_t stream; /**< stream that all work is queued on: the caller's, or own_stream; NULL:
                             the default stream */
    gpuStream_t own_stream; /**< stream that the context created */
    gpuEvent_t last;        /**< recorded at the end of each call that queues work outside a
                                 capture */
    bool queueing;          /**< the running call queues work that is not captured */
    bool capturing;         /**< the running call's work is captured in a graph */
    bool refused; /**< the running call is captured, and a buffer of scratch memory is too small:
                       memory must not be allocated during a capture */
    struct kith__buffer slot[KITH_WORK_BUFFERS]; /**< scratch memory on the device */
    struct kith__buffer held; /**< [n_held] pointers to scratch memory that captured graphs use: it
                                   stays until the context is closed */
    size_t n_held;            /**< number of pointers in `held` */
    size_t dropped_bytes;     /**< size of the held memory that is in no slot any more [bytes] */
    /** Scratch that the vendor's sort, scan and select need for some numbers of particles. A search
     *  with roles has up to three numbers. */
    struct kith__gpu_temporary temporary[KITH_GPU_TEMPORARIES];
    int next_temporary; /**< entry of `temporary` that the next number of particles replaces */
    struct kith__gpu_transfer transfer[KITH_GPU_TRANSFERS]; /**< transfer buffers */
    gpuEvent_t planned;   /**< recorded after the copy of the plan to `small` */
    gpuEvent_t waited;    /**< recorded by kith__gpu_wait_all after all work queued so far */
    gpuStream_t stopping; /**< second stream, on which the stop flag is copied to the device while a
                               kernel runs */
    /** Stop flag in device memory, which the running kernels poll: at KITH_GPU_STOP (gpu_sweep.h)
     *  or more they end early. In a sweep this word is the work queue counter too, whose counts are
     *  smaller. NULL: the call has no flag, or none yet. */
    unsigned *stop;
    size_t uploads; /**< copies to the device in this call: selects the transfer buffer */
    /** Pinned memory: KITH_GPU_SMALL_BYTES for small results, as *small and one number behind it
     *  (kith__gpu_read_back), then the value that is copied to *stop. */
    struct kith__buffer small_memory;
    struct kith__gpu_small *small; /**< copy of the device's struct kith__gpu_small (search.h), in
                                        small_memory */
    kith_pairs staging; /**< part of a pair list, in device memory, to be copied to the host */
    kith_pairs block;   /**< part of a pair list, in host memory, for the block callback */
};

enum { KITH_GPU_SMALL_BYTES = 4096 }; /**< bytes of small_memory before the value for *stop */

/** Make the context's device current, until the public call ends. */
gpuError_t kith__gpu_enter(struct kith__gpu *gpu);

/** Turn an error of the run-time library into a status with a message: KITH_NO_MEMORY;
 *  KITH_UNSUPPORTED for an operation that a stream capture forbids; KITH_DEVICE_LOST for any other
 *  error.
 *  @param doing  the step that failed, for the message: "uploading" */
kith_status kith__gpu_fail(kith_ctx *ctx, gpuError_t error, const char *doing);

/** Return from the current function with a status and message when a call of the run-time library
 *  fails. */
#define KITH_GPU_TRY(ctx, doing, call) \
    do { \
        const gpuError_t try_error = (call); \
        if (try_error != gpuSuccess) { \
            return kith__gpu_fail(ctx, try_error, doing); \
        } \
    } while (0)

/** Wait for an event. The watch callback is called while the thread waits. When the call is to
 *  stop, *gpu->stop is set, if there is a flag, so that the running kernels that poll it end early;
 *  the function still waits for the event, and returns KITH_OK: test kith__proceed afterwards.
 *  @param doing  the step that failed, for the message, as for kith__gpu_fail
 *  @return KITH_OK, or a failure of the device */
kith_status kith__gpu_wait(kith_ctx *ctx, gpuEvent_t event, const char *doing);

/** Wait for all work that is queued on the stream, by kith__gpu_wait. */
kith_status kith__gpu_wait_all(kith_ctx *ctx, const char *doing);

/** Begin an operation: kith__gpu_begin_queueing, but refuse a stream that is being captured.
 *  @return as kith__gpu_begin_queueing; KITH_UNSUPPORTED during a capture */
kith_status kith__gpu_begin(kith_ctx *ctx);

/** Begin an operation whose stream may be captured, and which must not wait for the device in a
 *  capture: refuse a device that is lost or that a parent process opened, call the watch callback,
 *  make the device current. Sets gpu->capturing and queueing; resets uploads, stop and refused.
 *  @return KITH_OK, KITH_CANCELLED, or a failure of the device */
kith_status kith__gpu_begin_queueing(kith_ctx *ctx);

/** Refuse a device that is lost, or that a parent process opened; make the device current. */
kith_status kith__gpu_use(kith_ctx *ctx);

/** Make a buffer of scratch memory on the device hold at least `bytes`; its contents are lost when
 *  it grows. Memory that a captured graph uses is not freed then (gpu->held), and the buffer gets
 *  other memory. In a captured call no buffer can grow: gpu->refused is set instead.
 *  @return the data, or NULL when there is no memory, or the buffer cannot grow */
void *kith__gpu_need(struct kith__gpu *gpu, int slot, size_t bytes);

/** Free all scratch memory on the device, also that which captured graphs use. */
void kith__gpu_free_scratch(struct kith__gpu *gpu);

/** Make a buffer of device memory hold at least `bytes`, rounded up to 64 KiB; its contents are
 *  lost when it grows.
 *  @return the data, or NULL when there is no memory */
void *kith__gpu_buffer_need(struct kith__buffer *buffer, size_t bytes);

/** Make a buffer of pinned host memory hold at least `bytes`, rounded up to 64 KiB; its contents
 *  are lost when it grows.
 *  @return the data, or NULL when there is no memory */
void *kith__gpu_pinned_need(struct kith__buffer *buffer, size_t bytes);

/** Free a buffer of device memory. */
void kith__gpu_buffer_free(struct kith__buffer *buffer);

/** Free a buffer of pinned host memory. */
void kith__gpu_pinned_free(struct kith__buffer *buffer);

/** Copy host memory to device memory through the transfer buffers. On return all of `from` has been
 *  read, so that the caller may change it; the last copies to the device are still queued on the
 *  stream.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, or a failure of the device */
kith_status kith__gpu_upload(kith_ctx *ctx, void *to, const void *from, size_t bytes);

/** An array to copy to the device. */
struct kith__gpu_array {
    const void *from; /**< the array in host memory; NULL: there is none */
    size_t bytes;     /**< size of the array */
    void *at;         /**< the array in device memory; NULL: there is none */
};

/** Copy arrays to one buffer of scratch memory on the device, small arrays together by one copy.
 *  @param slot           number of the buffer
 *  @param[in,out] array  [n] the arrays; `at` is set where `from` is not NULL
 *  @param more           bytes of room to leave behind the arrays
 *  @param[out] rest      first byte of that room
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, or a failure of the device */
kith_status kith__gpu_upload_arrays(kith_ctx *ctx, int slot, struct kith__gpu_array *array, int n,
                                    size_t more, void **rest);

/** A copy from device memory to host memory. */
struct kith__gpu_copy {
    char *to;         /**< host memory */
    const char *from; /**< device memory */
    size_t bytes;     /**< size; 0: nothing to copy */
};

enum { KITH_GPU_COPIES = 5 }; /**< most copies of a download: the arrays of a pair list */

/** Allocate the transfer buffers that a download of `bytes` bytes uses, before the kernel is queued
 *  whose results it copies. kith__gpu_download would allocate them too, but the driver does not
 *  allocate pinned memory while a kernel runs: the host would wait in the allocation, and could not
 *  stop the kernel.
 *  @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__gpu_need_transfers(kith_ctx *ctx, size_t bytes);

/** Copy device memory to host memory through the transfer buffers. The copies are complete on
 *  return. Copies that fit one buffer together need a single wait.
 *  @param copies  the copies; undefined afterwards */
kith_status kith__gpu_download(kith_ctx *ctx, struct kith__gpu_copy copies[KITH_GPU_COPIES]);

#endif
