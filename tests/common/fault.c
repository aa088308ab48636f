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
 *     KITH_FAULT="read K"     from the K-th read of a file on, the disk gives none
 *     KITH_FAULT="open K"     from the K-th open on, there are too many open files
 *     KITH_FAULT="close K"    from the K-th close of a file on, close tells of a lost write
 *     KITH_FAULT="short 0"    each read and write is interrupted once, then done in part
 *     KITH_FAULT="count"      nothing fails
 *
 * "ALLOCATIONS CHANGES READS OPENS CLOSES" is written into the file that KITH_FAULT_COUNT names
 * when the program ends. Changes of files are what write, pwrite, ftruncate, fsync and rename do.
 * Files are regular files alone; reads, opens and closes are those of the program and of libkith.
 * Processes that the program starts do not have the module.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
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

static atomic_int_fast64_t allocations, changes, reads, opens, closes;
static int64_t fail_from = INT64_MAX, fail_to = INT64_MAX, change_from = INT64_MAX;
static int64_t read_from = INT64_MAX, open_from = INT64_MAX, close_from = INT64_MAX;
static bool kills, without_libc, shortens;
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

/* Faults end when the program exits, after its own handlers. What run-time libraries do from then
 * on, such as gcov's in a coverage build, is not the program's. A handler that runs before that of
 * the dynamic linker is one that was registered after it: in main. */

static int (*true_main)(int n, char **words, char **environment);

static void forget_objects(void)
{
    n_ranges = 0;
}

static int faulty_main(int n, char **words, char **environment)
{
    atexit(forget_objects);
    return true_main(n, words, environment);
}

typedef int start(int (*main)(int, char **, char **), int n, char **words, void (*init)(void),
                  void (*fini)(void), void (*linker_fini)(void), void *stack_end);
start __libc_start_main;

int __libc_start_main(int (*main)(int, char **, char **), int n, char **words, void (*init)(void),
                      void (*fini)(void), void (*linker_fini)(void), void *stack_end)
{
    void *symbol = dlsym(RTLD_NEXT, "__libc_start_main");
    start *next;
    memcpy(&next, &symbol, sizeof next);
    true_main = main;
    return next(faulty_main, n, words, init, fini, linker_fini, stack_end);
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
    shortens = fault && strncmp(fault, "short", 5) == 0;
    (void)(fault && (sscanf(fault, "read %ld", &read_from) == 1 ||
                     sscanf(fault, "open %ld", &open_from) == 1 ||
                     sscanf(fault, "close %ld", &close_from) == 1));
    without_libc = fault && fault[0] == 'o';
    dl_iterate_phdr(add_object, NULL);
}

__attribute__((destructor)) static void end(void)
{
    const atomic_int_fast64_t *const counts[] = {&allocations, &changes, &reads, &opens, &closes};
    FILE *file = count_path[0] ? fopen(count_path, "w") : NULL;
    if (!file)
        return;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        fprintf(file, "%lld ", (long long)atomic_load(counts[k]));
    fclose(file);
}

/** Whether code of the program is at an address. */
static bool in_ranges(const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    for (int k = 0; k < n_ranges; k++)
        if (at >= ranges[k].from && at < ranges[k].to)
            return true;
    return false;
}

/* -------------------------------------------------------------------------------- allocations */

static bool fails(const void *caller)
{
    if (!in_ranges(caller))
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

/** Interrupt every other call of a thread. @return -1, or the bytes that the other ones may do. */
static ssize_t cut(size_t *size)
{
    static _Thread_local bool interrupted;
    if (!shortens || *size == 0)
        return 0;
    interrupted = !interrupted;
    errno = EINTR;
    *size = (*size + 1) / 2;
    return interrupted ? -1 : 0;
}

ssize_t write(int fd, const void *data, size_t size)
{
    if (is_file(fd) && (refused(ENOSPC) || cut(&size) < 0))
        return -1;
    return syscall(SYS_write, fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    if (is_file(fd) && (refused(ENOSPC) || cut(&size) < 0))
        return -1;
    return syscall(SYS_pwrite64, fd, data, size, at);
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
    return refused(EIO) ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* --------------------------------------------------------------------- reads, opens and closes */

/** Count a call of the program. @return whether it is to fail. */
static bool fails_from(const void *caller, atomic_int_fast64_t *count, int64_t from, int error)
{
    if (!in_ranges(caller) || atomic_fetch_add(count, 1) < from)
        return false;
    errno = error;
    return true;
}

static ssize_t read_at(const void *caller, int fd, void *data, size_t size, off_t at)
{
    if (is_file(fd) &&
        (fails_from(caller, &reads, read_from, EIO) || (in_ranges(caller) && cut(&size) < 0)))
        return -1;
    return at < 0 ? syscall(SYS_read, fd, data, size) : syscall(SYS_pread64, fd, data, size, at);
}

ssize_t read(int fd, void *data, size_t size)
{
    return read_at(__builtin_return_address(0), fd, data, size, -1);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    return read_at(__builtin_return_address(0), fd, data, size, at);
}

ssize_t pread64(int fd, void *data, size_t size, off_t at)
{
    return read_at(__builtin_return_address(0), fd, data, size, at);
}

static int open_at(const void *caller, const char *path, int flags, va_list more)
{
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    if (fails_from(caller, &opens, open_from, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const int fd = open_at(__builtin_return_address(0), path, flags, more);
    va_end(more);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const int fd = open_at(__builtin_return_address(0), path, flags, more);
    va_end(more);
    return fd;
}

int close(int fd)
{
    const bool lost = is_file(fd) &&
                      fails_from(__builtin_return_address(0), &closes, close_from, EIO);
    const int closed = (int)syscall(SYS_close, fd);
    if (lost)
        errno = EIO;
    return lost ? -1 : closed;
}
