/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each use of a file becomes some claims: one for the path, one for each file beside it. Claims are
 * compared pair by pair. A file that exists is known by device and inode; one that does not, by
 * those of the nearest folder that exists and the names from there on.
 */
#include "files.h"

#include "film/film.h"
#include "gnuplot.h"
#include "pictures/png_frames.h"
#include "report.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* MOST_CLAIMS: claims of a command. MOST_LINKS: symbolic links that are followed, as in Linux. */
enum { MOST_CLAIMS = 64, MOST_LINKS = 40 };

/** Path of standard output in a claim. An INPUT "-" is a file of that name. */
static const char standard_output[] = "/dev/stdout";

/** Which file a path means. */
typedef struct file_id {
    bool shared;         /* a device or pipe, or not found: equal to the file of no other path */
    dev_t device;        /* device that holds the file, or the nearest folder that exists */
    ino_t inode;         /* inode of that file or folder */
    char rest[PATH_MAX]; /* "/name/name" below that folder; "": the file exists */
} file_id;

/** One path that an option reads or writes. */
typedef struct claim {
    const char *option;     /* name of the option or operand, for messages */
    char *path;             /* the path, allocated */
    bool writes;            /* the command writes the file */
    const file_use *frames; /* the use of a film, whose frames have many names; else NULL */
} claim;

/** All paths that the command reads or writes. */
typedef struct claims {
    claim item[MOST_CLAIMS]; /* [n] the paths */
    int n;                   /* number of paths */
} claims;

/** Replace a path without a file by its folder, and put its last name before `rest`; or by what the
 *  path links to. @return false where it has no folder, or names are too long */
static bool step_up(char path[PATH_MAX], char rest[PATH_MAX], int *links)
{
    char target[PATH_MAX], joined[2 * PATH_MAX];
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        path[--end] = '\0';
    }
    const char *slash = strrchr(path, '/');
    const size_t name = slash ? (size_t)(slash - path) + 1 : 0;
    const ssize_t linked = readlink(path, target, sizeof target - 1);
    if (linked > 0) {
        target[linked] = '\0';
        snprintf(joined, sizeof joined, "%.*s%s", *target == '/' ? 0 : (int)name, path, target);
        snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, joined);
        return strlen(joined) < PATH_MAX && ++*links < MOST_LINKS;
    }
    if (name == end || strcmp(path, ".") == 0) {
        return false;
    }
    snprintf(joined, sizeof joined, "/%s%s", path + name, rest);
    snprintf(rest, PATH_MAX, "%.*s", PATH_MAX - 1, joined);
    snprintf(path + name, PATH_MAX - name, "%s", name ? "" : ".");
    return strlen(joined) < PATH_MAX;
}

/** Find the file that a path means. */
static void identify(const char *path, file_id *out)
{
    struct stat facts;
    char folder[PATH_MAX];
    int links = 0;
    *out = (file_id){.shared = strlen(path) >= sizeof folder};
    snprintf(folder, sizeof folder, "%.*s", PATH_MAX - 1, path);
    if (strcmp(path, standard_output) == 0) {
        out->shared = fstat(STDOUT_FILENO, &facts) != 0;
    } else {
        while (!out->shared && stat(folder, &facts) != 0) {
            out->shared = !step_up(folder, out->rest, &links);
        }
    }
    if (!out->shared) {
        out->shared = !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
        out->device = facts.st_dev;
        out->inode = facts.st_ino;
    }
}

/** Return true when two paths mean one file. */
static bool is_same(const char *a, const char *b)
{
    file_id one, other;
    identify(a, &one);
    identify(b, &other);
    return !one.shared && !other.shared && one.device == other.device && one.inode == other.inode &&
           strcmp(one.rest, other.rest) == 0;
}

/** Claim a path, which is freed by the end of the check. NULL: no memory. */
static void add(claims *all, const file_use *use, char *path)
{
    if (!path) {
        exit(report_no_memory("the names of files"));
    }
    assert(all->n < MOST_CLAIMS);
    claim *made = &all->item[all->n++];
    made->option = use->option;
    made->path = path;
    made->writes = use->role != FILE_READ;
}

/** Claim a path with an ending appended. */
static void add_beside(claims *all, const file_use *use, const char *path, const char *ending)
{
    char *name = NULL;
    add(all, use, asprintf(&name, "%s%s", path, ending) < 0 ? NULL : name);
}

/** Claim the data and the script of a figure. */
static void add_figure(claims *all, const file_use *use)
{
    const int first = all->n;
    add(all, use, gnuplot_beside(use->path, ".dat"));
    add(all, use, gnuplot_beside(use->path, ".gp"));
    for (int k = first; k < first + 2 && use->role == FILE_FIGURE_AGAIN; k++) {
        add_beside(all, use, all->item[k].path, ".part");
    }
    if (use->role == FILE_FIGURE_AGAIN) {
        add_beside(all, use, use->path, ".part");
    }
}

/** Claim a path and the files that its role adds. */
static void add_use(claims *all, const file_use *use)
{
    add(all, use, strdup(use->path));
    switch (use->role) {
    case FILE_NONE:
    case FILE_READ:
    case FILE_WRITTEN: break;
    case FILE_STATE:
        add_beside(all, use, use->path, ".part");
        add_beside(all, use, use->path, ".lock");
        break;
    case FILE_FIGURE:
    case FILE_FIGURE_AGAIN: add_figure(all, use); break;
    case FILE_FILM: all->item[all->n - 1].frames = use;
    }
}

/** Return true when a path is one of the files that a film may write with a given number.
 *  @param record  path of the film, or pattern of its frames; film_file (film/film.h) names them */
static bool is_frame(const char *record, int64_t number, const char *path)
{
    bool same = false;
    for (int kind = 0; kind < 2 && !same; kind++) {
        char *name = film_file(record, kind, number);
        same = name && is_same(name, path);
        free(name);
    }
    return same;
}

/** Return true when a path is one of the files that a film may write. The number in its name may
 *  begin at any digit, so each is tried. */
static bool is_of_film(const char *record, const char *path)
{
    const char *slash = strrchr(path, '/');
    bool found = is_frame(record, 0, path);
    for (const char *at = slash ? slash + 1 : path; *at && !found; at++) {
        found = isdigit((unsigned char)*at) && is_frame(record, strtoll(at, NULL, 10), path);
    }
    return found;
}

/** Return true when two claims mean one file, or one of them many files, a film or a snapshot in
 *  parts, of which the other is one. */
static bool collide(const claim *a, const claim *b)
{
    return is_same(a->path, b->path) || (a->frames && is_of_film(a->frames->path, b->path)) ||
           (b->frames && is_of_film(b->frames->path, a->path)) ||
           (!a->writes && io_snapshot_holds(a->path, b->path)) ||
           (!b->writes && io_snapshot_holds(b->path, a->path));
}

/** End the command if two claims collide. @param a  a claim that writes */
static void refuse(const claim *a, const claim *b)
{
    const char *path = strcmp(a->path, standard_output) == 0 ? b->path : a->path;
    const bool renamed = strcmp(path, b->path) != 0;
    if (collide(a, b)) {
        exit(report_error(STATUS_USAGE, "one file cannot have two uses: give another name",
                          "%s would write %s, which %s %s%s%s", a->option, path, b->option,
                          b->writes ? "writes" : "reads", renamed ? " as " : "",
                          renamed ? b->path : ""));
    }
}

/** Return the open file descriptor that an output names: 1 for "-", 3 for /dev/fd/3; -1: none. */
static int descriptor_of(const file_use *use)
{
    if (!use->path || use->role == FILE_READ) {
        return -1;
    }
    return strcmp(use->path, "-") == 0 ? STDOUT_FILENO : io_open_descriptor(use->path);
}

/** End the command if two outputs name one open file descriptor: their bytes would be mixed. */
static void check_descriptors(const file_use *uses, int n)
{
    for (int a = 0; a < n; a++) {
        const int number = descriptor_of(&uses[a]);
        for (int b = 0; b < a && number >= 0; b++) {
            if (descriptor_of(&uses[b]) == number) {
                exit(report_error(STATUS_USAGE, "one file cannot have two uses: give another name",
                                  "%s would write %s, which %s writes as %s", uses[a].option,
                                  uses[a].path, uses[b].option, uses[b].path));
            }
        }
    }
}

/** End the command if a file cannot be written at its path. Frames of a film are not checked, as
 *  their folder may not exist yet: it is made later. */
static void check_target(const file_use *use)
{
    io_error error = {0};
    const bool frames = use->role == FILE_FILM && png_frames_named(use->path);
    if (use->role != FILE_READ && !frames && strcmp(use->path, "-") != 0 &&
        io_check_output(use->path, &error) != IO_OK) {
        exit(report_io(error.status, &error, true));
    }
}

void files_check(const file_use *uses, int n)
{
    static const file_use out = {"standard output", standard_output, FILE_WRITTEN};
    claims all = {.n = 0};
    check_descriptors(uses, n);
    for (int k = 0; k < n; k++) {
        if (uses[k].path && descriptor_of(&uses[k]) < 0) {
            add_use(&all, &uses[k]);
        }
    }
    add_use(&all, &out);
    for (int a = 0; a < all.n; a++) {
        for (int b = 0; b < a; b++) {
            if (all.item[a].writes || all.item[b].writes) {
                refuse(&all.item[all.item[a].writes ? a : b],
                       &all.item[all.item[a].writes ? b : a]);
            }
        }
    }
    for (int k = 0; k < all.n; k++) {
        free(all.item[k].path);
    }
    for (int k = 0; k < n; k++) {
        if (uses[k].path) {
            check_target(&uses[k]);
        }
    }
}
