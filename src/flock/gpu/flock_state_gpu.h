/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock in device memory: its buffers, and transfers to and from the host.
 */
#ifndef KITH_GPU_FLOCK_STATE_H
#define KITH_GPU_FLOCK_STATE_H

#include "flock_gpu.h"
#include "engine/gpu/gpu_state.h"

/** Small things in device memory. */
struct kith__gpu_flock_small {
    struct kith__gpu_turn turn;
    struct kith__gpu_prey prey;
    struct kith__gpu_plan plan;
};

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

/** A glance on its way to the host, on a stream of its own. */
struct kith__gpu_glance {
    struct kith__buffer rank, out; /**< device memory */
    struct kith__buffer pinned;
    gpuStream_t stream;
    gpuEvent_t gathered, arrived;
    int64_t choice; /**< whose ranks are there */
};

/** A flock on the device. */
struct kith__gpu_flock {
    struct kith__buffer buffer[KITH_GPU_FLOCK_BUFFERS];
    bool there_is_now; /**< its state is `there`; else here, arranged */
    bool newer;        /**< than what the host has */
    double cutoff;     /**< of the cells in which it is arranged */
    int64_t at_once;   /**< steps to queue before the watch callback is asked, from their time */
    size_t temporary_bytes;
    struct kith__gpu_flight flight;
    struct kith__gpu_glance glance;
    gpuGraphExec_t graph;             /**< KITH_GPU_RECORDED steps to be queued at once, or NULL, */
    struct kith__gpu_flight recorded; /**< from here */
};

/* Steps in a recording: an even number, so that one can follow the other. */
enum { KITH_GPU_RECORDED = 16 };

/** Bytes of a record of a herd. */
size_t kith__gpu_record_bytes(const struct kith_flock *flock);

/** The herd that is the state. */
const struct kith__gpu_herd *kith__gpu_flock_now(const struct kith__gpu_flock *g);

/** Room in one of the buffers. @return NULL after saying so when there is none */
void *kith__gpu_flock_need(kith_ctx *ctx, struct kith__gpu_flock *g, int buffer, size_t bytes);

/** Begin as other calls do, but for the watch callback, which is asked at each step. */
kith_status kith__gpu_flock_begin(kith_ctx *ctx);

/** The flock on the device, brought there if it is new. */
kith_status kith__gpu_flock_open(kith_ctx *ctx, struct kith_flock *flock);

/** Copy from the device, at most KITH_GPU_SMALL_BYTES, and wait. */
kith_status kith__gpu_flock_look_up(kith_ctx *ctx, void *to, const void *from, size_t bytes);

void kith__gpu_flock_drop_recording(struct kith__gpu_flock *g);

/** Free what glances need, when the last has arrived. */
void kith__gpu_flock_drop_glance(struct kith__gpu_flock *g);

/* Operations of struct kith__flock_backend. */
kith_status kith__gpu_flock_fetch(kith_ctx *ctx, const struct kith_flock *flock);
kith_status kith__gpu_flock_glance(kith_ctx *ctx, struct kith_flock *flock);
kith_status kith__gpu_flock_glanced(kith_ctx *ctx, struct kith_flock *flock);
void kith__gpu_flock_forget(struct kith_flock *flock);

#endif
