/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Count small frames of a trajectory side by side. One small frame does not occupy several threads,
 * so each lane, a thread with a one-threaded context of its own, counts whole frames.
 *
 *     reading thread        calling thread                 lanes           calling thread
 *     decode frame k+2  ->  check and copy frame k+1  ->   count frame k   -> add frame k-1
 *
 * The calling thread prepares a record of each frame, and adds the records to the results in the
 * order of the frames. Results are therefore identical bit for bit with any number of lanes, and
 * the error reported is that of the first bad frame. Memory: eight records a lane, in the ring
 * buffer of lanes.c.
 *
 * Where a command has several ranks (ranks/ranks.h), there are no lanes: each rank counts whole
 * frames, DEALT_EACH of them at a time, and the calling thread does its share.
 *
 * On a GPU one lane counts all frames that are waiting by one call, where the verb can: memory of
 * up to two batches of LANES_MOST_TOGETHER records, one counted while the other is prepared. For
 * tests KITH_TEST_TOGETHER in the environment makes CPU cores do this, too.
 */
#ifndef KITH_CLI_LANES_H
#define KITH_CLI_LANES_H

#include "input.h"
#include "progress.h"

#include <kith.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most frames that are counted by one call. */
enum { LANES_MOST_TOGETHER = 512 };

/** What is done with records. `user` is that of lanes_counting. */
typedef struct lanes_calls {
    size_t bytes; /**< size of a record [bytes]; records are zeroed once, and used repeatedly */

    /** Check a frame, and prepare its record. Called in the calling thread.
     *  @param copy  let the record hold copies of all arrays, so that it outlasts the frame
     *  @return exit status, reported */
    int (*prepare)(void *user, const io_frame *frame, bool copy, void *record);

    /** Count a frame. Called in the thread of a lane, or without lanes in the calling thread;
     *  prints nothing.
     *  @param ctx  of the lane, or lanes_counting.ctx; a failed call's message stays in it
     *  @return false: failed; then no lane claims a further frame, but claimed ones are counted */
    bool (*count)(void *user, kith_ctx *ctx, void *record);

    /** Return how many frames, from a frame on, count_together may be given; 0: none, frames are
     *  counted one by one: for all frames, or for none. NULL: there is no count_together. Called in
     *  any thread.
     *  @param frame  number of the frame, from 0 */
    int64_t (*together)(const void *user, int64_t frame);

    /** Count consecutive frames, as `count` does one. Called in the thread of the only lane, in the
     *  order of the frames, for all frames but the first of all.
     *  @param first    number of the first frame
     *  @param records  [n] records, prepared with copies   @param n  LANES_MOST_TOGETHER at most
     *  @return false: failed; all frames before the first bad one have been counted */
    bool (*count_together)(void *user, kith_ctx *ctx, int64_t first, void *const *records,
                           int64_t n);

    /** Count frames, each on one of several ranks. Called in the calling thread. NULL: there is
     *  none, and all ranks count each frame.
     *  @param records  [n] records, prepared with copies
     *  @return false: failed; `report` tells of which frame */
    bool (*count_dealt)(void *user, kith_ctx *ctx, void *const *records, int64_t n);

    /** Report how counting went. Called in the calling thread, in the order of the frames.
     *  @return exit status, reported but for STATUS_INTERRUPTED */
    int (*report)(void *user, void *record);

    /** Add a frame to the results. Called in the calling thread, in the order of the frames.
     *  @return exit status, reported */
    int (*add)(void *user, void *record);

    /** Memory that counting a frame like the first one takes, beside its particles [bytes]. */
    int64_t (*memory)(const void *user);

    /** Free what a record holds. */
    void (*free)(void *record);
} lanes_calls;

/** Frames of a trajectory on their way to the results. Set the fields from calls to ranks, and
 *  zero the others. */
typedef struct lanes_counting {
    const lanes_calls *calls; /**< what is done with a frame */
    void *user;               /**< first argument of the calls */
    kith_ctx *ctx;            /**< the context that counts frames without lanes */
    input_frames *from;       /**< the trajectory, and the time that reading took */
    void *alone;              /**< the record of a frame that is counted without lanes */
    int ranks;                /**< above 1: count all frames without lanes. Small ones are dealt to
                                   the ranks, where the verb can; others are counted by all ranks */
    char *held;               /**< [most_held] records that are dealt when there are as many; NULL:
                                   frames are not dealt */
    int64_t n_held;           /**< records that wait */
    int64_t most_held;        /**< room of `held` */
    struct lanes *lanes;      /**< NULL: frames are counted one after the other */
    int64_t taken;            /**< frames counted without lanes */
    double seconds;           /**< time to count these [s] */
} lanes_counting;

/** Count all frames of a trajectory, with a progress bar. The first frame is counted at once. If it
 *  is small, and a CPU counts it, the others are counted in lanes: by as many as the context has
 *  threads, limited by the number of frames and by memory; on a GPU by one lane, if it can count
 *  several frames at once. Sets from->seconds where there were lanes. Frees the record `alone`.
 *  @param[out] bar   the bar that the watch callbacks show; the calls increase its items
 *  @param[out] busy  seconds during which at least one frame was being counted; negative: there
 *                    were no lanes
 *  @return exit status, reported but for STATUS_INTERRUPTED; of several errors that of the first
 *          frame */
int lanes_count(lanes_counting *counting, const char *path, const io_trajectory_options *how,
                bool quiet, progress *bar, double *busy);

#endif
