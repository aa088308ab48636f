/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Snapshots in many files: "snap_005.0.hdf5", "snap_005.1.hdf5", ... or "snap_005.0", ... Which
 * file a path means, and the names of its sisters.
 */
#include "io_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Where the number of "base.12.hdf5" or "base.12" begins; NULL when there is none. */
static const char *find_number(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (dot && !isdigit((unsigned char)dot[1])) { /* an ending */
        const char *end = dot;
        while (dot > name && *--dot != '.')
            ;
        if (*dot != '.' || dot + 1 == end)
            return NULL;
    }
    if (!dot || !isdigit((unsigned char)dot[1]))
        return NULL;
    const size_t digits = strspn(dot + 1, "0123456789");
    return dot[1 + digits] == 0 || dot[1 + digits] == '.' ? dot + 1 : NULL;
}

io_status io__set_split(io_file *file, io_set *out, bool *found)
{
    enum { MOST_DIGITS = 20 };
    const char *number = find_number(file->path);
    const size_t digits = number ? strspn(number, "0123456789") : 0;
    *out = (io_set){.digits = 1};
    *found = number && digits < MOST_DIGITS && strlen(number + digits) < sizeof out->tail;
    if (!*found)
        return IO_OK;
    out->head = (int)(number - file->path);
    out->digits = number[0] == '0' ? (int)digits : 1;
    snprintf(out->tail, sizeof out->tail, "%s", number + digits);
    out->path = malloc(strlen(file->path) + MOST_DIGITS + 1);
    if (!out->path)
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the name of a file");
    memcpy(out->path, file->path, (size_t)out->head);
    return IO_OK;
}

void io__set_free(io_set *set)
{
    free(set->path);
    *set = (io_set){0};
}

const char *io__set_member(const io_set *set, int64_t number)
{
    sprintf(set->path + set->head, "%0*lld%s", set->digits, (long long)number, set->tail);
    return set->path;
}

/** A path made of three parts, to be freed. */
static char *join(const char *head, size_t length, const char *middle, const char *tail)
{
    const size_t room = length + strlen(middle) + strlen(tail) + 1;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%.*s%s%s", (int)length, head, middle, tail);
    return path;
}

static bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/** The file to open for the name of a snapshot without number; NULL when there is none. */
static char *find_first(const char *path)
{
    static const char *const endings[] = {".0.hdf5", ".0.h5", ".0", ".hdf5", ".h5"};
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    char *found = dot ? join(path, (size_t)(dot - path), ".0", dot) : NULL;
    for (size_t k = 0; k < sizeof endings / sizeof *endings && !(found && is_file(found)); k++) {
        free(found);
        found = join(path, strlen(path), endings[k], "");
    }
    if (found && is_file(found))
        return found;
    free(found);
    return NULL;
}

/** The first file of the only snapshot in a folder; NULL when there is none. */
static io_status find_in_folder(const char *path, char **out, io_error *error)
{
    DIR *list = opendir(path);
    io_status status = IO_OK;
    for (struct dirent *entry; list && status == IO_OK && (entry = readdir(list));) {
        const char *number = find_number(entry->d_name);
        if (!number || strtoll(number, NULL, 10) != 0)
            continue;
        if (*out)
            status = io__fail(error, path, IO_INVALID,
                              "is a folder of several snapshots; name one file of that which is "
                              "meant, such as %s",
                              entry->d_name);
        else
            *out = join(path, strlen(path), "/", entry->d_name);
    }
    if (list)
        closedir(list);
    return status;
}

io_status io__set_resolve(const char *path, char **out, io_error *error)
{
    struct stat facts = {0};
    *out = NULL;
    if (stat(path, &facts) < 0 && errno == ENOENT)
        *out = find_first(path);
    else if (S_ISDIR(facts.st_mode))
        IO_TRY(find_in_folder(path, out, error));
    if (!*out)
        *out = join(path, strlen(path), "", "");
    return *out ? IO_OK : io__fail(error, path, IO_NO_MEMORY, "no memory for the name of a file");
}
