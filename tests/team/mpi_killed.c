/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library of MPI's transport for tests: as libkith-openmpi or libkith-mpich, but
 *
 * * one rank kills itself in a call of its transport: KITH_TEST_KILL="1:30" is rank 1, before its
 *   call 30, counted from 0 over all its transports;
 * * a call of one rank fails, without a message: KITH_TEST_FAIL="1:30" counts as KITH_TEST_KILL
 *   does;
 * * with KITH_TEST_NOISE it writes to the standard output, as an MPI may: when it begins, and in
 *   later calls of ranks above 0, or of all where UCX_LOG_FILE does not send UCX's log elsewhere;
 * * with KITH_TEST_SINGLE MPI offers no more than MPI_THREAD_SINGLE.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "kith_mpi.h"

/* Functions of the library, under other names: its source is compiled into this one. */
kith_status real_begin(kith_transport *out);

/* MPI's function, which this one takes the place of. */
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *offered)
{
    const int status = PMPI_Init_thread(argc, argv, wanted, offered);
    if (getenv("KITH_TEST_SINGLE")) {
        *offered = MPI_THREAD_SINGLE;
    }
    return status;
}

static int victim = -1;
static long moment, calls;
static bool kills;

/** Write a line as UCX logs it. */
static void make_noise(void)
{
    if (getenv("KITH_TEST_NOISE")) {
        puts("[1764000000.123456] [machine:1234 :0] noise");
        fflush(stdout);
    }
}

/** Count a call, and kill the process at its moment. @return the transport; NULL: the call fails */
static const kith_transport *reach(void *self)
{
    const kith_transport *t = self;
    if (t->rank > 0 || !getenv("UCX_LOG_FILE")) {
        make_noise();
    }
    if (t->rank == victim && calls++ == moment) {
        if (kills) {
            raise(SIGKILL);
        }
        return NULL;
    }
    return t;
}

static int counts(void *self, const int64_t *to, int64_t *from)
{
    const kith_transport *t = reach(self);
    return !t || t->counts(t->self, to, from);
}

static int exchange(void *self, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                    int64_t n_from, void *stream)
{
    const kith_transport *t = reach(self);
    return !t || t->exchange(t->self, to, n_to, from, n_from, stream);
}

static int gather(void *self, const void *mine, int64_t bytes, void *all)
{
    const kith_transport *t = reach(self);
    return !t || t->gather(t->self, mine, bytes, all);
}

static int combine(void *self, int op, int64_t *inout, int64_t n)
{
    const kith_transport *t = reach(self);
    return !t || t->combine(t->self, op, inout, n);
}

static void abort_all(void *self)
{
    const kith_transport *t = self;
    t->abort(t->self);
}

static void close_one(void *self)
{
    kith_transport *t = self;
    t->close(t->self);
    free(t);
}

kith_status kith_mpi_begin(kith_transport *out)
{
    const char *kill_at = getenv("KITH_TEST_KILL");
    const char *asked = kill_at ? kill_at : getenv("KITH_TEST_FAIL");
    kith_transport *real = malloc(sizeof *real);
    make_noise();
    const kith_status status = real ? real_begin(real) : KITH_NO_MEMORY;
    if (status != KITH_OK) {
        free(real);
        return status;
    }
    kills = kill_at != NULL;
    if (asked) {
        sscanf(asked, "%d:%ld", &victim, &moment);
    }
    *out = *real;
    out->self = real;
    out->counts = counts;
    out->exchange = exchange;
    out->gather = gather;
    out->combine = combine;
    out->abort = abort_all;
    out->close = close_one;
    return KITH_OK;
}
