/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Snapshots in many files: "snap_005.0.hdf5", "snap_005.1.hdf5", ... or "snap_005.0", ... Which
 * file a path means, and the names of its sisters.
 */
#include "io_internal.h"

#include <ctype.h>
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
        while (dot > name && *--dot != '.') {
            ;
        }
        if (*dot != '.' || dot + 1 == end) {
            return NULL;
        }
    }
    if (!dot || !isdigit((unsigned char)dot[1])) {
        return NULL;
    }
    const size_t digits = strspn(dot + 1, "0123456789");
    return dot[1 + digits] == 0 || dot[1 + digits] == '.' ? dot + 1 : NULL;
}

/** A path made of three parts, to be freed. */
static char *join(const char *head, size_t length, const char *middle, const char *tail)
{
    const size_t room = length + strlen(middle) + strlen(tail) + 1;
    char *path = malloc(room);
    if (path) {
        snprintf(path, room, "%.*s%s%s", (int)length, head, middle, tail);
    }
    return path;
}

io_status io__set_split(io_file *file, io_set *out, bool *found)
{
    enum { MOST_DIGITS = 20 };
    const char *number = find_number(file->path);
    const size_t digits = number ? strspn(number, "0123456789") : 0;
    *out = (io_set){.digits = 1};
    *found = number && digits < MOST_DIGITS && strlen(number + digits) < sizeof out->tail;
    if (!*found) {
        return IO_OK;
    }
    out->head = (int)(number - file->path);
    out->digits = number[0] == '0' ? (int)digits : 1;
    snprintf(out->tail, sizeof out->tail, "%s", number + digits);
    out->path = malloc(strlen(file->path) + MOST_DIGITS + 1);
    if (!out->path) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the name of a file");
    }
    memcpy(out->path, file->path, (size_t)out->head);
    return IO_OK;
}

char *io__set_name(const char *path)
{
    io_error unused;
    io_file file = {.path = path, .error = &unused};
    io_set set;
    bool numbered = false;
    char *name = NULL;
    if (path && io__set_split(&file, &set, &numbered) == IO_OK) {
        const size_t head = numbered ? (size_t)set.head - 1 : strlen(path); /* without the dot */
        name = join(path, head, numbered ? set.tail : "", "");
        io__set_free(&set);
    }
    return name;
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

static bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/** Find the file to open for the name of a snapshot without number; *out is NULL when there is
 *  none. Files of two snapshots that the name fits are an error. */
static io_status find_first(const char *path, char **out, io_error *error)
{
    static const char *const endings[] = {".0.hdf5", ".0.h5", ".0", ".hdf5", ".h5"};
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    io_status status = IO_OK;
    *out = dot ? join(path, (size_t)(dot - path), ".0", dot) : NULL;
    for (size_t k = 0; k < sizeof endings / sizeof *endings && status == IO_OK; k++) {
        if (!*out || !is_file(*out)) {
            free(*out);
            *out = join(path, strlen(path), endings[k], "");
            continue;
        }
        char *other = join(path, strlen(path), endings[k], "");
        char *name = io__set_name(*out), *other_name = io__set_name(other);
        if (other && is_file(other) && strcmp(*out, other) != 0 &&
            !(name && other_name && strcmp(name, other_name) == 0)) {
            status = io__fail(error, path, IO_INVALID,
                              "fits two snapshots; name one of the files %s and %s", *out, other);
        }
        free(other_name);
        free(name);
        free(other);
    }
    if (*out && !is_file(*out)) {
        free(*out);
        *out = NULL;
    }
    return status;
}

io_status io__set_resolve(const char *path, char **out, io_error *error)
{
    struct stat facts = {0};
    *out = NULL;
    if (stat(path, &facts) < 0 && errno == ENOENT) {
        IO_TRY(find_first(path, out, error));
    } else if (S_ISDIR(facts.st_mode)) {
        return io__folder_find(path, out, error);
    }
    if (!*out) {
        *out = join(path, strlen(path), "", "");
    }
    return *out ? IO_OK : io__fail(error, path, IO_NO_MEMORY, "no memory for the name of a file");
}
