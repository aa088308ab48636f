/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Advisory locks by flock(2), which Linux forwards to the server of a network file system. A
 * process keeps a list of its own locks, since flock(2) on a second descriptor would conflict with
 * the first. A program that writes a file in place, or replaces it again and again, holds an
 * exclusive lock for as long as it runs (io_lock_take). A process that replaces a file takes a
 * shared lock for the moment of the rename (io__lock_share), which fails while there is an
 * exclusive one.
 */
#include "lock.h"

#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { TRIES = 100 }; /* attempts to lock a file that other processes remove at each release */

struct io_lock {
    int fd;              /* descriptor of the locked file */
    bool kept;           /* the file system supports locks */
    io_temporary beside; /* PATH.lock, which is removed on release; no path: there is none */
    char *created;       /* path of the file itself, if this lock created it; else NULL */
    io_lock *next;       /* next in the list of locks */
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* protects the list of locks */
static io_lock *taken;                                    /* list of all locks of this process */

/** Parse a line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF", with process,
 *  device and inode.
 *  @return the process, if the line is a lock by flock(2) on the file; else 0 */
static long read_lock(char *line, const struct stat *file)
{
    enum { FLOCK = 1, PROCESS = 4, INODE = 5, WORDS }; /* words of the line, from 0 */
    char *word[WORDS] = {NULL}, *end;
    for (int k = 0; k < WORDS; k++) {
        line += strspn(line, " ");
        word[k] = strsep(&line, " \n");
        if (!line) {
            return 0;
        }
    }
    const unsigned long high = strtoul(word[INODE], &end, 16);
    const unsigned long low = *end == ':' ? strtoul(end + 1, &end, 16) : 0;
    const unsigned long long inode = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
    const bool is_it = strcmp(word[FLOCK], "FLOCK") == 0 && inode == file->st_ino &&
                       makedev((unsigned)high, (unsigned)low) == file->st_dev;
    return is_it ? strtol(word[PROCESS], NULL, 10) : 0;
}

/** Find the process that holds a lock on an open file. @return 0: not known */
static long find_holder(int fd)
{
    struct stat file;
    char line[256];
    long holder = 0;
    FILE *locks = fopen("/proc/locks", "re");
    while (locks && fstat(fd, &file) == 0 && holder <= 0 && fgets(line, sizeof line, locks)) {
        holder = read_lock(line, &file);
    }
    if (locks) {
        fclose(locks);
    }
    return holder > 0 ? holder : 0;
}

/** Store the message that another process holds the lock on an open file, with its number if that
 *  is known. @return IO_SYSTEM */
static io_status refuse(int fd, const char *path, io_error *error)
{
    const long holder = find_holder(fd);
    if (holder > 0) {
        return io__fail(error, path, IO_SYSTEM,
                        "process %ld is writing it; wait for it, or give another name", holder);
    }
    return io__fail(error, path, IO_SYSTEM,
                    "another process is writing it; wait for it, or give another name");
}

/** Return true when a path still names an open file: between opening and locking it, the last
 *  holder of its lock may have removed the file. */
static bool is_named(int fd, const char *name)
{
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && stat(name, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/** Make "PATH.lock" from "PATH" or "PATH/". @return the path, to be freed; NULL: no memory */
static char *name_beside(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    char *name = malloc(length + sizeof ".lock");
    if (name) {
        sprintf(name, "%.*s.lock", (int)length, path);
    }
    return name;
}

/** Add a lock to the list of this process. */
static void list(io_lock *lock)
{
    pthread_mutex_lock(&guard);
    lock->next = taken;
    taken = lock;
    pthread_mutex_unlock(&guard);
}

/** Remove a lock from the list of this process. */
static void unlist(io_lock *lock)
{
    pthread_mutex_lock(&guard);
    for (io_lock **at = &taken; *at; at = &(*at)->next) {
        if (*at == lock) {
            *at = lock->next;
            break;
        }
    }
    pthread_mutex_unlock(&guard);
}

/** Return true when this process holds a lock on a file. */
static bool is_own(const char *name)
{
    bool own = false;
    pthread_mutex_lock(&guard);
    for (const io_lock *lock = taken; lock && !own; lock = lock->next) {
        own = is_named(lock->fd, name);
    }
    pthread_mutex_unlock(&guard);
    return own;
}

/** Call flock(2) without waiting for the lock. @param kind  LOCK_EX or LOCK_SH
 *  @return true when it is locked; false with errno set: EWOULDBLOCK if another process holds it */
static bool lock_now(int fd, int kind)
{
    int failed;
    while ((failed = flock(fd, kind | LOCK_NB)) < 0 && errno == EINTR) {
        ;
    }
    return failed == 0;
}

/** Take a shared lock on a file, if it exists, can be opened and is not locked by this process.
 *  Other failures than a lock of another process are ignored.
 *  @param path     path of the output, for messages
 *  @param name     path of the file to lock
 *  @param[out] fd  descriptor to be closed, also of a file that could not be locked; -1: none
 *  @return IO_SYSTEM if another process holds an exclusive lock */
static io_status share(const char *path, const char *name, int *fd, io_error *error)
{
    *fd = is_own(name) ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || lock_now(*fd, LOCK_SH) || errno != EWOULDBLOCK) {
        return IO_OK;
    }
    const io_status status = refuse(*fd, path, error);
    close(*fd);
    *fd = -1;
    return status;
}

io_status io__lock_share(const char *path, const char *target, int *fd, io_error *error)
{
    char *beside = name_beside(path);
    *fd = -1;
    if (!beside) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to lock it with");
    }
    io_status status = share(path, beside, fd, error);
    free(beside);
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
    return status == IO_OK ? share(path, target, fd, error) : status;
}

/** Open a file, which is created if there is none, and lock it. If its last holder removes it
 *  before it is locked, try again. Sets fd, kept and created of the lock.
 *  @param path  path of the output, for messages
 *  @param name  path of the file to lock: path or PATH.lock */
static io_status lock_file(io_lock *lock, const char *path, const char *name, io_error *error)
{
    for (int k = 0; k < TRIES; k++) {
        lock->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        const bool created = lock->fd >= 0;
        if (!created && errno == EEXIST) { /* a file, or a link, which may lead to none */
            lock->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        }
        if (lock->fd < 0) {
            return io__fail(error, name, IO_SYSTEM, "cannot open to lock: %s", strerror(errno));
        }
        lock->kept = lock_now(lock->fd, LOCK_EX);
        if (!lock->kept && errno == EWOULDBLOCK) {
            return refuse(lock->fd, path, error);
        }
        if (is_named(lock->fd, name)) {
            /* name is path itself, not PATH.lock, which has another way to be removed */
            lock->created = created && name == path ? strdup(name) : NULL;
            return IO_OK;
        }
        close(lock->fd);
        lock->fd = -1;
    }
    return io__fail(error, name, IO_SYSTEM, "cannot be locked: other processes remove it");
}

io_status io_lock_take(const char *path, io_lock_kind kind, io_lock **out, io_error *error)
{
    struct stat facts;
    *out = NULL;
    error = io__error_begin(error);
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
        return IO_OK;
    }
    io_lock *lock = calloc(1, sizeof *lock);
    char *beside = kind == IO_LOCK_BESIDE ? name_beside(path) : NULL;
    if (!lock || (kind == IO_LOCK_BESIDE && !beside)) {
        free(lock);
        free(beside);
        return io__fail(error, path, IO_NO_MEMORY, "no memory to lock it with");
    }
    lock->fd = -1;
    lock->beside.path = beside;
    const io_status status = lock_file(lock, path, beside ? beside : path, error);
    if (status == IO_OK) {
        if (beside) {
            io__temporary_list(&lock->beside);
        }
        *out = lock;
        list(lock);
        return IO_OK;
    }
    if (lock->fd >= 0) {
        close(lock->fd);
    }
    free(lock);
    free(beside);
    return status;
}

bool io_lock_is_kept(const io_lock *lock)
{
    return lock->kept;
}

void io_lock_release(io_lock *lock)
{
    if (!lock) {
        return;
    }
    unlist(lock);
    struct stat facts;
    if (lock->created && fstat(lock->fd, &facts) == 0 && facts.st_size == 0 &&
        is_named(lock->fd, lock->created)) {
        (void)unlink(lock->created); /* nothing was written: leave no empty file */
    }
    free(lock->created);
    if (io__temporary_unlist(&lock->beside)) {
        (void)unlink(lock->beside.path); /* still locked: another process creates a new file */
    }
    io__temporary_forget(&lock->beside);
    close(lock->fd);
    free(lock);
}
