/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A handler of the signals of a crash. It looks whether a function of the HDF5 library is among
 * those that were being called, in whatever thread; else it lets the crash happen. It runs on a
 * stack of its own, for crashes by endless recursion, and calls nothing that could allocate.
 */
#include "guard.h"

#include "report.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction before[CRASHES];
static char message[1400];

static bool is_hdf5(const void *code)
{
    Dl_info where;
    const char *file = dladdr(code, &where) ? strrchr(where.dli_fname, '/') : NULL;
    return file && strncmp(file, "/libhdf5", sizeof "/libhdf5" - 1) == 0;
}

static void handle(int number)
{
    enum { DEEPEST = 64 };
    void *called[DEEPEST];
    const int n = backtrace(called, DEEPEST);
    for (int k = 0; k < n; k++) {
        if (is_hdf5(called[k])) {
            (void)!write(STDERR_FILENO, message, strlen(message));
            _exit(STATUS_FORMAT);
        }
    }
    for (int k = 0; k < CRASHES; k++) {
        sigaction(crashes[k], &before[k], NULL);
    }
    (void)raise(number); /* as it was, once this handler has returned */
}

void guard_name(const char *path)
{
    snprintf(message, sizeof message,
             "kith: %.1200s: the HDF5 library crashed on it: the file is damaged\n"
             "      h5dump may still read parts of it\n",
             path);
}

void guard_start(void)
{
    enum { ROOM = 1 << 16 };
    static char room[ROOM];
    void *called[1];
    (void)backtrace(called, 1); /* the first call allocates */
    guard_name("a file");
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    (void)sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int k = 0; k < CRASHES; k++) {
        sigaction(crashes[k], &action, &before[k]);
    }
}
