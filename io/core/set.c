/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which files a path stands for.
 *
 * A snapshot may be split into many files: "snap_005.0.hdf5", "snap_005.1.hdf5", ... or
 * "snap_005.0", ... A path may name one of them, the snapshot without a number, or a folder that
 * holds one snapshot and no other.
 *
 * In a folder, the format of each regular file is detected from its content. Skipped are hidden
 * files, unfinished outputs (.part) and, of a snapshot in many files, all but the first in
 * alphabetical order. Files that belong to one snapshot, by their header and their name, count
 * once. A folder of several snapshots is refused with a list of them.
 */
#include "io_internal.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------ names of the files of a snapshot */

/** Return where the number in "base.12.hdf5" or "base.12" begins; NULL: there is none. */
static const char *find_number(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (dot && !isdigit((unsigned char)dot[1])) { /* the last part is an ending */
        const char *end = dot;
        while (dot > name && *--dot != '.') { /* find the dot before it */
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

/** Concatenate the first `length` bytes of head, all of middle and all of tail. @return a path to
 *  be freed; NULL: no memory */
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
    enum { MOST_DIGITS = 20 }; /* more than any int64_t has */
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
    out->path = malloc(strlen(file->path) + MOST_DIGITS + 1); /* for a number of any length */
    if (!out->path) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the name of a file");
    }
    memcpy(out->path, file->path, (size_t)out->head);
    return IO_OK;
}

/** Make the name of the snapshot that a file may belong to: "snap_005.hdf5" for "snap_005.3.hdf5";
 *  the path itself if it has no number.
 *  @return the name, to be freed; NULL if memory is exhausted */
static char *snapshot_name(const char *path)
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
    assert(set->path && number >= 0);
    sprintf(set->path + set->head, "%0*lld%s", set->digits, (long long)number, set->tail);
    return set->path;
}

/* ------------------------------------------------------------ the snapshot that a folder holds */

/** The snapshots of a folder that were found so far. */
typedef struct folder {
    int64_t found;    /* number of snapshots */
    char *first;      /* path of the first file of the first snapshot */
    char *name;       /* name of the last snapshot, without the number of a file */
    bool many;        /* the last snapshot has more than one file */
    char listed[600]; /* names of the first file of each, as many as fit, then "..." */
} folder;

/** A filter of scandir. @return 0 for hidden files and unfinished outputs, which end in ".part";
 *  else 1 */
static int is_candidate(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !io__ends_with(entry->d_name, ".part");
}

/** A comparison of scandir. Orders by bytes, so that the files of one snapshot follow each other in
 *  every locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/** Return the number of files of the snapshot that a file belongs to; 0: it is no snapshot; -1: no
 *  memory. A Gadget or HDF5 file that cannot be read counts as a snapshot of one file, so that
 *  messages list it. */
static int64_t count_files(const char *path)
{
    struct stat facts;
    io_file file = {.fd = -1};
    io_error error = {0};
    io_format format = IO_UNKNOWN;
    int64_t files = 0;
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
        io__file_open(&file, path, NULL, &error) == IO_OK && io__detect(&file, &format) == IO_OK) {
        files = format == IO_TIPSY    ? 1
                : format == IO_GADGET ? io__gadget_files(&file)
                : format == IO_HDF5   ? io__hdf5_files(&file)
                                      : 0;
    }
    io__file_close(&file);
    return error.status == IO_NO_MEMORY ? -1 : files;
}

/** Count the snapshot that begins with this file, and append the name of the file to f->listed, or
 *  "..." where there is no room.
 *  @param path  path of the file, with a slash */
static void add_snapshot(folder *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t used = strlen(f->listed), length = strlen(slash + 1);
    f->found++;
    if (!f->first) {
        f->first = join(path, strlen(path), "", "");
    }
    const char *comma = used ? ", " : "", *name = slash + 1;
    /* room for a comma, the name, and ", ..." after it; three points are appended once */
    const bool fits = used + length + sizeof ", ..., ..." < sizeof f->listed;
    if (fits || (used == 0 || strcmp(f->listed + used - 3, "...") != 0)) {
        sprintf(f->listed + used, "%s%s", comma, fits ? name : "...");
    }
}

/** If a file belongs to a snapshot that is not listed yet, add that snapshot. Files come in
 *  alphabetical order, so only the last snapshot is compared. @return false if memory is
 *  exhausted */
static bool add_file(folder *f, const char *path)
{
    char *name = snapshot_name(path);
    if (!name) {
        return false;
    }
    const bool seen = f->name && f->many && strcmp(name, f->name) == 0;
    const int64_t files = seen ? 0 : count_files(path);
    if (files <= 0) {
        free(name);
        return files == 0;
    }
    add_snapshot(f, path);
    free(f->name);
    f->name = name;
    f->many = files > 1;
    return f->first != NULL;
}

/** Find the first file of the only snapshot in a folder. IO_INVALID: the folder holds several
 *  snapshots, which the message lists. IO_SYSTEM: it holds none, or cannot be searched.
 *  IO_NO_MEMORY.
 *  @param[out] out  path of the file, to be freed, also on failure */
static io_status find_in_folder(const char *path, char **out, io_error *error)
{
    struct dirent **list = NULL;
    folder f = {0};
    const int n = scandir(path, &list, is_candidate, by_name);
    if (n < 0) {
        return errno == ENOMEM
                   ? io__fail(error, path, IO_NO_MEMORY, "no memory to search the folder")
                   : io__fail(error, path, IO_SYSTEM, "is a folder that cannot be searched");
    }
    bool done = true;
    for (int k = 0; k < n; k++) {
        char *file = join(path, strlen(path), "/", list[k]->d_name);
        done = done && file && add_file(&f, file);
        free(file);
        free(list[k]);
    }
    free(list);
    free(f.name);
    *out = f.first;
    if (!done) {
        return io__fail(error, path, IO_NO_MEMORY, "no memory to search the folder");
    }
    if (f.found == 0) {
        return io__fail(error, path, IO_SYSTEM,
                        "is a directory without a snapshot; expected a file of particles, or a "
                        "folder that holds one snapshot of Gadget, HDF5 or tipsy");
    }
    if (f.found > 1) {
        return io__fail(error, path, IO_INVALID,
                        "is a folder of %lld snapshots; name a file of the one that is "
                        "meant: %s",
                        (long long)f.found, f.listed);
    }
    return IO_OK;
}

/* ----------------------------------------------------------------- the file to open for a path */

/** Return true when a path names a regular file. */
static bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/** Check that two files belong to one snapshot. @param path  the path that fits both */
static io_status check_one_snapshot(const char *path, const char *file, const char *other,
                                    io_error *error)
{
    char *name = snapshot_name(file), *other_name = snapshot_name(other);
    io_status status = IO_OK;
    if (!name || !other_name) {
        status = io__fail(error, path, IO_NO_MEMORY, "no memory for the name of a file");
    } else if (strcmp(name, other_name) != 0) {
        status = io__fail(error, path, IO_INVALID,
                          "fits two snapshots; name one of the files %s and %s", file, other);
    }
    free(other_name);
    free(name);
    return status;
}

/** Find the first file of the snapshot that a path names without the number of a file: for
 *  "snap.hdf5" the file "snap.0.hdf5", else the path with one of some endings.
 *  @param[out] out  path of the file, to be freed, also on failure; NULL: there is none
 *  @return IO_INVALID if the name fits files of two snapshots; IO_NO_MEMORY */
static io_status find_first(const char *path, char **out, io_error *error)
{
    static const char *const endings[] = {".0.hdf5", ".0.h5", ".0", ".hdf5", ".h5"};
    enum { ENDINGS = sizeof endings / sizeof *endings };
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    io_status status = IO_OK;
    *out = NULL;
    for (int k = dot ? -1 : 0; k < ENDINGS && status == IO_OK; k++) {
        char *file = k < 0 ? join(path, (size_t)(dot - path), ".0", dot)
                           : join(path, strlen(path), endings[k], "");
        if (!file) {
            status = io__fail(error, path, IO_NO_MEMORY, "no memory for the name of a file");
        } else if (is_file(file) && *out) {
            status = check_one_snapshot(path, *out, file, error);
        } else if (is_file(file)) {
            *out = file;
            file = NULL;
        }
        free(file);
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
        return find_in_folder(path, out, error);
    }
    if (!*out) { /* the path itself: if there is no file, opening it fails with the message */
        *out = join(path, strlen(path), "", "");
    }
    return *out ? IO_OK : io__fail(error, path, IO_NO_MEMORY, "no memory for the name of a file");
}

/* --------------------------------------------------------------- whether a snapshot has a file */

/** Return true when a path leads to a file, by device and inode. */
static bool is_same_file(const char *path, const struct stat *file)
{
    struct stat facts;
    return stat(path, &facts) == 0 && facts.st_dev == file->st_dev && facts.st_ino == file->st_ino;
}

/** Return true when the path `first` has a number and belongs to a snapshot in many files, one of
 *  which is `file`. */
static bool has_file(const char *first, const struct stat *file)
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
            found = is_same_file(io__set_member(&set, k), file);
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
    if (stat(other, &file) != 0 || !S_ISREG(file.st_mode)) {
        return false;
    }
    const bool found = io__set_resolve(path, &first, &error) == IO_OK && first &&
                       (is_same_file(first, &file) || has_file(first, &file));
    free(first);
    return found;
}
