/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A checked batch: many systems in one call (kith_batch), each with its particles and its box. And
 * the loop over the systems on CPU cores: small systems run beside each other, each on one thread;
 * large ones run one after the other, each on all threads. What is computed for a system is what
 * the operation computes for it alone.
 */
#ifndef KITH_ENGINE_BATCH_H
#define KITH_ENGINE_BATCH_H

#include "question.h"

/** Numbers of buffers of the context's scratch memory (core/work.h): the last of the engine's,
 *  behind those of the grid. */
enum {
    KITH_BATCH_LANE = KITH_WORK_EACH - 6,    /**< first of two buffers, in the scratch memory of a
                                                  lane, that the question may use for a group */
    KITH_BATCH_GROUPS = KITH_BATCH_LANE + 2, /**< kith__group_loop.groups */
    KITH_BATCH_OFFSETS_A,                    /**< copy of kith__batch.a */
    KITH_BATCH_OFFSETS_B,                    /**< copy of kith__batch.b */
    KITH_BATCH_BOXES                         /**< copy of kith__batch.boxes */
};

/** A batch, checked. */
struct kith__batch {
    struct kith__question whole; /**< the question with the particles of all systems; its box is
                                      that of all systems where `boxes` is NULL, else open space of
                                      as many dimensions as these */
    const char *name;            /**< what messages call the batch */
    int64_t systems;             /**< number of systems */
    const int64_t *a;            /**< [systems + 1] first particle of each system in set a */
    const int64_t *b;      /**< [systems + 1] first particle of each system in set b; equal to a
                                unless the question has two sets */
    const kith_box *boxes; /**< [systems] a box each; NULL: one box for all */
    kith_memory memory;    /**< where a, b and boxes are */
    double cutoff; /**< the cutoff as given, not rounded; 0 when whole.cutoff_name is NULL */
};

/** Check a batch, its points, box and cutoff, and build the question of all systems. Arrays in
 *  device memory are not read.
 *  @param name         what messages call the batch; stays as long as it
 *  @param given        the caller's batch
 *  @param against      the second set; NULL: there is one set
 *  @param box          one box for all systems; NULL: boxes are those of the batch, or open space
 *  @param cutoff_name  what messages call the cutoff; NULL: the question has none, and cutoff is 0
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT, KITH_UNSUPPORTED for memory that the backend cannot
 *          reach */
kith_status kith__batch_read(kith_ctx *ctx, const char *name, const kith_batch *given,
                             const kith_points *points, const kith_points *against,
                             const kith_box *box, double cutoff, const char *cutoff_name,
                             struct kith__batch *batch);

/** Check that offsets in host memory ascend from 0 to n.
 *  @param name     name of the array for the message
 *  @param offsets  [systems + 1] first particle of each system
 *  @param n        number of particles of all systems
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__batch_check_offsets(kith_ctx *ctx, const char *name, const int64_t *offsets,
                                      int64_t systems, int64_t n);

/** Copy offsets and boxes in device memory to scratch memory of the context, check them, and let
 *  the batch refer to the copies. Nothing is done where they are in host memory.
 *  @return KITH_OK, KITH_INVALID, KITH_NO_MEMORY, or the failure of the copy */
kith_status kith__batch_fetch(kith_ctx *ctx, struct kith__batch *batch);

/** Build the question of one system: its particles and its box. Arrays of the batch are in host
 *  memory.
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT */
kith_status kith__batch_question(kith_ctx *ctx, const struct kith__batch *batch, int64_t system,
                                 struct kith__question *question);

/** Insert the number of the system that a failure is about at the start of the context's message,
 *  unless status is KITH_OK or KITH_CANCELLED.
 *  @return status */
kith_status kith__batch_failed(kith_ctx *ctx, int64_t system, kith_status status);

/** Consecutive systems that one thread processes, or one system that all threads process. */
struct kith__group {
    int64_t number; /**< number of the group, from 0 in the order of the systems */
    int64_t first;  /**< first system */
    int64_t last;   /**< system after the last */
    bool large;     /**< one system, which runs alone, on the context's own threads */
};

/** Process a group.
 *  @param lane   the context whose operations are to be called: a lane, which has one thread
 *                (kith__lane in core/context.h), or the context of the call where group->large
 *  @param state  data that all groups share
 *  @return KITH_OK, or the status of a failure, with its message in the lane */
typedef kith_status kith__group_fn(kith_ctx *lane, const struct kith__group *group, void *state);

/** A loop over the groups of a batch. */
struct kith__group_loop {
    kith_ctx *ctx;                    /**< context of the call */
    const struct kith__batch *batch;  /**< the systems, in host memory */
    const struct kith__group *groups; /**< [n_groups] the groups */
    int64_t n_groups;                 /**< number of groups */
    int64_t first;                    /**< first group of the parallel loop that is running */
    kith__group_fn *fn;               /**< function that processes a group */
    void *state;                      /**< third argument of fn */
    int64_t turn;       /**< number of the first group that has not ended its turn; accessed
                             atomically, by kith__batch_turn and kith__batch_next */
    int64_t failed;     /**< number of the group whose failure is kept, the lowest of those that
                             failed for another reason than KITH_CANCELLED; INT64_MAX: none has
                             failed. Accessed atomically */
    kith_status status; /**< status of the group `failed` */
    char message[512];  /**< message of the group `failed` */
};

/** Divide the systems into groups, in scratch memory of the context.
 *  @param[out] loop  ready for kith__batch_loop, except for fn and state
 *  @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__batch_groups(kith_ctx *ctx, const struct kith__batch *batch,
                               struct kith__group_loop *loop);

/** Process all groups. Groups begin in ascending order, so that the failure that is reported is
 *  that of the first system that fails.
 *  @return KITH_OK, the status of the first failure, KITH_CANCELLED */
kith_status kith__batch_loop(struct kith__group_loop *loop);

/** Wait until all earlier groups have ended their turn: a group that appends its results behind
 *  those of others does so during its turn, which kith__batch_next ends. There is no deadlock, as
 *  groups begin in ascending order.
 *  @return false when the loop has failed or is to stop: the group then returns KITH_CANCELLED */
bool kith__batch_turn(struct kith__group_loop *loop, kith_ctx *lane,
                      const struct kith__group *group);

/** End the turn of a group. */
void kith__batch_next(struct kith__group_loop *loop, const struct kith__group *group);

#endif
