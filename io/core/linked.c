/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A list of pairs of device and inode, searched linearly: a virtual dataset refers to hundreds of
 * files at most, and the list is searched once for each file opened.
 */
#include "linked.h"

#include "io_internal.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

/** A file that was recorded. */
typedef struct linked_file {
    dev_t device; /* device that holds the file */
    ino_t inode;  /* inode of the file on the device */
} linked_file;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* protects list and n_listed */
static linked_file *list;                                 /* recorded files [n_listed] */
static size_t n_listed;                                   /* number of recorded files */

/** Return true when a file is in the list. The caller holds the mutex. */
static bool find(const struct stat *file)
{
    bool found = false;
    for (size_t k = 0; k < n_listed && !found; k++) {
        found = list[k].device == file->st_dev && list[k].inode == file->st_ino;
    }
    return found;
}

io_status io__linked_check(const struct stat *file, const char *path, io_error *error)
{
    pthread_mutex_lock(&guard);
    const bool found = find(file);
    pthread_mutex_unlock(&guard);
    return found ? io__fail(error, path, IO_INVALID,
                            "is read: an HDF5 input refers to it; give another name")
                 : IO_OK;
}

bool io__linked_add(const struct stat *file)
{
    pthread_mutex_lock(&guard);
    bool listed = find(file);
    linked_file *grown = listed ? NULL : realloc(list, (n_listed + 1) * sizeof *list);
    if (grown) {
        list = grown;
        list[n_listed++] = (linked_file){file->st_dev, file->st_ino};
        listed = true;
    }
    pthread_mutex_unlock(&guard);
    return listed;
}
