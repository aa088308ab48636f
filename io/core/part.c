/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replacing a file atomically: the new file, the part, is written beside it as path.XXXXXX.part,
 * flushed to disk, and renamed. At any moment the path leads to the old file or to the complete new
 * one. Symbolic links are followed: the file that they lead to is replaced, or created if there is
 * none. Owner, group, mode, ACL and user attributes of the old file are copied to the new one.
 */
#include "io_internal.h"
#include "linked.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------ temporary files */

/** Paths of the temporary files that exist, for a handler of crashes. The thread that takes a path
 *  out of its slot owns the path: the one that closes the output or lock, or the one that runs the
 *  handler. A file that finds no free slot stays on disk after a crash. */
enum { SLOTS = 32 };
static _Atomic(char *) parts[SLOTS];

/** Replace one path of the list, atomically.
 *  @param from  path to remove; NULL: a free slot
 *  @param to    path to store in its slot; NULL: the slot becomes free
 *  @return true when the list held `from` */
static bool exchange(char *from, char *to)
{
    for (int k = 0; k < SLOTS; k++) {
        char *expected = from;
        if (atomic_compare_exchange_strong(&parts[k], &expected, to)) {
            return true;
        }
    }
    return false;
}

void io__temporary_list(io_temporary *file)
{
    assert(file->path && !file->listed);
    file->listed = exchange(NULL, file->path);
}

bool io__temporary_unlist(io_temporary *file)
{
    if (file->listed && !exchange(file->path, NULL)) {
        file->path = NULL;
    }
    file->listed = false;
    return file->path != NULL;
}

void io__temporary_forget(io_temporary *file)
{
    if (io__temporary_unlist(file)) {
        free(file->path);
    }
    file->path = NULL;
}

void io_remove_parts(void)
{
    for (int k = 0; k < SLOTS; k++) {
        char *name = atomic_exchange(&parts[k], NULL);
        if (name) {
            unlink(name);
            /* back to the list: if the process continues, its output frees the path */
            char *expected = NULL;
            atomic_compare_exchange_strong(&parts[k], &expected, name);
        }
    }
}

/* -------------------------------------------------------------------------- where a path leads */

/** Return the number of the descriptor in a path like /dev/fd/3 or /proc/self/fd/3; -1 if the path
 *  is another one. 9 digits are read at most, which an int holds. */
static int number_of(const char *path)
{
    int number = -1, end = 0;
    if (sscanf(path, "/proc/self/fd/%9d%n", &number, &end) == 1 && !path[end]) {
        return number;
    }
    return sscanf(path, "/dev/fd/%9d%n", &number, &end) == 1 && !path[end] ? number : -1;
}

/** Follow symbolic links of the last component of a path. The target need not exist.
 *  @return the target, to be freed; NULL with errno set */
static char *follow(const char *path)
{
    enum { MOST_LINKS = 40 }; /* as Linux follows */
    char *at = strdup(path), link[PATH_MAX];
    for (int k = 0; at && k < MOST_LINKS; k++) {
        const ssize_t length = number_of(at) < 0 ? readlink(at, link, sizeof link) : -1;
        if (length < 0) {
            return at; /* no link, or one that cannot be read: opening it gives the error */
        }
        const char *slash = link[0] == '/' ? NULL : strrchr(at, '/');
        char *next = NULL;
        if (asprintf(&next, "%.*s%.*s", slash ? (int)(slash - at) + 1 : 0, at, (int)length, link) <
            0) {
            next = NULL;
        }
        free(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    free(at);
    return NULL;
}

int io_open_descriptor(const char *path)
{
    char *target = follow(path);
    const int number = target ? number_of(target) : -1;
    free(target);
    return number;
}

/** Return the folder of a path: "." if it has no slash. To be freed by the caller; NULL if memory
 *  is exhausted. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
}

/** Fail if no file can be created in the folder of a target. */
static io_status check_folder(const char *path, const char *target, io_error *error)
{
    char *folder = folder_of(target);
    io_status status = IO_OK;
    if (!folder) {
        status = io__fail(error, path, IO_NO_MEMORY, "no memory to write with");
    } else if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0) {
        status = io__fail(error, path, IO_SYSTEM, "no file can be created in the folder %s: %s",
                          folder, strerror(errno));
    }
    free(folder);
    return status;
}

/** Return IO_SYSTEM if another process holds a lock on the target. */
static io_status check_unlocked(const char *path, const char *target, io_error *error)
{
    int fd = -1;
    const io_status status = io__lock_share(path, target, &fd, error);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

io_status io__destination_find(const char *path, io_destination *destination, io_error *error)
{
    struct stat facts;
    *destination = (io_destination){.target = follow(path)};
    if (!destination->target) {
        return io__fail(error, path, errno == ENOMEM ? IO_NO_MEMORY : IO_SYSTEM,
                        "cannot create: %s", strerror(errno));
    }
    destination->number = number_of(destination->target);
    if (destination->number >= 0) {
        return IO_OK;
    }
    destination->exists = stat(destination->target, &facts) == 0;
    destination->regular = !destination->exists || S_ISREG(facts.st_mode);
    if (!destination->exists && errno != ENOENT) {
        return io__fail(error, path, IO_SYSTEM, "cannot create: %s", strerror(errno));
    }
    if (destination->exists && S_ISDIR(facts.st_mode)) {
        return io__fail(error, path, IO_SYSTEM, "is a directory; expected a file to write");
    }
    if (destination->exists && faccessat(AT_FDCWD, destination->target, W_OK, AT_EACCESS) < 0) {
        return io__fail(error, path, IO_SYSTEM, "cannot be written: %s", strerror(errno));
    }
    if (destination->exists) {
        IO_TRY(io__linked_check(&facts, path, error));
    }
    if (destination->regular) {
        IO_TRY(check_unlocked(path, destination->target, error));
    }
    return destination->regular ? check_folder(path, destination->target, error) : IO_OK;
}

io_status io_check_output(const char *path, io_error *error)
{
    io_destination destination;
    const io_status status = io__destination_find(path, &destination, io__error_begin(error));
    free(destination.target);
    return status;
}

/* ---------------------------------------------------------------------------- creating a part */

/** Copy the ACL and user attributes of a file. @return 0 or an errno. */
static int copy_attributes(const char *from, int to)
{
    enum { LARGEST = 1 << 16 /* bytes of a list and of a value, in Linux */ };
    char *names = malloc(2 * (size_t)LARGEST), *value = names ? names + LARGEST : NULL;
    /* -1 where attributes cannot be listed, as in a file system without them: none is copied */
    const ssize_t all = names ? listxattr(from, names, LARGEST) : 0;
    int failed = names ? 0 : ENOMEM;
    for (ssize_t at = 0; at < all && !failed; at += (ssize_t)strlen(names + at) + 1) {
        const char *name = names + at;
        if (strncmp(name, "user.", 5) != 0 && strcmp(name, "system.posix_acl_access") != 0) {
            continue;
        }
        const ssize_t size = getxattr(from, name, value, LARGEST);
        failed = size < 0 || fsetxattr(to, name, value, (size_t)size, 0) < 0 ? errno : 0;
    }
    free(names);
    return failed;
}

/** Copy owner, group, mode, ACL and user attributes from one file to another. Owner and group are
 *  copied if the system permits it. @return 0 or an errno */
static int take_over(const char *from, int to)
{
    struct stat old, new;
    if (stat(from, &old) < 0 || fstat(to, &new) < 0) {
        return errno;
    }
    bool owner = old.st_uid == new.st_uid, group = old.st_gid == new.st_gid;
    if (!(owner && group) && fchown(to, old.st_uid, old.st_gid) == 0) {
        owner = group = true;
    }
    group = group || fchown(to, (uid_t)-1, old.st_gid) == 0;
    /* of another owner or group: with these bits, a program would run as a wrong user */
    old.st_mode &= ~(mode_t)((owner ? 0 : S_ISUID) | (group ? 0 : S_ISGID));
    const int failed = copy_attributes(from, to);
    return failed ? failed : fchmod(to, old.st_mode & 07777) < 0 ? errno : 0;
}

/** Create TARGET.XXXXXX.part, with random hexadecimal digits, under a name that no file has. Sets
 *  output->part.
 *  @param mode  mode of the file, before the umask
 *  @return its descriptor; -1 with errno set */
static int create_part(io_output *output, mode_t mode)
{
    enum { TRIES = 100 };
    const size_t room = strlen(output->target) + sizeof ".XXXXXX.part";
    io_temporary *part = &output->part;
    part->path = malloc(room);
    if (!part->path) {
        return -1;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    /* linear congruential generator (Knuth, MMIX), seeded by time and process */
    uint64_t state = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 16;
    for (int k = 0; k < TRIES; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        snprintf(part->path, room, "%s.%06x.part", output->target, (unsigned)(state >> 40));
        io__temporary_list(part); /* before the file exists: a crash then removes it at any time */
        const int fd = open(part->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
        if (!io__temporary_unlist(part)) {
            break; /* a handler of a crash ends the program */
        }
    }
    io__temporary_forget(part);
    errno = EEXIST;
    return -1;
}

/** Create TARGET.part, or truncate the TARGET.part of a killed process. Sets output->part. A file
 *  of this name that is no regular file is refused.
 *  @param mode  mode of a new file, before the umask
 *  @return its descriptor; -1 with errno set */
static int take_part(io_output *output, mode_t mode)
{
    /* a symbolic link is not followed, and the open does not wait for the reader of a pipe */
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    struct stat facts;
    io_temporary *part = &output->part;
    if (asprintf(&part->path, "%s.part", output->target) < 0) {
        part->path = NULL;
        return -1;
    }
    io__temporary_list(part); /* before the file exists: a crash then removes it at any time */
    const int fd = open(part->path, flags, mode);
    if (fd < 0 || (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && ftruncate(fd, 0) == 0)) {
        return fd;
    }
    io__close_fd(fd);
    errno = EEXIST;
    return -1;
}

io_status io__part_open(io_output *output, bool replaces, bool fixed)
{
    /* the part of a file that exists is for its owner alone until take_over copies the mode */
    const mode_t mode = replaces ? S_IRUSR | S_IWUSR : 0666;
    output->fd = (fixed ? take_part : create_part)(output, mode);
    if (output->fd < 0) {
        const int why = errno;
        io__temporary_forget(&output->part);
        return io__output_fail(output, why == ENOMEM ? IO_NO_MEMORY : IO_SYSTEM,
                               "cannot create: %s", strerror(why));
    }
    const int failed = replaces ? take_over(output->target, output->fd) : 0;
    if (failed) {
        return io__output_fail(output, failed == ENOMEM ? IO_NO_MEMORY : IO_SYSTEM,
                               "its mode or attributes cannot be kept: %s", strerror(failed));
    }
    return IO_OK;
}

void io__part_drop(io_output *output)
{
    if (output->part.path) {
        unlink(output->part.path);
    }
    io__temporary_forget(&output->part);
}

int io__folder_sync(const char *target)
{
    char *folder = folder_of(target);
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int failed = folder ? 0 : ENOMEM;
    if (folder && fd < 0 && errno != EACCES) { /* a folder that may not be read cannot be flushed */
        failed = errno;
    }
    if (fd >= 0) {
        failed = io__sync(fd);
        io__close_fd(fd);
    }
    free(folder);
    return failed;
}
