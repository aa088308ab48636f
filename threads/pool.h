/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A pool of POSIX threads that runs loops in parallel.
 *
 * The caller gives a function and a number of pieces of work. The caller and the workers of
 * the pool claim pieces in ascending order from one atomic counter until none is left. The caller
 * never waits for a worker that has not joined the loop: on a busy machine it does the pieces
 * itself. Idle workers spin for some 20 microseconds, as the next loop often follows at once, then
 * yield their cores for some 100, and then sleep on a condition variable, so that a pool without
 * work uses no processor time.
 *
 * What a loop computes must depend on the index of a piece, never on the index of a worker or on
 * the number of workers, so that results are equal, bit by bit, on any machine.
 */
#ifndef KITH_POOL_H
#define KITH_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct kith__pool;

/** Do one piece of a parallel loop.
 *  @param state   what the caller of kith__pool_run gave
 *  @param piece   index of the piece, 0 to pieces - 1; each is done exactly once
 *  @param worker  index of the thread that does it, 0 to threads - 1, 0 being the caller; no two
 *                 threads of one loop have one index at one time, so it may select scratch
 *                 memory of the loop */
typedef void kith__piece_fn(void *state, int64_t piece, int worker);

/** Do a range of the items of a parallel loop: [begin, end).
 *  @param state  what the caller of kith__pool_chunks or kith__pool_for gave */
typedef void kith__range_fn(void *state, int64_t begin, int64_t end);

/** Open a pool. No thread is started before the first loop that needs one.
 *  @param threads  most threads of a loop, the caller included; at least 1
 *  @return the pool, or NULL when there is no memory */
struct kith__pool *kith__pool_open(int threads);

/** End the workers and free the pool; NULL is fine. No loop may be running. */
void kith__pool_close(struct kith__pool *pool);

/** Make the loops of a pool cancellable.
 *  @param stopped  called as stopped(user) by each thread before it claims a piece, and every 20
 *                  milliseconds by the caller of a loop while it sleeps until workers are done.
 *                  Once it returns true, which it must do from then on, the pieces that no thread
 *                  has claimed are dropped. NULL: loops cannot be stopped */
void kith__pool_watch(struct kith__pool *pool, bool (*stopped)(void *user), void *user);

/** Return true when the remaining pieces of a loop are dropped, see kith__pool_watch. A piece that
 *  takes long tests it too, and ends early. NULL: false. */
bool kith__pool_stopped(const struct kith__pool *pool);

/** Return the most threads of a loop, the caller included. */
int kith__pool_threads(const struct kith__pool *pool);

/**
 * Do all pieces of a loop, and return when the last is done. Two calls at one time are allowed: the
 * second one, be it from inside a piece or from another thread of the caller, does its pieces by
 * itself. So does a call for which no worker can be started, and a call with pool NULL.
 *
 * A child process made by fork() may call this with its parent's pool: the child starts workers of
 * its own, also where another thread of the parent was running a loop. A loop that is running while
 * its own thread forks cannot be finished by the child, and the child does further loops within it
 * on one thread.
 *
 * @param threads  most threads to use here; limited by the pool's number and by the pieces
 */
void kith__pool_run(struct kith__pool *pool, int threads, int64_t pieces, kith__piece_fn *fn,
                    void *state);

/** Do a loop over n items in ranges of `grain` items, the last one shorter. For loops whose items
 *  take very different times. */
void kith__pool_chunks(struct kith__pool *pool, int threads, int64_t n, int64_t grain,
                       kith__range_fn *fn, void *state);

/** Do a loop over n items in ranges of at least `grain` items, several ranges for each of several
 *  threads, so that one slow thread does not delay the others. For loops whose items take similar
 *  times. */
void kith__pool_for(struct kith__pool *pool, int threads, int64_t n, int64_t grain,
                    kith__range_fn *fn, void *state);

/** Return the first item of piece `piece` when n items are cut into `pieces` whose sizes differ by
 *  one item at most. */
static inline int64_t kith__piece_begin(int64_t n, int64_t pieces, int64_t piece)
{
    const int64_t longer = n % pieces; /* the first pieces have one item more */
    return n / pieces * piece + (piece < longer ? piece : longer);
}

/** Return how many threads this process should use when its user does not say: the first number of
 *  OMP_NUM_THREADS; else the cores of the affinity mask, at most the processor quota of the control
 *  group, and at most this process's share of the machine where an MPI launcher says how many ranks
 *  the machine runs. At least 1. */
int kith__default_threads(void);

/** Return the processor quota, in whole processors rounded up, of the control group that a process
 *  is in.
 *  @param groups  the file that names the groups: "/proc/self/cgroup"
 *  @param root    where control groups are mounted: "/sys/fs/cgroup"
 *  @return the quota, or INT_MAX where there is none */
int kith__group_quota(const char *groups, const char *root);

#endif
