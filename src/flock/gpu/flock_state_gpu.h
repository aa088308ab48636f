/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock in device memory: its buffers, and transfers to and from the host.
 */
#ifndef KITH_GPU_FLOCK_STATE_H
#define KITH_GPU_FLOCK_STATE_H

#include "flock_gpu.h"
#include "engine/gpu/gpu_state.h"

/** Small structs in device memory. */
struct kith__gpu_flock_small {
    struct kith__gpu_flock_progress progress; /**< state that changes from step to step */
    struct kith__gpu_prey prey;               /**< nearest particle to a predator */
    struct kith__gpu_plan plan;               /**< cells that stay from step to step */
};

/** Buffers in device memory. */
enum {
    KITH_GPU_FLOCK_HERE_R,
    KITH_GPU_FLOCK_HERE_V,
    KITH_GPU_FLOCK_THERE_R,
    KITH_GPU_FLOCK_THERE_V,
    KITH_GPU_FLOCK_COUNT,
    KITH_GPU_FLOCK_START,
    KITH_GPU_FLOCK_RIM,
    KITH_GPU_FLOCK_TEMPORARY,
    KITH_GPU_FLOCK_SMALL,
    KITH_GPU_FLOCK_BUFFERS
};

/** A subset read that is being copied to the host, on a stream of its own. */
struct kith__gpu_subset {
    struct kith__buffer rank;   /**< device: int32 [n] number of each particle in the subset; -1 */
    struct kith__buffer out;    /**< device: the subset */
    struct kith__buffer pinned; /**< pinned host memory: the subset */
    gpuStream_t stream;         /**< stream of the copy */
    gpuEvent_t gathered;        /**< the subset is in `out` */
    gpuEvent_t arrived;         /**< the subset is in `pinned` */
    int64_t choice;             /**< kith__subset.choice that `rank` belongs to */
};

/** A flock on the device, host side. */
struct kith__gpu_flock {
    struct kith__buffer buffer[KITH_GPU_FLOCK_BUFFERS]; /**< device memory */
    bool there_is_now;                /**< the state is `there`; else `here`, arranged */
    bool newer;                       /**< the state is newer than the host's copy */
    double cutoff;                    /**< cutoff of the cells of `here` [length] */
    int64_t at_once;                  /**< steps to queue between two calls of the watch callback */
    size_t temporary_bytes;           /**< temporary memory of the prefix sum */
    struct kith__gpu_flock_step step; /**< arguments of kernels */
    struct kith__gpu_subset subset;   /**< subset read */
    gpuGraphExec_t graph; /**< KITH_GPU_RECORDED steps that are queued at once; or NULL */
    struct kith__gpu_flock_step recorded; /**< arguments with which `graph` was recorded */
};

/* Steps in a recorded graph: an even number, as buffers alternate. */
enum { KITH_GPU_RECORDED = 16 };

/** Size of a record [bytes]. */
size_t kith__gpu_record_bytes(const struct kith_flock *flock);

/** Where the state is. */
const struct kith__gpu_flock_state *kith__gpu_flock_now(const struct kith__gpu_flock *g);

/** Allocate one of the buffers. @return NULL when out of memory, which is reported */
void *kith__gpu_flock_need(kith_ctx *ctx, struct kith__gpu_flock *g, int buffer, size_t bytes);

/** Begin a call as kith__gpu_begin, but without calling the watch callback, which is called at each
 *  step. */
kith_status kith__gpu_flock_begin(kith_ctx *ctx);

/** Create flock->device and upload the state, if that was not done before. */
kith_status kith__gpu_flock_open(kith_ctx *ctx, struct kith_flock *flock);

/** Copy at most KITH_GPU_SMALL_BYTES from the device, and wait. */
kith_status kith__gpu_flock_look_up(kith_ctx *ctx, void *to, const void *from, size_t bytes);

/** Free the recorded graph. */
void kith__gpu_flock_drop_recording(struct kith__gpu_flock *g);

/** Wait for the last subset read, and free what subset reads need. */
void kith__gpu_flock_drop_subset(struct kith__gpu_flock *g);

/* Operations of struct kith__flock_backend. */
kith_status kith__gpu_flock_fetch(kith_ctx *ctx, const struct kith_flock *flock);
kith_status kith__gpu_flock_bring(kith_ctx *ctx, const kith_points *points, int dim, void *to);
kith_status kith__gpu_flock_read(kith_ctx *ctx, struct kith_flock *flock, void *positions,
                                 void *velocities);
kith_status kith__gpu_flock_subset(kith_ctx *ctx, struct kith_flock *flock);
kith_status kith__gpu_flock_wait_subset(kith_ctx *ctx, struct kith_flock *flock);
void kith__gpu_flock_forget(struct kith_flock *flock);

#endif
