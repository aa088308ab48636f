/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock in device memory: its buffers, and transfers to and from the host.
 */
#ifndef KITH_GPU_FLOCK_STATE_H
#define KITH_GPU_FLOCK_STATE_H

#include "flock_gpu.h"
#include "engine/gpu/gpu_state.h"

/** Small structs in device memory, in the buffer KITH_GPU_FLOCK_SMALL. */
struct kith__gpu_flock_small {
    struct kith__gpu_flock_progress progress; /**< state that changes from step to step */
    struct kith__gpu_prey prey;               /**< nearest particle to a predator */
    struct kith__gpu_plan plan;               /**< cells that stay from step to step */
};

/** Numbers of the buffers of a flock in device memory. The first four are allocated by number, in
 *  this order (lay_out in flock_state_gpu.c). */
enum {
    KITH_GPU_FLOCK_HERE_R,    /**< kith__gpu_flock_step.here.r; later swapped with `there` */
    KITH_GPU_FLOCK_HERE_V,    /**< kith__gpu_flock_step.here.v */
    KITH_GPU_FLOCK_THERE_R,   /**< kith__gpu_flock_step.there.r */
    KITH_GPU_FLOCK_THERE_V,   /**< kith__gpu_flock_step.there.v */
    KITH_GPU_FLOCK_COUNT,     /**< kith__gpu_flock_step.count */
    KITH_GPU_FLOCK_START,     /**< the table of the first entry of each cell: grid.a.start */
    KITH_GPU_FLOCK_RIM,       /**< kith__gpu_flock_step.rim */
    KITH_GPU_FLOCK_TEMPORARY, /**< temporary memory of the prefix sum */
    KITH_GPU_FLOCK_SMALL,     /**< struct kith__gpu_flock_small */
    KITH_GPU_FLOCK_SPECIES,   /**< kith__gpu_flock_step.species */
    KITH_GPU_FLOCK_HEED,      /**< kith__gpu_flock_step.heed */
    KITH_GPU_FLOCK_BUFFERS    /**< number of buffers */
};

/** A subset read that is being copied to the host, on a stream of its own. */
struct kith__gpu_subset {
    struct kith__buffer rank; /**< device: int32 [n] number of each particle in the subset; -1 */
    struct kith__buffer out;  /**< device: positions, then velocities of the subset, [n][3] each */
    struct kith__buffer pinned; /**< pinned host memory: a copy of `out` */
    gpuStream_t stream;         /**< stream of the copy */
    gpuEvent_t gathered;        /**< the subset is in `out` */
    gpuEvent_t arrived;         /**< the subset is in `pinned` */
    int64_t choice;             /**< kith__subset.choice that `rank` belongs to */
};

/** A flock on the device, host side. */
struct kith__gpu_flock {
    struct kith__buffer buffer[KITH_GPU_FLOCK_BUFFERS]; /**< device memory */
    bool there_is_now;                /**< the state is `there`, and must be arranged before a step;
                                           false: it is `here`, in the order of cells */
    bool newer;                       /**< the state is newer than flock->now on the host */
    double cutoff;                    /**< cutoff of the cells of `here`; 0: all rules are off
                                           [length] */
    int64_t at_once;                  /**< most steps to queue between two calls of the watch
                                           callback (choose_at_once) */
    int64_t edition;                  /**< kith_flock.edition of the species on the device; 0: none
                                           were uploaded */
    size_t temporary_bytes;           /**< size of the temporary memory of the prefix sum */
    struct kith__gpu_flock_step step; /**< arguments of kernels */
    struct kith__gpu_subset subset;   /**< subset read */
    gpuGraphExec_t graph; /**< KITH_GPU_RECORDED steps that are queued at once; or NULL */
    struct kith__gpu_flock_step recorded; /**< arguments with which `graph` was recorded, or with
                                               which recording failed last */
};

/* Steps in a recorded graph: an even number, as kith__gpu_flock_step.side alternates. */
enum { KITH_GPU_RECORDED = 16 };

/** Return the size of a record of a state [bytes]. */
size_t kith__gpu_record_bytes(const struct kith_flock *flock);

/** Return where the state is: `here` or `there`. */
const struct kith__gpu_flock_state *kith__gpu_flock_now(const struct kith__gpu_flock *g);

/** Make one of the buffers hold at least `bytes`; its contents are lost when it grows.
 *  @return its data; NULL when out of memory, with a message in the context */
void *kith__gpu_flock_need(kith_ctx *ctx, struct kith__gpu_flock *g, int buffer, size_t bytes);

/** Begin a call as kith__gpu_begin, but without calling the watch callback, which is called at each
 *  step. */
kith_status kith__gpu_flock_begin(kith_ctx *ctx);

/** Create flock->device and upload the state, if that was not done before. */
kith_status kith__gpu_flock_open(kith_ctx *ctx, struct kith_flock *flock);

/** Copy at most KITH_GPU_SMALL_BYTES from the device to host memory, and wait for all queued
 *  work. */
kith_status kith__gpu_flock_look_up(kith_ctx *ctx, void *to, const void *from, size_t bytes);

/** Free the recorded graph, if there is one. NULL is permitted. */
void kith__gpu_flock_drop_recording(struct kith__gpu_flock *g);

/** Wait for the last subset read, and free what subset reads need. NULL is permitted. */
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
