/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PNG frames: compressed in memory, then written beside their names and renamed.
 */
#include "png_frames.h"

#include "common/report.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/** Parse the one conversion, %d or %06d, of a name of frames.
 *  @param[out] at, end  begin and end of the conversion in the name
 *  @return its least number of digits, 0 for %d; -1: there is not exactly one %, or it is followed
 *  by another conversion, or by more than MOST digits */
static int digits_of(const char *path, const char **at, const char **end)
{
    enum { MOST = 18 };
    const char *percent = strchr(path, '%');
    if (!percent || percent != strrchr(path, '%')) {
        return -1;
    }
    char *behind = NULL;
    const long digits = isdigit((unsigned char)percent[1]) ? strtol(percent + 1, &behind, 10) : 0;
    *at = percent;
    *end = (behind ? behind : percent + 1) + 1;
    return (*end)[-1] == 'd' && digits <= MOST ? (int)digits : -1;
}

/** Return true when the path ends in / or is an existing folder. */
static bool is_folder(const char *path)
{
    struct stat facts;
    const size_t length = strlen(path);
    return (length && path[length - 1] == '/') ||
           (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode));
}

bool png_frames_named(const char *path)
{
    const char *at, *end, *dot = strrchr(path, '.');
    return is_folder(path) ||
           (dot && strcasecmp(dot, ".png") == 0 && digits_of(path, &at, &end) >= 0);
}

char *png_frames_name(const char *path, int64_t number)
{
    char *name = NULL;
    const char *at = path, *end = path;
    int made;
    if (is_folder(path)) {
        const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
        made = asprintf(&name, "%s%s%06lld.png", path, slash, (long long)number);
    } else {
        const int digits = digits_of(path, &at, &end);
        made = asprintf(&name, "%.*s%0*lld%s", (int)(at - path), path, digits, (long long)number,
                        end);
    }
    return made < 0 ? NULL : name;
}

/** Make the folder of a file, the part of its name before the last /, unless it exists. Folders
 *  above it are not made. @return false with errno. */
static bool make_folder(const char *name)
{
    const char *slash = strrchr(name, '/');
    if (!slash || slash == name) {
        return true;
    }
    char *folder = strndup(name, (size_t)(slash - name));
    const bool fine = folder && (mkdir(folder, 0777) == 0 || errno == EEXIST);
    free(folder);
    return fine;
}

bool png_frames_make_folder(const char *path)
{
    char *name = png_frames_name(path, 0);
    errno = ENOMEM;
    const bool fine = name && make_folder(name);
    free(name);
    return fine;
}

bool png_frames_write(const char *path, int64_t number, const uint32_t *pixels, int width,
                      int height, bool drops, encoder_problem *problem)
{
    char *name = png_frames_name(path, number);
    io_memory_file png = {0};
    io_error error = {0};
    bool fine = true;
    if (!name) {
        fine = encoder_fail(problem, STATUS_NO_MEMORY, NULL, "%s: no memory for a frame", path);
    } else if (!png_compress(name, pixels, width, height, drops, &png, problem)) {
        fine = false;
    } else if (!make_folder(name)) {
        fine = encoder_fail(problem, STATUS_OUTPUT, NULL, "%s: cannot make its folder: %s", name,
                            strerror(errno));
    } else if (io_write_bytes(name, png.data, (int64_t)png.n, &error) != IO_OK) {
        fine = false;
        if (error.status != IO_CANCELLED) {
            (void)encoder_fail_io(problem, &error);
        }
    }
    free(png.data);
    free(name);
    return fine;
}
