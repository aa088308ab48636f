/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a context with the cuda backend holds: the device, streams, scratch there, and pinned memory
 * through which host arrays go.
 */
#ifndef KITH_GPU_STATE_H
#define KITH_GPU_STATE_H

#include <sys/types.h>

#include "core/backend.h"
#include "gpu.h"

/** Device scratch, each for one purpose. The slots of set b follow those of set a. */
enum {
    KITH_GPU_PLAN, /**< plan, surveys, counters */
    KITH_GPU_TEMPORARY,
    KITH_GPU_SORT_KEY, /**< while sorting; then counts and offsets */
    KITH_GPU_SORT_ID,  /**< while sorting; then marks of homes, or first particles of clumps */
    KITH_GPU_INPUT,
    KITH_GPU_KEY,
    KITH_GPU_ID,
    KITH_GPU_X,
    KITH_GPU_Y,
    KITH_GPU_Z,
    KITH_GPU_START,
    KITH_GPU_SET_END,
    KITH_GPU_SET_SLOTS = KITH_GPU_SET_END - KITH_GPU_INPUT,
    KITH_GPU_FOF_INDEX = KITH_GPU_SET_END + KITH_GPU_SET_SLOTS,
    KITH_GPU_FOF_PARENT,
    KITH_GPU_FOF_LATER,
    KITH_GPU_FOF_IDS,
    KITH_GPU_FOF_VELOCITIES,
    KITH_GPU_RDF_ARRAYS,
    KITH_GPU_RDF_COUNTS,
    KITH_GPU_RDF_PLACES,
    KITH_GPU_RDF_PLACES_AGAINST,
    KITH_GPU_DEBYE,
    KITH_GPU_HALO_ARRAYS,
    KITH_GPU_HALO_OUT,
    KITH_GPU_OVERLAP_ROWS,
    KITH_GPU_OVERLAP_PANELS,
    KITH_GPU_OVERLAP_ARRAYS,
    KITH_GPU_WAVES_PLACES,
    KITH_GPU_WAVES_SUMS,
    KITH_GPU_SLOTS,
    KITH_GPU_HALO_SUMS = KITH_GPU_X /**< no grid is built meanwhile */
};

struct kith__gpu_small;

enum { KITH_GPU_LANES = 2 }; /**< transfers under way at a time */

/** One of the pinned buffers that host arrays go through. */
struct kith__gpu_lane {
    struct kith__buffer pinned;
    gpuEvent_t done; /**< its last copy */
};

struct kith__gpu {
    gpuError_t lost; /**< what failed in an earlier call: nothing works any more; else success */
    pid_t process;   /**< that opened the device: a child made by fork() cannot use it */
    int device;
    int outside;        /**< the caller's current device during a call, else -1 */
    int processors;     /**< multiprocessors, or compute units */
    int64_t shared;     /**< memory that a block can have there at most, */
    int64_t shared_all; /**< and that all blocks of one have together [bytes] */
    gpuStream_t stream; /**< the caller's or own_stream */
    gpuStream_t own_stream;
    struct kith__buffer slot[KITH_GPU_SLOTS];
    int64_t temporary_n; /**< particles for which slot KITH_GPU_TEMPORARY needs */
    size_t temporary_bytes;
    struct kith__gpu_lane lane[KITH_GPU_LANES];
    gpuEvent_t planned;               /**< the plan of a search is on the host */
    gpuEvent_t waited;                /**< all that was queued when a wait began */
    gpuStream_t stopping;             /**< brings the word that stops a sweep, beside the others */
    unsigned *next;                   /**< device memory: that of the sweep under way; or NULL */
    size_t uploads;                   /**< steps in this call: the lanes take turns */
    struct kith__buffer small_memory; /**< pinned: what the host reads back */
    struct kith__gpu_small *small;    /**< (search.h) in it */
    kith_pairs staging; /**< device memory: a part of a list on its way to the host, */
    kith_pairs block;   /**< host memory: and where it is handed over */
};

enum { KITH_GPU_SMALL_BYTES = 4096 };

/** Make the context's device current, until the call to the backend ends. */
gpuError_t kith__gpu_enter(struct kith__gpu *gpu);

/** Turn a run-time error into a status with a message: the device is lost, unless memory was all
 *  that was missing. `doing` names the step. */
kith_status kith__gpu_fail(kith_ctx *ctx, gpuError_t error, const char *doing);

#define KITH_GPU_TRY(ctx, doing, call) \
    do { \
        const gpuError_t try_error = (call); \
        if (try_error != gpuSuccess) { \
            return kith__gpu_fail(ctx, try_error, doing); \
        } \
    } while (0)

/** Wait for an event. The watch callback is called meanwhile, and a sweep under way ends early when
 *  the call is to stop: test kith__proceed afterwards. */
kith_status kith__gpu_wait(kith_ctx *ctx, gpuEvent_t event, const char *doing);

/** Wait for all that is queued on the stream, as kith__gpu_wait. */
kith_status kith__gpu_wait_all(kith_ctx *ctx, const char *doing);

/** Begin an operation: refuse a device that is lost, ask the watch callback, choose the device. */
kith_status kith__gpu_begin(kith_ctx *ctx);

/** Device memory of a slot, at least `bytes`; contents are lost when it grows. NULL: none left. */
void *kith__gpu_need(struct kith__gpu *gpu, int slot, size_t bytes);

/** Grow a buffer of device memory, or of pinned host memory, by whole pages of 64 KiB. @return the
 *  data, or NULL. */
void *kith__gpu_buffer_need(struct kith__buffer *buffer, size_t bytes);
void *kith__gpu_pinned_need(struct kith__buffer *buffer, size_t bytes);
void kith__gpu_buffer_free(struct kith__buffer *buffer);
void kith__gpu_pinned_free(struct kith__buffer *buffer);

/** Copy host memory to device memory through pinned buffers; queued on the stream. */
kith_status kith__gpu_upload(kith_ctx *ctx, void *to, const void *from, size_t bytes);

/** One of the caller's arrays. */
struct kith__gpu_array {
    const void *from; /**< in host memory; NULL: there is none */
    size_t bytes;
    void *at; /**< in device memory; NULL: there is none */
};

/** Bring arrays to a slot, small ones by one copy, and keep `more` bytes of room behind them, for
 *  *rest. */
kith_status kith__gpu_bring_arrays(kith_ctx *ctx, int slot, struct kith__gpu_array *array, int n,
                                   size_t more, void **rest);

/** A copy from the device. */
struct kith__gpu_copy {
    char *to;
    const char *from;
    size_t bytes; /**< 0: nothing to copy */
};

enum { KITH_GPU_COPIES = 5 }; /**< the arrays of a list */

/** Copy device memory to host memory through pinned buffers; complete on return. Small copies share
 *  one wait. @param copies  undefined afterwards */
kith_status kith__gpu_download(kith_ctx *ctx, struct kith__gpu_copy copies[KITH_GPU_COPIES]);

#endif
