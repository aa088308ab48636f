/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A module for LD_PRELOAD: what a program asks of the system fails, or the program is killed.
 *
 *     KITH_FAULT="alloc K N"  N allocations fail, from the K-th on, counted from 0: those that the
 *                             program itself, libkith, libjansson and libc make, in all threads
 *     KITH_FAULT="own K N"    without those of libc, which calls of other libraries come to, too:
 *                             what these then do is not ours to judge
 *     KITH_FAULT="disk K"     from the K-th change of a file on, the disk takes none
 *     KITH_FAULT="kill K"     instead of the K-th change of a file the program gets SIGKILL
 *     KITH_FAULT="count"      nothing fails; "ALLOCATIONS CHANGES" is written into the file that
 *                             KITH_FAULT_COUNT names when the program ends
 *
 * Changes of files are what write, pwrite, ftruncate, fsync and rename do, of regular files alone.
 * Processes that the program starts do not have the module.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_RANGES = 32 };
static struct range {
    uintptr_t from, to;
} ranges[MOST_RANGES];
static int n_ranges;

static atomic_int_fast64_t allocations, changes;
static int64_t fail_from = INT64_MAX, fail_to = INT64_MAX, change_from = INT64_MAX;
static bool kills, without_libc;
static char count_path[1024];

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/** Whether allocations of an object are to fail. The program comes first, without a name. */
static bool is_ours(const char *name)
{
    return (name[0] == '\0' && n_ranges == 0) || strncmp(name, "libkith", 7) == 0 ||
           strncmp(name, "libjansson", 10) == 0 ||
           (!without_libc && strncmp(name, "libc.so", 7) == 0);
}

/** Remember where an object's code is. */
static int add_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    const char *slash = strrchr(object->dlpi_name, '/');
    if (!is_ours(slash ? slash + 1 : object->dlpi_name))
        return 0;
    for (int k = 0; k < object->dlpi_phnum && n_ranges < MOST_RANGES; k++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[k];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            const uintptr_t from = object->dlpi_addr + part->p_vaddr;
            ranges[n_ranges++] = (struct range){from, from + part->p_memsz};
        }
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("KITH_FAULT"), *path = getenv("KITH_FAULT_COUNT");
    long long from = 0, times = 0;
    snprintf(count_path, sizeof count_path, "%s", path ? path : "");
    unsetenv("LD_PRELOAD");
    if (fault && (sscanf(fault, "alloc %lld %lld", &from, &times) == 2 ||
                  sscanf(fault, "own %lld %lld", &from, &times) == 2)) {
        fail_from = from;
        fail_to = from + times;
    } else if (fault &&
               (sscanf(fault, "disk %lld", &from) == 1 || sscanf(fault, "kill %lld", &from) == 1)) {
        change_from = from;
        kills = fault[0] == 'k';
    }
    without_libc = fault && fault[0] == 'o';
    dl_iterate_phdr(add_object, NULL);
}

__attribute__((destructor)) static void end(void)
{
    char line[64];
    const int64_t made = atomic_load(&allocations), changed = atomic_load(&changes);
    FILE *file = count_path[0] ? fopen(count_path, "w") : NULL;
    if (!file)
        return;
    snprintf(line, sizeof line, "%lld %lld\n", (long long)made, (long long)changed);
    fputs(line, file);
    fclose(file);
}

/* -------------------------------------------------------------------------------- allocations */

static bool fails(const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    bool ours = false;
    for (int k = 0; k < n_ranges && !ours; k++)
        ours = at >= ranges[k].from && at < ranges[k].to;
    if (!ours)
        return false;
    const int64_t number = atomic_fetch_add(&allocations, 1);
    if (number < fail_from || number >= fail_to)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

/* ----------------------------------------------------------------------------- changes of files */

static bool is_file(int fd)
{
    struct stat facts;
    return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

/** Count a change. @return whether it is to fail. */
static bool refused(int error)
{
    const int64_t number = atomic_fetch_add(&changes, 1);
    if (number < change_from)
        return false;
    if (kills)
        raise(SIGKILL);
    errno = error;
    return true;
}

ssize_t write(int fd, const void *data, size_t size)
{
    return is_file(fd) && refused(ENOSPC) ? -1 : syscall(SYS_write, fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return is_file(fd) && refused(ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at)
{
    return pwrite(fd, data, size, at);
}

int ftruncate(int fd, off_t size)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return ftruncate(fd, size);
}

int fsync(int fd)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    return refused(EIO) ? -1 : (int)syscall(SYS_rename, from, to);
}
