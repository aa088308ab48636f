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
 * the error reported is that of the first bad frame. Memory: two records per lane.
 */
#ifndef KITH_CLI_LANES_H
#define KITH_CLI_LANES_H

#include <kith.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lanes lanes;

/** What is done with records. `user` is what lanes_open was given. */
typedef struct lanes_calls {
    size_t bytes; /**< size of a record; records are zeroed once, and then used again and again */

    /** Count a frame. Called in the thread of a lane; prints nothing. @param ctx  of the lane; a
     *  failed call's message stays in it. @return false: failed; no later frame is counted then */
    bool (*count)(void *user, kith_ctx *ctx, void *record);

    /** Report how counting went. Called in the calling thread, in the order of the frames.
     *  @return exit status, reported but for STATUS_INTERRUPTED */
    int (*report)(void *user, void *record);

    /** Add a frame to the results. Called in the calling thread, in the order of the frames.
     *  @return exit status, reported */
    int (*add)(void *user, void *record);

    /** Free what a record holds. */
    void (*free)(void *record);
} lanes_calls;

/** Number of lanes for frames of this size: the threads of the context, limited by the frames that
 *  are still to come and by memory.
 *  @param ctx        the context that would count the frames one after the other
 *  @param particles  in a frame
 *  @param frames     still to come; -1: unknown
 *  @param bytes      memory that counting one frame takes, beside its particles
 *  @return 0: count the frames one after the other, as they are large or a GPU counts them */
int lanes_wanted(const kith_ctx *ctx, int64_t particles, int64_t frames, int64_t bytes);

/** Open lanes. From now on report_error keeps the message of an error until lanes_end.
 *  @return NULL: no memory or no threads; count the frames one after the other */
lanes *lanes_open(const kith_ctx *ctx, int n, const lanes_calls *calls, void *user);

/** Get a free record to prepare the next frame in. Adds frames that have been counted, and waits
 *  for the oldest one when no record is free. @return exit status */
int lanes_record(lanes *l, void **record);

/** Hand the record that lanes_record gave over to be counted. */
void lanes_count(lanes *l);

/** Wait until all frames have been counted, add them, and end the threads. An error of a frame that
 *  was handed over takes the place of a later one.
 *  @param status  how reading and preparing ended; after an error frames are no longer added
 *  @return exit status, reported but for STATUS_INTERRUPTED */
int lanes_end(lanes *l, int status);

/** Seconds during which at least one frame was being counted. After lanes_end. */
double lanes_seconds(const lanes *l);

/** Free all. After lanes_end. NULL is fine. */
void lanes_close(lanes *l);

#endif
