/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The snapshot that a folder holds. Every regular file is opened and its format detected from its
 * content; files that belong to one snapshot, by their header and their name, count once. A folder
 * of several snapshots is refused with a list of them. Of a snapshot in many files only the first
 * in alphabetical order is opened.
 */
#include "io_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** The snapshots found so far. */
typedef struct folder {
    int64_t found;
    char *first;      /* path of the first file of the first snapshot */
    char *name;       /* of the snapshot found last, without the number of a file */
    bool many;        /* it has more than one file */
    char listed[600]; /* names of first files, as many as fit; then "..." */
} folder;

/** Skip hidden files and unfinished outputs, which end in ".part". */
static int is_candidate(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !io__ends_with(entry->d_name, ".part");
}

/** Order by bytes, so that the files of one snapshot follow each other in every locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/** The number of files of the snapshot that a file belongs to; 0: the file is no snapshot. A file
 *  of a known format that cannot be read counts as a snapshot of one file, so that it is listed. */
static int64_t count_files(const char *path)
{
    struct stat facts;
    io_file file = {.fd = -1};
    io_error unused = {0};
    io_format format = IO_UNKNOWN;
    int64_t files = 0;
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
        io__file_open(&file, path, NULL, &unused) == IO_OK && io__detect(&file, &format) == IO_OK) {
        files = format == IO_TIPSY    ? 1
                : format == IO_GADGET ? io__gadget_files(&file)
                : format == IO_HDF5   ? io__hdf5_files(&file)
                                      : 0;
    }
    io__file_close(&file);
    return files;
}

/** Add the snapshot that begins with this file to the list. */
static void add_snapshot(folder *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t used = strlen(f->listed), length = strlen(slash + 1);
    f->found++;
    if (!f->first) {
        f->first = strdup(path);
    }
    const char *comma = used ? ", " : "", *name = slash + 1;
    const bool fits = used + length + sizeof ", ..., ..." < sizeof f->listed;
    if (fits || (used == 0 || strcmp(f->listed + used - 3, "...") != 0)) {
        sprintf(f->listed + used, "%s%s", comma, fits ? name : "...");
    }
}

/** Look at one file. @return false without memory. */
static bool visit(folder *f, const char *path)
{
    char *name = io__set_name(path);
    const bool seen = name && f->name && f->many && strcmp(name, f->name) == 0;
    const int64_t files = name && !seen ? count_files(path) : 0;
    if (files == 0) {
        free(name);
        return name || seen;
    }
    add_snapshot(f, path);
    free(f->name);
    f->name = name;
    f->many = files > 1;
    return f->first != NULL;
}

io_status io__folder_find(const char *path, char **out, io_error *error)
{
    struct dirent **list = NULL;
    folder f = {0};
    const int n = scandir(path, &list, is_candidate, by_name);
    bool done = n >= 0;
    for (int k = 0; k < n; k++) {
        const size_t room = strlen(path) + strlen(list[k]->d_name) + 2;
        char *file = malloc(room);
        if (file) {
            snprintf(file, room, "%s/%s", path, list[k]->d_name);
        }
        done = done && file && visit(&f, file);
        free(file);
        free(list[k]);
    }
    free(list);
    free(f.name);
    *out = f.first;
    if (!done) {
        return io__fail(error, path, IO_SYSTEM, "is a folder that cannot be searched");
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
