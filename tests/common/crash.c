/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A module for LD_PRELOAD: a program crashes within a function.
 *
 *     KITH_CRASH="NAME HOW"  NAME: H5Dread, fsync, or a function that is found by dlsym, such as
 *                            chfl_trajectory_read_step. HOW: segv, bus, fpe, ill, abort, or stack,
 *                            which overflows the stack
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char name[64], how[16];

__attribute__((constructor)) static void begin(void)
{
    const char *given = getenv("KITH_CRASH");
    if (given && sscanf(given, "%63s %15s", name, how) != 2)
        abort();
}

/** Call itself without an end: `above` holds 0. */
static int descend(volatile signed char *above)
{
    volatile signed char room[4096];
    room[0] = above[0];
    return above[0] < 0 ? 0 : descend(room) + room[0];
}

static int crash(void)
{
    static const struct {
        const char *how;
        int number;
    } signals[] = {{"segv", SIGSEGV}, {"bus", SIGBUS}, {"fpe", SIGFPE}, {"ill", SIGILL}};
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        if (strcmp(how, signals[k].how) == 0)
            raise(signals[k].number);
    volatile signed char first = 0;
    if (strcmp(how, "stack") == 0)
        return descend(&first);
    abort();
}

static void *find(const char *symbol)
{
    static void *(*next)(void *, const char *);
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t k = 0; k < sizeof versions / sizeof *versions && !next; k++)
        *(void **)&next = dlvsym(RTLD_NEXT, "dlsym", versions[k]);
    return next(RTLD_NEXT, symbol);
}

void *dlsym(void *library, const char *symbol)
{
    static void *(*next)(void *, const char *);
    if (!next)
        *(void **)&next = find("dlsym");
    if (strcmp(symbol, name) == 0) {
        int (*function)(void) = crash;
        return *(void **)&function;
    }
    return next(library, symbol);
}

/** As in hdf5.h, which a build may lack. */
int H5Dread(int64_t set, int64_t type, int64_t to, int64_t from, int64_t plist, void *out);

int H5Dread(int64_t set, int64_t type, int64_t to, int64_t from, int64_t plist, void *out)
{
    int (*next)(int64_t, int64_t, int64_t, int64_t, int64_t, void *);
    if (strcmp(name, "H5Dread") == 0)
        return crash();
    *(void **)&next = find("H5Dread");
    return next(set, type, to, from, plist, out);
}

int fsync(int fd)
{
    return strcmp(name, "fsync") == 0 ? crash() : (int)syscall(SYS_fsync, fd);
}
