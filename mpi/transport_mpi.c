/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transport over MPI. Parcels are at most 2^30 bytes, so that the counts of MPI 3, which are
 * ints, hold them; longer arrays of numbers are combined piece by piece. A message is MPI_BYTE from
 * Isend to Irecv: no derived types, no Alltoallv, whose displacements overflow.
 *
 * Every call of MPI that waits for other ranks, between its beginning and end, is nonblocking, and
 * is tested until it is complete (wait_all). A blocking call busy-waits in most implementations:
 * with more ranks than cores, ranks that wait then take the cores from the ranks that they wait
 * for.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime and nanosleep, where a program asks for ISO C */
#endif

#include "kith_mpi.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TAG = 0x6b74,          /**< of all messages: no others are in the transport's communicator */
    PIECE = 1 << 26,       /**< most numbers or bytes of one collective call of MPI, and most
                                requests of one test. Counts of MPI are ints; 2^26 numbers are 2^29
                                bytes, which an int holds too */
    MOST_PARCEL = 1 << 30, /**< most bytes of a parcel: MPI counts them by an int */
    YIELDING = 100000,     /**< time in which a rank that waits yields its core, then sleeps [ns] */
    LEAST_SLEEP = 1000,    /**< first sleep [ns] */
    MOST_SLEEP = 1000000,  /**< longest sleep [ns] */
    SLOWER = 16            /**< each sleep is longer than the one before by 1 / SLOWER of it */
};

/** One rank's part of a transport: kith_transport.self. */
struct member {
    MPI_Comm communicator; /**< a duplicate, whose errors are returned */
    MPI_Request *request;  /**< [room] requests of an exchange */
    int64_t room;          /**< capacity of `request` */
};

#if defined(__GNUC__) && !defined(__clang__) /* MPICH's MPI_STATUSES_IGNORE is no array */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

/** Return the time of a monotonic clock [ns]. */
static int64_t clock_ns(void)
{
    const int64_t second = 1000000000;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return second * now.tv_sec + now.tv_nsec;
}

/** This thread is in MPI_Testall. There MPICH calls exit where another rank has called MPI_Abort,
 *  and handlers of the program that exit calls come here again: MPI takes no call then. */
static _Thread_local bool testing;

/** Wait until n requests are complete: test them, and between two tests let other processes run,
 *  first by yielding the core, then by sleeps that grow. Sleeps, as a process that sleeps gets the
 *  core back sooner than one that yields it to a process that computes.
 *  @return 0, or 1 when MPI failed */
static int wait_all(int n, MPI_Request *request)
{
    const int64_t start = clock_ns();
    struct timespec nap = {.tv_nsec = LEAST_SLEEP};
    for (bool yields = true;; yields = yields && clock_ns() - start < YIELDING) {
        int done = 0;
        testing = true;
        const int failed = MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
        testing = false;
        if (failed) {
            return 1;
        }
        if (done) {
            return 0;
        }
        if (yields) {
            sched_yield();
        } else {
            nanosleep(&nap, NULL);
            nap.tv_nsec += nap.tv_nsec < MOST_SLEEP ? nap.tv_nsec / SLOWER : 0;
        }
    }
}

/** Wait for a nonblocking call. @param begun  what the call returned
 *  @return 0, or 1 when MPI failed */
static int wait_one(int begun, MPI_Request *request)
{
    return begun != MPI_SUCCESS || wait_all(1, request);
}

/* The functions of a kith_transport, which kith/team.h describes. They return 0, or 1 after a
 * failure. Requests may then be pending: the team, and the command's ranks, call mpi_abort. */

static int mpi_counts(void *self, const int64_t *to, int64_t *from)
{
    const struct member *m = self;
    MPI_Request request;
    if (testing) {
        return 1;
    }
    return wait_one(
        MPI_Ialltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, m->communicator, &request),
        &request);
}

/** Make room for the requests of n parcels. @return 0, or 1 when there is no memory */
static int need_requests(struct member *m, int64_t n)
{
    if (n > m->room) {
        MPI_Request *request = realloc(m->request, (size_t)n * sizeof *request);
        if (!request) {
            return 1;
        }
        m->request = request;
        m->room = n;
    }
    return 0;
}

static int mpi_exchange(void *self, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                        int64_t n_from, void *stream)
{
    struct member *m = self;
    int64_t n = 0;
    (void)stream;
    if (testing || need_requests(m, n_to + n_from)) {
        return 1;
    }
    for (int64_t k = 0; k < n_from; k++) {
        if (from[k].bytes > MOST_PARCEL || from[k].memory != KITH_HOST ||
            MPI_Irecv(from[k].data, (int)from[k].bytes, MPI_BYTE, from[k].peer, TAG,
                      m->communicator, &m->request[n]) != MPI_SUCCESS) {
            return 1;
        }
        n++;
    }
    for (int64_t k = 0; k < n_to; k++) {
        if (to[k].bytes > MOST_PARCEL || to[k].memory != KITH_HOST ||
            MPI_Isend(to[k].data, (int)to[k].bytes, MPI_BYTE, to[k].peer, TAG, m->communicator,
                      &m->request[n]) != MPI_SUCCESS) {
            return 1;
        }
        n++;
    }
    int failed = 0;
    for (int64_t at = 0; at < n && !failed; at += PIECE) { /* numbers of requests are ints */
        const int here = n - at < PIECE ? (int)(n - at) : PIECE;
        failed = wait_all(here, m->request + at);
    }
    return failed;
}

static int mpi_gather(void *self, const void *mine, int64_t bytes, void *all)
{
    const struct member *m = self;
    MPI_Request request;
    int ranks;
    if (testing) {
        return 1;
    }
    MPI_Comm_size(m->communicator, &ranks);
    if (bytes <= PIECE) {
        return wait_one(MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                       m->communicator, &request),
                        &request);
    }
    int failed = 0;
    for (int r = 0; r < ranks && !failed; r++) { /* one broadcast for each piece of each rank */
        char *here = (char *)all + (int64_t)r * bytes;
        int rank;
        MPI_Comm_rank(m->communicator, &rank);
        if (rank == r) {
            memcpy(here, mine, (size_t)bytes);
        }
        for (int64_t at = 0; at < bytes && !failed; at += PIECE) {
            const int size = bytes - at < PIECE ? (int)(bytes - at) : PIECE;
            failed = wait_one(MPI_Ibcast(here + at, size, MPI_BYTE, r, m->communicator, &request),
                              &request);
        }
    }
    return failed;
}

static int mpi_combine(void *self, int op, int64_t *inout, int64_t n)
{
    const struct member *m = self;
    const MPI_Op how = op == KITH_SUM ? MPI_SUM : op == KITH_MIN ? MPI_MIN : MPI_MAX;
    MPI_Request request;
    int failed = testing;
    for (int64_t at = 0; at < n && !failed; at += PIECE) {
        const int here = n - at < PIECE ? (int)(n - at) : PIECE;
        failed = wait_one(MPI_Iallreduce(MPI_IN_PLACE, inout + at, here, MPI_INT64_T, how,
                                         m->communicator, &request),
                          &request);
    }
    return failed;
}

static void mpi_abort(void *self)
{
    const struct member *m = self;
    if (!testing) {
        MPI_Abort(m->communicator, 1);
    }
}

static void mpi_close(void *self)
{
    struct member *m = self;
    int ended = testing;
    if (!ended) {
        MPI_Finalized(&ended);
    }
    if (!ended) { /* after MPI_Finalize no other call of MPI is permitted */
        MPI_Comm_free(&m->communicator);
    }
    free(m->request);
    free(m);
}

/** Return true when MPI lets this thread call it. These two calls are permitted to any thread. */
static bool is_permitted(void)
{
    int level = MPI_THREAD_SINGLE;
    int is_main = 0;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    return is_main || level >= MPI_THREAD_SERIALIZED;
}

kith_status kith_transport_mpi(MPI_Comm communicator, kith_transport *out)
{
    MPI_Request request;
    int begun = 0;
    int ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (!out) {
        return KITH_INVALID;
    }
    memset(out, 0, sizeof *out);
    if (!begun || ended) {
        return KITH_INVALID;
    }
    if (!is_permitted()) {
        return KITH_UNSUPPORTED;
    }
    struct member *m = calloc(1, sizeof *m);
    if (!m) {
        return KITH_NO_MEMORY;
    }
    if (wait_one(MPI_Comm_idup(communicator, &m->communicator, &request), &request)) {
        free(m);
        return KITH_TEAM_LOST;
    }
    MPI_Comm_set_errhandler(m->communicator, MPI_ERRORS_RETURN);
    *out = (kith_transport){.size = sizeof *out,
                            .self = m,
                            .counts = mpi_counts,
                            .exchange = mpi_exchange,
                            .gather = mpi_gather,
                            .combine = mpi_combine,
                            .abort = mpi_abort,
                            .close = mpi_close};
    MPI_Comm_rank(m->communicator, &out->rank);
    MPI_Comm_size(m->communicator, &out->ranks);
    return KITH_OK;
}

kith_status kith_transport_mpi_fortran(MPI_Fint communicator, kith_transport *out)
{
    return kith_transport_mpi(MPI_Comm_f2c(communicator), out);
}

/** MPI was begun by kith_mpi_begin, so that kith_mpi_end ends it. */
static bool began_here;

kith_status kith_mpi_begin(kith_transport *out)
{
    int begun = 0;
    int ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (out && !begun && !ended) {
        int offered;
        if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &offered) != MPI_SUCCESS) {
            memset(out, 0, sizeof *out);
            return KITH_TEAM_LOST;
        }
        if (offered < MPI_THREAD_FUNNELED) {
            MPI_Finalize();
            memset(out, 0, sizeof *out);
            return KITH_UNSUPPORTED;
        }
        began_here = true;
    }
    return kith_transport_mpi(MPI_COMM_WORLD, out);
}

void kith_mpi_end(void)
{
    if (began_here && !testing) {
        began_here = false;
        MPI_Finalize();
    }
}
