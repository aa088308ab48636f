/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which files are read with a path: those of a snapshot in many files.
 */
#include "io_internal.h"

#include <stdlib.h>
#include <sys/stat.h>

static bool is_file(const char *path, const struct stat *file)
{
    struct stat facts;
    return stat(path, &facts) == 0 && facts.st_dev == file->st_dev && facts.st_ino == file->st_ino;
}

/** Whether a numbered file belongs to a snapshot in many files, one of which is `file`. */
static bool is_sister(const char *first, const struct stat *file)
{
    io_error error = {0};
    io_summary summary;
    const io_read_options none = {0};
    io_file like = {.path = first, .fd = -1, .options = &none, .error = &error};
    io_set set = {0};
    bool numbered = false, found = false;
    if (io__set_split(&like, &set, &numbered) == IO_OK && numbered &&
        io_inspect(first, &summary, &error) == IO_OK) {
        for (int64_t k = 0; k < summary.files && summary.files > 1 && !found; k++) {
            found = is_file(io__set_member(&set, k), file);
        }
    }
    io__set_free(&set);
    return found;
}

bool io_snapshot_holds(const char *path, const char *other)
{
    io_error error = {0};
    struct stat file;
    char *first = NULL;
    if (stat(other, &file) != 0 || !S_ISREG(file.st_mode) ||
        io__set_resolve(path, &first, &error) != IO_OK) {
        return false;
    }
    const bool found = is_file(first, &file) || is_sister(first, &file);
    free(first);
    return found;
}
