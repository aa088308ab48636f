/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A handler of the signals of a crash, and of SIGQUIT and SIGXCPU, which end a process as a crash
 * does. It reads io_foreign_calls of the thread (io/core/foreign.h), makes system calls that are
 * safe in a handler, and allocates nothing.
 */
#include "guard.h"

#include "core/foreign.h"
#include "report.h"

#include <signal.h>
#include <unistd.h>

/* Message of a crash outside of HDF5 and chemfiles. */
static const char ours[] = "kith: crashed by a fault of its own, not of its input; "
                           "please report it with the command line\n";
/* Message of an abort within MPI. */
static const char lost[] = "kith: a rank was lost: MPI aborted this one\n";
/* Values of mpi: this thread is in no call of MPI; is in one, and says nothing of an abort, or
 * says it. */
enum { OUTSIDE, SILENT, SPEAKS };
static _Thread_local volatile sig_atomic_t mpi;
/* The signals that are handled. The first CRASHES are of crashes: the others stay ignored where the
 * parent process ignores them. */
enum { CRASHES = 5 };
static const int ends[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGQUIT, SIGXCPU};
/* What each signal did before guard_start. */
static struct sigaction before[NSIG];

/** Remove unfinished files, print a message, and end the process. */
static void handle(int number, siginfo_t *info, void *context)
{
    const bool sent = number == SIGQUIT || number == SIGXCPU || /* by a terminal or the system */
                      (info->si_code == SI_USER && info->si_pid != getpid()); /* by kill */
    (void)context;
    io_remove_parts();
    if (io_foreign_calls.inside && !sent) {
        (void)!write(STDERR_FILENO, io_foreign_calls.text, (size_t)io_foreign_calls.length);
        _exit(STATUS_FORMAT);
    }
    if (mpi != OUTSIDE && number == SIGABRT && !sent) {
        (void)!write(STDERR_FILENO, lost, mpi == SPEAKS ? sizeof lost - 1 : 0);
        _exit(STATUS_NO_BACKEND);
    }
    if (!sent) {
        (void)!write(STDERR_FILENO, ours, sizeof ours - 1);
    }
    (void)sigaction(number, &before[number], NULL);
    (void)raise(number); /* once this handler has returned: the end as it was, with its core */
}

void guard_begin_mpi(bool speaks)
{
    mpi = speaks ? SPEAKS : SILENT;
}

void guard_end_mpi(void)
{
    mpi = OUTSIDE;
}

void guard_start(void)
{
    enum { ROOM = 1 << 16 }; /* [bytes] */
    static char room[ROOM]; /* stack of the handler, which must run when the stack has overflowed */
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    (void)sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        struct sigaction *old = &before[ends[k]];
        /* A shell has SIGQUIT ignored by jobs in the background: it stays so. */
        if (sigaction(ends[k], NULL, old) == 0 && (k < CRASHES || old->sa_handler != SIG_IGN)) {
            (void)sigaction(ends[k], &action, NULL);
        }
    }
}
