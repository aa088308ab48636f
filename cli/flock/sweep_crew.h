/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A crew: the threads of one rank that make runs of a sweep, each run on one thread or, of a large
 * flock, on all. Where runs come from, and where their results go, is up to its owner: the sweep
 * itself (sweep.c), or rank 0 of several (sweep_ranks.c).
 */
#ifndef KITH_CLI_SWEEP_CREW_H
#define KITH_CLI_SWEEP_CREW_H

#include "sweep.h"

#include <pthread.h>

typedef struct sweep_crew sweep_crew;

/** A thread that makes runs. */
typedef struct sweep_lane {
    sweep_crew *crew; /**< the crew of the lane */
    kith_ctx *ctx;    /**< its context */
    bool own;         /**< the context is closed with the lane */
    pthread_t thread; /**< the thread; where the caller is lane 0, not set for that lane */
} sweep_lane;

struct sweep_crew {
    const sweep *s; /**< the sweep */
    void *user;     /**< for the functions below, which are called with the lock held */
    /** Return the next run, to be freed by sweep_flock_free; NULL: none now. */
    sweep_flock *(*take)(sweep_crew *crew);
    void (*give)(sweep_crew *crew, const sweep_answer *answer); /**< take note of an answer */
    bool (*watch)(sweep_crew *crew); /**< called often; true: all runs are to end. NULL: none */
    bool waits; /**< when there is no run, lanes wait for one; false: they end */

    pthread_mutex_t lock; /**< guards what follows, and what the functions above use */
    pthread_cond_t more;  /**< signalled when there are runs, and by `stop` */
    bool stop;            /**< lanes are to end, and so are their runs */
    int64_t left;         /**< rank 0: runs that have no answer */
    int64_t steps;        /**< steps made by all lanes */
    int64_t elsewhere;    /**< rank 0: steps made by the lanes of other ranks */
    int n;                /**< number of lanes */
    int all;              /**< rank 0: number of lanes of all ranks */
    sweep_lane *lane;     /**< [n] the lanes */
};

/** Return how many lanes a rank has: a thread for each run of small flocks.
 *  @param most_boids  of the largest flock   @param runs  runs to be made */
int sweep_lanes(const kith_ctx *ctx, int64_t most_boids, int64_t runs);

/** Start the lanes; fewer than wanted where there is no memory. The fields above the lock are set.
 *  @param ctx     context of the rank: that of a single lane; others have one of one thread each
 *  @param caller  the calling thread is to be lane 0 (sweep_crew_work), and works alone where no
 *                 other lane can be had; false: at least one thread is started
 *  @return false: no memory or no thread, and nothing is to be ended */
bool sweep_crew_start(sweep_crew *crew, kith_ctx *ctx, int wanted, bool caller);

/** Make runs as lane 0. */
void sweep_crew_work(sweep_crew *crew);

/** Wait until all lanes have ended, and free them. @param caller  as for sweep_crew_start */
void sweep_crew_end(sweep_crew *crew, bool caller);

/** Tell the lanes to end, with the runs that they make. */
void sweep_crew_stop(sweep_crew *crew);

/** Return the number of boids of the largest flock of a sweep. */
int64_t sweep_most_boids(const sweep *s);

/** Deal runs to the crews of all ranks until all are answered, or a run has failed: on rank 0, a
 *  ranks_deal_fn (ranks/ranks.h).
 *  @param user  the crew of rank 0, not started, which has no lane in the calling thread */
kith_status sweep_deal(const kith_transport *transport, kith_ctx *ctx, void *user);

#endif
